#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures the cost of naming frames and the size of traces, for kunwind and other tools.

  bench.py OUT DEBUG NAME-BENCH KUNWIND

OUT is a directory that record.sh wrote; DEBUG has debug files below .build-id. All
programs run on one processor. Prints tab-separated lines.

Names: NAME-BENCH names a million frames of the trace, and measures the processor time of
naming alone. eu-addr2line and addr2line get the same frames, object by object; eu-addr2line
gets those of one stack in fifty, because it is slow. Then kunwind reports the trace, and
perf reports a recording of the same workload.

Sizes: a trace of openat with its stacks, and the events kunwind_callstack of such a trace.
"""

import array
import collections
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import names

FRAMES = 1000000
SAMPLE = {"eu-addr2line": 50, "addr2line": 1}     # one stack in so many


def measure(command, **more):
    """Returns (processor time in s, peak memory in MB) of the command and its children."""
    pid = subprocess.Popen(["taskset", "-c", "0", *command], stderr=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(pid.pid, 0)
    pid.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def row(kind, what, *values):
    print("\t".join([kind, what, *values]), flush=True)


def frames_of(out, saved, kunwind):
    """Returns {path in OUT/originals: (numbers of the stacks, addresses in the object)}, in order."""
    show = subprocess.Popen([kunwind, "show", "--tsv", "--no-local", "--no-lines", "--debug-dir", saved,
                             os.path.join(out, "trace")], stdout=subprocess.PIPE, text=True, errors="replace")
    asked = collections.defaultdict(lambda: (array.array("Q"), array.array("Q")))
    # Line by line: the peak memory of a command is at least the size of this process.
    for line in show.stdout:
        field = line.split("\t")
        if field[0] == "frame" and field[6].startswith("/"):
            stacks, addresses = asked[field[6]]
            stacks.append(int(field[1]))
            addresses.append(int(field[7], 16) - (field[2] != "0"))
    show.wait()
    return asked


def others(out, debug, asked, work):
    for tool, sample in SAMPLE.items():
        seconds = memory = total = 0
        for path, frames in asked.items():
            copy = os.path.join(out, "originals") + path
            options = ["--debuginfo-path=%s:%s" % (debug, names.DEBUG_SYSTEM), "-e", copy] \
                if tool.startswith("eu") else ["-e", names.debug_file(copy, debug)]
            question = os.path.join(work, "addresses")
            with open(question, "w") as file:
                for stack, address in zip(*frames):
                    if stack % sample == 0:
                        file.write("%#x\n" % address)
                        total += 1
            with open(question) as file:
                one = measure([tool, "-i", "-f", *options], stdin=file, stdout=subprocess.DEVNULL)
            seconds, memory = seconds + one[0], max(memory, one[1])
        row("names", "%s -i -f, %d frames" % (tool, total), "%.1f s" % seconds,
            "%.1f s a million" % (seconds * FRAMES / total), "%d MB" % memory)


def reports(out, saved, symfs, kunwind):
    trace = os.path.join(out, "trace")
    summary = subprocess.run([kunwind, "show", "--summary", "--tsv", "--no-symbols", trace],
                             capture_output=True, text=True).stdout
    frames = int(summary.split("frames\t")[1].split()[0])
    for what, options in (("functions", ["--no-lines"]), ("inlined ones, lines", [])):
        seconds, memory = measure([kunwind, "report", "--no-local", "--debug-dir", saved, *options, trace],
                                  stdout=subprocess.DEVNULL)
        row("names", "kunwind report, %s, %d frames" % (what, frames), "%.1f s" % seconds,
            "%.1f s a million" % (seconds * FRAMES / frames), "%d MB" % memory)
    shutil.copytree(os.path.join(out, "originals"), symfs)
    shutil.copytree(os.path.join(saved, ".build-id"), os.path.join(symfs, "usr/lib/debug/.build-id"))
    file = os.path.join(out, "all.perf")
    frames = subprocess.run("perf script -i %s -F ip --no-inline 2>/dev/null | grep -c '[0-9a-f]'" % file,
                            shell=True, capture_output=True, text=True).stdout
    for what, options in (("functions", ["--no-inline"]), ("inlined ones, too", ["--inline"])):
        seconds, memory = measure(["timeout", "300", "perf", "report", "-i", file, "--symfs",
                                   symfs, "--stdio", "-g", *options],
                                  stdout=subprocess.DEVNULL)
        row("names", "perf report, %s, %s frames" % (what, frames.strip()), "%.1f s" % seconds,
            "%.1f s a million" % (seconds * FRAMES / int(frames)), "%d MB" % memory)


def size(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, found in os.walk(path) for name in found) or os.path.getsize(path)


def count(command):
    return int(subprocess.run(command, shell=True, capture_output=True, text=True).stdout or 0)


def sizes(out, kunwind):
    trace, file = os.path.join(out, "openat"), os.path.join(out, "openat.perf")
    own = os.path.join(out, "callstack")
    shown = kunwind + " show --tsv --no-symbols --event '%s' %s | grep -c ^event"
    for what, paths, events in (
            ("LTTng with kunwind", [trace], count(shown % ("*openat", trace))),
            ("kunwind_callstack alone", glob.glob(os.path.join(own, "kernel/own_*")),
             count(shown % ("kunwind_callstack", own))),
            ("perf --call-graph dwarf", [file],
             count("perf script -i %s -F event -G 2>/dev/null | grep -c openat" % file))):
        total = sum(map(size, paths))
        row("size", "%s, %d events" % (what, events), "%d bytes" % total,
            "%.0f an event" % (total / events))


def main():
    out, debug, bench, kunwind = sys.argv[1:]
    work = tempfile.mkdtemp()
    try:
        saved = os.path.join(work, "saved")
        names.save(names.originals(os.path.join(out, "originals")), debug, saved)
        subprocess.run(["taskset", "-c", "0", bench, str(FRAMES), os.path.join(out, "trace"), saved],
                       check=True)
        others(out, debug, frames_of(out, saved, kunwind), work)
        reports(out, saved, os.path.join(work, "symfs"), kunwind)
        sizes(out, kunwind)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
