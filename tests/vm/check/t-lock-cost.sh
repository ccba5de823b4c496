#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-lock-cost.sh - the global locks on fork, exec and exit are held for so short
# a time that 64 processors hardly wait for them
#
# Probes measure how long each lock of the module is held while a registered program
# runs a small one, in a VM where one unit of the TSC is one instruction.
# oracle/locks.py lets 64 simulated processors do the same. Before that, the same
# program runs without a registration, and must take none of the locks; that the probes
# see tasklist_lock, which the kernel takes on fork and exit, shows that they work.
# vm: --icount
# timeout: 300

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
tracing=/sys/kernel/tracing
spawns=100
locks="kunwind_processes_lock spaces_lock quotas_lock kunwind_objects_lock queues_lock"

check "the module loads" modprobe kunwind
cc -O2 -o "$KUNWIND_TMP/spawn" tests/bench/spawn.c || exit 1
echo 'int main(void) { return 0; }' | cc -O2 -x c -o "$KUNWIND_TMP/program" - || exit 1

# cost COMMAND...: prints the instructions of a fork with exec and exit
cost() { "$@" "$KUNWIND_TMP/spawn" $spawns "$KUNWIND_TMP/program"; }
cost >/dev/null
plain=$(cost)
registered=$(cost kunwind run --)
diag "a fork with exec and exit: $plain instructions, registered $registered"

# The addresses of the locks; without these, filters would match all locks.
filter=
for lock in $locks tasklist_lock; do
	address=$(awk -v lock="$lock" '$3 == lock && (lock == "tasklist_lock" || $4 == "[kunwind]") {
		print $1 }' /proc/kallsyms)
	[ -n "$address" ] || not_ok "kallsyms has $lock"
	filter+="${filter:+ || }l == 0x$address"
	echo "$lock $address" >>"$KUNWIND_TMP/locks"
done
for function in _raw_spin_lock _raw_spin_unlock _raw_write_lock_irq _raw_write_unlock_irq; do
	echo "p:locks/$function $function l=%di" >>$tracing/kprobe_events
done
echo "$filter" >$tracing/events/locks/filter
echo x86-tsc >$tracing/trace_clock
echo 8192 >$tracing/buffer_size_kb

# traced NAME COMMAND...: writes the trace of the command to trace.NAME
traced() {
	echo >$tracing/trace
	echo 1 >$tracing/events/locks/enable
	"${@:2}" "$KUNWIND_TMP/spawn" $spawns "$KUNWIND_TMP/program" >/dev/null
	echo 0 >$tracing/events/locks/enable
	cat $tracing/trace >"$KUNWIND_TMP/trace.$1"
}
traced plain
traced registered kunwind run --

# tasklist_lock is the last of the list.
[ "$(grep -c "l=0x$address" "$KUNWIND_TMP/trace.plain")" -ge $((4 * spawns)) ]
verdict $? "the probes see tasklist_lock at each fork and exit"
tests/vm/oracle/locks.py "$KUNWIND_TMP/locks" "$KUNWIND_TMP/trace.plain" "$KUNWIND_TMP/trace.registered" \
	$spawns "$plain" >"$KUNWIND_TMP/tap"
tap_from "$KUNWIND_TMP/tap"

echo 0 >$tracing/events/locks/enable
echo >$tracing/kprobe_events
echo local >$tracing/trace_clock
check "the module is unloaded" rmmod kunwind
done_testing
