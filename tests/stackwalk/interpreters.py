#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""interpreters.py DIRECTORY - kunwind stack and stackwalk: the functions of Python programs

What is right is what interpreted.py records of its threads by sys._current_frames(), and, for the native frames,
eu-stack. Files whose numbers contradict each other must be refused. Prints TAP.
"""

import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import crashes
import running
import schema
from crashes import tap

CALLING = "a call is just being made"
PROGRAM = os.path.join(crashes.HERE, "interpreted.py")


def start(python, where):
    """Starts the program. Returns it, and its record."""
    record = os.path.join(where, "record")
    if os.path.exists(record):
        os.unlink(record)
    child = subprocess.Popen([python, PROGRAM, record])
    for _ in range(600):
        if os.path.exists(record):
            break
        time.sleep(0.1)
    time.sleep(0.3)
    with open(record, encoding="utf-8") as file:
        return child, {int(thread): frames for thread, frames in json.load(file).items()}


def interpreted(thread):
    return [[f["function"], f["file"], f["line"]] for f in thread["frames"] if f["trust"] == "interpreter"]


def compare(name, report, record):
    """The threads that wait must be as recorded; the one that computes, in its outer functions."""
    if report is None:
        tap.check(name, False, "no report")
        return
    invalid = schema.why_invalid(report)
    tap.check("%s: the report follows kunwind-json(5)" % name, not invalid, invalid)
    found = {thread["thread_id"]: interpreted(thread) for thread in report["threads"]}
    wrong = ["%s: %s, not %s" % (tid, found.get(tid), frames) for tid, frames in record.items()
             if tid and found.get(tid) != frames]
    tap.check("%s: %d threads that wait have the functions, files and lines of their record" % (name, len(record) - 1),
              not wrong, "\n".join(wrong)[:3000])
    others = [frames for tid, frames in found.items() if tid not in record]
    spins = [[f[0] for f in frames if f[0] != "spin.<locals>.<genexpr>"] for frames in others]
    tap.check("%s: the thread that computes has the function that computes" % name,
              spins == [[f[0] for f in record[0] if f[0] != "spin.<locals>.<genexpr>"]], str(others))
    tap.check("%s: no function is missing" % name, not any(thread["interpreter"] for thread in report["threads"]),
              str([thread["interpreter"] for thread in report["threads"]]))


def native(report, child):
    theirs = running.eu_stack(child)
    wrong = []
    for thread in report["threads"] if report else []:
        if thread["thread_id"] not in theirs or thread["taken"] is None:
            continue
        ours = [int(f["address"], 16) for f in thread["frames"] if f["trust"] != "interpreter"]
        if ours != theirs[thread["thread_id"]] and "spin" not in [f["function"] for f in thread["frames"]]:
            wrong.append("%d: %s, not %s" % (thread["thread_id"], ours, theirs[thread["thread_id"]]))
    tap.check("running: the native frames are those of eu-stack", report and not wrong, "\n".join(wrong))


def stackwalk(path, *options):
    done = subprocess.run([crashes.KUNWIND, "stackwalk", "--json", *options, path], capture_output=True, text=True)
    if done.returncode:
        tap.check("kunwind stackwalk", False, done.stderr)
        return None
    return json.loads(done.stdout)


def text_of(child, record):
    done = running.kunwind(str(child.pid))
    line = re.search(r"^  #\d+ +Worker\.wait \(interpreted\) at (\S+):(\d+)$", done.stdout, re.M)
    where = next(f for frames in record.values() for f in frames if f[0] == "Worker.wait")
    tap.check("text: a function has its name, file and line", line and [line[1], int(line[2])] == where[1:], done.stdout)
    few = running.kunwind("--json", "-n", "6", str(child.pid))
    counts = [len(thread["frames"]) for thread in json.loads(few.stdout)["threads"]] if not few.returncode else []
    tap.check("--frames counts functions of the interpreter, too", counts and max(counts) == 6, str(counts))


def symbol(path, name):
    done = subprocess.run(["readelf", "-sW", "--dyn-syms", path], capture_output=True, text=True, check=True)
    line = next(line.split() for line in done.stdout.splitlines() if re.search(r" %s(@\S+)?$" % name, line))
    return int(line[1], 16)


def offset_of(path, addr):
    done = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and 0 <= addr - int(words[2], 16) < int(words[4], 16):
            return int(words[1], 16) + addr - int(words[2], 16)
    return None


def file_of(child):
    """The file that has the interpreter."""
    with open("/proc/%d/maps" % child.pid, encoding="utf-8", errors="replace") as file:
        library = re.search(r" (/\S*/libpython3\S*)", file.read())
    return library[1] if library else os.path.realpath("/proc/%d/exe" % child.pid)


def refuse(child, where):
    """The same process with a file that has its build-id, and other numbers."""
    good = file_of(child)
    cases = {
        "another version": ("Py_Version", 0, struct.pack("<Q", 0x030f00f0), "its version is not supported"),
        "an alpha version": ("Py_Version", 0, struct.pack("<Q", 0x030b00a1), "its version is not supported"),
        "another size of code objects": ("PyCode_Type", 32, struct.pack("<Q", 160),
                                         "its code objects have another size than those of its version"),
        "another code that returns the thread's state": ("PyGILState_GetThisThreadState", 0, b"\x31\xc0\xc3" + b"\xcc" * 15,
                                                         "where it keeps the state of a thread is not known"),
        "an eval loop without its first stores": ("_PyEval_EvalFrameDefault", 0, b"\x90" * 256,
                                                  "where its eval loop links a frame is not known"),
    }
    for name, (at, more, new, why) in cases.items():
        bad = os.path.join(where, "bad")
        shutil.copy(good, bad)
        place = offset_of(good, symbol(good, at) + more)
        with open(bad, "r+b") as file:
            file.seek(place)
            file.write(new)
        done = running.kunwind("--no-lines", "--object", bad, str(child.pid))
        tap.check("%s: refused, with the reason" % name, not done.returncode and "(interpreted)" not in done.stdout and
                  re.search(r"^  \S+: %s$" % re.escape(why), done.stdout, re.M), done.stdout + done.stderr)


def core(child, where):
    out = os.path.join(where, "core")
    done = subprocess.run(["gcore", "-o", out, str(child.pid)], capture_output=True, text=True)
    path = "%s.%d" % (out, child.pid)
    if not os.path.exists(path):
        tap.check("gcore", False, done.stderr)
        return None
    return path


def main():
    where = os.path.abspath(sys.argv[1])
    os.makedirs(where, exist_ok=True)
    pythons = [p for p in sorted(glob.glob("/usr/bin/python3.1[1-3]")) if os.access(p, os.X_OK)]
    for python in os.environ.get("PYTHONS", "").split() or pythons:
        child, record = start(python, where)
        try:
            report = running.report_of(child)
            compare("running", report, record)
            native(report, child)
            text_of(child, record)
            if file_of(child).find("3.11") > 0:
                refuse(child, where)
            # not in the moment of a call, in which the thread that computes has no complete list
            for _ in range(5):
                path = core(child, where)
                report = stackwalk(path)
                if not any(thread["interpreter"] == CALLING for thread in report["threads"]):
                    break
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
        if path:
            compare("core", stackwalk(path), record)
            os.unlink(path)
    tap.finish()


if __name__ == "__main__":
    main()
