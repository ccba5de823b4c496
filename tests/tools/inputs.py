#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests that no output replaces, or is written beside, a file of the traces that are read.

Each case has fresh traces, names an output, and compares all files afterwards.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import ctf
import tap
from tap import check, same

HERE = os.path.dirname(os.path.abspath(__file__))
KUNWIND = os.path.join(HERE, "../../tools/build/kunwind")
FORMATS = ("folded", "speedscope", "firefox", "perfetto", "pprof")
work = None


def place():
    """Writes two traces, T and the base B, and names for the same files."""
    os.chdir("/")
    shutil.rmtree(work)
    os.mkdir(work)
    os.chdir(work)
    trace = ctf.Trace()
    trace.add(1, "tick", (100, 100, "app"), [0x1234])
    for name in ("T", "B"):
        trace.write(name + "/a/kernel")
        os.mkdir(name + "/a/kernel/index")
    for name in ("T/a/kernel/index/channel_0.idx", "T/a/kallsyms.gz", "kallsyms.gz", "T/a/old.html", "stream"):
        with open(name, "w", encoding="ascii") as file:
            file.write("x")
    os.link("T/a/kernel/channel_0", "hard")
    os.symlink("T/a/kernel/metadata", "soft")
    os.symlink("T", "T2")
    os.symlink("../../../../stream", "T/a/kernel/index/link")     # a file of a trace that is elsewhere
    os.mkdir("out")
    os.symlink("../T/a/kernel", "out/dir")


def files():
    """Returns the content of each file by its path."""
    found = {}
    for directory, _, names in os.walk("."):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[path] = os.readlink(path) if os.path.islink(path) else file.read()
    return found


def run(arguments, **how):
    how = {"stdout": subprocess.DEVNULL, **how}
    return subprocess.run([KUNWIND, *arguments], stderr=subprocess.PIPE, text=True, timeout=60, check=False, **how)


def refused(what, arguments, out=None, **how):
    """@out: the file that the shell opens for standard output."""
    place()
    before = files()
    if out:
        if out not in before:
            with open(out, "wb"):
                before = files()
        with open(out, "ab") as file:
            done = run(arguments, stdout=file, **how)
    else:
        done = run(arguments, **how)
    check(what + ": refused", done.returncode == 1 and "of a trace that is read" in done.stderr and
          "another" in done.stderr, (done.returncode, done.stderr))
    same(what + ": no file has changed", {name for name, text in files().items() ^ before.items()}, set())


def test_named():
    for name in ("T/a/kernel/metadata", "./T/../T/a/kernel/channel_0", "T2/a/kernel/metadata", "out/dir/channel_0", "hard", "soft",
                 "T/a/kernel/index/channel_0.idx", "stream", "kallsyms.gz", "T/a/kallsyms.gz", "T/a/kernel/new",
                 "T/a/kernel/index/new", "out/dir/new"):
        refused("flamegraph -o " + name, ["flamegraph", "--all", "-o", name, "T"])
    for form in FORMATS:
        refused("export %s" % form, ["export", form, "--all", "-o", "T/a/kernel/metadata", "T"])
    refused("several traces: a file of the second", ["export", "folded", "--all", "-o", "B/a/kernel/metadata", "T", "B"])
    refused("a trace by its own directory", ["flamegraph", "--all", "-o", "T/a/kernel/channel_0", "T/a/kernel"])
    refused("a file of the base", ["flamegraph", "--all", "-o", "B/a/kernel/metadata", "--base", "B", "T"])
    refused("-o names a descriptor of a trace's file", ["export", "folded", "--all", "-o", "/dev/fd/9", "T"],
            preexec_fn=lambda: os.dup2(os.open("hard", os.O_WRONLY | os.O_APPEND), 9), close_fds=False)
    for name in ("T/a/kernel/copy", "out/dir/copy", "T/a/kernel/index/copy"):
        refused("export ctf -o " + name, ["export", "ctf", "--all", "-o", name, "T"])


def test_streams():
    for command in (["show"], ["report"], ["waits"], ["crashes"], ["symbolize"], ["export", "folded"], ["flamegraph", "-o", "-"]):
        refused("%s >> a file of the trace" % command[0], [*command, "T"], out="./T/a/kernel/channel_0", stdin=subprocess.DEVNULL)
    refused("report > a new file in the directory of the trace", ["report", "T"], out="./T/a/kernel/new")


def test_taken():
    for name in ("T/a/old.html", "T/new.html", "new", "B/a/kernel/metadata", "out/new"):
        place()
        before = files()
        done = run(["flamegraph", "--all", "-o", name, "T"])
        same("-o %s, which is no file of the trace: written" % name, done.returncode, 0)
        same("-o %s: no other file has changed" % name, {n for n, _ in files().items() ^ before.items()}, {"./" + name})
    place()
    same("ctf beside the trace: written", run(["export", "ctf", "--all", "-o", "T/copy", "T"]).returncode, 0)


def main():
    global work
    with tempfile.TemporaryDirectory() as directory:
        work = os.path.join(os.path.realpath(directory), "work")
        os.mkdir(work)
        test_named()
        test_streams()
        test_taken()
        os.chdir("/")
    tap.finish()


if __name__ == "__main__":
    main()
