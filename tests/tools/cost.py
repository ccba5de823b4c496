#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests that commands that read traces take linear work and bounded memory.

A preloaded library counts calls of libc, valgrind instructions, and the kernel the peak of the memory,
so the results do not depend on the speed of the machine.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import ctf
import tap
from tap import check, same

HERE = os.path.dirname(os.path.abspath(__file__))
KUNWIND = os.path.join(HERE, "../../tools/build/kunwind")
BIAS = 0x555555554000
COUNTER = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long pids, compared;

pid_t getpid(void)
{
	pids++;
	return (pid_t)syscall(SYS_getpid);
}

int strncmp(const char *a, const char *b, size_t size)
{
	compared++;
	for (; size && *a && *a == *b; a++, b++, size--)
		;
	return size ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b)
{
	compared++;
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

/* valgrind sets the name by which a program is called; kunwind-analyze needs the command there */
__attribute__((constructor)) static void name(int argc, char **argv)
{
	if (argc && getenv("COMMAND"))
		argv[0] = getenv("COMMAND");
}

__attribute__((destructor)) static void say(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[256];

	while (fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %lu", &kb);
	fclose(f);
	f = fopen(getenv("COUNTS"), "w");
	fprintf(f, "%lu %lu %lu", pids, compared, kb);
	fclose(f);
}
"""
work = None


def run(*arguments):
    """Returns the numbers of getpid() and of comparisons, and the peak of the memory in KB."""
    counts = os.path.join(work, "counts")
    environment = {**os.environ, "LD_PRELOAD": os.path.join(work, "counter.so"), "COUNTS": counts}
    # the numbers are those of the program that kunwind becomes
    done = subprocess.run([KUNWIND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    check("kunwind %s: status 0" % " ".join(arguments[:2]), done.returncode == 0, done.stderr)
    with open(counts, encoding="ascii") as file:
        return [int(number) for number in file.read().split()]


def instructions(command, *arguments):
    """Returns the number of instructions of a command that analyzes a trace."""
    environment = {**os.environ, "LD_PRELOAD": os.path.join(work, "counter.so"), "COUNTS": "/dev/null", "COMMAND": "kunwind " + command}
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", KUNWIND + "-analyze",
                           *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    counted = re.search(r"I +refs: +([0-9,]+)", done.stderr)
    check("kunwind %s in valgrind: status 0" % command, done.returncode == 0 and counted, done.stderr)
    return int(counted.group(1).replace(",", "")) if counted else 0


def calls(name, events, classes=0):
    """Writes a trace of system calls whose classes alternate, with some more classes."""
    trace = ctf.Trace()
    entry, leave = (("a", "s64"), ("b", "u64")), (("ret", "s64"), ("b", "u64"))
    for i in range(classes):
        trace.classes.setdefault(("syscall_entry_c%d" % i, 0), (len(trace.classes), entry))
        trace.classes.setdefault(("syscall_exit_c%d" % i, 0), (len(trace.classes), leave))
    for i in range(events):
        call = "c%d" % (max(classes, 8) - 1 - i % 8)    # the last ones
        trace.add(100 * i + 1, "syscall_entry_" + call, (100, 100, "app"), [BIAS], entry, [1, 2])
        trace.add(100 * i + 50, "syscall_exit_" + call, (100, 100, "app"), [], leave, [1, 2])
    return written(trace, name)


def written(trace, name, packets=10):
    path = os.path.join(work, name)
    trace.write(path, packets=packets)
    return path


def definitions(name, number):
    """Writes a trace in which one id of a stack is defined again and again, with two stacks; larger than what is mapped at once."""
    trace = ctf.Trace()
    for i in range(number):
        stack = [BIAS + 16 * k + i % 2 for k in range(60)]
        trace.add(10 * i + 1, "kunwind_callstack", (100, 100, "app"), (), ctf.WHOLE, [100, 100, 100, 0, 0, 7, 0, 0, stack, []])
    return written(trace, name, number // 500)


def descriptors(name, children):
    """Writes a trace in which a process opens a file with a large descriptor, and has children."""
    trace = ctf.Trace()
    trace.add(1, "syscall_entry_open", (1, 1, "app"), [BIAS], [("filename", "string"), ("flags", "s32")], ["/a", 0])
    trace.add(2, "syscall_exit_open", (1, 1, "app"), [], ctf.RETURN, [1000000])
    for i in range(children):
        trace.add(3 + i, "kunwind_fork", (1, 1, "app"), (), [("parent", "s32"), ("child", "s32"), ("vchild", "s32")], [1, 100 + i, 100 + i])
    trace.add(3 + children, "syscall_entry_read", (1, 1, "app"), [BIAS], [("fd", "s32")], [1000000])
    trace.add(4 + children, "syscall_exit_read", (1, 1, "app"), [], ctf.RETURN, [1])
    return written(trace, name)


def chains(name, pool, rounds, names):
    """Writes a trace in which threads of a pool wait for a dispatcher, which itself waits @rounds times for a timer thread."""
    trace, now = ctf.Trace(), 1000
    dispatcher, timer = (100, 101, "dispatch"), (100, 102, "timer")
    threads = [(100, 1000 + i, "w%d" % i if names else "worker") for i in range(pool)]

    def switch(thread, state, to):
        trace.add(now, "sched_switch", thread, [BIAS], ctf.SWITCH, [thread[1], state, to])

    def wake(thread, tid):
        trace.add(now, "sched_waking", thread, [BIAS], ctf.WAKING, ["x", tid])
    for thread in threads:
        trace.add(now, "syscall_entry_futex", thread, [BIAS], ctf.FUTEX, [0x1000, 128, 0])
        switch(thread, 1, 0)
        now += 10
    for _ in range(rounds):
        switch(dispatcher, 1, 102)
        now += 100
        wake(timer, 101)
        now += 100
        switch(timer, 1, 101)
        now += 100
        wake(dispatcher, 102)
        now += 100
    for thread in threads:
        wake(dispatcher, thread[1])
        switch((0, 0, "swapper/0"), 0, thread[1])
        now += 10
    return written(trace, name)


def preempted(name, threads, rounds):
    """Writes a trace of threads that preempt each other in turn on one processor."""
    trace, now = ctf.Trace(), 1000
    for _ in range(rounds):
        for i in range(threads):
            trace.add(now, "sched_switch", (100, 1000 + i, "app"), [BIAS], ctf.SWITCH, [1000 + i, 0, 1000 + (i + 1) % threads])
            now += 10
    return written(trace, name)


def holder(name, pool, rounds):
    """Writes a trace in which threads of a pool wait for a lock, whose holder sleeps @rounds times."""
    trace, now = ctf.Trace(), 1000
    boss, threads = (100, 101, "boss"), [(100, 1000 + i, "worker") for i in range(pool)]

    def wake(thread, by):
        trace.add(now, "sched_waking", by, [BIAS], ctf.WAKING, ["x", thread[1]])
    for thread in threads:
        trace.add(now, "syscall_entry_futex", thread, [BIAS], ctf.FUTEX, [0x1000, 128, 2])
        trace.add(now, "sched_switch", thread, [BIAS], ctf.SWITCH, [thread[1], 1, 0])
        now += 10
    for _ in range(rounds):
        trace.add(now, "sched_switch", boss, [BIAS], ctf.SWITCH, [101, 1, 0])
        now += 100
        wake(boss, (0, 0, "swapper/0"))
        trace.add(now, "sched_switch", (0, 0, "swapper/0"), (), ctf.SWITCH, [0, 0, 101])
        now += 100
    for thread in threads:
        trace.add(now, "syscall_entry_futex", boss, [BIAS], ctf.FUTEX, [0x1000, 129, 1])
        wake(thread, boss)
        trace.add(now, "syscall_exit_futex", boss, (), ctf.RETURN, [1])
        trace.add(now, "sched_switch", (0, 0, "swapper/0"), (), ctf.SWITCH, [0, 0, thread[1]])
        now += 10
    return written(trace, name)


def followed(trace):
    """Returns the parts of the chain of the first thread of the pool."""
    done = subprocess.run([KUNWIND, "waits", "--all", "--json", trace], capture_output=True, text=True, check=True)
    (chain,) = [chain for chain in json.loads(done.stdout)["chains"] if chain["name"] == "w0: futex"]

    def flat(parts, above=""):
        for part in parts:
            yield above + part["name"], part["ns"]
            yield from flat(part["parts"], above + part["name"] + ";")
    return dict(flat(chain["parts"]))


def linear(what, small, large, times, unit=1):
    """@unit: differences below it are no growth."""
    check(what, large <= small * times + unit, "%d, then %d" % (small, large))


def main():
    global work
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "counter.c"), "w", encoding="ascii") as file:
            file.write(COUNTER)
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", os.path.join(work, "counter.so"),
                        os.path.join(work, "counter.c")], check=True)
        few, many = run("show", "--own", calls("few", 500)), run("show", "--own", calls("many", 2000))
        linear("show: no getpid() for each event", few[0], many[0], 1, 20)
        output = ["perfetto", "--all", "-o", os.path.join(work, "out")]
        few, many = (run("export", *output, calls("classes-%d" % number, 2000, number)) for number in (50, 800))
        linear("export perfetto: with 800 classes of events, no more comparisons of names for each event than with 50",
               few[1], many[1], 1, 200000)
        few, many = run("show", "--own", definitions("ids-few", 20000)), run("show", "--own", definitions("ids-many", 40000))
        linear("show: the memory does not grow with definitions of one id", few[2], many[2], 1, 2048)
        few, many = (run("report", "--all", "--by", "file", descriptors("fd-%d" % number, number)) for number in (1, 20))
        linear("report: a large descriptor takes at most 100 KB for each child process", few[2], many[2], 1, 2000)
        none = run("report", "--all", "--by", "file", calls("no-files", 10))
        linear("report: a large descriptor takes at most 1 MB", none[2], few[2], 1, 1024)
        for names in (False, True):
            few, many = (run("waits", "--all", chains("chains-%d-%d" % (pool, names), pool, 2000, names)) for pool in (20, 200))
            linear("waits: ten times as many waits%s for a thread that has 2,000 waits: no ten times as many comparisons" %
                   (" by threads of other names" if names else ""), few[1], many[1], 2)
        few, many = (instructions("waits", "--all", preempted("preempted-%d" % threads, threads, 8000 // threads)) for threads in (40, 2000))
        linear("waits: as many times in which threads could run, of fifty times as many threads: a quarter more instructions at most",
               few, many, 1.25)
        few, many = (instructions("waits", "--all", holder("holder-%d" % pool, pool, 4000 - pool)) for pool in (10, 100))
        linear("waits: ten times as many threads wait for a lock whose holder sleeps 4,000 times: a quarter more instructions at most",
               few, many, 1.25)
        same("waits: a wait for a thread with 9,000 waits is followed to its end", followed(chains("chain", 1, 9000, True)),
             {"dispatch: no recorded system call": 900000, "dispatch: no recorded system call;timer: on the CPU": 900000,
              "dispatch: runnable": 900000, "dispatch: runnable;[not recorded]": 900000, "dispatch: on the CPU": 1800010})
    tap.finish()


if __name__ == "__main__":
    sys.exit(main())
