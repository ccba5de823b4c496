#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-suspend.sh - suspend and hibernation while everything is sampled and traced
#
# /sys/power/pm_test ends a suspend after a step: tasks are frozen, devices
# suspended, all CPUs but one offline, the core's state saved. The module awake
# keeps virtio devices out of it. To wake from the last step takes hardware.

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2
# shellcheck source=tests/vm/lib/sampling.sh
. "$(dirname "$0")/../lib/sampling.sh"
[ -e /sys/power/pm_test ] || {
	echo "1..0 # SKIP the kernel has no CONFIG_PM_SLEEP_DEBUG"
	exit 0
}
cd "$KUNWIND_TMP" || exit 1
build_progs
cp "$progs/burner" burner
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo "$((8 << 30))" >/sys/power/image_size

check "virtio devices are kept awake" modprobe awake
check "the module loads" modprobe kunwind
check "the probe module loads" modprobe lttng-probe-kunwind
modprobe nmi_counter
echo Y >$parameters/sample_all
kunwind system-wide on

suspend() { # STATE STEP
	local before
	echo "$2" >/sys/power/pm_test
	before=$(stat_of samples)
	check "$1 as far as $2" sh -c "echo $1 >/sys/power/state"
	kunwind run -- ./burner 0.3 >/dev/null
	check "samples go on after $1 as far as $2" test "$(stat_of samples)" -gt $((before + 20))
}
sampled_on() { # CPU: a program that runs there has samples
	local before
	before=$(stat_of samples)
	taskset -c "$1" kunwind run -- ./burner 0.5 >/dev/null
	[ "$(stat_of samples)" -gt $((before + 50)) ]
}

kunwind run -- sleep 1000 &
sleeper=$!
for clock in cpu-clock cycles; do
	echo $clock >$parameters/sample_clock
	begin $clock 'sched_*' 'irq_*' kunwind_map kunwind_slow_syscall
	is "$(status sampler '')" $clock "all CPUs are sampled by $clock"
	(while :; do /bin/true; done) &
	load=$!
	if [ $clock = cpu-clock ]; then
		suspend freeze freezer
		suspend freeze devices
		suspend mem devices
		suspend mem platform
		suspend mem processors
		suspend disk devices
	fi
	suspend mem core
	suspend disk core
	check "$clock: CPU 0 is sampled afterwards" sampled_on 0
	check "$clock: CPU 1 is sampled afterwards" sampled_on 1
	kill $load
	wait $load 2>/dev/null
	end
	rm -rf $clock
done
echo none >/sys/power/pm_test

# Work items and threads that were frozen, or ran meanwhile, do their work.
check "a process that is registered before a suspend is so afterwards" grep -q "^process	$sleeper	" /dev/kunwind
cp /bin/sleep new-program
kunwind run -- ./new-program 1000 &
new=$!
ready() { awk -F'\t' '$1 == "object" && $7 ~ /new-program$/ { print $2 }' /dev/kunwind | grep -q ready; }
eventually "a table is built after a suspend" ready
kill $sleeper $new
wait 2>/dev/null
kunwind system-wide off
gone() { [ "$(stat_of processes)" = 0 ]; }
eventually "no process is registered after system_wide off" gone
check "the probe module is unloaded" rmmod lttng-probe-kunwind
unload
rmmod nmi_counter awake
done_testing
