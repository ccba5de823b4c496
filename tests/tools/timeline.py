#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind flamegraph --timeline: the data in the page, and the page in a browser."""

import base64
import json
import os
import re
import tempfile

import analyze
import tap
import waits
from analyze import run
from flamegraph import browser, dom, frames
from tap import check, same

KINDS = ("call", "event", "off", "cpu", "hold")


def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def spans(page):
    """Returns the threads, and (thread, kind, begin, ns, node, ready) of each sample in the page."""
    with open(page) as file:
        text = file.read()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
    stream, found = numbers(re.search(r'id="spans">(.*?)</script>', text, re.S).group(1)), []
    for thread in data["threads"]:
        time = 0
        for _ in range(next(stream)):
            kind = KINDS[next(stream)]
            time += next(stream)
            ns, node = next(stream) - 1, next(stream)
            found.append((tuple(thread), kind, time, ns, node, next(stream) if kind == "off" else None))
    same("all numbers are used", list(stream), [])
    return data, found


def total(found, kind, thread=None):
    return sum(ns for who, what, _, ns, _, _ in found if what == kind and ns > 0 and thread in (None, who[2]))


def test_data(trace, work):
    page = os.path.join(work, "page.html")
    run("flamegraph", "--timeline", "-o", page, trace)
    data, found = spans(page)
    report = json.loads(run("report", "--json", trace).stdout)
    same("time in system calls", total(found, "call"), sum(row["ns"] for row in report["system_calls"]))
    same("number of system calls", len([1 for span in found if span[1] == "call"]), sum(row["count"] for row in report["system_calls"]))
    for row in report["threads"]:
        same("thread %d: time off the CPU" % row["tid"], total(found, "off", row["tid"]), row["off_cpu_ns"])
    weights = {weight["name"]: weight["self"] for weight in data["weights"]}
    sums = [0] * len(data["parent"])
    for _, kind, _, ns, node, _ in found:
        sums[node] += ns if kind == "call" and ns > 0 else 0
    same("nodes: those of the tree", sums, weights["blocked"])
    plain = os.path.join(work, "plain.html")
    run("flamegraph", "-o", plain, trace)
    with open(plain) as file:
        check("without --timeline: no samples in the page", 'id="spans"' not in file.read())
    for least in ("0.01", "30"):
        run("flamegraph", "--timeline", "--least", least, "-o", page, trace)
        data, found = spans(page)
        check("--least %s: each sample has a frame" % least, all(span[4] < len(data["parent"]) for span in found))
    return page


def test_states(work, scene):
    waits.convoy(scene, waits.WAIT, 2)
    scene.trace.write(scene.directory)
    page = os.path.join(work, "locks.html")
    run("flamegraph", "--timeline", "-o", page, scene.directory)
    found = spans(page)[1]
    data = json.loads(run("waits", "--json", scene.directory).stdout)
    same("blocked by locks", total(found, "hold"), sum(pair["ns"] for lock in data["locks"] for pair in lock["pairs"]))
    same("blocked, and able to run", (sum(span[5] for span in found if span[1] == "off"), total(found, "off")),
         (sum(row["blocked_ns"] for row in data["threads"]),
          sum(row["blocked_ns"] + row["runnable_ns"] for row in data["threads"])))


def test_page(trace, work):
    if not browser():
        tap.skip("timeline in a browser", "no chromium-headless-shell")
        return
    page = os.path.join(work, "shown.html")
    run("flamegraph", "--timeline", "-o", page, trace)
    press = """const box = document.getElementById("timeline");
        const press = (key) => box.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));"""
    shown, errors = dom(page, work)
    check("no error in the browser", "CONSOLE" not in errors, errors)
    same("all: the flame graph is that of the whole", frames(shown)["all"]["title"], "all: 12.500 µs, 100.00 %")
    bars = lambda text: re.findall(r'<div title="([0-9]+ from [^"]*)"', text)
    same("latencies of all system calls", [bar for bar in bars(shown) if not bar.startswith("0")],
         ["1 from 100 ns to 200 ns", "1 from 200 ns to 500 ns", "2 from 5.000 µs to 10.000 µs"])
    # THREAD has one call, of 6 us
    shown, errors = dom(page, work, script=press + 'press("ArrowDown"); press("Enter");')
    check("Enter: the flame graph is that of one thread",
          {name for name in ("recursive", "reader") if name in frames(shown)} == {"recursive"}, sorted(frames(shown)))
    same("Enter: its time", frames(shown)["all"]["title"], "all: 6.000 µs, 100.00 %")
    shown, errors = dom(page, work, script=press + 'press("ArrowLeft"); for (let i = 0; i < 3; i++) { press("w"); } '
                        'for (let i = 0; i < 40; i++) press("a");')
    # 1.25 us from the first event, at 1000: a call begins at 2000
    same("zoom: the flame graph is of the time in view", frames(shown)["all"]["title"], "all: 250 ns, 100.00 %")
    shown, errors = dom(page, work, script=press + 'press("w"); press("0");')
    same("0: all again", frames(shown)["all"]["title"], "all: 12.500 µs, 100.00 %")
    find = 'const field = document.getElementById("search"); field.value = "%s"; field.dispatchEvent(new Event("input"));'
    shown, errors = dom(page, work, script=press + find % "opener" + 'press("n");')
    check("search, n: the next match", re.search(r'id="span"[^>]*>[^<]*system call openat &lt; opener &lt; main', shown),
          re.search(r'id="span".*', shown))
    same("search: latencies of the matching system calls", [bar for bar in bars(shown) if not bar.startswith("0")],
         ["1 from 200 ns to 500 ns"])
    shown, errors = dom(page, work, script=press + find % "nothing" + 'press("n");')
    check("n without a match: no error", "CONSOLE" not in errors, errors)


def main():
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        test_data(trace, work)
        test_states(work, waits.Scene(work, "locks", program, symbols, build_id))
        test_page(trace, work)
    tap.finish()


main()
