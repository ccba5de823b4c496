# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Loads under which all work of the module is itself traced. Sourced by
# t-selftrace.sh and s-selftrace-*.sh, after tap.sh.
#
#   prepare                builds the programs and files
#   state STATE TRACER     runs fixtures/selftrace/worker in STATE, under TRACER
#   parts TRACER           runs a program whose tables are all built in parts
#
# STATE: pending (the file system does not answer), dead (the mapping changes
# all the time), refused (the unwind information is wrong), blind (the stack
# cannot be read). TRACER: ftrace:EVENT,EVENT..., ftrace:all, perf, lttng
#
# If a CPU interrupts itself for ever, the VM reaches its time limit. Three
# tests find a lesser load. None of them depends on the speed of the host:
# - The worker's loop does at least a thirtieth of the iterations that it does
#   in the same VM, under the same tracer, without kunwind. One of three runs is
#   enough, because a busy host stops the VM for parts of a second. (A stack
#   through code whose unwind information was refused is expensive: the loop
#   then does an eighth of the iterations, as measured.)
# - The module makes at most as many requests, task works and irq_works as
#   fault_in.c allows. A task whose requests achieve nothing is heard some ten
#   times in the first second, then once a second. One or two tasks run here,
#   and some short commands, so the limit is MOST for each second of
#   /proc/uptime and each CPU, and one for each part of a table that is built.
# - The module can be unloaded at the end: no work of the module requests
#   itself for ever.

MOST=40
tracing=/sys/kernel/tracing
lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=${KUNWIND_TMP:-$(mktemp -d /tmp/test.XXXXXX)}
SECS=${SECS:-1}

prepare() {
	local tests=$lib/.. offset
	make -s -C "$tests/fixtures/device" all >/dev/null && make -s -C "$tests/fixtures/selftrace" all >/dev/null || exit 1
	builds=$(cd "$tests/../../build" && pwd -P)
	worker=$builds/vm-progs-selftrace/worker
	cp "$builds/vm-progs-device/small.so" "$work/good.so"
	cp "$work/good.so" "$work/refused.so"
	# Makes the version of the CIE invalid.
	offset=$((16#$(readelf -SW "$work/good.so" |
		awk '$2 == ".eh_frame" || $3 == ".eh_frame" { sub(/.*PROGBITS +/, ""); print $2 }')))
	printf '\x09' | dd of="$work/refused.so" bs=1 seek=$((offset + 8)) conv=notrunc status=none
}

# ---------------------------------------------------------------- tracers

label() { case $1 in ftrace:all) echo "ftrace, all events" ;; ftrace:*) echo "ftrace, few events" ;; *) echo "$1" ;; esac; }

trace_begin() { # TRACER
	local event
	case $1 in
	ftrace:*)
		echo 1 >$tracing/options/userstacktrace
		if [ "$1" = ftrace:all ]; then
			echo 1 >$tracing/events/enable
		else
			tr , '\n' <<<"${1#ftrace:}" | while read -r event; do
				echo "$event" >>$tracing/set_event
			done
		fi ;;
	perf)
		# shellcheck disable=SC2046
		perf record -q -g -a -m 256 -o "$work/perf.data" \
			$(perf_events) -- sleep 100000 >"$work/perf.log" 2>&1 &
		perf_pid=$!
		until [ -s "$work/perf.data" ] || ! kill -0 $perf_pid 2>/dev/null; do sleep 0.1; done
		sleep 0.5 ;;
	lttng)
		lttng-sessiond --daemonize >/dev/null
		lttng -q create selftrace --output="$work/lttng" &&
			lttng -q enable-channel -k all --subbuf-size=1M --num-subbuf=4 --overwrite &&
			lttng -q add-context -k -c all -t callstack-user &&
			lttng -q enable-event -k -c all -a &&
			lttng -q start ;;
	esac >>"$work/tracer.log" 2>&1
}

# As many events as perf can have: it needs a file descriptor for each event and
# CPU. The kernel refuses perf's samples at irq_work_exit, because each sample
# would cause the next one, also without kunwind.
perf_events() {
	awk -F: '$2 != "irq_work_exit" { print "-e " $1 ":" $2 }' $tracing/available_events |
		grep -E ' (kmem|module|irq|irq_vectors|exceptions|ipi|workqueue|task|signal|lock|rcu|sched|timer|mmap|mmap_lock|raw_syscalls|context_tracking|preemptirq|percpu|pagemap):'
}

trace_end() { # TRACER
	case $1 in
	ftrace:*)
		echo 0 >$tracing/events/enable
		entries=$(awk '{ for (i = 1; i < NF; i++) if ($i == "entries:") n += $(i + 1) } END { print n + 0 }' \
			$tracing/per_cpu/cpu*/stats)
		echo 0 >$tracing/options/userstacktrace
		echo >$tracing/trace ;;
	perf)
		kill -INT "$perf_pid"
		wait "$perf_pid"
		entries=$(stat -c %s "$work/perf.data")
		rm -f "$work/perf.data" ;;
	lttng)
		lttng -q stop
		lttng -q destroy selftrace
		entries=$(du -sb "$work/lttng" | cut -f1)
		rm -rf "$work/lttng" ;;
	esac 2>>"$work/tracer.log" >&2
}

# ----------------------------------------------------------------- counts

stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { v = $3 } END { print v + 0 }' /dev/kunwind; }
irq_works() { awk '$1 == "IWI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i; print n + 0 }' /proc/interrupts; }
uptime_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

counts_begin() {
	irqs=$(irq_works)
	requests=$(stat_of fault_in_requests)
	works=$(stat_of fault_in_works)
	begin=$(uptime_ms)
}

counts_end() {
	irqs=$(($(irq_works) - irqs))
	requests=$(($(stat_of fault_in_requests) - requests))
	works=$(($(stat_of fault_in_works) - works))
	ms=$(($(uptime_ms) - begin))
}

counts_verdict() { # TRACER NAME PARTS
	local most
	most=$((MOST * $(nproc) * (ms + 1000) / 1000 + $3))
	diag "$2: $requests requests, $works task works, $irqs irq_works in $ms ms; limit $most;" \
		"recorded $entries"
	[ "$requests" -le $most ] && [ "$works" -le $most ]
	verdict $? "$2: requests and task works stay below the limit"
	[ "$entries" -gt 0 ]
	verdict $? "$2: the tracer recorded events"
	# perf, LTTng and a PREEMPT_RT kernel raise irq_works, too
	[[ $1 == ftrace:* ]] && ! is_rt || return 0
	[ "$irqs" -le $most ]
	verdict $? "$2: irq_works stay below the limit"
}

unload() {
	local i
	for ((i = 0; i < 200; i++)); do
		rmmod kunwind 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}

# ------------------------------------------------------------------ loads

declare -A without
mode_of() { case $1 in pending | refused) echo code ;; *) echo "$1" ;; esac; }
file_of() { case $1 in pending) echo "$work/stuck/0" ;; refused) echo "$work/refused.so" ;; dead) echo "$work/good.so" ;; esac; }
object_state() { awk -F'\t' -v p="$1" '$1 == "object" && $7 == p { print $2 }' /dev/kunwind; }

# STATE TRACER [kunwind]: sets $turns, the worker's iterations
run_worker() {
	local out=$work/worker.out file pid i
	file=$(file_of "$1")
	rm -f "$out"
	# shellcheck disable=SC2086
	"$worker" map "$(mode_of "$1")" "$SECS" $file >"$out" &
	pid=$!
	until [ -s "$out" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	[ "$1" != pending ] || kill -USR2 "$stuckfs"
	if [ -n "${3-}" ]; then
		modprobe kunwind system_wide=1
		case $1 in
		pending | refused)
			for ((i = 0; i < 200; i++)); do
				[ "$(object_state "$file")" != "$1" ] || break
				sleep 0.1
			done
			is "$(object_state "$file")" "$1" "$name: state of the code's table" ;;
		esac
	fi
	trace_begin "$2"
	[ -z "${3-}" ] || counts_begin
	kill -USR1 $pid
	wait $pid
	[ -z "${3-}" ] || counts_end
	trace_end "$2"
	turns=$(awk '$1 ~ /^[0-9]+$/ { print $1 }' "$out")
	turns=${turns:-0}
	[ -n "${3-}" ] || return 0
	counts_verdict "$2" "$name" 0
	[ "$1" != pending ] || kill -USR1 "$stuckfs"
	unload
	verdict $? "$name: the module is unloaded"
}

stuckfs_begin() {
	local i
	mkdir -p "$work/stuck"
	modprobe -q fuse
	rm -f "$work/stuckfs.out"
	"$builds/vm-progs-device/stuckfs" "$work/stuck" "$work/good.so" 1 >"$work/stuckfs.out" &
	stuckfs=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -s "$work/stuckfs.out" ] || break
		sleep 0.05
	done
	kill -USR1 "$stuckfs"
}

stuckfs_end() {
	kill -KILL "$stuckfs"
	wait "$stuckfs" 2>/dev/null
	umount -l "$work/stuck"
}

state() { # STATE TRACER
	local key name try stuck=1
	name="$1, $(label "$2")"
	key="$(mode_of "$1") $2"
	[ "$1" != pending ] || stuckfs_begin
	if [ -z "${without[$key]:-}" ]; then
		run_worker "$1" "$2"
		without[$key]=$turns
		[ "$1" != pending ] || kill -USR1 "$stuckfs"
	fi
	for ((try = 0; try < 3 && stuck; try++)); do
		run_worker "$1" "$2" kunwind
		diag "$name: $turns iterations with kunwind, ${without[$key]} without"
		[ "$turns" -eq 0 ] || [ $((turns * 30)) -lt "${without[$key]}" ]
		stuck=$((!$?))
	done
	verdict $stuck "$name: the loop keeps at least 1/30 of its speed without kunwind"
	[ "$1" != pending ] || stuckfs_end
}

requests_for_parts=0
parts() { # TRACER
	local status built name
	name="parts, $(label "$1")"
	# If its files are in memory, the program does not wait for the disk
	# below.
	"${PROGRAM[@]}" >/dev/null 2>&1
	modprobe kunwind system_wide=1 max_whole_kb=0
	trace_begin "$1"
	counts_begin
	"${PROGRAM[@]}" >/dev/null 2>&1
	status=$?
	counts_end
	trace_end "$1"
	built=$(awk -F'\t' '$1 == "parts" { n += $3 } END { print n + 0 }' /dev/kunwind)
	diag "$name: $built parts; stacks: $(awk '$1 == "reason" && $3 { printf "%s %s ", $2, $3 }' /dev/kunwind)"
	is "$status" 0 "$name: ${PROGRAM[0]} ends with status 0"
	counts_verdict "$1" "$name" "$built"
	requests_for_parts=$((requests_for_parts + requests))
	unload
	verdict $? "$name: the module is unloaded"
}

# After all calls of parts(). A tracer alone may see none: the parts are also built
# in the background, sometimes before the program's first walk needs one.
parts_verdict() {
	[ "$requests_for_parts" -gt 0 ]
	verdict $? "walks that missed a part made requests"
}

# All states and parts under each of TRACERS.
matrix() {
	local tracer state
	prepare
	PROGRAM=(clang --version)
	for tracer in ${TRACERS:-ftrace:all perf lttng}; do
		command -v "${tracer%%:*}" >/dev/null || [[ $tracer == ftrace:* ]] || {
			skip "$tracer: all states and parts" "there is no $tracer"
			continue
		}
		for state in pending dead refused blind; do
			state $state $tracer
		done
		parts $tracer
	done
	parts_verdict
}
