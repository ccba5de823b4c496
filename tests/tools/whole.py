#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""kunwind_callstack in kunwind show, babeltrace2's filter and reports, on a made-up trace."""

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
SCAN = 6        # enum kunwind_trust

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
        same("each event, and whose stack it is by its own numbers",
             [(line[3], line[5], line[6]) for line in events],
             [("kunwind_callstack", "700", "701"), ("syscall_entry_read", "100", "101"),
              ("kunwind_callstack", "100", "101")])
        same("the event's own frames with their trust, not the context's",
             [frame[1:] for frame in frames if frame[0] == "1"],
             list(zip(few, ["registers", "cfi", "cfi", "scan", "cfi"])))
        same("other events have the context's, without trust",
             [frame[1:] for frame in frames if frame[0] == "2"], [(a, "") for a in few[:3]])
        same("4,096 frames", [frame[1] for frame in frames if frame[0] == "3"], most)
        same("fields without what are frames", events[0][8].partition("} ")[2],
             "{ tgid = 700, tid = 701, syscall = 0, reason = 1 }")
        text = run(*show, "--limit", "1", path).splitlines()
        same("as text the usual trust is not said", [line.partition(" [")[2] for line in text[1:]],
             ["", "", "", "scan]", ""])
        objects = [json.loads(line) for line in run(*show, "--json", path).splitlines()]
        same("as JSON each frame has its trust", [frame["trust"] for frame in objects[0]["stack"]],
             ["registers", "cfi", "cfi", "scan", "cfi"])
        folded = run(show[0], "export", "--folded", path)
        same("reports leave it out: it is another event's stack",
             sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()), 1)
        plugin = os.path.join(TOOLS, "babeltrace2/build")
        out = run("babeltrace2", "--plugin-path", plugin, path, "-c", "filter.kunwind.symbolize")
        named = [line.partition("callstack_user_frames = [")[2].count("address = 0x")
                 - line.count("object_address = 0x") for line in out.splitlines()]
        same("babeltrace2's filter has them all", named, [5, 3, MOST])
    tap.finish()


if __name__ == "__main__":
    main()
