#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
same.py - do several traces of one deterministic program hold the same stacks?

    same.py TRACE PROGRAMS NAME-A NAME-B...

One trace; each NAME of PROGRAMS ("name<TAB>pid") is a run of the same program,
without randomised addresses. From its execve() on, the list of (event, stack)
of each must be that of the first. TAP, one line each.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402


def runs(trace, pids):
    """{pid: [(event's name, stack)]}, since the last execve() that succeeded."""
    found = {pid: [] for pid in pids}
    for event in ktrace.events(trace):
        if event.vpid in found:
            if event.name == "syscall_exit_execve" and event.fields.get("ret") == 0:
                found[event.vpid] = []
            else:
                found[event.vpid].append((event.name, event.stack))
    return found


def main():
    trace, programs = sys.argv[1:3]
    names = sys.argv[3:]
    pids = {name: int(pid) for name, pid in ktrace.read_tsv(programs)}
    found = runs(trace, {pids[name] for name in names})
    tap = Tap()
    reference = found[pids[names[0]]]
    for name in names[1:]:
        mine = found[pids[name]]
        unlike = [n for n, (a, b) in enumerate(zip(reference, mine)) if a != b]
        tap.test(len(reference) > 10 and len(mine) == len(reference) and not unlike,
                 "%s has the stacks of %s: %d of %d events" %
                 (name, names[0], len(reference) - len(unlike), len(reference)))
        if len(mine) != len(reference):
            tap.note("%d events, not %d" % (len(mine), len(reference)))
        for n in unlike[:5]:
            tap.note("event %d: %s %s, not %s %s" % (n, mine[n][0], list(map(hex, mine[n][1] or [])),
                                                     reference[n][0],
                                                     list(map(hex, reference[n][1] or []))))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
