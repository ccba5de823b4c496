#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests files on file systems that do not answer.

A trace names a program on a FUSE file system, which stops to answer at each stage
of reading a file, and a program on this host's own file system. Each command must
end, name the functions of the other program, and say what it left out.
"""

import os
import subprocess
import tempfile
import time

import analyze
import ctf
import tap
from tap import check, same

tap.suite = "hanging"
HERE = os.path.dirname(os.path.realpath(__file__))
LIMIT = 10  # seconds until a file system is given up, for each of at most two files
OTHER = 0x7f0000000000
HANGS = "file system does not answer"
FOREIGN = "file of another user, who may not be believed"
NOBODY = 65534
# The second read is the parser's, after that of the first bytes.
STAGES = (("lookup",), ("getattr",), ("open",), ("read",), ("read", 2), ("flush",))


class FileSystem:
    """A mounted file system with one file, which hangs at a stage."""

    def __init__(self, directory, server, file, user, stage):
        self.directory = directory
        os.makedirs(directory)
        self.server = subprocess.Popen([server, directory, file, str(user), *map(str, stage)],
                                       stdout=subprocess.PIPE, text=True)
        self.mounted = self.server.stdout.readline() == "ready\n"

    def end(self):
        """All system calls that wait for an answer fail from now on."""
        self.server.kill()
        self.server.communicate()
        if self.mounted:
            subprocess.run(["umount", "-l", self.directory], check=True)


def make_trace(directory, program, symbols, build_id, hanging):
    """One stack in each program: of process 100 in ours, of 200 in that which hangs."""
    trace = ctf.Trace(contexts=("callstack_user", "pid", "tid", "procname"))
    for pid, bias, path in ((100, analyze.BIAS, program), (200, OTHER, hanging)):
        trace.add(1000 * pid, "kunwind_map", (pid, pid, "app"), (), ctf.MAP,
                  [pid, pid, bias, bias + 0x10000, 0, bias, 0, build_id, path])
        stack = [address - analyze.BIAS + bias for address in analyze.stack(symbols, "reader", "main", "_start")]
        trace.add(1000 * pid + 500, "syscall_entry_read", (pid, pid, "app"), stack)
    trace.write(directory)


def start(*arguments, text=""):
    """Starts kunwind with text as its input."""
    process = subprocess.Popen([analyze.KUNWIND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    process.stdin.write(text)
    process.stdin.close()
    process.stdin = None
    return process


def finish(process, deadline):
    """Returns the status and what was printed; None: it did not end in time."""
    try:
        out, _ = process.communicate(timeout=max(1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        return None
    return process.returncode, out


class Case:
    """All commands, side by side, on a trace with a file of one such file system."""

    def __init__(self, work, built, what, user, stage, why):
        program, symbols, build_id = built
        self.what, self.why = what, why
        self.file_system = FileSystem(os.path.join(work, "mount of " + what), os.path.join(work, "hanging-fs"),
                                      program, user, stage)
        trace = os.path.join(work, "trace of " + what)
        make_trace(trace, program, symbols, build_id, os.path.join(self.file_system.directory, "app"))
        address = analyze.stack(symbols, "reader")[0]
        text = "0x%x\n0x%x\n" % (address, address - analyze.BIAS + OTHER)
        self.running = {command[0]: start(*command, trace, text=text if command[0] == "symbolize" else "")
                        for command in (("show",), ("report",), ("export", "folded"),
                                        ("symbolize", "--exact", "--why"))}

    def end(self, deadline):
        """why: what the commands say of the file; None: it has names."""
        done = {name: finish(process, deadline) for name, process in self.running.items()}
        self.file_system.end()
        for name, result in done.items():
            status, out = result or (None, "")
            same("%s: %s ends in time, with status 0" % (self.what, name), status, 0)
            check("%s: %s names the functions of the other program" % (self.what, name), "reader" in out, out)
            if self.why:
                check("%s: %s says what it left out" % (self.what, name), self.why in out, out)
            else:
                check("%s: %s leaves nothing out" % (self.what, name), HANGS not in out and FOREIGN not in out, out)


def main():
    with tempfile.TemporaryDirectory() as work:
        server = os.path.join(work, "hanging-fs")
        subprocess.run(["gcc", "-O1", "-Wall", "-D_GNU_SOURCE", "-o", server, os.path.join(HERE, "hanging-fs.c")],
                       check=True)
        built = analyze.build(work)
        probe = FileSystem(os.path.join(work, "probe"), server, built[0], 0, ("never",))
        probe.end()
        if not probe.mounted:
            tap.skip("file systems that do not answer", "cannot mount a FUSE file system")
            tap.finish()
        deadline = time.monotonic() + 6 * LIMIT * float(os.environ.get("KUNWIND_TIMEOUT_SCALE", 1))
        cases = [Case(work, built, "a file system that answers", 0, ("never",), None),
                 Case(work, built, "file system of another user", NOBODY, ("open",), FOREIGN)]
        cases += [Case(work, built, "no answer to %s" % " ".join(map(str, stage)), 0, stage, HANGS)
                  for stage in STAGES]
        for case in cases:
            case.end(deadline)
    tap.finish()


if __name__ == "__main__":
    main()
