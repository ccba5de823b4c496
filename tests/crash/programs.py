#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""programs.py DIRECTORY LIBRARY MUSL [BUILD]... [--all] - reports of real crashes, beside gdb and eu-stack

Runs the crashing programs of tests/stackwalk with libkunwind-crash: dynamic ones with the library for
LD_PRELOAD, others linked with the archive. LIBRARY and MUSL are directories with the library's files.
The names in a report must be those of the program's source, and its addresses those that gdb or
eu-stack find in the core that the kernel has written after the report. Prints TAP.
"""

import os
import re
import shutil
import subprocess
import sys

import reports
from reports import tap
import crashes

LIB = os.path.join(reports.HERE, "../../libkunwind")
FEW = ("null", "jump0", "overflow", "altstack", "abort", "smash", "qsort", "variable")
# name: command, modes, modes of the short run. Not "linked": by LD_PRELOAD
BUILDS = {
    "preload-c": ("gcc -O2", crashes.C, crashes.C_MODES, tuple(crashes.C_MODES)),
    "preload-nopie": ("gcc -O2 -no-pie -fno-pie", crashes.C, crashes.C_MODES, ("null",)),
    "preload-cc": ("g++ -O2", crashes.CC, crashes.CC_MODES, tuple(crashes.CC_MODES)),
    "linked-c": ("gcc -O2", crashes.C, crashes.C_MODES, ("null", "overflow")),
    "linked-cc": ("g++ -O2", crashes.CC, crashes.CC_MODES, ("throw",)),
    "linked-static": ("gcc -O2 -static", crashes.C, crashes.C_MODES, FEW),
    "linked-musl": ("musl-gcc -O2 -Wl,--build-id=sha1", crashes.C, crashes.C_MODES, FEW),
    "linked-musl-static": ("musl-gcc -O2 -static -Wl,--build-id=sha1", crashes.C, crashes.C_MODES, FEW),
}


def build(name, where, library):
    command, source = BUILDS[name][:2]
    out = os.path.join(where, name)
    words = command.split() + ["-w", "-pthread", "-o", out]
    if name.startswith("linked"):
        begin = out + ".o"
        compiler = "musl-gcc" if "musl" in name else "gcc"
        subprocess.run([compiler, "-c", "-I" + LIB + "/crash/include", os.path.join(reports.HERE, "begin.c"),
                        "-o", begin], check=True)
        words += [os.path.join(crashes.HERE, source), begin, os.path.join(library, "libkunwind-crash.a")]
    else:
        words.append(os.path.join(crashes.HERE, source))
    return out if not subprocess.run(words, capture_output=True).returncode else None


def run(name, program, mode, folder, library):
    """Runs the program; returns its status and reports."""
    env = dict(os.environ, MALLOC_ARENA_MAX="1", KUNWIND_CRASH_PATH=folder + "/report.%p",
               KUNWIND_CRASH_FRAMES="20000", KUNWIND_CRASH_DEADLINE="20000")
    preload = "" if name.startswith("linked") else os.path.join(library, "libkunwind-crash-preload.so")
    done = subprocess.run(["bash", "-c", 'ulimit -c unlimited; ulimit -s 512; LD_PRELOAD=$1; [ -z "$1" ] || '
                           'export LD_PRELOAD; shift; exec "$@"', "-", preload, program, mode],
                          cwd=folder, capture_output=True, env=env)
    found = [report for entry in sorted(os.listdir(folder)) if entry.startswith("report.")
             for report in reports.read(os.path.join(folder, entry))]
    return done.returncode, found


def core_of(folder, pid):
    for entry in os.listdir(folder):
        if entry in ("core", "core.%d" % pid):
            return os.path.join(folder, entry)
    return None


def gdb_addresses(program, core):
    done = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex",
                           "python f = gdb.newest_frame()\nwhile f: print('at %#x' % f.pc()); f = f.older()",
                           program, core], capture_output=True, text=True, errors="replace")
    return [int(value, 16) for value in re.findall(r"^at (0x\w+)$", done.stdout, re.M)]


def eu_addresses(program, core):
    done = subprocess.run(["eu-stack", "-n", "0", "-e", program, "--core=" + core], capture_output=True, text=True,
                          errors="replace")
    first = re.split(r"^TID ", done.stdout, flags=re.M)
    return [int(value, 16) for value in re.findall(r"^#\d+ +(0x\w+)", first[1], re.M)] if len(first) > 1 else []


def common(ours, theirs):
    """How many addresses are the same from the first one on."""
    n = 0
    while n < min(len(ours), len(theirs)) and ours[n] == theirs[n]:
        n += 1
    return n


def check(name, program, mode, folder, library, symbols):
    expected, broken = BUILDS[name][2][mode], mode in crashes.BROKEN
    status, found = run(name, program, mode, folder, library)
    what = "%s %s: " % (name, mode)
    if mode in ("altstack", "handler"):
        # the program's own handler is in place of ours; the report is of its abort()
        signal = "SIGABRT"
    else:
        signal = None
    # two children of vfork(2) crash
    good = len(found) == (2 if mode == "vfork" else 1) and all(report.whole() for report in found)
    tap.check(what + "a whole report", good, [r.problems or r.end for r in found] or "none")
    if not good:
        return
    # the core is that of the last one
    report = max(found, key=lambda report: report.process["pid"])
    thread = report.threads[0]
    names = symbols.names(thread)
    verdict = crashes.judge(names, expected, broken)
    complete = thread["reason"] == "complete"
    tap.check(what + "the stack is right", verdict == "right" and complete != broken,
              "%s, %s: %s" % (verdict, thread["reason"], " ".join(names[:30])))
    info = report.process["crash_info"]
    died = status if mode == "vfork" else -info["signal"]
    core = core_of(folder, report.process["pid"])
    tap.check(what + "the process ends by the signal, with a core",
              status == died and core and (not signal or info["type"].startswith(signal)), (status, info, core))
    if not core:
        return
    ours = [int(frame["address"], 16) for frame in thread["frames"]]
    gdb, eu_stack = gdb_addresses(program, core), eu_addresses(program, core)
    # up to main(), or to the thread's first function; what comes after it, they often do not have
    until = max([i + 1 for i, n in enumerate(names) if crashes.own([n])] or [1])
    same = max(common(ours, gdb), common(ours, eu_stack))
    tap.check(what + "gdb or eu-stack has the same addresses in the core", same >= min(until, len(ours)),
              "%d of %d\nours: %s\ngdb:  %s\neu:   %s" % (same, until, *(" ".join(map(hex, a[:12])) for a in
                                                                          (ours, gdb, eu_stack))))


def main():
    where, library, musl = (os.path.abspath(path) for path in sys.argv[1:4])
    only = [a for a in sys.argv[4:] if not a.startswith("--")]
    symbols = reports.Symbols()
    os.makedirs(where, exist_ok=True)
    for name, (command, _, modes, few) in BUILDS.items():
        if only and name not in only:
            continue
        if not shutil.which(command.split()[0]):
            tap.skip("crashes of " + name, "no " + command.split()[0])
            continue
        files = musl if "musl" in name else library
        program = build(name, where, files)
        if not program:
            tap.check("build " + name, False, "the compiler failed")
            continue
        for mode in modes if "--all" in sys.argv else few:
            folder = os.path.join(where, name + "." + mode)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            check(name, program, mode, folder, files, symbols)
            if "--keep" not in sys.argv:
                shutil.rmtree(folder, ignore_errors=True)
    tap.finish()


if __name__ == "__main__":
    main()
