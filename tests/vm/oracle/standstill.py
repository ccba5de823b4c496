#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
standstill.py - compare the stacks of kunwind_blocked with eu-stack's

    standstill.py TRACE PROGRAMS DIRECTORY

The arguments are as for blocked.py, whose traces have a stack of each thread's last
system call. Here, nothing happened in the program while it was traced: each thread must
have one event. Its stack must be eu-stack's, and complete. A context of makecontext() may
end with no_rule: it returns to __start_context(), whose page nobody has used (README).
Prints TAP. The status is 1 if a test fails.
"""

import fnmatch
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import compare                      # noqa: E402
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402

NUMBER = re.compile(r"\b(\w+) = (-?\d+)")
REASON = re.compile(r'reason = \( "(\w+)"')
WORD = re.compile(r"\] = (0x[0-9A-Fa-f]+)")


class Blocked:
    """What compare.py needs of an event, and why its stack ended."""

    def __init__(self, line):
        fields = line[line.index("kunwind_blocked: "):]
        numbers = {key: int(value) for key, value in NUMBER.findall(fields)}
        begin = fields.index(" addresses = [")
        self.call = numbers["syscall"]
        self.name = "syscall %d" % self.call
        self.pid, self.tid = numbers["tgid"], numbers["tid"]
        self.reason = REASON.search(fields).group(1)
        self.stack = [int(word, 16) for word in
                      WORD.findall(fields, begin, fields.index(" _trust_length = "))]


def events(trace):
    """The events kunwind_blocked of a trace."""
    read = subprocess.Popen(["babeltrace2", trace], stdout=subprocess.PIPE, encoding="utf-8")
    for line in read.stdout:
        if " kunwind_blocked: " in line:
            yield Blocked(line)
    if read.wait():
        raise SystemExit("babeltrace2 failed")


def contexts(programs, directory, exceptions):
    """The TIDs of the threads that run a context of makecontext()."""
    return {int(tid) for name, _ in programs
            for tid, comm in ktrace.read_tsv(os.path.join(directory, name + ".comm"))
            for names, comms, kind in exceptions
            if kind == "context" and fnmatch.fnmatch(name, names) and fnmatch.fnmatch(comm, comms)}


def main():
    trace, programs, directory = sys.argv[1:]
    programs = [(name, int(pid)) for name, pid in ktrace.read_tsv(programs)]
    exceptions = ktrace.read_tsv(os.path.join(HERE, "exceptions.tsv"))
    tap, last, twice = Tap(), {}, 0
    for event in events(trace):
        twice += event.tid in last
        last[event.tid] = event
    tap.test(last and not twice, "each thread has one event: %d" % len(last))
    compare.report(tap, last, programs, directory, exceptions)
    pids = {pid: name for name, pid in programs}
    made = contexts(programs, directory, exceptions)
    early = [(pids[event.pid], event.tid, event.reason) for event in last.values()
             if event.pid in pids and event.reason != "complete" and pids[event.pid] != "node" and
             not (event.tid in made and event.reason == "no_rule")]
    tap.test(not early, "each stack is complete, except node's and those of makecontext()")
    for one in early:
        tap.note("%s %d: %s" % one)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
