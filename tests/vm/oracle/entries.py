# SPDX-License-Identifier: MIT
"""
entries.py - test that the stacks of all events end at an entry point

This covers each event of the programs from the exit of the system call that
registers. The last address of the stack must be in _start, in ld.so's entry, in
clone(), clone3() or __start_context() (elf.py finds these). NAME.maps has the
mappings at the end, which hold for the last program of the pid. Of earlier
programs of that pid the trace has the file name: an address then needs the page
offset of an entry.

Two kinds of stacks are counted separately: those of 128 addresses, the most
that LTTng records, and those with one address beyond __start_context(), whose
CFI in glibc is wrong.
"""

import collections
import os

import elf
from ktrace import LTTNG_MOST

LIBRARIES = [os.path.realpath(path) for path in (
    "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/ld-linux.so.2", "/lib32/libc.so.6") if os.path.exists(path)]
KUNWIND = "/usr/local/bin/kunwind"
IOCTL_REGISTER = 0xE1


def by_page_offset(address, paths):
    """The names of the files' entries at address's offset in a page, or None.

    There can be two: sid's ld.so and libc both have one at 0xd00.
    """
    return " or ".join("%s of %s" % (name, os.path.basename(path))
                       for path in paths for first, last, name in elf.entries(path)
                       if (address - first) % 4096 <= last - first) or None


class Process:
    """One pid, and where the stacks of its events ended."""

    def __init__(self, name, maps, parent=None):
        self.name = name
        self.maps = maps
        self.parent = parent    # the registered process that forked this one
        self.registered = bool(parent)
        self.asked = set()      # threads in the ioctl that registers
        self.candidate = ""     # the file of an execve that has begun
        self.execs = []         # the files of execves that succeeded
        self.ends = collections.Counter()   # (execs, last two addresses, event) -> stacks
        self.full = 0

    def note(self, event):
        name = event.name
        if name == "syscall_entry_ioctl" and not self.registered:
            if event.fields.get("cmd", 0) & 0xFFFF == 0x4B00 | IOCTL_REGISTER:
                self.asked.add(event.vtid)
        elif name == "syscall_exit_ioctl" and event.vtid in self.asked:
            self.asked.discard(event.vtid)
            self.registered = event.fields.get("ret") == 0
        elif name == "syscall_entry_execve":
            self.candidate = event.fields.get("filename", "")
        elif name == "syscall_exit_execve" and event.fields.get("ret") == 0:
            self.execs.append(self.candidate)
            self.candidate = ""
        elif name.startswith("compat_") and self.candidate:
            # The exit of an execve that starts a 32-bit program has the name of
            # the 32-bit call that has the number of the 64-bit execve.
            self.execs.append(self.candidate)
            self.candidate = ""
        if not self.registered or event.length is None:
            return
        if event.length >= LTTNG_MOST:
            self.full += 1
        else:
            self.ends[(len(self.execs), event.last_two, name)] += 1

    def entry(self, execs, address):
        """(name of the entry point or None, where the address is, as text)."""
        if address is None:
            return None, "no stack"
        if execs == len(self.execs) and self.maps:
            path, virtual = self.maps.place(address)
            if path is None:
                return None, "not mapped any more"
            where = "%s+%#x" % (path, virtual or 0)
            if path.startswith("/") and virtual is not None:
                return elf.entry_at(path, virtual), where
            return None, where
        program = KUNWIND
        if execs:
            program = self.execs[execs - 1]
        elif self.parent and self.parent.execs:
            program = self.parent.execs[-1]
        program = os.path.realpath(program)
        if os.path.exists(program):
            program = elf.interpreter(program) or program
        paths = LIBRARIES + [program]
        return (by_page_offset(address, [p for p in paths if os.path.exists(p)]),
                "its exec %d, page offset %#x" % (execs, address % 4096))


def report(tap, processes, share=0.999, unbuilt=0):
    """Makes two tests of a list of Process.

    share: the part of the stacks that must end at an entry point. unbuilt: the
    number of stacks that met a part of a table that was not built, and end early.
    """
    total = complete = beyond = 0
    ends, elsewhere = collections.Counter(), collections.Counter()
    silent = []
    for process in processes:
        before = total
        for (execs, (address, caller), event), count in process.ends.items():
            end, where = process.entry(execs, address)
            if not end and caller is not None and \
               "__start_context" in (process.entry(execs, caller)[0] or ""):
                beyond += count
                continue
            total += count
            if end:
                complete += count
                ends[end] += count
            else:
                elsewhere[(process.name, where, event + (", 1 frame" if caller is None else ""))] \
                    += count
        if total == before:
            silent.append(process.name)
    tap.test(complete > 0 and complete + unbuilt >= share * total,
             "stacks end at an entry point: %d of %d (%.3f %%)%s" %
             (complete, total, 100.0 * complete / max(total, 1),
              ", %d met a part that was not built" % unbuilt if unbuilt else ""))
    tap.test(not silent, "every program has events with stacks" +
             (", except: " + " ".join(silent) if silent else ""))
    tap.note("not counted: %d stacks of LTTng's maximum length, %d with an address beyond "
             "__start_context (see README)" % (sum(p.full for p in processes), beyond))
    for name, count in ends.most_common():
        tap.note("%8d end at %s" % (count, name))
    for (name, where, event), count in elsewhere.most_common(40):
        tap.note("%8d of %s end at %s, for example in %s" % (count, name, where, event))
