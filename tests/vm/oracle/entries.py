# SPDX-License-Identifier: MIT
"""
entries.py - do the stacks of all events end at an entry point?

Over every event of some programs, from the end of the system call that
registers: the last address of the stack must be in _start, in ld.so's entry, in
clone(), clone3() or __start_context(). See elf.py for how these are found.
NAME.maps holds the mappings at the end, good for the pid's last program; what
ran in the pid before its exec is known by file name from the trace, and its
entries are told by their offset in the page. Left out, and counted apart: a stack as long as LTTng's most (128),
and one address beyond __start_context(), of which glibc's own CFI is wrong.
"""

import collections
import os

import elf
from ktrace import LTTNG_MOST
from maps import Maps

LIBRARIES = [os.path.realpath(path) for path in (
    "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/ld-linux.so.2", "/lib32/libc.so.6") if os.path.exists(path)]
KUNWIND = "/usr/local/bin/kunwind"
IOCTL_REGISTER = 0xE1


def by_page_offset(address, paths):
    """The entries of the files at this offset in a page: their names, or None.

    Two can be there: sid's ld.so and its libc have one each at 0xd00.
    """
    return " or ".join("%s of %s" % (name, os.path.basename(path))
                       for path in paths for first, last, name in elf.entries(path)
                       if (address - first) % 4096 <= last - first) or None


class Process:
    """What is known of one pid, and where the stacks of its events ended."""

    def __init__(self, name, maps, parent=None):
        self.name = name
        self.maps = maps
        self.parent = parent    # a registered process that forked this one
        self.registered = bool(parent)
        self.asked = set()      # threads in the ioctl that registers
        self.candidate = ""     # file of an execve that has begun
        self.execs = []         # files of those that succeeded
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
            # a 32-bit program's first: the end of its execve has another name, by the
            # number that 64-bit execve has among 32-bit calls
            self.execs.append(self.candidate)
            self.candidate = ""
        if not self.registered or event.length is None:
            return
        if event.length >= LTTNG_MOST:
            self.full += 1
        else:
            self.ends[(len(self.execs), event.last_two, name)] += 1

    def entry(self, execs, address):
        """(name of the entry point or None, where this is in words)."""
        if address is None:
            return None, "no stack"
        if execs == len(self.execs) and self.maps:
            path, virtual = self.maps.place(address)
            if path is None:
                return None, "unmapped since"
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
    """Two tests about a list of Process.

    unbuilt: how many stacks met a part of a table that was not built yet. They end early.
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
             "%d of %d stacks (%.3f %%) end at an entry point%s" %
             (complete, total, 100.0 * complete / max(total, 1),
              ", %d before a part that was not built" % unbuilt if unbuilt else ""))
    tap.test(not silent, "every program has events" +
             (", but not: " + " ".join(silent) if silent else ""))
    tap.note("not counted: %d stacks as long as LTTng's most, %d with an address beyond "
             "__start_context (see README)" % (sum(p.full for p in processes), beyond))
    for name, count in ends.most_common():
        tap.note("%8d end at %s" % (count, name))
    for (name, where, event), count in elsewhere.most_common(40):
        tap.note("%8d of %s end at %s, e.g. in %s" % (count, name, where, event))
