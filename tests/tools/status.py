#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind status without the module.

A preloaded library makes open(2) of /dev/kunwind open a file with status lines.
"""

import json
import os
import subprocess
import tempfile

import json_output
import tap
from tap import same

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind-dynamic")
DEVICE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");

	return next(strcmp(path, "/dev/kunwind") ? path : getenv("STATUS"), flags, 0666);
}
"""
# One line of each kind that the end of kmod/uapi/kunwind.h describes.
LINES = (
    ("version", "1", "0.1.0"), ("param", "system_wide", "N"), ("hook", "stack_trace_save_user", "on", "ok"),
    ("stat", "stacks", "5"), ("reason", "complete", "5"), ("stacks", "lttng", "complete", "5"),
    ("frames", "lttng", "cfi", "70"), ("method", "ahead", "9"),
    ("sampler", "cpu-clock", ""), ("stat", "samples", "44"), ("process", "100", "app", "3", "children", "4096"),
    ("object", "ready", "ok", "10", "80", "1", "/bin/app"), ("parts", "1", "2", "/bin/app"),
    ("user", "1000", "81920", "7", "3", "250"))

tap.suite = "status"


class Module:
    def __init__(self, work):
        self.library, self.path = os.path.join(work, "device.so"), os.path.join(work, "status")
        source = os.path.join(work, "device.c")
        with open(source, "w") as file:
            file.write(DEVICE)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.library, source, "-ldl"], check=True)

    def run(self, command, lines, *options):
        with open(self.path, "wb") as file:
            file.write(b"".join(b"\t".join(os.fsencode(field) for field in line) + b"\n" for line in lines))
        return subprocess.run([KUNWIND, command, *options], capture_output=True, check=False,
                              env={**os.environ, "LD_PRELOAD": self.library, "STATUS": self.path})

    def doctor(self, lines):
        """Returns {requirement: [state, what was found]}."""
        text = self.run("doctor", lines, "--tsv").stdout.decode()
        rows = [line.split("\t") for line in text.splitlines()]
        return {row[1]: [row[0], row[2]] for row in rows if len(row) > 2}

    def status(self, lines, *options):
        """Returns what kunwind status prints for these lines, as bytes."""
        done = self.run("status", lines, *options)
        done.check_returncode()
        return done.stdout


def test_values(module):
    numbers = ("0", "7", "12345678901", "1234567890123456789", "12345678901234567890", "007", "-1", "")
    data = json.loads(module.status([*LINES, *(("stat", "s%d" % i, n) for i, n in enumerate(numbers))], "--json"))
    same("--json: decimal numbers of fewer than 20 digits are numbers, all else is text",
         [data["stats"]["s%d" % i] for i in range(len(numbers))],
         [0, 7, 12345678901, 1234567890123456789, *numbers[4:]])
    text = module.status([("param", "enabled", "0"), ("stat", "frames", "100"), ("frames", "perf", "cfi", "30"), *LINES,
                          ("object", "ready", "ok", "10", "1024", "1", "/bin/whole"), ("parts", "2", "2", "/bin/whole"),
                          ("object", "pending", "-", "0", "0", "1", "/bin/wait"),
                          ("object", "failed", "io", "0", "0", "1", "/bin/bad")]).decode()
    for what, line in (("the kill switch", 'Module    kunwind 0.1.0, ABI 1, switched off (parameter "enabled" is N)'),
                       ("a hook that is on, without \"ok\"", "  %-26s on" % "stack_trace_save_user"),
                       ("frames of all consumers, once", "  %-16s %12d  %5.1f %%" % ("cfi", 100, 100)),
                       ("the clock of the sampler", "Sampler   cpu-clock, 44 samples since the module was loaded"),
                       ("a table whose parts are all built", "  %8s %10s %5s  %-8s /bin/whole" % (10, "1.0 KiB", 1, "ready")),
                       ("a pending table has no error", "  %8s %10s %5s  %-8s /bin/wait" % (0, "0 bytes", 1, "pending")),
                       ("a failed one has", "  %8s %10s %5s  %-8s /bin/bad (io)" % (0, "0 bytes", 1, "failed"))):
        same("text: %s" % what, [at for at in text.splitlines() if at == line], [line])

    for limit, memory in ((2, 0), (0, 3), (2, 3)):
        text = module.status([*LINES, ("stat", "processes", "9"), ("stat", "missed_limit", str(limit)),
                              ("stat", "missed_memory", str(memory)), ("stat", "system_wide_pending", "4")]).decode().splitlines()
        at = text.index("Processes 9 registered")
        same("text: processes that are not registered", text[at + 1:at + 3],
             ["  4 not registered yet, because of a locked memory map",
              "  %d were not: over the limit of processes %d, no memory %d" % (limit + memory, limit, memory)])
    text = module.status([("sampler", "off", "error -12"), ("version", "1", "0.1.0")]).decode()
    same("text: why no clock takes samples", [at for at in text.splitlines() if at.startswith("Sampler")],
         ["Sampler   off (error -12), 0 samples since the module was loaded"])


def test_doctor(module):
    """kunwind doctor reads the status lines, too."""
    needed, optional = "kunwind_test_hook", "perf_callchain_user"
    for what, hooks, wanted in (("all are on", (), ["ok", "all are on"]),
                                ("one is off", ((needed, "off", "taken"),), ["FAIL", needed + " is off: taken"]),
                                ("an optional one is off", ((optional, "off", "taken"),), ["ok", "all are on"])):
        rows = module.doctor([*LINES, *(("hook", *hook) for hook in hooks)])
        same("doctor: required hooks, %s" % what, rows["required hooks"], wanted)
    for value, state in (("Y", "ok"), ("1", "ok"), ("N", "FAIL"), ("0", "FAIL")):
        same("doctor: parameter enabled is %s" % value, module.doctor([("param", "enabled", value)])["kill switch"][0], state)
    rows = module.doctor([("hook", name, "off", "taken") for name in ("stack_trace_save_user", optional)])
    same("doctor: hooks of LTTng and perf are off, and one has no status line", [rows.get(what) for what in (
        "stacks for LTTng", "stacks for perf", "perf's deferred stacks")],
         [["FAIL", "stack_trace_save_user is off: taken"], ["note", optional + " is off: taken"], None])
    same("doctor: perf's deferred stacks", module.doctor([("hook", "unwind_user", "on", "ok")]).get("perf's deferred stacks"),
         ["ok", "unwind_user is served"])


def main():
    with tempfile.TemporaryDirectory() as work:
        module = Module(work)
        test_values(module)
        test_doctor(module)
        data = json_output.parse("status", module.status(LINES, "--json"))
        # A list in JSON has the fields of the lines, in their order.
        lists = {"hook": "hooks", "sampler": "sampler", "stacks": "stacks", "frames": "frames", "process": "processes",
                 "object": "objects", "parts": "parts", "user": "users"}
        for kind, key in lists.items():
            same("--json has all fields of the lines \"%s\"" % kind, [[str(v) for v in o.values()] for o in data[key]],
                 [list(line[1:]) for line in LINES if line[0] == kind])
        same("--json has the lines \"method\" by name", data["methods"], {"ahead": 9})
        same("--tsv prints the module's lines unchanged", module.status(LINES, "--tsv"),
             b"".join("\t".join(line).encode() + b"\n" for line in LINES))

        names = {"\033[31m": "\\x1b[31m", "\u009b31m": "\\xc2\\x9b31m", "\udcff\udcc3": "\\xff\\xc3",
                 "\u00e4\u061b\u200d\u2065": "\u00e4\u061b\u200d\u2065"}
        # their order on the screen would be another one
        names.update((name, "".join("\\x%02x" % byte for byte in name.encode()))
                     for name in "\u061c\u200e\u200f\u2028\u202e\u2066\u2069")
        for name, shown in names.items():
            text = module.status([(*line[:2], name, *line[3:]) if line[0] == "process" else
                                  (*line[:-1], "/" + name) if line[0] == "object" else line for line in LINES])
            same("names with %s are escaped, and the columns stay aligned" % ascii(name),
                 [line for line in text.decode("utf-8", "surrogateescape").splitlines() if shown in line],
                 ["  %7s  %-16s %5s %10s  children" % (100, shown, 3, "4.0 KiB"),
                  "  %8s %10s %5s  %-8s /%s (1 of 2 parts)" % (10, "80 bytes", 1, "ready", shown)])
    tap.finish()


if __name__ == "__main__":
    main()
