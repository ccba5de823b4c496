#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs each SQL of docs/recipes.md on the database of a made-up day of the program shop.

The answers are known. The names of the columns have to be those of the page.
"""

import os
import re
import subprocess
import tempfile

import ctf
import tap
from analyze import BIAS, run
from tap import check, same
from waits import PRIVATE, WAIT, WAKE, IDLE, SWITCH

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE, SOURCE = (os.path.join(HERE, "../..", path) for path in ("docs/recipes.md", "tests/vm/fixtures/shop.c"))
WORKER, CHECKER, BANK = (100, 101, "worker"), (100, 102, "checker"), (100, 103, "bank")
OPEN = [("dfd", "s32"), ("filename", "string"), ("flags", "s32")]
FD = [("fd", "s32")]
MS = 1000000


def compile_shop(work):
    """Returns the program, the addresses of its functions, and its build-id."""
    program = os.path.join(work, "shop")
    tap.run("gcc", "-O0", "-g", "-pthread", "-Wl,--build-id", "-o", program, SOURCE)
    names = [line.split() for line in tap.run("nm", program).splitlines()]
    return (program, {name[2]: int(name[0], 16) for name in names if len(name) == 3},
            re.search("Build ID: ([0-9a-f]+)", tap.run("readelf", "-nW", program)).group(1))


def day(work, program, symbols, build_id):
    """The worker opens the settings, waits for a lock in which the checker sleeps, and asks the bank."""
    trace = ctf.Trace()
    where = {names: [BIAS + symbols[name] + 2 for name in names.split()] for names in (
        "read_settings serve worker", "reserve_stock serve worker", "ask_bank serve worker", "check_stock checker",
        "pause_ms check_stock checker", "answer_question bank")}

    def enter(ms, call, thread, names, fields=(), values=()):
        trace.add(int(ms * MS), "syscall_entry_" + call, thread, where[names], fields, values)

    def leave(ms, call, thread, value=0):
        trace.add(int(ms * MS), "syscall_exit_" + call, thread, (), ctf.RETURN, [value])

    def switch(ms, thread, names, following):
        trace.add(int(ms * MS), "sched_switch", thread, where.get(names, ()), SWITCH,
                  [thread[2], thread[1], 1, following[2], following[1]])

    def wake(ms, thread, names, whom):
        trace.add(int(ms * MS), "sched_waking", thread, where[names], ctf.WAKING, [whom[2], whom[1]])

    trace.add(1000, "kunwind_map", WORKER, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    enter(1, "openat", WORKER, "read_settings serve worker", OPEN, [-100, "settings", 0])
    leave(3, "openat", WORKER, 9)
    for begin in (10, 20):
        enter(begin, "read", WORKER, "read_settings serve worker", FD, [9])
        leave(begin + 4, "read", WORKER, 7)
    # the checker holds the lock from 100 to 121
    enter(100, "clock_nanosleep", CHECKER, "pause_ms check_stock checker")
    enter(101, "futex", WORKER, "reserve_stock serve worker", ctf.FUTEX, [0x1000, WAIT | PRIVATE, 2])
    switch(101, WORKER, "reserve_stock serve worker", IDLE)
    leave(120, "clock_nanosleep", CHECKER)
    enter(121, "futex", CHECKER, "check_stock checker", ctf.FUTEX, [0x1000, WAKE | PRIVATE, 1])
    wake(121, CHECKER, "check_stock checker", WORKER)
    leave(121.1, "futex", CHECKER, 1)
    switch(122, IDLE, "", WORKER)
    leave(123, "futex", WORKER)
    # the bank takes 150 ms for an answer
    enter(550, "read", WORKER, "ask_bank serve worker", FD, [4])
    switch(550, WORKER, "ask_bank serve worker", IDLE)
    enter(700, "write", BANK, "answer_question bank", FD, [5])
    wake(700, BANK, "answer_question bank", WORKER)
    leave(701, "write", BANK, 1)
    switch(702, IDLE, "", WORKER)
    leave(703, "read", WORKER, 1)
    enter(710, "openat", WORKER, "read_settings serve worker", OPEN, [-100, "settings", 0])
    leave(711, "openat", WORKER, 9)
    directory = os.path.join(work, "day")
    trace.write(directory)
    return directory


def queries():
    """Returns (question, SQL, names of columns in the page)."""
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"\n([^\n]+\?)\n\n```sql\n(.*?)```\n\n    ([^\n]+)\n", file.read(), re.S)


def main():
    tap.suite = "recipes"
    wanted = (
        [["read", "fd 4 of process 100", "1", "153"], ["futex", "", "1", "22"], ["read", "settings", "2", "8"], ["openat", "settings", "2", "3"]],
        [["read", "3", "4000", "153000", "153000"], ["openat", "2", "1000", "2000", "2000"], ["futex", "2", "100", "22000", "22000"]],
        {("check_stock", "20"), ("checker", "20"), ("answer_question", "150"), ("bank", "150")},
        [["clock_nanosleep", "1", "19"]],
        [["0.0", "1", "2"], ["0.5", "1", "1"]])
    with tempfile.TemporaryDirectory() as work:
        database = os.path.join(work, "day.db")
        run("export", "sqlite", "-q", "-o", database, day(work, *compile_shop(work)))
        page = queries()
        same("the page has five queries", len(page), 5)
        for (question, sql, columns), rows in zip(page, wanted):
            done = subprocess.run(["sqlite3", "-header", database, sql], capture_output=True, text=True)
            got = [line.split("|") for line in done.stdout.splitlines()]
            same(question + " The query runs, and has the columns of the page", (done.stderr, got[:1]), ("", [columns.split()]))
            if isinstance(rows, set):
                check(question + " Each line of the program has its time",
                      {(row[0], row[3]) for row in got[1:]} == rows and all(int(row[1]) > 50 for row in got[1:]), got)
            else:
                same(question + " The answer", got[1:len(rows) + 1], rows)
    tap.finish()


if __name__ == "__main__":
    main()
