# SPDX-License-Identifier: MIT
"""reports.py - what the tests of libkunwind-crash share: reports, and what is right in them

read(path): a file's reports, checked against what kunwind_crash_init(3) says of each line.
"""

import bisect
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../stackwalk"), os.path.join(HERE, "../tools")]
import jsonschema  # noqa: E402
import schema  # noqa: E402
import tap  # noqa: E402, F401

PROCESS = schema.members(**{key: schema.REPORT["properties"][key] for key in
                            ("pid", "command", "system_info", "crash_info")})
THREAD = schema.members(thread_id=schema.COUNT, thread_name=schema.STRING)
FRAME = {key: schema.FRAME[key] for key in ("frame", "offset", "address", "module", "module_offset", "trust",
                                            "stack_pointer")}
FRAME.update(path=schema.STRING, code_id=schema.STRING)
FRAME = schema.members(list(FRAME), registers={"type": "object", "additionalProperties": schema.ADDRESS}, **FRAME)
REASON = schema.members(frame_count=schema.COUNT, reason={"enum": schema.REASONS + [None]},
                        missing_address=schema.ANY_ADDRESS, why=schema.STRING)
END = schema.members(status={"enum": ["OK"]}, thread_count=schema.COUNT, why=schema.STRING)


class Report:
    """One report; problems: why it is not as the manual says."""

    def __init__(self, process):
        self.process, self.threads, self.end, self.problems = process, [], None, []

    def add(self, line):
        if "thread_id" in line:
            self.threads.append(dict(line, frames=[]))
            return THREAD
        if not self.threads or self.end:
            self.problems.append("a line at the wrong place: %r" % line)
        elif "frame" in line:
            frames = self.threads[-1]["frames"]
            if line["frame"] != len(frames) or ("registers" in line) != (not frames):
                self.problems.append("frame %d after %d frames" % (line["frame"], len(frames)))
            frames.append(line)
            return FRAME
        elif "frame_count" in line:
            self.threads[-1].update(line)
            if line["frame_count"] != len(self.threads[-1]["frames"]):
                self.problems.append("%d of %d frames" % (len(self.threads[-1]["frames"]), line["frame_count"]))
            return REASON
        self.end = line
        return END

    def whole(self):
        if self.problems or not self.end:
            return False
        return self.end["thread_count"] == len(self.threads) and all("reason" in t for t in self.threads)


def parse(text):
    reports = []
    for line in text.splitlines():
        value = json.loads(line)
        if "pid" in value:
            reports.append(Report(value))
            kind = PROCESS
        else:
            kind = reports[-1].add(value)
        try:
            jsonschema.validate(value, kind or {})
        except jsonschema.ValidationError as error:
            reports[-1].problems.append("%s: %s" % (error.message[:200], line))
    return reports


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return parse(f.read())


class Symbols:
    """The functions of programs, by nm."""

    def __init__(self):
        self.of = {}

    def load(self, path):
        if path not in self.of:
            lines = subprocess.run(["nm", "-nC", "--defined-only", path], capture_output=True, text=True).stdout
            found = sorted((int(value, 16), name) for value, kind, name in
                           (line.split(" ", 2) for line in lines.splitlines()) if kind in "tTwW")
            head = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
            base = min(int(line.split()[2], 16) - int(line.split()[1], 16) for line in head.splitlines()
                       if line.split()[:1] == ["LOAD"])
            self.of[path] = ([value for value, _ in found], [name for _, name in found], base)
        return self.of[path]

    def name(self, frame):
        """The function of a report's frame."""
        if not frame["path"] or frame["module_offset"] is None:
            return "?"
        values, names, base = self.load(frame["path"])
        at = bisect.bisect_right(values, base + int(frame["module_offset"], 16)) - 1
        return names[at] if at >= 0 else "?"

    def names(self, thread):
        return [self.name(frame) for frame in thread["frames"]]
