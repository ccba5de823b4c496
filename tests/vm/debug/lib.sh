# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions of the tests of the debug kernel, sourced after lib/tap.sh. The
# kernel's log decides whether a test passed; lib/guest-run reads it after each
# file. This file has what is not in the log: a search for leaks, and
# allocations that fail.

# A storm that hangs has failed. With a timeout the rest of the file still runs.
scale=${KUNWIND_TIMEOUT_SCALE:-1}
storm="timeout -k 5 $((180 * scale)) build/vm-debug/storm"
debugfs=/sys/kernel/debug
tracefs=/sys/kernel/tracing
# shellcheck source=tests/vm/lib/kmemleak.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/kmemleak.sh"

# the kernel with KCSAN, which has no kmemleak
kcsan=$([ ! -e $debugfs/kcsan ] || echo yes)
[ -e $debugfs/kmemleak ] || [ -n "$kcsan" ] || { echo "1..0 # SKIP not on the debug kernel"; exit 0; }
[ -n "$kcsan" ] || echo clear >$debugfs/kmemleak

# A test searches only once, at its end: on a busy machine the search takes most
# of a test's time. Call this before rmmod to see the names of the functions.
no_leaks() {
	local found
	[ -z "$kcsan" ] || return 0
	if found=$(kmemleak_ours); then
		is "$found" "" "$1: no memory has leaked"
	else
		not_ok "$1: kmemleak scans"
	fi
}

# A task that sleeps with a queued task work of kunwind's holds the module in
# use until it wakes up.
unload() {
	local i
	for ((i = 0; i < 100; i++)); do
		rmmod kunwind 2>/dev/null && return 0
		[ -d /sys/module/kunwind ] || return 0
		sleep 0.1
	done
	rmmod kunwind
}

# Sets "start" and "end" to the address of a kernel function and of the next
# one. The result is kept, because reading the symbols takes seconds on this
# kernel.
declare -A extents=()
extent() { # FUNCTION
	[ -n "${extents[$1]:-}" ] || extents[$1]=$(awk -v name="$1" 'start { print start, "0x" $1; exit }
		$3 == name { start = "0x" $1 }' /proc/kallsyms)
	read -r start end <<<"${extents[$1]}"
}

# About one in N allocations of kunwind's code, or of FUNCTION, fails; at most
# TIMES of them, unless TIMES is -1.
fail_allocations() { # ONE_IN [TIMES [FUNCTION]]
	local dir start end own next
	# ftrace's allocation for the trampoline of a hook does not fail: ftrace
	# works without the trampoline, and the kernel warns
	extent arch_ftrace_update_trampoline
	own=$start next=$end
	if [ $# -gt 2 ]; then
		extent "$3"
	elif [ -d /sys/module/kunwind ]; then
		start=$(cat /sys/module/kunwind/sections/.text)
		end=$(printf '0x%x' $((start + $(awk '$1 == "kunwind" { print $2 }' /proc/modules))))
	else
		# the area of modules: an allocation of the module loader must
		# not fail, because the kernel warns of that
		start=0xffffffffc0000000 end=0xffffffffff000000
	fi
	for dir in failslab fail_page_alloc; do
		echo 0 >$debugfs/$dir/verbose
		echo N >$debugfs/$dir/ignore-gfp-wait
		echo 32 >$debugfs/$dir/stacktrace-depth
		echo "$start" >$debugfs/$dir/require-start
		echo "$end" >$debugfs/$dir/require-end
		echo "$own" >$debugfs/$dir/reject-start
		echo "$next" >$debugfs/$dir/reject-end
		echo "${2:--1}" >$debugfs/$dir/times
		# at random: every Nth allocation would be the same one in each
		# try
		echo 1 >$debugfs/$dir/interval
		echo $((100 / $1)) >$debugfs/$dir/probability
	done
	echo 0 >$debugfs/fail_page_alloc/min-order
}

stop_failing() {
	local dir
	for dir in failslab fail_page_alloc; do
		echo 0 >$debugfs/$dir/probability
	done
}

# Lets any allocation of a task that set /proc/self/fail-nth fail, without log
# lines.
quiet_failures() {
	local dir
	for dir in failslab fail_page_alloc fail_usercopy; do
		[ -d $debugfs/$dir ] || continue
		echo 0 >$debugfs/$dir/verbose
		[ ! -e $debugfs/$dir/ignore-gfp-wait ] || echo N >$debugfs/$dir/ignore-gfp-wait
	done
	echo 0 >$debugfs/fail_page_alloc/min-order
}

# Turns kunwind's own events on or off: ftrace records stacks, mappings, slow
# system calls and deadly signals.
own_events() { # 1 or 0
	echo 512 >$tracefs/buffer_size_kb
	echo "$1" >$tracefs/events/kunwind/enable
}
# Prints which of them ftrace's buffer has not.
own_events_missing() {
	local event
	for event in kunwind_slow_syscall kunwind_fatal_signal kunwind_map; do
		grep -qm 1 " $event: " $tracefs/trace || echo "$event"
	done
}

# Only LTTng's probe can turn the sampler on. All tasks are sampled, into memory.
samples_begin() { # DIRECTORY
	export LTTNG_HOME=$1/home
	mkdir -p "$LTTNG_HOME"
	pidof lttng-sessiond >/dev/null || lttng-sessiond --daemonize >"$1/sessiond.log" 2>&1
	echo Y >/sys/module/kunwind/parameters/sample_all
	{
		modprobe lttng-probe-kunwind &&
			lttng create samples --snapshot --output="$1/samples" &&
			lttng enable-channel --kernel samples &&
			lttng enable-event --kernel --channel=samples kunwind_sample &&
			lttng start samples
	} >"$1/samples.log" 2>&1 || { tail -n 5 "$1/samples.log"; return 1; }
}
# Succeeds if there were samples.
samples_end() { # DIRECTORY
	local nr
	export LTTNG_HOME=$1/home
	nr=$(awk '$1 == "stat" && $2 == "samples" { print $3 }' /dev/kunwind)
	echo "$nr samples"
	lttng destroy samples >>"$1/samples.log" 2>&1 && rmmod lttng_probe_kunwind && [ "$nr" -gt 100 ]
}

# Starts a session that records a stack at every system call and task switch.
lttng_start() { # DIRECTORY
	export LTTNG_HOME=$1/home
	mkdir -p "$LTTNG_HOME"
	lttng-sessiond --daemonize >"$1/sessiond.log" 2>&1
	{
		lttng create storm --output="$1/trace" &&
			lttng enable-channel --kernel --subbuf-size=1M --num-subbuf=4 c &&
			lttng add-context --kernel --channel=c --type=callstack-user &&
			lttng enable-event --kernel --channel=c --syscall --all &&
			lttng enable-event --kernel --channel=c sched_switch,sched_process_exit &&
			lttng start
	} >"$1/lttng.log" 2>&1
}

lttng_stop() { # DIRECTORY
	# check() runs its command in a subshell, so the export of lttng_start()
	# is lost.
	export LTTNG_HOME=$1/home
	lttng stop storm >>"$1/lttng.log" 2>&1 && lttng destroy storm >>"$1/lttng.log" 2>&1 && return
	tail -n 5 "$1/lttng.log"
	df "$1"
	return 1
}

# Runs storms of all kinds side by side for some seconds.
storms() {
	local seconds=$1 mode pids=() status=0 pid
	for mode in fork map walk register fuzz; do
		$storm $mode "$seconds" &
		pids+=($!)
	done
	$storm dlopen "$seconds" libstdc++.so.6 libsqlite3.so.0 \
		libxml2.so.2 &
	pids+=($!)
	$storm register "$seconds" "${pids[@]}" &
	pids+=($!)
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	return "$status"
}
