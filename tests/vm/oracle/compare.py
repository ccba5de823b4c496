# SPDX-License-Identifier: MIT
"""
compare.py - compare the stack of each thread's last event with eu-stack's

The directory has two files for each program: NAME.txt, the output of `eu-stack
-q -n 0 -p PID`, and NAME.comm, with lines "tid<TAB>comm". All addresses must be
equal. Of a stack of 128 addresses, the most that LTTng records, eu-stack's
first 128 must be equal.

exceptions.tsv lists threads for which eu-stack is known to be wrong, in lines
"name-pattern<TAB>comm-pattern<TAB>kind". README has the proofs. The kinds:
  gdb      the oracle is NAME.gdb, the output of stacks.gdb
  context  eu-stack's frames past __start_context() do not count
  fp       the program has code without CFI, where eu-stack uses frame pointers.
           It may go on without proof: then ours is the beginning of its stack.
           Or it leaves out addresses (the caller of a function that sets up no
           frame) and ends early. What it has after a register that is no frame
           pointer does not count (believed()).
"""

import fnmatch
import os
import re

import elf
from ktrace import LTTNG_MOST, read_tsv
from maps import Maps

# call *%r12; mov $111, %edi; mov $60, %eax (exit); syscall: Go's runtime.clone()
GO_CLONE = bytes.fromhex("41ffd4 bf6f000000 b83c000000 0f05")


def read_stacks(path):
    """eu-stack's output as {tid: [address]}."""
    stacks, current = {}, None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            tid = re.match(r"TID (\d+):", line)
            frame = re.match(r"#\d+\s+(0x[0-9a-f]+)", line)
            if tid:
                current = stacks.setdefault(int(tid.group(1)), [])
            elif frame and current is not None:
                current.append(int(frame.group(1), 16))
    return stacks


def equal(ours, theirs):
    if len(ours) == LTTNG_MOST:
        return ours == theirs[:LTTNG_MOST]
    return ours == theirs


def up_to_context(stack, maps):
    """The stack up to __start_context(), which has no caller."""
    maps = Maps(maps)
    for n, address in enumerate(stack):
        path, virtual = maps.place(address)
        if virtual is not None and path and path.startswith("/") and \
           elf.entry_at(path, virtual) == "__start_context":
            return stack[:n + 1]
    return stack


def believed(theirs, ours, maps):
    """
    theirs up to where rbp was no frame pointer: the frame before an address that
    is not code, or the first function of a thread of Go, for which rbp still has
    an older value. Go's clone() calls that function, and then exits.
    """
    maps = Maps(maps)
    for n, address in enumerate(theirs):
        if maps.place(address)[0] is None:
            return theirs[:max(n - 1, 0)]
    path, virtual = maps.place(ours[-1])
    if path and path.startswith("/") and virtual is not None and len(ours) > 1 and \
       ours[-2] in theirs and elf.text(path, virtual - 3, len(GO_CLONE)) == GO_CLONE:
        return theirs[:theirs.index(ours[-2]) + 1]
    return theirs


def as_far_as(ours, theirs):
    """ours if it has theirs' addresses in order, as far as it goes; or theirs."""
    if theirs[:len(ours)] == ours:
        return ours
    if ours[-1] in theirs:
        theirs = theirs[:len(theirs) - theirs[::-1].index(ours[-1])]
    rest = iter(ours)
    return ours if all(address in rest for address in theirs) else theirs


def common(ours, theirs):
    n = 0
    for a, b in zip(ours, theirs):
        if a != b:
            break
        n += 1
    return n


def report(tap, last, programs, directory, exceptions):
    """
    Makes a test for each program of [(name, pid)], and prints a table. last has
    the last event of each thread: {tid: Event}.
    """
    table = []
    for name, _ in programs:
        base = os.path.join(directory, name)
        theirs, gdb = read_stacks(base + ".txt"), None
        threads = frames = right_frames = equal_threads = by_gdb = 0
        bad = []
        for tid, comm in read_tsv(base + ".comm"):
            tid = int(tid)
            expected = theirs.get(tid, [])
            kind = next((e[2] for e in exceptions
                         if fnmatch.fnmatch(name, e[0]) and fnmatch.fnmatch(comm, e[1])), None)
            if kind == "gdb":
                gdb = gdb or read_stacks(base + ".gdb")
                expected = gdb.get(tid, [])
                by_gdb += 1
            elif kind == "context":
                expected = up_to_context(expected, base + ".maps")
            threads += 1
            ours = last[tid].stack if tid in last else []
            length = min(len(expected), LTTNG_MOST)
            frames += length
            right_frames += min(common(ours, expected), length)
            if kind == "fp" and expected and ours:
                expected = as_far_as(ours, believed(expected, ours, base + ".maps"))
            if expected and equal(ours, expected):
                equal_threads += 1
            else:
                bad.append((tid, comm, ours, expected))
        tap.test(threads > 0 and not bad,
                 "%s: stacks of %d of %d threads are eu-stack's" % (name, equal_threads, threads))
        for tid, comm, ours, expected in bad:
            n = common(ours, expected)
            tap.note("%s tid %d (%s), in %s: %d frames equal; then kunwind has %s, eu-stack %s" %
                     (name, tid, comm, last[tid].name if tid in last else "no event", n,
                      " ".join(map(hex, ours[n:n + 4])) or "-",
                      " ".join(map(hex, expected[n:n + 4])) or "-"))
        table.append((name, threads, equal_threads, frames, right_frames, by_gdb))
    form = "%-28s %8s %8s %8s %8s %8s"
    tap.note(form % ("program", "threads", "equal", "frames", "right", "by gdb"))
    for row in table:
        tap.note(form % row)
    tap.note(form % tuple(["all"] + [sum(row[i] for row in table) for i in range(1, 6)]))
