# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# loads.sh - programs that keep the machine busy. Sourced by soak.sh and
# sampling.sh.
#
# LOADS (all) processes run the loads, each its own ones in turn, until the file
# $work/stop exists. Each program must end with status 0, with the module and
# without it. Others are listed in load-NAME.strange, which fails the test.

loads=(make python dlopen forks threads signals moving profile)
! command -v node >/dev/null || loads+=(jit)
at_once=${LOADS:-${#loads[@]}}
# the seconds that a program may take, when its load has finished one before
turn=${TURN:-300}
declare -A turns=() slow=()

still() { [ ! -e "$work/stop" ]; }

# run NAME COMMAND...: the status must be 0. 124 (timeout) means that the
# machine is slow; it is only counted. A load's first program has no time limit,
# because soak.sh and sampling.sh wait until each load has finished one.
run() {
	local name=$1 status=0 limit=0
	shift
	[ -z "${turns[$name]:-}" ] || limit=$turn
	timeout "$limit" "$@" >"$work/load-$name.out" 2>&1 </dev/null || status=$?
	case $status in
	0) turns[$name]=$((${turns[$name]:-0} + 1)) ;;
	124) slow[$name]=$((${slow[$name]:-0} + 1)) ;;
	*) still && echo "$name: status $status: $(tail -n 1 "$work/load-$name.out")" >>"$work/load-$name.strange" ;;
	esac
}

load_make() {
	[ -d "$work/project" ] || make_project "$work/project" 6
	rm -f "$work"/project/*.o
	run make make -s -C "$work/project" -j4 CC=gcc
}

load_python() {
	run python /usr/bin/python3 -c 'import json, re, sqlite3, subprocess, threading
def work():
    for i in range(10):
        json.loads(json.dumps({"a": [i] * 50}))
        open("/dev/null").close()
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
subprocess.run(["/bin/true"], check=True)
sqlite3.connect(":memory:").execute("select 1").fetchall()
[t.join() for t in threads]'
}

load_dlopen() {
	run dlopen /usr/bin/python3 -c 'import _ctypes, random
names = ["libxml2.so.2", "libsqlite3.so.0", "libstdc++.so.6", "libgcrypt.so.20", "libz.so.1"]
found = []
for name in names:
    try:
        _ctypes.dlclose(_ctypes.dlopen(name, 2))
        found.append(name)
    except OSError:
        pass
for _ in range(30):
    handle = _ctypes.dlopen(random.choice(found), 2)
    open("/dev/null").close()
    _ctypes.dlclose(handle)'
}

load_forks() {
	run forks dash -c 'i=0; while [ $i -lt 15 ]; do /bin/true; (:) & dash -c "kill -ABRT \$\$"; i=$((i + 1)); done; wait'
}

load_threads() {
	run threads perl -e 'for (1 .. 20) { my $p = fork(); die unless defined $p; if (!$p) { exec "/bin/true" if $_ % 2; exit 0 } waitpid $p, 0 }'
}

# Each handler starts the timer again: at any pace, the program gets on.
load_signals() {
	run signals /usr/bin/python3 -c 'import os, signal
n = 0
def handler(*_):
    global n
    n += 1
    open("/dev/null").close()
    if n < 40:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.02)
while n < 40:
    os.getppid()'
}

# Random call chains, coroutines, signal handlers, vfork(), a library that is
# mapped again at the same address.
load_moving() {
	run moving "$progs/moving-gcc-O2" "$work/moving.txt" 10 2 $((seed + ${turns[moving]:-0})) \
		"$progs/moving-plugin-1.so"
	rm -f "$work/moving.txt"
}

load_jit() {
	run jit node -e 'const fs = require("fs"); function f(n) { return n ? f(n - 1) : fs.existsSync("/"); }
for (let i = 0; i < 1000; i++) f(20);'
}

# Call chains taken by a program of the tests, then perf -g of all processes, if
# perf is installed. The options turn off perf's searches of all files and
# symbols, which take minutes here.
load_profile() {
	run profile "$progs/perfchain" stranger
	if command -v perf >/dev/null; then
		run profile perf record -q -N -B --no-bpf-event -e cpu-clock -F 49 -g -a \
			-o "$work/perf.data" -- sleep 1
		rm -f "$work/perf.data"
	fi
}

# The loads FIRST, FIRST + at_once, ... in turn.
loads_in_turn() { # FIRST
	local i load
	while still; do
		for ((i = $1; i < ${#loads[@]}; i += at_once)); do
			load=${loads[i]}
			! still || "load_$load"
			echo "$load ${turns[$load]:-0}${slow[$load]:+ (${slow[$load]} not done in time)}" \
				>"$work/load-$load.turns"
		done
	done
}

# Prints the loads that have finished no program. (One whose program failed is not
# waited for: that fails the test anyway.)
loads_idle() {
	local load
	for load in "${loads[@]}"; do
		[ -s "$work/load-$load.strange" ] || grep -qs "^$load [1-9]" "$work/load-$load.turns" || echo "$load"
	done
}

# Only the VM's time limit ends it: how long the first programs take depends on
# the machine.
loads_wait() {
	while [ -n "$(loads_idle)" ]; do sleep 1; done
}

load_pids=()
loads_begin() {
	local i
	rm -f "$work/stop" "$work"/load-*.turns
	for ((i = 0; i < at_once; i++)); do
		# the actions of soak.sh go first
		{ renice -n 10 "$BASHPID" >/dev/null && loads_in_turn $i; } &
		load_pids+=($!)
	done
}

# A load sees $work/stop only when its program has ended, after at most $turn
# seconds (run()); the load "profile" runs two programs in a row.
loads_end() {
	local end=$((SECONDS + 2 * turn + 100))
	touch "$work/stop"
	while kill -0 "${load_pids[@]}" 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.5
	done
	wait "${load_pids[@]}"
	load_pids=()
	rm -rf "$work/project"
}

loads_tell() {
	diag "programs that each load has finished: $(cat "$work"/load-*.turns | tr '\n' ' ')"
}
