#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""inputs.py DIRECTORY - what kunwind stackwalk takes: pipes, truncated cores, chunks, other machines' files

A core's stacks must be the same through a pipe, as a text with a piece of the stack, with its files
below --sysroot only, and with a core that gcore wrote. Files that are not the right ones are not used.
Prints TAP.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

import crashes
import programs
import schema
from crashes import tap

CHAIN = ["k_crash", "k_three", "k_two", "k_one", "main"]


def kunwind(*arguments, **more):
    return subprocess.run([crashes.KUNWIND, "stackwalk", *arguments], capture_output=True, **more)


def report_of(*arguments, **more):
    done = kunwind("--json", *arguments, **more)
    if done.returncode:
        return None
    report = json.loads(done.stdout)
    invalid = schema.why_invalid(report)
    if invalid:
        tap.check("the report of %s follows kunwind-json(5)" % " ".join(arguments), False, invalid)
    return report


def stack_of(report):
    """Functions and addresses of the thread that crashed, and its reason."""
    thread = crashes.crashed(report)
    return [(frame["function"], frame["address"]) for frame in thread["frames"]], thread["reason"]


def memory_of(core):
    """{address: (offset, size)} of an ELF-64 core."""
    with open(core, "rb") as f:
        data = f.read()
    phoff, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    loads = {}
    for i in range(count):
        kind, _, offset, vaddr, _, size = struct.unpack_from("<IIQQQQ", data, phoff + 56 * i)
        if kind == 1 and size:
            loads[vaddr] = (offset, size)
    return data, loads


def chunk_of(core, report, length):
    """The thread that crashed as a text, with @length bytes of its stack."""
    data, loads = memory_of(core)
    thread = crashes.crashed(report)
    registers = thread["frames"][0]["registers"]
    sp = int(registers["rsp"], 16)
    lines = ["kunwind-stack 1", "# a comment"]
    for module in report["modules"]:
        done = subprocess.run(["readelf", "-lW", module["path"]], capture_output=True, text=True).stdout
        for offset, vaddr, size in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) R E", done):
            start = int(module["base_addr"], 16) + int(vaddr, 16)
            lines.append("map %x-%x r-xp %x 00:00 0 %s" % (start, start + int(size, 16), int(offset, 16), module["path"]))
            lines.append("build-id " + module["code_id"])
    lines.append("thread %d a name" % thread["thread_id"])
    lines += ["%s %s" % pair for pair in registers.items()]
    for vaddr, (offset, size) in loads.items():
        if vaddr <= sp < vaddr + size:
            at = offset + sp - vaddr
            lines.append("stack %x %s" % (sp, data[at:at + min(length, vaddr + size - sp)].hex()))
    return "\n".join(lines) + "\n"


def check_chunks(core, report):
    addresses, _ = stack_of(report)
    whole = report_of("-", input=chunk_of(core, report, 1 << 20).encode())
    tap.check("a text with the whole stack has the stack of the core", whole and stack_of(whole) == stack_of(report),
              whole and stack_of(whole))
    if whole:
        tap.same("the name of a thread in the text", crashes.crashed(whole)["thread_name"], "a name")
    few = report_of("-", input=chunk_of(core, report, 64).encode())
    thread = few and crashes.crashed(few)
    tap.check("a text with 64 bytes of the stack has its first frames, and says what is missing",
              few and thread["reason"] == "unreadable" and stack_of(few)[0] == addresses[:len(thread["frames"])] and
              int(thread["missing_address"], 16) >= int(thread["frames"][0]["registers"]["rsp"], 16) + 64, thread)


def check_pipe(core, report):
    with open(core, "rb") as f:
        piped = report_of("-", stdin=f)
    tap.check("a core as standard input", piped and stack_of(piped) == stack_of(report))
    with subprocess.Popen(["cat", core], stdout=subprocess.PIPE) as cat:
        piped = report_of("-", stdin=cat.stdout)
    tap.check("a core through a pipe", piped and stack_of(piped) == stack_of(report))


def check_truncated(core, report, where):
    with open(core, "rb") as f:
        data = f.read()
    cut = os.path.join(where, "cut")
    with open(cut, "wb") as f:
        f.write(data[:len(data) - 8192])
    short = report_of(cut)
    tap.check("a truncated core says so, and has its threads",
              short and short["truncated"] and short["missing_bytes"] > 0 and short["threads"][0]["frames"], short)
    with open(cut, "wb") as f:
        f.write(data[:100])
    done = kunwind("--json", cut)
    tap.check("a core without its notes is an error of one line",
              done.returncode == 1 and not done.stdout and done.stderr.count(b"\n") == 1, done)
    tap.check("a core that is whole is not called truncated", report["truncated"] is False)


def check_sysroot(core, report, where, program):
    root = os.path.join(where, "root")
    for module in report["modules"]:
        if module["path"].startswith("/"):
            to = root + module["path"]
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(module["path"], to)
    moved = program + ".moved"
    os.rename(program, moved)
    try:
        there = report_of("--sysroot", root, core)
        # debug information of libraries is not there
        tap.check("--sysroot: the files of another machine",
                  there and [a for _, a in stack_of(there)[0]] == [a for _, a in stack_of(report)[0]] and
                  crashes.own([f or "" for f, _ in stack_of(there)[0]]) == CHAIN, there and stack_of(there))
        without = report_of(core)
        thread = without and crashes.crashed(without)
        tap.check("without the program's file, its stack ends early, and the report says why",
                  thread and thread["reason"] != "complete" and
                  any(m["why"] == "no such file" for m in without["modules"] if m["path"] == program), thread)
        # another program at the same path
        shutil.copy("/bin/true", program)
        other = report_of(core)
        tap.check("a file with another build-id is not used", other and crashes.crashed(other)["reason"] != "complete" and
                  any(m["why"] == "build-id differs" for m in other["modules"] if m["path"] == program),
                  other and other["modules"])
    finally:
        os.rename(moved, program)
    empty = report_of("--no-local", core)
    tap.check("--no-local uses no file of this host", empty and
              all(m["why"] for m in empty["modules"] if m["used"] and m["path"] != "[vdso]"), empty and empty["modules"])


def check_gcore(program, where):
    """A process that waits, by gcore."""
    with subprocess.Popen([program, "wait"], stdout=subprocess.DEVNULL) as process:
        subprocess.run(["sleep", "0.5"], check=True)
        subprocess.run(["gcore", "-o", os.path.join(where, "gcore"), str(process.pid)], capture_output=True)
        process.kill()
    core = os.path.join(where, "gcore.%d" % process.pid)
    report = os.path.exists(core) and report_of(core)
    tap.check("a core of gcore: the stack is right", report and report["threads"][0]["reason"] == "complete" and
              crashes.own([f["function"] or "" for f in report["threads"][0]["frames"]]) == CHAIN,
              report and report["threads"][0])
    if report:
        tap.same("a core of gcore has no signal", report["crash_info"]["signal"], None)


def check_text(core):
    done = kunwind(core, text=True)
    tap.check("the text names the signal, the thread and its functions", not done.returncode and
              re.search(r"^Signal: SIGSEGV / SEGV_MAPERR, address 0x0$", done.stdout, re.M) and
              re.search(r"^Thread \d+, crashed:$", done.stdout, re.M) and
              re.search(r"^  #0   0x[0-9a-f]{16} k_crash\+0x", done.stdout, re.M), done.stdout + done.stderr)
    few = report_of("--frames", "2", core)
    tap.check("--frames 2: two frames, and the reason is the limit",
              few and few["threads"][0]["frame_count"] == 2 and few["threads"][0]["reason"] == "buffer_full", few)


def made_report(where, *threads):
    """A report of threads: (tid, addresses of frames, reason)."""
    lines = [{"pid": 7, "command": "made", "crash_info": {"signal": 0}}]
    for tid, addresses, reason in threads:
        lines.append({"thread_id": tid, "thread_name": "t"})
        lines += [{"frame": i, "offset": hex(address), "address": hex(address), "trust": "cfi"}
                  for i, address in enumerate(addresses)]
        lines.append({"reason": reason, "why": None})
    path = os.path.join(where, "made")
    with open(path, "w") as f:
        for line in [*lines, {"status": "OK"}]:
            f.write(json.dumps(line) + "\n")
    return path


def check_groups(where):
    """Which threads the text joins, and which frames it leaves out."""
    three = [0x1000, 0x2000, 0x3000]
    made = made_report(where, (1, three, "complete"), (2, three, "no_rule"), (3, three, "complete"), (4, three[:2], "complete"),
                       (5, [*three[:2], 0x3001], "complete"), (6, three, "no_rule"))
    heads = [line for line in kunwind(made, text=True).stdout.splitlines() if line.startswith("Thread ")]
    tap.same("text: threads with the same frames and the same reason are one", heads,
             ["Thread 1 (t); Thread 3 (t):", "Thread 2 (t); Thread 6 (t):", "Thread 4 (t):", "Thread 5 (t):"])
    for nr, left in ((250, 0), (251, 1), (300, 50)):
        made = made_report(where, (1, range(0x1000, 0x1000 + nr), "complete"))
        text = kunwind(made, text=True).stdout
        numbers = [int(number) for number in re.findall(r"^  #(\d+)", text, re.M)]
        tap.check("text: %d frames, of which %d are left out" % (nr, left),
                  numbers == [*range(200), *range(200 + left, nr)] and ("%d frames are left out" % left in text) == bool(left) and
                  [int(a, 16) for a in re.findall(r"^  #\d+ +0x(\w+)", text, re.M)] == [0x1000 + n for n in numbers], text)
        everything = kunwind("--all", made, text=True).stdout
        tap.same("--all: %d frames" % nr, len(re.findall(r"^  #", everything, re.M)), nr)


def main():
    where = os.path.abspath(sys.argv[1])
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    program = crashes.build(where, "c-O2")
    core = programs.make_core(program, "null", where)
    report = core and report_of(core)
    tap.check("there is a core", report and crashes.own([f for f, _ in stack_of(report)[0] if f]) == CHAIN)
    if report:
        check_text(core)
        check_chunks(core, report)
        check_pipe(core, report)
        check_truncated(core, report, where)
        check_gcore(program, where)
        check_sysroot(core, report, where, program)
    check_groups(where)
    for name, what in (("/dev/null", "an empty file"), ("/bin/true", "a program"), (where, "a directory"),
                       (os.path.join(where, "none"), "a file that is not there")):
        done = kunwind(name)
        tap.check("%s is an error of one line" % what,
                  done.returncode == 1 and not done.stdout and done.stderr.count(b"\n") == 1, done)
    tap.finish()


if __name__ == "__main__":
    main()
