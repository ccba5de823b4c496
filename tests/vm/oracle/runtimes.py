#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
runtimes.py - test the stacks of one program of fixtures/runtimes

    runtimes.py TRACE MAPS RECORD NAME EVENTS PATTERN NAMES LETTER=FILE...

The program opens /nowhere/NAME-N EVENTS times. For each open it wrote the
return addresses of its C functions to RECORD (fixtures/runtimes/record.h). The
stack of the open must have all of them, in order. With one letter for each
frame, innermost first, the stack must match PATTERN, a regular expression: "j"
is code of no file, LETTER code of a file whose name begins with FILE, "?" code
of another file. NAMES, separated by commas, must be in the stack in order:
functions of nm's output, or parts of their names, with "*N" after one that must
be there N times in succession. No address may be outside of executable
mappings.
"""

import bisect
import collections
import os
import re
import subprocess
import sys

import node
import tap


class Names:
    """Names of functions by file and offset in the file, from nm."""

    def __init__(self):
        self.files = {}

    def read(self, path):
        found = {}
        for option in ("-D", "-a"):
            text = subprocess.run(["nm", option, path], capture_output=True, text=True,
                                  check=False).stdout
            for line in text.splitlines():
                words = line.split(" ")
                if len(words) == 3 and words[1] in "tTwW":
                    found[int(words[0], 16)] = words[2]
        return sorted(found), found, node.entry(path)[1]

    def find(self, path, place):
        if path not in self.files:
            self.files[path] = self.read(path)
        starts, names, loads = self.files[path]
        for offset, virtual, size in loads:
            i = bisect.bisect(starts, place - offset + virtual) - 1
            if offset <= place < offset + size and i >= 0:
                return names[starts[i]]
        return ""


def in_order(wanted, functions):
    """Whether wanted, [(part of a name, times in succession)], is in functions."""
    at = 0
    for part, times in wanted:
        run = 0
        while run < times and at < len(functions):
            run = run + 1 if part in functions[at] else 0
            at += 1
        if run < times:
            return False
    return True


def main():
    trace, maps, record, name, number, pattern, functions = sys.argv[1:8]
    number, maps, pattern = int(number), node.mappings(maps), re.compile(pattern)
    functions = [(part.partition("*")[0], int(part.partition("*")[2] or 1))
                 for part in functions.split(",") if part]
    letters = [word.split("=") for word in sys.argv[8:]]
    names, named = Names(), {}
    results, counts, ends = tap.Tap(), collections.Counter(), collections.Counter()
    wanted = {}
    with open(record, encoding="latin1") as lines:
        for line in lines:
            event, addresses = line.split(":")
            wanted[event] = [int(address, 16) for address in addresses.split()]

    def function(address):
        for start, end, offset, path in maps:
            if start <= address < end and path.startswith("/"):
                return names.find(path, address - start + offset)
        return ""

    def letter(address):
        for start, end, _, path in maps:
            if start <= address < end:
                return next((l for l, file in letters if os.path.basename(path).startswith(file)),
                            "?") if path else "j"
        return "!"

    for event, stack in node.stacks(trace):
        if event not in wanted:
            continue
        kinds = "".join(map(letter, stack))
        rest = iter(stack)
        recorded = all(address in rest for address in wanted[event])
        for address in stack:
            if address not in named:
                named[address] = function(address - 1)
        called = in_order(functions, [named[address] for address in stack])
        counts["stacks"] += 1
        counts["frames"] += len(stack)
        counts["false"] += kinds.count("!")
        counts["record"] += recorded
        counts["named"] += called
        counts["pattern"] += bool(pattern.fullmatch(kinds))
        ends[kinds] += 1
        if not (recorded and called and pattern.fullmatch(kinds)) and not counts["shown"]:
            counts["shown"] = 1
            results.note(f"{event}, recorded: " + " ".join(map(hex, wanted[event])))
            for address, kind in zip(stack, kinds):
                results.note(f"  {address:x} {kind} {named[address]}")
    results.note(name + ": " + ", ".join("%s: %d" % item for item in counts.items()))
    for kinds, times in ends.most_common(6):
        results.note(f"{times} times {kinds}")
    results.test(counts["stacks"] == number == len(wanted),
                 f"{name}: the trace and the program's record have {number} events")
    results.test(counts["record"] == number,
                 f"{name}: each stack has all native frames that the program recorded")
    results.test(counts["pattern"] == number,
                 f"{name}: each stack's other frames and its end are as expected")
    results.test(counts["named"] == number,
                 f"{name}: each stack has in order: " + ", ".join(part for part, _ in functions))
    results.test(not counts["false"], f"{name}: no address is outside of executable mappings")
    return results.done()


if __name__ == "__main__":
    sys.exit(main())
