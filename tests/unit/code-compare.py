#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares rows from code with CFI, at every address (code-compare.c).

Usage: code-compare.py CODE-COMPARE SOURCE-DIRECTORY INCLUDE-DIRECTORY FILE...

The files are real objects. The sources of the core are compiled by gcc and clang
with several options and compared, too. No row may be wrong; and rows must cover most of
the code, so that this test compares something. TAP on stdout, two tests an object.
"""

import glob
import os
import subprocess
import sys
import tempfile

# Least percent of the addresses with a rule by CFI that have a row from code.
COVERED = 65
BUILDS = (("gcc", "-O2"), ("gcc", "-Os", "-fno-omit-frame-pointer"),
          ("gcc", "-O1", "-fcf-protection=full"), ("gcc", "-O3", "-mno-red-zone"), ("gcc", "-O0"),
          ("clang", "-O2"), ("clang", "-Os", "-fno-omit-frame-pointer"), ("clang", "-O0"))


def build(options, directory, sources, include):
    path = os.path.join(directory, "-".join(options) + ".so")
    command = [*options, "-w", "-fPIC", "-shared", "-nostdlib", "-fasynchronous-unwind-tables",
               "-I" + include, "-o", path, *sources]
    subprocess.run(command, check=True)
    return path


def main():
    compare, core, include, *files = sys.argv[1:]
    sources = glob.glob(core + "/*.c") + glob.glob(core + "/*/*.c")
    test = 0
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        built = [build(options, directory, sources, include) for options in BUILDS]
        for path in built + files:
            out = subprocess.run([compare, path], stdout=subprocess.PIPE, text=True, check=True)
            _, size, covered, wrong, wrong_rbp, first = out.stdout.split("\t")
            name = os.path.basename(path)
            for good, text in (
                    (wrong == "0" and wrong_rbp == "0",
                     f"{name}: no row from code is wrong ({size} bytes)"),
                    (float(covered) >= COVERED, f"{name}: rows cover {covered} % of the code")):
                test += 1
                failed |= not good
                print("ok" if good else "not ok", test, "-", text, flush=True)
            if wrong != "0" or wrong_rbp != "0":
                print(f"# CFA: {wrong} bytes, rbp: {wrong_rbp} bytes, first at {first.strip()}")
    print(f"1..{test}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
