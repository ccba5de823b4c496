#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests samples of CPUs (kunwind_sample) in made-up traces.

The readers are kunwind report, export, flamegraph and show.
"""

import gzip
import json
import os
import re
import subprocess
import tempfile

import ctf
import flamegraph
import pprof
import tap
from tap import check, same

HERE = os.path.dirname(os.path.abspath(__file__))
KUNWIND = os.path.join(HERE, "../../tools/build/kunwind")
APP, OTHER, KERNEL = (100, 100, "app"), (100, 101, "worker"), (7, 7, "kworker/0:1")
MS = 1000000
CPU_CLOCK, CYCLES = 0, 1                        # enum kunwind_clock
COMPLETE, NO_OBJECT, KTHREAD = 0, 3, 13         # enum kunwind_reason
A, B, MAIN, START = 0xa00, 0xb00, 0x1000, 0x2000

tap.suite = "cpu"


class Samples(ctf.Trace):
    """A trace whose channel has no contexts, as that of kunwind's own events."""

    def __init__(self, contexts=()):
        super().__init__(contexts=contexts)
        self.number = 0

    def sample(self, time, thread, period, stack, number=None, reason=COMPLETE, clock=CPU_CLOCK, kernel=(), trust=None):
        """number: of a stack that an earlier sample has defined."""
        if stack and number is None:
            self.number += 1
        self.add(time, "kunwind_sample", thread, (), ctf.SAMPLE,
                 (thread[0], thread[1], thread[1], thread[2], period, clock, -1, reason,
                  number or (self.number if stack else 0), 0, 0, [] if number else stack,
                  trust or ([] if number else [0] + [1] * (len(stack) - 1) if stack else []), list(kernel)))
        return self.number


def run(*arguments, status=0):
    done = subprocess.run([KUNWIND, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        check("kunwind %s: status %d" % (" ".join(arguments), status), False, "%d\n%s" % (done.returncode, done.stderr))
    return done


def only_samples(work):
    """20 ms of app in a, 10 in b, 10 in main itself; 5 of another thread; 2 of a kernel thread."""
    trace = Samples()
    a = trace.sample(10 * MS, APP, 10 * MS, [A, MAIN, START])
    trace.sample(20 * MS, APP, 10 * MS, [B, MAIN, START])
    trace.sample(25 * MS, OTHER, 5 * MS, [A, START], reason=NO_OBJECT)
    trace.sample(30 * MS, APP, 10 * MS, [], number=a)
    trace.sample(32 * MS, KERNEL, 2 * MS, [], reason=KTHREAD, kernel=[0xffffffff81000000])
    trace.sample(40 * MS, APP, 10 * MS, [MAIN, START])
    directory = os.path.join(work, "samples")
    trace.write(directory)
    return directory


def folded(trace, *options):
    done = run("export", "folded", *options, trace)
    stacks = {}
    for line in done.stdout.splitlines():
        stacks[line.rsplit(" ", 1)[0]] = int(line.rsplit(" ", 1)[1])
    return stacks, done.stderr


def test_weights(trace):
    report = json.loads(run("report", "--json", trace).stdout)
    same("report --json: a trace of samples only is sorted by cpu", report["sorted_by"], "cpu")
    same("report --json: number of samples", report["trace"]["samples"], 6)
    same("report --json: no events and no times of system calls",
         (report["events"], report["system_calls"], report["off_cpu"]), ([], [], []))
    same("report --json: the time of user and kernel code, once for each sample",
         sum(row["self"] for row in report["functions"]), 47 * MS)
    stacks, said = folded(trace)
    check("folded: the weight is CPU time", "CPU time" in said, said)
    same("folded: the time of each stack; an id stands for its stack", sum(stacks.values()), 47 * MS)
    same("folded: the times of the processes",
         {name: sum(value for stack, value in stacks.items() if stack.startswith(name + ";"))
          for name in ("app", "worker", "kworker/0:1")},
         {"app": 40 * MS, "worker": 5 * MS, "kworker/0:1": 2 * MS})
    same("folded: a kernel thread is not marked as without a user stack",
         [stack for stack in stacks if stack.startswith("kworker") and ";[no " in stack], [])
    same("folded: a stack that ends early is marked",
         [stack.split(";")[1] for stack in stacks if stack.startswith("worker;")], ["[stack ends here]"])
    text = run("report", trace).stdout
    check("report: total and share of CPU time", re.search(r"CPU time \(samples\): 6 samples, 0\.047 s", text), text)
    check("report --sort events: succeeds", run("report", "--sort", "events", trace).stdout)
    one = json.loads(run("report", "--json", "--pid", "7", trace).stdout)
    same("report --pid: only samples of the process", one["trace"]["samples"], 1)


def test_exports(trace, work):
    speedscope = json.loads(run("export", "speedscope", trace).stdout)
    app = [profile for profile in speedscope["profiles"] if profile["name"] == "app 100"][0]
    same("speedscope: the time axis of a thread that always ran", (app["unit"], app["weights"]),
         ("nanoseconds", [10 * MS] * 4))
    gap = Samples()
    for time in (10, 40, 42):                   # it did not run until 30; then two processors sampled it
        gap.sample(time * MS, APP, 10 * MS, [A, MAIN, START])
    gap.write(os.path.join(work, "gap"))
    (app,) = json.loads(run("export", "speedscope", os.path.join(work, "gap")).stdout)["profiles"]
    same("speedscope: between samples is a time without a stack; samples that overlap are whole",
         [(weight, bool(stack)) for weight, stack in zip(app["weights"], app["samples"])],
         [(10 * MS, True), (10 * MS, False), (10 * MS, True), (10 * MS, True)])
    firefox = json.loads(run("export", "firefox", trace).stdout)
    same("firefox: a sample stands for the time before it",
         [[round(time, 6) for time in thread["samples"]["time"]] for thread in firefox["threads"] if thread["tid"] == 100],
         [[-10, 0, 10, 20]])
    same("firefox: samples with their weights, and no markers",
         sorted((thread["samples"]["length"], round(sum(thread["samples"]["weight"]), 6), thread["markers"]["length"])
                for thread in firefox["threads"]), [(1, 2, 0), (1, 5, 0), (4, 40, 0)])
    same("firefox: all columns of the markers have the same length",
         {len(thread["markers"][column]) for thread in firefox["threads"]
          for column in ("data", "name", "startTime", "endTime", "phase", "category")}, {0})
    path = os.path.join(work, "profile.pb.gz")
    run("export", "pprof", "-o", path, trace)
    with gzip.open(path) as file:
        profile = file.read()
    same("folded: the function is innermost in a sample, if there is one",
         [stack for stack in folded(trace)[0] if stack.endswith(";on CPU") and ";[unknown]" in stack], [])
    leaves = pprof.Profile(path).leaves()
    check("pprof: the function is innermost in a sample", leaves and "CPU on CPU" not in leaves, leaves)
    check("pprof: has the value type cpu", b"cpu" in profile and b"nanoseconds" in profile)
    perfetto = subprocess.run([KUNWIND, "export", "perfetto", trace], capture_output=True, check=True).stdout
    check("perfetto: each sample is an instant", perfetto.count(b"on CPU") >= 1)
    page = os.path.join(work, "flame.html")
    run("flamegraph", "-o", page, trace)
    with open(page, encoding="utf-8") as file:
        html = file.read()
    check("flamegraph: shows CPU time first", '"weight":"cpu"' in html and '"name":"cpu"' in html)


def test_show(trace):
    text = run("show", "--no-symbols", "--tsv", trace).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    events = [row for row in rows if row[0] == "event"]
    same("show: samples are printed, with name and numbers",
         [(row[3], row[4], row[5], row[6]) for row in events][::5],
         [("kunwind_sample", "app", "100", "100"), ("kunwind_sample", "app", "100", "100")])
    same("show: frames of a sample that has only an id",
         [int(row[3], 16) for row in rows if row[0] == "frame" and row[1] == "4"], [A, MAIN, START])
    value = json.loads(run("show", "--no-symbols", "--json", "--limit", "1", trace).stdout.splitlines()[0])
    same("show --json: fields", (value["fields"]["period"], value["command"]), (10 * MS, "app"))


def test_mixed(work):
    """Samples beside system calls: each has its own weight."""
    trace = Samples(contexts=("callstack_user", "pid", "tid", "procname"))
    trace.add(MS, "syscall_entry_read", APP, [A, MAIN, START])
    trace.sample(2 * MS, APP, MS, [A, MAIN, START])
    trace.add(3 * MS, "syscall_exit_read", APP, [A, MAIN, START], ctf.RETURN, [1])
    directory = os.path.join(work, "mixed")
    trace.write(directory)
    report = json.loads(run("report", "--json", directory).stdout)
    same("system calls and samples: the default weight is blocked", report["sorted_by"], "blocked")
    same("system calls and samples: one event, one sample, one thread",
         (report["system_calls"][0]["count"], report["trace"]["samples"], report["trace"]["threads"]), (1, 1, 1))
    cpu = folded(directory, "--weight", "cpu")[0]
    same("system calls and samples: -w cpu has the samples only", list(cpu.values()), [MS])


def test_guess(work):
    """The time of a function whose frames are guesses."""
    trace = Samples()
    trace.sample(MS, APP, 3 * MS, [A, MAIN, START], trust=[0, 6, 1])
    directory = os.path.join(work, "guess")
    trace.write(directory)
    rows = json.loads(run("report", "--json", directory).stdout)["functions"]
    same("a function's guessed frames: the weight of their samples", [row["guessed"] for row in rows], [3 * MS])


def units_of(trace):
    """The value types of the trace's pprof profile, with their units."""
    path = trace + ".pb.gz"
    run("export", "pprof", "-o", path, trace)
    return pprof.Profile(path).units


def amounts_of(trace, work, *options):
    """The different amounts of the frames in a flame graph."""
    path = os.path.join(work, "page.html")
    run("flamegraph", "-o", path, *options, trace)
    return sorted(set(flamegraph.titles(flamegraph.dom(path, work)[0]).values()))


def test_cycles(work):
    trace = Samples()
    trace.sample(MS, APP, 3000000, [A, MAIN, START], clock=CYCLES)
    directory = os.path.join(work, "cycles")
    trace.write(directory)
    said = run("report", directory).stderr
    check("cycles: a message says that the weights are no time", "1 ns means 1 cycle" in said, said)
    units = {"events": "count", "blocked": "nanoseconds", "off-cpu": "nanoseconds", "lock": "nanoseconds", "cpu": "cycles"}
    same("cycles: the unit in a pprof profile", units_of(directory), units)
    trace = Samples()
    trace.sample(MS, APP, 3000000, [A, MAIN, START])
    plain = os.path.join(work, "no-cycles")
    trace.write(plain)
    same("pprof: the units of samples by the clock cpu-clock", units_of(plain), {**units, "cpu": "nanoseconds"})
    if not flamegraph.browser():
        return
    same("flame graph: amounts of samples by the clock cycles", amounts_of(directory, work), ["3,000,000 cycles, 100.00 %"])
    same("flame graph: amounts of samples by the clock cpu-clock", amounts_of(plain, work), ["3.000 ms, 100.00 %"])
    same("flame graph: each trace has the unit of its clock", amounts_of(plain, work, "--base", directory),
         ["3.000 ms, 100.00 %; base: 3,000,000 cycles, 100.00 %; change: +0.00 points"])


def main():
    with tempfile.TemporaryDirectory() as work:
        trace = only_samples(work)
        test_weights(trace)
        test_exports(trace, work)
        test_show(trace)
        test_mixed(work)
        test_guess(work)
        test_cycles(work)
    tap.finish()


if __name__ == "__main__":
    main()
