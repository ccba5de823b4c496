#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
whole.py - test that the stacks of a whole system end at an entry point

    whole.py TRACE WHAT [--share S] [--at-least N] [--root DIR] [--late N]
             [--comm NAME]...

The trace has the contexts callstack-user, vpid, pid, procname and vtid. It also
has each sched_process_fork and execve. From these the file of each event's
program is known, also of processes that have ended: the file of the last exec,
or the parent's. A process that began before the trace has its program from
/proc. If it does not run any more, its stacks do not count. The outermost
address of a stack must have the page offset of an entry point (elf.py) of its
program, of ld.so or of libc.
  --share     the part of the stacks that must end so (1.0)
  --at-least  the trace must have N stacks (100)
  --root      files are also looked up below DIR
  --comm      makes another test, of the events with that procname
  --late      by the module's count, N stacks met a table that was not ready
              after max_stall_ms, on a busy machine. So many stacks may end
              elsewhere, at most one in a thousand. They are listed.
Prints TAP.
"""

import argparse
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import elf                          # noqa: E402
import entries                      # noqa: E402
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402

PID = re.compile(r", pid = (\d+), ")
COMM = re.compile(r', procname = "([^"]*)"')


class Programs:
    """The file that a pid runs, at each time of the trace."""

    def __init__(self, root):
        self.root = root
        self.running = {}       # pid -> path, or None if it is not known
        self.candidate = {}     # pid -> path of an execve that has begun
        self.cache = {}

    def file_of(self, path):
        """The ELF file of this name, first looked up below the root, or None."""
        if path not in self.cache:
            self.cache[path] = None
            for name in (self.root + path, path) if self.root else (path,):
                try:
                    found = os.path.realpath(name)
                    self.cache[path] = elf.interpreter(found)
                    break
                except OSError:
                    pass
        return self.cache[path]

    def of(self, pid):
        if pid not in self.running:
            try:
                self.running[pid] = os.path.realpath("/proc/%d/exe" % pid)
            except OSError:
                self.running[pid] = None
            if not os.path.exists(self.running[pid] or "/nowhere"):
                self.running[pid] = None
        return self.running[pid]

    def note(self, event, pid):
        name = event.name
        if name == "sched_process_fork":
            fields = event.fields
            # the event of a new thread has the pid of its process
            if fields["child_pid"] == fields["child_tid"]:
                self.running[fields["child_pid"]] = self.of(pid)
        elif name == "syscall_entry_execve":
            self.candidate[pid] = event.fields.get("filename", "")
        elif name == "syscall_exit_execve" and event.fields.get("ret") == 0:
            self.running[pid] = self.file_of(self.candidate.get(pid, ""))


def entry(programs, path, address):
    paths = entries.LIBRARIES + ([path] if path else [])
    if programs.root:
        paths += [found for found in map(programs.file_of, ("/lib64/ld-linux-x86-64.so.2",
                                                            "/lib/x86_64-linux-gnu/libc.so.6"))
                  if found]
    return entries.by_page_offset(address, paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("what")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--at-least", dest="least", type=int, default=100)
    parser.add_argument("--root", default="")
    parser.add_argument("--late", type=int, default=0)
    parser.add_argument("--comm", action="append", default=[])
    args = parser.parse_args()

    programs, tap = Programs(args.root), Tap()
    total = good = full = unknown = 0
    bad, pids, seen = collections.Counter(), set(), {}
    by_comm = {comm: [0, 0] for comm in args.comm}      # [stacks, complete ones]
    for event in ktrace.events(args.trace):
        pid = int(PID.search(event.line).group(1))
        comm = COMM.search(event.line).group(1)
        programs.note(event, pid)
        if event.length is None:
            continue
        path = programs.of(pid)
        if not path:
            unknown += 1
            continue
        pids.add(pid)
        if event.length >= ktrace.LTTNG_MOST:
            full += 1
            continue
        address = event.last_two[0]
        key = (path, address)
        if address is not None and key not in seen:
            seen[key] = entry(programs, path, address)
        complete = address is not None and seen[key] is not None
        total += 1
        good += complete
        if comm in by_comm:
            by_comm[comm][0] += 1
            by_comm[comm][1] += complete
        if not complete:
            bad[(os.path.basename(path), comm, event.name, event.length,
                 "%#x" % (address or 0))] += 1
    late = min(args.late, total // 1000)
    tap.test(total >= args.least and good + late >= args.share * total,
             "%s: %d of %d stacks (%.3f %%) of %d processes end at an entry point" %
             (args.what, good, total, 100.0 * good / max(total, 1), len(pids)))
    for comm, (stacks, whole) in by_comm.items():
        tap.test(stacks >= 100 and whole + late >= args.share * stacks,
                 "%s: %d of %d stacks of %s end at an entry point" %
                 (args.what, whole, stacks, comm))
    if late:
        tap.note("up to %d stacks may have met a table that was not ready in time" % late)
    tap.note("not counted: %d stacks of LTTng's maximum length, %d of programs that are not known" %
             (full, unknown))
    for key, count in bad.most_common(20):
        tap.note("%6d end elsewhere: %s (%s), in %s, %d addresses, the last %s" % ((count,) + key))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
