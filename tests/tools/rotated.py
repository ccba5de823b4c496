#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests that all readers of traces print the same of a rotated recording as of the whole one.

"lttng rotate" begins a new chunk: the files so far go to a directory of their own, with a copy
of the metadata. Calls, waits, mappings and stacks by id that begin in a chunk are needed in the
next ones.
"""

import os
import subprocess
import tempfile

import analyze
import crashes
import ctf
import tap
import waits
from tap import check, same

HERE = os.path.dirname(os.path.abspath(__file__))
KUNWIND, PLUGIN = (os.path.join(HERE, "../../tools", path) for path in ("build/kunwind", "babeltrace2/build"))
OPEN, FD = [("dfd", "s32"), ("filename", "string"), ("flags", "s32")], [("fd", "s32")]
READERS = [
    ["show"], ["show", "--json"], ["show", "--summary"], ["show", "--own", "--tsv"], ["crashes"],
    ["report"], ["report", "--json"], ["report", "--tree"], ["report", "--histogram", "call"], ["report", "--by", "file"],
    ["waits"], ["waits", "--json"], ["flamegraph", "-o", "-"], ["flamegraph", "--timeline", "-o", "-"],
    *(["export", name] for name in ("folded", "speedscope", "firefox", "perfetto", "pprof", "sqlite")),
]


def recording(work):
    """A lock, files, a wait, a crash and stacks by id; each of them lasts from one chunk to the next."""
    scene = waits.Scene(work, "scene", *analyze.build(work))
    add, at, first, second = scene.trace.add, scene.at["reader"], waits.FIRST, waits.SECOND
    add(2000, "kunwind_callstack", first, (), ctf.WHOLE, [100, 100, 100, 0, 0, 7, 0, 0, at, []])
    add(2100, "syscall_entry_openat", first, at, OPEN, [-100, "settings", 0])
    add(3900, "kunwind_callstack", first, (), ctf.WHOLE, [100, 100, 100, 0, 0, 8, 1, 2, scene.at["opener"][:1], []])
    # 4000: rotated
    scene.leave(4100, first, "openat")
    scene.futex(4200, second, 0x1000, waits.WAIT | waits.PRIVATE, 2)
    scene.out(4300, second)
    scene.enter(5000, first, "read", "opener", cpu=1, fields=FD, values=[0])
    # 6000: rotated
    scene.leave(6100, first, "read", cpu=1)
    scene.futex(6200, first, 0x1000, waits.WAKE | waits.PRIVATE, 1, "opener", cpu=1)
    scene.wake(6300, first, second)
    scene.leave(6400, first, "futex", cpu=1)
    scene.back(6500, second)
    # 8000: rotated twice, with nothing between
    scene.leave(8100, second, "futex")
    scene.timer(8200, "entry")
    scene.timer(8300, "exit")
    add(8400, "kunwind_fatal_signal", first, at, crashes.FATAL, [100, 100, 11, 1, 0, 0, 0])
    add(8500, "syscall_entry_write", first, at, FD, [1])
    return scene.trace


def command(*arguments, stdin=None):
    done = subprocess.run(arguments, capture_output=True, input=stdin, check=False,
                          env={**os.environ, "XDG_STATE_HOME": "/nonexistent"})
    return done.returncode, done.stdout, done.stderr


def events(text):
    return [line.partition(") ")[2] for line in text.decode(errors="replace").splitlines() if line.startswith("[")]


def main():
    tap.suite = "rotated"
    with tempfile.TemporaryDirectory() as work:
        # the same length, because progress and titles may have it
        whole, chunks, trace = os.path.join(work, "whole"), os.path.join(work, "parts"), recording(work)
        trace.write(whole, lost=5)
        trace.rotate(chunks, [4000, 6000, 7900, 8000], lost=5)
        for reader in READERS:
            got = [command(KUNWIND, *reader, path) for path in (whole, chunks)]
            got = [[part.replace(path.encode(), b"TRACE") if isinstance(part, bytes) else part for part in one]
                   for one, path in zip(got, (whole, chunks))]
            check("kunwind %s: of a rotated recording as of the whole" % " ".join(reader), got[0] == got[1] and got[0][0] == 0 and got[0][1],
                  "%.500r\n%.500r" % (got[0], got[1]))
        for name, arguments, stdin in (
                ("symbolize", [KUNWIND, "symbolize"], b"0x555555555131\n"),
                ("symbolize --pid", [KUNWIND, "symbolize", "--pid", "100"], b"0x555555555131\n")):
            got = [command(*arguments, path, stdin=stdin)[:2] for path in (whole, chunks)]
            check("kunwind %s: the same" % name, got[0] == got[1] and got[0][0] == 0, got)
        for filters in ([], ["-c", "filter.kunwind.symbolize"]):
            got = [events(command("babeltrace2", "--plugin-path", PLUGIN, path, *filters)[1]) for path in (whole, chunks)]
            check("babeltrace2 %s: the same events" % " ".join(filters), got[0] == got[1] and len(got[0]) > 15, got)
        copies = []
        for path in (whole, chunks):
            copy = path + ".ctf"
            status, _, said = command(KUNWIND, "export", "ctf", "-o", copy, path)
            same("export ctf: status", (status, b"lost 5" in said), (0, True))
            copies.append(events(command("babeltrace2", copy)[1]))
        check("export ctf: the same events", copies[0] == copies[1] and len(copies[0]) > 15, copies)
        one = os.path.join(chunks, "archives")
        same("one chunk alone can be read", command(KUNWIND, "show", os.path.join(one, sorted(os.listdir(one))[2]))[0], 0)
    tap.finish()


if __name__ == "__main__":
    main()
