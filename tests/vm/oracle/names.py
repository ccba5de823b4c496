# SPDX-License-Identifier: MIT
"""
names.py - test that two builds of one program have the same chains of functions

Compares the stacks of the last events of threads that have the same name in
both builds. An address counts as its function's name if it is in the program,
else as "<name of the object>". Successive addresses in one object count as one,
because the frames of a library between two of the program's functions may
differ.
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
            # gcc's clones and parts of a function count as that function. The
            # number of a lambda depends on the rest of its file.
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
    """Makes a test of two programs. last has each thread's last event."""
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
    tap.test(both and not different, "%s and %s: %d of %d threads have equal chains of functions" %
             (first, second, len(both) - len(different), len(both)))
    for comm in different:
        tap.note("%s: %s" % (comm, " | ".join(chains[0][comm])))
        tap.note("%s: %s" % (comm, " | ".join(chains[1][comm])))
