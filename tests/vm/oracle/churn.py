#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
churn.py - check the stacks of threads that block and wake all the time

    churn.py TRACE PROGRAM PID

PROGRAM is fixtures/churn.c, linked at a fixed address. Each stack of kunwind_blocked must be
one of those in which its threads can block, with the system call in which they do so
there. Prints TAP. The status is 1 if a test fails.
"""

import bisect
import collections
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from standstill import events       # noqa: E402
from tap import Tap                 # noqa: E402

READ, WRITE, POLL, PAUSE = 0, 1, 7, 34
ODD = ["odd%d" % n for n in range(8, 0, -1)] + ["churn"]
EVEN = ["even%d" % n for n in range(8, 0, -1)] + ["churn"]


def may_be(stack, call):
    """The functions of the program, innermost first, and the system call; -1: a page fault."""
    if call == -1:
        return stack in (["fill", "churn"], ["churn"], ["main"]) or \
            any(stack == chain[n:] for chain in (ODD, EVEN) for n in range(len(chain)))
    return (stack, call) in ((ODD, READ), (EVEN, POLL), (EVEN, READ), (["churn"], WRITE), (["main"], PAUSE))


def main():
    trace, program, pid = sys.argv[1:]
    symbols = []
    for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tT":
            symbols.append((int(words[0], 16), words[2]))
    symbols.sort()
    starts = [start for start, _ in symbols]
    known = set(ODD + EVEN + ["fill", "wrong", "main"])
    tap, kinds, bad, early = Tap(), collections.Counter(), [], []
    for event in events(trace):
        if event.pid != int(pid):
            continue
        names = [symbols[bisect.bisect_right(starts, address - 1) - 1][1] for address in event.stack
                 if starts[0] <= address < starts[-1] + 4096]
        names = [name for name in names if name in known]
        kinds[" ".join(names[:2]), event.call] += 1
        if not may_be(names, event.call):
            bad.append((event.tid, event.call, names, [hex(a) for a in event.stack]))
        if event.reason != "complete":
            early.append((event.tid, event.reason, names))
    for kind, number in kinds.most_common():
        tap.note("%s, system call %d: %d" % (*kind, number))
    tap.test(sum(kinds.values()) >= 200, "load: %d stacks" % sum(kinds.values()))
    tap.test(kinds["odd8 odd7", READ] and kinds["even8 even7", POLL], "load: stacks of both kinds")
    tap.test(not bad, "load: each stack is of one moment")
    for one in bad[:20]:
        tap.note("%d in %d: %s %s" % one)
    tap.test(not early, "load: each stack is complete")
    for one in early[:20]:
        tap.note("%d: %s %s" % one)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
