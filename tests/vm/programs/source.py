# SPDX-License-Identifier: MIT
import functools
import re
import sqlite3
import sys
import threading


def nest(n):
    return nest(n - 1) + 1 if n else len(sys.stdin.readline())


db = sqlite3.connect(":memory:")
db.create_function("nest", 1, nest)
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
db.set_trace_callback(lambda statement: None)
re.sub("a", lambda match: str(list(map(
    lambda _: db.execute("select nest(5)").fetchall(),
    sorted([1, 2], key=functools.cmp_to_key(lambda a, b: 0))))), "a")
