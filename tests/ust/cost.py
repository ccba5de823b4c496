#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""cost.py DIRECTORY - instructions and time of an event, and its bytes

An event of one integer, 20 frames deep. Instructions are counted by callgrind, in the thread with the
events: the difference between two runs with different numbers of events. Prints TAP, and a line with each figure.
"""

import os
import re
import subprocess
import sys

import traces
from traces import tap

BUILD = os.path.abspath(sys.argv[1])
PROGRAM = BUILD + "/ust-program"
PRELOAD = BUILD + "/library/libkunwind-ust-preload.so"
FEW, MANY = 2000, 12000


def environment(preload):
    more = {"LD_PRELOAD": PRELOAD} if preload else {}
    return dict(os.environ, LTTNG_UST_REGISTER_TIMEOUT="-1", LTTNG_UST_ALLOW_BLOCKING="1", **more)


def instructions(preload, few=FEW, many=MANY):
    """Of one event."""
    counts = []
    for count in (few, many):
        out = "%s/callgrind.out" % BUILD
        subprocess.run(["valgrind", "-q", "--tool=callgrind", "--toggle-collect=mode_tick", "--separate-threads=no",
                        "--callgrind-out-file=" + out, PROGRAM, "tick", str(count)], env=environment(preload),
                       check=True, capture_output=True)
        with open(out, encoding="ascii") as lines:
            counts.append(int(re.search(r"^(?:totals|summary): (\d+)", lines.read(), re.M).group(1)))
    return (counts[1] - counts[0]) / (many - few)


def nanoseconds(count):
    done = subprocess.run([PROGRAM, "tick", str(count)], env=environment(True), check=True, capture_output=True,
                          text=True)
    return float(re.search(r"ns (\S+)", done.stdout).group(1))


def session(name, context):
    return traces.Session(name, BUILD + "/traces/" + name, context=context,
                          channel=("--subbuf-size=4M", "--num-subbuf=8", "--blocking-timeout=inf"))


def size(trace):
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(trace)
               for name in names if name.startswith("c_") and not name.endswith(".idx"))


def main():
    subprocess.run(["rm", "-rf", BUILD + "/traces"], check=True)
    daemon = traces.Daemon(BUILD + "/home")
    try:
        idle = instructions(False), instructions(True)
        tap.check("no session: the library adds no instruction to a tracepoint (%.1f, %.1f)" % idle, abs(idle[0] - idle[1]) < 0.05)
        figures = {}
        for context in (False, True):
            one = session("instructions-%d" % context, context)
            figures[context] = instructions(True)
            one.end()
        print("# instructions of an event: %.0f, with the stack %.0f" % (figures[False], figures[True]))
        times = {False: [], True: []}
        for _ in range(7):
            for context in (False, True):
                one = session("time-%d" % context, context)
                times[context].append(nanoseconds(1000000))
                one.end()
                bytes_ = size(one.trace)
        times = {context: min(each) for context, each in times.items()}
        print("# ns of an event, least of 7: %.0f, with the stack %.0f" % (times[False], times[True]))
        print("# bytes of an event with the stack: %.1f" % (bytes_ / 1000000))
    finally:
        daemon.stop()
    tap.finish()


traces.isolate()
main()
