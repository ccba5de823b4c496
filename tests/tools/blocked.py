#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests how the tools present threads that were blocked when the recording began
(kunwind_blocked)."""

import json
import os
import tempfile

import ctf
import tap
from analyze import build, run
from tap import check, same
from waits import FIRST, OTHER, PRIVATE, SECOND, THIRD, WAIT, WAIT_BITSET, WAKE, Scene, names, wakers

FOURTH = (100, 103, "fourth")
SLEEPING, UNINTERRUPTIBLE, STOPPED, _, FROZEN = range(5)
READ, PAUSE, FUTEX = 0, 34, 202
LOCK_PI = 6
FIELDS = [("tgid", "s32"), ("tid", "s32"), ("vtid", "s32"), ("comm", "string"), ("state", "state"),
          ("duration", "u64"), ("syscall", "s32"), ("compat", "u8"), ("args", "u64s"), ("holder", "s32"),
          ("reason", "s32"), ("stack", "u64"), ("base", "s32"), ("shared", "u16"), ("addresses", "u64s"),
          ("trust", "u8s")]


class Attached(Scene):
    """A recording that is attached to processes. A worker of the kernel emits kunwind_blocked."""

    def blocked(self, time, thread, call, args=(), where="reader", holder=0, duration=0, state=SLEEPING, compat=0,
                reason=0):
        at = self.at[where]
        self.number = getattr(self, "number", 1 << 63) + 1
        self.trace.add(time, "kunwind_blocked", None, (), FIELDS,
                       [thread[0], thread[1], thread[1], thread[2], state, duration, call, compat,
                        [*args, *[0] * (6 - len(args))], holder, reason, self.number, 0, 0, at, []])

    def text(self, *options):
        self.waits()
        return run("waits", *options, self.directory).stdout

    def threads(self, *options):
        return {thread["tid"]: thread for thread in self.waits(*options)["blocked_at_begin"]}


def test_hang(scene):
    """Nothing happens but the report."""
    scene.blocked(2000, FIRST, FUTEX, [0x7000, WAIT | PRIVATE, 0x80000000 | 101], holder=101, duration=1500)
    scene.blocked(2100, SECOND, FUTEX, [0x7100, LOCK_PI], "opener", holder=100)
    scene.blocked(2200, THIRD, READ, [5], duration=5000000000)
    scene.blocked(2300, FOURTH, -1, [0x1234], state=UNINTERRUPTIBLE)
    scene.trace.add(9000, "lttng_statedump_end", None)
    threads = scene.threads()
    begin = 1700000000 * 10**9
    same("hang: state, call, descriptor, address, holder", {tid: [t[key] for key in (
        "name", "state", "call", "fd", "futex", "holder_tid")] for tid, t in threads.items()},
        {100: ["first", "sleeping", "futex", None, "0x7000", 101], 101: ["second", "sleeping", "futex", None, "0x7100", 100],
         102: ["third", "sleeping", "read", 5, None, None], 103: ["fourth", "uninterruptible", None, None, None, None]})
    same("hang: since when, and no end", {tid: (t["time_ns"] - begin, t["since_ns"] and t["since_ns"] - begin, t["end_ns"])
                                          for tid, t in threads.items()},
         {100: (2000, 500, None), 101: (2100, None, None), 102: (2200, 2200 - 5000000000, None), 103: (2300, None, None)})
    same("hang: the stacks", {tid: names(t["stack"]) for tid, t in threads.items()},
         {100: ["reader", "main", "_start"], 101: ["opener", "main", "_start"], 102: ["reader", "main", "_start"],
          103: ["reader", "main", "_start"]})
    data = scene.waits()
    same("hang: the waits last until the end", sorted((w["name"], w["cause"]) for w in data["waiting_at_end"]),
         [("first", "futex"), ("fourth", "no system call"), ("second", "futex"), ("third", "read")])
    same("hang: no complaint about missing events", scene.stderr,
         "kunwind waits: the trace has no sched_waking, so no wakers are known (kunwind record -e "
         "syscalls,sched_switch,sched_waking)\n")
    text = scene.text()
    check("text: the lock, its holder, and that it never ended",
          "first 100: futex 0x7000, lock held by second 101; still so at the end\n" in text, text)
    check("text: the descriptor", "third 102 of 100: read (fd 5); still so at the end\n" in text, text)
    check("text: no system call", "fourth 103 of 100: uninterruptible; still so at the end\n" in text, text)
    same("text: the deadlock, once", [line for line in text.splitlines() if line.startswith("Deadlock")],
         ["Deadlock: first 100 waits for second 101 waits for first 100"])
    check("text: the stack", "waits in  opener < main < _start\n" in text, text)
    same("--tid: only this thread", list(scene.threads("--tid", "102")), [102])
    for option in (("--tid", "102"), ("--event", "read")):
        text = scene.text(*option)
        text = text.partition("\nThreads")[0] + text.partition("Still waiting")[2]
        check("text, %s: neither deadlocks nor waits of other threads" % option[0], "third 102" in text and
              "first" not in text and "second" not in text, text)
    same("--comm: only threads of this name", list(scene.threads("--comm", "sec*")), [101])
    same("--event: only this cause", list(scene.threads("--event", "read")), [102])
    report = run("report", scene.directory).stdout
    check("report has them", "Blocked when the recording began\n" in report and "lock held by second 101" in report, report)
    check("report --by: only the tables that were asked for",
          "Blocked when" not in run("report", "--by", "call", scene.directory).stdout)
    same("report --json has them", sorted(t["tid"] for t in json.loads(run(
        "report", "--json", scene.directory).stdout)["blocked_at_begin"]), [100, 101, 102, 103])
    shown = run("show", scene.directory).stdout
    same("show: the events, with their stacks", (shown.count("kunwind_blocked"), shown.count("reader")), (4, 3))
    for form in ("perfetto", "firefox", "speedscope", "pprof", "folded"):
        run("export", form, "-o", os.path.join(scene.directory, "..", "hang." + form), scene.directory)


def test_ends(scene):
    """Waits that end in the trace."""
    scene.blocked(2000, FIRST, READ, [3], duration=500)
    scene.blocked(2100, SECOND, FUTEX, [0x7000, WAIT | PRIVATE, 2])
    scene.blocked(2200, THIRD, PAUSE)
    scene.enter(3000, OTHER, "write", "opener", cpu=1)
    scene.wake(3100, OTHER, FIRST)
    scene.back(3600, FIRST)
    scene.leave(3700, FIRST, "read")
    scene.leave(5000, SECOND, "futex")          # no sched_switch shows that it runs
    scene.enter(6000, THIRD, "getppid")         # nor this one
    scene.leave(7000, THIRD, "getppid")
    data = scene.waits()
    same("ends: cause, waker, times, as of any wait", wakers(data)["first", "read"],
         ("thread", "other", "write", 1, 1100, 500))
    line = [line for line in data["wakers"] if line["waiter"] == "first"][0]
    same("ends: the stack of the event", names(line["stack"]), ["reader", "main", "_start"])
    begin = 1700000000 * 10**9
    same("ends: when", {t["tid"]: t["end_ns"] - begin for t in data["blocked_at_begin"]}, {100: 3600, 101: 5000, 102: 6000})
    same("ends: nothing is lost, nothing waits at the end", (data["trace"]["end_lost"], data["trace"]["waiting_at_end"]), (0, 0))
    check("text: it does not wait at the end",
          "first 100: read (fd 3)\n" in run("waits", scene.directory).stdout)
    same("report: the times off the CPU count", {row["name"]: row["ns"] for row in json.loads(run(
        "report", "--json", scene.directory).stdout)["off_cpu"]}, {"read": 1600, "futex": 2900, "pause": 3800})


def test_known(scene):
    """Threads that have had an event say themselves what they do."""
    scene.enter(1500, FIRST, "read")
    scene.out(1600, FIRST)
    scene.blocked(2000, FIRST, READ, [3], "opener")
    scene.enter(2100, SECOND, "getppid")
    scene.blocked(2200, SECOND, PAUSE, (), "opener")        # it ran on before the event
    scene.leave(2300, SECOND, "getppid")
    scene.back(3600, FIRST)
    scene.leave(3700, FIRST, "read")
    data = scene.waits()
    same("known: a thread with an event before is not reported again", data["blocked_at_begin"], [])
    same("known: its own wait counts", (data["trace"]["waits"], data["trace"]["waiting_at_end"],
                                        [line["blocked_ns"] for line in data["wakers"]]), (1, 0, [2000]))


def test_locks(scene, held):
    """The holder that the memory of a futex names counts only for locks."""
    for number, (value, operation) in enumerate(((2, WAIT), (0x80000000 | 5, WAIT_BITSET), (0, LOCK_PI), (2, WAKE))):
        scene.blocked(2000 + number, (100, 110 + number, "t"), FUTEX, [0x7000, operation | PRIVATE, value], holder=101)
    threads = scene.threads()
    same("a holder counts if the protocol or a function says that it is a lock",
         [threads[110 + number]["holder_tid"] for number in range(4)], held)


def test_many(scene):
    """Equal waits are one line."""
    for number in range(1000):
        scene.blocked(2000 + number, (100, 1000 + number, "pool"), FUTEX, [0x7000, WAIT, 0])
    scene.blocked(3000, (100, 2500, "pool"), FUTEX, [0x7004, WAIT, 0])
    scene.blocked(3001, (100, 2501, "pool"), FUTEX, [0x7000, WAIT, 0], "opener")
    scene.blocked(3002, (100, 2502, "pool"), FUTEX, [0x7000, WAIT, 0], state=STOPPED)
    scene.trace.add(9000, "lttng_statedump_end", None)
    lines = [line for line in scene.text("--top", "3").splitlines() if "futex" in line and " of 100: " in line]
    check("equal waits are one line, with the number of threads",
          len(lines) >= 3 and "1000 threads, one of them pool 1000 of 100: futex 0x7000; still so at the end" in lines[0], lines)
    check("--top: how many more there are", "... 1 more (--top 0 for all)" in scene.text("--top", "3"))
    check("text: the state, if it does not sleep", "pool 2502 of 100: stopped, in futex 0x7000" in scene.text())


def test_order(scene):
    """Waits that do not end come first, then those for a lock whose holder is known; each holder has its line."""
    for number in range(3):
        scene.blocked(2000 + number, (100, 110 + number, "ends"), READ, [3])
    scene.blocked(2100, (100, 120, "pool"), PAUSE)
    scene.blocked(2101, (100, 121, "pool"), PAUSE)
    scene.blocked(2200, (100, 130, "held"), FUTEX, [0x7000, LOCK_PI], holder=110)
    scene.blocked(2201, (100, 131, "held"), FUTEX, [0x7000, LOCK_PI], holder=111)
    scene.blocked(2202, (100, 132, "held"), FUTEX, [0x7000, LOCK_PI], holder=111)
    for number in range(3):
        scene.leave(5000 + number, (100, 110 + number, "ends"), "read")
    scene.trace.add(9000, "lttng_statedump_end", None)
    lines = scene.text().partition("it waits for\n")[2].partition("\n\n")[0].splitlines()[::2]
    same("text: order and groups of the waits", [line[22:].partition(" of 100: ")[0].strip() for line in lines],
         ["2 threads, one of them held 131", "held 130", "2 threads, one of them pool 120", "3 threads, one of them ends 110"])


def test_files(scene):
    """LTTng's list of open files names the descriptor, also if it comes later."""
    scene.blocked(2000, FIRST, READ, [3])
    scene.trace.add(3000, "lttng_statedump_process_state", None, (), [("tid", "s32"), ("pid", "s32"), ("file_table_address", "u64")],
                    [100, 100, 0x99])
    scene.trace.add(3100, "lttng_statedump_file_descriptor", None, (),
                    [("file_table_address", "u64"), ("fd", "s32"), ("flags", "s32"), ("filename", "string")],
                    [0x99, 3, 0, "/tmp/wanted"])
    scene.trace.add(9000, "lttng_statedump_end", None)
    same("the file of the descriptor", scene.threads()[100]["file"], "/tmp/wanted")
    check("text: the file of the descriptor", "first 100: read /tmp/wanted (fd 3)" in scene.text())


def test_filters(scene):
    """The event is selected by its thread, its time and its process."""
    scene.blocked(2000, FIRST, READ, [3])
    scene.blocked(2100, (300, 300, "unknown"), READ, [3])     # no mapping of this process is known
    scene.blocked(2200, OTHER, PAUSE, state=FROZEN, compat=0)
    scene.blocked(2300, SECOND, 3, compat=1)                  # read, in the 32-bit table
    scene.trace.add(9000000, "lttng_statedump_end", None)
    same("processes without mappings do not count", sorted(scene.threads()), [100, 101, 200])
    same("--pid", list(scene.threads("--pid", "200")), [200])
    same("32-bit system calls", scene.threads()[101]["call"], "read")
    same("a frozen thread: its state", scene.threads()[200]["state"], "frozen")
    same("--from: what begins before and lasts is selected", sorted(scene.threads("--from", "0.000005")), [100, 101, 200])
    check("--duration: a wait that does not end has none",
          "no events" in run("waits", "--duration", "1us..8ms", scene.directory, status=1).stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        arguments = build(work)
        test_hang(Attached(work, "hang", *arguments))
        test_ends(Attached(work, "ends", *arguments))
        test_known(Attached(work, "known", *arguments))
        test_locks(Attached(work, "locks", *arguments), [None, 101, 101, None])
        test_many(Attached(work, "many", *arguments))
        test_order(Attached(work, "order", *arguments))
        test_files(Attached(work, "files", *arguments))
        test_filters(Attached(work, "filters", *arguments))
    return tap.finish()


if __name__ == "__main__":
    raise SystemExit(main())
