#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""programs.py DIRECTORY LIBRARY MUSL [BUILD]... [--all] - reports of real crashes, beside gdb and eu-stack

Runs the crashing programs of tests/stackwalk with libkunwind-crash: dynamic ones with the library for
LD_PRELOAD, others linked with the archive. LIBRARY and MUSL are directories with the library's files.
The names in a report must be those of the program's source, and its addresses those that gdb or
eu-stack find in the core that the kernel has written after the report. Prints TAP.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import reports
from reports import tap
import crashes
import schema

LIB = os.path.join(reports.HERE, "../../libkunwind")
FEW = ("null", "overflow", "threads")
MORE = FEW + ("jump0", "abort", "heap", "altstack", "handler", "vfork", "smash")
# name: command, modes, modes of the short run. Not "linked": by LD_PRELOAD
BUILDS = {
    "preload-c": ("gcc -O2", crashes.C, crashes.C_MODES, MORE),
    "preload-nopie": ("gcc -O2 -no-pie -fno-pie", crashes.C, crashes.C_MODES, ("null",)),
    "preload-cc": ("g++ -O2", crashes.CC, crashes.CC_MODES, ("throw", "destructor")),
    "linked-c": ("gcc -O2", crashes.C, crashes.C_MODES, ("null", "overflow")),
    "linked-cc": ("g++ -O2", crashes.CC, crashes.CC_MODES, ("throw",)),
    "linked-static": ("gcc -O2 -static", crashes.C, crashes.C_MODES, FEW),
    "linked-musl": ("musl-gcc -O2 -Wl,--build-id=sha1", crashes.C, crashes.C_MODES, FEW),
    "linked-musl-static": ("musl-gcc -O2 -static -Wl,--build-id=sha1", crashes.C, crashes.C_MODES, ("null", "smash")),
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


def eu_threads(program, core):
    """{thread id: addresses}, the thread that has crashed first."""
    done = subprocess.run(["eu-stack", "-n", "0", "-e", program, "--core=" + core], capture_output=True, text=True,
                          errors="replace")
    parts = re.split(r"^TID (\d+):", done.stdout, flags=re.M)
    return {int(tid): [int(value, 16) for value in re.findall(r"^#\d+ +(0x\w+)", stack, re.M)]
            for tid, stack in zip(parts[1::2], parts[2::2])}


def check_threads(what, report, theirs):
    """A thread that has not run between the report and the core has the same stack in both, any the same end."""
    different, same = [], 0
    for thread in report.threads[1:]:
        ours, other = [int(frame["address"], 16) for frame in thread["frames"]], theirs.get(thread["thread_id"], [])
        same += ours == other
        if ours != other and (ours[:1] == other[:1] or ours[-2:] != other[-2:]):
            different.append((thread["thread_id"], ours, other))
    tap.check(what + "eu-stack has the same stacks of the other threads in the core",
              len(report.threads) == len(theirs) and not different and same > len(theirs) / 2,
              "%d the same of %d; eu-stack has %d\n%s" % (same, len(report.threads) - 1, len(theirs), different[:3]))


def common(ours, theirs):
    """How many addresses are the same from the first one on."""
    n = 0
    while n < min(len(ours), len(theirs)) and ours[n] == theirs[n]:
        n += 1
    return n


def walk(text):
    return subprocess.run([crashes.KUNWIND, "stackwalk", "--json", "-"], input=text, capture_output=True)


def check_named(what, path, report, symbols):
    """kunwind stackwalk takes the frames of the report, and adds names."""
    named = crashes.run_kunwind(path)
    why = schema.why_invalid(named) if named else "an error"
    if why:
        tap.check(what + "kunwind stackwalk reads the report", False, why)
        return
    different = [(ours["thread_id"], ours["reason"], theirs["reason"]) for ours, theirs in zip(named["threads"], report.threads)
                 if [ours[key] for key in ("thread_id", "thread_name", "reason", "missing_address")] !=
                 [theirs[key] for key in ("thread_id", "thread_name", "reason", "missing_address")] or
                 [[frame.get(key) for key in FRAME] for frame in ours["frames"]] !=
                 [[frame.get(key) for key in FRAME] for frame in theirs["frames"]]]
    info = report.process["crash_info"]
    tap.check(what + "kunwind stackwalk has the threads and frames of the report", named["format"] == "report" and
              not named["truncated"] and len(named["threads"]) == len(report.threads) and not different and
              named["crash_info"] == info and named["pid"] == report.process["pid"], (different[:3], named["crash_info"], info))
    thread = named["threads"][0]
    ours, theirs = [frame["function"] or "?" for frame in thread["frames"]], symbols.names(report.threads[0])
    tap.check(what + "and the names that nm has", crashes.own(ours) == crashes.own(theirs) and ours, (ours[:20], theirs[:20]))


FRAME = ("frame", "offset", "address", "module", "module_offset", "trust", "stack_pointer", "registers")


def check_texts(path, report):
    """Reports that are cut off, damaged, or among other lines."""
    with open(path, "rb") as f:
        text = f.read()
    lines = text.splitlines(keepends=True)
    whole = json.loads(walk(text).stdout)
    bad = []
    for number in range(1, len(lines)):
        for rest in (b"", lines[number][:len(lines[number]) // 2]):
            done = walk(b"".join(lines[:number]) + rest)
            if number == 1:
                if done.returncode != 1 or done.stdout or len(done.stderr.splitlines()) != 1:
                    bad.append((number, done))
                continue
            cut = json.loads(done.stdout) if not done.returncode else {}
            frames = [frame for thread in cut.get("threads", []) for frame in thread["frames"]]
            wanted = [frame for thread in whole["threads"] for frame in thread["frames"]][:len(frames)]
            last = cut["threads"][-1] if cut.get("threads") else {}
            ended = b'"frame_count"' in lines[number - 1]
            if schema.why_invalid(cut) or not cut["truncated"] or [f["address"] for f in frames] != [
                    f["address"] for f in wanted] or len(frames) != sum(b'"frame"' in line for line in lines[:number]) or (
                        last["reason"] is None) == ended:
                bad.append((number, done.stderr, schema.why_invalid(cut) if cut else None, last.get("reason")))
    tap.check("a report that was cut off: the frames up to there", not bad, bad[:3])
    noise = b"\n[1] a line of the program, {not JSON}\n{\n{\"frame\": 1\n\"\\u12\"\n[1, 2]\n"
    tap.same("other lines between those of the report are left out", json.loads(walk(noise.join(lines)).stdout), whole)
    done = walk(text + text)
    tap.check("two reports in one file are an error", done.returncode == 1 and not done.stdout and
              b"more than one report" in done.stderr, done)
    shown = subprocess.run([crashes.KUNWIND, "stackwalk", "-"], input=b"".join(lines[:4]), capture_output=True).stdout.decode()
    tap.check("the text says that a report was cut off", "The report was cut off" in shown and
              "not complete: the report was cut off" in shown and "SIGSEGV / SEGV_MAPERR" in shown, shown)
    hostile = text.replace(report.process["command"].encode(), b"a\\u001b[31m\\u0000\\n")
    shown = subprocess.run([crashes.KUNWIND, "stackwalk", "-"], input=hostile, capture_output=True).stdout
    tap.check("names in a report do not control the terminal", shown and b"\33" not in shown and b"\0" not in shown, shown[:300])


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
    check_named(what, os.path.join(folder, "report.%d" % report.process["pid"]), report, symbols)
    if (name, mode) == ("preload-c", "null"):
        check_texts(os.path.join(folder, "report.%d" % report.process["pid"]), report)
    info = report.process["crash_info"]
    died = status if mode == "vfork" else -info["signal"]
    core = core_of(folder, report.process["pid"])
    tap.check(what + "the process ends by the signal, with a core",
              status == died and core and (not signal or info["type"].startswith(signal)), (status, info, core))
    if not core:
        return
    ours = [int(frame["address"], 16) for frame in thread["frames"]]
    # musl has no CFI: there, gdb and eu-stack do not find the callers of its functions
    if "musl" in name and mode not in ("null", "jump0", "overflow", "smash"):
        return
    theirs = eu_threads(program, core)
    eu_stack = next(iter(theirs.values()), [])
    # up to main(), or to the thread's first function; what comes after it, they often do not have
    until = min(len(ours), max([i + 1 for i, n in enumerate(names) if crashes.own([n])] or [1]))
    gdb = gdb_addresses(program, core) if common(ours, eu_stack) < until else []
    same = max(common(ours, gdb), common(ours, eu_stack))
    tap.check(what + "gdb or eu-stack has the same addresses in the core", same >= until,
              "%d of %d\nours: %s\ngdb:  %s\neu:   %s" % (same, until, *(" ".join(map(hex, a[:12])) for a in
                                                                          (ours, gdb, eu_stack))))
    if mode == "threads":
        check_threads(what, report, theirs)


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
