# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the tests of the debug kernel share, sourced after lib/tap.sh. Their
# verdict is the kernel's log, which lib/guest-run reads behind each file;
# here is what has to be asked for: leaks, and allocations that fail.

# what hangs has failed, and the rest of the file still says something
scale=${KUNWIND_TIMEOUT_SCALE:-1}
storm="timeout -k 5 $((180 * scale)) build/vm-debug/storm"
debugfs=/sys/kernel/debug

# the kernel with KCSAN, which has no kmemleak
kcsan=$([ ! -e $debugfs/kcsan ] || echo yes)
[ -e $debugfs/kmemleak ] || [ -n "$kcsan" ] || { echo "1..0 # SKIP not on the debug kernel"; exit 0; }
[ -n "$kcsan" ] || echo clear >$debugfs/kmemleak

# Memory that nothing points to and kunwind asked for. An object may be missed
# while a register holds it, or be seen too early while RCU does: the second
# scan tells. What is lost while the module is loaded is still lost when it is
# unloaded, so a test scans once, at its end: the scans take most of the time of
# a test on a busy machine. To have the functions named, call it before rmmod.
no_leaks() {
	local found
	[ -z "$kcsan" ] || return 0
	sync
	sleep 1
	# refused when kmemleak has given up: then nothing is known
	if ! { echo scan >$debugfs/kmemleak && sleep 6 && echo scan >$debugfs/kmemleak; }; then
		not_ok "$1: kmemleak scans"
		return
	fi
	# of an unloaded module the symbols are gone: its addresses stay
	found=$(awk '/^unreferenced/ { if (ours) printf "%s", text; text = ""; ours = 0 }
		{ text = text $0 "\n" }
		/\[kunwind\]|\[<?0*ffffffffc/ { ours = 1 }
		END { if (ours) printf "%s", text }' $debugfs/kmemleak | head -n 60)
	is "$found" "" "$1: no memory is lost"
}

# A task that sleeps with a work of ours holds the module until it wakes up.
unload() {
	local i
	for ((i = 0; i < 100; i++)); do
		rmmod kunwind 2>/dev/null && return 0
		[ -d /sys/module/kunwind ] || return 0
		sleep 0.1
	done
	rmmod kunwind
}

# Where a function of the kernel begins, and the next one. Sets "start" and "end".
# The symbols are read once for each function: that takes seconds on this kernel.
declare -A extents=()
extent() { # FUNCTION
	[ -n "${extents[$1]:-}" ] || extents[$1]=$(awk -v name="$1" 'start { print start, "0x" $1; exit }
		$3 == name { start = "0x" $1 }' /proc/kallsyms)
	read -r start end <<<"${extents[$1]}"
}

# About one in N allocations fails, of those that kunwind's own code asks for, or of
# FUNCTION's; with TIMES not -1, only so many.
fail_allocations() { # ONE_IN [TIMES [FUNCTION]]
	local dir start end own next
	# not those of ftrace for a hook of ours: it does without, and the kernel warns
	extent arch_ftrace_update_trampoline
	own=$start next=$end
	if [ $# -gt 2 ]; then
		extent "$3"
	elif [ -d /sys/module/kunwind ]; then
		start=$(cat /sys/module/kunwind/sections/.text)
		end=$(printf '0x%x' $((start + $(awk '$1 == "kunwind" { print $2 }' /proc/modules))))
	else
		# where modules will lie: not the loader of modules, whose own
		# failures the kernel warns of
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
		# by chance: each Nth would be the same one of every try
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

# Whatever asks for memory in a task that set /proc/self/fail-nth.
quiet_failures() {
	local dir
	for dir in failslab fail_page_alloc fail_usercopy; do
		[ -d $debugfs/$dir ] || continue
		echo 0 >$debugfs/$dir/verbose
		[ ! -e $debugfs/$dir/ignore-gfp-wait ] || echo N >$debugfs/$dir/ignore-gfp-wait
	done
	echo 0 >$debugfs/fail_page_alloc/min-order
}

# A session that asks for a stack at every system call and switch of tasks.
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
	# check() runs what it checks in a shell of its own: what that exported is gone
	export LTTNG_HOME=$1/home
	lttng stop >>"$1/lttng.log" 2>&1 && lttng destroy storm >>"$1/lttng.log" 2>&1 && return
	tail -n 5 "$1/lttng.log"
	df "$1"
	return 1
}

# Storms of all kinds side by side for some seconds.
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
