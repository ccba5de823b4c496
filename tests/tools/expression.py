#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests which LTTng event and filter the expressions of kunwind record --trigger become.

A program that includes record/expression.c prints them. The test evaluates the filters.
(wrong-uses has expressions that are errors; t-flight.sh fires triggers.)
"""

import os
import re
import subprocess
import tempfile

import tap
from tap import check, same

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools")
PROGRAM = """
#include "record/expression.c"

void kunwind_tool_error(const char *format, ...) { (void)format; }

int main(int argc, char **argv)
{
	struct expression e;
	const char *name;

	if (argc == 3) {
		name = expression_syscall_name(atoi(argv[1]), atoi(argv[2]));
		puts(name ? name : "-");
		return 0;
	}
	if (!expression_read(&e, argv[1]))
		return 1;
	printf("%d\\t%s\\t%s\\t%d\\n", e.kind, e.event, e.filter ? e.filter : "-", e.signal);
	expression_free(&e);
	return 0;
}
"""
SYSCALL, SIGNAL, EVENT = "0", "1", "2"
MS = 1000000

tap.suite = "expression"


class Reader:
    def __init__(self, work):
        self.program = os.path.join(work, "expression")
        source = os.path.join(work, "main.c")
        with open(source, "w") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-I", TOOLS, "-I", os.path.join(TOOLS, "record"), "-o", self.program, source],
                       check=True)

    def ask(self, *arguments):
        """Returns the fields that the program prints; None: the expression is wrong."""
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.rstrip("\n").split("\t") if done.returncode == 0 else None


def fires(text, **fields):
    """Returns whether the filter, in LTTng's language, lets an event with these fields pass."""
    return bool(eval(text.replace("&&", " and ").replace("||", " or "), {}, fields))


def test_calls(reader):
    kind, event, text, _ = reader.ask("openat > 20ms")
    same("a call: its event", (kind, event), (SYSCALL, "kunwind_slow_syscall"))
    table = {(20 * MS, 0, 257): True, (20 * MS - 1, 0, 257): False, (20 * MS, 1, 295): True, (20 * MS, 0, 295): False,
             (20 * MS, 1, 257): False, (20 * MS, 0, 0): False}
    same("a call: its number in 64-bit and in i386 programs, and its duration", {
        key: fires(text, duration=key[0], compat=key[1], syscall=key[2]) for key in table}, table)
    text = reader.ask("waitpid > 1ms")[2]               # i386 only
    same("a call that only i386 has", [fires(text, duration=MS, compat=compat, syscall=7) for compat in (0, 1)], [False, True])
    same("no such call", reader.ask("waitpids > 1ms"), None)
    text = reader.ask("syscall > 1s")[2]
    # first read, poll, futex, io_uring_enter; then calls of i386
    table = {(0, 0): True, (0, 7): False, (0, 202): False, (0, 426): False, (1, 3): True, (1, 168): False, (1, 240): False,
             (1, 7): False, (0, 168): True, (0, 240): True, (1, 202): True}
    same("any call: all except those that wait", {
        key: fires(text, duration=1000 * MS, compat=key[0], syscall=key[1]) for key in table}, table)
    same("names of calls by number", [reader.ask(*key) for key in (("257", "0"), ("295", "1"), ("7", "1"), ("9999", "0"))],
         [["openat"], ["openat"], ["waitpid"], ["-"]])


def test_durations(reader):
    wanted = {"1ms": MS, "1000us": MS, "1.5ms": 1500000, "0.001s": MS, "86400s": 86400000 * MS, "2  s": 2000 * MS,
              "999us": None, "0.9999ms": None, "86400.1s": None, "1.5": None, "ms": None, "1 m": None, "1e3ms": None,
              "1ms 2": None}
    got = {text: reader.ask("read>" + text) for text in wanted}
    same("durations: units, fractions, limits", {
        text: found and int(re.match(r"duration >= (\d+) ", found[2]).group(1)) for text, found in got.items()}, wanted)


def test_signals(reader):
    same("signals: any, or one by its name with or without SIG", [reader.ask(text) for text in (
        "signal", "  signal ", "signal SEGV", "signal  SIGSEGV ", "signal HUP", "signal SYS")],
         [[SIGNAL, "kunwind_fatal_signal", *rest] for rest in (
             ("-", "0"), ("-", "0"), ("signal == 11", "11"), ("signal == 11", "11"), ("signal == 1", "1"), ("signal == 31", "31"))])
    same("signals: no such name", [reader.ask("signal " + name) for name in ("SIG", "segv", "SIGSIGSEGV", "11")], [None] * 4)


def test_events(reader):
    same("events: names, and filters as they are", [reader.ask(text) for text in (
        "event sched_switch", "event tracepoint:sched_switch", "event syscall:openat", "event block_*  if  a < 0 && b == 1 ")],
         [[EVENT, *rest, "0"] for rest in (("sched_switch", "-"), ("sched_switch", "-"), ("syscall:openat", "-"),
                                           ("block_*", "a < 0 && b == 1 "))])
    check("events: a name of 255 characters is read, a longer one is an error",
          reader.ask("event " + "a" * 255) and not reader.ask("event " + "a" * 256))
    same("events: only a filter with if may follow the name", [reader.ask(text) for text in ("event a when b", "event a if", "event")], [None] * 3)


def main():
    with tempfile.TemporaryDirectory() as work:
        reader = Reader(work)
        test_calls(reader)
        test_durations(reader)
        test_signals(reader)
        test_events(reader)
    tap.finish()


if __name__ == "__main__":
    main()
