#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests which futexes "kunwind waits" calls locks.

The operations, values and numbers of woken threads are those that strace shows for glibc 2.36, libstdc++ 12,
Rust 1.95 and Go 1.19. "syscall" is syscall(2), which libstdc++ and Rust call.
"""

import os
import shutil
import tempfile

import tap
from analyze import run
from functions import FIELDS, LOCK_PI, Functions, build
from tap import same
from waits import FIRST, PRIVATE, REALTIME, SECOND, WAIT, WAIT_BITSET, holders

ALL, OWNER = (1 << 31) - 1, 5678 - (1 << 31)
PLAIN, UNTIMED, RUST = WAIT | PRIVATE, WAIT_BITSET | PRIVATE | REALTIME, WAIT_BITSET | PRIVATE
CONTENDED = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE"
CONDVAR = "_ZN3std3sys4sync7condvar5futex7Condvar4wait17h0123456789abcdefE"
READ = "_ZN3std3sys4sync6rwlock5futex6RwLock14read_contended17h0123456789abcdefE"
WRITE = "_ZN3std3sys4sync6rwlock5futex6RwLock15write_contended17h0123456789abcdefE"
ONCE = "_ZN3std3sys4sync4once5futex4Once4call17h0123456789abcdefE"
PARK = "_ZN3std3sys4sync14thread_parking5futex6Parker4park17h0123456789abcdefE"
V0 = "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync%sfutexNtB2_%s"
ATOMIC = "_ZNKSt13__atomic_baseIiE4waitEiSt12memory_order"
LOCK, SHARED = "_ZNSt5mutex4lockEv", "_ZNSt12shared_mutex11lock_sharedEv"

# What waits; its functions, innermost first; operation; values of its waits; how many a release wakes; what it is.
ROWS = (
    ("mutex of glibc", ("pthread_mutex_lock",), PLAIN, (2, 2, 2), 1, "lock"),
    ("mutex of C++", ("pthread_mutex_lock", LOCK), PLAIN, (2,), 1, "lock"),
    ("mutex of glibc between processes", ("__pthread_mutex_lock_full",), WAIT, (2,), 1, "lock"),
    ("robust mutex of glibc", ("pthread_mutex_lock",), WAIT, (OWNER, OWNER), 1, "lock"),
    ("robust mutex, function without a name", ("main",), WAIT, (OWNER, OWNER), 1, "lock"),
    ("PI mutex of glibc", ("pthread_mutex_lock",), LOCK_PI | PRIVATE, (0, 0), 1, "lock"),
    ("arena of glibc", ("__lll_lock_wait_private", "malloc"), PLAIN, (2,), 1, "lock"),
    ("mutex after a condition variable of static glibc", ("__pthread_mutex_cond_lock", "pthread_cond_wait"), PLAIN,
     (2,), 1, "lock"),
    ("condition variable of static musl", ("pthread_cond_timedwait",), PLAIN, (2,), 1, "futex"),
    ("join of static musl", ("pthread_join",), WAIT, (2,), 1, "futex"),
    ("condition variable of glibc", ("pthread_cond_wait",), UNTIMED, (0, 0), 1, "futex"),
    ("barrier of glibc", ("pthread_barrier_wait",), PLAIN, (0, 2, 4), ALL, "futex"),
    ("barrier of glibc, its second round", ("pthread_barrier_wait",), PLAIN, (2,), ALL, "futex"),
    ("barrier, function without a name", ("main",), PLAIN, (2,), ALL, "futex"),
    ("barrier of two, function without a name", ("main",), PLAIN, (4, 2), 1, "futex"),
    ("semaphore of glibc", ("sem_wait",), UNTIMED, (0,), 1, "futex"),
    ("join of glibc", ("pthread_join",), WAIT_BITSET | REALTIME, (2,), ALL, "futex"),
    ("shared_mutex, reader", ("pthread_rwlock_rdlock", SHARED), UNTIMED, (3,), ALL, "lock"),
    ("rwlock, writer after readers", ("pthread_rwlock_wrlock",), UNTIMED, (2,), ALL, "lock"),
    ("rwlock, writer after a writer", ("___pthread_rwlock_wrlock",), UNTIMED, (3, 3), 1, "lock"),
    ("pthread_once", ("__pthread_once",), PLAIN, (1,), ALL, "lock"),
    ("static variable of C++", ("syscall", "__cxa_guard_acquire"), WAIT, (0x10100,), ALL, "lock"),
    ("atomic of C++", ("syscall", ATOMIC), WAIT, (2, 2), 1, "futex"),
    ("atomic of C++, inlined", ("syscall", "reader"), WAIT, (2, 2, 2), 1, "futex"),
    ("latch of C++, inlined", ("syscall", "reader"), WAIT, (2,), ALL, "futex"),
    ("barrier of C++, inlined", ("syscall", "reader"), WAIT, (1, 2, 3), ALL, "futex"),
    ("mutex of Rust", ("syscall", CONTENDED), RUST, (2,), 1, "lock"),
    ("mutex of Rust after its condition variable", ("syscall", CONTENDED, CONDVAR), RUST, (2,), 1, "lock"),
    ("condition variable of Rust", ("syscall", CONDVAR), RUST, (0, 1, 2), 1, "futex"),
    ("condition variable of Rust, only its third wait", ("syscall", CONDVAR), RUST, (2,), 1, "futex"),
    ("condition variable of Rust, without its name", ("syscall", "reader"), RUST, (1, 2, 3), 1, "futex"),
    ("RwLock of Rust, writer", ("syscall", WRITE), RUST, (0, 1, 2), 1, "lock"),
    ("RwLock of Rust, reader", ("syscall", READ), RUST, (ALL,), ALL, "lock"),
    ("mutex of Rust, mangled", ("syscall", V0 % ("5mutex5", "5Mutex14lock_contended")), RUST, (2,), 1, "lock"),
    ("RwLock of Rust, writer, mangled", ("syscall", V0 % ("6rwlock5", "6RwLock15write_contended")), RUST, (7,), 1, "lock"),
    ("RwLock of Rust, reader, mangled", ("syscall", V0 % ("6rwlock5", "6RwLock14read_contended")), RUST, (-2,), ALL, "lock"),
    ("condition variable of Rust, mangled", ("syscall", V0 % ("7condvar5", "7Condvar4wait")), RUST, (2,), 1, "futex"),
    ("Once of Rust", ("syscall", ONCE), RUST, (5,), ALL, "lock"),
    ("park of Rust", ("syscall", PARK), RUST, (-1,), 1, "futex"),
    ("mutex of Go", ("runtime.futex", "runtime.lock2"), PLAIN, (2, 2), 1, "lock"),
    ("note of Go", ("runtime.futex", "runtime.notesleep"), PLAIN, (0, 0), 1, "futex"),
)


def test_rows(work, program):
    for number, (what, functions, operation, values, wakes, kind) in enumerate(ROWS):
        scene = Functions(work, "row-%d" % number, *program)
        for i, value in enumerate(values):
            scene.wait(2000 + 1000 * i, functions, operation, value, wakes)
        (lock,) = scene.waits()["locks"]
        weight = run("export", "folded", "-w", "lock", scene.directory, status=0 if kind == "lock" else 1).stdout
        same("%s is a %s: kind, waits, time with the weight lock" % (what, kind), (
            lock["kind"], lock["waits"], sum(int(line.rpartition(" ")[2]) for line in weight.splitlines())),
             (kind, len(values), 800 * len(values) if kind == "lock" else 0))


def test_own_mutex(scene):
    """A mutex that calls syscall(2) itself: known as one when the first waiter has released it."""
    for time, waiter, waker in ((2000, FIRST, SECOND), (3000, SECOND, FIRST), (4000, FIRST, SECOND)):
        scene.wait(time, ("syscall", "reader"), WAIT, 2, 1, waiter=waiter, waker=waker)
    (lock,) = scene.waits()["locks"]
    same("hand-made mutex: a lock", (lock["kind"], lock["waits"]), ("lock", 3))
    same("hand-made mutex: waits that end after the first release by a waiter have the weight lock", sum(
        int(line.rpartition(" ")[2]) for line in run("export", "folded", "-w", "lock", scene.directory).stdout.splitlines()), 1600)


def test_used_again(scene):
    """One address is a barrier, then a mutex, then a condition variable."""
    for time, functions, operation, value, wakes in ((2000, ("pthread_barrier_wait",), PLAIN, 2, ALL),
                                                     (3000, ("pthread_mutex_lock",), PLAIN, 2, 1),
                                                     (4000, ("pthread_cond_wait",), UNTIMED, 0, 1)):
        scene.wait(time, functions, operation, value, wakes)
    scene.trace.write(scene.directory)
    same("an address that is used again: only the wait for the mutex has the weight lock", run(
        "export", "folded", "-w", "lock", scene.directory).stdout,
         "first;_start;main;pthread_mutex_lock;[lock held by second];_start;main;opener;futex 800\n")


def test_rwlock(work, program):
    """Readers and writers wait at two addresses of one lock."""
    for what, first, second, one, two in (("glibc", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", 0x1008, 0x100c),
                                          ("Rust", READ, WRITE, 0x100c, 0x1010)):
        scene = Functions(work, "rwlock-" + what, *program)
        scene.wait(2000, (first,), UNTIMED, 3, ALL, one)
        scene.wait(3000, (second,), UNTIMED, 3, 1, two)
        scene.wait(4000, (first,), UNTIMED, 3, ALL, one)
        same("lock for readers and writers of %s: one lock" % what, [
            (lock["kind"], lock["address"], lock["waits"], lock["blocked_ns"], lock["releases"], holders(lock))
            for lock in scene.waits()["locks"]], [("lock", hex(one), 3, 2400, 3, [("second", "opener", 800),
                                                                                ("second", "opener", 1600)])])


def test_rwlock_address(work, program):
    """Only readers, or only writers wait."""
    for number, (function, address) in enumerate((("pthread_rwlock_rdlock", 0x1008), ("pthread_rwlock_wrlock", 0x1008),
                                                  ("pthread_rwlock_wrlock", 0x100c), (READ, 0x1008), (WRITE, 0x100c))):
        scene = Functions(work, "address-%d" % number, *program)
        scene.wait(2000, (function,), UNTIMED, 3, 1, address)
        same("lock for readers and writers, %s at %#x: the lower address" % (function, address),
             [lock["address"] for lock in scene.waits()["locks"]], ["0x1008"])


def test_hidden(work, program):
    """Of a call that the options do not select, the function is not known."""
    scene = Functions(work, "hidden", *program)
    scene.wait(2000, ("pthread_rwlock_wrlock",), UNTIMED, 3, 1)
    scene.wait(3000, ("pthread_rwlock_wrlock",), UNTIMED, 3, 1, waiter=SECOND, waker=FIRST)
    same("a call that is not selected does not say that a lock is none", [
        (lock["kind"], lock["waits"]) for lock in scene.waits("--tid", "100")["locks"]], [("lock", 1)])
    scene = Functions(work, "no-stack", *program)
    scene.wait(2000, ("pthread_rwlock_wrlock",), UNTIMED, 3, 1)
    scene.at["empty"] = ()
    scene.enter(3000, FIRST, "futex", "empty", fields=FIELDS, values=[0x1000, UNTIMED, 3, 0])
    scene.leave(3100, FIRST, "futex")
    (lock,) = scene.waits()["locks"]
    same("a call without a stack does not say that a lock is none", lock["kind"], "lock")


def test_libraries(work, program, *rest):
    """The mutex to which a condition variable belongs; inner functions of a stripped library have no names."""
    libc, musl = "libc.so.6", "ld-musl-x86_64.so.1"
    for number, (name, operation, value, kind) in enumerate((
            (libc, PLAIN, 2, "lock"), (libc, PLAIN, OWNER, "lock"), (libc, PLAIN, 4, "futex"), (musl, PLAIN, 2, "futex"),
            (libc, RUST, 2, "futex"))):         # glibc 2.41 by CLOCK_MONOTONIC
        scene = Functions(work, "library-%d" % number, shutil.copy(program, os.path.join(work, name)), *rest)
        scene.wait(2000, ("pthread_cond_wait",), operation, value, 1)
        (lock,) = scene.waits()["locks"]
        same("pthread_cond_wait() of %s by operation %d and value %d: a %s" % (name, operation, value, kind),
             lock["kind"], kind)


def main():
    with tempfile.TemporaryDirectory() as work:
        program = build(work, {name for row in ROWS for name in row[1]})
        test_rows(work, program)
        test_own_mutex(Functions(work, "own", *program))
        test_used_again(Functions(work, "again", *program))
        test_rwlock(work, program)
        test_rwlock_address(work, program)
        test_hidden(work, program)
        test_libraries(work, *program)
    tap.finish()


if __name__ == "__main__":
    main()
