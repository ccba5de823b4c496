# SPDX-License-Identifier: MIT
"""A program that has functions of given names, one in each line of its source, and traces of calls by them."""

import os
import subprocess

import ctf
from analyze import BIAS
from waits import FIRST, PRIVATE, SECOND, WAKE, Scene

LOCK_PI, UNLOCK_PI = 6, 7
FIELDS = [*ctf.FUTEX, ("utime", "u64")]
BUILD_ID = "0123456789abcdef"


def build(work, symbols, name="app"):
    """Returns path, build-id and {symbol: (address, line of app.s)}."""
    program, source = os.path.join(work, name), os.path.join(work, "app.s")
    symbols = ["_start", "main", "opener", *sorted(set(symbols) - {"_start", "main", "opener"})]
    with open(source, "w") as file:
        for symbol in symbols:
            file.write('.globl "{0}"; .type "{0}", @function; "{0}": %s.size "{0}", 16\n'.format(symbol) % ("nop; " * 16))
    subprocess.run(["gcc", "-g", "-nostdlib", "-pie", "-Wl,--no-dynamic-linker", "-Wl,--build-id=0x" + BUILD_ID, source,
                    "-o", program], check=True)
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    addresses = {line.split()[2]: int(line.split()[0], 16) for line in names.splitlines()}
    return program, BUILD_ID, {symbol: (addresses[symbol], line + 1) for line, symbol in enumerate(symbols)}


class Functions(Scene):
    """A trace of calls by functions of such a program."""

    def __init__(self, work, name, program, build_id, symbols, **options):
        self.symbols = symbols
        super().__init__(work, name, program, {name: 0 for name in ("reader", "opener", "recursive", "main", "_start")},
                         build_id, **options)
        self.through("opener")

    def through(self, *functions, at=2):
        """Returns the name of a stack: the functions, innermost first, are called by main(). at: byte of the innermost one."""
        self.at[functions] = [BIAS + self.symbols[name][0] + 2 for name in (*functions, "main", "_start")]
        self.at[functions][0] += at - 2
        if functions == ("opener",):
            self.at["opener"] = self.at[functions]
        return functions

    def wait(self, time, functions, operation, value, wakes, address=0x1000, waiter=FIRST, waker=SECOND, where="opener",
             timeout=0, length=800, at=2):
        """The waiter waits, until the waker, in a function, wakes so many threads after this length."""
        release = UNLOCK_PI if operation & 0x7f == LOCK_PI else WAKE
        functions = self.through(*functions, at=at)
        self.enter(time, waiter, "futex", functions, fields=FIELDS, values=[address, operation, value, timeout])
        self.out(time + 100, waiter, where=functions)
        self.enter(time + length, waker, "futex", where, cpu=1, fields=FIELDS,
                   values=[address, release | operation & PRIVATE, wakes, 0])
        self.wake(time + length + 100, waker, waiter, where)
        self.leave(time + length + 110, waker, "futex", cpu=1)
        self.back(time + length + 150, waiter)
        self.leave(time + length + 160, waiter, "futex")
