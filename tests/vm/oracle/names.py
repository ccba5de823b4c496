# SPDX-License-Identifier: MIT
"""
names.py - do two builds of one program have the same chains of functions?

For each thread, by its name, the last event's stack: its addresses as function
names (the program's own, from its symbol table) or "object" (all others) must
be the same in both. Runs of "object" count as one, for what a library does
between two of the program's functions is its own affair.
"""

import bisect
import os
import re
import subprocess

from ktrace import read_tsv
from maps import Maps


def functions(path):
    """Sorted ([address], [name]) of the functions of an ELF file."""
    text = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True,
                          check=True).stdout
    found = {}
    for line in text.splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "tTwWi":
            # gcc's clones and parts are one function here; lambdas are counted
            # through a file, whatever else it has
            found[int(address, 16)] = re.sub(r"#\d+", "#", name.split(" [clone", 1)[0])
    ordered = sorted(found.items())
    return [a for a, _ in ordered], [n for _, n in ordered]


def chain(stack, maps, symbols):
    result = []
    for n, address in enumerate(stack):
        path, virtual = maps.place(address - (n > 0))
        if path in symbols:
            addresses, names = symbols[path]
            name = names[bisect.bisect_right(addresses, virtual) - 1]
        else:
            name = "<%s>" % os.path.basename(path or "?")
        if not (name.startswith("<") and result and result[-1] == name):
            result.append(name)
    return result


def report(tap, last, directory, first, second):
    """One test about two programs, given the last event of each thread."""
    chains = []
    for name in (first, second):
        base = os.path.join(directory, name)
        maps = Maps(base + ".maps")
        program = next(path for _, _, _, path in maps.ranges if path.endswith("/" + name))
        symbols = {program: functions(program)}
        mine = {}
        for tid, comm in read_tsv(base + ".comm"):
            if int(tid) in last:
                comm = "main" if comm == name[:15] else comm
                mine[comm] = chain(last[int(tid)].stack, maps, symbols)
        chains.append(mine)
    both = sorted(set(chains[0]) & set(chains[1]))
    different = [comm for comm in both if chains[0][comm] != chains[1][comm]]
    tap.test(both and not different, "%s and %s: %d of %d threads have the same chain" %
             (first, second, len(both) - len(different), len(both)))
    for comm in different:
        tap.note("%s: %s" % (comm, " | ".join(chains[0][comm])))
        tap.note("%s: %s" % (comm, " | ".join(chains[1][comm])))
