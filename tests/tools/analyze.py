#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind report, export and flamegraph on traces with known times.

The program below is compiled for its symbols; its processes in the traces are
made up. flamegraph.py tests the pages, exports.py what export writes for the
programs of others.
"""

import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

import ctf
import perfetto
import tap
from tap import check, same

HERE = os.path.dirname(os.path.abspath(__file__))
KUNWIND = os.path.join(HERE, "../../tools/build/kunwind")
BIAS = 0x555555554000
PROGRAM = """
#include <unistd.h>
void reader(void) { getppid(); }
void opener(void) { getppid(); }
void recursive(int n) { if (n) { recursive(n - 1); getppid(); } }
int main(void) { reader(); opener(); recursive(3); return 0; }
"""
APP = (100, 100, "app")
THREAD = (100, 101, "app")
OTHER = (200, 200, "other")
# The contexts that lttng enable-event --callstack adds, and procname.
VIRTUAL = ("callstack_user", "vpid", "vtid", "procname")
EVIL = (300, 300, "</script><img src=x onerror=alert(1)>\x1b[31m\udcff")

def run(*arguments, status=0):
    done = subprocess.run([KUNWIND, *arguments], capture_output=True, text=True)
    if done.returncode != status:
        check("kunwind %s: status %d" % (" ".join(arguments), status), False,
              "%d\n%s" % (done.returncode, done.stderr))
    return done


def build(work):
    source, program = os.path.join(work, "app.c"), os.path.join(work, "app")
    with open(source, "w") as file:
        file.write(PROGRAM)
    subprocess.run(["gcc", "-O0", "-fomit-frame-pointer", "-Wl,--build-id", "-o", program, source],
                   check=True)
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in names.splitlines()
               if len(line.split()) == 3}
    notes = subprocess.run(["readelf", "-nW", program], capture_output=True, text=True,
                           check=True).stdout
    return program, symbols, re.search("Build ID: ([0-9a-f]+)", notes).group(1)


def stack(symbols, *functions):
    """Returns addresses in the functions, given innermost first, as in a trace."""
    return [BIAS + symbols[name] + 2 for name in functions]


def make_trace(work, program, symbols, build_id):
    trace = ctf.Trace()
    read = stack(symbols, "reader", "main", "_start")
    opened = stack(symbols, "opener", "main", "_start")
    deep = stack(symbols, "recursive", "recursive", "recursive", "main", "_start")

    def call(time, name, thread, at):
        trace.add(time, "syscall_entry_" + name, thread, at)

    def back(time, name, thread, at, value):
        trace.add(time, "syscall_exit_" + name, thread, at, ctf.RETURN, [value])

    def switch(time, thread, at, previous, state, following):
        trace.add(time, "sched_switch", thread, at, ctf.SWITCH, [previous, state, following])

    def mapped(time, process):
        trace.add(time, "kunwind_map", process, (), ctf.MAP,
                  [process[0], process[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])

    mapped(1000, APP)
    mapped(1001, EVIL)
    back(1500, "close", APP, read, 0)           # entered before the trace began
    call(2000, "read", APP, read)
    call(2100, "read", OTHER, [0x1234])         # the trace has no mapping of this process
    switch(2500, APP, read, 100, 1, 0)
    back(2600, "read", OTHER, [0x1234], 1)
    call(3000, "futex", THREAD, deep)
    switch(3100, THREAD, deep, 101, 1, 0)
    switch(7500, (0, 0, "swapper/0"), (), 0, 0, 100)
    back(8000, "read", APP, read, 5)
    switch(8900, (0, 0, "swapper/0"), (), 0, 0, 101)
    back(9000, "futex", THREAD, deep, -110)
    call(9100, "openat", APP, opened)
    back(9500, "openat", APP, opened, -2)
    switch(10000, APP, read, 100, 0, 0)         # runnable: preempted
    switch(10300, (0, 0, "swapper/0"), (), 0, 0, 100)
    trace.add(10400, "block_rq_issue", APP, opened[:2])     # an incomplete stack
    call(10500, "read", EVIL, read)
    back(10600, "read", EVIL, read, 0)
    call(11000, "exit_group", APP, read)        # does not return
    directory = os.path.join(work, "trace")
    trace.write(directory, lost=3)
    return directory


def table(rows, *keys):
    return {row["name"]: tuple(row[key] for key in keys) for row in rows}


def test_report(trace, program):
    done = run("report", "--json", trace)
    data = json.loads(done.stdout)
    same("report: events that the tracer lost are reported", done.stderr.splitlines(),
         ["kunwind report: the tracer lost 3 events: counts and times are too low"])
    same("report: system calls: count, failed, timed, time, longest, off CPU",
         table(data["system_calls"], "count", "failed", "timed", "ns", "longest_ns", "off_cpu_ns"),
         {"read": (2, 0, 2, 6100, 6000, 5000), "futex": (1, 1, 1, 6000, 6000, 5800),
          "openat": (1, 1, 1, 400, 400, 0), "exit_group": (1, 0, 0, 0, 0, 0)})
    same("report: time off the CPU, by system call or cause", table(data["off_cpu"], "count", "ns"),
         {"read": (1, 5000), "futex": (1, 5800), "preempted": (1, 300)})
    same("report: number of other events", table(data["events"], "count"), {"sched_switch": (3,), "block_rq_issue": (1,)})
    same("report: functions: events, blocked, off CPU, innermost",
         table(data["functions"], "events", "blocked_ns", "off_cpu_ns", "self"),
         {"reader": (5, 6100, 5300, 6100), "opener": (2, 400, 0, 400),
          "recursive": (2, 6000, 5800, 6000), "main": (9, 12500, 11100, 0),
          "_start": (8, 12500, 11100, 0)})
    same("report: objects have their path", {row["object"] for row in data["functions"]}, {program})
    facts = data["trace"]
    same("report: facts about the trace", [facts[key] for key in ("hostname", "end_ns", "lost", "stacks",
         "stacks_complete", "frames_named", "calls_not_returned")],
         ["testhost", 1700000000000011000, 3, 9, 8, facts["frames"], 1])
    same("report: sorted by time in system calls", data["sorted_by"], "blocked")
    same("report: order of the system calls", [row["name"] for row in data["system_calls"]],
         ["read", "futex", "openat", "exit_group"])
    by_events = json.loads(run("report", "--json", "--sort", "events", trace).stdout)
    same("report --sort events: most frequent function first", by_events["functions"][0]["name"], "main")
    everyone = json.loads(run("report", "--json", "--all", trace).stdout)
    same("report --all: processes without mappings, too", table(everyone["system_calls"], "count", "ns")["read"], (3, 6600))
    one = json.loads(run("report", "--json", "--pid", "300", trace).stdout)
    same("report --pid: only events of the process", table(one["system_calls"], "count", "ns"), {"read": (1, 100)})
    some = json.loads(run("report", "--json", "--event", "op*", trace).stdout)
    same("report --event: only matching events", table(some["system_calls"], "count"), {"openat": (1,)})
    for arguments, message in (
            (("--event", "nosuch"), 'no event matches "nosuch": the trace has syscall_exit_close, '
             "syscall_entry_read, sched_switch, syscall_exit_read, syscall_entry_futex, ..."),
            (("--event", "nosuch", "--pid", "300"), 'no event matches "nosuch": the trace has syscall_entry_read, '
             "syscall_exit_read"),
            (("--pid", "77"), "no event of process 77: the trace has processes 100, 200, 0, 300"),
            (("--pid", "77", "--json"), "no event of process 77: the trace has processes 100, 200, 0, 300"),
            (("--event", "kunwind_map"), 'no event matches "kunwind_map": the trace has syscall_exit_close, '
             "syscall_entry_read, sched_switch, syscall_exit_read, syscall_entry_futex, ...; "
             "--own selects kunwind's own events, too")):
        nothing = run("show", *arguments, trace, status=1)
        same("show %s: no event matches: status 1, and a message with what the trace has" % " ".join(arguments),
             (nothing.stdout, nothing.stderr.splitlines()[:1]), ("", ["kunwind show: " + message]))
    summary = run("show", "--summary", "--tsv", "--event", "nosuch", trace, status=1).stdout
    check("show --summary: no event matches: status 1, and counts", "events\t0\n" in summary, summary)
    check("report: no events of the process: status 1 and a message",
          "no events" in run("report", "--pid", "77", trace, status=1).stderr)

    text = run("report", trace).stdout
    check("text: time, longest, off CPU, calls, failed, name",
          re.search(r"^ *6\.100 us +6\.000 us +5\.000 us +2 +0  read$", text, re.M), text)
    check("text: a function with its object",
          re.search(r"^ *6\.000 us +5\.800 us +2 +100\.0 %% +100\.0 %% +0\.0 %%  recursive \(%s\)$" % re.escape(program), text, re.M), text)
    check("text: no colours in a pipe", "\033" not in text)
    check("text: --top says how many are left out", "... 4 more" in run("report", "--top", "1", trace).stdout)
    terminal = subprocess.run(["script", "-qec", "TERM=xterm %s report --no-pager %s" % (KUNWIND, trace), "/dev/null"],
                              capture_output=True, text=True).stdout
    check("text: colours on a terminal", "\033[1mSystem calls" in terminal, terminal)




def folded(trace, weight):
    done = run("export", "folded", "--weight", weight, trace)
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()}, done.stderr


def test_folded(trace):
    evil = "</script><img src=x onerror=alert(1)>\ufffd[31m\ufffd;_start;main;reader;read"
    blocked, said = folded(trace, "blocked")
    check("folded: the weight is named on stderr", "time between entry and exit" in said, said)
    same("folded, blocked", blocked, {
        "app;_start;main;reader;read": 6000, "app;_start;main;opener;openat": 400,
        "app;_start;main;recursive;recursive;recursive;futex": 6000, evil: 100})
    same("folded, off-CPU", folded(trace, "off-cpu")[0], {
        "app;_start;main;reader;read": 5000, "app;_start;main;reader;preempted": 300,
        "app;_start;main;recursive;recursive;recursive;futex": 5800})
    events = folded(trace, "events")[0]
    same("folded, events: an incomplete stack is marked",
         events.get("app;[stack ends here];main;opener;block_rq_issue"), 1)
    same("folded, events: number of events", sum(events.values()), 9)


def test_patterns(trace):
    names = {}
    for pattern in ("openat", "syscall_entry_openat", "*"):
        lines = run("show", "--tsv", "--no-symbols", "-e", pattern, trace).stdout.splitlines()
        names[pattern] = {line.split("\t")[3] for line in lines if line.startswith("event")}
    same("show -e: the name of a system call selects its entry and its exit", names["openat"],
         {"syscall_entry_openat", "syscall_exit_openat"})
    same("show -e: the whole name selects that event", names["syscall_entry_openat"], {"syscall_entry_openat"})
    check("show -e: other events are there", len(names["*"]) > 2, names["*"])
    reports = [run("report", "--json", "-e", p, trace).stdout for p in ("openat", "syscall_entry_openat")]
    same("report -e: both names select the same calls", *[json.loads(r)["system_calls"] for r in reports])


def test_failures(trace, work):
    done = run("export", "folded", "-o", "/nonexistent/x", trace, status=1)
    check("export: no directory for the output: an error with its path", "/nonexistent/x" in done.stderr, done.stderr)
    full = subprocess.run("%s export folded %s >/dev/full" % (KUNWIND, trace), shell=True,
                          capture_output=True, text=True)
    check("export: a full disk is an error", full.returncode == 1 and "cannot write" in full.stderr, full.stderr)
    page = os.path.join(work, "kept.html")
    with open(page, "w") as file:
        file.write("kept")
    run("flamegraph", "-o", page, "--pid", "77", trace, status=1)
    with open(page) as file:
        same("flamegraph: a failure keeps the old page", file.read(), "kept")
    same("flamegraph: a failure leaves no temporary file", [n for n in os.listdir(work) if ".part" in n], [])
    cut = os.path.join(work, "cut")
    ticks = ctf.Trace()
    for time in (1, 2):
        ticks.add(time, "tick", (1, 1, "app"))
    ticks.events[1] = ticks.events[1][:4]
    ticks.write(cut)
    for command in ("report", "show"):
        done = run(command, cut, status=1)
        check("%s: a stream that ends inside an event is an error" % command,
              "cannot be read to its end" in done.stderr, done.stderr)


def test_namespaces(work, program, symbols, build_id):
    """Traces with vpid and vtid only, as of lttng enable-event --callstack."""
    trace = ctf.Trace(contexts=VIRTUAL)
    inner = (1, 1, "app")
    trace.add(900, "kunwind_map", inner, (), ctf.MAP,
              [4100, 1, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    at = stack(symbols, "reader", "main", "_start")
    trace.add(1000, "syscall_entry_read", inner, at)
    trace.add(1100, "sched_switch", inner, at, ctf.SWITCH, [4100, 1, 0])
    trace.add(1600, "sched_switch", (0, 0, "swapper/0"), (), ctf.SWITCH, [0, 0, 4100])
    trace.add(1700, "syscall_exit_read", inner, at, ctf.RETURN, [1])
    directory = os.path.join(work, "namespaces")
    trace.write(directory)
    data = json.loads(run("report", "--json", directory).stdout)
    same("thread ids of a pid namespace are matched with those in sched_switch",
         table(data["system_calls"], "count", "ns", "off_cpu_ns"), {"read": (1, 700, 500)})

    # A process in another pid namespace has a thread with the same id: its events
    # do not end the call.
    other = (3, 1, "other")
    trace = ctf.Trace(contexts=VIRTUAL)
    trace.add(1000, "syscall_entry_read", inner, at)
    trace.add(1100, "syscall_entry_futex", other, at)
    trace.add(1200, "syscall_exit_futex", other, at, ctf.RETURN, [0])
    trace.add(1700, "syscall_exit_read", inner, at, ctf.RETURN, [1])
    directory = os.path.join(work, "namespaces-two")
    trace.write(directory)
    data = json.loads(run("report", "--json", "--all", directory).stdout)
    same("one thread id in two processes means two threads",
         table(data["system_calls"], "count", "timed", "ns"), {"read": (1, 1, 700), "futex": (1, 1, 100)})


CONTEXTS = ("callstack_user", "pid", "tid", "procname")
COMMANDS = (("report",), ("report", "--json"), ("export", "folded"), ("export", "speedscope"),
            ("export", "firefox"), ("export", "perfetto"), ("export", "pprof"), ("flamegraph", "-o", "-"),
            ("show",), ("show", "--tsv"), ("show", "--json"))


def runs(what, directory, *options, analyzed=True, shown=True):
    """Runs every command on the trace.

    analyzed: the trace has events for report, export and flamegraph; if not,
    these must end with status 1 and a message. shown: the same for show.
    """
    for command in COMMANDS:
        done = subprocess.run([KUNWIND, *command, *options, directory], capture_output=True)
        wanted = 0 if (shown if command[0] == "show" else analyzed) else 1
        check("%s: kunwind %s: status %d" % (what, " ".join(command), wanted),
              done.returncode == wanted and (wanted == 0 or done.stderr), (done.returncode, done.stderr))
        if done.returncode == 0 and done.stdout and set(command) & {"--json", "firefox", "speedscope"}:
            check("%s: kunwind %s writes JSON" % (what, " ".join(command)),
                  [json.loads(line) for line in (done.stdout.splitlines() if command[0] == "show"
                                                 else [done.stdout])])


def test_contexts(work, symbols):
    """Traces with three, one or none of the contexts; traces with one kind of events."""
    at = stack(symbols, "reader", "main", "_start")
    events = {
        "system calls": [("syscall_entry_read",), ("syscall_exit_read", ctf.RETURN, [1])],
        "entries": [("syscall_entry_read",)],
        "exits": [("syscall_exit_read", ctf.RETURN, [1])],
        "switches": [("sched_switch", ctf.SWITCH, [100, 1, 0]), ("sched_switch", ctf.SWITCH, [0, 1, 100])],
        "switches without fields": [("sched_switch",)],
        "others": [("block_rq_issue",)],
        "kunwind's own": [("kunwind_exit", [("tgid", "s32")], [100])],
    }

    def written(name, contexts, kinds):
        trace = ctf.Trace(contexts=contexts)
        for time, (event, *fields) in enumerate(sum((events[kind] for kind in kinds), [])):
            trace.add(1000 + time, event, APP, at, *fields)
        directory = os.path.join(work, name)
        trace.write(directory)
        return directory

    for names in (*itertools.combinations(CONTEXTS, 3), ("tid",), ()):
        directory = written("contexts-" + "-".join(names), names, ["system calls", "switches", "others"])
        runs("contexts %s" % (" ".join(names) or "none"), directory)
    for kind in events:
        runs("only " + kind, written(kind, CONTEXTS, [kind]), analyzed=kind not in ("exits", "kunwind's own"),
             shown=kind != "kunwind's own")

    # Two traces: events without a thread do not belong to the first thread.
    both = os.path.join(work, "both")
    os.makedirs(both)
    for name in ("contexts-", "contexts-pid-tid-procname"):
        os.rename(os.path.join(work, name), os.path.join(both, name))
    if shutil.which("protoc"):
        path = os.path.join(work, "both.pftrace")
        run("export", "perfetto", "-o", path, both)
        same("perfetto: events without a thread are on a track of their own",
             sorted((str(event["thread"]), event["name"]) for event in perfetto.Reader(path).instants),
             [("(100, 100, 'app')", "block_rq_issue"), ("events of unknown threads", "block_rq_issue"),
              ("events of unknown threads", "read")])
    threads = json.loads(run("export", "firefox", both).stdout)["threads"]
    same("firefox: events without a thread are in a thread of their own", sorted((t["name"], t["pid"], t["tid"]) for t in threads),
         [("?", "-1", -1), ("app", "100", 100)])


# Helper processes that fail: a socket is descriptor 3; a hello, then requests.
LOST_HELPER = """#!/usr/bin/python3
import socket, struct
s = socket.socket(fileno=3)
s.recv(100)
s.send(struct.pack("<II", 0, 2) + bytes(88))
s.recv(100)
"""


def test_helper(trace, work, program, build_id):
    """A remark says why frames have no names if the helper process fails."""
    lost = os.path.join(work, "lost-helper")
    with open(lost, "w") as file:
        file.write(LOST_HELPER)
    os.chmod(lost, 0o755)
    facts = json.loads(run("report", "--json", trace).stdout)["trace"]
    for what, helper, wanted in (
            ("does not start", "/bin/false", "kunwind-symbolize-helper does not start (is kunwind installed completely?)"),
            ("dies of a file", lost, "%s: the parser died of this file" % program)):
        for command in (*(c for c in COMMANDS if c[0] != "show"), ("waits",), ("export", "ctf", "-o", os.path.join(work, "unnamed"))):
            done = subprocess.run([KUNWIND, *command, trace], capture_output=True, check=False,
                                  env={**os.environ, "KUNWIND_SYMBOLIZE_HELPER": helper})
            shutil.rmtree(os.path.join(work, "unnamed"), ignore_errors=True)
            remarks = [line for line in done.stderr.decode().splitlines() if "have no name" in line]
            same("helper %s: kunwind %s: status 0, and one remark" % (what, " ".join(command[:2])),
                 (done.returncode, [re.sub("^.*: ([0-9]+) of", r"\1 of", line) for line in remarks]),
                 (0, ["%d of %d user frames have no name: %s" % (facts["frames"], facts["frames"], wanted)]))
    two = ctf.Trace()
    other = os.path.join(work, "other-app")
    shutil.copy(program, other)
    for number, path in enumerate((program, other)):
        process = (100 + number, 100 + number, "app")
        two.add(1000 + 10 * number, "kunwind_map", process, (), ctf.MAP, [
            process[0], process[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, path])
        two.add(1001 + 10 * number, "syscall_entry_read", process, [BIAS + 0x1100])
    two.write(os.path.join(work, "two-objects"))
    done = subprocess.run([KUNWIND, "report", os.path.join(work, "two-objects")], capture_output=True, text=True, check=False,
                          env={**os.environ, "KUNWIND_SYMBOLIZE_HELPER": lost})
    same("helper dies of two files: the remark names one of them, and says that there are others", done.stderr.splitlines(),
         ["kunwind report: 2 of 2 user frames have no name: %s: the parser died of this file (as of other files)" % program])


def test_calls(work, symbols):
    """The lowest and highest results that are errors, two waits in one call, and idle threads."""
    trace = ctf.Trace()
    at = stack(symbols, "reader", "main", "_start")
    idle = (0, 0, "swapper/0")
    for i, result in enumerate((-4095, -4096, -1, 0)):
        trace.add(1000 + 20 * i, "syscall_entry_mmap", APP, at)
        trace.add(1010 + 20 * i, "syscall_exit_mmap", APP, at, ctf.RETURN, [result])
    trace.add(2000, "syscall_entry_read", APP, at)
    for begin, end in ((2100, 2200), (2300, 2600)):
        trace.add(begin, "sched_switch", APP, at, ctf.SWITCH, [100, 1, 0])
        trace.add(end, "sched_switch", idle, (), ctf.SWITCH, [0, 0, 100])
    trace.add(2700, "syscall_exit_read", APP, at, ctf.RETURN, [1])
    directory = os.path.join(work, "calls")
    trace.write(directory)
    data = json.loads(run("report", "--json", "--all", directory).stdout)
    same("calls: results from -4095 to -1 are errors, and the time off the CPU is that of all waits",
         table(data["system_calls"], "count", "failed", "off_cpu_ns"), {"mmap": (4, 2, 0), "read": (1, 0, 400)})
    same("calls: idle threads wait for nothing", table(data["off_cpu"], "count", "ns"), {"read": (2, 400)})
    check("report -p: the message says that the options select no event",
          "no events that the options select" in run("report", "--all", "-p", "77777", directory, status=1).stderr)


def test_numbers(work, symbols):
    """The id of a thread in sched_switch changes during the trace.

    This happens if containers use the same ids in their pid namespaces.
    """
    trace = ctf.Trace(contexts=VIRTUAL)
    at = stack(symbols, "reader", "main", "_start")
    threads, events = 200, 3000

    def number(i):
        return 4100 + i if i > events / 2 else 4100 + 2 * (i % threads) + i // threads % 2

    for i in range(events):
        # The thread that left the CPU half a round ago gets the CPU back.
        trace.add(1000 + 10 * i, "sched_switch", (1 + i % threads, 1 + i % threads, "app"), at, ctf.SWITCH,
                  [number(i), 1, number(i - threads // 2) if i >= threads // 2 else 0])
    directory = os.path.join(work, "numbers")
    trace.write(directory)
    try:
        done = subprocess.run([KUNWIND, "report", "--json", "--all", directory], capture_output=True, timeout=20)
        same("changing ids in sched_switch: each time off the CPU is found",
             table(json.loads(done.stdout)["off_cpu"], "count", "ns"),
             {"no recorded system call": (events - threads // 2, (events - threads // 2) * 10 * threads // 2)})
    except subprocess.TimeoutExpired as error:
        check("changing ids in sched_switch: the report ends within 20 s", False, error)


def test_offsets(work, program, symbols, build_id):
    """Functions of a stripped program: their starts are in .eh_frame, and nm of the program knows them."""
    bare, without = os.path.join(work, "bare"), os.path.join(work, "without")
    subprocess.run(["strip", "-o", bare, program], check=True)
    subprocess.run(["objcopy", "--strip-all", "-R", ".eh_frame", "-R", ".eh_frame_hdr", program, without], check=True)
    fdes = subprocess.run(["readelf", "-wF", bare], capture_output=True, text=True, check=True).stdout
    wanted = [symbols[name] for name in ("main", "opener", "reader", "recursive")]
    check("oracle: readelf prints an FDE for each function",
          all(" pc=%016x.." % start in fdes for start in wanted), fdes)

    def written(path):
        trace = ctf.Trace()
        trace.add(1, "kunwind_map", APP, (), ctf.MAP,
                  [100, 100, BIAS, BIAS + 0x5000, 0, BIAS, 1, build_id, path])
        for time, functions in ((10, ("reader", "main")), (20, ("opener", "main")),
                                (30, ("recursive", "recursive", "main"))):
            trace.add(time, "syscall_entry_getppid", THREAD, stack(symbols, *functions))
            trace.add(time + 5, "syscall_exit_getppid", THREAD, (), ctf.RETURN, [1])
        trace.write(path + "-trace")
        return path + "-trace"

    def functions(trace, *options):
        report = json.loads(run("report", "--json", *options, trace).stdout)
        return sorted(one["name"] for one in report["functions"])
    trace = written(bare)
    same("stripped program: by default, its functions have one name", functions(trace), ["[bare]"])
    names = ["[bare+%#x]" % start for start in wanted]
    same("stripped program: --offsets names functions by their starts", functions(trace, "--offsets"), sorted(names))
    lines = run("export", "folded", "--offsets", "--weight", "events", trace).stdout.splitlines()
    main_, opener, reader, recursive = names
    same("stripped program: folded stacks with --offsets", sorted(line.rpartition(" ")[0] for line in lines),
         sorted("app;[stack ends here];%s;getppid" % ";".join(part) for part in (
             (main_, opener), (main_, reader), (main_, recursive, recursive))))
    page = os.path.join(work, "offsets.html")
    run("flamegraph", "--offsets", "-o", page, trace)
    with open(page) as file:
        text = file.read()
    check("stripped program: flame graph with --offsets", all(name in text for name in names))
    trace = written(without)
    same("program without unwind information: --offsets uses the addresses", functions(trace, "--offsets"),
         sorted("[without+%#x]" % (start + 2) for start in wanted))
    report = json.loads(run("report", "--json", "--offsets", trace).stdout)
    same("code without a symbol does not count as named", report["trace"]["frames_named"], 0)


def test_two_traces(work, build_id):
    """One of two traces has mappings: in the other one, all processes with stacks count."""
    with_maps, without = ctf.Trace(), ctf.Trace()
    with_maps.add(1, "kunwind_map", APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x5000, 0, BIAS, 1, build_id, "/app"])
    with_maps.add(10, "registered", APP, [BIAS + 0x10])
    with_maps.add(11, "not_registered", (7, 7, "other"), [0x1234])
    without.add(12, "kernel_only", (8, 8, "third"), [0x1234])
    without.add(13, "no_stack", (8, 8, "third"))
    paths = [os.path.join(work, name) for name in ("with-maps", "without-maps")]
    for trace, path in zip((with_maps, without), paths):
        trace.write(path)

    def events(*options):
        report = json.loads(run("report", "--json", *options, *paths).stdout)
        return report["trace"]["events"]
    same("two traces: processes without mappings count in the trace that has none at all", events(), 2)
    same("two traces, --all: all events count", events("--all"), 4)


def test_strings(work):
    """The table of strings grows while the trace's host name, the last string of all, is entered."""
    def written(name, nr):
        trace = ctf.Trace(host="the-host")
        for i in range(nr):
            trace.add(1000 + i, "event_%d" % i, APP, [0x1234])
        directory = os.path.join(work, name)
        trace.write(directory)
        return directory

    few = json.loads(run("export", "firefox", "--all", written("few-strings", 1)).stdout)
    strings = few["shared"]["stringArray"]
    same("few strings: the host name is the last one", strings[-1], "the-host")
    # 1,024 strings before the host name fill the table
    directory = written("many-strings", 1024 + 1 - (len(strings) - 1))
    done = subprocess.run([KUNWIND, "report", "--all", "--json", directory], capture_output=True)
    check("the host name is string 1,024: report's status 0", done.returncode == 0,
          (done.returncode, done.stderr))
    if done.returncode == 0:
        same("the host name is string 1,024: reported", json.loads(done.stdout)["trace"]["hostname"], "the-host")


def test_unknown(work):
    """LTTng records system calls that are not in its list as "unknown", with their number."""
    trace = ctf.Trace()
    entered, left = [("id", "s32")], [("id", "s32"), ("ret", "s64")]

    def call(time, number, prefix="", thread=APP, to=None):
        trace.add(time, prefix + "syscall_entry_unknown", thread, [0x1234], entered, [number])
        trace.add(time + 100, prefix + "syscall_exit_unknown", thread, [0x1234], left,
                  [number if to is None else to, -1])

    call(1000, 58)                              # vfork
    call(2000, 318)                             # getrandom
    call(3000, 499)                             # none has this number
    call(4000, -1)
    call(5000, 355, "compat_", THREAD)          # getrandom of i386
    call(6000, 386, "compat_", THREAD)          # rseq of i386
    call(7000, 499, "compat_", THREAD)
    call(8000, 334, to=58)                      # rseq, and the exit of another one
    trace.add(9000, "compat_syscall_entry_read", THREAD, [0x1234])
    trace.add(9300, "compat_syscall_exit_read", THREAD, [0x1234], ctf.RETURN, [0])
    directory = os.path.join(work, "unknown")
    trace.write(directory)
    data = json.loads(run("report", "--json", "--all", directory).stdout)
    same("unknown system calls: report names them, and pairs entry and exit",
         table(data["system_calls"], "count", "failed", "timed", "ns"),
         {"vfork": (1, 1, 1, 100), "getrandom": (2, 2, 2, 200), "syscall_499": (2, 2, 2, 200),
          "syscall_-1": (1, 1, 1, 100), "rseq": (2, 1, 1, 100), "read": (1, 0, 1, 300)})
    same("unknown system calls: none is reported as another event", data["events"], [])
    stacks = folded(directory, "events")[0]
    same("unknown system calls: export names them", sorted(line.rsplit(";", 1)[1] for line in stacks),
         ["getrandom", "read", "rseq", "syscall_-1", "syscall_499", "vfork"])
    shown = [json.loads(line) for line in run("show", "--json", directory).stdout.splitlines()]
    same("unknown system calls: show names them", [event["name"] for event in shown if "entry" in event["name"]],
         ["syscall_entry_vfork", "syscall_entry_getrandom", "syscall_entry_syscall_499", "syscall_entry_syscall_-1",
          "compat_syscall_entry_getrandom", "compat_syscall_entry_rseq", "compat_syscall_entry_syscall_499",
          "syscall_entry_rseq", "compat_syscall_entry_read"])
    same("unknown system calls: show names their exits", [event["name"] for event in shown if "exit_r" in event["name"]],
         ["compat_syscall_exit_rseq", "compat_syscall_exit_read"])
    some = run("show", "--event", "*vfork", directory).stdout
    same("unknown system calls: show --event finds them by name", (some.count("syscall_entry_vfork"), some.count("syscall_exit_vfork"),
         "getrandom" in some), (1, 2, False))
    page = run("flamegraph", "-o", "-", "--all", directory).stdout
    frames_of_page = json.loads(re.search('id="data">(.*?)</script>', page).group(1))["frames"]
    check("unknown system calls: flamegraph names them",
          {"vfork", "getrandom", "rseq", "syscall_499"} <= {frame[0] for frame in frames_of_page}, frames_of_page)

    trace = ctf.Trace()
    trace.add(1000, "syscall_entry_unknown", APP, [0x1234])
    directory = os.path.join(work, "unknown-without")
    trace.write(directory)
    data = json.loads(run("report", "--json", "--all", directory).stdout)
    same("unknown system call without a number: stays unknown", table(data["system_calls"], "count"), {"unknown": (1,)})


def test_two_hosts(work):
    """A running process of this host, and one of another host with the same number, name and addresses."""
    source, program = os.path.join(work, "waiter.c"), os.path.join(work, "waiter")
    with open(source, "w") as file:
        file.write("#include <unistd.h>\nvoid waiter(void) { pause(); }\nint main(void) { write(1, \"x\", 1); waiter(); return 0; }\n")
    subprocess.run(["gcc", "-O0", "-o", program, source], check=True)
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    with subprocess.Popen([program], stdout=subprocess.PIPE) as process:
        process.stdout.read(1)      # it runs
        with open("/proc/%d/maps" % process.pid) as file:
            start = next(int(line.split("-")[0], 16) for line in file if program in line)
        address = start + int(re.search(r"^(\w+) T waiter$", names, re.M).group(1), 16) + 2
        for number, hosts in enumerate(((socket.gethostname(), "elsewhere"), ("elsewhere", socket.gethostname()))):
            traces = []
            for host in hosts:
                trace = ctf.Trace(host=host, seconds=int(time.time()) + 1)
                trace.add(1000 + len(traces), "tick", (process.pid, process.pid, "waiter"), [address])
                traces.append(os.path.join(work, "host%d%d" % (number, len(traces))))
                trace.write(traces[-1])
            shown = [json.loads(line) for line in run("show", "--json", *traces).stdout.splitlines()]
            same("two hosts, %s first: only the process of this host is found in /proc" % ("this one", "the other")[number],
                 [event["stack"][0]["function"] for event in shown], [["waiter", None], [None, "waiter"]][number])
        process.kill()


def main():
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = build(work)
        trace = make_trace(work, program, symbols, build_id)
        read = subprocess.run(["babeltrace2", trace], capture_output=True)
        same("babeltrace2 reads the trace as written", read.stdout.count(b"\n"), 21)
        test_report(trace, program)
        test_folded(trace)
        test_patterns(trace)
        test_failures(trace, work)
        test_contexts(work, symbols)
        test_helper(trace, work, program, build_id)
        test_calls(work, symbols)
        test_numbers(work, symbols)
        test_offsets(work, program, symbols, build_id)
        test_two_traces(work, build_id)
        test_two_hosts(work)
        test_strings(work)
        test_unknown(work)
        test_namespaces(work, program, symbols, build_id)
    tap.finish()


if __name__ == "__main__":
    main()
