#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""names.py DIRECTORY TOOLS - "kunwind show" names the stacks of events of LTTng-UST

TOOLS is a directory with the program kunwind. The oracle is nm, for the addresses that backtrace() has returned
in each event; an object that dlclose() has unloaded is another one later. Prints TAP.
"""

import bisect
import os
import re
import subprocess
import sys

import stacks
import traces
from traces import lttng, tap

TOOLS = os.path.abspath(sys.argv[2])
LIBDL = "liblttng-ust-dl.so.1"
FRAME = re.compile(r"  #\d+ +0x([0-9a-f]+) (\S+?)(?:\+0x[0-9a-f]+)? \((.+?)\)(?: at .*)?$")


def functions(path):
    """Start addresses and names."""
    lines = subprocess.run(["nm", "-n", path], capture_output=True, text=True, check=True).stdout.split("\n")
    found = [line.split() for line in lines if len(line.split()) == 3 and line.split()[1] in "tT"]
    return [int(words[0], 16) for words in found], [words[2] for words in found]


def shown(trace):
    """The frames of each kunwind_test:call: address, function, object."""
    text = subprocess.run([TOOLS + "/kunwind", "show", trace], capture_output=True, text=True, check=True).stdout
    events = []
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            events.append([])
            wanted = " kunwind_test:call " in line
            if not wanted:
                events.pop()
            continue
        frame = FRAME.match(line)
        if frame and wanted:
            events[-1].append((int(frame.group(1), 16), frame.group(2), frame.group(3)))
    return events


class Session:
    """As a user makes it, by the front end's --callstack."""

    def __init__(self, name):
        self.name, self.trace = name, stacks.BUILD + "/traces/" + name
        lttng("create", name, "-o", self.trace)
        self.enable("kunwind_test:call")
        lttng("start", name)
        # of a session that was started, with the contexts
        self.enable("kunwind_test:tick")

    def enable(self, event):
        done = subprocess.run([TOOLS + "/lttng", "enable-event", "-u", "-s", self.name, "--callstack", event],
                              capture_output=True, text=True)
        if done.returncode:
            tap.check("enable-event -u --callstack " + event, False, done.stdout + done.stderr)

    def end(self):
        lttng("destroy", self.name)


def check(what, trace, count, plugin=None):
    events = shown(trace)
    starts, names = functions(stacks.PROGRAM)
    main = next(frame for frame in events[0] if frame[1] == "main") if events else (0, "", "")
    # main's own address gives where the program is: its page
    bias = (main[0] - starts[names.index("main")]) & ~0xfff if main[0] else 0
    wrong = []
    for number, frames in enumerate(events):
        for address, name, path in frames:
            if path == stacks.PROGRAM and names[bisect.bisect_right(starts, address - 1 - bias) - 1] != name:
                wrong.append("%x is %s" % (address, name))
        if plugin and plugin(number) not in [path for _, name, path in frames if name == "plugin"]:
            wrong.append("event %d: %r" % (number, frames))
        if "main" not in [name for _, name, _ in frames]:
            wrong.append("event %d ends before main(): %r" % (number, frames))
    tap.check("%s: %d events have the names that nm says" % (what, len(events)),
              len(events) == count and not wrong, "\n".join(wrong[:5]))


def main():
    subprocess.run(["rm", "-rf", stacks.BUILD + "/traces"], check=True)
    daemon = traces.Daemon(stacks.BUILD + "/home")
    try:
        one = Session("names")
        stacks.run("plain", 300)
        one.end()
        check("a program", one.trace, 300)
        text = subprocess.run([TOOLS + "/kunwind", "show", one.trace], capture_output=True, text=True, check=True).stdout
        tap.check("what the program has loaded is not among its events", "lttng_ust_statedump:" not in text, text[:500])
        text = subprocess.run([TOOLS + "/kunwind", "show", "-e", "lttng_ust_statedump:bin_info", one.trace],
                              capture_output=True, text=True, check=True).stdout
        tap.check("it is shown if --event selects it", "/ust-program" in text, text[:500])
        one = Session("names-dlopen")
        stacks.run("dlopen", 40, LIBDL)
        one.end()
        check("objects that are loaded one after the other", one.trace, 40,
              lambda number: "%s/ust-plugin-%d.so" % (stacks.BUILD, 40 if number & 1 else 24))
    finally:
        daemon.stop()
    tap.finish()


traces.isolate()
main()
