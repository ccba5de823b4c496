#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests traces whose events have their stack by id, made up.

Such an event has one context: the thread, and the id of the stack or the process.
kunwind_callstack defines the id, in a stream of its own, after the event that needs
the definition first. A stack that is not defined is lost, and no other one is shown.
"""

import json
import os
import tempfile

import ctf
import tap
from tap import check, run, same

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "../../tools")
KUNWIND = os.path.join(TOOLS, "build/kunwind")
COMPLETE, NO_RULE, NOT_READY = 0, 4, 10         # enum kunwind_reason
REGISTERS, CFI, SCAN = 0, 1, 6                  # enum kunwind_trust
NO_STACK = 1 << 63
ID_BITS, TID_BITS = 41, 22
READ = [("fd", "s32")]
SWITCH = [("prev_comm", "string"), ("prev_tid", "s32"), ("prev_state", "s64"), ("next_comm", "string"),
          ("next_tid", "s32")]
WAKING = [("comm", "string"), ("tid", "s32")]
KERNEL = [("stack", "u64"), ("base", "s32"), ("shared", "u16"), ("addresses", "u64s")]
UP = 0xffffffff81000000
ONE, TWO = [0x1000, 0x2000, 0x3000], [0x1000, 0x2000, 0x4000]

tap.suite = "by-id"


class Trace(ctf.Trace):
    def __init__(self, **rest):
        super().__init__(contexts=("kunwind_stack",), **rest)

    def define(self, time, number, stack, tgid=100, tid=101, comm="app", cpu=0, reason=COMPLETE, trust=(),
               base=0, shared=0):
        number += cpu << ID_BITS
        self.add(time, "kunwind_callstack", None, 0, ctf.NAMED,
                 (tgid, tid, tid, 0, reason, number, base and base - number, shared, stack, list(trust), comm), cpu=cpu)

    def event(self, time, tid, number=None, tgid=None, name="syscall_entry_read", fields=READ, values=(3,), cpu=0,
              kernel=0):
        upper = NO_STACK | tgid << TID_BITS if number is None else number << TID_BITS
        self.add(time, name, (0, 0, ""), upper | tid, fields, values, cpu=cpu, kernel=kernel)


class KernelTrace(Trace):
    """With kernel stacks by id, too."""

    def __init__(self, **rest):
        ctf.Trace.__init__(self, contexts=("kunwind_stack", "kunwind_kernel_stack"), **rest)

    def define_kernel(self, time, number, stack, cpu=0, base=0, shared=0):
        number += cpu << ID_BITS
        self.add(time, "kunwind_kernel_callstack", None, 0, KERNEL,
                 (number, base and base - number, shared, stack), cpu=cpu)


def shown(path, *options):
    """Events of kunwind show: (name, comm, pid, tid, addresses, reason)."""
    events = []
    for line in run(KUNWIND, "show", "--no-symbols", "--tsv", *options, path).splitlines():
        words = line.split("\t")
        if words[0] == "event":
            events.append([words[3], words[4], words[5], words[6], [], None])
        elif words[0] in ("kernel", "frame"):
            events[-1][4].append(int(words[3], 16))
        elif words[0] == "end":
            events[-1][5] = words[2]
    return [tuple(event) for event in events]


def filtered(path, stack="user", events="kunwind_stack = "):
    """Stacks that babeltrace2's filter adds to events that have a kunwind_stack, or to others."""
    plugin = os.path.join(TOOLS, "babeltrace2/build")
    out = run("babeltrace2", "--plugin-path", plugin, path, "-c", "filter.kunwind.symbolize")
    return [[int(word.split(",")[0], 16) for word in
             line.partition("callstack_%s_frames = [" % stack)[2].partition("callstack_")[0].split("{ address = 0x")[1:]]
            for line in out.splitlines() if events in line]


def written(trace, work, name):
    path = os.path.join(work, name)
    trace.write(path)
    return path


def test_join(work):
    trace = Trace()
    trace.event(10, 101, 7)                     # its definition follows
    trace.define(11, 7, ONE)
    trace.event(20, 102, 8)                     # of another thread
    trace.define(21, 8, TWO, tid=102, comm="other", reason=NOT_READY)
    trace.event(30, 101, 7)
    trace.event(31, 102, 8, cpu=1)              # this CPU's 8 is another stack
    trace.define(32, 8, [0x5000], tid=102, comm="other", cpu=1)
    trace.event(40, 103, tgid=0)                # a kernel thread
    trace.event(50, 101, 7)
    path = written(trace, work, "join")
    wanted = [("syscall_entry_read", "app", "100", "101", ONE, "complete"),
              ("syscall_entry_read", "other", "100", "102", TWO, "not_ready"),
              ("syscall_entry_read", "app", "100", "101", ONE, "complete"),
              ("syscall_entry_read", "other", "100", "102", [0x5000], "complete"),
              ("syscall_entry_read", "", "0", "103", [], None),
              ("syscall_entry_read", "app", "100", "101", ONE, "complete")]
    same("show: stack, process and name by the id and the CPU, before the definition, too", shown(path), wanted)
    same("filter: the same stacks", filtered(path), [event[4] for event in wanted])
    same("show --pid selects by the process of the stack", len(shown(path, "--pid", "100")), 5)
    same("show --comm selects by the name in the definition", len(shown(path, "--comm", "other")), 2)
    check("show: the context is not printed as a field", "kunwind_stack" not in run(KUNWIND, "show", "--no-symbols", path))
    folded = run(KUNWIND, "export", "folded", path)
    same("export: all events are there", sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()), 6)
    report = json.loads(run(KUNWIND, "report", "--json", path))["trace"]
    same("report: complete stacks", (report["stacks"], report["stacks_complete"], report["stack_ends_recorded"]),
         (5, 4, True))
    exported = os.path.join(work, "ctf")
    run(KUNWIND, "export", "ctf", "-o", exported, path)
    out = run("babeltrace2", exported)
    same("export ctf: each event has its frames", [line.partition("callstack_user_frames_len = ")[2][:1]
                                                    for line in out.splitlines() if "syscall_entry_read" in line],
         ["3", "3", "3", "1", "0", "3"])


def test_lost(work):
    trace = Trace()
    trace.define(5, 6, ONE)                     # another stack of the thread is known
    trace.event(10, 101, 7)                     # lost
    trace.define(20, 8, TWO[:1], base=9, shared=2)      # the base is lost
    trace.event(21, 101, 8)
    trace.event(30, 102, 7, cpu=1)              # defined on another CPU only, where it is of another thread
    trace.define(40, 7, ONE, tid=102, comm="b")
    trace.event(41, 200, 3)                     # a thread that no event defines
    path = written(trace, work, "lost")
    got = shown(path)
    same("a stack whose definition or base is lost, or of another CPU, is not shown",
         [event[4] for event in got], [[], [], [], []])
    text = run(KUNWIND, "show", "--no-symbols", path)
    same("show: each lost stack is reported", text.count("the stack is lost"), 4)
    same("process and name are those of the thread's other stacks", [event[1:4] for event in got],
         [("app", "100", "101"), ("app", "100", "101"), ("b", "100", "102"), ("", "", "200")])
    same("filter: the same stacks", filtered(path), [event[4] for event in got])


def test_names(work):
    """Threads without stacks get their names from sched_switch and sched_waking."""
    trace = Trace()
    trace.event(10, 300, tgid=0, name="sched_switch", fields=SWITCH, values=("kworker", 300, 0, "app", 101))
    trace.event(11, 101, 7, name="sched_waking", fields=WAKING, values=("sleeper", 400))
    trace.define(12, 7, ONE)
    trace.event(13, 400, tgid=390)
    trace.define(14, 9, TWO, comm="renamed")
    trace.event(15, 101, 9)
    path = written(trace, work, "names")
    same("names of threads, each at its time", [event[1:4] for event in shown(path)],
         [("kworker", "0", "300"), ("app", "100", "101"), ("sleeper", "390", "400"), ("renamed", "100", "101")])


def test_guess(work):
    trace = Trace()
    trace.define(10, 7, ONE, trust=[REGISTERS, CFI, SCAN])
    trace.event(11, 101, 7)
    path = written(trace, work, "guess")
    same("a guessed frame ends the stack of an event, as of one with LTTng's context",
         [event[4:] for event in shown(path)], [(ONE[:2], "no_rule")])
    same("filter: the same", filtered(path), [ONE[:2]])


def test_two_traces(work):
    """Two sessions of one host, or two boots: each has its own definitions."""
    one, two = Trace(), Trace()
    one.event(10, 101, 7)
    one.define(11, 7, ONE)
    two.event(20, 101, 7)
    two.event(30, 101, 8)
    two.define(31, 8, TWO)
    directory = os.path.join(work, "pair")
    one.write(os.path.join(directory, "a"))
    two.write(os.path.join(directory, "b"))
    same("a stack that another trace defines is lost", [event[4] for event in shown(directory)], [ONE, [], TWO])
    same("filter: the same", sorted(filtered(directory)), sorted([ONE, [], TWO]))


def test_kernel(work):
    """Kernel stacks by id: of all threads of a processor, and none of them a user stack."""
    trace = KernelTrace()
    trace.event(10, 101, 7, kernel=9)           # both definitions follow
    trace.define_kernel(11, 9, [UP + 1, UP + 2])
    trace.define(12, 7, ONE)
    trace.event(20, 102, tgid=100, kernel=9)    # another thread, without a user stack
    trace.event(30, 101, 7, kernel=8)
    trace.define_kernel(31, 8, [UP + 3], base=9, shared=1)
    trace.event(40, 101, 7, kernel=0)
    trace.event(50, 101, 7, kernel=7)           # a user stack is not a kernel stack
    trace.event(60, 101, 9, kernel=(1 << ID_BITS) + 9)  # another processor's, lost; and the other way round
    trace.event(70, 101, 7, kernel=5)           # its base is lost
    trace.define_kernel(71, 5, [UP + 4], base=6, shared=1)
    path = written(trace, work, "kernel")
    stacks = [[UP + 1, UP + 2], [UP + 1, UP + 2], [UP + 3, UP + 2], [], [], [], []]
    users = [ONE, [], ONE, ONE, ONE, [], ONE]
    same("kernel stacks, then user stacks", [event[4] for event in shown(path)],
         [one + other for one, other in zip(stacks, users)])
    text = run(KUNWIND, "show", "--no-symbols", path)
    same("show: each lost kernel stack is reported", text.count("the kernel stack is lost"), 3)
    same("show: the ids are not printed as contexts", text.count("kunwind_kernel_stack"), 0)
    same("show: without kernel stacks", [event[4] for event in shown(path, "--no-kernel")], users)
    same("filter: kernel stacks", filtered(path, "kernel"), stacks)
    same("filter: user stacks", filtered(path), users)
    same("filter: the frames of kunwind_callstack itself", filtered(path, "user", "kunwind_callstack: "), [ONE])


def main():
    with tempfile.TemporaryDirectory() as work:
        test_join(work)
        test_lost(work)
        test_names(work)
        test_guess(work)
        test_two_traces(work)
        test_kernel(work)
    tap.finish()


if __name__ == "__main__":
    main()
