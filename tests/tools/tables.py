#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the tables of kunwind report: threads, results, callers and callees, ends of stacks, losses.

files.py tests the table of files.
"""

import json
import os
import re
import tempfile

import analyze
import ctf
import tap
from analyze import BIAS, run, stack, table
from tap import check, same

tap.suite = "tables"
COMPLETE, NO_RULE, NOT_READY = 0, 4, 10         # enum kunwind_reason
REGISTERS, CFI, SCAN = 0, 1, 6                  # enum kunwind_trust


def report(trace, *options):
    return json.loads(run("report", "--json", *options, trace).stdout)


def columns(trace, *options):
    """The lines of the last table, as lists of words."""
    text = run("report", *options, trace).stdout
    return [line.split() for line in text.rpartition("\n\n")[2].splitlines()[2:]]


def test_threads(trace):
    rows = {(row["pid"], row["tid"], row["comm"]): [row[key] for key in ("count", "failed", "ns", "longest_ns", "off_cpu_ns")]
            for row in report(trace)["threads"]}
    same("threads: calls, failed, time in calls, longest, off CPU also outside of calls", {key: rows[key] for key in rows if key[0] == 100},
         {(100, 100, "app"): [3, 1, 6400, 6000, 5300], (100, 101, "app"): [1, 1, 6000, 6000, 5800]})
    same("threads: one line for each thread with samples", len(rows), 3)
    same("text: --by thread", columns(trace, "--by", "thread", "--top", "1")[0][-2:], ["app", "(100/100)"])


def test_results(work):
    trace = ctf.Trace()
    time = 1000
    for name, values in (("read", (0, 1, 4096, -11, -11, -4095, -4096)), ("futex", (-512, -516, -110)), ("mmap", (0x7f0000000000,)),
                         ("ioctl", (-530,))):
        for value in values:
            trace.add(time, "syscall_entry_" + name, analyze.APP, (0x1234,))
            trace.add(time + 10, "syscall_exit_" + name, analyze.APP, (), ctf.RETURN, [value])
            time += 100
    trace.add(time, "syscall_entry_exit_group", analyze.APP, (0x1234,))
    directory = os.path.join(work, "results")
    trace.write(directory)
    rows = {(row["name"], row["result"]): (row["count"], row["ns"], row["smallest"], row["largest"])
            for row in report(directory, "--all")["results"]}
    same("results: errors by name, 0, other values with their limits", rows, {
        ("read", "0"): (1, 10, 0, 0), ("read", "not 0"): (3, 30, -4096, 4096), ("read", "EAGAIN"): (2, 20, -11, -11),
        ("read", "error 4095"): (1, 10, -4095, -4095), ("futex", "ERESTARTSYS"): (1, 10, -512, -512),
        ("futex", "ERESTART_RESTARTBLOCK"): (1, 10, -516, -516), ("futex", "ETIMEDOUT"): (1, 10, -110, -110),
        ("mmap", "not 0"): (1, 10, 0x7f0000000000, 0x7f0000000000), ("ioctl", "error 530"): (1, 10, -530, -530),
        ("exit_group", "no result recorded"): (1, 0, 0, 0)})


def test_order(work):
    """The call that takes most of the time is made least often."""
    trace = ctf.Trace()
    time = 1000
    for number, (name, count, ns) in enumerate((("read", 3, 10), ("close", 2, 100), ("dup", 1, 200), ("poll", 1, 1000))):
        thread = (100, 100 + number, name)
        for _ in range(count):
            trace.add(time, "syscall_entry_" + name, thread, (0x1234,))
            trace.add(time + ns, "syscall_exit_" + name, thread, (), ctf.RETURN, [0])
            trace.add(time + ns + 1, "block_" + name, thread, (0x1234,))
            time += ns + 100
    directory = os.path.join(work, "order")
    trace.write(directory)
    data = report(directory, "--all")
    same("order: calls by time, of equal ones the more frequent first", [row["name"] for row in data["system_calls"]],
         ["poll", "close", "dup", "read"])
    same("order: threads by time", [row["comm"] for row in data["threads"]], ["poll", "close", "dup", "read"])
    same("order: results by number", [row["name"] for row in data["results"]][:2], ["read", "close"])
    same("order: events by number", [row["name"] for row in data["events"]][:2], ["block_read", "block_close"])


def test_long_times(work):
    """Times that need more digits than usual, as those of a night."""
    trace = ctf.Trace()
    time = 1000
    for name, ns in (("read", 12345678900000), ("poll", 1234567890000), ("futex", 999999999600), ("pause", 1234567890000000),
                     ("open", 99999960000), ("close", 999999600), ("stat", 1234567), ("dup", 999)):
        trace.add(time, "syscall_entry_" + name, analyze.APP, (0x1234,))
        trace.add(time + ns, "syscall_exit_" + name, analyze.APP, (), ctf.RETURN, [0])
        time += ns + 1000
    directory = os.path.join(work, "long")
    trace.write(directory)
    lines = run("report", "--all", "--by", "call", directory).stdout.rpartition("\n\n")[2].splitlines()[2:]
    same("text: long times take as many columns as short ones", len({len(line) - len(line.split()[-1]) for line in lines}), 1)
    same("text: long times have fewer decimals", {line.split()[-1]: " ".join(line.split()[:2]) for line in lines},
         {"read": "12345.7 s", "poll": "1234.57 s", "futex": "1000.00 s", "pause": "1234568 s", "open": "100.000 s", "close": "1000.00 ms",
          "stat": "1.235 ms", "dup": "999 ns"})


def test_neighbours(trace):
    def neighbours(option, pattern, *more):
        data = report(trace, option, pattern, *more)
        return {row["name"] if "/" in row["object"] else row["name"] + ", " + row["object"]: (row["events"], row["blocked_ns"], row["off_cpu_ns"]) for row in data[option.lstrip("-")]}
    same("callers: functions that call it, with the weights of these stacks", neighbours("--callers", "reader"), {"main": (5, 6100, 5300)})
    same("callers: a recursive function counts once for each caller", neighbours("--callers", "recursive"),
         {"main": (2, 6000, 5800), "recursive": (2, 6000, 5800)})
    same("callees: functions that it calls", neighbours("--callees", "main"),
         {"reader": (5, 6100, 5300), "opener": (2, 400, 0), "recursive": (2, 6000, 5800)})
    same("callees: of the innermost function: system calls, events and causes", neighbours("--callees", "op*r"),
         {"openat, system call": (1, 400, 0), "block_rq_issue, event": (1, 0, 0)})
    same("callees: of a recursive function", neighbours("--callees", "recursive"),
         {"recursive": (2, 6000, 5800), "futex, system call": (1, 6000, 0), "futex, off CPU": (0, 0, 5800),
          "sched_switch, event": (1, 0, 0)})
    check("callers: no function matches: a message, status 1",
          'no function on the stacks matches "nosuch"' in run("report", "--callers", "nosuch", trace, status=1).stderr)
    same("callers: a name in brackets, as the report prints it", neighbours("--callers", "[unknown]", "--all", "--pid", "200"),
         {"[stack ends here], ": (1, 500, 0)})
    same("callees: a name in brackets, as the report prints it", neighbours("--callees", "[unknown]", "--all", "--pid", "200"),
         {"read, system call": (1, 500, 0)})
    both = report(trace, "--callers", "main", "--callees", "main")
    check("callers and callees at once", both["callers"] and both["callees"])


def test_several_neighbours(work, program, symbols, build_id):
    """A stack with two calls from main, and two calls of reader, for patterns that match several functions."""
    trace = ctf.Trace()
    trace.add(1, "kunwind_map", analyze.APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    trace.add(1000, "tick", analyze.APP, stack(symbols, "reader", "main", "reader", "opener", "main", "_start"))
    directory = os.path.join(work, "neighbours")
    trace.write(directory)
    for option, pattern, wanted in (("--callers", "*er", {"main": 1, "opener": 1}),
                                    ("--callees", "*", {"reader": 1, "opener": 1, "main": 1, "tick": 1}),
                                    ("--callees", "[mo]*", {"reader": 1, "opener": 1})):
        same("%s of several functions: each stack counts once" % option.strip("-"), {row["name"]: row["events"]
             for row in report(directory, option, pattern)[option.strip("-")]}, wanted)


def test_ends(work, program, symbols, build_id):
    """Stacks that end in three ways, and a guessed frame."""
    trace = ctf.Trace()
    trace.add(1, "kunwind_map", analyze.APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    number = 0
    for names, reason, trust, times in ((("reader", "main", "_start"), COMPLETE, (REGISTERS, CFI, CFI), 3),
                                        (("reader", "main"), NO_RULE, (REGISTERS, CFI), 2),
                                        (("opener",), NOT_READY, (REGISTERS,), 1),
                                        (("opener", "main", "_start"), COMPLETE, (REGISTERS, SCAN, CFI), 4)):
        for _ in range(times):
            number += 1
            at = stack(symbols, *names)
            trace.add(10 * number, "whole_stack", analyze.APP, (), ctf.WHOLE, (100, 100, 100, 0, reason, number, 0, 0, at, trust))
    directory = os.path.join(work, "ends")
    trace.write(directory)
    data = report(directory)
    same("reasons: number of stacks for each", table(data["reasons"], "stacks"),
         {"complete": (7,), "no_rule": (2,), "not_ready": (1,)})
    same("frames by trust", data["trace"]["frames_by_trust"], {"registers": 10, "cfi": 3 * 2 + 2 + 4, "scan": 4})
    same("functions: weight in complete stacks, weight of guessed frames, commonest other end",
         {row["name"]: (row["events"], row["complete"], row["guessed"], row["end"]) for row in data["functions"]},
         {"reader": (5, 3, 0, "no_rule"), "main": (9, 7, 4, "no_rule"), "_start": (7, 7, 0, None), "opener": (5, 4, 0, "not_ready")})
    same("functions: a guessed frame and a proved one are one function", [row["name"] for row in data["functions"]].count("main"), 1)
    text = run("report", directory).stdout
    check("text: shares of self, complete and guessed, and the end",
          any(line.split()[3:] == ["0.0", "%", "77.8", "%", "44.4", "%", "main", "(%s)" % program, "no_rule"] for line in text.splitlines()), text)
    check("text: share of guessed frames", "15.4 % guessed" in text, text)
    same("text: --by reason", columns(directory, "--by", "reason"), [["7", "complete"], ["2", "no_rule"], ["1", "not_ready"]])
    page = run("flamegraph", "-o", "-", directory).stdout
    check("flame graph: a stack that ends early says why", '["[stack ends here]","no_rule",2]' in page)
    frames = json.loads(re.search('<script type="application/json" id="data">(.*)</script>', page)[1])["frames"]
    same("flame graph: a guessed frame and a proved one are one function", [frame[0] for frame in frames].count("main"), 1)
    trace.add(1000, "whole_stack", analyze.APP, (), ctf.WHOLE,
              (100, 100, 100, 0, COMPLETE, 1000, 0, 0, stack(symbols, "opener", "main", "_start"), (REGISTERS, CFI, CFI)))
    directory = os.path.join(work, "guessed")
    trace.write(directory)
    same("folded: a stack is one line, whether or not its frames are guesses",
         [line for line in run("export", "folded", directory).stdout.splitlines() if line.startswith("app;_start;main;opener;")],
         ["app;_start;main;opener;whole_stack 5"])


def test_guessed_recursion(work, program, symbols, build_id):
    """Stacks with a recursive function whose frames are all guesses, the outer one, the inner one, or none."""
    trace = ctf.Trace()
    trace.add(1, "kunwind_map", analyze.APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    for number, trust in enumerate(((REGISTERS, SCAN, SCAN), (REGISTERS, CFI, SCAN), (REGISTERS, SCAN, CFI), (REGISTERS, CFI, CFI)), 1):
        trace.add(10 * number, "whole_stack", analyze.APP, (), ctf.WHOLE,
                  (100, 100, 100, 0, COMPLETE, number, 0, 0, stack(symbols, "reader", "recursive", "recursive"), trust))
    directory = os.path.join(work, "guessed-recursion")
    trace.write(directory)
    same("functions: a stack with several guessed frames of a function counts once",
         {row["name"]: (row["events"], row["guessed"]) for row in report(directory)["functions"]}, {"reader": (4, 0), "recursive": (4, 3)})


def test_wakers_stacks(work, program, symbols, build_id):
    """A thread that waits for a lock, and another process, which wakes it."""
    other = (200, 200, "other")
    trace = ctf.Trace()
    for thread in analyze.APP, other:
        trace.add(1, "kunwind_map", thread, (), ctf.MAP, [*thread[:2], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    trace.add(10, "syscall_entry_futex", analyze.APP, stack(symbols, "reader", "main", "_start"), ctf.FUTEX, (0x5000, 0, 2))
    trace.add(20, "sched_switch", analyze.APP, stack(symbols, "reader", "main", "_start"), ctf.SWITCH, (100, 1, 200))
    trace.add(25, "syscall_entry_futex", other, stack(symbols, "opener"), ctf.FUTEX, (0x5000, 1, 1))
    trace.add(30, "sched_waking", other, stack(symbols, "opener"), ctf.WAKING, ("app", 100))
    trace.add(40, "sched_switch", other, stack(symbols, "opener"), ctf.SWITCH, (200, 1, 100))
    trace.add(50, "syscall_exit_futex", analyze.APP, (), ctf.RETURN, [0])
    directory = os.path.join(work, "wakers")
    trace.write(directory)
    for options, wanted in (((), (5, 9)), (("-p", "100"), (2, 6)), (("-e", "futex"), (4, 8)), (("-e", "sched_waking"), (1, 1)),
                            (("-e", "sched_switch"), (2, 4))):
        facts = report(directory, *options)["trace"]
        same("%s: stacks and frames of wakers that are not selected do not count" % " ".join(options or ("report",)),
             (facts["stacks"], facts["frames"]), wanted)


def test_commonest_end(work, program, symbols, build_id):
    """A function whose stacks end for two reasons, the more frequent one first."""
    trace = ctf.Trace()
    trace.add(1, "kunwind_map", analyze.APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    for number, reason in enumerate((NO_RULE, NO_RULE, NOT_READY), 1):
        trace.add(10 * number, "whole_stack", analyze.APP, (), ctf.WHOLE,
                  (100, 100, 100, 0, reason, number, 0, 0, stack(symbols, "reader"), (REGISTERS,)))
    directory = os.path.join(work, "commonest")
    trace.write(directory)
    same("functions: the most frequent end", [(row["name"], row["end"]) for row in report(directory)["functions"]], [("reader", "no_rule")])


def test_losses(trace, work):
    facts = report(trace)["trace"]
    same("losses: events, by channel", (facts["lost"], facts["lost_by"], facts["cut_files"]), (3, [{"channel": "channel", "events": 3}], 0))
    check("text: losses", "Lost: 3 events of the channel channel" in run("report", trace).stdout)
    cut = ctf.Trace()
    for number in range(12):
        cut.add(1000 + number, "tick", analyze.APP, (0x1234,))
    directory = os.path.join(work, "cut")
    sizes = cut.write(directory, packets=4)
    os.truncate(os.path.join(directory, "channel_0"), sizes[-1] - 10)
    facts = report(directory, "--all")["trace"]
    same("losses: files that are cut off", (facts["cut_files"], facts["cut_bytes"]), (1, sizes[-1] - 10 - sizes[-2]))


def main():
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        test_threads(trace)
        test_results(work)
        test_order(work)
        test_long_times(work)
        test_neighbours(trace)
        test_several_neighbours(work, program, symbols, build_id)
        test_ends(work, program, symbols, build_id)
        test_guessed_recursion(work, program, symbols, build_id)
        test_wakers_stacks(work, program, symbols, build_id)
        test_commonest_end(work, program, symbols, build_id)
        test_losses(trace, work)
        text = run("report", "--by", "call,reason", trace).stdout
        check("--by: only these tables", [line for line in text.splitlines() if line.startswith(("System calls", "Ends", "Other", "Functions"))] ==
              ["System calls, by time between entry and exit", "Ends of stacks"], text)
    tap.finish()


if __name__ == "__main__":
    main()
