#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares kunwind report --histogram with the durations in the database of kunwind export sqlite."""

import json
import os
import re
import sqlite3
import tempfile

import analyze
import ctf
import tap
from analyze import APP, BIAS, run, stack
from tap import check, same

# Each duration once as a read in reader(); those below 1000 also as a write in opener().
DURATIONS = [0, 1, 2, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 999, 1000, 1001, 1999, 2000, 5000, 10 ** 6, 10 ** 9 - 1, 10 ** 9,
             7 * 10 ** 11, 3 * 10 ** 12]


def limit(ns):
    """Returns the lower limit of the bucket of a duration."""
    limits = [0] + [part * 10 ** power for power in range(13) for part in (1, 2, 5)][1:38]
    return max(one for one in limits if one <= ns)


def make(work, program, symbols, build_id):
    trace, time = ctf.Trace(), 1000
    trace.add(time, "kunwind_map", APP, (), ctf.MAP,
              [APP[0], APP[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    for ns in DURATIONS:
        for name, function in (("read", "reader"), ("write", "opener"))[:2 if ns < 1000 else 1]:
            at = stack(symbols, function, "main", "_start")
            time += 100
            trace.add(time, "syscall_entry_" + name, APP, at)
            time += ns
            trace.add(time, "syscall_exit_" + name, APP, (), ctf.RETURN, [0])
    path = os.path.join(work, "trace")
    trace.write(path)
    return path


def buckets(rows):
    """Returns {name: {lower limit: number}} of (name, ns)."""
    found = {}
    for name, ns in rows:
        one = found.setdefault(name, {})
        one[limit(ns)] = one.get(limit(ns), 0) + 1
    return found


def histograms(trace, *options):
    data = json.loads(run("report", "--json", *options, trace).stdout)
    return {one["name"]: {bucket["from_ns"]: bucket["count"] for bucket in one["buckets"]}
            for one in data["histograms"]}, data


def main():
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = make(work, program, symbols, build_id)
        wanted = buckets([("read", ns) for ns in DURATIONS] + [("write", ns) for ns in DURATIONS if ns < 1000])
        same("each call: the number in each bucket", histograms(trace, "--histogram", "call")[0], wanted)
        found, data = histograms(trace, "--histogram", "stack")
        same("each stack: the number in each bucket", found, wanted)
        same("each stack: its functions", {one["name"]: one["stack"][0]["name"] for one in data["histograms"]},
             {"read": "reader", "write": "opener"})
        same("sums", [(one["name"], one["count"], one["ns"], one["longest_ns"]) for one in data["histograms"]],
             [("read", len(DURATIONS), sum(DURATIONS), max(DURATIONS)),
              ("write", 14, sum(ns for ns in DURATIONS if ns < 1000), 999)])
        text = run("report", "--histogram", "stack", trace).stdout
        check("text: name and stack", re.search(r"\nread: 24 times,.*\n  app: reader.* < main < _start\n", text), text)
        lines = re.findall(r"from +(\d+) (ns|us|ms|s) +(\d+) \|(@*) *\|", text.split("\nwrite:")[1])
        same("text: a bar for each bucket", [(number + unit, count, len(bar)) for number, unit, count, bar in lines if count != "0"],
             [("%dns" % start, str(count), count * 40 // max(wanted["write"].values()))
              for start, count in sorted(wanted["write"].items())])
        real = analyze.make_trace(work + "/real" if os.makedirs(work + "/real") else work + "/real", program, symbols, build_id)
        database = os.path.join(work, "real.db")
        run("export", "sqlite", "-o", database, real)
        rows = sqlite3.connect(database).execute("SELECT kind, name, ns FROM spans WHERE ns IS NOT NULL").fetchall()
        for kind, options in (("call", ()), ("off-cpu", ("-s", "off-cpu"))):
            same("%s: as in the database" % kind, histograms(real, "--histogram", "call", *options)[0],
                 buckets([row[1:] for row in rows if row[0] == kind]))
        check("--top", "... 2 more" in run("report", "--histogram", "call", "-n", "1", real).stdout)
    tap.finish()


main()
