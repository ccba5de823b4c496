#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests what "kunwind waits" prints of stacks: the program's functions first, and what the holder of a lock did."""

import tempfile

import tap
from analyze import run
from functions import Functions, build
from tap import same
from waits import FIRST, IDLE, OTHER, PRIVATE, REALTIME, SECOND, THIRD, WAIT, WAIT_BITSET, names

MUTEX = "pthread_mutex_lock"
GTHREAD = "_ZL20__gthread_mutex_lockP15pthread_mutex_t"
STD_LOCK, GUARD = "_ZNSt5mutex4lockEv", "_ZNSt10lock_guardISt5mutexEC2ERS0_"
INVOKE = "_ZSt13__invoke_implIvPFvvEJEET_St14__invoke_otherOT0_DpOT1_"
TEMPLATE = "_ZN4shop4lockISt5mutexEEvRT_"
VECTOR = "_ZN4shop4makeIiEESt6vectorIT_SaIS2_EES2_"
LAMBDA = "_ZZN4shop3runEvENKUlvE_clEv"
ANONYMOUS = "_ZN12_GLOBAL__N_14waitEi"
CONTENDED = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE"
# Each of these is the program's, although the name has that of a library in it.
PROGRAM = (("want", "want"), (TEMPLATE, "shop::lock"), (VECTOR, "shop::make"), (LAMBDA, "shop::run"),
           (ANONYMOUS, "(anonymous namespace)::wait"), ("main.worker", "main.worker"), ("stdlib_wait", "stdlib_wait"),
           ("futexes", "futexes"))
# Innermost first, with the last one, which the program calls.
WRAPPERS = ((("nanosleep", MUTEX), MUTEX), ((MUTEX, GTHREAD, STD_LOCK, GUARD), "std::lock_guard"),
            (("syscall", CONTENDED), "std::sys::sync::mutex"), ((MUTEX, INVOKE), "std::__invoke_impl"),
            (("runtime.futex", "runtime.gopark", "sync.(*Mutex).Lock"), "sync.(*Mutex).Lock"))
UNTIMED = WAIT_BITSET | PRIVATE | REALTIME
SYMBOLS = [name for name, _ in PROGRAM] + [name for functions, _ in WRAPPERS for name in functions] + [
    "caller", "nap", "hold", "wrapped", "my_mutex_lock"]


def stacks(scene, *options):
    """The texts after "waits in"."""
    return [line.partition("waits in  ")[2] for line in run("waits", *options, scene.directory).stdout.splitlines()
            if "waits in  " in line]


def locks(scene, *options):
    """The lines of locks, without their first blanks."""
    text = run("waits", *options, scene.directory).stdout.partition("Locks (futex)")[2].partition("\n\n")[0]
    return [line.strip() for line in text.splitlines()[2:]]


def test_first(work, program):
    """The program's innermost function is first, with its line; then the library's function that it called."""
    for number, (function, name) in enumerate(PROGRAM):
        for inner, (wrappers, entered) in enumerate(WRAPPERS):
            scene = Functions(work, "first-%d-%d" % (number, inner), *program)
            scene.wait(2000, (*wrappers[1 if wrappers[0] == "nanosleep" else 0:], function, "caller"), UNTIMED, 0, 1)
            (pair,) = scene.waits()["locks"][0]["pairs"]
            text = stacks(scene)[0]
            first, _, rest = text.partition(" (app.s:%d) < caller < main < _start, in " % program[2][function][1])
            same("%s calls %s" % (name, entered), (name in first, entered in rest, name in (pair["caller"] or ""),
                                                   entered in (pair["function"] or "")), (True,) * 4)


def test_only_wrappers(scene):
    scene.at["only"] = scene.at[scene.through(MUTEX, STD_LOCK)][:2]
    scene.enter(2000, FIRST, "read", "only")
    scene.out(2100, FIRST, where="only")
    scene.back(2500, FIRST)
    scene.waits()
    same("no function of the program: those of the library", [text.replace("()", "") for text in stacks(scene)],
         ["pthread_mutex_lock (app.s:%d) < std::mutex::lock" % scene.symbols[MUTEX][1]])


def test_skip(scene):
    scene.wait(2000, (MUTEX, "my_mutex_lock", "wrapped", "caller"), PRIVATE, 2, 1)
    scene.waits()
    line = {name: "%s (app.s:%d)" % (name, scene.symbols[name][1]) for name in scene.symbols}
    for options, first in (((), line["my_mutex_lock"] + " < wrapped < caller < main < _start, in " + MUTEX),
                           (("--skip", "my_*"), line["wrapped"] + " < caller < main < _start, in my_mutex_lock"),
                           (("--skip", "my_*,wrap?ed"), line["caller"] + " < main < _start, in wrapped"),
                           (("--skip", "my_*", "--skip", "wrapped"), line["caller"] + " < main < _start, in wrapped"),
                           (("--skip", "ap*"), line[MUTEX] + " < my_mutex_lock < wrapped < caller < main < _start"),
                           (("--depth", "2"), line["my_mutex_lock"] + " < wrapped < ..., in " + MUTEX),
                           (("--depth", "0"), line["my_mutex_lock"] + " < wrapped < caller < main < _start, in " + MUTEX)):
        same("waits %s" % " ".join(options), stacks(scene, *options)[0], first)


def test_depth(scene):
    scene.wait(2000, (MUTEX, "want", *["caller"] * 9), PRIVATE, 2, 1)
    scene.waits()
    same("number of functions: six, or --depth", [stacks(scene, *options)[0].count(" < caller") for options in (
        (), ("--depth", "4"), ("--depth", "0"))], [5, 3, 9])


def test_pid(scene):
    """A line of threads of two processes that have one name."""
    for number, (thread, other) in enumerate(((FIRST, False), ((200, 200, "first"), True))):
        scene.wait(2000 + 3000 * number, (MUTEX, "want"), PRIVATE, 2, 1, waiter=thread)
        if not number:
            scene.wait(3500, (MUTEX, "want"), PRIVATE, 2, 1, waiter=SECOND, waker=FIRST)
    lines = {line["waiter"]: line["pid"] for line in scene.waits()["wakers"]}
    same("process of the waiters: its number, or several", lines, {"first": None, "second": 100})
    text = run("waits", scene.directory).stdout
    same("text: process of the waiters", ("  first (several processes): futex <- second" in text,
                                          "  second 100: futex <- first" in text), (True, True))
    same("JSON: line of each function", [[frame["line"] for frame in line["stack"]] for line in scene.waits()["wakers"]][0],
         [scene.symbols[name][1] for name in (MUTEX, "want", "main", "_start")])
    same("--no-lines: no lines", ({frame["line"] for line in scene.waits("--no-lines")["wakers"] for frame in line["stack"]},
                                  stacks(scene, "--no-lines")[0]), ({None}, "want < main < _start, in " + MUTEX))


def test_rows(scene):
    """Three places in one line of a function are one row; another function is another one."""
    for number, (function, at, length) in enumerate((("want", 2, 1000), ("want", 4, 2000), ("want", 6, 3000), ("nap", 2, 2000))):
        scene.wait(2000 + 5000 * number, (MUTEX, function), PRIVATE, 2, 1, length=length, at=at,
                   waker=THIRD if function == "nap" else SECOND)
    scene.out(17500, THIRD, 0, SECOND, "opener", cpu=3)
    scene.back(18500, THIRD, cpu=3, before=SECOND)
    (lock,) = scene.waits()["locks"]
    same("JSON: each pair of stacks", sorted(pair["ns"] for pair in lock["pairs"]), [1000, 2000, 2000, 3000])
    text = locks(scene)
    same("rows of a lock: pairs that look alike are one", [line.partition(" (app.s")[0] for line in text if "waits in" in line],
         ["75.0 %  waits in  want", "25.0 %  waits in  nap"])
    same("rows of a lock: what the holder did, of all pairs of the row", [
        line.partition(" in ")[0] for line in text if "on the CPU" in line or "runnable" in line],
         ["100.0 %  on the CPU", "50.0 %  on the CPU", "50.0 %  runnable"])


def test_meanwhile(work, program):
    """second has the lock from 2000 to 12000: it runs, sleeps from 3000 to 9000, can run until 10000, and runs."""
    for name, first in (("meanwhile", ()), ("convoy", (THIRD,))):
        scene = Functions(work, name, *program)
        scene.timer(1500, "entry", cpu=2)
        scene.timer(1510, "exit", cpu=2)
        nap, held = scene.through("nap", "hold"), scene.through("hold")
        want = scene.through(MUTEX, "want")
        scene.futex(2000, FIRST, 0x1000, WAIT | PRIVATE, 2, want)
        scene.out(2000, FIRST, where=want)
        scene.enter(3000, SECOND, "nanosleep", nap, cpu=1)
        scene.out(3000, SECOND, where=nap, cpu=1)
        scene.timer(8990, "entry", cpu=2)
        scene.wake(9000, IDLE, SECOND, cpu=2)
        scene.timer(9010, "exit", cpu=2)
        scene.back(10000, SECOND, cpu=1)
        scene.leave(10100, SECOND, "nanosleep", cpu=1)
        scene.futex(12000, SECOND, 0x1000, 1 | PRIVATE, 1, held, cpu=1)
        if first:                               # another thread gets it first
            scene.leave(12020, SECOND, "futex", cpu=1)
            scene.futex(16000, THIRD, 0x1000, 1 | PRIVATE, 1, "opener", cpu=3)
            scene.wake(16000, THIRD, FIRST, "opener", cpu=3)
            scene.back(16100, FIRST)
            scene.leave(16110, THIRD, "futex", cpu=3)
        else:
            scene.wake(12000, SECOND, FIRST, held)
            scene.back(12100, FIRST)
            scene.leave(12110, SECOND, "futex", cpu=1)
        scene.leave(16200, FIRST, "futex")
        (lock,) = scene.waits()["locks"]
        did = {pair["holder"]: [(part["what"], part["ns"], names(part["stack"])) for part in pair["meanwhile"]]
               for pair in lock["pairs"]}
        same("%s: what the holder did while the waiter was blocked" % name, did, {"second": [
            ("nanosleep", 6000, ["nap", "hold", "main", "_start"]), ("on the CPU", 3000, []),
            ("runnable", 1000, ["nap", "hold", "main", "_start"])], **({"third": [("on the CPU", 4000, [])]} if first else {})})
        if not first:
            line = {function: "(app.s:%d)" % program[2][function][1] for function in ("want", "nap", "hold")}
            same("text: the lock's row", locks(scene)[1:], [
                "100.0 %  waits in  want " + line["want"] + " < main < _start, in pthread_mutex_lock",
                "held by second  hold " + line["hold"] + " < main < _start",
                "60.0 %  nanosleep in nap " + line["nap"] + " < hold < main < _start", "30.0 %  on the CPU",
                "10.0 %  runnable in nap " + line["nap"] + " < hold < main < _start"])
            same("--tid: what a holder did that is not selected", [
                (part["what"], part["ns"], part["stack"]) for part in scene.waits("--tid", "100")["locks"][0]["pairs"][0]["meanwhile"]],
                [("nanosleep", 6000, []), ("on the CPU", 3000, []), ("runnable", 1000, [])])


def main():
    tap.suite = "wait stacks"
    with tempfile.TemporaryDirectory() as work:
        program = build(work, SYMBOLS)
        test_first(work, program)
        for test in (test_only_wrappers, test_skip, test_depth, test_rows):
            test(Functions(work, test.__name__, *program))
        test_pid(Functions(work, "pid", *program, processes=(FIRST, OTHER)))
        test_meanwhile(work, program)
    tap.finish()


if __name__ == "__main__":
    main()
