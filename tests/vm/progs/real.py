# SPDX-License-Identifier: MIT
"""
real.py - python3 threads that block in Python functions that C calls

Each function of the table runs in a thread. When all have started, "ready" is printed.
"""

import ctypes
import functools
import json
import os
import re
import select
import sqlite3
import sys
import threading
import time

PIPE = os.pipe()


def sleep_read(*_):
    """Blocks in read(); never returns."""
    os.read(PIPE[0], 1)
    return 0


def nested(function, depth):
    """Calls function from depth Python frames, each of which C's map() calls."""
    if depth == 0:
        return function()
    return list(map(lambda d: nested(function, d), [depth - 1]))


def ctypes_qsort():
    libc = ctypes.CDLL("libc.so.6")
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                            ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 4)(4, 3, 2, 1)
    libc.qsort(numbers, 4, ctypes.sizeof(ctypes.c_int), kind(sleep_read))


def sqlite_function():
    db = sqlite3.connect(":memory:")
    db.create_function("wait", 1, sleep_read)
    db.execute("create table t(a)")
    db.execute("insert into t values (1), (2)")
    db.execute("select wait(a) from t order by a").fetchall()


def sqlite_progress():
    db = sqlite3.connect(":memory:")
    db.set_progress_handler(sleep_read, 1)
    db.execute("select 1").fetchall()


def sqlite_aggregate():
    class Total:
        def step(self, value):
            time.sleep(100000 + value)

        def finalize(self):
            return 0

    db = sqlite3.connect(":memory:")
    db.create_aggregate("total_", 1, Total)
    db.execute("select total_(column1) from (values (1), (2))").fetchall()


def sqlite_collation():
    db = sqlite3.connect(":memory:")
    db.create_collation("slow", sleep_read)
    db.execute("select * from (values ('a'), ('b')) order by 1 collate slow").fetchall()


def re_sub():
    re.sub("b+", lambda match: str(sleep_read()), "abba")


def sort_key():
    sorted([3, 1, 2], key=sleep_read)


def sort_cmp():
    sorted([3, 1, 2], key=functools.cmp_to_key(sleep_read))


def json_hook():
    json.loads('{"a": {"b": 1}}', object_hook=sleep_read)


def destructor():
    class Thing:
        def __del__(self):
            sleep_read()

    thing = Thing()
    del thing


def generator():
    def inner():
        yield sleep_read()

    def outer():
        yield from inner()

    sum(outer())


def recursion():
    nested(sleep_read, 12)


def sleeping():
    time.sleep(100000)


def selecting():
    select.select([PIPE[0]], [], [])


def condition():
    threading.Event().wait()


SCENES = [ctypes_qsort, sqlite_function, sqlite_progress, sqlite_aggregate, sqlite_collation,
          re_sub, sort_key, sort_cmp, json_hook, destructor, generator, recursion, sleeping,
          selecting, condition]

for scene in SCENES:
    threading.Thread(target=scene, name=scene.__name__).start()
time.sleep(1)
print("ready", flush=True)
sys.stdin.read()
