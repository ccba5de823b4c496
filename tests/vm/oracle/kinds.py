#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
kinds.py - test the stacks of events other than system calls

    kinds.py TRACE PROGRAMS BLOCKED KTHREADS [NO-FAULTS]

PROGRAMS has lines "name<TAB>pid" of registered programs, BLOCKED the pids of
those that sleep at the end, KTHREADS the tids of kernel threads, one a line.
NO-FAULTS says why the trace has no page faults. If it is not given, a trace
without them is a failure.

- sched_switch: a thread that sleeps in a system call was switched out inside
  it. So its last switch has the stack of its last system call's entry.
- A kprobe (event "probe_*") has the stack of the entry of the system call that
  led there.
- The first address of a page fault's stack is the instruction pointer that the
  event has.
- Kernel threads have no user stack, so none is recorded.
- Whatever interrupts a registered program, the stack ends at an entry point.
  This holds for at least SHARE of the stacks. The others are listed.
- Counted separately: tasks inside execve(), which have no program; tasks that
  have given up their memory on exit; and interrupts while LTTng takes a user
  stack for another event. For these LTTng asks nobody (callstack_user_nesting
  in lttng-context-callstack-stackwalk-impl.h) and records a stack without an
  address.
"""

import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import entries                      # noqa: E402
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402


# Page faults occur where system calls do not: at the first byte of _init and
# _fini, which have no CFI in crti.o; and while a stack page is missing or
# copied.
SHARE = 0.99


class Kind:
    def __init__(self):
        self.total = self.good = 0
        self.bad = []

    def note(self, good, event, why):
        self.total += 1
        self.good += bool(good)
        if not good and len(self.bad) < 5:
            self.bad.append("vtid %s: %s: %s" % (event.vtid, why, " ".join(map(hex, event.stack))))


def main():
    trace, programs, blocked, kthreads = sys.argv[1:5]
    no_faults = sys.argv[5] if len(sys.argv) > 5 else ""
    programs = [(name, int(pid)) for name, pid in ktrace.read_tsv(programs)]
    with open(blocked, encoding="ascii") as lines:
        blocked = {int(line) for line in lines}
    with open(kthreads, encoding="ascii") as lines:
        kthreads = {int(line) for line in lines}
    processes = {pid: entries.Process(name, None) for name, pid in programs}
    ends = {pid: collections.Counter() for pid in processes}
    inside, last_entry, last_switch = {}, {}, {}
    probes, faults, kernel_threads = Kind(), Kind(), Kind()
    executing, exiting, exiting_groups = set(), set(), set()
    apart = collections.Counter()
    kinds = collections.Counter()

    for event in ktrace.events(trace):
        name = event.name
        if event.vtid in kthreads or event.vtid == 0:
            # a task that has nearly ended has tid 0, too
            if name == "sched_switch" and (event.vtid or
                                           event.fields["prev_comm"].startswith("swapper/")):
                kernel_threads.note(event.length == 0, event, "addresses of a kernel thread")
            continue
        process = processes.get(event.vpid)
        if not process:
            continue
        if name == "syscall_entry_execve":
            executing.add(event.vtid)
        elif name == "syscall_exit_execve":
            executing.discard(event.vtid)
        elif name == "syscall_entry_exit":
            exiting.add(event.vtid)
        elif name == "syscall_entry_exit_group":
            exiting_groups.add(event.vpid)
        if name.startswith("syscall_"):
            process.note(event)
            if name.startswith("syscall_entry"):
                inside[event.vtid] = last_entry[event.vtid] = event
            else:
                inside.pop(event.vtid, None)
            continue
        if not process.registered:
            continue
        kinds[name.split("_")[0] + "_*" if name.startswith(("irq", "timer")) else name] += 1
        if event.vtid in executing:
            apart["inside execve()"] += 1
            continue
        if event.length < 2 and (event.vtid in exiting or event.vpid in exiting_groups):
            apart["on exit, without memory"] += 1
            continue
        if event.length == 0 and name.startswith(("irq", "softirq", "timer", "hrtimer")):
            apart["while LTTng takes another stack"] += 1
            continue
        process.note(event)
        if name == "sched_switch":
            last_switch[event.vtid] = event
        elif name.startswith("probe_"):
            entry = inside.get(event.vtid)
            if entry:
                probes.note(event.stack == entry.stack, event, "not that of " + entry.name)
        elif "page_fault_user" in name:
            faults.note(event.stack and event.stack[0] == event.fields["ip"], event,
                        "fault at %#x" % event.fields["ip"])

    switches = Kind()
    for tid, event in last_switch.items():
        if event.vpid in blocked and tid in last_entry:
            switches.note(event.stack == last_entry[tid].stack, event,
                          "not that of " + last_entry[tid].name)
    tap = Tap()
    for text, kind in (("last switches of sleeping threads have their system call's stack", switches),
                       ("kprobe events have their system call's stack", probes),
                       ("page faults' stacks begin at the instruction that faulted", faults),
                       ("switches of kernel threads have no user stack", kernel_threads)):
        if kind is faults and no_faults and not kind.total:
            tap.skip(text, no_faults)
            continue
        tap.test(kind.total > 0 and kind.good == kind.total,
                 "%d of %d %s" % (kind.good, kind.total, text))
        for line in kind.bad:
            tap.note(line)
    entries.report(tap, list(processes.values()), SHARE)
    for name, count in kinds.most_common():
        tap.note("%8d %s" % (count, name))
    for name, count in apart.items():
        tap.note("%8d counted separately: %s" % (count, name))
    tap.test(any(name.startswith("irq") for name in kinds), "the programs were interrupted")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
