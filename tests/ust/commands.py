#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""commands.py DIRECTORY TOOLS - "kunwind run --ust" and "kunwind record --ust" give events of LTTng-UST stacks

TOOLS is a directory with the program kunwind. The oracle is the program's own record of its calls, and
backtrace(), in each event. Prints TAP.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import stacks
import traces
from traces import tap
import ctf

TOOLS = os.path.abspath(sys.argv[2])
KUNWIND = TOOLS + "/kunwind"
LIBRARY = "libkunwind-ust-preload.so"


def run(*command, **environment):
    """A command without LTTng-UST's usual variables."""
    own = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "LTTNG_UST_REGISTER_TIMEOUT")}
    return subprocess.run(command, env={**own, **environment}, capture_output=True, text=True)


def variables(done):
    lines = [line.split("=", 1) for line in done.stdout.splitlines() if "=" in line]
    return {name: value for name, value in lines if name in ("LD_PRELOAD", "LTTNG_UST_REGISTER_TIMEOUT")}


def installed(prefix):
    """An installation as "make install" makes it, of the files that matter."""
    shutil.rmtree(prefix, ignore_errors=True)
    for directory, file in (("bin", KUNWIND), ("libexec/kunwind", TOOLS + "/kunwind-record"), ("lib", stacks.PRELOAD)):
        os.makedirs(os.path.join(prefix, directory))
        shutil.copy(file, os.path.join(prefix, directory))
    return prefix + "/bin/kunwind", os.path.join(os.path.realpath(prefix), "lib", LIBRARY)


def environment():
    kunwind, library = installed(stacks.BUILD + "/installed")
    tap.same("run --ust: the library that is installed with kunwind", variables(run(kunwind, "run", "--ust", "--", "env")),
             {"LD_PRELOAD": library, "LTTNG_UST_REGISTER_TIMEOUT": "60000"})
    tap.same("run -U: what is preloaded already stays, and so does the time to wait",
             variables(run(kunwind, "run", "-U", "env", LD_PRELOAD="libm.so.6", LTTNG_UST_REGISTER_TIMEOUT="7")),
             {"LD_PRELOAD": library + ":libm.so.6", "LTTNG_UST_REGISTER_TIMEOUT": "7"})
    if not os.path.exists("/dev/kunwind"):
        done = run(kunwind, "run", "env")
        tap.check("run without --ust needs the module", done.returncode == 125 and "modprobe" in done.stderr, done)
    os.remove(library)
    done = run(kunwind, "run", "--ust", "--", "env")
    tap.same("run --ust without the library: a message with the place where it should be",
             (done.returncode, done.stdout, "lib/%s: not found: sudo make install" % LIBRARY in done.stderr), (125, "", True))
    kunwind, _ = installed(stacks.BUILD + "/with blank")
    done = run(kunwind, "run", "--ust", "--", "env")
    tap.same("run --ust: a path that LD_PRELOAD cannot have",
             (done.returncode, done.stdout, "no path with a blank" in done.stderr), (125, "", True))


def running():
    one = stacks.session("run")
    done = run(KUNWIND, "run", "--ust", "--", stacks.PROGRAM, "plain", "300", LTTNG_UST_ALLOW_BLOCKING="1")
    one.end()
    tap.check("run --ust: the command ends well", not done.returncode and done.stdout == "done\n", done)
    events, problems = traces.read(one.trace)
    stacks.check("run --ust", events, problems, range(300))


def place(name):
    return "%s/traces/%s" % (stacks.BUILD, name)


def record(name, *words, **how):
    return run(KUNWIND, "record", "-o", place(name), *words, LTTNG_UST_ALLOW_BLOCKING="1", **how)


def recorded(name):
    """The events of the program in a trace of "kunwind record"."""
    events, problems = traces.read(place(name))
    return [event for event in events if event.name.startswith("kunwind_test:")], problems


def shown(name, *words):
    return run(KUNWIND, "show", *words, place(name)).stdout


def recording():
    done = record("record", "--ust", "kunwind_test:*", "--", stacks.PROGRAM, "plain", "300")
    tap.check("record --ust: the command's output and exit status", not done.returncode and done.stdout == "done\n", done)
    tap.check("record --ust: neither the module nor root is asked for", "modprobe" not in done.stderr and
              "the trace is in" in done.stderr, done.stderr)
    stacks.check("record --ust", *recorded("record"), range(300))
    text = shown("record")
    tap.check("show: all frames of the program have names, and what it has loaded is not shown",
              text.count(" kunwind_test:call ") == 300 and text.count(" main+0x") >= 300 and
              "lttng_ust_statedump" not in text, text[:2000])
    tap.check("show --event: what the program has loaded", "bin_info" in shown("record", "-e", "lttng_ust_statedump:*"))
    text = run(KUNWIND, "report", place("record")).stdout
    tap.check("report: the events of the program are counted", re.search(r"^ +300  kunwind_test:call$", text, re.M) and
              "lttng_ust_statedump" not in text, text)
    kunwind, _ = installed(stacks.BUILD + "/installed")
    done = run(kunwind, "record", "-o", place("installed"), "-U", "kunwind_test:*", stacks.PROGRAM, "plain", "10")
    stacks.check("the installed kunwind record", *recorded("installed"), range(10))


def others():
    """Of two programs at the same time, only the command, if this user is root."""
    beside = subprocess.Popen([KUNWIND, "run", "--ust", stacks.PROGRAM, "slow", "1000"], stdout=subprocess.DEVNULL)
    other = subprocess.Popen([KUNWIND, "run", "--ust", stacks.PROGRAM, "slow", "1000"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)
        done = record("alone", "-U", "kunwind_test:*", "--", stacks.PROGRAM, "slow", "5")
        pids = {event.pid for event in recorded("alone")[0]}
        if "events of all programs are recorded" in done.stderr:
            tap.check("without root's rights: all programs of the user", {beside.pid, other.pid} < pids, pids)
        else:
            tap.check("only COMMAND is recorded", len(pids) == 1 and beside.pid not in pids and other.pid not in pids, pids)
        recorder = subprocess.Popen([KUNWIND, "record", "-q", "-o", place("pid"), "-U", "kunwind_test:*", "-p", str(beside.pid)])
        time.sleep(3)
        recorder.send_signal(signal.SIGINT)
        tap.same("record --ust -p: Ctrl-C ends it", recorder.wait(), 0)
        events, problems = recorded("pid")
        stacks.check("record --ust -p", events, problems)
        tap.same("record --ust -p: only this process", {event.pid for event in events}, {beside.pid})
        tap.check("record --ust -p: names of a program that ran before", shown("pid").count(" main+0x") == len(events))
    finally:
        beside.terminate()
        other.terminate()
        beside.wait()
        other.wait()


def errors():
    done = record("no-ust", "-U", "kunwind_test:*", "--", "true")
    tap.same("record --ust of a program without LTTng-UST: a message, and no command that would read nothing",
             (done.returncode, "COMMAND does not use LTTng-UST" in done.stderr, "kunwind report" in done.stderr), (0, True, False))
    done = record("no-event", "-U", "nonsense:*", "--", stacks.PROGRAM, "plain", "1")
    report = run(KUNWIND, "report", place("no-event"))
    tap.check("record --ust of an event that no program has: the trace can be read",
              not done.returncode and report.returncode == 1 and "no events" in report.stderr, (done, report))
    done = record("not-run", "-U", "kunwind_test:*", "--", "/nonexistent")
    tap.same("record --ust of a command that is not found: no directory", (done.returncode, os.path.exists(place("not-run"))),
             (127, False))
    done = record("no-process", "-U", "kunwind_test:*", "-p", str(1 << 22))
    tap.same("record --ust -p of no process", (done.returncode, "no such process" in done.stderr), (125, True))
    subprocess.run(["mount", "-o", "remount,size=1m", "/dev/shm"], check=True)
    done = record("no-room", "-U", "kunwind_test:*", "--", stacks.PROGRAM, "plain", "1")
    tap.check("record --ust without room for its buffers", done.returncode == 125 and
              "use a smaller --buffer" in done.stderr and not os.path.exists(place("no-room")), done)
    subprocess.run(["mount", "-o", "remount,size=50%", "/dev/shm"], check=True)
    for words, message in ((["--flight"], "--ust and --flight"), (["-k"], "--kernel is for events of the kernel"),
                           (["--context"], "--context is for events of the kernel"), (["-U", "a,,b"], "--ust: an item of the list is empty")):
        done = record("wrong", "-U", "kunwind_test:*", *words, "--", "true")
        tap.check("record --ust %s: %s" % (" ".join(words), message), done.returncode == 125 and message in done.stderr, done)
    if not os.path.exists("/dev/kunwind"):
        done = record("both", "-U", "kunwind_test:*", "-e", "syscalls", "--", "true")
        tap.check("record --ust -e needs the module", done.returncode == 125 and "modprobe" in done.stderr, done)


def together():
    """A trace of the kernel beside the one of the program, made up: it has the same stack, in events between the others."""
    record("together", "-U", "kunwind_test:*", "--", stacks.PROGRAM, "plain", "20")
    events, _ = recorded("together")
    seconds = events[0].time // 10**9
    kernel = ctf.Trace(host=os.uname().nodename, seconds=seconds)
    notes = run("readelf", "-n", stacks.PROGRAM).stdout
    at = int(events[0].fields["at"])
    bias = at - int(next(line.split()[0] for line in run("nm", stacks.PROGRAM).stdout.splitlines() if line.endswith(" t emit")), 16)
    first = [address for address in events[0].stack if bias <= address < bias + 0x100000]
    thread = (events[0].pid, events[0].pid, "ust-program")
    kernel.add(events[0].time - seconds * 10**9 - 10, "kunwind_map", thread, (), ctf.MAP,
               [thread[0], thread[0], bias, bias + 0x100000, 0, bias, 1,
                re.search("Build ID: ([0-9a-f]+)", notes).group(1), stacks.PROGRAM])
    for event in events:
        at = event.time - seconds * 10**9 + 1
        kernel.add(at, "syscall_entry_read", thread, first, [("fd", "s32")], [3])
        kernel.add(at + 1, "syscall_exit_read", thread, first, [("ret", "s64")], [0])
    kernel.write(place("together") + "/kernel")
    got = [(line.split()[1], line.split()[2]) for line in shown("together").splitlines() if line and not line.startswith(" ")]
    wanted = [(name, "ust-program") for _ in events for name in ("kunwind_test:call", "syscall_entry_read", "syscall_exit_read")]
    tap.same("show: events of both, by time", [pair for pair in got if pair[0] != "kunwind_test:tick"], wanted)
    frames = {}
    for block in re.split(r"\n(?=\d)", shown("together")):
        name = block.split()[1]
        found = re.search(r"#0 +0x([0-9a-f]+) (\S+)", block)
        if found:
            frames.setdefault(name, set()).add(found.group(2).split("+")[0])
    tap.same("show: the same function for both", (frames.get("kunwind_test:call"), frames.get("syscall_entry_read")),
             ({"emit"}, {"emit"}))
    text = run(KUNWIND, "report", "-n", "0", place("together")).stdout
    row = re.search(r"^ +\S.* (\d+) +\S+ % +\S+ % +\S+ %  emit \(", text, re.M)
    tap.check("report: one row for the function, with the events of both", row and int(row.group(1)) == 40 and
              " 20  kunwind_test:call" in text and "read" in text, text)
    page = place("together") + ".html"
    done = run(KUNWIND, "flamegraph", "-o", page, place("together"))
    tap.check("flamegraph takes both", not done.returncode and "emit" in open(page, encoding="utf-8").read(), done)


def main():
    subprocess.run(["rm", "-rf", stacks.BUILD + "/traces"], check=True)
    environment()
    daemon = traces.Daemon(stacks.BUILD + "/home")
    try:
        running()
        recording()
        others()
        errors()
        together()
    finally:
        daemon.stop()
    tap.finish()


traces.isolate()
main()
