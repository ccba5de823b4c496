#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests which waits and releases "kunwind waits" counts for a lock, on traces with known ones.

waits.py tests what is printed of them.
"""

import tempfile

import tap
from analyze import build, run
from tap import same
from waits import FIRST, OTHER, PRIVATE, SECOND, THIRD, WAIT, WAKE, Scene, holders, names

LOCK_PI, UNLOCK_PI, LOCK_PI2, WAIT_REQUEUE_PI = 6, 7, 13, 11
WAKERS = {"FUTEX_WAKE": WAKE, "FUTEX_REQUEUE": 3, "FUTEX_CMP_REQUEUE": 4, "FUTEX_WAKE_OP": 5,
          "FUTEX_UNLOCK_PI": UNLOCK_PI, "FUTEX_WAKE_BITSET": 10, "FUTEX_CMP_REQUEUE_PI": 12}
NO_WAKERS = {"FUTEX_FD": 2, "FUTEX_TRYLOCK_PI": 8}


def wait(scene, time, end, waiter, waker, address, waits, value, wakes, shared=0, cpu=0):
    """The waiter waits from time until the waker, in a call of futex(), wakes it at end."""
    scene.futex(time, waiter, address, waits | (0 if shared else PRIVATE), value, cpu=cpu)
    scene.out(time, waiter, cpu=cpu)
    scene.futex(end, waker, shared or address, wakes | (0 if shared else PRIVATE), 1, "opener", cpu=3)
    scene.wake(end, waker, waiter, cpu=3)
    scene.leave(end + 10, waker, "futex", cpu=3)
    scene.back(end + 100, waiter, cpu=cpu)
    scene.leave(end + 110, waiter, "futex", cpu=cpu)


def test_operations(work, arguments):
    for what, waits, kind in (("FUTEX_LOCK_PI", LOCK_PI, "lock"), ("FUTEX_LOCK_PI2", LOCK_PI2, "lock"),
                              ("FUTEX_WAIT_REQUEUE_PI", WAIT_REQUEUE_PI, "futex")):
        scene = Scene(work, what, *arguments)
        wait(scene, 2000, 3000, FIRST, SECOND, 0x1000, waits, 0, UNLOCK_PI)
        same("%s waits for a %s" % (what, kind), [(lock["kind"], lock["waits"], lock["blocked_ns"], lock["releases"])
                                                  for lock in scene.waits()["locks"]], [(kind, 1, 1000, 1)])
    for what, wakes in WAKERS.items():
        scene = Scene(work, what, *arguments)
        wait(scene, 2000, 3000, FIRST, SECOND, 0x1000, WAIT, 2, wakes)
        same("%s wakes: who did it held the lock" % what, [(lock["waits"], lock["releases"], holders(lock))
             for lock in scene.waits()["locks"]], [(1, 1, [("second", "opener", 1000)])])
    for what, wakes in NO_WAKERS.items():
        scene = Scene(work, what, *arguments)
        wait(scene, 2000, 3000, FIRST, SECOND, 0x1000, WAIT, 2, wakes)
        same("%s does not wake: nobody held the lock" % what, [(lock["waits"], lock["other_waits"], lock["releases"],
             lock["other_ns"], holders(lock)) for lock in scene.waits()["locks"]], [(0, 1, 0, 1100, [])])


def test_returned(scene):
    """After the call has returned, the thread waits for something else."""
    wait(scene, 2000, 3000, FIRST, SECOND, 0x1000, WAIT, 2, WAKE)
    scene.out(4000, FIRST, 2)
    scene.futex(4500, SECOND, 0x1000, WAKE | PRIVATE, 1, "opener", cpu=3)
    scene.wake(4600, SECOND, FIRST, cpu=3)
    scene.leave(4700, SECOND, "futex", cpu=3)
    scene.back(5000, FIRST)
    same("a wait after the call has returned is none for the lock", [
        (lock["waits"], lock["other_waits"], lock["blocked_ns"], lock["other_ns"]) for lock in scene.waits()["locks"]],
        [(1, 0, 1000, 0)])


def test_same_time(scene):
    """A wait begins at the time of a release, which the thread before it needs."""
    scene.futex(2000, SECOND, 0x1000, WAIT | PRIVATE, 2, cpu=1)
    scene.out(2000, SECOND, cpu=1)
    scene.futex(4900, THIRD, 0x1000, WAIT | PRIVATE, 2, cpu=2)
    scene.futex(5000, FIRST, 0x1000, WAKE | PRIVATE, 1, "opener")
    scene.leave(5000, FIRST, "futex")
    scene.out(5000, THIRD, cpu=2)
    scene.futex(7000, FIRST, 0x1000, WAKE | PRIVATE, 1, "recursive")
    scene.wake(7000, FIRST, THIRD, cpu=0)
    scene.leave(7010, FIRST, "futex")
    scene.back(7100, THIRD, cpu=2)
    scene.leave(7200, THIRD, "futex", cpu=2)
    (lock,) = scene.waits()["locks"]
    same("a release at the begin of a wait does not count for it", holders(lock), [("first", "recursive", 2000)])


def test_counts(work, arguments):
    for what, value in (("lock", 2), ("futex", 0)):
        scene = Scene(work, "counts-" + what, *arguments)
        for time in (2000, 4000, 6000):
            wait(scene, time, time + 1000, FIRST, SECOND, 0x1000, WAIT, value, WAKE)
        (lock,) = scene.waits()["locks"]
        same("%s: waits of each pair of stacks" % what, [(pair["count"], pair["ns"]) for pair in lock["pairs"]], [(3, 3000)])


def test_two_addresses(work, arguments):
    """One lock at two addresses; the longest wait was at the first one, and only there does a value tell the kind."""
    scene = Scene(work, "two", *arguments)
    wait(scene, 2000, 9000, FIRST, SECOND, 0x5000, WAIT, 2, WAKE)
    wait(scene, 10000, 11000, FIRST, OTHER, 0x5000, WAIT, 2, WAKE, shared=0x7000)
    (lock,) = scene.waits()["locks"]
    same("a lock at two addresses: kind, waits, longest, releases", [lock[key] for key in (
        "kind", "waits", "blocked_ns", "longest_ns", "releases")], ["lock", 2, 8000, 7000, 2])


def test_kernel_stack(scene):
    """The kernel's functions are innermost in the waiter's stack."""
    kernel = [0xffffffff81000000 + i for i in range(3)]
    scene.at["reader"][1:1] = scene.at["recursive"][:1] * 4
    scene.futex(2000, FIRST, 0x1000, WAIT | PRIVATE, 2)
    scene.trace.add(2000, "sched_switch", FIRST, scene.at["reader"], [
        ("prev_comm", "string"), ("prev_tid", "s32"), ("prev_state", "s64"), ("next_comm", "string"), ("next_tid", "s32")],
        ["first", 100, 1, "swapper", 0], kernel=kernel)
    scene.futex(3000, SECOND, 0x1000, WAKE | PRIVATE, 1, "opener", cpu=1)
    scene.wake(3000, SECOND, FIRST)
    scene.back(3100, FIRST)
    (pair,) = scene.waits()["locks"][0]["pairs"]
    same("the function that waits for a lock is none of the kernel's", (pair["function"], pair["caller"],
         [frame["kernel"] for frame in pair["stack"]]), (None, "reader", [True] * 3 + [False] * 7))
    line = [line for line in run("waits", scene.directory).stdout.splitlines() if "waits in  " in line][0]
    same("text: six functions of the program, then two of the kernel", line.partition("waits in  ")[2],
         " < ".join(["reader"] + ["recursive"] * 4 + ["main", "..."]) + "; kernel: [kernel] < [kernel]")


def main():
    with tempfile.TemporaryDirectory() as work:
        arguments = build(work)
        test_operations(work, arguments)
        test_counts(work, arguments)
        test_two_addresses(work, arguments)
        for test in (test_returned, test_same_time):
            test(Scene(work, test.__name__, *arguments))
        test_kernel_stack(Scene(work, "kernel", *arguments, contexts=(
            "callstack_user", "callstack_kernel", "pid", "tid", "procname")))
    tap.finish()


if __name__ == "__main__":
    main()
