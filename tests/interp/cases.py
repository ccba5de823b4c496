# SPDX-License-Identifier: MIT
"""cases.py CASE RECORD - work until killed; SIGUSR1 appends a traceback to RECORD

Functions of a case call each other in all the ways in which the interpreter's frames and the
native frames of its eval loop can alternate.
"""

import asyncio
import faulthandler
import functools
import gc
import os
import re
import signal
import sys
import threading
import weakref

sys.setrecursionlimit(5000)


def spin(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def recursion():
    def down(n):
        return spin(30) if n == 0 else down(n - 1) + 1

    def by_c(n):
        # each level is a native frame: map() and max() call back
        return spin(30) if n == 0 else max(map(by_c, [n - 1]))

    down(90)
    by_c(25)


def deep():
    def down(n):
        return spin(300) if n == 0 else down(n - 1) + 1

    down(1500)


def generators():
    def inner(n):
        for i in range(n):
            yield spin(20) + i

    def middle(n):
        yield from inner(n)
        yield from (spin(5) + i for i in inner(3))

    def receiver():
        got = None
        while True:
            got = yield spin(10) + (got or 0)

    r = receiver()
    next(r)
    for value in middle(10):
        r.send(value)
    list(middle(5))
    sum(spin(3) for _ in range(10))


def coroutines():
    async def leaf(n):
        spin(50)
        await asyncio.sleep(0)
        return n

    async def branch(n):
        return sum(await asyncio.gather(*(leaf(i) for i in range(n))))

    async def agen(n):
        for i in range(n):
            yield await leaf(i)

    async def root():
        await asyncio.gather(*(branch(i) for i in range(5)))
        return [x async for x in agen(5)]

    asyncio.run(root())


class Compared:
    def __init__(self, n):
        self.n = n + spin(2)

    def __lt__(self, other):
        spin(3)
        return self.n < other.n

    def __getattr__(self, name):
        spin(3)
        return len(name)

    def __hash__(self):
        return spin(2)

    def __eq__(self, other):
        return spin(2) == 1


def callbacks():
    sorted([Compared(i * 7 % 11) for i in range(12)])
    sorted(range(12), key=lambda i: spin(i))
    re.sub("[a-z]", lambda m: m.group().upper() * spin(1), "some text with words")
    functools.reduce(lambda a, b: a + spin(b), range(12))
    {Compared(1): 1, Compared(2): 2}
    [Compared(1).missing for _ in range(3)]
    type("Made", (Compared,), {"__init_subclass__": classmethod(lambda cls: spin(3))})(3)
    exec("def made():\n    return spin(20)\nmade()", {"spin": spin})
    eval("[spin(3) for i in range(4)]", {"spin": spin})


def exceptions():
    def raising(n):
        if n == 0:
            spin(20)
            raise ValueError(n)
        try:
            raising(n - 1)
        finally:
            spin(10)

    class Context:
        def __enter__(self):
            spin(10)

        def __exit__(self, *info):
            spin(10)
            return True

    for _ in range(5):
        try:
            raising(10)
        except ValueError:
            spin(10)
        with Context():
            raising(3)


class Deleted:
    def __del__(self):
        spin(20)
        gone()


def gone():
    spin(10)


def deletions():
    for _ in range(10):
        Deleted()
        a, b = Deleted(), Deleted()
        a.other, b.other = b, a
        weakref.ref(a, lambda r: spin(5))
    del a, b
    gc.collect(0)


def made_code():
    """Code objects come and go, at the same addresses."""
    for i in range(20):
        name = "f%d" % (made_code.count % 997)
        made_code.count += 1
        scope = {"spin": spin}
        exec("def %s():\n%s    return spin(%d)\n" % (name, "\n" * (i % 3), 5 + i), scope)
        scope[name]()


made_code.count = 0


def nämen():
    def größe():
        return spin(30)

    def имя():
        return größe()

    def 名前():
        return sorted([1, 2], key=lambda _: имя())

    名前()


def calls():
    time_out = threading.Event()
    for _ in range(5):
        os.getppid()
        time_out.wait(0.0003)
        os.listdir("/proc/self/fd")


CASES = {name: value for name, value in list(globals().items())
         if name in ("recursion", "deep", "generators", "coroutines", "callbacks", "exceptions", "deletions",
                     "made_code", "calls")}
CASES["names"] = nämen


def forever(functions):
    while True:
        for function in functions:
            function()


def forks():
    if os.fork() == 0:
        recursion()
        callbacks()
        deletions()
        os._exit(0)
    recursion()
    os.wait()


def main():
    case, record = sys.argv[1:]
    file = open(record, "ab", buffering=0)
    faulthandler.register(signal.SIGUSR1, file=file, all_threads=False, chain=False)
    if case == "threads":
        some = [CASES[name] for name in ("recursion", "generators", "callbacks", "exceptions", "calls")]
        for function in some:
            threading.Thread(target=forever, args=([function],), daemon=True).start()
        forever([CASES["deletions"]])
    elif case == "fork":
        forever([forks])
    elif case == "end":
        while True:
            thread = threading.Thread(target=callbacks)
            thread.start()
            recursion()
            thread.join()
    else:
        forever([CASES[case]])


main()
