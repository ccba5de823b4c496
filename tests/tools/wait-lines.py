#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests which waits kunwind waits prints as one line, the numbers and order of the lines, and which locks are one."""

import tempfile

import tap
from analyze import build, run
from tap import same
from waits import FIRST, OTHER, PRIVATE, SECOND, THIRD, WAIT, WAKE, Scene, holders, two_addresses, wakers

LOCK_PI, LOCK_PI2 = 6, 13


def sleep(scene, time, call, blocked, latency, waker=SECOND, thread=FIRST):
    """The thread waits in a system call; @waker wakes it."""
    scene.enter(time, thread, call)
    scene.out(time, thread)
    scene.wake(time + blocked, waker, thread)
    scene.back(time + blocked + latency, thread)
    scene.leave(time + blocked + latency, thread, call)


def test_order(scene):
    sleep(scene, 2000, "read", 500, 300)
    sleep(scene, 4000, "poll", 300, 100)
    sleep(scene, 5000, "poll", 300, 100)
    sleep(scene, 6000, "pause", 600, 300)
    data = scene.waits()
    same("order of the lines: most time first, then most waits", [(line["cause"], line["count"]) for line in data["wakers"]],
         [("pause", 1), ("poll", 2), ("read", 1)])
    same("the longest wait of a line does not include its latency", [line["longest_ns"] for line in data["wakers"]], [600, 300, 500])


def test_interrupts(scene):
    """Each interrupt stops a different thread."""
    for time, stopped in ((2000, SECOND), (3000, THIRD)):
        scene.enter(time, FIRST, "read")
        scene.out(time + 100, FIRST)
        scene.timer(time + 200, "entry")
        scene.wake(time + 300, stopped, FIRST)
        scene.timer(time + 400, "exit")
        scene.back(time + 500, FIRST)
        scene.leave(time + 600, FIRST, "read")
    same("waits that an interrupt ends are one line, whichever thread it stops", wakers(scene.waits()),
         {("first", "read"): ("interrupt", "interrupt: timer", None, 2, 400, 400)})
    same("waits that an interrupt ends: the number of lines", len(scene.waits()["wakers"]), 1)


def test_raised_in_softirq(scene):
    """The thread raises a softirq, which raises another one."""
    scene.enter(1500, SECOND, "sendto", "opener", cpu=1)
    scene.enter(2000, FIRST, "read")
    scene.out(2100, FIRST)
    scene.soft(2200, "raise", 3)
    scene.soft(2300, "entry", 3)
    scene.soft(2400, "raise", 4)
    scene.soft(2500, "exit", 3)
    scene.soft(2600, "entry", 4)
    scene.wake(2700, SECOND, FIRST)
    scene.soft(2800, "exit", 4)
    scene.back(2900, FIRST)
    scene.leave(3000, FIRST, "read")
    same("a softirq that another one has raised is not the thread's", wakers(scene.waits())["first", "read"][:2],
         ("interrupt", "softirq: block"))


def test_lost_switch(scene):
    """The event in which the first thread leaves CPU 0 is lost. At the end the thread waits, after it has left CPU 1."""
    scene.enter(2000, SECOND, "getppid", cpu=2)
    scene.back(2500, FIRST)
    scene.enter(2600, FIRST, "read")
    scene.back(3000, FIRST, cpu=1)
    scene.out(3400, FIRST, cpu=1)
    scene.leave(9000, SECOND, "getppid", cpu=2)
    threads = {thread["name"]: thread["on_cpu_ns"] for thread in scene.waits()["threads"]}
    same("a thread with a lost switch that waits at the end of the trace has no CPU there", threads["first"], 400)


def test_numbers_again(scene):
    """Two threads have one TID in turn. A third one, with the first one's name, is woken before it sleeps."""
    new = (200, SECOND[1], "new")
    scene.out(2000, SECOND, 16)
    scene.enter(3000, new, "read")
    scene.out(3100, new)
    scene.back(3200, new)
    scene.leave(3300, new, "read")
    scene.out(4000, new, 16)
    scene.enter(5000, SECOND, "poll")
    scene.wake(5090, FIRST, SECOND)
    scene.out(5100, SECOND)
    scene.back(5300, SECOND)
    same("a wakeup goes to the thread that has the TID now, not to one that has ended", wakers(scene.waits())["second", "poll"],
         ("thread", "first", None, 1, 0, 200))


def test_equal_times(scene):
    """The wakeup and the start of the system call have the same time."""
    scene.enter(2000, FIRST, "read")
    scene.wake(2000, SECOND, FIRST)
    scene.out(2100, FIRST)
    scene.back(2300, FIRST)
    scene.leave(2400, FIRST, "read")
    same("a wakeup at the time at which the system call starts counts", wakers(scene.waits())["first", "read"],
         ("thread", "second", None, 1, 0, 200))


def test_kinds(scene):
    for number, operation in enumerate((LOCK_PI, LOCK_PI2, WAIT)):
        time = 2000 + 1000 * number
        scene.futex(time, FIRST, 0x1000 * (number + 1), operation | PRIVATE, 0)
        scene.out(time + 100, FIRST)
        scene.back(time + 200, FIRST)
        scene.leave(time + 300, FIRST, "futex")
    same("FUTEX_LOCK_PI and FUTEX_LOCK_PI2 make a lock, FUTEX_WAIT alone a futex",
         sorted((lock["address"], lock["kind"], lock["other_waits"]) for lock in scene.waits()["locks"]),
         [("0x1000", "lock", 1), ("0x2000", "lock", 1), ("0x3000", "futex", 1)])


def test_merged(scene):
    """After two addresses have become one lock, each release during a wait counts."""
    two_addresses(scene)
    scene.futex(5000, FIRST, 0x5000, WAKE, 1, "opener")         # SECOND takes the lock before OTHER
    scene.leave(5060, FIRST, "futex")
    scene.futex(6000, SECOND, 0x5000, WAKE, 1, "recursive")
    scene.wake(6050, SECOND, OTHER, "recursive", cpu=0)
    scene.leave(6060, SECOND, "futex")
    scene.back(6100, OTHER, cpu=1)
    (lock,) = scene.waits()["locks"]
    same("two addresses that became one lock: a wait has both of its holders", (lock["waits"], holders(lock)),
         (2, [("first", "opener", 900), ("other", "opener", 950), ("second", "recursive", 1050)]))


def test_processes(scene):
    """Threads of one name, of one process and of two."""
    twin = (200, 900, FIRST[2])
    for number, (call, thread) in enumerate((("read", FIRST), ("read", twin), ("read", FIRST), ("poll", twin), ("poll", twin))):
        sleep(scene, 2000 * (number + 1), call, 500, 300, thread=thread)
    same("a line has the process of its threads, unless there are several",
         {line["cause"]: (line["pid"], line["count"]) for line in scene.waits()["wakers"]}, {"read": (None, 3), "poll": (200, 2)})


def test_many(scene):
    """Chains of more names than the first arrays of the tree of chains have room for."""
    number = 6000
    for i in range(number):
        thread = (100, 1000 + i, "t%d" % i)
        sleep(scene, 2000 + 100 * i, "read", 50, 10, thread=thread)
    chains = {chain["name"]: (chain["ns"], [(part["name"], part["ns"]) for part in chain["parts"]]) for chain in scene.waits()["chains"]}
    same("many chains: each has its time", chains, {"t%d: read" % i: (50, [("second: on the CPU", 50)]) for i in range(number)})


def test_top(scene):
    """The chains have four lines: those of two waits, each with one part."""
    sleep(scene, 2000, "read", 500, 0)
    sleep(scene, 4000, "poll", 300, 0)
    scene.waits()
    for top, lines, more in ((1, 2, True), (2, 4, False), (0, 4, False)):
        text = run("waits", "-n", str(top), scene.directory).stdout.partition("Chains")[2].splitlines()[2:]
        same("-n %d: lines of chains, and whether some are left out" % top,
             (sum("%" in line for line in text), any("... more" in line for line in text)), (lines, more))


def main():
    tap.suite = "wait lines"
    with tempfile.TemporaryDirectory() as work:
        arguments = build(work)
        for test in (test_order, test_interrupts, test_raised_in_softirq, test_lost_switch, test_numbers_again, test_equal_times,
                     test_kinds, test_merged, test_processes, test_many, test_top):
            test(Scene(work, test.__name__, *arguments))
    tap.finish()


if __name__ == "__main__":
    main()
