#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests how kunwind show prints the fields of events, by their kinds, and whose event it is."""

import json
import os
import tempfile

import ctf
import tap
from tap import run, same
from whole import KUNWIND

APP = (100, 100, "app")
MAPS = 0x10000
tap.suite = "fields"


def test_kinds(work):
    """Each kind of field: the value in the trace, as text, and in JSON."""
    kinds = (("octal", 8, "010", 8), ("octal", 0, "00", 0), ("x32", 255, "0xff", 255), ("xs32", 255, "0xff", 255),
             ("xs32", -1, "0xffffffffffffffff", -1), ("s64", -(1 << 63), str(-(1 << 63)), -(1 << 63)),
             ("decimal", (1 << 64) - 1, str((1 << 64) - 1), (1 << 64) - 1),
             ("labels", -1, '( "MINUS" : -1 )', {"value": -1, "labels": ["MINUS"]}),
             ("labels", 1, '( "ONE" | "FEW" : 1 )', {"value": 1, "labels": ["ONE", "FEW"]}),
             ("labels", 2, '( "a b" | "FEW" : 2 )', {"value": 2, "labels": ["a b", "FEW"]}),
             ("labels", 4, "( 4 )", {"value": 4, "labels": []}), ("enum", 1, '( "ONE" : 1 )', {"value": 1, "labels": ["ONE"]}),
             ("enum", (1 << 64) - 1, "( %d )" % ((1 << 64) - 1), {"value": (1 << 64) - 1, "labels": []}),
             ("float", 0.5, "0.5", 0.5), ("double", -1e300, "-1e+300", -1e300), ("double", float("inf"), "inf", None),
             ("double", float("nan"), "nan", None), ("string", 'a "b"\\', '"a \\"b\\"\\\\"', 'a "b"\\'), ("string", "", '""', ""),
             ("u64s", [1, 16], "[ 0x1, 0x10 ]", [1, 16]), ("u8s", [], "[ ]", []))
    trace = ctf.Trace()
    for number, (kind, value, _, _) in enumerate(kinds):
        trace.add(1000 + number, "event%d" % number, APP, (), [("it", kind)], [value])
    path = os.path.join(work, "kinds")
    trace.write(path)
    text = [line.rpartition("{ it = ")[2] for line in run(KUNWIND, "show", path).splitlines() if "{ it = " in line]
    events = [json.loads(line) for line in run(KUNWIND, "show", "--json", path).splitlines()]
    for (kind, value, wanted, number), line, event in zip(kinds, text, events, strict=True):
        same("%s %s: text, and JSON" % (kind, value), (line, event["fields"]["it"]), (wanted + " }", number))


def test_numbers(work):
    """The numbers of a sample are of the initial pid namespace; a container has a process of the same number,
    with code at the same address."""
    trace = ctf.Trace(contexts=())
    for pid, own, path in ((100, 100, "/bin/host"), (500, 100, "/bin/container")):
        trace.add(1, "kunwind_map", (), (), ctf.MAP, [pid, own, MAPS, 2 * MAPS, 0, 0, pid, "", path])
    for time, pid in ((2, 100), (3, 500)):
        trace.add(time, "kunwind_sample", APP, (), ctf.SAMPLE,
                  (pid, pid, 100, "app", 50, 0, 0, 0, time, 0, 0, [MAPS + 8], [0], []))
    directory = os.path.join(work, "numbers")
    trace.write(directory)
    events = [json.loads(line) for line in run(KUNWIND, "show", "--json", "-e", "kunwind_sample", directory).splitlines()]
    same("samples: the process, by its number and its mappings", [(e["pid"], [f["object"] for f in e["stack"]]) for e in events],
         [(100, ["/bin/host"]), (500, ["/bin/container"])])


def test_traces(work):
    """Of two traces, only the first one has mappings: all processes of the other count."""
    for number, name in enumerate(("one", "two")):
        trace = ctf.Trace(host=name)
        if not number:
            trace.add(1, "kunwind_map", APP, (), ctf.MAP, [100, 100, MAPS, 2 * MAPS, 0, 0, 1, "", "/bin/app"])
        for time in (10, 20, 30):
            trace.add(time + number, "tick", (100 + number, 100 + number, name), [MAPS + 8])
            trace.add(time + number, "tick", (200, 200, "other"), [MAPS + 8])
        trace.write(os.path.join(work, "both", name))
    report = json.loads(run(KUNWIND, "report", "--json", os.path.join(work, "both")))
    same("two traces: mappings in one say nothing about processes of the other",
         (report["trace"]["events"], sorted((thread["pid"], thread["comm"]) for thread in report["threads"])),
         (3 + 6, [(100, "one"), (101, "two"), (200, "other")]))


def main():
    with tempfile.TemporaryDirectory() as work:
        test_kinds(work)
        test_numbers(work)
        test_traces(work)
    tap.finish()


if __name__ == "__main__":
    main()
