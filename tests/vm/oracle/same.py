#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
same.py - do several traces of one deterministic program hold the same stacks?

    same.py TRACE PROGRAMS NAME NAME... [-- NAME NAME...]... [! NAME NAME]

One trace; each NAME of PROGRAMS ("name<TAB>pid") is a run of the same program,
without randomised addresses. From its execve() on, the list of (event, stack)
of each in a group, thread by thread, must be that of the group's first; behind
a "!" it must not, to see that a difference would be seen. TAP, one line each.

The kernel's own walk takes the word behind rbp for an address, whatever it is: with
Debian 13's libc that is a stack protector's canary, random. So a word beyond
all addresses of programs is only compared to be one. Where the kernel trusts its clock no
more, the vDSO asks it by clock_gettime(), and what lies behind rbp is the nanoseconds.

A program that looks every few milliseconds whether its thread has begun sleeps once, or
twice when that takes longer: sleeps that follow each other, with the same stacks, count once.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402


MOST = 2**47


def comparable(event):
    """The event's stack; a word that can be no address is MOST."""
    least = 10**9 if "clock_gettime" in event.name else 0
    return [word if least <= word < MOST or word == ktrace.END_MARK else MOST
            for word in event.stack or []]


def add(entries, entry):
    entries.append(entry)
    if entry[0] == "syscall_exit_clock_nanosleep" and entries[-4:-2] == entries[-2:]:
        del entries[-2:]


def runs(trace, pids):
    """{pid: [(event's name, stack)]}, since the last execve() that succeeded."""
    found = {pid: {} for pid in pids}
    for event in ktrace.events(trace):
        if event.vpid in found:
            threads = found[event.vpid]
            if event.name == "syscall_exit_execve" and event.fields.get("ret") == 0:
                threads.clear()
            else:
                add(threads.setdefault(event.vtid, []), (event.name, comparable(event)))
    # threads begin in the same order
    return {pid: [entry for tid in sorted(threads) for entry in threads[tid]]
            for pid, threads in found.items()}


def compare(tap, reference_name, reference, name, mine):
    unlike = [n for n, (a, b) in enumerate(zip(reference, mine)) if a != b]
    tap.test(len(reference) > 10 and len(mine) == len(reference) and not unlike,
             "%s has the stacks of %s: %d of %d events" %
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
                         "%s has other stacks than %s" % (name, first))
            else:
                compare(tap, first, reference, name, mine)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
