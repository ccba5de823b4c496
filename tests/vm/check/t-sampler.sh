#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-sampler.sh - the event kunwind_sample: what a CPU executes, and how long
#
# A program knows the CPU time of its functions. The samples must agree with the
# program, and with perf's of the same run: within 4 % of the whole for 2,500
# samples, and within 2 % for 10,000 (make check-long).

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 perf
# shellcheck source=tests/vm/lib/sampling.sh
. "$(dirname "$0")/../lib/sampling.sh"
cd "$KUNWIND_TMP" || exit 1
cp "$progs/burner" burner
most=$((KUNWIND_LONG ? 10000 : 2500))
within=$((most < 10000 ? 4 : 2))

check "the module loads" modprobe kunwind
check "the probe module loads" modprobe lttng-probe-kunwind
is "$(status sampler '')" off "without a session no clock runs"

# ------------------------------------------------ parameters
refused() { ! (echo "$2" >"$parameters/$1") 2>/dev/null; }
for value in 0 10001 -1 4294967297 abc ''; do
	check "sample_frequency: '$value' is refused" refused sample_frequency "$value"
done
is "$(cat $parameters/sample_frequency)" 997 "sample_frequency is 997 after refused values"
check "sample_clock: an unknown clock is refused" refused sample_clock sundial
is "$(cat $parameters/sample_clock)" cpu-clock "sample_clock is cpu-clock after a refused value"

# ------------------------------------------------ shares of CPU time
# no limit of perf's counts
echo 1 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 4 >/proc/sys/kernel/perf_event_paranoid
begin shares
is "$(status sampler '')" cpu-clock "the default clock is cpu-clock"
check_fails 1 "rmmod fails while the event is on" rmmod kunwind
# more than are asked for below, because "kunwind" and "sh" are sampled, too
burn $((most * 14 / 10)) perf record -q -g -e cpu-clock -F 997 -o perf.data -- kunwind run -- ./burner 300 bursts
end
is "$(status sampler '')" off "after the session no clock runs"
perf script --no-inline -i perf.data -F comm,tid,ip,sym >perf.txt 2>perf.err
adopt "$sampled" shares shares ./burner truth --perf perf.txt --at-least "$most" --within "$within"
diag "status: $(kunwind status --tsv | grep sample | tr '\t\n' ' ,')"
is "$(list shares | awk -F '\t' '$1 != "burner" && $1 != "bursts" && $1 != "perf" && $1 != "kunwind" { print $1 }' | sort -u)" "" \
	"sample_all off: only registered processes are sampled"

# ------------------------------------------------ an idle machine
begin idle
sleep 1
idle=$(stat_of samples_skipped_idle) switches=$(awk '/^ctxt/ { print $2 }' /proc/stat)
sleep 10
idle=$(($(stat_of samples_skipped_idle) - idle)) switches=$(($(awk '/^ctxt/ { print $2 }' /proc/stat) - switches))
end
diag "10 s: the timers fired $idle times in idle CPUs, $switches context switches"
[ "$idle" -le $((switches + 2)) ]
verdict $? "an idle period has at most one timer interrupt of the sampler"

# ------------------------------------------------ all tasks; the kernel part
echo Y >$parameters/sample_all
echo 1999 >$parameters/sample_frequency
begin all
kunwind run -- timeout 1 dd if=/dev/zero of=/dev/null bs=64K 2>/dev/null
./burner 1 >/dev/null
for ((i = 0; i < 100; i++)); do /bin/true; done
end
list all >all.tsv
median=$(awk -F '\t' '$1 == "dd" && $9 > 0 { print $9 }' all.tsv | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }')
check "dd in the kernel: the median sample has at least 3 kernel frames ($median)" test "${median:-0}" -ge 3
check "dd in the kernel: a sample has the system call read and a user stack" \
	awk -F '\t' '$1 == "dd" && $6 == 0 && $7 == "complete" && $8 >= 3 && $9 > 0 { n++ } END { exit !n }' all.tsv
check "user code: samples have no kernel part and no system call" \
	awk -F '\t' '$1 == "burner" && $9 == 0 && $6 == -1 { n++ } $9 == 0 && $6 != -1 { bad++ } END { exit !n || bad }' all.tsv
check "sample_all: a process that is not registered has its program counter" \
	awk -F '\t' '$1 == "burner" && $7 == "no_object" { ns += $4; bad += $8 != 1 } END { exit ns < 6e8 || bad }' all.tsv
check "sample_all: kernel threads are sampled, without a user part" \
	awk -F '\t' '$7 == "kthread" { n++; bad += $8 || !$9 } END { exit !n || bad }' all.tsv
diag "$(cut -f 1,7 all.tsv | sort | uniq -c | sort -rn | head -n 12)"
is "$(awk -F '\t' '$4 % 500250 { n++ } END { print n + 0 }' all.tsv)" 0 "weights are whole periods"
echo N >$parameters/sample_all
echo 997 >$parameters/sample_frequency

# ------------------------------------------------ CPUs come and go
begin hotplug
taskset -c 1 kunwind run -- ./burner 1 >/dev/null
check "a CPU goes offline while it is sampled" sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
kunwind run -- ./burner 1 >/dev/null
check "a CPU comes online while the event is on" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'
taskset -c 1 kunwind run -- ./burner 2 >/dev/null
end
list hotplug | awk -F '\t' '$1 == "burner" { n[$2] += $4; cpu[$2] = $5 } END { for (p in n) print p, cpu[p], int(n[p] / 1e8) }' | sort -n >hotplug.txt
diag "$(cat hotplug.txt)"
is "$(awk '{ print $2, ($3 >= 5) }' hotplug.txt | tr '\n' ',')" "1 1,0 1,1 1," "a CPU is sampled before it goes offline, and when it is online again"

# ------------------------------------------------ kunwind profile, record -F
# cpu DIR FUNCTION: its part of the CPU time of the trace, in percent
cpu() {
	kunwind report --json --sort cpu "$1" | /usr/bin/python3 -c '
import json, sys
functions = {f["name"]: f["cpu_ns"] for f in json.load(sys.stdin)["functions"]}
print(round(100 * functions.get(sys.argv[1], 0) / max(functions.values())))' "$2"
}
kunwind profile -q -F 1499 -o command -- ./burner 3 >/dev/null
is "$?" 0 "profile COMMAND: the exit status is the command's"
half=$(cpu command burn_half)
[ "${half:-0}" -ge 40 ] && [ "$half" -le 60 ]
verdict $? "profile COMMAND, report: burn_half has half of the CPU time ($half %)"
is "$(kunwind show --tsv --no-symbols command | awk -F '\t' '$1 == "event" { print $4, $5 }' | sort -u)" "kunwind_sample burner" \
	"profile COMMAND: the trace has samples of the command only"
is "$(cat $parameters/sample_frequency)" 997 "profile -F: the frequency is set back"
./burner 60 >/dev/null &
pid=$!
kunwind profile -q -o pid -p $pid &
recorder=$!
until [ "$(stat_of processes)" = 1 ] && [ "$(status sampler '')" != off ]; do sleep 0.1; done
sleep 2
kill -INT $recorder
wait $recorder
is "$(kunwind show --tsv --no-symbols pid | awk -F '\t' '$1 == "event" { print $4, $6 }' | sort -u)" "kunwind_sample $pid" \
	"profile -p: the trace has samples of this process only"
kunwind profile -q -a -o everything &
recorder=$!
until [ "$(kunwind system-wide)" = on ] && [ "$(status sampler '')" != off ]; do sleep 0.1; done
sleep 2
kill -INT $recorder
wait $recorder
kill $pid
wait $pid 2>/dev/null
check "profile -a: processes that were not registered before have whole stacks" test "$(cpu everything burn_half)" -gt 0
is "$(kunwind system-wide) $(cat $parameters/sample_all)" "off N" "profile -a: system-wide and sample_all are set back"
kunwind record -q -F 997 -e getppid -o mixed -- ./burner 1 >/dev/null
check "record -F: the trace has samples beside the events" test "$(cpu mixed burn_half)" -gt 0
out=$(setpriv --reuid 65534 --regid 65534 --groups "$(getent group tracing | cut -d: -f3)" \
	kunwind profile -F 99 -o /tmp/theirs true 2>&1)
is "$?" 125 "profile: a user who may not set the frequency is refused"
like "$out" "(only root can change it from 997 to 99|permission|group tracing)" "profile: the message says why"

# ------------------------------------------------ everything traced
begin traced 'hrtimer_*' 'sched_*' 'irq_*' 'timer_*'
burn 1600 kunwind run -- ./burner 300 bursts
end
adopt "$sampled" traced shares ./burner truth --within 5 --at-least 1000

# ------------------------------------------------ without the counter
echo cycles >$parameters/sample_clock
begin none
kunwind run -- ./burner 1 >/dev/null
is "$(list none | wc -l)" 0 "sample_clock=cycles without a counter: no samples"
like "$(kunwind status --tsv | grep '^sampler')" "off	error -2" "sample_clock=cycles without a counter: the status has the error"
end
echo cpu-clock >$parameters/sample_clock

# ------------------------------------------------ on and off, and unloading
for _ in 1 2 3 4 5; do
	begin again
	end
	rm -rf again
done
check "the probe module is unloaded" rmmod lttng-probe-kunwind
check "the module is unloaded" rmmod kunwind
done_testing
