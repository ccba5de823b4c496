#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""real.py BUILD COMMANDS user|lines: measure walks of real programs' stacks in user space.

Runs each line of COMMANDS with the library of real.c in BUILD preloaded. "user"
measures time, compared with libunwind; "lines" counts lines of the data cache.
Prints medians over the distinct stacks, tab-separated, for each program and for
all together:

    user   PROGRAM  STACKS  FRAMES  WALKER  NS_PER_FRAME  TO_UNW_BACKTRACE  TO_UNW_STEP
    lines  PROGRAM  STACKS  FRAMES  CACHE  STACK  RULES  TABLES  OTHER  SUM

The two ratios are medians of the ratios of each stack. Lines are per frame: of the
walked stack, of the cache of rules, of tables, and others (registers, ranges,
addresses out). The bench fails if the walkers find different addresses, or if a walk
is incomplete. A walk that ends with "no_rule" is left out (in crti's _init, because
this walk cannot read code).
"""
import os
import subprocess
import sys
import tempfile
from statistics import median

FEWEST = 100  # distinct stacks
WALKERS = ("kunwind warm", "kunwind cold", "unw_backtrace", "unw_step")


def rows_of(library, commands):
    """Runs the commands; returns the split lines that real.c wrote in these programs.

    Lines of the programs' children with other names are left out.
    """
    names = {os.path.basename(c.split()[0]) for c in commands}
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for number, command in enumerate(commands):
            out = f"{work}/{number}"
            # Without address randomization the counts are equal in each run.
            subprocess.run(["setarch", "-R", "env", f"LD_PRELOAD={library}", f"KUNWIND_BENCH_OUT={out}",
                            "sh", "-c", "exec " + command], check=False, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(out, encoding="utf-8") as file:
                rows += [line.rstrip("\n").split("\t") for line in file]
    return [row for row in rows if row[1] in names]


def by_program(rows):
    programs = {}
    for row in rows:
        programs.setdefault(row[1], []).append(row)
    yield from programs.items()
    yield "all", rows


def print_times(rows):
    for program, some in by_program(rows):
        stacks = [[float(v) for v in row[2:]] for row in some]
        frames = median(s[0] for s in stacks)
        for column, walker in enumerate(WALKERS, 1):
            print("user", program, len(stacks), f"{frames:.0f}", walker,
                  f"{median(s[column] / s[0] for s in stacks):.1f}",
                  f"{median(s[column] / s[3] for s in stacks):.2f}",
                  f"{median(s[column] / s[4] for s in stacks):.3f}", sep="\t")


def print_lines(rows):
    for program, some in by_program(rows):
        for state in ("warm", "cold"):
            stacks = [[float(v) for v in row[4:]] + [float(row[2])] for row in some if row[3] == state]
            each = [median(s[k] / s[-1] for s in stacks) for k in range(4)]
            total = median(sum(s[:4]) / s[-1] for s in stacks)
            print("lines", program, len(stacks), f"{median(s[-1] for s in stacks):.0f}", state,
                  *(f"{v:.2f}" for v in each), f"{total:.2f}", sep="\t")


KINDS = {"user": ("real-time.so", "stack", print_times), "lines": ("real-lines.so", "lines", print_lines)}


def main():
    build, path, kind = sys.argv[1:]
    library, line, show = KINDS[kind]
    with open(path, encoding="utf-8") as file:
        commands = [text.strip() for text in file if not text.startswith("#")]
    rows = rows_of(f"{build}/{library}", commands)
    good = [row for row in rows if row[0] == line]
    if len(good) < FEWEST:
        sys.exit(f"{len(good)} distinct stacks are too few")
    show(good)
    others = [row for row in rows if row[0] == "differs"]
    for row in others:
        print("#" + "\t".join(row))
    return any(row[3] != "no_rule" for row in others)


if __name__ == "__main__":
    sys.exit(main())
