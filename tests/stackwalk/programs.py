#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""programs.py DIRECTORY [BUILD]... [--all] [--keep] - cores of real crashes, beside gdb and eu-stack

Builds the crashing programs of this folder in several ways, runs them, and lets kunwind stackwalk, gdb
and eu-stack read the cores. Prints TAP, and sums as comments (crashes.py). --all: all builds with
all crashes. --keep: leaves the cores in DIRECTORY.
"""

import os
import re
import subprocess
import sys

import crashes
from crashes import tap


def make_core(program, mode, where):
    """Runs the program, and returns the path of its core. gdb writes it if the kernel has another place for cores."""
    env = dict(os.environ, GOTRACEBACK="crash", MALLOC_ARENA_MAX="1")
    done = subprocess.run(["bash", "-c", 'ulimit -c unlimited; ulimit -s 1024; exec "$@"', "-", program, mode],
                          cwd=where, capture_output=True, env=env)
    cores = [f for f in os.listdir(where) if f.startswith("core")]
    if cores:
        return os.path.join(where, cores[0])
    core = os.path.join(where, "core")
    subprocess.run(["gdb", "-nx", "-batch", "-ex", "handle all nostop pass", "-ex", "handle SIGSEGV SIGABRT stop",
                    "-ex", "run", "-ex", "generate-core-file " + core, "--args", program, mode],
                   cwd=where, capture_output=True, env=env)
    return core if os.path.exists(core) else None


def run_gdb(program, core):
    done = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "bt", program, core],
                          capture_output=True, text=True, errors="replace")
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.+?) ?\(", done.stdout, re.M)


def run_eu_stack(program, core):
    done = subprocess.run(["eu-stack", "-n", "0", "-e", program, "--core=" + core], capture_output=True, text=True,
                          errors="replace")
    first = re.split(r"^TID ", done.stdout, flags=re.M)
    return re.findall(r"^#\d+ +0x[0-9a-f]+(?: - 1)? +(.*)$", first[1], re.M) if len(first) > 1 else []


def main():
    where = os.path.abspath(sys.argv[1])
    sums = {}

    def use(name, program, mode, folder):
        expected, broken = crashes.BUILDS[name][2][mode], mode in crashes.BROKEN
        what = "core of %s %s: the stack is right" % (name, mode)
        core = make_core(program, mode, folder)
        if not core:
            tap.check(what, False, "no core")
            return
        report = crashes.run_kunwind(core)
        verdict, detail = crashes.verdict_of(report, expected, broken) if report else ("none", "")
        crashes.count(sums, "kunwind", verdict)
        for tool, run in (("gdb", run_gdb), ("eu-stack", run_eu_stack)):
            other = crashes.judge(run(program, core), expected, broken)
            crashes.count(sums, tool, other)
            detail += "\n%s: %s" % (tool, other)
        tap.check(what, verdict == "right", detail)

    crashes.each(where, sys.argv[2:], use)
    crashes.print_sums(sums)
    tap.finish()


if __name__ == "__main__":
    main()
