#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-threads.sh - kunwind stack with the module: threads that sleep have the stacks that eu-stack
# finds, and do not run for it; threads that run copy their stacks themselves; and what the call
# KUNWIND_IOC_THREAD does with threads and callers that end, exec, or stay in the kernel

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need eu-stack kunwind gcc python3

make -s -C "$here/fixtures/device" O="$work" "$work/thread" || { echo "Bail out! the program does not build"; exit 1; }
for how in "-O2 -fomit-frame-pointer" "-O0 -fno-omit-frame-pointer"; do
	# shellcheck disable=SC2086
	gcc -g $how -w -pthread -o "$work/stuck${how:0:3}" "$here/fixtures/stuck.c" ||
		{ echo "Bail out! the program does not build"; exit 1; }
done
unset DEBUGINFOD_URLS
check "the module loads" modprobe kunwind
thread=$work/thread

# ------------------------------------------------ the call
cp /bin/sleep "$work/setuid"
chmod 4755 "$work/setuid"
chmod 755 "$work" "$thread"
"$thread" errors "$work/setuid" >"$work/out" 2>&1; status=$?
tap_from "$work/out" "root: "
is $status 0 "root: exits with status 0"
chmod 666 /dev/kunwind
setpriv --reuid=65534 --regid=65534 --clear-groups -- "$thread" errors "$work/setuid" >"$work/out" 2>&1; status=$?
tap_from "$work/out" "user: "
is $status 0 "user: exits with status 0"

ready() { until grep -q ready "$1"; do sleep 0.1; done; }

# a thread that stays in the kernel
"$thread" long 20 >"$work/long.out" &
long=$!
ready "$work/long.out"
is "$("$thread" ask $long 20)" ETIME "a thread that stays in the kernel: the time is over"
"$thread" ask $long 1000 >/dev/null &
asker=$!
sleep 0.1
kill -9 $asker
wait $asker 2>/dev/null
is $? 137 "a caller that waits can be killed"
kill -9 $long
wait $long 2>/dev/null
for _ in $(seq 100); do [ "$(cat /sys/module/kunwind/refcnt)" = 0 ] && break; sleep 0.1; done
is "$(cat /sys/module/kunwind/refcnt)" 0 "when the thread has ended, nothing holds the module"

# threads that are asked and do not answer, as many as a user may have
for i in $(seq 4); do
	"$thread" long 60 >"$work/long$i.out" &
done
for i in $(seq 4); do ready "$work/long$i.out"; done

# the module is unloaded while calls are made
for pid in $(pgrep -f "thread long"); do
	(while "$thread" ask "$pid" 5; do :; done) >"$work/asks.$pid" 2>/dev/null &
done
for _ in $(seq 20); do rmmod kunwind 2>/dev/null && break; sleep 0.2; done
pkill -f "thread long"
sleep 1
for _ in $(seq 50); do [ -e /sys/module/kunwind ] || break; rmmod kunwind 2>/dev/null; sleep 0.2; done
check "the module is unloaded while calls are made" test ! -e /sys/module/kunwind
wait
check "the module loads again" modprobe kunwind

# ------------------------------------------------ threads that sleep
cat >"$work/compare.py" <<'END'
import json, re, sys
report = json.load(open(sys.argv[1]))
wanted = {}
for part in re.split(r"^TID ", open(sys.argv[2]).read(), flags=re.M)[1:]:
    wanted[int(part.split(":")[0])] = re.findall(r"^#\d+ +(0x[0-9a-f]+)", part, re.M)
right, bad = 0, []
for thread in report["threads"]:
    ours = [int(frame["address"], 16) for frame in thread["frames"]]
    if ours == [int(a, 16) for a in wanted.get(thread["thread_id"], [])] and thread["reason"] == "complete":
        right += 1
    else:
        bad.append((thread["thread_id"], thread["reason"], [hex(a) for a in ours], wanted.get(thread["thread_id"])))
print(right, len(bad), len(wanted), sorted({(str(t["taken"]), str(t["note"])) for t in report["threads"]}))
for line in bad[:3]:
    print("#", line, file=sys.stderr)
END
switches() { awk '/ctxt/ { sum += $2 } END { print sum }' /proc/"$1"/task/*/status; }
TIMEFORMAT='%R s, processor %U + %S s'
touch "$work/file"
for how in -O2 -O0; do
	"$work/stuck$how" "$work/file" 1000 >"$work/stuck.out" &
	stuck=$!
	ready "$work/stuck.out"
	"$progs/settle" 240 $stuck 2>/dev/null || sleep 3
	before=$(switches $stuck)
	{ time kunwind stack --json --no-lines $stuck >"$work/ours.json" 2>"$work/ours.err"; } 2>"$work/time"
	is "$(switches $stuck)" "$before" "$how: no thread has run"
	{ time eu-stack -n 0 -p $stuck >"$work/eu-stack.out" 2>/dev/null; } 2>"$work/time.eu"
	diag "$how: 1,012 threads: kunwind stack $(cat "$work/time"); eu-stack $(cat "$work/time.eu")"
	is "$(/usr/bin/python3 "$work/compare.py" "$work/ours.json" "$work/eu-stack.out" 2>"$work/differences")" \
		"1012 0 1012 [('asleep', 'None')]" "$how: all stacks are eu-stack's, and complete" ||
		diag "$(cat "$work/differences" "$work/ours.err")"
	kill $stuck
	wait $stuck 2>/dev/null
	rm "$work/stuck.out"
done

# ------------------------------------------------ threads that run
cat >"$work/running.py" <<'END'
import collections, json, subprocess, sys
taken, bad = collections.Counter(), []
for _ in range(int(sys.argv[2])):
    done = subprocess.run(["kunwind", "stack", "--json", "--no-lines", sys.argv[1]], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%d %s" % (done.returncode, done.stderr))
    for thread in json.loads(done.stdout)["threads"]:
        names = [frame["function"] for frame in thread["frames"]]
        taken[thread["taken"]] += 1
        own = [name for name in names if name and name.startswith("t_")]
        rest = [n for n in own if n != "t_chain"]
        if thread["reason"] != "complete" or thread["note"] or (
                str(thread["thread_id"]) != sys.argv[1] and rest not in (["t_leaf", "t_thread"], ["t_thread"])):
            bad.append((thread["taken"], thread["reason"], thread["note"], names))
# one that the emulator lets wait for a second is stopped
print(taken["running"] > taken["stopped"], bad[:3])
print("#", dict(taken), file=sys.stderr)
END
"$thread" chain 1000 6 >"$work/chain.out" &
chain=$!
ready "$work/chain.out"
is "$(/usr/bin/python3 "$work/running.py" $chain "$([ -n "${KUNWIND_LONG:-}" ] && echo 100 || echo 10)" 2>"$work/differences" || echo failed)" "True []" \
	"threads that run: complete stacks of the functions that call each other, which they copied themselves"
diag "$(cat "$work/differences")"
kill $chain
wait $chain 2>/dev/null

# ------------------------------------------------ 10,000 threads
echo 30000 >/proc/sys/kernel/threads-max
"$thread" many "$([ -n "${KUNWIND_LONG:-}" ] && echo 10000 || echo 2000)" >"$work/many.out" 2>&1 &
many=$!
until grep -q . "$work/many.out"; do sleep 0.2; done
{ time kunwind stack --json --no-lines $many >"$work/ours.json" 2>"$work/ours.err"; } 2>"$work/time"
is "$(/usr/bin/python3 -c '
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
print(len(threads), {(t["taken"], t["reason"]) for t in threads})' "$work/ours.json" 2>&1)" \
	"$(($(find /proc/$many/task -maxdepth 1 -mindepth 1 | wc -l))) {('asleep', 'complete')}" "many threads: $(cat "$work/time")"
kill $many
wait 2>/dev/null
check "the module is unloaded" rmmod kunwind
done_testing
