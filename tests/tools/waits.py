#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind waits, and the weight "lock", on traces with known waits and wakers."""

import json
import os
import shutil
import subprocess
import tempfile

import ctf
import perfetto
import tap
from analyze import BIAS, KUNWIND, build, run, stack
from json_output import parse
from tap import check, same

SWITCH = [("prev_comm", "string"), ("prev_tid", "s32"), ("prev_state", "s64"),
          ("next_comm", "string"), ("next_tid", "s32")]
IDLE = (0, 0, "swapper")
FIRST, SECOND, THIRD = (100, 100, "first"), (100, 101, "second"), (100, 102, "third")
OTHER = (200, 200, "other")
PRIVATE, REALTIME, WAIT, WAKE, WAIT_BITSET = 128, 256, 0, 1, 9


class Scene:
    """A trace of threads on two processors; each event has its time."""

    def __init__(self, work, name, program, symbols, build_id, host="testhost", seconds=1700000000,
                 processes=(FIRST, OTHER), **trace):
        self.trace = ctf.Trace(host=host, seconds=seconds, **trace)
        self.directory = os.path.join(work, name)
        self.at = {function: stack(symbols, function, "main", "_start")
                   for function in ("reader", "opener", "recursive")}
        for process in processes:
            self.trace.add(1000, "kunwind_map", process, (), ctf.MAP,
                           [process[0], process[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])

    def enter(self, time, thread, call, where="reader", cpu=0, fields=(), values=()):
        self.trace.add(time, "syscall_entry_" + call, thread, self.at[where], fields, values, cpu=cpu)

    def futex(self, time, thread, address, operation, value=0, where="reader", cpu=0):
        self.enter(time, thread, "futex", where, cpu, ctf.FUTEX, [address, operation, value])

    def leave(self, time, thread, call, cpu=0):
        self.trace.add(time, "syscall_exit_" + call, thread, (), ctf.RETURN, [0], cpu=cpu)

    def wait_for(self, time, waiter, waker, address, value):
        """The waiter waits at an address on CPU 0, until the waker releases it on CPU 1."""
        self.futex(time, waiter, address, WAIT | PRIVATE, value)
        self.out(time + 100, waiter)
        self.futex(time + 200, waker, address, WAKE | PRIVATE, 1, "opener", cpu=1)
        self.wake(time + 300, waker, waiter)
        self.leave(time + 400, waker, "futex", cpu=1)
        self.back(time + 500, waiter)
        self.leave(time + 600, waiter, "futex")

    def out(self, time, thread, state=1, following=IDLE, where="reader", cpu=0):
        """The thread loses the CPU. state: 1 sleeps, 0 was preempted, 16 is dead."""
        self.trace.add(time, "sched_switch", thread, self.at[where], SWITCH,
                       [thread[2], thread[1], state, following[2], following[1]], cpu=cpu)

    def back(self, time, thread, cpu=0, before=IDLE):
        """The idle thread gives the CPU to the thread."""
        self.trace.add(time, "sched_switch", before, (), SWITCH,
                       [before[2], before[1], 0, thread[2], thread[1]], cpu=cpu)

    def wake(self, time, waker, thread, where="opener", cpu=1, event="sched_waking"):
        self.trace.add(time, event, waker, self.at[where] if waker != IDLE else (), ctf.WAKING,
                       [thread[2], thread[1]], cpu=cpu)

    def interrupt(self, time, event, fields=(), values=(), cpu=1):
        self.trace.add(time, event, None, (), fields, values, cpu=cpu)

    def timer(self, time, what, cpu=1):
        self.interrupt(time, "x86_irq_vectors_local_timer_" + what, [("vector", "s32")], [236], cpu)

    def soft(self, time, what, number, cpu=1):
        self.interrupt(time, "irq_softirq_" + what, [("vec", "s32")], [number], cpu)

    def waits(self, *options, lost=0):
        if not os.path.isdir(self.directory):
            self.trace.write(self.directory, lost=lost)
        done = run("waits", "--json", *options, self.directory)
        self.stderr = done.stderr
        return parse("waits", done.stdout.encode())


def names(frames):
    return [frame["name"] for frame in frames]


def wakers(data):
    return {(line["waiter"], line["cause"]): (line["ended_by"], line["waker"], line["waker_call"], line["count"],
                                              line["blocked_ns"], line["latency_ns"]) for line in data["wakers"]}


def parts(part):
    """A chain as {name: nanoseconds or, if it has parts, (nanoseconds, parts)}."""
    return {one["name"]: (one["ns"], parts(one["parts"])) if one["parts"] else one["ns"] for one in part}


def test_wakers(scene):
    scene.enter(2000, FIRST, "read")
    scene.out(2500, FIRST)
    scene.enter(3000, SECOND, "write", "opener", cpu=1)
    scene.wake(3100, SECOND, FIRST)
    scene.wake(3150, SECOND, FIRST, event="sched_wakeup")
    scene.leave(3200, SECOND, "write", cpu=1)
    scene.back(3600, FIRST)
    scene.leave(3700, FIRST, "read")
    data = scene.waits()
    same("a thread wakes: cause, waker, its system call, blocked until the wakeup, latency", wakers(data),
         {("first", "read"): ("thread", "second", "write", 1, 600, 500)})
    same("a thread wakes: both stacks", [(names(line["stack"]), names(line["waker_stack"])) for line in data["wakers"]],
         [(["reader", "main", "_start"], ["opener", "main", "_start"])])
    same("the longest wait, without the latency", [line["longest_ns"] for line in data["wakers"]], [600])
    same("numbers of waits", [data["trace"][key] for key in ("waits", "ended_by_thread", "ended_by_interrupt",
         "waker_not_recorded", "preempted", "end_lost", "waiting_at_end", "in_call_at_begin")], [1, 1, 0, 0, 0, 0, 0, 0])
    same("no events of interrupts: a message says that a waker may be one", scene.stderr,
         "kunwind waits: the trace has no events of interrupts: a thread named as waker may be one that an "
         "interrupt stopped\n")
    text = run("waits", scene.directory).stdout
    check("text: waiter, cause, waker and stacks",
          "first 100: read <- second in write\n" in text and "waits in  reader < main < _start\n" in text and
          "woken in  opener < main < _start\n" in text, text)


def test_interrupts(scene):
    """Each wait of the first thread is ended by another kind of interrupt, on the second thread's CPU."""
    def wait(time, call):
        scene.enter(time, FIRST, call)
        scene.out(time + 100, FIRST)

    def end(time, call):
        scene.back(time, FIRST)
        scene.leave(time + 10, FIRST, call)

    scene.enter(1500, SECOND, "sendto", "opener", cpu=1)
    wait(2000, "nanosleep")
    scene.timer(3000, "entry")
    scene.wake(3050, SECOND, FIRST)
    scene.timer(3100, "exit")
    end(3200, "nanosleep")
    wait(4000, "recvfrom")                      # by a packet of the second thread's own: loopback
    scene.soft(4500, "raise", 3)
    scene.soft(4600, "entry", 3)
    scene.wake(4650, SECOND, FIRST)
    scene.soft(4700, "exit", 3)
    end(4800, "recvfrom")
    wait(5000, "recvmsg")                       # by a packet from outside
    scene.interrupt(5200, "irq_handler_entry", [("irq", "s32"), ("name", "string")], [33, "eth0"])
    scene.soft(5250, "raise", 3)
    scene.interrupt(5300, "irq_handler_exit", [("irq", "s32"), ("ret", "s32")], [33, 1])
    scene.soft(5350, "entry", 3)
    scene.wake(5400, SECOND, FIRST)
    scene.soft(5450, "exit", 3)
    end(5500, "recvmsg")
    wait(6000, "pread64")
    scene.interrupt(6100, "irq_handler_entry", [("irq", "s32"), ("name", "string")], [34, "nvme0q1"])
    scene.wake(6200, SECOND, FIRST)
    scene.interrupt(6300, "irq_handler_exit", [("irq", "s32"), ("ret", "s32")], [34, 1])
    end(6400, "pread64")
    wait(7000, "poll")                          # a timer inside of a softirq
    scene.soft(7100, "entry", 9)
    scene.timer(7110, "entry")
    scene.timer(7120, "exit")
    scene.wake(7200, SECOND, FIRST)
    scene.soft(7300, "exit", 9)
    end(7400, "poll")
    wait(8000, "select")                        # after all interrupts
    scene.wake(8200, SECOND, FIRST)
    end(8300, "select")
    wait(9000, "epoll_wait")                    # the exit was lost, but the CPU was switched
    scene.timer(9100, "entry")
    scene.out(9200, SECOND, 0, THIRD, "opener", cpu=1)
    scene.wake(9300, THIRD, FIRST)
    end(9400, "epoll_wait")
    wait(9500, "pause")                         # raised by another thread than the one it stops
    scene.soft(9510, "raise", 3)
    scene.out(9520, THIRD, 0, SECOND, "opener", cpu=1)
    scene.soft(9530, "entry", 3)
    scene.wake(9540, SECOND, FIRST)
    scene.soft(9550, "exit", 3)
    end(9600, "pause")
    wait(9700, "io_getevents")                  # a function of another CPU that the idle loop runs
    scene.out(9710, SECOND, 1, IDLE, "opener", cpu=1)
    scene.wake(9720, IDLE, FIRST)
    end(9800, "io_getevents")
    wait(10000, "sendmsg")                      # raised by the thread, and by an interrupt before it runs
    scene.back(10010, SECOND, cpu=1)
    scene.soft(10020, "raise", 3)
    scene.interrupt(10030, "irq_handler_entry", [("irq", "s32"), ("name", "string")], [33, "eth0"])
    scene.soft(10040, "raise", 3)
    scene.interrupt(10050, "irq_handler_exit", [("irq", "s32"), ("ret", "s32")], [33, 1])
    scene.soft(10060, "entry", 3)
    scene.wake(10070, SECOND, FIRST)
    scene.soft(10080, "exit", 3)
    end(10200, "sendmsg")
    wait(11000, "recvmmsg")                     # the softirq's exit was lost, but the CPU was switched
    scene.soft(11010, "entry", 9)
    scene.out(11020, SECOND, 0, THIRD, "opener", cpu=1)
    scene.wake(11030, THIRD, FIRST)
    end(11200, "recvmmsg")
    wait(12000, "pwrite64")
    scene.interrupt(12010, "x86_irq_vectors_call_function_single_entry", [("vector", "s32")], [251])
    scene.wake(12020, THIRD, FIRST)
    scene.interrupt(12030, "x86_irq_vectors_call_function_single_exit", [("vector", "s32")], [251])
    end(12200, "pwrite64")
    data = scene.waits()
    same("interrupts: each waker", {cause: line[:3] for (waiter, cause), line in wakers(data).items() if waiter == "first"},
         {"nanosleep": ("interrupt", "interrupt: timer", None),
          "recvfrom": ("thread", "second", "sendto"),
          "recvmsg": ("interrupt", "softirq: network receive", None),
          "pread64": ("interrupt", "interrupt: nvme0q1", None),
          "poll": ("interrupt", "softirq: RCU", None),
          "select": ("thread", "second", "sendto"),
          "epoll_wait": ("thread", "third", None),
          "pause": ("interrupt", "softirq: network receive", None),
          "io_getevents": ("interrupt", "interrupt", None),
          "sendmsg": ("thread", "second", "sendto"),
          "recvmmsg": ("thread", "third", None),
          "pwrite64": ("interrupt", "interrupt: call from another CPU", None)})
    same("interrupts: no stack of the thread that an interrupt stops",
         {len(line["waker_stack"]) for line in data["wakers"] if line["ended_by"] == "interrupt"}, {0})
    same("interrupts recorded: no message", scene.stderr, "")
    if shutil.which("protoc"):
        path = scene.directory + ".pftrace"
        run("export", "perfetto", "-o", path, scene.directory)
        reader = perfetto.Reader(path)
        flows = {flow: event["thread"] for event in reader.instants for flow in event["flows_out"]}
        same("perfetto: flows begin at threads that wake, and not at those that an interrupt stops", sorted(
            (event["args"]["in"], str(flows[event["flows_in"][0]])) for event in reader.instants if event["flows_in"]),
            [("epoll_wait", "(100, 102, 'third')"), ("recvfrom", "(100, 101, 'second')"),
             ("select", "(100, 101, 'second')")])
    report = json.loads(run("report", "--json", scene.directory).stdout)
    same("report: events of interrupts are not counted", {row["name"] for row in report["events"]},
         {"sched_switch", "sched_waking"})
    shown = run("show", scene.directory).stdout
    same("show: events of interrupts are hidden", ("irq_" in shown, "sched_waking" in shown), (False, True))
    check("show --own: events of interrupts are printed", "irq_handler_entry" in run("show", "--own", scene.directory).stdout)
    check("show --event: events of interrupts are printed", "irq_softirq_raise" in run("show", "-e", "irq_*", scene.directory).stdout)


def test_orders(scene):
    """Wakeups that come early, late, twice or never."""
    scene.timer(1500, "entry")
    scene.timer(1510, "exit")
    scene.enter(2000, FIRST, "read")            # woken by another CPU on the way to sleep
    scene.wake(2090, SECOND, FIRST)
    scene.out(2100, FIRST)
    scene.back(2600, FIRST)
    scene.leave(2700, FIRST, "read")
    scene.wake(2900, SECOND, FIRST)             # for something before the call, and the real one is lost
    scene.enter(3000, FIRST, "pause")
    scene.out(3100, FIRST)
    scene.back(3600, FIRST)
    scene.leave(3700, FIRST, "pause")
    scene.enter(4000, FIRST, "poll")            # an early one, which the loop in poll() took, then the real one
    scene.wake(4050, SECOND, FIRST)
    scene.out(4100, FIRST)
    scene.wake(4300, THIRD, FIRST)
    scene.back(4600, FIRST)
    scene.leave(4700, FIRST, "poll")
    scene.enter(5000, FIRST, "nanosleep")       # its own timer fires before it has left the CPU
    scene.timer(5050, "entry", cpu=0)
    scene.wake(5060, FIRST, FIRST, "reader", cpu=0)
    scene.timer(5070, "exit", cpu=0)
    scene.out(5100, FIRST)
    scene.back(5200, FIRST)
    scene.leave(5300, FIRST, "nanosleep")
    scene.enter(6000, FIRST, "write")           # preempted in a system call: a wakeup then ends nothing
    scene.out(6100, FIRST, 0, SECOND)
    scene.wake(6200, SECOND, FIRST)
    scene.back(6500, FIRST, before=SECOND)
    scene.leave(6600, FIRST, "write")
    scene.out(7000, FIRST, 2)                   # a page fault
    scene.enter(7100, SECOND, "ioctl", "opener", cpu=1)
    scene.wake(7200, SECOND, FIRST)
    scene.back(7500, FIRST)
    scene.enter(8000, FIRST, "wait4")           # the waker's thread ends
    scene.out(8100, FIRST)
    scene.enter(8200, THIRD, "exit", "opener", cpu=1)
    scene.wake(8300, THIRD, FIRST)
    scene.out(8400, THIRD, 16, IDLE, "opener", cpu=1)
    scene.back(8500, FIRST)
    scene.leave(8600, FIRST, "wait4")
    scene.enter(9000, FIRST, "epoll_wait")
    scene.out(9100, FIRST)                      # until the end of the trace
    data = scene.waits()
    got = wakers(data)
    same("woken on the way to sleep: the wakeup counts, at the begin of the wait", got["first", "read"],
         ("thread", "second", None, 1, 0, 500))
    same("lost wakeup: not recorded; one before the system call does not count", got["first", "pause"],
         ("unknown", None, None, 1, 500, 0))
    same("two wakeups: the one during the wait counts", got["first", "poll"], ("thread", "third", None, 1, 200, 300))
    same("its own timer on its own CPU: an interrupt, not the thread itself", got["first", "nanosleep"],
         ("interrupt", "interrupt: timer", None, 1, 0, 100))
    same("preempted in a system call: by whom, and all is latency", got["first", "write"],
         ("preemption", "second", None, 1, 0, 400))
    same("page fault: the cause, and who ended it", got["first", "no recorded system call"],
         ("thread", "second", "ioctl", 1, 200, 300))
    same("the waker ends: its last system call", got["first", "wait4"], ("thread", "third", "exit", 1, 200, 200))
    same("wait until the end of the trace: counted, with its stack",
         (data["trace"]["waiting_at_end"], [(wait["name"], wait["tid"], wait["cause"], wait["ns"], names(wait["stack"]))
                                            for wait in data["waiting_at_end"]]),
         (1, [("first", 100, "epoll_wait", 0, ["reader", "main", "_start"])]))
    same("numbers of waits by their ends", [data["trace"][key] for key in (
        "waits", "ended_by_thread", "ended_by_interrupt", "waker_not_recorded", "preempted")], [7, 4, 1, 1, 1])
    threads = {thread["name"]: thread for thread in data["threads"]}
    # 1000 to 2100, 2600 to 3100, 3600 to 4100, 4600 to 5100, 5200 to 6100, 6500 to 7000, 7500 to 8100, 8500 to 9100
    same("time on the CPU, to the nanosecond", threads["first"]["on_cpu_ns"],
         1100 + 500 + 500 + 500 + 900 + 500 + 600 + 600)
    same("blocked and runnable time of a thread", (threads["first"]["blocked_ns"], threads["first"]["runnable_ns"]),
         (500 + 200 + 200 + 200, 500 + 300 + 100 + 400 + 300 + 200))


def test_running(scene):
    """Threads that have the CPU when the trace begins, and when it ends."""
    scene.enter(2000, SECOND, "getppid", cpu=1)
    scene.leave(2100, SECOND, "getppid", cpu=1)
    scene.enter(2200, FIRST, "getppid")
    scene.out(3000, FIRST, 0, THIRD)
    scene.enter(3500, THIRD, "read")
    scene.leave(5000, THIRD, "read")
    scene.leave(6000, OTHER, "read", cpu=1)
    threads = {thread["name"]: thread["on_cpu_ns"] for thread in scene.waits()["threads"]}
    same("on the CPU from the begin of the trace, and until its end", threads, {"first": 2000, "second": 0, "third": 3000})
    same("threads in a system call at the begin are counted", scene.waits()["trace"]["in_call_at_begin"], 1)
    same("--comm: calls of other threads do not count as begun before the trace",
         scene.waits("--comm", "first")["trace"]["in_call_at_begin"], 0)


def test_two_traces(work, arguments):
    """Traces of two hosts have the same numbers of threads."""
    both = os.path.join(work, "two")
    os.makedirs(both)
    for number, host in enumerate(("here", "there")):
        scene = Scene(both, host, *arguments, host=host)
        scene.enter(2000 + number, FIRST, "read")
        scene.out(2500 + number, FIRST)
        if number:
            scene.wake(3000, SECOND, FIRST)
        scene.back(3500 + number, FIRST)
        scene.leave(3600 + number, FIRST, "read")
        scene.trace.write(scene.directory)
    data = json.loads(run("waits", "--json", both).stdout)
    same("two traces: a wakeup in one is none in the other", sorted((line["ended_by"], line["count"]) for line in data["wakers"]),
         [("thread", 1), ("unknown", 1)])


def test_reused(scene):
    """The number of a thread that has ended belongs to a thread of another process."""
    scene.out(2000, SECOND, 16)
    new = (200, 101, "new")
    scene.enter(3000, new, "read")
    scene.out(3100, new)
    scene.wake(3200, FIRST, new)
    scene.back(3300, new)
    scene.leave(3400, new, "read")
    scene.enter(4000, new, "poll")
    scene.wake(4090, FIRST, new)                # on the way to sleep
    scene.out(4100, new)
    scene.back(4300, new)


    scene.out(5000, FIRST, 16, cpu=2)
    again = (100, 100, "again")                 # both numbers are those of the first thread
    scene.enter(6000, again, "poll")
    scene.wake(6090, new, again)                # on the way to sleep
    scene.out(6100, again, cpu=2)
    scene.back(6300, again, cpu=2)
    scene.leave(6400, again, "poll")
    scene.out(7000, new, 16)
    scene.back(7100, new, cpu=1)                # a thread of which there is no event
    scene.enter(9000, again, "poll")
    data = scene.waits()
    got = wakers(data)
    same("a number that is used again means the new thread", (got["new", "read"], got["new", "poll"]),
         (("thread", "first", None, 1, 100, 100), ("thread", "first", None, 1, 0, 200)))
    same("both numbers are used again", wakers(data)["again", "poll"], ("thread", "new", "poll", 1, 0, 200))
    same("a thread that has ended does not run", {thread["name"]: thread["on_cpu_ns"] for thread in data["threads"]
                                                 if thread["tid"] == 101}, {"second": 1000, "new": 1100 + 800 + 2700})


def test_deep(scene):
    """More interrupts in each other than are kept; the exits of all but the outermost one."""
    scene.enter(1500, SECOND, "write", "opener", cpu=1)
    scene.enter(2000, FIRST, "read")
    scene.out(2100, FIRST)
    for i in range(12):
        scene.timer(2200 + i, "entry")
    for i in range(11):
        scene.timer(2300 + i, "exit")
    scene.wake(2400, SECOND, FIRST)
    scene.back(2500, FIRST)
    scene.leave(2600, FIRST, "read")
    scene.enter(3000, FIRST, "poll")
    scene.out(3100, FIRST)
    scene.timer(3200, "exit")
    scene.wake(3400, SECOND, FIRST)
    scene.back(3500, FIRST)
    scene.leave(3600, FIRST, "poll")
    got = wakers(scene.waits())
    same("twelve interrupts in each other: until the last exit", (got["first", "read"][:2], got["first", "poll"][:2]),
         (("interrupt", "interrupt: timer"), ("thread", "second")))


def test_lost_ends(scene):
    """Threads whose sched_switch back is lost."""
    scene.timer(1500, "entry")
    scene.timer(1510, "exit")
    for time, thread, call in ((2000, FIRST, "read"), (2100, SECOND, "read"), (3000, FIRST, "poll"), (3100, SECOND, "poll")):
        scene.enter(time, thread, call)
        scene.out(time + 10, thread)
    scene.enter(4000, THIRD, "read")
    scene.leave(5000, THIRD, "read")
    for options, ends in (((), [2, 2]), (("--tid", "100"), [1, 1]), (("--comm", "first"), [1, 1])):
        trace = scene.waits(*options)["trace"]
        same("waits without an end, lost and at the end of the trace, %s" % " ".join(options),
             [trace["end_lost"], trace["waiting_at_end"]], ends)
    same("waits at the end of the trace: how long", sorted(wait["ns"] for wait in scene.waits()["waiting_at_end"]), [1890, 1990])


def test_stacks_of_line(scene):
    """A line has the stacks of the pair with the most time."""
    time = 2000
    for where, length in (("reader", 100), ("opener", 500), ("recursive", 300), ("reader", 300)):
        scene.enter(time, FIRST, "read", where)
        scene.out(time, FIRST, where=where)
        scene.wake(time + length, SECOND, FIRST, where)
        scene.back(time + length + 10, FIRST)
        scene.leave(time + length + 20, FIRST, "read")
        time += 1000
    (line,) = scene.waits()["wakers"]
    same("stacks of a line: those of the most time", (names(line["stack"])[0], names(line["waker_stack"])[0], line["count"]),
         ("opener", "opener", 4))


def test_no_names(scene):
    """No thread has a name: a waker without one is not an unknown waker."""
    for time, woken in ((2000, True), (3000, False)):
        scene.enter(time, FIRST, "read")
        scene.out(time, FIRST)
        if woken:
            scene.wake(time + 100, SECOND, FIRST)
        scene.back(time + 200, FIRST)
        scene.leave(time + 300, FIRST, "read")
    same("threads without names: lines by whether the waker is recorded", sorted(
        (line["ended_by"], line["count"], line["blocked_ns"]) for line in scene.waits()["wakers"]),
        [("thread", 1, 100), ("unknown", 1, 200)])


def convoy(scene, operation, value):
    """The first thread holds the lock until 10000, then the second one until 15000; the third waits for both."""
    scene.futex(2000, SECOND, 0x1000, operation, value, "opener", cpu=1)
    scene.out(2000, SECOND, where="opener", cpu=1)
    scene.futex(3000, THIRD, 0x1000, operation, value, "opener", cpu=2)
    scene.out(3000, THIRD, where="opener", cpu=2)
    scene.futex(10000, FIRST, 0x1000, WAKE | PRIVATE, 1, "reader")
    scene.wake(10010, FIRST, SECOND, "reader", cpu=0)
    scene.leave(10020, FIRST, "futex")
    scene.back(10100, SECOND, cpu=1)
    scene.leave(10110, SECOND, "futex", cpu=1)
    scene.futex(15000, SECOND, 0x1000, WAKE | PRIVATE, 1, "recursive", cpu=1)
    scene.wake(15020, SECOND, THIRD, "recursive", cpu=1)
    scene.leave(15030, SECOND, "futex", cpu=1)
    scene.back(15100, THIRD, cpu=2)
    scene.leave(15110, THIRD, "futex", cpu=2)
    scene.futex(16000, THIRD, 0x1000, WAKE | PRIVATE, 1, "opener", cpu=2)    # nobody waits
    scene.leave(16010, THIRD, "futex", cpu=2)


def test_holders(work, arguments):
    """The options select the waiter, but not the call of the thread that wakes it."""
    scene = Scene(work, "short", *arguments)
    scene.timer(1500, "entry")
    scene.timer(1510, "exit")
    scene.futex(2000, FIRST, 0x1000, WAIT | PRIVATE, 2)
    scene.out(2100, FIRST)
    scene.trace.add(2500, "block_rq_issue", SECOND, scene.at["recursive"], cpu=1)   # neither selected nor a wakeup
    scene.futex(3002000, SECOND, 0x1000, WAKE | PRIVATE, 1, "opener", cpu=1)
    scene.wake(3002100, SECOND, FIRST, "recursive")
    scene.leave(3002200, SECOND, "futex", cpu=1)
    scene.back(3002500, FIRST)
    scene.leave(3002600, FIRST, "futex")
    for options in ((), ("--duration", "1ms"), ("--tid", "100"), ("--comm", "first"), ("-e", "futex")):
        data = scene.waits(*options)
        (line,) = data["wakers"]
        same("holder, %s: the waker's stack and call" % " ".join(options), (
            line["waker_call"], names(line["waker_stack"])[:1], holders(data["locks"][0])),
             ("futex", ["opener" if options in ((), ("-e", "futex")) else "recursive"], [("second", "opener", 3000000)]))
        folded = run("export", "folded", "-w", "lock", *options, scene.directory).stdout.splitlines()
        same("holder, %s: folded stacks" % " ".join(options), folded,
             ["first;_start;main;reader;[lock held by second];_start;main;opener;futex 3000000"])
    scene = Scene(work, "signal", *arguments)
    scene.timer(1500, "entry")
    scene.timer(1510, "exit")
    scene.futex(2000, FIRST, 0x1000, WAIT | PRIVATE, 2)
    scene.out(2100, FIRST)
    scene.enter(4200, SECOND, "tgkill", "opener", cpu=1)
    scene.wake(4300, SECOND, FIRST)
    scene.leave(4400, SECOND, "tgkill", cpu=1)
    scene.back(4500, FIRST)
    scene.leave(4600, FIRST, "futex")
    for options in ((), ("--tid", "100"), ("-e", "futex"), ("--comm", "first"), ("--duration", "1us")):
        (lock,) = scene.waits(*options)["locks"]
        same("signal, %s: its sender holds no lock" % " ".join(options),
             (lock["waits"], lock["other_waits"], holders(lock)), (0, 1, []))


def holders(lock):
    return sorted((pair["holder"], names(pair["holder_stack"])[0] if pair["holder_stack"] else None, pair["ns"])
                  for pair in lock["pairs"])


def two_addresses(scene):
    """One lock at two addresses: a thread waits until another process releases the lock; then that process waits."""
    scene.futex(2000, FIRST, 0x5000, WAIT, 2)
    scene.out(2100, FIRST)
    scene.futex(3000, OTHER, 0x7000, WAKE, 1, "opener", cpu=1)
    scene.wake(3050, OTHER, FIRST)
    scene.leave(3060, OTHER, "futex", cpu=1)
    scene.back(3100, FIRST)
    scene.leave(3200, FIRST, "futex")
    scene.futex(4000, OTHER, 0x7000, WAIT, 2, cpu=1)
    scene.out(4100, OTHER, cpu=1)


def test_locks(work, arguments):
    scene = Scene(work, "mutex", *arguments)
    convoy(scene, WAIT | PRIVATE, 2)
    data = scene.waits()
    (lock,) = data["locks"]
    same("mutex: waits, blocked, longest, latency", [lock[key] for key in (
        "address", "pid", "kind", "waits", "blocked_ns", "longest_ns", "latency_ns", "other_waits", "releases")],
        ["0x1000", 100, "lock", 2, 8010 + 12020, 12020, 90 + 80, 0, 3])
    same("mutex: blocked time belongs to who held it at that time", holders(lock),
         [("first", "reader", 7000), ("first", "reader", 8010), ("second", "recursive", 5020)])
    same("mutex: all holders are known", lock["holder_known_ns"], lock["blocked_ns"])
    same("mutex: the function that waits", {(pair["function"], pair["caller"]) for pair in lock["pairs"]}, {(None, "opener")})
    done = run("export", "folded", "-w", "lock", scene.directory)
    same("mutex: folded stacks have the waiter's stack, then the holder's", sorted(done.stdout.splitlines()), sorted([
        "second;_start;main;opener;[lock held by first];_start;main;reader;futex 8010",
        "third;_start;main;opener;[lock held by first];_start;main;reader;futex 7000",
        "third;_start;main;opener;[lock held by second];_start;main;recursive;futex 5020"]))
    speedscope = json.loads(run("export", "speedscope", "-w", "lock", scene.directory).stdout)
    same("mutex: speedscope has the time of each holder", sorted((p["name"], w) for p in speedscope["profiles"] for w, s in zip(
        p["weights"], p["samples"]) if s), [("second 101", 8010), ("third 102", 5020), ("third 102", 7000)])
    firefox = json.loads(run("export", "firefox", "-w", "lock", scene.directory).stdout)
    same("mutex: firefox has the time of each holder", sorted((t["name"], *row) for t in firefox["threads"] for row in zip(
        t["samples"]["time"], t["samples"]["weight"])), [("second", 0.001, 0.00801), ("third", 0.002, 0.007), ("third", 0.009, 0.00502)])
    same("mutex: firefox has no marker for a holder", sorted((t["name"], t["markers"]["length"]) for t in firefox["threads"]),
         [("first", 2), ("second", 5), ("third", 4)])
    rows = {row["name"]: row for row in parse("report", run("report", "-j", "-s", "lock", scene.directory).stdout.encode())["functions"]}
    same("mutex: report has the time blocked by locks, of complete stacks, by function", {
        name: [row[key] for key in ("lock_ns", "self", "complete", "end")] for name, row in rows.items()}, {
            "main": [20030, 0, 20030, None], "_start": [20030, 0, 20030, None], "opener": [20030, 0, 20030, None],
            "reader": [15010, 15010, 15010, None], "recursive": [5020, 5020, 5020, None]})
    text = run("report", "-b", "function", "-s", "lock", scene.directory).stdout
    check("mutex: text of the report has a column of locks", "    off CPU        lock" in text and "lock held" not in text, text)
    check("mutex: flame graph", '"lock"' in run("flamegraph", "-w", "lock", "-o", "-", scene.directory).stdout)
    text = run("waits", scene.directory).stdout
    check("mutex: text", "lock 0x1000 of process 100\n" in text and "held by first  reader < main < _start\n" in text, text)

    scene = Scene(work, "condition", *arguments)
    convoy(scene, WAIT_BITSET | PRIVATE, 0)
    same("condition variable: all time belongs to the waker", holders(scene.waits()["locks"][0]),
         [("first", "reader", 8010), ("second", "recursive", 12020)])

    html = ("-o", scene.directory + ".html")
    for command in (("export", "folded", "-w"), ("export", "firefox", "-w"), ("flamegraph", *html, "-w"),
                    ("flamegraph", "--base", scene.directory, *html, "-w"), ("report", "--sort")):
        done = run(*command, "lock", scene.directory, status=1)
        check("condition variable: no weight lock: %s says it, and writes no file" % " ".join(command[:2]),
              "no stack that is selected has the weight lock (" in done.stderr and
              not os.path.exists(scene.directory + ".html"), done)

    scene = Scene(work, "others", *arguments)
    scene.timer(1500, "entry")
    scene.timer(1510, "exit")
    scene.futex(2000, FIRST, 0x2000, WAIT_BITSET | PRIVATE)      # ends by a timeout
    scene.out(2100, FIRST)
    scene.timer(3000, "entry")
    scene.wake(3010, SECOND, FIRST)
    scene.timer(3020, "exit")
    scene.back(3100, FIRST)
    scene.leave(3200, FIRST, "futex")
    scene.futex(4000, FIRST, 0x2000, WAIT_BITSET | PRIVATE)      # by a signal
    scene.out(4100, FIRST)
    scene.enter(4200, SECOND, "tgkill", cpu=1)
    scene.wake(4300, SECOND, FIRST)
    scene.leave(4400, SECOND, "tgkill", cpu=1)
    scene.back(4500, FIRST)
    scene.leave(4600, FIRST, "futex")
    scene.futex(5000, FIRST, 0x2000, WAIT | PRIVATE)             # not recorded
    scene.out(5100, FIRST)
    scene.back(5500, FIRST)
    scene.leave(5600, FIRST, "futex")
    scene.futex(6000, FIRST, 0x3000, WAIT)                       # joins a thread
    scene.out(6100, FIRST)
    scene.enter(6200, SECOND, "exit", "opener", cpu=1)
    scene.wake(6300, SECOND, FIRST)
    scene.back(6500, FIRST)
    scene.leave(6600, FIRST, "futex")
    data = scene.waits()
    same("timeout, signal, lost wakeup: no holder", [(lock["address"], lock["waits"], lock["other_waits"], lock["other_ns"],
         holders(lock)) for lock in data["locks"]],
         [("0x2000", 0, 3, 1000 + 400 + 400, []), ("0x3000", 1, 0, 0, [("second", "opener", 200)])])

    scene = Scene(work, "shared", *arguments)
    two_addresses(scene)
    scene.futex(5000, FIRST, 0x5000, WAKE, 1, "opener")
    scene.wake(5050, FIRST, OTHER, cpu=0)
    scene.leave(5060, FIRST, "futex")
    scene.back(5100, OTHER, cpu=1)
    data = scene.waits()
    same("shared futex at two addresses: one lock", [(lock["waits"], lock["blocked_ns"], holders(lock)) for lock in data["locks"]],
         [(2, 950 + 950, [("first", "opener", 950), ("other", "opener", 950)])])

    scene = Scene(work, "two-processes", *arguments)
    for time, one, two in ((2000, FIRST, SECOND), (3000, OTHER, (200, 201, "another"))):
        scene.wait_for(time, one, two, 0x6000, 2)
    same("private futexes of two processes at one address: two locks",
         sorted((lock["pid"], lock["waits"]) for lock in scene.waits()["locks"]), [(100, 1), (200, 1)])


# Writes the size of the largest array of the program itself to a file.
ALLOCATOR = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_realloc(void *, size_t);
static size_t most;

void *realloc(void *old, size_t size)
{
	Dl_info info;

	if (size > most && dladdr(__builtin_return_address(0), &info) && strstr(info.dli_fname, "kunwind") &&
	    !strstr(info.dli_fname, ".so"))
		most = size;
	return __libc_realloc(old, size);
}

__attribute__((destructor)) static void tell(void)
{
	FILE *file = fopen(getenv("MOST"), "a");

	fprintf(file, "%zu\\n", most);
	fclose(file);
}
"""


def contended(scene, rounds, value, opener=0):
    """Three threads take a lock in turn; there are always two waiters. opener: it waits from the begin to that round."""
    threads = [(100, 100 + i, "t%d" % i) for i in range(3)]
    holder, queue, time, late = 0, [1, 2], 3000, (100, 110, "late")
    if opener:
        scene.futex(2000, late, 0x1000, WAIT | PRIVATE, value, cpu=3)
        scene.out(2010, late, cpu=3)
    for waiter in queue:
        scene.futex(2000 + 100 * waiter, threads[waiter], 0x1000, WAIT | PRIVATE, value, cpu=waiter)
        scene.out(2010 + 100 * waiter, threads[waiter], cpu=waiter)
    for number in range(rounds):
        by, woken = threads[holder], queue.pop(0)
        scene.futex(time, by, 0x1000, WAKE | PRIVATE, 1, "opener", cpu=holder)
        if number + 1 == opener:
            scene.wake(time + 10, by, late, cpu=holder)
            scene.back(time + 20, late, cpu=3)
            scene.leave(time + 25, late, "futex", cpu=3)
            scene.leave(time + 30, by, "futex", cpu=holder)
            queue.insert(0, woken)
            time += 1000
            continue
        scene.wake(time + 10, by, threads[woken], cpu=holder)
        scene.leave(time + 20, by, "futex", cpu=holder)
        scene.back(time + 30, threads[woken], cpu=woken)
        scene.futex(time + 40, by, 0x1000, WAIT | PRIVATE, value, cpu=holder)
        scene.out(time + 50, by, cpu=holder)
        scene.leave(time + 60, threads[woken], "futex", cpu=woken)
        queue.append(holder)
        holder = woken
        time += 1000
    scene.trace.write(scene.directory, packets=rounds // 500 + 1)


def test_contended(work, arguments):
    """A lock that always has a waiter: the memory does not grow with its releases."""
    library = os.path.join(work, "most.so")
    with open(os.path.join(work, "most.c"), "w") as file:
        file.write("#define _GNU_SOURCE" + ALLOCATOR)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, os.path.join(work, "most.c")], check=True)
    most, lines = {}, {}
    for rounds, value in ((500, 2), (8000, 2), (8000, 0)):
        scene = Scene(work, "contended-%d-%d" % (rounds, value), *arguments)
        contended(scene, rounds, value)
        log = scene.directory + ".most"
        done = subprocess.run([KUNWIND, "export", "folded", "-w", "off-cpu", scene.directory], capture_output=True,
                              text=True, env={**os.environ, "LD_PRELOAD": library, "MOST": log})
        with open(log) as file:
            most[rounds, value] = max(int(line) for line in file)
        lines[rounds, value] = done.returncode, len(done.stdout.splitlines())
    same("contended lock: no array grows with the number of releases", (len(set(most.values())), set(lines.values())),
         (1, {(0, 3)}))
    scene = Scene(work, "contended-late", *arguments)
    contended(scene, 600, 2, opener=500)
    (lock,) = scene.waits()["locks"]
    late = [line for line in run("export", "folded", "-w", "lock", scene.directory).stdout.splitlines()
            if line.startswith("late;")]
    same("contended lock: a wait of 500 releases is divided between the holders", (lock["waits"], sorted(
        (line.partition("[lock held by ")[2].partition("]")[0], int(line.rpartition(" ")[2])) for line in late)),
        (600, [("t0", 990 + 166 * 1000), ("t1", 167 * 1000 + 10), ("t2", 166 * 1000)]))


def test_values(work, program, *rest):
    """Waiters for the end of a thread and for condition variables may expect the values of a mutex."""
    fields = [*ctf.FUTEX, ("utime", "u64")]
    musl = shutil.copy(program, os.path.join(work, "ld-musl-x86_64.so.1"))
    for number, (what, path, operation, value, timeout, kind) in enumerate((
            ("pthread_join() of glibc", program, WAIT_BITSET | REALTIME, 2, 0, "futex"),
            ("pthread_mutex_timedlock() of glibc", program, WAIT_BITSET | REALTIME | PRIVATE, 2, 0x7000, "lock"),
            ("a mutex of Rust", program, WAIT_BITSET | PRIVATE, 2, 0, "lock"),
            ("a mutex of Rust with musl", musl, WAIT_BITSET | PRIVATE, 2, 0, "lock"),
            ("pthread_cond_wait() of musl", musl, WAIT | PRIVATE, 2, 0, "futex"),
            ("pthread_mutex_lock() of musl", musl, WAIT | PRIVATE, 16 - (1 << 31), 0, "lock"),
            ("sem_wait() of musl 1.2.3", musl, WAIT | PRIVATE, -1, 0, "futex"),
            ("sem_wait() of musl 1.2.4", musl, WAIT | PRIVATE, -(1 << 31), 0, "futex"))):
        scene = Scene(work, "value-%d" % number, path, *rest)
        scene.enter(2000, FIRST, "futex", fields=fields, values=[0x1000, operation, value, timeout])
        scene.out(2100, FIRST)
        scene.enter(3000, SECOND, "futex", "opener", cpu=1, fields=fields,
                    values=[0x1000, WAKE | operation & PRIVATE, 1, 0])
        scene.wake(3050, SECOND, FIRST)
        scene.leave(3060, SECOND, "futex", cpu=1)
        scene.back(3100, FIRST)
        scene.leave(3200, FIRST, "futex")
        (lock,) = scene.waits()["locks"]
        same("%s waits for a %s" % (what, kind), (lock["kind"], lock["waits"], lock["blocked_ns"]), (kind, 1, 950))


def test_chains(scene):
    """The first thread waits for the second, which waits for the third, which a timer wakes."""
    scene.enter(2000, FIRST, "read")
    scene.out(2000, FIRST)
    scene.enter(3000, SECOND, "futex", "opener", cpu=1, fields=ctf.FUTEX, values=[0x1000, WAIT | PRIVATE, 0])
    scene.out(3000, SECOND, cpu=1)
    scene.enter(4000, THIRD, "nanosleep", cpu=2)
    scene.out(4000, THIRD, cpu=2)
    scene.timer(5990, "entry", cpu=2)
    scene.wake(6000, IDLE, THIRD, cpu=2)
    scene.timer(6010, "exit", cpu=2)
    scene.back(6100, THIRD, cpu=2)
    scene.leave(6200, THIRD, "nanosleep", cpu=2)
    scene.wake(7000, THIRD, SECOND, cpu=2)
    scene.back(7400, SECOND, cpu=1)
    scene.leave(7500, SECOND, "futex", cpu=1)
    scene.out(8000, SECOND, 0, THIRD, cpu=1)
    scene.back(8300, SECOND, cpu=1, before=THIRD)
    scene.wake(9000, SECOND, FIRST)
    scene.back(9500, FIRST)
    scene.leave(9600, FIRST, "read")
    third = {"third: on the CPU": 1000 + 900, "third: runnable": (100, {"[idle]": 100}),
             "third: nanosleep": (2000, {"interrupt: timer": 2000})}
    second = {"second: on the CPU": 1000 + 600 + 700, "second: futex": (4000, third),
              "second: runnable": (400 + 300, {"[idle]": 400, "third: on the CPU": 300})}
    same("chain: what each thread did that was waited for, in nanoseconds", parts(scene.waits()["chains"]),
         {"first: read": (7000, second), "second: runnable": (300, {"third: on the CPU": 300}), "second: futex": (4000, third),
          "third: nanosleep": (2000, {"interrupt: timer": 2000})})
    for options in (("--duration", "5us"), ("-e", "read"), ("--tid", "100"), ("--comm", "first")):
        data = scene.waits(*options)
        same("chain, %s: calls and waits that are not selected are parts of it" % options[0], (
            parts(data["chains"]), data["trace"]["waits"], sum(thread["waits"] for thread in data["threads"])),
             ({"first: read": (7000, second)}, 1, 1))
    text = run("waits", scene.directory).stdout
    check("chain: text with shares", "  4.000 us   57.1 %    second: futex\n" in text and
          "  2.000 us   28.6 %        interrupt: timer\n" in text, text)


def test_ping_pong(scene):
    """Two threads wake each other a thousand times: each nanosecond is counted once."""
    time, pair = 2000, (FIRST, SECOND)
    for i in range(1000):
        one, two = pair[i % 2], pair[1 - i % 2]
        scene.enter(time, one, "read", cpu=i % 2)
        scene.out(time + 10, one, cpu=i % 2)
        if i:
            scene.back(time + 40, two, cpu=1 - i % 2)
            scene.leave(time + 45, two, "read", cpu=1 - i % 2)
        scene.wake(time + 90, two, one, cpu=1 - i % 2) if i < 999 else None
        time += 100
    data = scene.waits()
    blocked = sum(thread["blocked_ns"] for thread in data["threads"])
    def whole(part):
        return not part["parts"] or (part["ns"] == sum(p["ns"] for p in part["parts"]) and all(map(whole, part["parts"])))
    check("chains of two threads that wake each other: the parts sum up", all(map(whole, data["chains"])) and
          sum(part["ns"] for part in data["chains"]) == blocked, data["chains"])


def test_selection(scene):
    """--pid selects the waiter's process; the waker's has no mappings, or is another one."""
    scene.enter(2000, FIRST, "read")
    scene.out(2100, FIRST)
    scene.enter(2500, OTHER, "write", "opener", cpu=1)
    scene.wake(2600, OTHER, FIRST)
    scene.back(2700, FIRST)
    scene.leave(2800, FIRST, "read")
    scene.enter(3000, FIRST, "read")
    scene.out(3100, FIRST)
    scene.wake(3200, (300, 300, "unknown"), FIRST)
    scene.back(3300, FIRST)
    scene.leave(3400, FIRST, "read")
    data = scene.waits("--pid", "100")
    same("--pid: the waker is of any process", sorted((line["waker"], names(line["waker_stack"])[:1]) for line in data["wakers"]),
         [("other", ["opener"]), ("unknown", [])])
    same("--pid: only threads of the process", [thread["name"] for thread in data["threads"]], ["first"])
    same("chain: what a waker did that is not selected", parts(data["chains"]),
         {"first: read": (600, {"other: on the CPU": 500, "unknown: [not recorded]": 100})})
    data = scene.waits("--comm", "first", "--from", "0.0000012", "--to", "0.000002")
    same("--from, --to: waits are cut at the window", wakers(data), {("first", "read"): ("thread", "other", "write", 1, 400, 100)})
    same("--from, --to: time on the CPU is cut, too", [(thread["name"], thread["on_cpu_ns"]) for thread in data["threads"]],
         [("first", 300)])
    same("--duration: only waits that take so long", scene.waits("--tid", "100", "--duration", "500ns..1us")["trace"]["waits"], 1)
    data = scene.waits()
    same("chain: a waker without mappings", parts(data["chains"])["first: read"][1]["unknown: [not recorded]"], 100)


def test_messages(work, arguments):
    scene = Scene(work, "no-waking", *arguments)
    scene.enter(2000, FIRST, "read")
    scene.out(2100, FIRST)
    scene.back(2200, FIRST)
    data = scene.waits(lost=7)
    same("no sched_waking, and lost events: messages", scene.stderr.splitlines(),
         ["kunwind waits: the tracer lost 7 events: counts and times are too low",
          "kunwind waits: the trace has no sched_waking, so no wakers are known (kunwind record -e "
          "syscalls,sched_switch,sched_waking)"])
    same("no sched_waking: the waker is unknown", wakers(data), {("first", "read"): ("unknown", None, None, 1, 100, 0)})
    scene = Scene(work, "no-switch", *arguments)
    scene.enter(2000, FIRST, "read")
    scene.trace.write(scene.directory)
    done = subprocess.run([KUNWIND, "waits", scene.directory], capture_output=True, text=True)
    same("no sched_switch: status 1 and a message", (done.returncode, done.stdout, done.stderr),
         (1, "", "kunwind waits: no times off the CPU: the trace has no sched_switch of these threads "
                 "(kunwind record -e syscalls,sched_switch,sched_waking)\n"))
    scene = Scene(work, "none-selected", *arguments)
    scene.enter(2000, FIRST, "read")
    scene.out(2100, FIRST)
    scene.wake(2150, SECOND, FIRST)
    scene.back(2200, FIRST)
    scene.leave(2300, FIRST, "read")
    scene.trace.write(scene.directory, lost=5)
    for options in (("--duration", "10s"), ("--from", "10"), ("-e", "nothing"), ("-e", "sched_waking"), ("--tid", "7")):
        done = run("waits", *options, scene.directory, status=1)
        check("%s: the message names the options" % " ".join(options),
              "that the options select" in done.stderr.splitlines()[-1], done.stderr)
    os.rename(os.path.join(scene.directory, "channel_0"), os.fsencode(scene.directory) + b"/\xff\x1b[31mred_0")
    row = parse("report", run("report", "-j", scene.directory).stdout.encode())["trace"]["lost_by"]
    same("lost events of a channel whose name is not UTF-8: JSON", row, [{"channel": "\ufffd\ufffd[31mred", "events": 5}])
    text = run("report", scene.directory).stdout
    check("lost events of a channel with an escape sequence: text without it", "\x1b" not in text and
          "Lost: 5 events of the channel \ufffd\ufffd[31mred," in text, text)


def main():
    with tempfile.TemporaryDirectory() as work:
        arguments = build(work)
        for test in (test_wakers, test_interrupts, test_orders, test_running, test_reused, test_chains, test_ping_pong,
                     test_selection, test_deep, test_lost_ends, test_stacks_of_line):
            test(Scene(work, test.__name__, *arguments))
        test_no_names(Scene(work, "no-names", *arguments, contexts=("callstack_user", "pid", "tid")))
        test_two_traces(work, arguments)
        test_locks(work, arguments)
        test_values(work, *arguments)
        test_holders(work, arguments)
        test_contended(work, arguments)
        test_messages(work, arguments)
    tap.finish()


if __name__ == "__main__":
    main()
