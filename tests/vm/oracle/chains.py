#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
chains.py - compare all events of fixtures/moving.c with the chains that it records

    chains.py TRACE PROGRAMS RECORDS

PROGRAMS has lines "name<TAB>pid". RECORDS has NAME.txt, the program's record
(the format is in moving.c). The stack of the event of lseek(-77, N, 0) must
have all addresses of chain number N, in order. Its other addresses must not be
in the program's own code: they are libc's, between two of the program, above or
below. The exit of that system call must have the same stack as its entry.

All events are compared. If a stack is full (128 addresses), these addresses
must agree with the chain. Each recorded number must occur in exactly one event.
Then entries.py tests the ends of all stacks of these programs.
"""

import argparse
import bisect
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import entries                      # noqa: E402
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402

MARK = -77


class Record:
    """The chains of one run, and the ranges of its own code."""

    def __init__(self, path):
        ranges, self.chains, self.children = set(), [], []
        with open(path, encoding="ascii") as lines:
            for line in lines:
                words = line.split()
                if words[0] == "M":
                    ranges.add((int(words[1], 16), int(words[2], 16)))
                elif words[0] == "P":
                    self.children.append(int(words[1]))
                else:
                    if int(words[1]) != len(self.chains):
                        raise ValueError(path + ": a number is missing")
                    self.chains.append(words[2:])
        self.starts = sorted(start for start, _ in ranges)
        self.ends = dict(ranges)
        self.seen = [0] * len(self.chains)

    def own(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return at >= 0 and address < self.ends[self.starts[at]]

    def differs(self, number, stack):
        """None if the stack agrees with the chain, otherwise what is wrong."""
        chain = [int(word, 16) for word in self.chains[number]]
        at = 0
        for n, address in enumerate(stack):
            if at < len(chain) and address == chain[at]:
                at += 1
            elif self.own(address) and at < len(chain):
                return "frame %d is %#x, the chain has %#x" % (n, address, chain[at])
            elif self.own(address) and n != len(stack) - 1:
                # below main() only the last frame is the program's: _start
                return "frame %d is %#x, below the chain's end" % (n, address)
        if at < len(chain) and len(stack) < ktrace.LTTNG_MOST:
            return "ends after %d of %d addresses, %d frames" % (at, len(chain), len(stack))
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("programs")
    parser.add_argument("records")
    args = parser.parse_args()
    programs = [(name, int(pid)) for name, pid in ktrace.read_tsv(args.programs)]
    records, processes, root_of = {}, {}, {}
    for name, pid in programs:
        records[pid] = Record(os.path.join(args.records, name + ".txt"))
        processes[pid] = entries.Process(name, None)
        root_of[pid] = pid
        for child in records[pid].children:
            root_of[child] = pid
            processes[child] = entries.Process(name + "'s child", None, processes[pid])
    begun = {}                                  # tid -> (number, stack)
    compared = {pid: 0 for pid in records}
    wrong = {pid: [] for pid in records}
    for event in ktrace.events(args.trace):
        if event.vpid in processes:
            processes[event.vpid].note(event)
        root = root_of.get(event.vpid)
        if root is None:
            continue
        if event.name == "syscall_entry_lseek":
            fields = event.fields
            if fields["fd"] not in (MARK, MARK & 0xFFFFFFFF):
                continue
            number = fields["offset"]
            record = records[root]
            stack = event.stack
            record.seen[number] += 1
            compared[root] += 1
            what = record.differs(number, stack)
            if what:
                wrong[root].append((number, what))
            begun[event.vtid] = (number, stack)
        elif event.name == "syscall_exit_lseek" and event.vtid in begun:
            number, stack = begun.pop(event.vtid)
            compared[root] += 1
            if event.stack != stack:
                wrong[root].append((number, "the stack at exit differs from that at entry"))
    tap = Tap()
    for name, pid in programs:
        unseen = [n for n, count in enumerate(records[pid].seen) if count != 1]
        tap.test(compared[pid] > 0 and not wrong[pid],
                 "%s: the stacks of %d of %d events agree with the recorded chain" %
                 (name, compared[pid] - len(wrong[pid]), compared[pid]))
        for number, what in wrong[pid][:10]:
            tap.note("number %d: %s" % (number, what))
        tap.test(not unseen, "%s: each of %d recorded chains has one event%s" %
                 (name, len(records[pid].seen),
                  ", except %d, such as number %d" % (len(unseen), unseen[0]) if unseen else ""))
    entries.report(tap, list(processes.values()))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
