#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the database of kunwind export sqlite with kunwind report, waits and export folded."""

import json
import os
import sqlite3
import subprocess
import tempfile

import analyze
import tap
import waits
from analyze import KUNWIND, run
from tap import check, same

ALL_FUNCTIONS = """
SELECT function, count(*), sum(ns) FROM
  (SELECT DISTINCT span, function, ns FROM spans JOIN stacks USING (stack) JOIN frames USING (frame)
   WHERE spans.kind = 'call' AND frames.kind <> 'end') GROUP BY function"""
SELF = """
SELECT function, sum(ns) FROM spans JOIN stacks USING (stack) JOIN frames USING (frame)
WHERE spans.kind = 'call' AND depth = 0 GROUP BY function"""


def database(work, trace, *options):
    path = os.path.join(work, "out.db")
    run("export", "sqlite", "-o", path, *options, trace)
    return sqlite3.connect(path)


def test_report(work, trace):
    db = database(work, trace)
    report = json.loads(run("report", "--json", trace).stdout)
    same("integrity", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    same("calls: number, timed, time, off the CPU, failed",
         {row[0]: row[1:] for row in db.execute(
             "SELECT name, count(*), count(ns), ifnull(sum(ns), 0), ifnull(sum(off_cpu), 0), ifnull(sum(failed), 0)"
             " FROM spans WHERE kind = 'call' GROUP BY name")},
         {row["name"]: (row["count"], row["timed"], row["ns"], row["off_cpu_ns"], row["failed"])
          for row in report["system_calls"]})
    functions = {name: (number, ns or 0) for name, number, ns in db.execute(ALL_FUNCTIONS)}
    wanted = {}
    for row in report["functions"]:
        wanted[row["name"]] = wanted.get(row["name"], 0) + row["blocked_ns"]
    for name, ns in wanted.items():
        same("%s: time of calls with it on the stack" % name, functions.get(name, (0, 0))[1], ns)
    check("functions: there are some", len(wanted) > 2, wanted)
    same("threads: time on the CPU", sum(row[0] for row in db.execute("SELECT on_cpu FROM threads")),
         sum(row["on_cpu_ns"] or 0 for row in report["threads"]))
    folded = {}
    for line in run("export", "folded", "-w", "blocked", trace).stdout.splitlines():
        path, _, weight = line.rpartition(" ")
        folded[path] = folded.get(path, 0) + int(weight)
    stacks = {}
    for comm, name, stack, ns in db.execute(
            "SELECT comm, name, stack, sum(ns) FROM spans WHERE kind = 'call' AND ns > 0 GROUP BY 1, 2, 3"):
        frames = [row[0] for row in db.execute(
            "SELECT function FROM stacks JOIN frames USING (frame) WHERE stack = ? ORDER BY depth DESC", (stack,))]
        path = ";".join([comm, *frames, name])
        stacks[path] = stacks.get(path, 0) + ns
    same("stacks: those of folded output", stacks, folded)
    same("a file of the trace is refused", run("export", "sqlite", "-o", os.path.join(trace, "metadata"), trace, status=1).stdout, "")


def test_waits(work, scene):
    waits.test_wakers(scene)
    db = database(work, scene.directory)
    data = json.loads(run("waits", "--json", scene.directory).stdout)
    same("waits: blocked time by waiter and waker",
         sorted(db.execute("""SELECT spans.comm, waker_comm, sum(wakeup - begin), count(*) FROM waits JOIN spans USING (span)
                              WHERE waker IS NOT NULL AND ns IS NOT NULL GROUP BY 1, 2""")),
         sorted((line["waiter"], line["waker"], line["blocked_ns"], line["count"]) for line in data["wakers"]
                if line["ended_by"] == "thread"))


def test_locks(work, scene):
    waits.convoy(scene, waits.WAIT, 2)
    scene.trace.write(scene.directory)
    db = database(work, scene.directory)
    data = json.loads(run("waits", "--json", scene.directory).stdout)
    same("holds: time blocked by locks", db.execute("SELECT sum(ns) FROM holds").fetchone()[0],
         sum(pair["ns"] for lock in data["locks"] for pair in lock["pairs"]))
    stack = dict(db.execute("""SELECT depth, function FROM holds JOIN stacks USING (stack) JOIN frames USING (frame)"""))
    same("holds: the holder's stack", stack.get(len(stack) - 1), "_start")


def test_selection(work, trace):
    db = database(work, trace, "-e", "read")
    same("-e: only these calls", db.execute("SELECT DISTINCT name FROM spans WHERE kind = 'call'").fetchall(), [("read",)])
    piped = subprocess.run([KUNWIND, "export", "sqlite", trace], capture_output=True).stdout
    same("standard output: a database", piped[:15], b"SQLite format 3")
    temporary = os.path.join(work, "tmp")
    os.mkdir(temporary)
    subprocess.run([KUNWIND, "export", "sqlite", trace], capture_output=True, env={**os.environ, "TMPDIR": temporary})
    same("no temporary file is left", os.listdir(temporary), [])
    done = subprocess.run([KUNWIND, "export", "sqlite", "-o", os.path.join(work, "x.db"), trace], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": "/nonexistent"})
    same("no temporary directory: status, no output", (done.returncode, os.path.exists(os.path.join(work, "x.db"))), (1, False))
    check("no temporary directory: message", "cannot make /nonexistent/kunwind-export." in done.stderr and "TMPDIR" in done.stderr and
          "out of memory" not in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        test_report(work, trace)
        test_selection(work, trace)
        test_waits(work, waits.Scene(work, "wakers", program, symbols, build_id))
        test_locks(work, waits.Scene(work, "locks", program, symbols, build_id))
    tap.finish()


main()
