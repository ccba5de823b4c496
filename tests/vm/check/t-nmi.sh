#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-nmi.sh - kunwind_sample by the clock "cycles", whose samples run in NMIs
#
# The VM has no counter of cycles. The module nmi_counter stands in for it: its
# counters overflow in NMIs, at any instruction.

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2
# shellcheck source=tests/vm/lib/sampling.sh
. "$(dirname "$0")/../lib/sampling.sh"
cd "$KUNWIND_TMP" || exit 1
build_progs
cp "$progs/burner" burner
counter=/sys/module/nmi_counter/parameters

check "the module loads" modprobe kunwind
check "the probe module loads" modprobe lttng-probe-kunwind
check "a counter of cycles for kunwind" modprobe nmi_counter
echo cycles >$parameters/sample_clock

# ------------------------------------------------ shares of CPU time
begin shares
is "$(status sampler '')" cycles "sample_clock=cycles: the counter takes the samples"
is "$(cat $counter/counters)" "$(nproc)" "each CPU has a counter"
burn 1500 kunwind run -- ./burner 300
end
is "$(status sampler '') $(cat $counter/counters)" "off 0" "after the session no counter exists"
adopt "$sampled" shares shares ./burner truth --at-least 1500 --within 5 --nmi
# In the middle of a context switch, the memory of another program is mapped: nothing can be read.
is "$(list shares | awk -F '\t' '$1 == "burner" && $7 != "complete" && !($7 == "unreadable" && $9)' | cut -f 7 | sort -u | grep -vxE 'not_ready|reg_unknown')" "" \
	"samples in NMIs: the program's stacks are complete"
check "samples in NMIs: less than one of 100 is unreadable" \
	awk -F '\t' '$1 == "burner" { n++; bad += $7 == "unreadable" } END { exit bad * 100 >= n }' <(list shares)

# ------------------------------------------------ code with interrupts off
echo Y >$parameters/sample_all
echo 1999 >$parameters/sample_frequency
off=$(cat $counter/off)
begin kernel
kunwind run -- timeout 2 dd if=/dev/zero of=/dev/null bs=1 2>/dev/null
for ((i = 0; i < 100; i++)); do /bin/true; done
end
check "NMIs arrive while interrupts are off" test "$(cat $counter/off)" -gt "$off"
list kernel >kernel.tsv
check "dd in the kernel: samples have the system call, a kernel stack and a complete user stack" \
	awk -F '\t' '$1 == "dd" && $6 >= 0 && $7 == "complete" && $8 >= 3 && $9 >= 3 { n++ } END { exit n < 20 }' kernel.tsv
check "user code: samples have no kernel part and no system call" \
	awk -F '\t' '$9 == 0 && $6 != -1 { bad++ } $9 == 0 { n++ } END { exit !n || bad }' kernel.tsv
diag "$(cut -f 1,7 kernel.tsv | sort | uniq -c | sort -rn | head -n 12)"
echo N >$parameters/sample_all

# ------------------------------------------------ CPUs come and go
begin hotplug
check "a CPU goes offline while it is sampled" sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
is "$(cat $counter/counters)" 1 "a CPU that is offline has no counter"
kunwind run -- ./burner 1 >/dev/null
check "a CPU comes online while the event is on" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'
is "$(cat $counter/counters)" 2 "the CPU has a counter again"
taskset -c 1 kunwind run -- ./burner 1 >/dev/null
echo 0 >/sys/devices/system/cpu/cpu1/online
echo -2 >$counter/error
check "a CPU without a counter comes online, too" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'
is "$(cat $counter/counters) $(status sampler '')" "1 cycles" "the other CPU is still sampled"
taskset -c 1 kunwind run -- ./burner 1 >/dev/null
end
is "$(cat $counter/counters)" 0 "after the session no counter exists, though one CPU had none"
list hotplug | awk -F '\t' '$1 == "burner" { n[$2]++; cpu[$2] = $5 } END { for (p in n) print p, cpu[p], (n[p] >= 100) }' | sort -n >hotplug.txt
is "$(awk '{ print $2, $3 }' hotplug.txt | tr '\n' ',')" "0 1,1 1," \
	"hotplug: the CPU is sampled when it is online with a counter, and only then"

# ------------------------------------------------ no counter
begin none
is "$(kunwind status --tsv | grep '^sampler') $(cat $counter/counters)" $'sampler\toff\terror -2 0' "no counter: no clock runs, and the status has the error"
end
echo 0 >$counter/error
echo Y >$counter/busy
begin busy
is "$(kunwind status --tsv | grep '^sampler') $(cat $counter/counters)" $'sampler\toff\terror -16 0' \
	"all counters are in use: the status has the error, and the counter is given back"
end
echo N >$counter/busy

# ------------------------------------------------ everything traced
echo Y >$parameters/sample_all
echo 3001 >$parameters/sample_frequency
before=$(stat_of samples)
begin traced 'hrtimer_*' 'sched_*' 'irq_*' 'timer_*'
kunwind run -- timeout 3 dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
kunwind run -- ./burner 2 bursts >/dev/null
wait
end
check "everything traced: samples are taken" test $(($(stat_of samples) - before)) -gt 500
check "the probe module is unloaded" rmmod lttng-probe-kunwind
unload
check "the counter is unloaded" rmmod nmi_counter
done_testing
