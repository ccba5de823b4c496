#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""stacks.py DIRECTORY - stacks of events of LTTng-UST are those of the program

Runs ust-program, which describes its modes, with the library preloaded, in sessions of a session daemon
without kernel. Each event has the program's own record of its calls, and what backtrace() returned.
Prints TAP.
"""

import os
import subprocess
import sys
import time

import traces
from traces import lttng, tap

BUILD = os.path.abspath(sys.argv[1])
PROGRAM = BUILD + "/ust-program"
PRELOAD = BUILD + "/library/libkunwind-ust-preload.so"
FORK = "liblttng-ust-fork.so.1"
FD = "liblttng-ust-fd.so.1"


def start(mode, count, *more, preload=PRELOAD, **environment):
    words = [word for word in (preload, *more) if word]
    environment = dict(os.environ, LTTNG_UST_REGISTER_TIMEOUT="-1", LTTNG_UST_ALLOW_BLOCKING="1", **environment)
    if words:
        environment["LD_PRELOAD"] = ":".join(words)
    return subprocess.Popen([PROGRAM, mode, str(count)], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def run(mode, count, *more, **how):
    """Returns the output; fails a check unless the program has ended well."""
    program = start(mode, count, *more, **how)
    output = program.communicate()[0]
    if program.returncode or not output.endswith("done\n"):
        tap.check(mode + " ends", False, "status %s\n%s" % (program.returncode, output))
    return output


def check(what, events, problems, serials=None):
    """Each event's stack is right, and no event is lost."""
    bad = ["serial %d: %s" % (int(e.fields["serial"]), traces.wrong(e)) for e in events
           if e.name == "kunwind_test:call" and traces.wrong(e)]
    tap.check("%s: %d events have the stack that the program has recorded" % (what, len(events)),
              events and not bad and not problems, "\n".join(problems[:5] + bad[:10]) or "no events")
    if serials is not None:
        got = sorted(int(e.fields["serial"]) for e in events)
        tap.check("%s: no event is lost" % what, got == sorted(serials),
                  "%d of %d events" % (len(got), len(serials)))


def session(name, **how):
    return traces.Session(name, "%s/traces/%s" % (BUILD, name), **how)


def mode(name, count, what, serials=None, more=(), **how):
    one = session(name)
    output = run(name, count, *more, **how)
    one.end()
    events, problems = traces.read(one.trace)
    if serials is None:
        serials = range(count)
    elif callable(serials):
        serials = serials(output)
    check(what, events, problems, serials)
    return events


def with_signals(count):
    def serials(output):
        signals = int(output.split("signals ")[1].split()[0])
        tap.check("the program had at least 20 signals", signals >= 20, output)
        return list(range(count)) + [1000000000 + i for i in range(signals)]
    return serials


def ids_and_strings(events):
    kinds = [event.kind for event in events]
    strings = kinds.count("string")
    tap.check("50 stacks: an event has a string or an identifier (%d and %d)" % (strings, kinds.count("id")),
              50 <= strings < len(kinds) / 3 and strings + kinds.count("id") == len(kinds))
    first = {}
    for event in events:
        first.setdefault(event.id, event.kind)
    tap.same("the first event with a stack has the string", set(first.values()), {"string"})


def repeated(events):
    """Five events a second for three seconds, of one stack."""
    times = {}
    for event in events:
        if event.kind == "string":
            times.setdefault(event.stream, []).append(event.time)
    strings = sum(len(each) for each in times.values())
    tap.check("a string is repeated after a second, and not earlier (%d)" % strings,
              strings >= 3 and all(b - a > 900e6 for each in times.values() for a, b in zip(each, each[1:])), times)


def bytes_repeated():
    """Events of one second need strings again for each 64 KB."""
    one = session("bytes")
    run("plain", 3000)
    one.end()
    events, problems = traces.read(one.trace)
    streams = {}
    for event in events:
        streams.setdefault(event.stream, []).append(event)
    worst = 0
    for stream in streams.values():
        since = {}
        for event in stream:
            # at least: its own fields
            size = 8 * (len(event.fields["own"]) + len(event.fields["all"])) + 24
            for known in since:
                since[known] += size
            if event.kind == "string":
                since[event.id] = 0
            worst = max(worst, since.get(event.id, 0))
    tap.check("no identifier is more than 64 KB after its string (%d bytes)" % worst,
              32768 < worst < 65536 + 2048 and not problems, problems)


def discarded():
    """Buffers of 16 KB that nobody can empty in time: no string counts that was discarded."""
    one = session("discarded", channel=("--subbuf-size=4K", "--num-subbuf=4"))
    run("plain", 40000)
    one.end()
    events, problems = traces.read(one.trace)
    if not problems:
        tap.skip("full buffers", "the daemon has emptied them in time")
        return
    check("full buffers", events, [p for p in problems if "Discarded" not in p])
    explained, early = set(), 0
    for event in events:
        early += event.kind == "id" and (event.stream, event.id) not in explained
        explained.add((event.stream, event.id))
    # the thread may go to another processor in the middle of an event
    tap.check("full buffers: an identifier follows its string in each buffer (%d do not)" % early, early <= 2)


def sessions():
    """Two sessions at a time, one after the other: each has its own strings."""
    first = session("first")
    program = start("slow", 1000)
    second, later = session("second"), None
    time.sleep(1)
    for i in range(6):
        second.end()
        check("a session of a running program, %d" % i, *traces.read(second.trace))
        second = session("later-%d" % i)
        time.sleep(0.5)
    program.terminate()
    program.communicate()
    second.end()
    first.end()
    events, problems = traces.read(first.trace)
    check("a session beside others", events, problems, range(len(events)))
    check("the last session", *traces.read(second.trace))


def snapshot():
    """Of the last 512 KB of each buffer."""
    place = BUILD + "/traces/snapshot"
    traces.Session("snap", None, create=("--snapshot", "-o", place), channel=("--subbuf-size=128K", "--num-subbuf=4"))
    run("plain", 20000)
    lttng("snapshot", "record", "-s", "snap")
    lttng("destroy", "snap")
    events, problems = traces.read(place)
    tap.check("a snapshot has only a part of the events (%d)" % len(events), 500 < len(events) < 10000)
    check("a snapshot", events, [problem for problem in problems if "Discarded" not in problem])


def forked():
    events = mode("fork", 600, "forked children", more=(FORK,))
    keys = {}
    for event in events:
        keys.setdefault(event.pid, set()).add(event.id >> 17)
    tap.check("a parent and its children have identifiers of their own (%d processes)" % len(keys),
              len(keys) == 7 and all(len(own) == 1 for own in keys.values()) and
              len(set.union(*keys.values())) == len(keys), keys)
    tap.same("half of the events are the children's", sum(int(e.fields["serial"]) % 2 for e in events), 300)


def untouched():
    one = session("untouched")
    run("plain", 200, preload=None)
    one.end()
    events, problems = traces.read(one.trace)
    tap.check("a program without the library has events without a stack",
              len(events) == 200 and not problems and {e.kind for e in events} == {"none"})
    one = session("unasked", context=False)
    run("plain", 200)
    one.end()
    events, problems = traces.read(one.trace)
    tap.check("a session without the context has events as before", len(events) == 200 and not problems)
    done = subprocess.run(["/bin/sh", "-c", "cat /proc/self/maps"], env=dict(os.environ, LD_PRELOAD=PRELOAD),
                          capture_output=True, text=True)
    tap.check("a program without LTTng-UST does not get it from the library",
              not done.returncode and "libkunwind-ust-preload" in done.stdout and
              "lttng" not in done.stdout.replace("libkunwind-ust", ""), done.stdout)


def main():
    subprocess.run(["rm", "-rf", BUILD + "/traces"], check=True)
    daemon = traces.Daemon(BUILD + "/home")
    try:
        ids_and_strings(mode("plain", 3000, "one thread"))
        mode("new", 3000, "stacks that are all new")
        mode("deep", 60, "recursion to 1,500 frames")
        repeated(mode("slow", 16, "one stack for three seconds"))
        mode("threads", 4000, "eight threads")
        mode("short-threads", 1000, "50 threads, one after the other")
        mode("signals", 4000, "signals in tracepoints, on the same stack", with_signals(4000))
        mode("altstack", 4000, "signals in tracepoints, on another stack", with_signals(4000))
        mode("vfork", 100, "children of vfork()")
        mode("dlopen", 60, "objects that are loaded and unloaded")
        mode("closed", 600, "all descriptors are closed", more=(FD,))
        mode("chroot", 600, "an empty root directory")
        mode("none", 0, "constructors and destructors", lambda output: [2000000000, 2000000001], UST_OUTSIDE="1")
        forked()
        bytes_repeated()
        discarded()
        snapshot()
        sessions()
        untouched()
    finally:
        daemon.stop()
    tap.finish()


if __name__ == "__main__":
    traces.isolate()
    main()
