#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the event kunwind_callstack, which holds a whole stack, in a made-up trace.

The readers are kunwind show, kunwind export and babeltrace2's filter.
"""

import json
import os
import subprocess
import tempfile

import ctf
import tap
from tap import run, same

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "../../tools")
THREAD = (100, 101, "app")
MOST = 4096
SCAN = 6        # KUNWIND_TRUST_SCAN of enum kunwind_trust

tap.suite = "whole"


def main():
    few = [0x1000 + 16 * i for i in range(5)]
    most = [0x10000 + i for i in range(MOST)]
    with tempfile.TemporaryDirectory() as work:
        trace = ctf.Trace()
        trace.add(1, "kunwind_callstack", THREAD, few[:2], ctf.WHOLE,
                  (700, 701, 0, 1, few, [0, 1, 1, SCAN, 1]))
        trace.add(2, "syscall_entry_read", THREAD, few[:3], [("fd", "s32")], (3,))
        trace.add(3, "kunwind_callstack", THREAD, [], ctf.WHOLE,
                  (100, 101, 0, 1, most, [0] + [1] * (MOST - 1)))
        path = os.path.join(work, "trace")
        trace.write(path)
        show = [os.path.join(TOOLS, "build/kunwind"), "show", "--no-symbols"]
        lines = [line.split("\t") for line in run(*show, "--tsv", path).splitlines()]
        frames = [(line[1], int(line[3], 16), line[10]) for line in lines if line[0] == "frame"]
        events = [line for line in lines if line[0] == "event"]
        same("show: the process and thread of kunwind_callstack are those in its fields",
             [(line[3], line[5], line[6]) for line in events],
             [("kunwind_callstack", "700", "701"), ("syscall_entry_read", "100", "101"),
              ("kunwind_callstack", "100", "101")])
        same("show: kunwind_callstack has the frames and trust of its fields, not of the context",
             [frame[1:] for frame in frames if frame[0] == "1"],
             list(zip(few, ["registers", "cfi", "cfi", "scan", "cfi"])))
        same("show: other events have the frames of the context, without trust",
             [frame[1:] for frame in frames if frame[0] == "2"], [(a, "") for a in few[:3]])
        same("show: a stack of 4,096 frames is complete", [frame[1] for frame in frames if frame[0] == "3"], most)
        same("show: the fields of kunwind_callstack are shown without the frames", events[0][8].partition("} ")[2],
             "{ tgid = 700, tid = 701, syscall = 0, reason = 1 }")
        text = run(*show, "--limit", "1", path).splitlines()
        same("show: text has only unusual trust", [line.partition(" [")[2] for line in text[1:]],
             ["", "", "", "scan]", ""])
        objects = [json.loads(line) for line in run(*show, "--json", path).splitlines()]
        same("show: JSON has the trust of each frame", [frame["trust"] for frame in objects[0]["stack"]],
             ["registers", "cfi", "cfi", "scan", "cfi"])
        folded = run(show[0], "export", "--folded", path)
        same("export: kunwind_callstack is left out, because it is the stack of another event",
             sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()), 1)
        plugin = os.path.join(TOOLS, "babeltrace2/build")
        out = run("babeltrace2", "--plugin-path", plugin, path, "-c", "filter.kunwind.symbolize")
        named = [line.partition("callstack_user_frames = [")[2].count("address = 0x")
                 - line.count("object_address = 0x") for line in out.splitlines()]
        same("filter: all frames of all events are there", named, [5, 3, MOST])
    tap.finish()


if __name__ == "__main__":
    main()
