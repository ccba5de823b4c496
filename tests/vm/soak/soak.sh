#!/bin/bash
# SPDX-License-Identifier: MIT
#
# soak.sh - load, unload, takeover and all other switches in random order, on a
# machine that is as busy as possible (loads.sh); scripts/soak runs this
#
# It lasts SOAK seconds (600), longer on a slow machine (act_for). SEED chooses the order of the actions, and the
# numbers of actions of each kind are printed at the end. What the loads do at
# the same time depends on the scheduler. First, all of it runs for WARM seconds
# (SOAK / 8), so that memory which a kernel allocates once and keeps is not
# taken for a leak. The kernel's memory is measured after that and at the end,
# when the loads have ended and the module is unloaded (memory.sh).
# timeout: 86400 (scripts/soak sets the real time limit of the VM)

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
# shellcheck source=tests/vm/soak/memory.sh
. "$(dirname "$0")/memory.sh"
# shellcheck source=tests/vm/soak/loads.sh
. "$(dirname "$0")/loads.sh"
# shellcheck source=tests/vm/soak/watch.sh
. "$(dirname "$0")/watch.sh"
need lttng babeltrace2 gcc make

seconds=${SOAK:-600}
seed=${SEED:-1}
RANDOM=$seed
params=/sys/module/kunwind/parameters
klp=/sys/kernel/livepatch/livepatch
tracefs=/sys/kernel/tracing
declare -A did=() refused=()
loaded() { [ -d /sys/module/kunwind ]; }

# Runs a command, and counts by KIND whether it succeeds or is refused. Messages
# other than "in use" and the like go to $work/strange and fail the test.
attempt() { # KIND COMMAND...
	local kind=$1
	shift
	if "$@" >"$work/attempt" 2>&1 </dev/null; then
		did[$kind]=$((${did[$kind]:-0} + 1))
	else
		refused[$kind]=$((${refused[$kind]:-0} + 1))
		grep -vE 'in use|[Bb]usy|temporarily unavailable|Resource|not currently loaded' "$work/attempt" |
			sed "s/^/$kind: /" >>"$work/strange"
		return 1
	fi
}

session_on=
tracing() { # starts or ends an LTTng session that records stacks
	if [ -n "$session_on" ]; then
		session_end >>"$work/lttng.log" 2>&1 && did[session]=$((${did[session]:-0} + 1))
		rm -rf "$work/trace"
		session_on=
	else
		session_events_of_soak >>"$work/lttng.log" 2>&1
		session_on=1
	fi
}

# Events of the whole system, LTTng's own daemons included: LTTng drops events
# that it cannot write in time. There are no filters: for each event with a
# filter, lttng-modules 2.13.9 leaks one object of kmalloc-512
# (lttng_bytecode_validate, without kunwind too), which would hide leaks of
# kunwind.
calls=openat,close,read,execve,clone,vfork,wait4,mmap,munmap,mprotect,futex,rt_sigreturn,getppid
session_events_of_soak() {
	lttng -q create test --output="$work/trace" &&
		lttng -q enable-channel -k all --overwrite --subbuf-size=1M --num-subbuf=4 &&
		lttng -q add-context -k -c all -t callstack-user &&
		lttng -q enable-event -k -c all --syscall "$calls" &&
		lttng -q enable-event -k -c all 'sched_switch,sched_process_fork' &&
		{ [ ! -d /sys/module/lttng_probe_kunwind ] || lttng -q enable-event -k -c all kunwind_sample; } &&
		lttng -q start
}

# Sets or removes a return probe on a function of the C library that all
# programs call.
libc=/lib/x86_64-linux-gnu/libc.so.6
probe_at=$(readelf --dyn-syms -W $libc | awk '$8 ~ /^getenv@/ { print "0x" $2; exit }')
probes() {
	if [ -e $tracefs/events/soak ]; then
		echo 0 >$tracefs/events/soak/enable && echo '-:soak/ret' >>$tracefs/uprobe_events
	else
		echo "r:soak/ret $libc:$probe_at" >>$tracefs/uprobe_events &&
			echo 1 >$tracefs/events/soak/enable
	fi
}

# Loads or unloads a livepatch. Unloading waits until each task has left the
# patched code.
patching() { # NUMBER: 0 patches a function that kunwind takes over, others another function
	local i
	if [ -d /sys/module/livepatch ]; then
		[ ! -e $klp/enabled ] || echo 0 2>/dev/null >$klp/enabled
		for ((i = 0; i < 100; i++)); do
			[ -e $klp ] || break
			sleep 0.1
		done
		attempt livepatch-gone rmmod livepatch
	elif [ "$1" -eq 0 ]; then
		attempt livepatch modprobe livepatch function=stack_trace_save_user
	else
		attempt livepatch modprobe livepatch
	fi
}

# Suspends as far as a machine with its root on 9p can: all tasks are frozen and
# thawed.
freeze() {
	[ -e /sys/power/pm_test ] || return 0
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	# refused when a task does not freeze in time, for example in a read
	# that hangs
	if echo freeze 2>/dev/null >/sys/power/state; then
		did[suspend]=$((${did[suspend]:-0} + 1))
	else
		refused[suspend]=$((${refused[suspend]:-0} + 1))
	fi
	echo none >/sys/power/pm_test
}

# Starts or ends a BPF program at the entry of functions that kunwind hooks, if
# the kernel has BTF.
fentry() {
	if [ -n "${fentry_pid:-}" ]; then
		# bpftrace 0.17 goes on if the signal does not interrupt its
		# epoll_wait()
		while kill "$fentry_pid" 2>/dev/null; do sleep 0.2; done
		wait "$fentry_pid" 2>/dev/null
		fentry_pid=
	elif [ -e /sys/kernel/btf/vmlinux ] && command -v bpftrace >/dev/null; then
		bpftrace -e 'kfunc:perf_event_mmap { @m = count(); } kfunc:uprobe_dup_mmap { @f = count(); }
			kfunc:stack_trace_save_user { @s[ustack(5)] = count(); }' >"$work/bpftrace" 2>&1 </dev/null &
		fentry_pid=$!
		did[fentry]=$((${did[fentry]:-0} + 1))
	fi
}

# Sets or removes kprobes on hooked functions and, while the module is loaded,
# on kunwind's own functions.
kprobes() {
	local event
	if grep -q '^p:soakk/' $tracefs/kprobe_events; then
		echo 0 >$tracefs/events/soakk/enable
		for event in $(sed -n 's/^p:soakk\/\([^ ]*\).*/\1/p' $tracefs/kprobe_events); do
			echo "-:soakk/$event" >>$tracefs/kprobe_events
		done
	else
		for event in perf_event_mmap uprobe_clear_state generic_shutdown_super kunwind:kunwind_space_read_mappings \
			kunwind:kunwind_object_get_file kunwind:kunwind_snapshot_destroy; do
			echo "p:soakk/${event##*:} $event" 2>/dev/null >>$tracefs/kprobe_events
		done
		echo 1 2>/dev/null >$tracefs/events/soakk/enable && did[kprobes]=$((${did[kprobes]:-0} + 1))
	fi
}

registered=()
one_action() {
	local action=$((RANDOM % 30)) a=$RANDOM pid
	watch_begin "action $action $a"
	case $action in
	0 | 1 | 2 | 20 | 21 | 22)
		if loaded; then
			rmmod lttng_probe_kunwind 2>/dev/null
			attempt unload rmmod kunwind && registered=()
		else
			attempt load modprobe kunwind system_wide=$((a % 2))
		fi ;;
	3 | 4) loaded && attempt system-wide kunwind system-wide $([ $((a % 3)) -eq 0 ] && echo off || echo on) ;;
	5)
		loaded && { echo N >$params/enabled && sleep 0.0$((a % 10)) && echo Y >$params/enabled; } 2>/dev/null
		did[switch]=$((${did[switch]:-0} + 1)) ;;
	6 | 7)
		mapfile -t pid < <(pgrep -P "$$" 2>/dev/null; pgrep -f 'python3|moving' 2>/dev/null)
		loaded && [ ${#pid[@]} -gt 0 ] || return 0
		pid=${pid[a % ${#pid[@]}]}
		kunwind register $([ $((a % 2)) -eq 0 ] || echo --children) "$pid" >/dev/null 2>&1 &&
			registered+=("$pid") && did[register]=$((${did[register]:-0} + 1)) ;;
	8)
		[ ${#registered[@]} -gt 0 ] || return 0
		kunwind unregister "${registered[-1]}" >/dev/null 2>&1 && did[unregister]=$((${did[unregister]:-0} + 1))
		unset 'registered[-1]' ;;
	9 | 10) tracing ;;
	11)
		if [ -d /sys/module/conflict ]; then
			attempt conflict-gone rmmod conflict
		else
			pid=(stack_trace_save_user perf_callchain_user)
			attempt conflict modprobe conflict function="${pid[a % 2]}"
		fi ;;
	12)
		if [ -d /sys/module/lttng_probe_kunwind ]; then
			attempt events-gone rmmod lttng_probe_kunwind
		elif loaded; then
			attempt events modprobe lttng-probe-kunwind
		fi ;;
	13) probes 2>/dev/null && did[uretprobe]=$((${did[uretprobe]:-0} + 1)) ;;
	14)
		echo $((a % 2)) >$tracefs/options/userstacktrace
		echo $((a % 2)) >$tracefs/events/sched/sched_switch/enable
		did[ftrace-stack]=$((${did[ftrace-stack]:-0} + 1)) ;;
	15)
		loaded && { echo $((1 + a % 20)) >$params/max_table_mb && sleep 0.2 && echo 512 >$params/max_table_mb; } 2>/dev/null
		did[limit]=$((${did[limit]:-0} + 1)) ;;
	16) echo $((1 + a % 3)) >/proc/sys/vm/drop_caches; did[drop-caches]=$((${did[drop-caches]:-0} + 1)) ;;
	17) { loaded && kunwind status && cat /dev/kunwind; } >/dev/null 2>&1; did[status]=$((${did[status]:-0} + 1)) ;;
	18)
		{ echo 0 >/sys/devices/system/cpu/cpu1/online && sleep 0.2 &&
			echo 1 >/sys/devices/system/cpu/cpu1/online; } 2>/dev/null && did[cpu]=$((${did[cpu]:-0} + 1)) ;;
	19) sleep 0.$((a % 9 + 1)) ;;
	23 | 24) patching $((a % 3)) ;;
	25) freeze ;;
	26) fentry ;;
	27) kprobes ;;
	28 | 29)
		loaded && { echo Y >$params/sample_all && echo $((a % 2)) >$tracefs/events/kunwind/enable; } 2>/dev/null &&
			did[own-events]=$((${did[own-events]:-0} + 1)) ;;
	esac
	return 0
}

# Tests the module's own counts: they must be 0 when nothing is registered and
# no table is kept.
own_books() {
	local i left
	kunwind system-wide off >/dev/null
	for ((i = 0; i < 100; i++)); do
		echo 2 >/proc/sys/vm/drop_caches
		left=$(awk -F'\t' '$1 == "user" || $1 == "object" || $1 == "process" ||
			($1 == "stat" && $2 ~ /^(processes|objects|map_bytes|table_bytes|idle_bytes|memory_bytes)$/ && $3)' /dev/kunwind)
		[ -n "$left" ] || break
		sleep 0.1
	done
	is "$left" "" "the module has no process, object or byte left"
}

# Ends the loads and all tracing, removes their files, and unloads the module.
# Each step is an action of its own for watch.sh, which reports a step that
# takes too long.
quiet() {
	watch_begin "quiet: the loads end"
	loads_end || not_ok "all loads end"
	watch_begin "quiet: all tracing ends"
	[ -z "$session_on" ] || tracing
	[ ! -e $tracefs/events/soak ] || probes
	! grep -q '^p:soakk/' $tracefs/kprobe_events || kprobes
	[ -z "${fentry_pid:-}" ] || fentry
	[ ! -d /sys/module/livepatch ] || patching 1
	! loaded || echo 0 >$tracefs/events/kunwind/enable
	echo 0 >$tracefs/options/userstacktrace
	echo 0 >$tracefs/events/sched/sched_switch/enable
	echo >$tracefs/trace
	watch_begin "quiet: the counts of the module become 0"
	local i
	loaded || attempt load modprobe kunwind
	own_books
	watch_begin "quiet: the module is unloaded"
	[ ! -d /sys/module/conflict ] || rmmod conflict
	[ ! -d /sys/module/lttng_probe_kunwind ] || rmmod lttng_probe_kunwind
	# task work of processes that have just ended may still be running
	for ((i = 0; i < 100; i++)); do
		loaded || break
		rmmod kunwind 2>/dev/null || sleep 0.1
	done
	registered=()
	watch_begin "quiet: the memory is measured"
}

# enough LEAST: the module was loaded and unloaded so often, all other kinds that
# the tests ask for have run, and each load has finished a program.
enough() {
	[ "${did[load]:-0}" -ge "$1" ] && [ "${did[unload]:-0}" -ge "$1" ] &&
		[ "${did[session]:-0}" -ge 1 ] && [ $((${did[system-wide]:-0} + ${did[register]:-0})) -ge 1 ] &&
		[ -z "$(loads_idle)" ]
}

# act_for SECONDS LEAST: goes on after SECONDS until there is enough. How long that
# takes depends on the machine, so only the VM's time limit ends it.
act_for() {
	local end=$((SECONDS + $1)) told=''
	loads_begin
	attempt load modprobe kunwind
	while [ "$SECONDS" -lt "$end" ] || ! enough "$2"; do
		if [ "$SECONDS" -ge "$end" ] && [ -z "$told" ]; then
			diag "$1 s are over; waiting for enough actions, and for a program of each load of: $(loads_idle | tr '\n' ' ')"
			told=1
		fi
		one_action
		sleep 0.0$((RANDOM % 10))
	done
}

diag "seed $seed, $seconds s: the same order again with make soak SEED=$seed SECONDS=$seconds"
lttng-sessiond --daemonize >/dev/null
renice -n -10 $$ >/dev/null
watch_actions $$ &
watcher=$!
least=$((seconds / 120 > 0 ? seconds / 120 : 1))
act_for "${WARM:-$((seconds / 8 + 5))}" 1
quiet
! loaded
verdict $? "after the warm-up the module is unloaded"
memory_note "$work/before"
did=() refused=()

act_for "$seconds" $least
busy=$(cut -d' ' -f1-3 /proc/loadavg)
quiet
! loaded
verdict $? "after $seconds s of load the module is unloaded"
memory_note "$work/after"
for kind in "${!did[@]}" "${!refused[@]}"; do
	printf '%-14s %5d done, %5d refused\n' "$kind" "${did[$kind]:-0}" "${refused[$kind]:-0}"
done | sort -u | sed 's/^/# /'
diag "load averages at the end: $busy"
loads_tell
[ "${did[load]:-0}" -ge $least ] && [ "${did[unload]:-0}" -ge $least ]
verdict $? "under load the module is loaded ${did[load]:-0} times and unloaded ${did[unload]:-0} times"
[ "${did[session]:-0}" -ge 1 ] && [ $((${did[system-wide]:-0} + ${did[register]:-0})) -ge 1 ]
verdict $? "under load sessions are traced and processes are registered"
is "$(loads_idle)" "" "each load has finished at least one program"
is "$(sort "$work/strange" 2>/dev/null | uniq -c | head -n 20)" "" "no load or unload is refused for a reason other than in use"
is "$(sort "$work"/load-*.strange 2>/dev/null | uniq -c | head -n 20)" "" "no program of a load fails"
memory_compare "$work/before" "$work/after"
is "$(grep -c kunwind $tracefs/enabled_functions)" 0 "no ftrace hook of kunwind is left"
is "$(cat /proc/sys/kernel/tainted)" "$((0xb000 & $(cat /proc/sys/kernel/tainted)))" \
	"the kernel is tainted only by out-of-tree modules and the livepatch"

kill "$watcher"
# after all of this the module still works
build_progs
check "after the soak the module loads" modprobe kunwind
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"after the soak the stack of a registered program is right"
check "after the soak the module is unloaded" rmmod kunwind
done_testing
