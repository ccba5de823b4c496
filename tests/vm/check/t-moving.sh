#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-moving.sh - every recorded stack equals the call chain that the program
# itself recorded
#
# The programs follow random paths of calls, in threads, children, signal
# handlers, coroutines, and in a library that is mapped again and again.
# fixtures/moving.c says how they record their chains, oracle/chains.py what is
# compared.
#
# With SECONDS_MORE set, rounds with other random numbers follow for that many
# seconds.
# timeout: 400
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2

build_progs
[ -n "${KUNWIND_STOCK:-}" ] || check "the module loads" modprobe kunwind

one_round() { # SEED
	local seed=$1 dir=$work/$1 name
	mkdir -p "$dir"
	rm -f "$work/programs.tsv"
	session_begin "$dir/trace"
	verdict $? "LTTng session of all system calls starts"
	for name in moving-gcc-O2 moving-gcc-O0 moving-gcc-O3 moving-gcc-fp moving-clang-O2; do
		rm -rf "${work:?}/$name"
		start "$name" "$progs/$name" "$dir/$name.txt" 250 2 "$seed" \
			"$progs/moving-plugin-1.so" "$progs/moving-plugin-2.so"
		pids+=("$pid")
	done
	for pid in "${pids[@]}"; do
		status=0
		wait "$pid" || status=$?
		[ $status -eq 0 ] ||
			not_ok "$(awk -v p="$pid" '$2 == p { print $1 }' "$work/programs.tsv") exits with status $status"
	done
	pids=()
	session_end
	[ -z "${KEEP_DIR:-}" ] || cp -r "$dir" "$work/programs.tsv" "$KEEP_DIR/"
	adopt /usr/bin/python3 "$oracle/chains.py" "$dir/trace" "$work/programs.tsv" "$dir"
	rm -rf "$dir"
}

pids=()
seed=1
end=$((SECONDS + ${SECONDS_MORE:-0}))
one_round $seed
while [ "$SECONDS" -lt "$end" ]; do
	seed=$((seed + 1))
	one_round $seed
done
[ -n "${KUNWIND_STOCK:-}" ] || check "the module is unloaded" rmmod kunwind
done_testing
