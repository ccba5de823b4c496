#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
uprobes.py - test the stacks of uprobes in ftrace's trace

    uprobes.py PROGRAM TRACE CHAIN ROUNDS [FAULTS]

PROGRAM is not position-independent. TRACE is /sys/kernel/tracing/trace with
userstacktrace and addresses. CHAIN names the functions of the chain of calls in
the source, separated by commas, innermost first, to the outermost that is
known. Each event is at the entry of one of the first three. No stack may have
another function. In the last quarter of ROUNDS, each stack must have the whole
chain.
"""
import bisect
import re
import subprocess
import sys

from tap import Tap

program, trace, chain, rounds = sys.argv[1:5]
faults = sys.argv[5] if len(sys.argv) > 5 else None
chain, rounds = chain.split(","), int(rounds)

symbols = []
for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines():
    part = line.split()
    if len(part) == 3 and part[1] in "tTwW":
        symbols.append((int(part[0], 16), part[2]))
symbols.sort()
starts = [start for start, _ in symbols]


def name(addr):
    at = bisect.bisect_right(starts, addr) - 1
    return symbols[at][1] if at >= 0 and addr < starts[-1] + 65536 else hex(addr)


stacks, event = {}, None
for line in open(trace):
    found = re.search(r": (\w+): (\(0x[0-9a-f]+\)|address=)", line)
    if found and "user stack" not in line:
        event = found.group(1)
        stacks.setdefault(event, []).append([])
        continue
    found = re.match(r" => +<([0-9a-f]+)>", line)
    if found and event:
        stacks[event][-1].append(int(found.group(1), 16))

tap = Tap()
for depth, function in enumerate(chain[:1] if faults else chain[:3]):
    want = chain[depth:]
    got = stacks.get(faults or function.split(".")[-1], [])
    if faults:
        got = [stack for stack in got if stack and name(stack[0]) == function]
    wrong = shorter = 0
    shown = False
    for number, stack in enumerate(got):
        # the first is the program counter, the others are return addresses
        names = [name(addr - (i > 0)) for i, addr in enumerate(stack)][:len(want)]
        bad = names != want[:len(names)]
        late = number >= rounds * 3 // 4 and len(names) < len(want)
        wrong += bad
        shorter += late
        if (bad or late) and not shown:
            shown = True
            tap.note("%s, stack %d: %s, wanted %s" % (function, number, " ".join(names), " ".join(want)))
    # Go runs a function's entry again after it has made the stack larger
    tap.test(len(got) >= rounds,
             "%s: each call has an event: %d events, %d calls" % (function, len(got), rounds))
    tap.test(not wrong,
             "%s: no stack has a function outside of the chain: %d have" % (function, wrong))
    tap.test(not shorter,
             "%s: the last stacks have the whole chain: %d have not" % (function, shorter))
sys.exit(tap.done())
