#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
go.py - compare stacks of a Go program with those of Go's own run-time system

    go.py TRACE RECORD

RECORD is the output of programs/server.go: for each system call close(N) that the
program made for this test, N and the return addresses that runtime.Callers() gave
just before it, from the function that made the call on. That function's own address
differs, because it made two calls; ours has more frames before it. From its caller on,
the two stacks must be equal, with two exceptions:
- Go leaves out frames of wrappers: runtime.reflectcall and runtime.call16, and those
  through which a panic calls a deferred function. There are at most two in a stack.
- It adds one to the address of a function that a signal interrupted.
"""

import re
import subprocess
import sys

from tap import Tap


def hidden(ours, real):
    """How many frames of ours are not in the real stack, or None if it has others."""
    more = 0
    position = 0
    for address in ours:
        if position < len(real) and real[position] - address in (0, 1):
            position += 1
        else:
            more += 1
    return more if position == len(real) else None


def main():
    tap = Tap()
    trace, record = sys.argv[1:]
    wanted, found, wrong = {}, {}, []
    with open(record, encoding="ascii") as file:
        for line in file:
            number, *addresses = line.split()
            wanted[int(number)] = [int(a, 16) for a in addresses]
    out = subprocess.run(["babeltrace2", trace], capture_output=True, text=True, errors="replace",
                         check=False).stdout
    for line in out.splitlines():
        close = re.search(r"syscall_entry_close: .*\bfd = (\d+) \}", line)
        if close and int(close.group(1)) in wanted:
            found[int(close.group(1))] = [int(a, 16) for a in
                                          re.findall(r"\[\d+\] = 0x([0-9A-Fa-f]+)", line)]
    tap.test(len(wanted) >= 300 and all(len(real) >= 4 for real in wanted.values()),
             "the program recorded at least 300 stacks of its own, of 4 frames or more")
    tap.test(set(found) == set(wanted), "each of them has an event with a stack")
    equal = 0
    for number, stack in sorted(found.items()):
        real = wanted[number][1:]
        ours = [a for a in stack if a < 1 << 63]
        at = next((i for i, a in enumerate(ours) if a == real[0]), len(ours))
        more = hidden(ours[at:], real)
        equal += more == 0
        if more is None or more > 2:
            wrong.append(number)
    tap.test(found and not wrong, "all %d stacks have the frames of runtime.Callers()" % len(found))
    tap.test(equal >= len(found) / 2, "at least half of them, %d, have no others" % equal)
    for number in wrong[:3]:
        tap.note("%d: runtime.Callers(): %s" % (number, " ".join("%x" % a for a in wanted[number])))
        tap.note("%d: ours: %s" % (number, " ".join("%x" % a for a in found[number])))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
