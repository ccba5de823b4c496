#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
nocfi.py - test the stacks that fixtures/nocfi took of itself

    nocfi.py PROGRAM <OUTPUT

The expected functions are the program's own, and those of the C library if
PROGRAM is static, because it then has all of their symbols. Any other function
is a false frame, whatever its trust. Prints TAP, and the number of frames for
each trust.
"""

import bisect
import collections
import subprocess
import sys

import tap

BELOW_MAIN = {"libc_start_main_stage2", "__libc_start_main", "_start_c", "_start"}
THREAD = {"start", "start_c11", "__clone", "clone", "start_thread", "clone3"}
SIGNAL = {"__restore_rt", "__restore", "__restore_sigs", "sigaction"}
# scene: the program's functions in order, a static musl's between them
SCENES = {
    "asm": (["take", "innermost", "call_fp", "second", "call_bare", "first", "main"],
            {"ioctl"} | BELOW_MAIN),
    "jit": (["take", "innermost", "JIT", "second", "JIT", "first", "jit", "main"],
            {"ioctl"} | BELOW_MAIN),
    "qsort": (["take", "innermost", "compare", "sorts", "main"],
              {"ioctl", "sift", "trinkle", "cycle", "wrapper_cmp", "qsort_r", "__qsort_r",
               "qsort"} | BELOW_MAIN),
    "handler": (["take", "on_signal", "raises", "raises_above", "main"],
                {"ioctl", "raise"} | SIGNAL | BELOW_MAIN),
    "blocked-handler": (["take", "on_signal", "blocks", "blocks_above", "thread"],
                        {"ioctl", "poll", "sccp", "__syscall_cp_c", "__syscall_cp_asm",
                         "__cp_end"} | SIGNAL | THREAD),
    "blocked": (["blocks", "blocks_above", "thread"],
                {"poll", "sccp", "__syscall_cp_c", "__syscall_cp_asm", "__cp_end"} | THREAD),
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def symbols(path):
    """[(address, name)] of the program's functions, one name per address."""
    names = {}
    for line in run("nm", path):
        fields = line.split()
        if len(fields) == 3 and fields[1] in "tTwWiVu" and not fields[2].endswith("_end"):
            names.setdefault(int(fields[0], 16), fields[2])
    return sorted(names.items())


def segments(path):
    """[(offset in the file, virtual address, size in the file)]"""
    found = []
    for line in run("readelf", "-lW", path):
        fields = line.split()
        if fields and fields[0] == "LOAD":
            found.append((int(fields[1], 16), int(fields[2], 16), int(fields[4], 16)))
    return found


class Stack:
    def __init__(self, scene, reason):
        self.scene = scene
        self.reason = reason
        self.frames = []    # (name, trust)


def stacks(path, lines):
    """The stacks that the program printed. A name is None in another object."""
    table, loads = symbols(path), segments(path)
    addresses = [address for address, _ in table]
    maps, jit, found = [], (0, 0), []
    lines = [line.rstrip("\n").split("\t") for line in lines]
    for fields, behind in zip(lines, lines[1:] + [[""]]):
        if fields[0] == "map" and fields[4] == path:
            maps.append((int(fields[1], 16), int(fields[2], 16), int(fields[3], 16)))
        elif fields[0] == "jit":
            jit = (int(fields[1], 16), int(fields[2], 16))
        elif fields[0] == "stack":
            found.append(Stack(fields[1], int(fields[2])))
        elif fields[0] == "frame":
            address, trust = int(fields[1], 16), fields[2]
            # these are addresses of instructions, not return addresses
            exact = trust in ("registers", "signal") or \
                behind[0] == "frame" and behind[2] == "signal"
            name = None
            if jit[0] <= address < jit[1]:
                name = "JIT"
            for start, end, offset in maps:
                if start <= address < end:
                    place = address - start + offset
                    for at, virtual, size in loads:
                        if at <= place < at + size:
                            virtual += place - at - (0 if exact else 1)
                            name = table[bisect.bisect(addresses, virtual) - 1][1]
            found[-1].frames.append((name, trust))
    return found


def main():
    path = sys.argv[1]
    static = "static" in path
    results = tap.Tap()
    seen = set()
    trusts, false = collections.Counter(), 0
    for stack in stacks(path, sys.stdin):
        own, others = SCENES[stack.scene]
        seen.add(stack.scene)
        mine = [name for name, _ in stack.frames if name in own]
        strange = [name for name, _ in stack.frames
                   if name and name not in own and (name not in others if static else
                                                    name not in {"_init", "_start", "_start_c"})]
        trusts.update(trust for _, trust in stack.frames)
        false += len(strange)
        results.test(mine == own and not strange,
                     stack.scene + ": has the program's functions in order and no false frame")
        # also a blocked thread's stack must end where the thread began
        results.test(stack.reason == 0, stack.scene + ": the stack is complete")
        if mine != own or strange or stack.reason:
            results.note(f"wanted {' '.join(own)}; reason {stack.reason}")
            for name, trust in stack.frames:
                results.note(f"  {trust:10} {name}")
    results.test(seen == set(SCENES), "the output has stacks of every scene")
    results.note("frames by " + ", ".join(f"{trust}: {count}"
                                          for trust, count in sorted(trusts.items())) +
                 f"; false: {false}")
    return results.done()


if __name__ == "__main__":
    sys.exit(main())
