#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
numa.py - stacks out of pages that NUMA balancing protects, against the programs' records

    numa.py TRACE PROGRAMS RECORDS SHARE COUNTED

PROGRAMS and RECORDS are as chains.py's. The trace has lseek(-77, N, 0) with LTTng's
own context and, in a channel without contexts, kunwind_callstack, which comes
before the event on whose behalf the stack was taken and says why the stack ended.

Each stack must be the chain of its number N, or the beginning of it: no address is
false. One that is the beginning only must have ended for one reason, "unreadable". Of
the stacks of each program SHARE percent at least must be the whole chain. The module
has counted COUNTED of that reason meanwhile: no fewer than are here.

(A whole one may end with "no_rule", beyond __start_context(): see README.)
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
    """Yield (event, name of the reason) of each lseek that is a program's mark."""
    last = {}                       # tid -> reason of the last stack that was told of
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
                 "%s: %d stacks, all true as far as they go" % (name, total))
        tap.note(", ".join("%s %d" % pair for pair in reasons[pid].items()))
        for number, reason, what in wrong[pid][:10]:
            tap.note("number %d, %s: %s" % (number, reason, what))
        tap.test(100 * whole[pid] >= float(share) * total,
                 "%s: %.2f %% are whole (%s asked for)" %
                 (name, 100 * whole[pid] / max(total, 1), share))
    found = sum(count["unreadable"] for count in reasons.values())
    tap.test(found <= int(counted),
             "%d stacks ended as unreadable here, %s by the module's count" % (found, counted))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
