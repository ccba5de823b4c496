#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Traces whose stream files are cut off are read up to the last whole packet.

The oracle is babeltrace2 on a trace without the packets that are cut off.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile

import ctf
from tap import check, finish, same

KUNWIND = os.path.realpath("../../tools/build/kunwind")


def shown(directory, tmp, status=0):
    """Returns the numbers of the events that kunwind show prints, and its messages."""
    done = subprocess.run([KUNWIND, "show", "--no-symbols", "--tsv", directory], capture_output=True,
                          text=True, env=dict(os.environ, TMPDIR=tmp))
    same("status %d" % status, done.returncode, status)
    return [line.split("\t")[3] for line in done.stdout.splitlines() if line.startswith("event")], done.stderr


def oracle(directory):
    done = subprocess.run(["babeltrace2", directory], capture_output=True, text=True, check=True)
    return [line.split(": {")[0].split()[-1] for line in done.stdout.splitlines()]


def variant(whole, name, change):
    """Copies a trace, with its stream file's bytes changed by a function."""
    copy = os.path.join(os.path.dirname(whole), name)
    shutil.copytree(whole, copy)
    with open(os.path.join(copy, "channel_0"), "r+b") as file:
        data = change(file.read())
        file.seek(0)
        file.truncate()
        file.write(data)
    return copy


def ended(work, tmp):
    """A program that a signal ends leaves no view."""
    trace = ctf.Trace()
    for number in range(5000):
        trace.add(1000 + number, "tick", (1, 1, "app"))
    path = os.path.join(work, "long")
    trace.write(path, packets=4)
    cut = variant(path, "long-cut", lambda data: data[:-1])
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        # more output than the pipe holds: it waits for its reader
        with subprocess.Popen([KUNWIND, "show", "--no-symbols", cut], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=tmp)) as process:
            line, views = process.stdout.readline(), os.listdir(tmp)
            if number != signal.SIGPIPE:
                process.send_signal(number)
            else:
                process.stdout.close()
            status = process.wait()
        same("%s: it is the status, and no view is left" % number.name,
             (bool(line), len(views), status, os.listdir(tmp)), (True, 1, -number, []))


def library_fails(work, tmp):
    """libbabeltrace2 fails in a damaged trace: a message, status 1, and no temporary file."""
    trace = ctf.Trace()
    for number in range(2000):
        trace.add(1000 + number, "tick", (1, 1, "app"), [1, 2, 3])
    path = os.path.join(work, "lengths")
    start = trace.write(path, packets=4)[1] + 84 + 10
    traces = [("a stack with %d addresses" % length,
               variant(path, "length-%x" % length, lambda data, length=length: data[:start] +
                       length.to_bytes(4, "little") + data[start + 4:-1])) for length in (0xffffffff, 0x10000003)]
    none = os.path.join(work, "no-classes")
    trace.write(none)
    with open(os.path.join(none, "metadata"), "r+") as file:
        lines = [line for line in file if not line.startswith("event {")]
        file.seek(0)
        file.truncate()
        file.writelines(lines)
    traces.append(("a stream class without event classes", none))
    for what, directory in traces:
        for command in (["show"], ["report"], ["crashes"], ["export", "ctf", "-o", os.path.join(work, "copy")]):
            done = subprocess.run([KUNWIND, *command, directory], capture_output=True, text=True, check=False,
                                  env=dict(os.environ, TMPDIR=tmp),
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29)))
            check("%s, kunwind %s: status 1, a message and no temporary file" % (what, command[0]),
                  done.returncode == 1 and "kunwind %s: the trace is damaged" % command[0] in done.stderr and
                  not os.listdir(tmp), (done.returncode, done.stderr, os.listdir(tmp)))
    with subprocess.Popen([KUNWIND, "show", "--no-symbols", path], stdout=subprocess.PIPE) as process:
        process.stdout.readline()   # more output than the pipe holds: it waits for its reader
        with open("/proc/%d/limits" % process.pid) as file:
            limit = re.search(r"Max data size +(\d+)", file.read())
        process.stdout.close()
    size = sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))
    check("memory is limited to 512 MB and 64 times the size of the trace",
          limit and int(limit.group(1)) <= (512 << 20) + 64 * size, (limit, size))


def foreign(work, tmp, whole, names):
    """Files in the directory of a trace that are no part of it."""
    other = variant(whole, "foreign", lambda data: data)
    for name, text in (("flame.html", "<html>"), ("notes_old", "x"), ("notes_", "x"), ("a\nb", "y"), ("empty", ""), (".hidden", "z")):
        with open(os.path.join(other, name), "w") as file:
            file.write(text)
    os.mkdir(os.path.join(other, "more"))
    os.symlink("missing", os.path.join(other, "link"))
    os.mkfifo(os.path.join(other, "fifo"))
    events, messages = shown(other, tmp)
    same("files that are no part of the trace: all events are read", events, names)
    same("files that are no part of the trace: a message for each",
         sorted(line.split("/foreign/")[1].split(":")[0] for line in messages.splitlines()), ["a\\x0ab", "flame.html", "notes_", "notes_old"])
    check("files that are no part of the trace: the message says what to do",
          messages.count("left out, because it is no part of the trace: move it to another directory\n") == 4, messages)
    same("files that are no part of the trace are kept", sorted(os.listdir(other)),
         sorted([".hidden", "a\nb", "channel_0", "empty", "fifo", "flame.html", "link", "metadata", "more", "notes_", "notes_old"]))
    tree = os.path.join(work, "tree")
    os.makedirs(os.path.join(tree, "source", "metadata"))
    shutil.copytree(whole, os.path.join(tree, "source", "metadata", "trace"))
    os.mkdir(os.path.join(tree, "other"))
    os.mkfifo(os.path.join(tree, "other", "metadata"))
    same("a directory or a FIFO named metadata makes no trace: the trace below is read", shown(tree, tmp), (names, ""))
    damaged = variant(whole, "beginning", lambda data: b"\0" * 4 + data[4:])
    check("a stream file whose beginning is damaged is an error", shown(damaged, tmp, status=1)[1])


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in the background
    with tempfile.TemporaryDirectory() as work:
        trace = ctf.Trace()
        for number in range(12):
            trace.add(1000 + number, "tick%d" % number, (1, 1, "app"))
        whole, tmp = os.path.join(work, "whole"), os.path.join(work, "tmp")
        os.mkdir(tmp)
        at = trace.write(whole, packets=4)
        names = oracle(whole)
        same("the whole trace is read", shown(whole, tmp), (names, ""))
        for what, size in (("inside an event", at[3] + 100), ("inside a packet's header", at[3] + 10),
                           ("one byte before the end of a packet", at[4] - 1)):
            cut = variant(whole, what.replace(" ", "-"), lambda data, size=size: data[:size])
            good = variant(whole, "good-" + what.replace(" ", "-"), lambda data: data[:at[3]])
            events, messages = shown(cut, tmp)
            same("cut off %s: the events of all whole packets" % what, events, oracle(good))
            done = subprocess.run([KUNWIND, "report", "--json", "--all", cut], capture_output=True, text=True, check=True)
            same("cut off %s: report has the number of files and bytes" % what,
                 [json.loads(done.stdout)["trace"][key] for key in ("cut_files", "cut_bytes")], [1, size - at[3]])
            text = subprocess.run([KUNWIND, "report", "--all", cut], capture_output=True, text=True, check=True).stdout
            check("cut off %s: so has the text" % what,
                  "Left out: %d bytes of 1 files that are cut off\n" % (size - at[3]) in text, text)
            check("cut off %s: a message says which file and how much" % what,
                  messages.count("\n") == 1 and "/channel_0: cut off" in messages and
                  "left out %d of %d bytes" % (size - at[3], size) in messages, messages)
        hole = variant(whole, "hole", lambda data: data[:at[2] + 90] + data[at[3]:])
        events, messages = shown(hole, tmp)
        same("a packet is cut off and others follow: the events of all other packets", events,
             names[:3] + names[6:])
        check("a packet is cut off and others follow: a message says how much",
              "left out 90 of" in messages, messages)
        for event, commands in ((0, ("show", "report", "crashes", "export")), (11, ("export",))):
            own = ctf.Trace()
            for number in range(12):
                own.add(1000 + number, "kunwind_exit", (1, 1, "app"), (), [("tgid", "s32")], [number])
            directory = os.path.join(work, "own%d" % event)
            # the length of the event's stack, after the headers of its packet and of itself
            start = own.write(directory)[1] + 84 + event * len(own.events[0]) + 10
            damaged = variant(directory, "damaged%d" % event,
                              lambda data, start=start: data[:start] + b"\xff\xff\x7f\0" + data[start + 4:])
            for command in commands:
                more = ["ctf", "-o", os.path.join(work, "copy")] if command == "export" else []
                done = subprocess.run([KUNWIND, command, *more, damaged], capture_output=True, text=True)
                check("kunwind %s: event %d of 12 is damaged: status 1 and a message" % (command, event + 1),
                      done.returncode == 1 and ("to its end" in done.stderr or "needs more memory than is allowed" in done.stderr),
                      (done.returncode, done.stderr))
        foreign(work, tmp, whole, names)
        ended(work, tmp)
        library_fails(work, tmp)
        two = os.path.join(work, "two")
        shutil.copytree(whole, os.path.join(two, "whole"))
        for name, change in (("none", lambda data: data[:83]), ("first", lambda data: data[:50] + data[84:])):
            lost = ctf.Trace()
            lost.add(1, "lost", (1, 1, "app"))
            lost.write(os.path.join(work, name))
            shutil.move(variant(os.path.join(work, name), name + "-cut", change), two)
        same("files without a whole packet, or without the first one: the events of the other files",
             shown(two, tmp)[0], names)
        other = variant(whole, "other", lambda data: data[:-1])
        metadata = os.path.join(other, "metadata")
        with open(metadata) as file:
            text = file.read()
        with open(metadata, "w") as file:
            file.write(text.replace("lttng-modules", "other"))
        check("a trace of another tracer is left to the library",
              "cannot be opened" in shown(other, tmp, status=1)[1])
        damaged = variant(whole, "metadata-damaged", lambda data: data)
        with open(os.path.join(damaged, "metadata"), "w") as file:
            file.write(text.replace("typealias", "typo", 1))
        for command in ("show", "report"):
            done = subprocess.run([KUNWIND, command, damaged], capture_output=True, text=True)
            same("kunwind %s: damaged metadata: the messages" % command, (done.returncode, done.stderr.splitlines()),
                 (1, ["kunwind %s: the trace cannot be opened" % command, "  Cannot create trace for `%s`." % damaged,
                      '  Its metadata may be damaged: "babeltrace2 TRACE" prints the cause']))
        same("no temporary file is left", os.listdir(tmp), [])
        finish()


main()
