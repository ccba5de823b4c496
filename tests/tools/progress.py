#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the progress of commands that read traces.

A preloaded library replaces time(2): each call is a second later than the one
before.
"""

import os
import pty
import subprocess
import tempfile

import ctf
import tap
from tap import check, same

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind")
CLOCK = """
#include <time.h>
time_t time(time_t *to)
{
	static time_t now = 1700000000;

	now++;
	if (to)
		*to = now;
	return now;
}
"""
EVENTS = 4096 * 40      # the clock is read once for 4096 events

tap.suite = "progress"


def main():
    with tempfile.TemporaryDirectory() as work:
        library = os.path.join(work, "clock.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=CLOCK, text=True, check=True)
        trace = ctf.Trace(contexts=("tid", "pid"))
        for i in range(EVENTS):
            trace.add(i, "sched_waking", (1, 1, ""), [], [("tid", "s32")], (1,))
        path = os.path.join(work, "trace")
        trace.write(path)
        # debuginfod would be another user of the clock
        clock = dict(os.environ, LD_PRELOAD=library, DEBUGINFOD_URLS="")

        def stderr_of(*command, **more):
            return subprocess.run([KUNWIND, *command, path], env=clock, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, check=True, **more).stderr

        same("standard error is no terminal: no progress", stderr_of("report"), "")
        lines = stderr_of("report", "--progress").splitlines()
        check("report --progress: a line each ten seconds", 3 <= len(lines) <= 4 and all(
            line.startswith("kunwind report: naming, ") and line.endswith(" events") for line in lines), lines)
        counts = [int(line.split()[-2]) for line in lines]
        check("report --progress: the number of events grows", counts == sorted(set(counts)) and
              counts[-1] <= EVENTS, counts)
        for command in (["show", "--summary"], ["export", "folded"]):
            check("%s --progress: lines" % command[0],
                  stderr_of(*command, "--progress").startswith("kunwind %s: naming, " % command[0]))
        master, slave = pty.openpty()
        with subprocess.Popen([KUNWIND, "report", "--progress", path], env=clock, stdout=subprocess.DEVNULL,
                              stderr=slave) as process:
            process.wait()
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 65536):
                shown += chunk
        except OSError:     # all has been read, and nobody writes any more
            pass
        shown = shown.decode()
        check("terminal: one line, written again and again", shown.count("\r") > 20 and "\n" not in shown, shown[:300])
    tap.finish()


if __name__ == "__main__":
    main()
