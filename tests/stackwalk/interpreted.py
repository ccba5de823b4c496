# SPDX-License-Identifier: MIT
"""interpreted.py RECORD - threads in Python functions, which wait or compute, and their own record of it

After all threads but one wait, writes {native thread: [[function, file, line], ...]} to RECORD, the
innermost function first; the thread that computes is called 0.
"""

import json
import sys
import threading
import time

FOREVER = 10000


class Worker:
    def run(self, n):
        return self.run(n - 1) if n else self.wait()

    @staticmethod
    def wait():
        time.sleep(FOREVER)


def generator(n):
    if n:
        yield from generator(n - 1)
    else:
        time.sleep(FOREVER)
        yield 1


def by_c(n):
    # each level is a native frame of the eval loop
    return sorted([n, n + 1], key=lambda _: by_c(n - 1) if n else time.sleep(FOREVER))


def größe():
    def 名前():
        exec(compile("def made():\n\n    time.sleep(%d)\nmade()" % FOREVER, "<gemacht>", "exec"), {"time": time})

    名前()


def deep(n):
    return deep(n - 1) if n else time.sleep(FOREVER)


def spin():
    total = 0
    while True:
        total += sum(i for i in range(100))


def record(path, spinner):
    time.sleep(1)
    known = {thread.ident: thread.native_id for thread in threading.enumerate()}
    found = {}
    for ident, frame in sys._current_frames().items():
        if ident == threading.get_ident():
            continue
        frames = found.setdefault(0 if known[ident] == spinner else known[ident], [])
        while frame:
            frames.append([frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno])
            frame = frame.f_back
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(found, file)
    import os
    os.rename(path + ".part", path)


def main():
    for target in (Worker().run, lambda n: list(generator(n)), by_c, lambda _: größe(), lambda n: deep(100 * n)):
        threading.Thread(target=target, args=(5,), daemon=True).start()
    spinner = threading.Thread(target=spin, daemon=True)
    spinner.start()
    threading.Thread(target=record, args=(sys.argv[1], spinner.native_id)).start()
    time.sleep(FOREVER)


main()
