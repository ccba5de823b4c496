#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests to which threads "kunwind waits" gives the time in which a thread could run, but did not."""

import random
import tempfile

import tap
from analyze import build, run
from tap import check, same
from waits import IDLE, PRIVATE, WAIT, WAKE, Scene, parts

HIGH, MID, LOW = (100, 100, "high"), (100, 101, "mid"), (100, 102, "low")
HOG, MIGRATION, OTHER_MID = (300, 300, "hog"), (0, 15, "migration/0"), (100, 103, "mid")
PREEMPTED = 0


def lines(data, waiter="low"):
    """The lines of a preempted thread: who had the processor, how often, how long, blocked, and longest."""
    return [(line["waker"], line["count"], line["latency_ns"], line["blocked_ns"], line["longest_ns"])
            for line in data["wakers"] if line["waiter"] == waiter and line["ended_by"] == "preemption"]


def hog(scene):
    """high preempts low for 1 us; then mid, which high interrupts for another 1 us, keeps the processor."""
    scene.enter(1500, LOW, "getppid")
    scene.leave(1600, LOW, "getppid")
    scene.out(2000, LOW, PREEMPTED, HIGH)
    scene.out(3000, HIGH, 1, MID)
    scene.out(80000, MID, PREEMPTED, HIGH)
    scene.out(81000, HIGH, 1, MID)
    scene.out(153200, MID, 1, LOW)
    scene.out(160000, LOW, 1, IDLE)


def test_hog(scene):
    hog(scene)
    data = scene.waits()
    same("a preempted thread: each thread that had the processor, with its time, once for each wait", lines(data),
         [("mid", 1, 77000 + 72200, 0, 0), ("high", 1, 2000, 0, 0)])
    same("a preempted thread: the whole time", [(thread["name"], thread["runnable_ns"], thread["waits"]) for thread in data["threads"]
                                               if thread["name"] == "low"], [("low", 151200, 1)])
    same("chain: the time in which it could run, by who had the processor", parts(data["chains"])["low: runnable"],
         (151200, {"mid: on the CPU": 149200, "high: on the CPU": 2000}))
    same("chain: number of these times", [chain["count"] for chain in data["chains"] if chain["name"] == "low: runnable"], [1])
    text = run("waits", scene.directory).stdout
    check("text: who had the processor", "low 100: preempted <- mid had the processor\n" in text and
          "low 100: preempted <- high had the processor\n" in text, text)
    same("text: threads by the whole time off the processor", [line.split()[-2] for line in text.partition(
        "Threads, by time off the CPU\n")[2].partition("\n\n")[0].splitlines()[1:]], ["low", "high", "mid"])
    same("--tid: threads that are not selected, too", lines(scene.waits("--tid", "102")),
         [("mid", 1, 149200, 0, 0), ("high", 1, 2000, 0, 0)])
    same("--tid: no lines of a thread that is not selected", lines(scene.waits("--tid", "100")), [])
    same("--from, --to: the times are cut", lines(scene.waits("--from", "0.0000015", "--to", "0.00001")),
         [("mid", 1, 8000, 0, 0), ("high", 1, 500, 0, 0)])
    same("--from: the times are cut", lines(scene.waits("--from", "0.0000785")), [("mid", 1, 500 + 72200, 0, 0), ("high", 1, 1000, 0, 0)])


def test_names(scene):
    """Two threads of one name, and one of a process that the trace does not know otherwise."""
    scene.enter(1500, LOW, "getppid")
    scene.leave(1600, LOW, "getppid")
    for time in (2000, 12000):
        scene.out(time, LOW, PREEMPTED, MID)
        scene.out(time + 1000, MID, 1, OTHER_MID)
        scene.out(time + 3000, OTHER_MID, 1, HOG)
        scene.out(time + 6000, HOG, 1, LOW)
    same("threads of one name are one line, with the number of waits; a process without mappings has its name",
         lines(scene.waits()), [("mid", 2, 6000, 0, 0), ("hog", 2, 6000, 0, 0)])


def test_moved(scene):
    """low is preempted on CPU 0, and moved to CPU 1, which hog has since the trace began."""
    scene.enter(1500, LOW, "getppid")
    scene.leave(1600, LOW, "getppid")
    scene.out(2000, LOW, PREEMPTED, MIGRATION)
    scene.out(3000, MIGRATION, 1, IDLE)
    scene.back(5000, MID)                       # CPU 0 is busy again, but low is no longer there
    scene.out(9000, HOG, 1, LOW, cpu=1)
    data = scene.waits()
    same("a thread that is moved: who had the other processor since its own one was idle", lines(data),
         [("hog", 1, 6000, 0, 0), ("migration/0", 1, 1000, 0, 0)])


def test_stolen(scene):
    """Another processor, which was idle, takes low from CPU 0."""
    scene.enter(1500, LOW, "getppid")
    scene.leave(1600, LOW, "getppid")
    scene.back(1700, MID, cpu=1)
    scene.out(2000, LOW, PREEMPTED, HOG)
    scene.out(3000, MID, 1, IDLE, cpu=1)
    scene.back(7000, LOW, cpu=1)
    scene.out(9000, HOG, 1, IDLE)               # when low has run for long
    same("a thread that an idle processor takes: who had its own one", lines(scene.waits()), [("hog", 1, 5000, 0, 0)])


def test_woken(scene):
    """low is woken on CPU 1, where mid runs until low does, while hog has CPU 0; then on CPU 0, which is idle."""
    scene.back(1500, MID, cpu=1)
    for time, cpu in ((2000, 1), (12000, 0)):
        scene.enter(time, LOW, "read")
        scene.out(time + 100, LOW)
        if cpu:
            scene.back(time + 200, HOG)
        scene.wake(time + 1000, HIGH, LOW, cpu=2)
        if cpu:
            scene.out(time + 6000, MID, 1, LOW, cpu=cpu)
            scene.out(time + 6500, HOG)
        else:
            scene.back(time + 1500, LOW)
        scene.leave(time + 7000, LOW, "read")
    data = scene.waits()
    same("a woken thread: who had the processor where it ran then", parts(data["chains"])["low: runnable"],
         (5000, {"mid: on the CPU": 5000}))
    same("a woken thread: no line of its own for that", lines(data), [])
    same("a woken thread: its latency", [(line["waker"], line["latency_ns"]) for line in data["wakers"] if line["waiter"] == "low"],
         [("high", 5500)])


def test_inversion(scene):
    """high waits for a lock that low has; mid keeps low from running."""
    scene.enter(1500, LOW, "getppid")
    scene.leave(1600, LOW, "getppid")
    scene.futex(2000, HIGH, 0x1000, WAIT | PRIVATE, 2, cpu=1)
    scene.out(2000, HIGH, cpu=1)
    scene.out(3000, LOW, PREEMPTED, MID)
    scene.out(103000, MID, 1, LOW)
    scene.futex(104000, LOW, 0x1000, WAKE | PRIVATE, 1, "opener")
    scene.wake(104000, LOW, HIGH, cpu=0)
    scene.leave(104010, LOW, "futex")
    scene.back(104100, HIGH, cpu=1)
    scene.leave(104200, HIGH, "futex", cpu=1)
    same("priority inversion: the chain leads to the thread that has the processor", parts(scene.waits()["chains"])["high: futex"],
         (102000, {"low: on the CPU": 1000 + 1000, "low: runnable": (100000, {"mid: on the CPU": 100000})}))


def test_endless(scene):
    """low can run when the trace ends."""
    scene.enter(1500, LOW, "getppid")
    scene.leave(1600, LOW, "getppid")
    scene.out(2000, LOW, PREEMPTED, MID)
    scene.enter(9000, MID, "getppid")
    data = scene.waits()
    same("preempted until the end of the trace: counted there only", (lines(data), parts(data["chains"]),
         [(wait["name"], wait["cause"], wait["ns"]) for wait in data["waiting_at_end"]]), ([], {}, [("low", "preempted", 7000)]))


def test_long(scene):
    """Twenty threads are preempted, 20 others are woken within a turn, and all wait for hundreds of turns of others."""
    chance, turns, lost, woken, got, time, running = random.Random(7), [], {}, {}, {}, 2000, HIGH
    sleepers = [(100, 1000 + i, "sleeper%d" % i) for i in range(20)]
    for i, sleeper in enumerate(sleepers):
        scene.enter(1100 + 10 * i, sleeper, "read", cpu=2)
        scene.out(1105 + 10 * i, sleeper, cpu=2)

    def turn(thread):
        nonlocal time, running
        begin, time = time, time + chance.randrange(1, 1000)
        turns.append((begin, time, running[2]))
        scene.out(time, running, PREEMPTED, thread)
        running = thread

    for i in range(700):
        if i % 35 == 5:
            low = (100, 200 + i, "low%d" % i)
            turn(low)
            turn(MID)
            lost[low] = time
        else:
            turn(chance.choice([thread for thread in (HIGH, MID, HOG, OTHER_MID) if thread != running]))
        if len(turns) > 300 and len(woken) < len(sleepers):
            sleeper = sleepers[len(woken)]
            woken[sleeper] = sum(turns[-1][:2]) // 2
            scene.wake(woken[sleeper], HIGH, sleeper, cpu=1)
    for low in [*lost, *sleepers]:
        turn(low)
        got[low] = time
    turn(HIGH)

    def had(since, until):
        sums = {}
        for begin, end, name in turns:
            part = min(end, until) - max(begin, since)
            if part > 0:
                sums[name] = sums.get(name, 0) + part
        return sums

    def found(data, low):
        return {line[0]: line[2] for line in lines(data, low[2])}

    data = scene.waits()
    same("long times: each thread that had the processor, to the nanosecond", {low[2]: found(data, low) for low in lost},
         {low[2]: had(lost[low], got[low]) for low in lost})
    same("long times that begin within a turn", [parts(data["chains"])[sleeper[2] + ": runnable"][1] for sleeper in sleepers],
         [{name + ": on the CPU": ns for name, ns in had(woken[sleeper], got[sleeper]).items()} for sleeper in sleepers])


def main():
    tap.suite = "runnable"
    with tempfile.TemporaryDirectory() as work:
        arguments = build(work)
        for test in (test_hog, test_names, test_moved, test_stolen, test_woken, test_inversion, test_endless, test_long):
            test(Scene(work, test.__name__, *arguments))
    tap.finish()


if __name__ == "__main__":
    main()
