#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""minidumps.py DIRECTORY [BUILD]... [--all] [--keep] - minidumps of real crashes, by Breakpad's writer

As programs.py, with minidumps (write_minidump.cc), and with minidump_stackwalk of the npm package
"minidump" as second opinion. It has symbols, and CFI, by dump_syms of the package.

A minidump has some 32 KB of each stack, and of one stack of a thread only. If memory is missing, the
innermost frames and the reason "unreadable" are right.
"""

import os
import re
import subprocess
import sys

import crashes
from crashes import HERE, tap

NPM = os.path.join(HERE, "../../scripts/npm-packages")


def make_symbols(bin_, file, folder):
    """Makes the file that minidump_stackwalk reads for an ELF file."""
    text = subprocess.run([os.path.join(bin_, "dump_syms"), file], capture_output=True, text=True).stdout
    head = text.split("\n", 1)[0].split(" ")
    if len(head) < 5:
        return
    into = os.path.join(folder, head[4], head[3])
    if not os.path.exists(into):
        os.makedirs(into)
        with open(os.path.join(into, head[4] + ".sym"), "w", encoding="utf-8") as out:
            out.write(text)


def run_stackwalk(bin_, dump, symbols):
    done = subprocess.run([os.path.join(bin_, "minidump_stackwalk"), "-m", dump, symbols], capture_output=True,
                          text=True, errors="replace")
    crash = re.search(r"^Crash\|.*\|(\d+)$", done.stdout, re.M)
    lines = [line.split("|") for line in done.stdout.splitlines() if re.match(r"\d+\|", line)]
    return [line[3] for line in lines if crash and line[0] == crash.group(1)]


def main():
    where = os.path.abspath(sys.argv[1])
    sums = {}
    os.makedirs(where, exist_ok=True)
    package = subprocess.run([NPM, "--path", "minidump"], capture_output=True, text=True).stdout.strip()
    writer = os.path.join(where, "write-minidump")
    done = subprocess.run([os.path.join(HERE, "build-writer"), os.path.join(where, "writer"), writer],
                          capture_output=True, text=True)
    tap.check("Breakpad's writer is built", not done.returncode, done.stderr[-2000:])
    if done.returncode:
        tap.finish()
    bin_ = os.path.join(package, "bin/linux-x64")
    symbols = os.path.join(where, "symbols")
    for library in ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1"):
        make_symbols(bin_, "/usr/lib/x86_64-linux-gnu/" + library, symbols)

    def use(name, program, mode, folder):
        if "m32" in name:
            return
        expected, broken = crashes.BUILDS[name][2][mode], mode in crashes.BROKEN
        what = "minidump of %s %s: the stack is right" % (name, mode)
        dump = os.path.join(folder, "dump")
        limited = 'ulimit -s 1024; exec "$@"'
        subprocess.run(["bash", "-c", limited, "-", writer, dump, program, mode], capture_output=True,
                       env=dict(os.environ, GOTRACEBACK="crash"), cwd=folder)
        report = os.path.exists(dump) and crashes.run_kunwind(dump)
        if not report:
            tap.check(what, False, "no minidump, or no answer")
            return
        verdict, detail = crashes.verdict_of(report, expected, broken)
        crashes.count(sums, "kunwind", verdict)
        make_symbols(bin_, program, symbols)
        other = crashes.judge(run_stackwalk(bin_, dump, symbols), expected, broken)
        crashes.count(sums, "minidump_stackwalk", other)
        missing = crashes.crashed(report)["missing_address"]
        tap.check(what, verdict == "right" or (verdict == "shorter" and missing),
                  "%s\nminidump_stackwalk: %s" % (detail, other))

    crashes.each(where, sys.argv[2:], use)
    crashes.print_sums(sums)
    tap.finish()


if __name__ == "__main__":
    main()
