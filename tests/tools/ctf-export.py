#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind export ctf on traces with known times.

babeltrace2 reads the copy. Its own events must be those of the input, and the names of
functions those of kunwind show. From the other events, the rules of trace-compass.xml
make the stacks, as Trace Compass does: they must be those of the calls in the trace.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import analyze
import ctf
import exports
import tap
from analyze import APP, BIAS, KUNWIND, THREAD, run, stack
from tap import check, same

RULES = os.path.join(analyze.HERE, "../../tools/analyze/trace-compass.xml")
MESSAGE = re.compile(r"\[(\d+)\] \S+ ([^:]+): (.*)$", re.S)
TEXT = r'"((?:[^"\\]|\\.)*)"'
FRAMES = "__callstack_user_frames_len = "


def read(trace):
    """Returns (time, name, text of the fields) of each event, by babeltrace2."""
    text = subprocess.run(["babeltrace2", "--no-delta", "--clock-cycles", trace], check=True,
                          capture_output=True).stdout.decode("utf-8", "surrogateescape")
    return [(int(time), name, rest) for time, name, rest in
            (MESSAGE.match(line).groups() for line in text.split("\n") if line)]


def without_frames(event):
    """Returns an event without the field that the copy adds to it."""
    time, name, rest = event
    at = rest.rfind(FRAMES)
    return event if at < 0 else (time, name, rest[:at].rstrip().rstrip(",") + " }")


def is_added(event):
    return event[1].startswith("kunwind_frames_")


def fields(text):
    """Returns the fields of an event of the copy's own."""
    found = {name: int(value) for name, value in re.findall(r"\b(\w+) = (-?\d+)", text)}
    found["process"] = re.search("process = " + TEXT, text).group(1)
    frames = re.search(r"[{,] frames = \[(.*)\] }$", text)
    found["frames"] = [name for name in re.findall(r"\[\d+\] = " + TEXT, frames.group(1))] if frames else []
    return found


class Rules:
    """Does what Trace Compass does with a data-driven analysis of a stack.

    Only what trace-compass.xml uses: see DataDrivenActionStateChange and
    DataDrivenValueEventField in its source. A stack is (process, tid) -> functions.
    """

    def __init__(self, file):
        tree = xml.etree.ElementTree.parse(file).getroot().find("callstack/stateProvider")
        self.handlers = {handler.get("eventName"): handler.findall("stateChange")
                         for handler in tree.findall("eventHandler")}
        self.paths = {location.get("id"): location.findall("stateAttribute")
                      for location in tree.findall("location")}
        self.stacks, self.intervals, self.wrong = {}, [], []

    def value(self, event, name):
        element = re.fullmatch(r"frames\.frames\[(\d+)\]", name)
        if not element:
            return event[name]
        at = int(element.group(1))
        if at >= len(event["frames"]):
            self.wrong.append("no field %s" % name)
            return None
        return event["frames"][at]

    def holds(self, event, condition):
        if condition.tag == "and":
            return all(self.holds(event, part) for part in condition)
        left, right = event[condition.find("field").get("name")], int(condition.find("stateValue").get("value"))
        return {"eq": left == right, "gt": left > right}[condition.get("operator", "eq")]

    def change(self, event, time, action):
        attributes = self.paths[action.find("stateAttribute").get("value")]
        path = tuple(event[a.get("value")] if a.get("type") == "eventField" else a.get("value") for a in attributes)
        functions = self.stacks.setdefault(path, [])
        value = action.find("stateValue")
        kind = value.get("stack")
        if kind == "push":
            functions.append((self.value(event, value.get("value")), time))
            return
        for _ in range(len(functions) if kind == "popAll" else 1):
            if not functions:
                self.wrong.append("%s at %d: the stack is empty" % (path, time))
                return
            name, begin = functions.pop()
            self.intervals.append((path[2], len(functions), begin, time, name))

    def take(self, time, name, event):
        before = {path: len(functions) for path, functions in self.stacks.items()}
        for action in self.handlers[name]:
            if action.find("if") is not None:
                holds = self.holds(event, action.find("if")[0])
                action = action.find("then" if holds else "else")
            if action is not None:
                self.change(event, time, action)
        changed = sum(len(functions) - before.get(path, 0) for path, functions in self.stacks.items())
        if changed != (event["nr"] if name == "kunwind_frames_push" else -event["nr"]):
            self.wrong.append("at %d: %s of %d changed %d" % (time, name, event["nr"], changed))
        left = len(self.stacks["Processes", event["process"], event["tid"], "CallStack"])
        if event.get("left", left) != left:
            self.wrong.append("at %d: %d left, not %d" % (time, left, event["left"]))


def calls(events):
    """Returns the rules after all events, and the stacks that are left, by thread."""
    rules = Rules(RULES)
    for time, name, text in events:
        if name in rules.handlers:
            rules.take(time, name, fields(text))
    left = {path[2]: [name for name, _ in functions] for path, functions in rules.stacks.items() if functions}
    return rules, left


def call(tid, begin, end, *functions):
    """Returns the intervals of a call."""
    return [(tid, depth, begin, end, name) for depth, name in enumerate(functions)]


def export(trace, out, *options, status=0):
    return run("export", "ctf", "-o", out, *options, trace, status=status)


def test_events(what, trace, out):
    """All events of the input are in the copy, in order, and the names are those of show."""
    before, after = read(trace), read(out)
    same("%s: the events are those of the input" % what,
         [without_frames(event) for event in after if not is_added(event)], before)
    names = [re.findall(r"\[\d+\] = " + TEXT, text[text.rfind(FRAMES):]) if FRAMES in text else []
             for _, name, text in after if not is_added((0, name)) and not name.startswith("kunwind_")]
    shown = [json.loads(line) for line in run("show", "--own", "--json", trace).stdout.splitlines()]
    shown = [[frame["function"] for frame in event["stack"] if frame["function"]] for event in shown
             if not event["name"].startswith("kunwind_")]
    told = [(got, wanted) for got, wanted in zip(names, shown) if got]
    same("%s: names of functions, of kunwind show" % what, [got for got, _ in told], [wanted for _, wanted in told])
    check("%s: there are names" % what, len(names) == len(shown) and len(told) > 5, (len(names), len(shown), len(told)))


def test_calls(trace, wakeups, inlined, work):
    out = os.path.join(work, "copy")
    done = export(trace, out)
    same("lost events are reported", done.stderr.splitlines(),
         ["kunwind export: the tracer lost 3 events: counts and times are too low"])
    test_events("calls", trace, out)
    with open(os.path.join(out, "metadata")) as file:
        same("Trace Compass finds the processor of a packet", re.findall(r"\S*cpu_id\S*", file.read()), ["cpu_id;"])
    rules, left = calls(read(out))
    reader, deep = ("_start", "main", "reader"), ("_start", "main", "recursive", "recursive", "recursive")
    same("calls: each has the functions of its stack, from entry to exit", sorted(rules.intervals), sorted(
        call(100, 2000, 8000, *reader, "read (system call)") + [(100, 4, 2500, 7500, "off CPU")] +
        call(101, 3000, 9000, *deep, "futex (system call)") + [(101, 6, 3100, 8900, "off CPU")] +
        call(100, 9100, 9500, "_start", "main", "opener", "openat (system call)") +
        call(100, 10000, 10300, *reader, "off CPU (preempted)") +
        call(300, 10500, 10600, *reader, "read (system call)")))
    same("calls: the call that does not return is open", left, {100: [*reader, "exit_group (system call)"]})
    same("calls: each event changes as many functions as it says", rules.wrong, [])

    out = os.path.join(work, "copy-wakeups")
    export(wakeups, out)
    test_events("lost ends", wakeups, out)
    rules, left = calls(read(out))
    deep = ("_start", "main", "recursive")
    same("lost ends: a call lasts to the thread's next event", sorted(rules.intervals), sorted(
        call(101, 1000, 1700, *deep, "futex (system call)") + [(101, 4, 1100, 1500, "off CPU")] +
        call(100, 1200, 1800, *reader, "socket (system call)") +
        call(101, 2000, 2200, *deep, "read (system call)") + [(101, 4, 2100, 2200, "off CPU")] +
        call(101, 2200, 2300, *deep, "write (system call)") +
        call(101, 2400, 2500, *deep, "exit (system call)")))
    same("lost ends: each event changes as many functions as it says", (rules.wrong, left),
         ([], {100: [*reader, "pause (system call)"]}))

    out = os.path.join(work, "copy-inlined")
    export(inlined[0], out)
    rules, _ = calls(read(out))
    same("an inlined function is in the function that it is part of", sorted(rules.intervals),
         call(100, 1000, 1500, "_start", "main", "outer", "inner", "getppid (system call)"))


def test_samples(program, symbols, build_id, work):
    """Samples of a CPU: one in a system call, one outside of it."""
    trace = ctf.Trace()
    trace.add(1, "kunwind_map", APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    reader = stack(symbols, "reader", "main", "_start")

    def sample(time):
        trace.add(time, "kunwind_sample", APP, (), ctf.SAMPLE,
                  (100, 100, 100, "app", 50, 0, 0, 0, time, 0, 0, reader, (0, 1, 1), ()))

    trace.add(1000, "syscall_entry_read", APP, reader)
    sample(1500)
    trace.add(2000, "sched_switch", APP, reader, ctf.SWITCH, [100, 1, 0])
    trace.add(3000, "sched_switch", (0, 0, "swapper/0"), (), ctf.SWITCH, [0, 0, 100])
    trace.add(4000, "syscall_exit_read", APP, (), ctf.RETURN, [1])
    sample(4500)
    trace.write(os.path.join(work, "sampled"))
    out = os.path.join(work, "copy-sampled")
    export(os.path.join(work, "sampled"), out)
    rules, left = calls(read(out))
    same("a sample of a CPU does not end the system call that it is in", (sorted(rules.intervals), rules.wrong, left), (sorted(
        call(100, 1000, 4000, "_start", "main", "reader", "read (system call)") + [(100, 4, 2000, 3000, "off CPU")]), [], {}))


def test_selection(trace, work):
    out = os.path.join(work, "selected")
    export(trace, out, "-p", "300")
    same("-p: the copy has all events", [without_frames(event) for event in read(out) if not is_added(event)], read(trace))
    rules, left = calls(read(out))
    same("-p: only its calls", ({interval[0] for interval in rules.intervals}, left), ({300}, {}))


def test_large(symbols, build_id, program, work):
    """Deep stacks, many events: packets, and memory that does not grow."""
    def make(name, nr):
        trace = ctf.Trace()
        trace.add(900, "kunwind_map", APP, (), ctf.MAP,
                  [APP[0], APP[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
        deep = stack(symbols, *["recursive"] * 45, "main", "_start")
        for at in range(1000, 1000 + 20 * nr, 20):
            trace.add(at, "syscall_entry_read", APP, deep)
            trace.add(at + 5, "syscall_entry_write", THREAD, deep)
            trace.add(at + 10, "syscall_exit_read", APP, (), ctf.RETURN, [1])
            trace.add(at + 15, "syscall_exit_write", THREAD, (), ctf.RETURN, [1])
        directory = os.path.join(work, name)
        trace.write(directory, packets=nr // 125)
        return directory

    def peak(trace, out):
        code = "import resource, subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode or " \
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))"
        return int(tap.run(sys.executable, "-c", code, KUNWIND, "export", "ctf", "-o", out, trace))

    small, large = peak(make("small", 500), os.path.join(work, "o-small")), 0
    large = peak(make("large", 4000), os.path.join(work, "o-large"))
    check("memory does not grow with the number of events", large < small * 1.3, "%d, %d KiB" % (small, large))
    events = read(os.path.join(work, "o-large"))
    rules, left = calls(events)
    same("deep stacks are complete", (rules.wrong, left, len(rules.intervals), {interval[4] for interval in rules.intervals}),
         ([], {}, 8000 * 48, {"_start", "main", "recursive", "read (system call)", "write (system call)"}))
    same("the time of each call is right", {interval[3] - interval[2] for interval in rules.intervals}, {10})
    pushes = [fields(text) for _, name, text in events if name == "kunwind_frames_push"]
    with open(os.path.join(work, "o-large", "kunwind_frames"), "rb") as file:
        stream = file.read()
    same("packets of the added events have at most 8,192 of them", stream.count(stream[:20]),   # magic number and UUID
         -(-sum(is_added(event) for event in events) // 8192))
    check("an event has at most 16 functions", {event["nr"] for event in pushes} == {16} and
          all(len(event["frames"]) == event["nr"] for event in pushes), set(event["nr"] for event in pushes))
    return os.path.join(work, "large")


def details(trace):
    """What babeltrace2 says about the environment, log levels and losses of a trace."""
    text = subprocess.run(["babeltrace2", trace, "-c", "sink.text.details"], check=True, capture_output=True, text=True,
                          errors="surrogateescape").stdout
    return sorted({line.strip() for line in text.splitlines() if re.match(
        r"\s*(hostname|domain|tracer_name|tracer_major|shift):|\s*(Log level|EMF URI):|.*Discarded events?", line)})


def test_metadata(trace, work):
    """A trace with an integer in its environment, a log level, and lost events."""
    rich = shutil.copytree(trace, os.path.join(work, "rich"))
    with open(os.path.join(rich, "metadata"), "r+") as file:
        text = file.read()
        text = text.replace("env { ", "env { tracer_major = 2; shift = -7; ").replace("stream_id = 0; fields", "stream_id = 0; loglevel = 6; fields", 2)
        file.seek(0)
        file.write(text)
    out = os.path.join(work, "copy-rich")
    export(rich, out)
    before, after = details(rich), details(out)
    same("the copy has the environment, the log levels and the lost events of the trace", after, before)
    check("the trace has them", any("tracer_major: 2" in line for line in before) and any("Log level" in line for line in before) and
          any("iscarded" in line for line in before), before)


def written(directory):
    """Returns how many bytes the stream files have."""
    try:
        return sum(file.stat().st_size for file in os.scandir(directory))
    except FileNotFoundError:
        return 0


def test_output(trace, large, work):
    """The directory: new, empty, or refused; whole or nothing."""
    out = os.path.join(work, "out")
    os.mkdir(out, 0o750)
    os.symlink(out, os.path.join(work, "link"))
    inode = os.stat(out).st_ino
    export(trace, os.path.join(work, "link"))
    same("an empty directory stays the same one", (os.stat(out).st_ino, os.stat(out).st_mode & 0o777), (inode, 0o750))
    same("the trace is in the directory itself", sorted(os.listdir(out)), ["channel_0", "kunwind_frames", "metadata"])
    two = os.path.join(work, "two")
    os.mkdir(two)
    shutil.copytree(trace, os.path.join(two, "a"))
    shutil.copytree(large, os.path.join(two, "b"))
    both = os.path.join(work, "both")
    export(two, both)
    same("two traces are two traces", sum("metadata" in files for _, _, files in os.walk(both)), 2)
    same("two traces: no event is missing", len([e for e in read(both) if not is_added(e)]),
         len(read(trace)) + len(read(large)))

    again = os.path.join(work, "again")
    done = export(out, again, status=1)
    check("a copy is not copied", "kunwind export ctf has written this trace" in done.stderr, done.stderr)
    check("what fails leaves nothing behind", not os.path.exists(again))
    empty = os.path.join(work, "empty")
    os.mkdir(empty)
    export(out, empty, status=1)
    same("an empty directory stays empty", os.listdir(empty), [])

    test_copies(trace, work)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = subprocess.run([KUNWIND, "export", "ctf", "-o", again, large], capture_output=True, text=True, preexec_fn=limit)
    check("a file that becomes too large is an error", done.returncode == 1 and "cannot be copied to its end" in done.stderr,
          (done.returncode, done.stderr))
    check("then nothing is left behind", not os.path.exists(again))

    test_signals(again, large)


def test_copies(trace, work):
    """A copy counts only if there are no other traces."""
    samples = ctf.Trace()  # events whose copy has no stream of calls
    for at in (1000, 2000):
        samples.add(at, "tick", APP, [0x1234])
    samples.write(os.path.join(work, "ticks"))
    for name, path in (("calls", trace), ("no calls", os.path.join(work, "ticks"))):
        place = os.path.join(work, "place of " + name)
        copy = os.path.join(place, "a")  # found before the original
        shutil.copytree(path, os.path.join(place, "b"))
        options = ("--all", "--json")
        wanted = json.loads(run("report", *options, place).stdout)
        export(place, copy, "--all")
        for paths in ((place,), (copy, os.path.join(place, "b"))):
            done = run("report", *options, *paths)
            same("%s: the copy in %d paths is left out: same report" % (name, len(paths)), json.loads(done.stdout), wanted)
            same("%s: the copy in %d paths is left out: one message" % (name, len(paths)),
                 done.stderr.count("kunwind report: %s: left out" % copy), 1)
        done = run("report", *options, copy)
        same("%s: a copy alone is read" % name, (json.loads(done.stdout)["trace"]["events"], "left out" in done.stderr),
             (wanted["trace"]["events"], False))
        export(place, os.path.join(place, "c"), "--all")
        same("%s: a second copy has no event twice" % name,
             len([e for e in read(os.path.join(place, "c")) if not is_added(e)]), len(read(path)))


def killed(number, out, trace, meanwhile=lambda: None):
    """Ends an export with a signal while it writes; returns its status."""
    for _ in range(10):  # it may finish before the signal
        shutil.rmtree(out, ignore_errors=True)
        process = subprocess.Popen([KUNWIND, "export", "ctf", "-o", out, trace], stderr=subprocess.DEVNULL)
        while process.poll() is None and not written(os.path.join(out, ".kunwind-export")):
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        meanwhile()
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        if process.wait():
            break
    return process.returncode


def test_signals(out, trace):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGABRT):
        status = killed(number, out, trace)
        same("%s while streams are written: the signal is the status, and nothing is left behind" % number.name,
             (status, os.path.exists(out)), (-number, False))
    messages = []

    def export_too():
        if os.path.exists(os.path.join(out, ".kunwind-export")):
            messages.append(export(trace, out, status=1).stderr)

    same("SIGKILL leaves a directory", (killed(signal.SIGKILL, out, trace, export_too), os.listdir(out)),
         (-signal.SIGKILL, [".kunwind-export"]))
    check("two exports to one directory: the second one is refused",
          messages and "another kunwind export writes there" in messages[-1], messages)
    export(trace, out)
    same("an export to the directory that SIGKILL left: a whole trace",
         sorted(os.listdir(out)), ["channel_0", "kunwind_frames", "metadata"])


def main():
    tap.suite = "ctf"
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        wakeups = exports.make_wakeups(work, program, symbols, build_id)
        test_calls(trace, wakeups, exports.make_inlined(work), work)
        test_samples(program, symbols, build_id, work)
        test_selection(trace, work)
        test_metadata(trace, work)
        large = test_large(symbols, build_id, program, work)
        test_output(trace, large, work)
    tap.finish()


if __name__ == "__main__":
    main()
