# SPDX-License-Identifier: MIT
"""Python and C that call each other, three times. "-X perf" puts trampolines on the stack.

    nested.py LIBRARY NUMBER
"""

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
Back = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)


def recurse(depth, left, number):
    if depth:
        return recurse(depth - 1, left, number) + 1
    if left:
        return library.back(called, left - 1, number)
    return library.opens(b"python", number)


@Back
def called(left, number):
    return recurse(4, left, number)


for i in range(int(sys.argv[2])):
    called(2, i)
with open("/proc/self/maps", encoding="latin1") as maps:
    sys.stdout.write(maps.read())
