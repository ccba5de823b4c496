#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-interp.sh - kunwind stack with the module: threads that sleep in Python functions are not stopped, and have the
# functions of their own record

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need kunwind python3

cat >"$work/compare.py" <<'END'
import json, sys
report, record = (json.load(open(path)) for path in sys.argv[1:])
found = {str(t["thread_id"]): t for t in report["threads"]}
for tid, frames in record.items():
    thread = found.get(tid)
    if tid == "0":
        continue
    ours = [[f["function"], f["file"], f["line"]] for f in thread["frames"] if f["trust"] == "interpreter"]
    if ours != frames:
        print(tid, ours, frames, file=sys.stderr)
    print(thread["taken"], "equal" if ours == frames else "different", thread["interpreter"])
running = [t for tid, t in found.items() if tid not in record]
print([t["taken"] for t in running], ["spin" in [f["function"] for f in t["frames"]] for t in running])
END
switches() {
	for task in /proc/"$1"/task/*; do
		[ "${task##*/}" = "$2" ] || awk '/ctxt/ { sum += $2 } END { print sum }' "$task/status"
	done
}

check "the module loads" modprobe kunwind
/usr/bin/python3 "$here/../stackwalk/interpreted.py" "$work/record" &
python=$!
until [ -e "$work/record" ]; do sleep 0.2; done
sleep 1
spinner=$(/usr/bin/python3 -c 'import json, os, sys
print(*(set(os.listdir("/proc/%s/task" % sys.argv[2])) - set(json.load(open(sys.argv[1])))))' "$work/record" $python)
before=$(switches $python "$spinner")
kunwind stack --json --no-lines $python >"$work/ours.json" 2>"$work/ours.err"
is $? 0 "kunwind stack exits with status 0"
is "$(switches $python "$spinner")" "$before" "no thread that sleeps has run"
/usr/bin/python3 "$work/compare.py" "$work/ours.json" "$work/record" >"$work/compared" 2>"$work/differences" ||
	diag "$(cat "$work/differences")"
is "$(sed '$d' "$work/compared" | sort | uniq -c | sed 's/^ *//')" "6 asleep equal None" \
	"threads that sleep are not stopped, and have the functions of their record" ||
	diag "$(cat "$work/differences" "$work/ours.err")"
is "$(tail -n 1 "$work/compared")" "['stopped'] [True]" "a thread that runs is stopped, and has its function"
kill $python
wait $python 2>/dev/null
check "the module is unloaded" rmmod kunwind
done_testing
