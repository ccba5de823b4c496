#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
same.py - test that runs of a deterministic program have the same stacks

    same.py TRACE PROGRAMS NAME NAME... [-- NAME NAME...]... [! NAME NAME]

All runs are in one trace. Each NAME of PROGRAMS (lines "name<TAB>pid") is a run
of the same program, without randomised addresses. "--" separates groups. From
its execve() on, each run of a group must have the same list of (event, stack),
thread by thread, as the group's first run. After "!" the lists must differ,
which shows that the test sees differences. Prints TAP, one line for each
comparison.

The kernel's own walk takes the word at rbp + 8 for an address, whatever it is.
With Debian 13's libc this is a stack protector's canary, which is random. So a word that no address of a program can be is equal to any other
such word. If the kernel does not trust its clock any more, the vDSO calls
clock_gettime(), and that word is a number of nanoseconds.

A program that polls every few milliseconds whether its thread has begun sleeps
once or more often. So successive sleeps with the same stacks count once.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402


MOST = 2**47


def comparable(event):
    """The event's stack, with MOST for each word that cannot be an address."""
    least = 10**9 if "clock_gettime" in event.name else 0
    return [word if least <= word < MOST or word == ktrace.END_MARK else MOST
            for word in event.stack or []]


def add(entries, entry):
    entries.append(entry)
    if entry[0] == "syscall_exit_clock_nanosleep" and entries[-4:-2] == entries[-2:]:
        del entries[-2:]


def runs(trace, pids):
    """{pid: [(name of the event, stack)]}, from the last successful execve() on."""
    found = {pid: {} for pid in pids}
    for event in ktrace.events(trace):
        if event.vpid in found:
            threads = found[event.vpid]
            if event.name == "syscall_exit_execve" and event.fields.get("ret") == 0:
                threads.clear()
            else:
                add(threads.setdefault(event.vtid, []), (event.name, comparable(event)))
    # in each run the threads begin in the same order, so sort by tid
    return {pid: [entry for tid in sorted(threads) for entry in threads[tid]]
            for pid, threads in found.items()}


def compare(tap, reference_name, reference, name, mine):
    unlike = [n for n, (a, b) in enumerate(zip(reference, mine)) if a != b]
    tap.test(len(reference) > 10 and len(mine) == len(reference) and not unlike,
             "%s has the same stacks as %s: %d of %d events" %
             (name, reference_name, len(reference) - len(unlike), len(reference)))
    if len(mine) != len(reference):
        tap.note("%d events, not %d" % (len(mine), len(reference)))
    for n in unlike[:5]:
        tap.note("event %d: %s %s, not %s %s" %
                 (n, mine[n][0], list(map(hex, mine[n][1])),
                  reference[n][0], list(map(hex, reference[n][1]))))


def main():
    trace, programs = sys.argv[1:3]
    groups = [["--"]]
    for word in sys.argv[3:]:
        if word in ("--", "!"):
            groups.append([word])
        else:
            groups[-1].append(word)
    pids = {name: int(pid) for name, pid in ktrace.read_tsv(programs)}
    found = runs(trace, {pids[name] for group in groups for name in group[1:]})
    tap = Tap()
    for kind, first, *others in groups:
        for name in others:
            reference, mine = found[pids[first]], found[pids[name]]
            if kind == "!":
                tap.test(reference and mine and reference != mine,
                         "%s does not have the same stacks as %s" % (name, first))
            else:
                compare(tap, first, reference, name, mine)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
