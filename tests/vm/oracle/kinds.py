#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
kinds.py - stacks of other events than system calls

    kinds.py TRACE PROGRAMS BLOCKED KTHREADS [NO-FAULTS]

PROGRAMS holds "name<TAB>pid" lines of registered programs, BLOCKED the pids of
those that sleep at the end, KTHREADS one tid of a kernel thread a line. NO-FAULTS
says why the trace has no page faults: not given, none is a failure.

- sched_switch: a thread that sleeps in a system call was switched away inside
  it, so its last switch has the stack of its last system call's entry.
- a probe inside the kernel (event "probe_*") has the stack of the entry of the
  system call that led there.
- a page fault's first address is the instruction that faulted, as the event
  says itself; a fault in the kernel's own copying has its system call's stack.
- kernel threads have no user stack: none is recorded.
- whatever interrupts a registered program, the stack ends at an entry point
  (SHARE of them at least; the rest are listed). Apart, and counted: tasks inside
  execve(), which have no program; tasks that gave up their memory on exit; and
  interrupts of LTTng while it takes a user stack for another event, for which it
  asks nobody (callstack_user_nesting in lttng-context-callstack-stackwalk-impl.h)
  and records a stack of no address.
"""

import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import entries                      # noqa: E402
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402


# Faults hit what system calls never see: _init and _fini, which crti.o has without
# CFI, when their first byte is fetched; and a stack page that is not there, or
# is being copied, at that moment.
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
            # a task that is nearly gone has number 0, too
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
            apart["inside LTTng's taking of a stack"] += 1
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
                       ("probes have their system call's stack", probes),
                       ("page faults begin where the fault was", faults),
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
        tap.note("%8d apart: %s" % (count, name))
    tap.test(any(name.startswith("irq") for name in kinds), "interrupts hit the programs")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
