#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stacks of a program in a JIT's hands, against what is known of them.

    node.py TRACE MAPS DEPTH

Every event of progs/node.js's opens of /nowhere/kunwind-N must have a stack with
no address outside of executable mappings, and at least DEPTH frames of the recursion
(one return address, or two, over and over). Those that run code of the JIT
have frames of node's file on both sides of it. How many reach the entry point
of node's file is told only: none does yet, they end at the built-in function
through which C++ enters JavaScript, which saves a rbp that is no frame pointer.
"""

import collections
import re
import struct
import subprocess
import sys

import tap


def mappings(path):
    """[(start, end, file or "")] of what is executable."""
    found = []
    with open(path, encoding="latin1") as lines:
        for line in lines:
            fields = line.split()
            if len(fields) >= 5 and "x" in fields[1]:
                start, end = (int(n, 16) for n in fields[0].split("-"))
                found.append((start, end, int(fields[2], 16),
                              fields[5] if len(fields) > 5 else ""))
    return found


def entry(path):
    """The entry point of an executable, and of its segments (offset, address, size)."""
    with open(path, "rb") as file:
        head = file.read(64)
        address, table = struct.unpack_from("<QQ", head, 24)
        number = struct.unpack_from("<H", head, 56)[0]
        file.seek(table)
        raw = file.read(56 * number)
    loads = [struct.unpack_from("<IIQQQQQQ", raw, 56 * i) for i in range(number)]
    return address, [(p[2], p[3], p[5]) for p in loads if p[0] == 1]


def stacks(trace):
    text = subprocess.run(["babeltrace2", trace], capture_output=True, text=True,
                          errors="replace", check=False).stdout
    for line in text.splitlines():
        if "syscall_entry_openat" not in line or "/nowhere/kunwind-" not in line:
            continue
        words = line[line.index("callstack_user = ["):].split("}", 1)[0]
        yield [int(n, 16) for n in re.findall(r"\[\d+\] = (0x[0-9A-Fa-f]+)", words)]


def main():
    trace, maps, depth = sys.argv[1], mappings(sys.argv[2]), int(sys.argv[3])
    results = tap.Tap()
    node = next(path for _, _, _, path in maps if path.endswith("/node"))
    start, loads = entry(node)
    counts = collections.Counter()
    shown = 0

    def where(address):
        for begin, end, offset, path in maps:
            if begin <= address < end:
                return path or "jit", address - begin + offset
        return None, 0

    for stack in stacks(trace):
        if stack and stack[-1] == 2**64 - 1:
            stack.pop()
        places = [where(address) for address in stack]
        if not places:
            continue
        ends = False
        for offset, virtual, size in loads:
            if places[-1][0] == node and offset <= places[-1][1] < offset + size:
                ends = 0 <= places[-1][1] - offset + virtual - start < 64
        objects = [path for path, _ in places]
        jit = [i for i, path in enumerate(objects) if path == "jit"]
        repeated = sum(n for _, n in collections.Counter(stack).most_common(2))
        counts["stacks"] += 1
        counts["whole"] += ends
        counts["deep"] += repeated >= depth
        counts["in code of the JIT"] += bool(jit)
        counts["both sides"] += bool(jit) and node in objects[:jit[0]] and \
            node in objects[jit[-1]:]
        counts["frames"] += len(stack)
        counts["false"] += objects.count(None)
        if not ends and shown < 1:
            shown += 1
            results.note("one that ends early:")
            for address, (path, place) in zip(stack, places):
                results.note("  %x %s %x" % (address, path, place))
    results.note(", ".join("%s: %d" % item for item in counts.items()))
    every = counts["stacks"]
    results.test(every == 400, "an event for each open")
    results.test(counts["deep"] == every, "all of the recursion is in every stack")
    results.test(counts["in code of the JIT"] > 0, "some run code of the JIT")
    results.test(counts["both sides"] == counts["in code of the JIT"],
                 "frames of node's file are on both sides of that")
    results.test(not counts["false"], "no address outside of executable memory")
    return results.done()


if __name__ == "__main__":
    sys.exit(main())
