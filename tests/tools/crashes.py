#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind crashes with made-up traces: which signals are listed, and how."""

import json
import os
import shutil
import subprocess
import tempfile

import jsonschema

import ctf
import tap
from json_output import SCHEMA
from tap import check, same

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind")
FATAL = [("tgid", "s32"), ("tid", "s32"), ("signal", "s32"), ("code", "s32"), ("address", "u64"),
         ("sender", "s32"), ("group", "s32")]
DELIVER = [("sig", "s32"), ("errno", "s32"), ("code", "s32"), ("sa_handler", "u64"), ("sa_flags", "u64")]


def crashes(*arguments, status=0):
    done = subprocess.run([KUNWIND, "crashes", *arguments], capture_output=True, text=True)
    check("crashes %s: status %d" % (" ".join(a for a in arguments if a[0] == "-"), status),
          done.returncode == status, done.stderr)
    return done.stdout, done.stderr


def listed(*arguments):
    result = []
    for line in crashes("--json", *arguments)[0].splitlines():
        result.append(json.loads(line))
        jsonschema.validate(result[-1], SCHEMA["crashes"])
    return result


def own(work):
    trace = ctf.Trace()
    # (time, thread, signal, code, address, sender, group)
    for time, thread, *values in (
            (1000, (10, 11, "segv"), 11, 1, 0, 0, 0),
            (2000, (20, 20, "abort"), 6, -6, 0, 20, 0),
            (3000, (30, 30, "killed"), 9, 0, 0, 0, 1),
            (3500, (30, 31, "killed"), 9, 0, 0, 0, 1), (3550, (33, 33, "ended"), 15, 0, 0, 20, 1), (3600, (35, 35, "kunwind-symboli"), 9, 0, 0, 0, 1),
            (3700, (37, 37, "general"), 11, 128, 0, 0, 0),
            (4000, (40, 40, "fpe\x1b[31m"), 8, 1, 0x401000, 0, 0)):
        trace.add(time - 1, "signal_deliver", thread, (), DELIVER, [values[0], 0, values[1], 0, 0])
        trace.add(time, "kunwind_fatal_signal", thread, [0x401000, 0x402000], FATAL, [*thread[:2], *values])
    path = os.path.join(work, "own")
    trace.write(path)
    got = listed(path)
    same("each kunwind_fatal_signal is listed once",
         [(c["command"], c["pid"], c["tid"], c["signal_name"], c["code_name"], c["address"], c["sender"], c["to_process"])
          for c in got],
         [("segv", 10, 11, "SIGSEGV", "SEGV_MAPERR", "0x0", None, False),
          ("abort", 20, 20, "SIGABRT", "SI_TKILL", None, 20, False),
          ("killed", 30, 30, "SIGKILL", None, None, None, True),
          ("ended", 33, 33, "SIGTERM", "SI_USER", None, 20, True),
          ("general", 37, 37, "SIGSEGV", "SI_KERNEL", None, None, False),
          ("fpe\x1b[31m", 40, 40, "SIGFPE", "FPE_INTDIV", "0x401000", None, False)])
    same("each crash has its stack", [[f["address"] for f in c["stack"]] for c in got], [["0x401000", "0x402000"]] * 6)
    text = crashes(path)[0]
    check("text: process, signal, code and address are in one line",
          " segv 10/11 SIGSEGV SEGV_MAPERR(1) at 0x0\n" in text and
          " abort 20/20 SIGABRT SI_TKILL(-6) from process 20\n" in text and
          " killed 30/30 SIGKILL, sent to the process\n" in text and
          " ended 33/33 SIGTERM SI_USER(0) from process 20, sent to the process\n" in text, text)
    check("text: no control character of a name is printed", "\x1b" not in text, ascii(text))
    same("--limit: as many crashes", [c["pid"] for c in listed("-n", "2", path)], [10, 20])
    same("--pid: only crashes of this process", [c["pid"] for c in listed("--pid", "30", path)], [30])
    out, err = crashes("--pid", "77", path, status=1)
    check("--pid: a message says that there is none", not out and "no deadly signal of this process" in err, err)


def stock(work):
    trace = ctf.Trace()
    for time, sig, handler in ((1000, 11, 0), (2000, 11, 0x401000), (3000, 17, 0), (4000, 9, 0), (5000, 15, 1),
                               (6000, 15, 0), (7000, 19, 0), (8000, 28, 0)):
        trace.add(time, "signal_deliver", (time, time, "app"), [0x401000], DELIVER, [sig, 0, 1, handler, 0])
    path = os.path.join(work, "stock")
    trace.write(path)
    same("LTTng's signal_deliver: only deadly signals without a handler",
         [(c["pid"], c["signal_name"]) for c in listed(path)], [(1000, "SIGSEGV"), (6000, "SIGTERM")])


def deaths(work):
    """Which events of several threads and processes are one death."""
    second = 10**9

    def pids(name, *events, hosts=("one",)):
        """events: (time, host, pid, tid, signal, group)."""
        for host in hosts:
            trace = ctf.Trace(host=host)
            for time, where, pid, tid, signal, group in events:
                if where == host:
                    trace.add(time, "kunwind_fatal_signal", (pid, tid, "app"), [0x401000], FATAL,
                              [pid, tid, signal, 0, 0, 0, group], cpu=pid % 2)
            trace.write(os.path.join(work, name, host))
        return [(c["pid"], c["tid"]) for c in listed(os.path.join(work, name))]

    same("threads of two processes that end at once: each process once",
         pids("mixed", *((1000 + 2 * i + p, "one", 100 + p, 100 + p + 10 * i, 15, 1) for i in range(3) for p in (0, 1))),
         [(100, 100), (101, 101)])
    same("another process crashes before the first one's other threads end: each process once",
         pids("between", (1000, "one", 100, 105, 11, 0), (1010, "one", 200, 205, 11, 0),
              (1020, "one", 100, 100, 9, 1), (1030, "one", 200, 200, 9, 1)), [(100, 105), (200, 205)])
    same("two processes crash in the same nanosecond: both",
         sorted(pids("nanosecond", (1000, "one", 1, 1, 11, 0), (1000, "one", 2, 2, 11, 0))), [(1, 1), (2, 2)])
    same("a PID that is used again: both processes",
         pids("again", (1000, "one", 100, 100, 15, 1), (60 * second, "one", 100, 100, 15, 1)), [(100, 100)] * 2)
    same("the same PID on two hosts: both processes",
         pids("hosts", (1000, "one", 100, 100, 15, 1), (2000, "two", 100, 100, 15, 1), hosts=("one", "two")),
         [(100, 100)] * 2)
    same("a process that takes twelve seconds to die, and one whose threads end five seconds after each other: once",
         pids("slow", *((i * 4 * second + 1, "one", 100, 100 + i, 15, 1) for i in range(4)), (20 * second, "one", 200, 200, 15, 1),
              (25 * second, "one", 200, 201, 15, 1)), [(100, 100), (200, 200)])
    same("a process that dies more than five seconds after one of its number: both",
         pids("next", (1000, "one", 100, 100, 15, 1), (5 * second + 1001, "one", 100, 100, 15, 1)), [(100, 100)] * 2)
    same("the process after those that are kept: once",
         len(pids("ring", *((i * 1000, "one", min(i, 700), i, 15, 1) for i in range(1, 801)))), 700)
    same("more processes than are kept: each once",
         len(pids("many", *((i * second // 100, "one", i, i, 15, 1) for i in range(1, 1201)))), 1200)


def output(work):
    with open("/dev/full", "w") as full:
        done = subprocess.run([KUNWIND, "crashes", os.path.join(work, "own")], stdout=full, stderr=subprocess.PIPE, text=True)
    check("a full disk is an error with a message",
          (done.returncode, done.stderr) == (1, "kunwind crashes: cannot write to standard output: No space left on device; free some space, or send it to another file system\n"), done.stderr)


def none(work):
    trace = ctf.Trace()
    trace.add(1000, "tick", (1, 1, "app"))
    trace.classes[("kunwind_fatal_signal", 0)] = (1, tuple(FATAL))
    path = os.path.join(work, "recorded")
    trace.write(path)
    same("the trace could have had such events: the message says only that there is none", crashes(path, status=1),
         ("", "kunwind crashes: no deadly signal\n"))
    trace = ctf.Trace()
    trace.add(1000, "tick", (1, 1, "app"))
    path = os.path.join(work, "none")
    trace.write(path)
    out, err = crashes(path, status=1)
    check("trace without such events: a message says so", not out and "no events kunwind_fatal_signal" in err, err)


def live(work):
    """kunwind crashes without TRACE; a script takes the place of the recorder."""
    programs = os.path.join(work, "bin")
    os.mkdir(programs)
    for name in ("kunwind", "kunwind-show"):
        shutil.copy(os.path.join(os.path.dirname(KUNWIND), name), programs)
    os.symlink(os.path.realpath(KUNWIND + "-symbolize-helper"), os.path.join(programs, "kunwind-symbolize-helper"))
    # names of processes that could be taken for parts of the path
    names = ["/snapshot-9", '", "why": ', "app"]
    script = ["#!/bin/sh", 'while [ "$1" != -o ]; do shift; done', "exec >&2", """echo '{"flight": "", "why": ""}'"""]
    for i, name in enumerate(names):
        trace = ctf.Trace()
        for k in range(i + 1):      # the buffers still hold the crashes before
            trace.add(1000 * (k + 1), "kunwind_fatal_signal", (k + 1, k + 1, names[k]), [0x401000], FATAL, [k + 1, k + 1, 11, 0, 0, 0, 0])
        trace.write(os.path.join(work, "snapshot%d" % i))
        script += ['cp -r "%s/snapshot%d" "$2/snapshot-%d"' % (work, i, i),
                   'cat <<END', '{"snapshot": "$2/snapshot-%d", "why": %s, "suppressed": 0}' %
                   (i, json.dumps("signal 11 (SEGV) in %s" % name)), "END"]
    with open(os.path.join(programs, "kunwind-record"), "w") as file:
        file.write("\n".join(script) + "\n")
    os.chmod(file.name, 0o755)
    tmp = os.path.join(work, "snapshot-5")
    os.mkdir(tmp)
    done = subprocess.run([os.path.join(programs, "kunwind"), "crashes", "--json"], capture_output=True, text=True,
                          env=dict(os.environ, TMPDIR=tmp))
    same("live: each crash is listed, whatever the name of its process",
         (done.returncode, [json.loads(line)["command"] for line in done.stdout.splitlines()]), (0, names))
    same("live: no snapshot is left", os.listdir(tmp), [])


def main():
    work = tempfile.mkdtemp()
    try:
        own(work)
        live(work)
        deaths(work)
        output(work)
        stock(work)
        none(work)
    finally:
        shutil.rmtree(work)
    tap.finish()


if __name__ == "__main__":
    main()
