#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
blocked.py - test the stacks of programs that were traced until they blocked

    blocked.py TRACE PROGRAMS DIRECTORY [--same NAME NAME] [--no-ends NAME] [--registered]
               [--unbuilt NUMBER] [--kinds LIST]

PROGRAMS has lines "name<TAB>pid". DIRECTORY has what session.sh's examine()
wrote about each program. Reads the trace once. Then it compares the last stacks
with eu-stack's (compare.py), tests the ends of all stacks (entries.py), and
compares two builds of one program (names.py).
  --same        the two builds
  --no-ends     the ends of this program's stacks are not tested: node's, see
                README, 4
  --registered  the programs were registered before the trace began
  --unbuilt     NUMBER stacks met a part of a table that was not built, and end
                early
  --kinds       the oracle of each program: LIST is ../programs/list, of which
                the first two columns count
Prints TAP. The status is 1 if a test fails.
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import compare                      # noqa: E402
import entries                      # noqa: E402
import ktrace                       # noqa: E402
import names                        # noqa: E402
from maps import Maps               # noqa: E402
from tap import Tap                 # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("programs")
    parser.add_argument("directory")
    parser.add_argument("--same", nargs=2)
    parser.add_argument("--no-ends")
    parser.add_argument("--registered", action="store_true")
    parser.add_argument("--unbuilt", type=int, default=0)
    parser.add_argument("--kinds")
    args = parser.parse_args()
    trace, programs, directory = args.trace, args.programs, args.directory
    programs = [(name, int(pid)) for name, pid in ktrace.read_tsv(programs)]
    processes = {pid: entries.Process(name, Maps(os.path.join(directory, name + ".maps")))
                 for name, pid in programs}
    for process in processes.values():
        process.registered = args.registered
    tap, last, number = Tap(), {}, 0
    for event in ktrace.events(trace):
        process = processes.get(event.vpid)
        if process:
            process.note(event)
            last[event.vtid] = event
            number += 1
    tap.note("%d events" % number)
    exceptions = ktrace.read_tsv(os.path.join(HERE, "exceptions.tsv"))
    no_ends = {args.no_ends}
    if args.kinds:
        kinds = {row[0]: row[1] for row in ktrace.read_tsv(args.kinds)}
        programs = [p for p in programs if kinds[p[0]] != "none"]
        exceptions += [(name, "*", "fp") for name, kind in kinds.items()
                       if kind in ("fp", "late")]
        no_ends |= {name for name, kind in kinds.items() if kind != "cfi"}
    compare.report(tap, last, programs, directory, exceptions)
    entries.report(tap, [p for p in processes.values() if p.name not in no_ends],
                   unbuilt=args.unbuilt)
    if args.same:
        names.report(tap, last, directory, *args.same)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
