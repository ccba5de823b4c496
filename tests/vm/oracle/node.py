#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
node.py - test the stacks of a program that a JIT compiles

    node.py TRACE MAPS DEPTH [EARLY]
    node.py TRACE MAPS nested [EARLY]

A stack of an open of /nowhere/... must have no address outside of executable
mappings, and must reach the entry point of the program. If it has code of the
JIT, it must have frames of node's files on both sides of that code. At most
EARLY stacks may end early.

With DEPTH, the program is fixtures/node.js: a stack must have at least DEPTH
frames of the recursion (one return address, or two, again and again). With
"nested", the program is fixtures/node-nested.js: a stack must have all of its
functions in order, by the names that V8 itself wrote for perf. Between them
must be the C++ functions that call back.
"""

import bisect
import collections
import os
import re
import struct
import subprocess
import sys

import tap


def mappings(path):
    """[(start, end, offset, file or "")] of the executable mappings."""
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
    """An executable's entry point, and its segments (offset, address, size)."""
    with open(path, "rb") as file:
        head = file.read(64)
        address, table = struct.unpack_from("<QQ", head, 24)
        number = struct.unpack_from("<H", head, 56)[0]
        file.seek(table)
        raw = file.read(56 * number)
    loads = [struct.unpack_from("<IIQQQQQQ", raw, 56 * i) for i in range(number)]
    return address, [(p[2], p[3], p[5]) for p in loads if p[0] == 1]


def stacks(trace):
    """Yield (name, addresses) for each open of a file in /nowhere."""
    text = subprocess.run(["babeltrace2", trace], capture_output=True, text=True,
                          errors="replace", check=False).stdout
    for line in text.splitlines():
        name = re.search(r'"/nowhere/([^"]*)"', line)
        if "syscall_entry_openat" not in line or not name:
            continue
        words = line[line.index("callstack_user = ["):].split("}", 1)[0]
        stack = [int(n, 16) for n in re.findall(r"\[\d+\] = (0x[0-9A-Fa-f]+)", words)]
        if stack and stack[-1] == 2**64 - 1:
            stack.pop()
        yield name[1], stack


class Names:
    """JavaScript functions, from V8's lines "START SIZE JS:~name file:line"."""

    def __init__(self, path):
        entries = {}
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                start, size, name = line.rstrip("\n").split(" ", 2)
                entries[int(start, 16)] = (int(size, 16), name)
        self.starts = sorted(entries)
        self.entries = entries

    def find(self, address):
        i = bisect.bisect(self.starts, address) - 1
        if i < 0:
            return ""
        size, name = self.entries[self.starts[i]]
        if address >= self.starts[i] + size or not name.startswith("JS:"):
            return ""
        return re.sub(r"^JS:[~^*+']*", "", name).split(" ")[0]


CALLBACKS = {"viaMap": "mapped", "viaSort": "compared", "viaJson": "revived"}


def nested_chain(depth):
    """The functions of node-nested.js in an event's stack, innermost first."""
    chain, vias = [], list(CALLBACKS)
    for level in range(depth + 1):
        via = vias[level % 3]
        chain += [via, CALLBACKS[via], "below"]
    return (chain + ["recurse"] * 4 + ["opens"])[::-1]


def main():
    trace, maps, kind = sys.argv[1], mappings(sys.argv[2]), sys.argv[3]
    early = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    results = tap.Tap()
    node = next(path for _, _, _, path in maps if path.endswith("/node"))
    start, loads = entry(node)
    counts = collections.Counter()
    shown = collections.Counter()
    names = None
    if kind == "nested":
        with open(sys.argv[2], encoding="latin1") as lines:
            names = Names(f"/tmp/perf-{int(lines.readline().split()[1])}.map")

    def where(address):
        for begin, end, offset, path in maps:
            if begin <= address < end:
                return path or "jit", address - begin + offset
        return None, 0

    def native(path):
        return path and os.path.basename(path).startswith(("node", "libnode"))

    def show(what, places, stack):
        shown[what] += 1
        if shown[what] > 1:
            return
        results.note(what + ":")
        for address, (path, place) in zip(stack, places):
            results.note(f"  {address:x} {path} {place:x} {names.find(address - 1) if names else ''}")

    for name, stack in stacks(trace):
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
        counts["in code of the JIT"] += bool(jit)
        counts["both sides"] += bool(jit) and any(map(native, objects[:jit[0]])) and \
            any(map(native, objects[jit[-1]:]))
        counts["frames"] += len(stack)
        counts["false"] += objects.count(None)
        if not ends:
            show("a stack that ends early", places, stack)
        if names:
            wanted = nested_chain(int(name.split("-")[1]))
            own = [found for found in (names.find(address - 1) for address in stack)
                   if found in wanted]
            # The callers are in node's file: JSON.parse is C++, map and sort
            # are built in.
            between = [i for i, found in enumerate(names.find(a - 1) for a in stack)
                       if found in CALLBACKS.values()]
            good = own == wanted and all(native(objects[i + 1]) for i in between)
            counts["right"] += good
            if not good:
                show("a stack that is not right, wanted " + " ".join(wanted), places, stack)
        else:
            counts["right"] += repeated >= int(kind)
    results.note(", ".join("%s: %d" % item for item in counts.items()))
    every = counts["stacks"]
    results.test(every == (270 if names else 400), "the trace has an event for each open")
    but = f", except at most {early}" if early else ""
    results.test(every - counts["right"] <= early,
                 f"every stack has all of the program's functions{but}")
    results.test(every - counts["whole"] <= early, f"every stack reaches the entry point{but}")
    results.test(counts["in code of the JIT"] > 0, "some stacks have code of the JIT")
    results.test(counts["in code of the JIT"] - counts["both sides"] <= early,
                 f"code of the JIT has frames of node's file on both sides in every stack{but}")
    results.test(not counts["false"], "no address is outside of executable mappings")
    return results.done()


if __name__ == "__main__":
    sys.exit(main())
