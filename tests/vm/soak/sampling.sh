#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sampling.sh - the sampler and the flight recorder stay on while the machine is as
# busy as possible (loads.sh); "scripts/soak --sampling" runs this
#
# For SOAK seconds (3600), kunwind samples all processes at 997 Hz and keeps the last
# events in memory. Meanwhile, a CPU goes offline and comes back, and perf's limits
# change. Each minute must bring new samples. A snapshot is taken each minute. It must be
# readable, have samples, and be at most 2 MB larger than the recorder's memory.
#
# The first tenth of the time is a warm-up, in which the kernel and the daemons allocate
# memory that they keep. Then the modules are unloaded, and the kernel's memory is noted.
# The rest is one recording. After the second tenth, the memory of the recorder, of
# LTTng's daemons and of the module must stay within limits. At the end, the modules are
# unloaded, and the kernel's memory is compared (memory.sh).
# timeout: 86400 (scripts/soak sets the real time limit of the VM)

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
# shellcheck source=tests/vm/soak/memory.sh
. "$(dirname "$0")/memory.sh"
# shellcheck source=tests/vm/soak/loads.sh
. "$(dirname "$0")/loads.sh"
need lttng babeltrace2 gcc make

seconds=${SOAK:-3600}
memory_mb=16
cd "$work" || exit 1

samples() { awk '$1 == "stat" && $2 == "samples" { print $3 }' /dev/kunwind; }
skipped() { awk '$1 == "stat" && $2 ~ /^samples_skipped/ { printf " %s %s", substr($2, 17), $3 }' /dev/kunwind; }
# Prints the memory of the recorder with the daemons, and that of the module, in KB.
held() {
	local pid kb=0 rss
	for pid in $(pgrep -x 'kunwind-record|lttng-sessiond|lttng-consumerd'); do
		rss=$(awk '/^RssAnon:/ { print $2 }' "/proc/$pid/status" 2>/dev/null)
		kb=$((kb + ${rss:-0}))
	done
	echo "$kb" "$(awk '$1 == "stat" && $2 == "memory_bytes" { print int($3 / 1024) }' /dev/kunwind)"
}

recorder_begin() { # DIRECTORY
	kunwind record --flight --json -a -F 997 --memory ${memory_mb}M -o "$1" 2>"$work/record.err" &
	recorder=$!
	until grep -q '"flight"' "$work/record.err" || ! kill -0 $recorder 2>/dev/null; do sleep 0.5; done
}
recorder_end() {
	kill -INT $recorder
	wait $recorder
}

# Takes a snapshot, and prints what is wrong with it. Prints nothing if all is well.
snapshot() {
	local dir text shot_kb
	dir=$(kunwind snapshot 2>"$work/snapshot.err") || { echo "no snapshot: $(tail -n 1 "$work/snapshot.err")"; return; }
	shot_kb=$(du -sk "$dir" | cut -f 1)
	# 2 MB for metadata and kernel symbols
	[ "$shot_kb" -le $((memory_mb * 1024 + 2048)) ] || echo "a snapshot of $shot_kb KB"
	if text=$(kunwind report --json --no-lines "$dir" 2>"$work/report.err"); then
		echo "$text" | /usr/bin/python3 -c '
import json, sys
trace = json.load(sys.stdin)["trace"]
if not trace["stacks"]:
    print("no stacks in it")
' 2>&1
	else
		echo "not readable: $(tail -n 1 "$work/report.err")"
	fi
	kunwind show --summary --no-symbols --event kunwind_sample "$dir" >/dev/null 2>&1 || echo "no samples in it"
	rm -rf "$dir"
}

minutes=0 stalled=0
busy_for() { # SECONDS
	local end=$((SECONDS + $1)) before now wrong next=$SECONDS
	before=$(samples)
	while [ "$SECONDS" -lt "$end" ]; do
		sleep 5
		{ echo 0 >/sys/devices/system/cpu/cpu1/online && sleep 0.5; echo 1 >/sys/devices/system/cpu/cpu1/online; } 2>/dev/null
		echo $((SECONDS % 2 ? 1 : 25)) >/proc/sys/kernel/perf_cpu_time_max_percent
		echo $((SECONDS % 5 - 1)) >/proc/sys/kernel/perf_event_paranoid
		[ "$SECONDS" -ge $next ] || continue
		next=$((SECONDS + 60))
		minutes=$((minutes + 1))
		now=$(samples)
		[ "$now" -gt "$before" ] || stalled=$((stalled + 1))
		before=$now
		wrong=$(snapshot)
		[ -z "$wrong" ] || echo "minute $minutes: $wrong" >>"$work/wrong"
	done
}

# ------------------------------------------------ warm-up
: >"$work/wrong"
check "the module loads" modprobe kunwind
check "the probe module loads" modprobe lttng-probe-kunwind
loads_begin
recorder_begin warm
busy_for $((seconds / 10))
recorder_end
loads_wait
loads_end || not_ok "all loads end"
for module in lttng_probe_kunwind kunwind; do
	check "$module is unloaded after the first tenth" rmmod $module
done
memory_note "$work/before"

# ------------------------------------------------ the sampler stays on
modprobe kunwind && modprobe lttng-probe-kunwind
loads_begin
recorder_begin kept
busy_for $((seconds / 10))
read -r daemons_before module_before < <(held)
first=$(samples)
busy_for $((seconds * 8 / 10))
read -r daemons module < <(held)
last=$(samples)
diag "$((last - first)) samples in $((seconds * 8 / 10)) s; skipped:$(skipped)"
diag "memory of recorder and daemons: $daemons_before KB, then $daemons KB; of the module: $module_before KB, then $module KB"
check "samples were taken" test $((last - first)) -gt "$seconds"
is "$stalled" 0 "samples were taken in each of $minutes minutes"
is "$(cat "$work/wrong")" "" "each of $minutes snapshots is readable, has samples, and is bounded"
check "the memory of recorder and daemons grows by at most 20 % and 4 MB" \
	test "$daemons" -le $((daemons_before + daemons_before / 5 + 4096))
check "the memory of the module is at most twice as large, plus 64 MB" \
	test "$module" -le $((module_before * 2 + 65536))
kill -0 $recorder
is $? 0 "the recorder still runs"
recorder_end
is $? 0 "the recorder ends"
loads_wait
loads_end || not_ok "all loads end"
loads_tell
is "$(loads_idle)" "" "each load has finished a program"
is "$(cat "$work"/load-*.strange 2>/dev/null)" "" "no program of the loads failed"
for module in lttng_probe_kunwind kunwind; do
	check "$module is unloaded at the end" rmmod $module
done
memory_note "$work/after"
memory_compare "$work/before" "$work/after"
done_testing
