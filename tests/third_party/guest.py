#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs each program in the VM with the preloaded libothers.so, and checks the differences.

Usage: tests/third_party/guest.py LIBRARY PROGRAMS.tsv EXPLAINED.tsv [NAME]...

Prints a line for each difference that EXPLAINED.tsv does not explain, and for each program
that ends in another way than without the library. Then it prints the counts.
EXPLAINED.tsv has the columns program (a glob), verdict, place (a glob), and heading of
README. An explanation that explains nothing is an error, unless NAMEs (globs, or suites)
say which programs to run. With KUNWIND_OTHERS_VERBOSE=1, the library prints both stacks.
The exit status is 0 only if all differences are explained, and stacks were compared.
"""

import collections
import fnmatch
import os
import signal
import struct
import subprocess
import sys

MAGIC, FINDINGS, TEXT = 0x7372656874306B75, 64, 232
VERDICTS = ("equal", "longer", "shorter", "differ", "failed")
HEAD = struct.Struct("<6Q")
FINDING = struct.Struct("<IIQ%ds" % TEXT)
SECONDS = 60


def run(path, libraries, extra):
    env = dict(os.environ, LD_LIBRARY_PATH=libraries, **extra)
    verbose = "KUNWIND_OTHERS_VERBOSE" in env
    with subprocess.Popen([path], cwd=os.path.dirname(path), env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, start_new_session=True,
                          stderr=None if verbose else subprocess.DEVNULL) as child:
        try:
            return child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return "time"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    head = HEAD.unpack_from(data)
    findings = []
    for n in range(FINDINGS):
        verdict, count, place, text = FINDING.unpack_from(data, HEAD.size + n * FINDING.size)
        if place:
            findings.append((VERDICTS[verdict], count, text.split(b"\0")[0].decode("utf-8", "replace")))
    return head, findings


def main():
    library, programs, explained, *only = sys.argv[1:]
    with open(programs, encoding="utf-8") as f:
        programs = [line.rstrip("\n").split("\t") for line in f]
    with open(explained, encoding="utf-8") as f:
        explained = [line.rstrip("\n").split("\t") for line in f if line.strip() and line[0] != "#"]
    used, reasons = [0] * len(explained), collections.Counter()
    sums = collections.defaultdict(collections.Counter)
    out = "/tmp/others.out"
    unexplained = 0

    def explain(program, verdict, text, count):
        for n, (programs_glob, verdict_glob, place, why) in enumerate(explained):
            if fnmatch.fnmatchcase(program, programs_glob) and verdict == verdict_glob and \
                    fnmatch.fnmatchcase(text, place):
                used[n] += count
                reasons[verdict, why] += count
                return True
        print("unexplained\t%s\t%s\t%s\t%d" % (program, verdict, text, count), flush=True)
        return False

    for suite, name, path, libraries in programs:
        if only and not any(fnmatch.fnmatchcase(name, g) or suite == g for g in only):
            continue
        with open(out, "wb") as f:
            f.write(struct.pack("<Q", MAGIC).ljust(HEAD.size + FINDINGS * FINDING.size, b"\0"))
        extra = {"LD_PRELOAD": library, "KUNWIND_OTHERS_OUT": out}
        status = run(path, libraries, extra)
        (_, stacks, frames, beyond, unnamed, signals), findings = read(out)
        count = sums[suite]
        count["programs"] += 1
        count["stacks"] += stacks
        count["frames"] += frames
        count["signal frames"] += signals
        count["not compared"] += beyond
        if not stacks:
            count["programs without a stack"] += 1
        for verdict, times, text in findings:
            count[verdict] += times
            if not explain(name, verdict, text, times):
                unexplained += 1
        if unnamed:
            unexplained += 1
            print("unexplained\t%s\tmore than %d places\t\t%d" % (name, FINDINGS, unnamed))
        if status != 0:
            alone = run(path, libraries, {})
            if alone != status:
                unexplained += not explain(name, "status", "%s, alone %s" % (status, alone), 1)
            else:
                count["programs that fail, alone too"] += 1
    keys = ("programs", "programs without a stack", "programs that fail, alone too", "stacks",
            "frames", "signal frames", "not compared") + VERDICTS[1:]
    print("\t".join(("suite",) + keys))
    total = collections.Counter()
    for suite in sorted(sums):
        total.update(sums[suite])
        print("\t".join([suite] + [str(sums[suite][key]) for key in keys]))
    print("\t".join(["all"] + [str(total[key]) for key in keys]))
    for (verdict, why), count in sorted(reasons.items()):
        print("explained\t%s\t%s\t%d" % (verdict, why, count))
    if not only:
        for entry, count in zip(explained, used):
            if not count:
                unexplained += 1
                print("explains nothing\t" + "\t".join(entry))
    return 1 if unexplained or not total["frames"] else 0


if __name__ == "__main__":
    sys.exit(main())
