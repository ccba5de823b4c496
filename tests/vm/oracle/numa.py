#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
numa.py - test stacks in pages to which NUMA balancing has taken away access

    numa.py TRACE PROGRAMS RECORDS SHARE COUNTED

PROGRAMS and RECORDS are as in chains.py. The trace has lseek(-77, N, 0) with
LTTng's own context. In a channel without contexts it has kunwind_callstack,
which comes before the event for which the stack was taken, and says why the
stack ended.

Each stack must be the chain number N or its beginning, without a false address.
If it is only the beginning, its reason must be "unreadable". At least SHARE
percent of the stacks of each program must be the whole chain. COUNTED is the
module's own count of stacks with that reason meanwhile: the trace must not have
more.

(A whole stack may end with "no_rule" at or in __start_context(): see README.)
"""

import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace                       # noqa: E402
from chains import MARK, Record     # noqa: E402
from tap import Tap                 # noqa: E402

_REASON = re.compile(r"\btid = (\d+),.*\breason = \( \"(\w+)\"")


def reasons_and_calls(trace):
    """Yield (event, name of the reason) of each lseek(-77)."""
    last = {}                       # tid -> reason of the last kunwind_callstack
    for event in ktrace.events(trace):
        if event.name == "kunwind_callstack":
            found = _REASON.search(event.line)
            if not found:
                raise RuntimeError("no reason in: " + event.line[:200])
            last[int(found.group(1))] = found.group(2).lower()
        elif event.name == "syscall_entry_lseek" and \
                event.fields["fd"] in (MARK, MARK & 0xFFFFFFFF):
            yield event, last.pop(event.vtid, None)


def main():
    trace, programs, directory, share, counted = sys.argv[1:6]
    programs = {int(pid): name for name, pid in ktrace.read_tsv(programs)}
    records = {pid: Record(os.path.join(directory, name + ".txt"))
               for pid, name in programs.items()}
    root_of = {pid: pid for pid in records}
    for pid, record in records.items():
        root_of.update((child, pid) for child in record.children)
    reasons = {pid: collections.Counter() for pid in records}
    whole = {pid: 0 for pid in records}
    wrong = {pid: [] for pid in records}
    for event, reason in reasons_and_calls(trace):
        pid = root_of.get(event.vpid)
        if pid is None:
            continue
        reasons[pid][str(reason)] += 1
        number = event.fields["offset"]
        what = records[pid].differs(number, event.stack)
        if not what:
            whole[pid] += 1
        elif reason != "unreadable" or not what.startswith("ends after "):
            wrong[pid].append((number, reason, what))
    tap = Tap()
    for pid, name in programs.items():
        total = sum(reasons[pid].values())
        tap.test(total > 100 and not wrong[pid],
                 "%s: none of %d stacks has a false address" % (name, total))
        tap.note(", ".join("%s %d" % pair for pair in reasons[pid].items()))
        for number, reason, what in wrong[pid][:10]:
            tap.note("number %d, %s: %s" % (number, reason, what))
        tap.test(100 * whole[pid] >= float(share) * total,
                 "%s: %.2f %% of the stacks are whole, at least %s %% must be" %
                 (name, 100 * whole[pid] / max(total, 1), share))
    found = sum(count["unreadable"] for count in reasons.values())
    tap.test(found <= int(counted),
             "unreadable stacks are counted: the trace has %d, the count is %s" % (found, counted))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
