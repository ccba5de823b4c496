#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind symbolize on made-up traces, on a process and on saved mappings.

eu-addr2line says which function holds an address. The text is in the forms of
bpftrace and perf script. (tests/vm/check/t-others.sh uses their real output.)
"""

import ctypes
import functools
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import threading
import time

import ctf
import tap
from tap import check, same

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind")
BIAS, OTHER_BIAS = 0x555555554000, 0x7f0000000000
# The call in caller() is its last instruction, so next_one() begins at the return
# address. The program prints the address of a function and waits for input.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int inner(int n) { __asm__ volatile("nop" : : "r"(n)); return n; }
__attribute__((noinline, noreturn)) void ends(void) { _exit(0); }
__attribute__((noinline, noreturn)) void caller(void) { ends(); }
__attribute__((noinline)) int next_one(int n) { return inner(n) + 1; }
int main(int argc, char **argv) { printf("%p\\n", (void *)next_one); fflush(stdout); getchar();
	if (argc > 1) caller(); return next_one(argc); }
"""
tap.suite = "symbolize"


def build(work, name, *options):
    """Returns (path, build-id, offset in the file and virtual address of the code, {symbol: address})."""
    source, path = os.path.join(work, "app.c"), os.path.join(work, name)
    with open(source, "w") as file:
        file.write(PROGRAM)
    subprocess.run(["gcc", "-g", "-Os", "-fno-align-functions", "-fno-reorder-functions", "-fno-toplevel-reorder",
                    "-Wl,--build-id", *options, "-o", path, source], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in tap.run("nm", path).splitlines()
               if len(line.split()) == 3}
    build_id = re.search("Build ID: ([0-9a-f]+)", tap.run("readelf", "-nW", path)).group(1)
    load = re.search(r"LOAD +0x(\w+) 0x(\w+) .* R E ", tap.run("readelf", "-lW", path))
    return path, build_id, (int(load.group(1), 16), int(load.group(2), 16)), symbols


def symbolize(text, *arguments, status=0, **options):
    done = subprocess.run([KUNWIND, "symbolize", *arguments], input=text, capture_output=True, text=True,
                          errors="surrogateescape", **options)
    if not status and "none of the" in done.stderr:     # nothing found
        status = 1
    if done.returncode != status:
        check("kunwind symbolize %s: status %d" % (" ".join(arguments), status), False,
              "%d\n%s" % (done.returncode, done.stderr))
    return done


def named(text, *arguments):
    return symbolize(text, *arguments).stdout


def oracle(path, address):
    """Returns the function that holds an address of the file, by eu-addr2line."""
    return tap.run("eu-addr2line", "-f", "-e", path, hex(address)).splitlines()[0].split()[-1]


class App:
    """One build of the program, and events about its mappings."""

    def __init__(self, work, name, *options):
        self.path, self.build_id, (self.offset, self.vaddr), self.symbols = build(work, name, *options)

    def at(self, symbol, more=0, bias=BIAS):
        return bias + self.symbols[symbol] + more

    def map(self, trace, when, pid, bias=BIAS, own=0):
        start = bias + (self.vaddr & ~4095)
        trace.add(when, "kunwind_map", (pid, pid, "app"), (), ctf.MAP,
                  [pid, own or pid, start, start + 0x1000, self.offset & ~4095, bias, 1, self.build_id, self.path])
        return start

    def unmap(self, trace, when, pid, bias=BIAS):
        start = bias + (self.vaddr & ~4095)
        trace.add(when, "kunwind_unmap", (pid, pid, "app"), (), [("tgid", "s32"), ("start", "u64"), ("end", "u64")],
                  [pid, start, start + 0x1000])


def event(trace, when, name, pid, comm="app"):
    if name == "exec":
        trace.add(when, "kunwind_exec", (pid, pid, comm), (), [("tgid", "s32"), ("comm", "string")], [pid, comm])
    else:
        trace.add(when, "kunwind_exit", (pid, pid, comm), (), [("tgid", "s32")], [pid])


def fork(trace, when, parent, child, own):
    trace.add(when, "kunwind_fork", (parent, parent, "app"), (),
              [("parent", "s32"), ("child", "s32"), ("vchild", "s32")], [parent, child, own])


def test_text(app, trace):
    """Which text is replaced, and by what."""
    a, kernel = app.at("next_one", 2), 0xffffffff81234567
    lone = "next_one+0x2"
    table = [
        ("a word", "ip %#x end" % a, "ip next_one+0x2 end"),
        ("between punctuation", "ip=%#x,(%#x) [%#x]: \"%#x\";%#x." % (a, a, a, a, a),
         "ip=next_one+0x2,(next_one+0x2) [next_one+0x2]: \"next_one+0x2\";next_one+0x2."),
        ("no word: offsets, ranges, paths, identifiers",) +
        ("f+%#x %#x-%#x /%#x x%#x %#xz _%#x" % ((a,) * 7),) * 2,
        ("no word: after and before @, after a dot, before a dot and a digit", "f@%#x %#x@plt x.%#x %#x.5" % ((a,) * 4),
         "f@%#x %#x@plt x.%#x %#x.5" % ((a,) * 4)),
        ("a number of 17 digits", "0x0%016x" % a, "0x0%016x" % a),
        ("other numbers", "%d 0x12 0x %x 0x%x12345" % (a, a, a), "%d 0x12 0x %x 0x%x12345" % (a, a, a)),
        ("a number alone in its line", "%x" % a, lone),
        ("a short number alone in its line", "401136", "401136"),
        ("a folded stack", "a;%#x;b 12" % a, "a;next_one+0x2;b 12"),
        ("an address of the kernel", "%#x" % kernel, "%#x" % kernel),
        ("an address without a mapping", "0xdeadbeef0000", "0xdeadbeef0000"),
        ("the start of a function", "%#x" % app.at("main"), "main+0x0"),
        ("upper case", "0x%X" % a, lone),
        ("bytes that are not UTF-8, and NUL", "\udcff\0%#x\udc80" % a, "\udcff\0%s\udc80" % lone),
        ("nothing", "", ""),
    ]
    for what, text, wanted in table:
        same("text: " + what, named(text + "\n", trace), wanted + "\n")
    same("text: the last line has no newline", named("x %#x" % a, trace), "x " + lone)
    same("text: a line of 3 MB is copied", named("y" * 3000000 + "\n%#x\n" % a, trace), "y" * 3000000 + "\n" + lone + "\n")
    cut = "y" * ((1 << 20) - 2) + "0x%x\n" % a
    same("text: the end of a long line is copied, too", named(cut + "%#x\n" % a, trace), cut + lone + "\n")
    same("text: 20,000 addresses in a line", named("%#x " % a * 20000 + "\n", trace), "next_one+0x2 " * 20000 + "\n")
    same("--objects", named("%#x\n" % a, "--objects", trace), "%s (%s)\n" % (lone, app.path))
    like = re.fullmatch(r"next_one\+0x2 at .*app\.c:\d+\n", named("%#x\n" % a, "-l", trace))
    check("--lines adds the source line", like)
    nop = next(a for a in range(app.at("next_one"), app.at("main"))
               if "inner" in tap.run("eu-addr2line", "-i", "-f", "-e", app.path, hex(a - BIAS)))
    same("--inlined: a line for an inlined function",
         re.sub(r"0x[0-9a-f]+$", "N", named("   %#x\n" % nop, "-i", trace).strip("\n")), "   inner (inlined)\n   next_one+N")
    same("--why", named("0xdeadbeef0000\n", "--why", trace), "0xdeadbeef0000 [no mapping known in any process]\n")
    check("none of the addresses has a name: message", "none of the 2 addresses is of known code" in
          symbolize("0xdeadbeef0000 0xdeadbeef0000\n", trace).stderr)


def test_stack(app, trace):
    """Which address is a program counter, and which is a return address."""
    back = app.at("next_one")  # where the call in caller() would return to
    same("oracle: the call before the return address is in caller",
         [oracle(app.path, back - BIAS - 1), oracle(app.path, back - BIAS)], ["caller", "next_one"])
    first, then = "next_one+0x0", "caller+%#x" % (app.symbols["next_one"] - app.symbols["caller"])
    table = [
        ("bpftrace", "@[\n    {a}\n    {a}\n    main+12\n    {a}\n]: 7\n", "@[\n    {1}\n    {2}\n    main+12\n    {2}\n]: 7\n"),
        ("bpftrace, named first frame", "@[\n    read+77\n    {a}\n]: 7\n", "@[\n    read+77\n    {2}\n]: 7\n"),
        ("bpftrace, two stacks", "stack\n        {a}\n        {a}\n\n        {a}\n", "stack\n        {1}\n        {2}\n\n        {1}\n"),
        ("an indented heading", "  at exit:\n    {a}\n    {a}\n", "  at exit:\n    {1}\n    {2}\n"),
        ("blanks at the ends of lines", "@[\n    {a} \n    {a}\t\n]: 7\n", "@[\n    {1} \n    {2}\t\n]: 7\n"),
        ("indented headings with blanks after them", "  at exit: \n    {a}\n  @[ \n    {a}\n", "  at exit: \n    {1}\n  @[ \n    {1}\n"),
        ("a list of addresses", "{a}\n{a}\n", "{1}\n{1}\n"),
        ("words", "{a} {a}\n  x {a} y\n", "{1} {1}\n  x {1} y\n"),
    ]
    for what, text, wanted in table:
        same("stack: " + what, named(text.replace("{a}", hex(back)), trace),
             wanted.replace("{1}", first).replace("{2}", then))
    same("--exact: all are program counters", named("\n  %#x\n  %#x\n" % (back, back), "--exact", trace),
         "\n  %s\n  %s\n" % (first, first))
    same("--return: all are return addresses", named("%#x %#x\n" % (back, back), "--return", trace),
         "%s %s\n" % (then, then))


def test_low(app, work):
    """Code at low addresses, as in programs that are not position-independent."""
    made = ctf.Trace()
    app.map(made, 1, 100, bias=0x400000)
    trace = os.path.join(work, "low")
    made.write(trace)
    back = app.at("next_one", bias=0x400000)
    then = "caller+%#x" % (app.symbols["next_one"] - app.symbols["caller"])
    same("low addresses: bpftrace", named("@[\n    %#x\n    %#x\n]: 7\n" % (back, back), trace),
         "@[\n    next_one+0x0\n    %s\n]: 7\n" % then)
    head = "app  100 [001]   312.345678:     250000 cpu-clock: \n"
    same("low addresses: perf -F ip", named(head + "\t%x\n\t%x\n" % (back, back), trace), head + "\tnext_one+0x0\n\t%s\n" % then)


def test_perf(app, other, trace):
    """The trace has process 100 (app) and process 200 (other, at the same addresses)."""
    back = app.at("next_one")
    head = "my prog  %s [001]   312.345678:     250000 cpu-clock: \n"
    frames = ("\tffffffff8123 do_idle+0x1 ([kernel.kallsyms])\n\t%x [unknown] (%s)\n\t%16x [unknown] ([unknown])\n"
              "\t%x main+0x3 (/a/b)\n\n")
    then = "caller+%#x" % (app.symbols["next_one"] - app.symbols["caller"])

    def text(pid):
        return head % pid + frames.replace("ffffffff8123", "ffffffff81234567") % (back, "/bin/x (deleted)", back, back)

    def wanted(pid, path):
        return text(pid).replace("[unknown] (/", "next_one+0x0 (/").replace(
            "[unknown] ([unknown])", "%s (%s)" % (then, path))
    same("perf: the process of the header, unnamed frames only", named(text(100), trace), wanted(100, app.path))
    same("perf: process and thread in the header", named(text("200/201"), trace), wanted("200/201", other.path))
    same("perf: two samples", named(text(100) + text(200), trace), wanted(100, app.path) + wanted(200, other.path))
    same("perf: another process than --pid is left alone", named(text(100) + text(200), "--pid", "200", trace),
         text(100) + wanted(200, other.path))
    same("perf: --pid is used for a thread that the trace does not know", named(text(105), "-p", "200", trace),
         wanted(105, other.path))
    same("perf: a thread of an unknown process, different code: left alone", named(text(105), trace), text(105))
    # perf from 6.1 on prints the offset in the file if it knows the file
    offset = app.symbols["next_one"] - app.vaddr + app.offset
    frames = "\t%x [unknown] (%s)\n\t%x [unknown] (%s (deleted))\n"
    same("perf: offsets in a file", named(head % 100 + frames % (offset, app.path, offset, app.path), trace),
         head % 100 + "\t%x next_one+0x0 (%s)\n\t%x %s (%s (deleted))\n" % (offset, app.path, offset, then, app.path))
    text_ = head % 100 + frames % (offset, other.path, offset, other.path)
    same("perf: offsets in a file that the process did not map: left alone", named(text_, trace), text_)
    text_ = text_.replace("  100 ", "  105 ")
    check("perf: offsets of a thread that the trace does not know: left alone, reason",
          named(text_, "--why", trace).count("(try perf script -F +pid,+ip,+sym,+symoff,+dso)") == 2)
    same("bpftrace, ustack(perf): return addresses and objects",
         named("@[\n\t%x 0x%x ([unknown])\n\t%x 0x%x ([unknown])\n]: 1\n" % ((back,) * 4), "-p", "100", trace),
         "@[\n\t%x next_one+0x0 (%s)\n\t%x %s (%s)\n]: 1\n" % (back, app.path, back, then, app.path))
    line = "            app   100   312.345678:          1 cycles:u:      %x [unknown] (/bin/app)\n" % back
    same("perf: sample without a stack", named(line, trace), line.replace("[unknown]", "next_one+0x0"))
    same("perf: --inlined, sample without a stack: one line", len(named(line, "--inlined", trace).splitlines()), 1)
    frame = "\t%x [unknown] (/bin/app)\n" % back
    same("perf: addresses only (-F ip)", named(head % 100 + "\t%x\n\t%x\n" % (back, back), trace),
         head % 100 + "\tnext_one+0x0\n\t%s\n" % then)
    for line in ("x 4294967396 [001] 5.5: c:\n", "x 100/a [001] 5.5: c:\n", "x 100 [001] 5.: c:\n"):
        same("perf: no header: %s" % line.strip(), named(line + frame, trace), line + frame)
    line = "my 200 prog   100 [001]   5.5:  1 c: \n"
    unknown = "\t%x [unknown] ([unknown])\n" % back
    same("perf: a number in the name of the thread", named(line + unknown, trace),
         line + unknown.replace("[unknown] ([unknown])", "next_one+0x0 (%s)" % app.path))
    line = "\nanother line\n"
    same("perf: a line that is not indented ends the sample, and its process is forgotten",
         named(head % 100 + frame + line + frame, trace), head % 100 + frame.replace("[unknown]", "next_one+0x0") + line + frame)
    line = "\tffffffff81234567 [unknown] ([kernel.kallsyms])\n"
    same("perf: frames of the kernel that have no name are not the first frame of the program",
         named(head % 100 + line + frame, trace), head % 100 + line + frame.replace("[unknown]", "next_one+0x0"))
    line = "@[\n\t%x 0x%x ([unknown])\n]: 1\n" % (back, back + 1)
    same("bpftrace, ustack(perf): two different numbers are no frame", named(line, "-p", "100", trace),
         "@[\n\t%x next_one+0x1 ([unknown])\n]: 1\n" % back)
    for what, text_, changed in (("blanks after the object", "\t%x [unknown] (/bin/app) \t\n", True),
                                 ("a letter before the address", "\tz%x [unknown] (/bin/app)\n", False),
                                 ("an object without its closing parenthesis", "\t%x [unknown] (/bin/app\n", False)):
        text_ = head % 100 + text_ % back
        same("perf: " + what, named(text_, trace), text_.replace("[unknown]", "next_one+0x0") if changed else text_)
    check("perf: --why says that the process is another",
          named(head % 100 + frame, "-p", "200", "--why", trace).endswith("(/bin/app) [of another process]\n"))


def written(work, name, fill):
    """Writes a trace with the events that fill() adds. Returns its directory."""
    made = ctf.Trace()
    fill(made)
    made.write(os.path.join(work, name))
    return os.path.join(work, name)


def test_processes(work, app, other):
    """Which process and which time are meant."""
    a = app.at("next_one", 1)
    elsewhere = other.at("main", 1, OTHER_BIAS)

    trace = functools.partial(written, work)

    def life(t):
        """100: app, then exec of other at the same address, which is unmapped; exit."""
        event(t, 10, "exec", 100)
        app.map(t, 20, 100)
        event(t, 30, "exec", 100, "second")
        other.map(t, 40, 100, OTHER_BIAS)
        other.unmap(t, 50, 100, OTHER_BIAS)
        event(t, 60, "exit", 100)
    path = trace("life", life)
    same("an ended process: code before its last exec", named("%#x\n" % a, path), "next_one+0x1\n")
    same("an ended process: code that was unmapped", named("%#x\n" % elsewhere, path), "main+0x1\n")
    at = "1700000000000000000"[:-2]
    same("--at: before the exec", named("%#x %#x\n" % (a, elsewhere), "--at", at + "25", path),
         "next_one+0x1 %#x\n" % elsewhere)
    same("--at: after the exec", named("%#x %#x\n" % (a, elsewhere), "--at", at + "45", path), "%#x main+0x1\n" % a)
    same("--at: after the unmap", symbolize("%#x\n" % elsewhere, "--at", at + "55", path).stdout, "%#x\n" % elsewhere)
    same("--at: seconds from the beginning", named("%#x %#x\n" % (a, elsewhere), "--at", "0.000000035", path),
         "%#x main+0x1\n" % a)
    clock = time.strftime("%H:%M:%S", time.localtime(1700000000))
    same("--at: as kunwind show prints the time", named("%#x %#x\n" % (a, elsewhere), "--at", clock + ".000000045", path),
         "%#x main+0x1\n" % a)

    def family(t):
        """100 forks 101, which has number 5 in its namespace; 200 has other code there."""
        app.map(t, 10, 100)
        fork(t, 20, 100, 101, 5)
        other.map(t, 25, 200, OTHER_BIAS)
        event(t, 30, "exit", 101)
    path = trace("family", family)
    same("several processes with the same code: no --pid is needed", named("%#x %#x\n" % (a, elsewhere), path),
         "next_one+0x1 main+0x1\n")
    same("--pid: only that process", named("%#x %#x\n" % (a, elsewhere), "--pid", "101", path),
         "next_one+0x1 %#x\n" % elsewhere)
    same("--pid: number in the process's own pid namespace", named("%#x\n" % a, "--pid", "5", path), "next_one+0x1\n")
    done = symbolize("%#x\n" % a, "--pid", "77", path, status=1)
    check("--pid that the trace does not have: says which there are",
          re.search(r"no mappings of process 77; it has those of .*100 .*101 .*200", done.stderr), done.stderr)

    def differ(t):
        app.map(t, 10, 100)
        other.map(t, 20, 200)
    path = trace("differ", differ)
    same("different code in two processes: left alone", named("%#x\n" % a, "--why", path),
         "%#x [different code in several processes (see --pid)]\n" % a)
    same("different code in two processes: --pid", named("%#x\n" % a, "-p", "100", "--objects", path),
         "next_one+0x1 (%s)\n" % app.path)

    empty = ctf.Trace()
    empty.add(1, "syscall_entry_getpid", (1, 1, "x"))
    empty.write(os.path.join(work, "empty"))
    done = symbolize("x\n", os.path.join(work, "empty"), status=1)
    check("a trace without mappings: error", "has no mappings" in done.stderr and not done.stdout, done.stderr)
    return path


def test_lives(work, app, other):
    """Starts and ends of programs and mappings, PIDs in namespaces, and parent processes."""
    a = app.at("next_one", 1)
    elsewhere = other.at("main", 1, OTHER_BIAS)

    trace = functools.partial(written, work)

    def again(t):
        """A process whose exec was lost has the PID of one that has ended."""
        app.map(t, 10, 100)
        event(t, 60, "exit", 100)
        other.map(t, 80, 100, OTHER_BIAS)
    path = trace("again", again)
    same("a PID that is used again: the code of both processes", named("%#x %#x\n" % (a, elsewhere), path),
         "next_one+0x1 main+0x1\n")

    def unmapped(t):
        app.map(t, 10, 100)
        app.unmap(t, 59, 100)
        event(t, 60, "exit", 100)
    path = trace("unmapped", unmapped)
    start = BIAS + (app.vaddr & ~4095)
    same("code that was unmapped in the last nanosecond", named("%#x\n" % a, path), "next_one+0x1\n")
    path = trace("unmapped-before", lambda t: (app.map(t, 10, 100), app.unmap(t, 50, 100), event(t, 60, "exit", 100)))
    check("code that was unmapped: its first address", re.fullmatch(r"_init\+0x0\n", named("%#x\n" % start, path)), named("%#x\n" % start, path))
    check("code that was unmapped: a return address at its end",
          re.fullmatch(r"app\+0x\w+\n", named("%#x\n" % (start + 0x1000), "--return", path)), named("%#x\n" % (start + 0x1000), "--return", path))

    def family(t):
        """100 forks 101, which forks 102; 101 has the PID 5 in its namespace, and then runs another program."""
        event(t, 5, "exec", 100, "eldest")
        app.map(t, 10, 100)
        fork(t, 20, 100, 101, 5)
        fork(t, 30, 101, 102, 6)
        event(t, 40, "exec", 101, "late")
    path = trace("lives", family)
    same("--at: the time at which a process begins", named("%#x\n" % a, "--pid", "102", "--at", "1700000000000000030", path),
         "next_one+0x1\n")
    same("--pid: a process keeps its PID in a namespace after exec", named("%#x\n" % a, "--pid", "5", path), "next_one+0x1\n")
    done = symbolize("x\n", "--pid", "77", path, status=1)
    check("--pid that the trace does not have: names of the processes, also of those without an exec",
          "100 (eldest), 102 (eldest), 101 (late)" in done.stderr, done.stderr)
    offset = app.symbols["next_one"] - app.vaddr + app.offset
    line = "app  102 [001]   312.345678:     250000 cpu-clock: \n\t%x [unknown] (%s)\n"
    same("perf: offset in a file that the parent's parent has mapped", named(line % (offset, app.path), path),
         (line % (offset, app.path)).replace("[unknown]", "next_one+0x0"))
    line = line.replace("102", "100") % (offset, app.path[:-1])
    same("perf: offset in a file whose path is the start of another path: left alone", named(line, path), line)

    def numbers(t):
        app.map(t, 10, 100)
        other.map(t, 20, 200, own=100)
    same("--pid: a process with this PID comes before one that has it in a namespace",
         named("%#x\n" % a, "--pid", "100", trace("numbers", numbers)), "next_one+0x1\n")
    def biases(t):
        """Another process has mapped the file with its code 16 bytes higher."""
        start = app.map(t, 10, 100)
        t.add(20, "kunwind_map", (200, 200, "app"), (), ctf.MAP,
              [200, 200, start, start + 0x1000, app.offset & ~4095, BIAS + 16, 1, app.build_id, app.path])
    same("one file with its code at two places in two processes: left alone", named("%#x\n" % a, "--why", trace("biases", biases)),
         "%#x [different code in several processes (see --pid)]\n" % a)
    for nr, others in ((10, False), (11, True)):
        path = trace("processes-%d" % nr, lambda t: [app.map(t, 10 + i, 100 + i) for i in range(nr)])
        said = symbolize("x\n", "--pid", "77", path, status=1).stderr
        same("--pid that the trace does not have: %d processes" % nr, (said.count("(?)"), "and others" in said), (10, others))


def test_thread():
    """perf script names a thread of a running process, which is this one."""
    function = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p).value
    end, numbers = threading.Event(), []
    thread = threading.Thread(target=lambda: (numbers.append(threading.get_native_id()), end.wait()))
    thread.start()
    while not numbers:
        time.sleep(0.01)
    text = "app  %d [001]   312.345678:     250000 cpu-clock: \n\t%x [unknown] (/x)\n" % (numbers[0], function)
    check("perf: --pid: a thread of the running process", "getppid+0x0" in named(text, "--pid", str(os.getpid())),
          named(text, "--pid", str(os.getpid()), "--why"))
    end.set()
    thread.join()


def test_stripped(work, app):
    bare = os.path.join(work, "bare")
    subprocess.run(["strip", "-o", bare, app.path], check=True)
    made = ctf.Trace()
    start = BIAS + (app.vaddr & ~4095)
    made.add(1, "kunwind_map", (100, 100, "app"), (), ctf.MAP,
             [100, 100, start, start + 0x1000, app.offset & ~4095, BIAS, 1, app.build_id, bare])
    made.write(os.path.join(work, "stripped"))
    address = app.at("next_one", 3)
    same("no symbol: object and address", named("%#x\n" % address, os.path.join(work, "stripped")),
         "bare+%#x\n" % (address - BIAS))
    same("no symbol: reason", named("%#x\n" % address, "--why", os.path.join(work, "stripped")),
         "bare+%#x [no symbol]\n" % (address - BIAS))


def test_running(work, app):
    process = subprocess.Popen([app.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    address = int(process.stdout.readline(), 16)
    saved = os.path.join(work, "saved")
    with open("/proc/%d/maps" % process.pid) as maps, open(saved, "w") as file:
        file.write(maps.read())
    pid = str(process.pid)
    same("--pid: a running process", named("%#x\n" % address, "-p", pid), "next_one+0x0\n")
    same("--pid: the process of a perf header is another", named("x 1 5.678901: c: \n\t%x [unknown] (/a)\n" % address, "-p", pid),
         "x 1 5.678901: c: \n\t%x [unknown] (/a)\n" % address)
    lines = named("%#x\n" % address, "-j", "-p", pid).splitlines()
    value = json.loads(lines[0])
    same("--json: one object for each address", (len(lines), value["line"], value["pid"], value["frame"]["function"]),
         (1, 1, process.pid, "next_one"))
    live = subprocess.Popen([KUNWIND, "symbolize", "-p", pid], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    live.stdin.write(b"first %#x\nsecond" % address)
    ready = select.select([live.stdout], [], [], 60)[0]
    same("a line is written while the input is open", os.read(live.stdout.fileno(), 4096) if ready else b"", b"first next_one+0x0\n")
    process.communicate("\n")
    live.send_signal(signal.SIGINT)
    live.stdin.write(b" %#x\n" % address)
    same("the process ended, and ^C: the rest is written", (live.communicate()[0], live.returncode), (b"second next_one+0x0\n", 0))
    same("--maps: saved mappings of an ended process", named("%#x\n" % address, "--maps", saved), "next_one+0x0\n")
    with open(saved) as file:
        other_inode = re.sub(r" \d+( +/.*/app)$", r" 1\1", file.read(), flags=re.M)
    with open(saved, "w") as file:
        file.write(other_inode)
    text = named("%#x\n" % address, "--why", "-m", saved)
    check("--maps: no names from a file with another inode",
          re.fullmatch(r"app\+0x\w+ \[no build-id, and not the same inode\]\n", text), text)
    check("--pid of an ended process: error", "no process" in symbolize("", "-p", pid, status=1).stderr)


def test_errors(trace, work):
    table = [
        ("no source", [], "no trace given, and no recording"),
        ("no PID", ["-p", "x"], "not a PID"),
        ("PID 0", ["-p", "0"], "not a PID"),
        ("no such trace", ["/nonexistent"], "/nonexistent: No such file"),
        ("no such maps", ["-m", "/nonexistent"], "/nonexistent: No such file"),
        ("maps that are a directory", ["-m", work], "Is a directory"),
        ("maps that are none", ["-m", __file__], "no mapping of code"),
        ("maps and PID", ["-m", __file__, "-p", "1"], "stands alone"),
        ("time without a trace", ["-p", str(os.getpid()), "--at", "12:00:00"], "time of a TRACE"),
        ("no time", ["--at", "noon", trace], "not: noon"),
        ("no time of a day", ["--at", "25:00:00", trace], "not: 25:00:00"),
        ("a time with blanks", ["--at", " 1: 2: 3", trace], "not:  1: 2: 3"),
        ("nanoseconds of 18 digits", ["--at", "1" * 18, trace], "not: " + "1" * 18),
        ("unknown option", ["--nonsense", trace], "unrecognized option"),
    ]
    for what, arguments, message in table:
        usage = not arguments or arguments[0] == "--nonsense" or "-p" in arguments or "stands" in message
        done = symbolize("0x1\n", *arguments, status=2 if usage else 1)
        check("error: " + what, message in done.stderr and not done.stdout, done.stderr + done.stdout)
    done = subprocess.run("echo x | '%s' symbolize '%s' >/dev/full" % (KUNWIND, trace), shell=True, capture_output=True, text=True)
    same("error: full disk", (done.returncode, "cannot write" in done.stderr), (1, True))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([KUNWIND, "symbolize", trace], input="x\n" * 100000, stdout=writer, stderr=subprocess.PIPE,
                          text=True, check=False, restore_signals=False,
                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    os.close(writer)
    same("the reader of standard output has gone: status 0, and no message", (done.returncode, done.stderr), (0, ""))
    done = subprocess.run("'%s' symbolize '%s' <&-" % (KUNWIND, trace), shell=True, capture_output=True, text=True)
    same("error: no standard input", (done.returncode, "standard input: Bad file" in done.stderr), (1, True))


def main():
    with tempfile.TemporaryDirectory() as work:
        work = os.path.realpath(work)
        app, other = App(work, "app"), App(work, "other", "-DOTHER", "-Wl,-z,now")
        trace = ctf.Trace()
        app.map(trace, 1, 100)
        event(trace, 2, "exit", 100)
        path = os.path.join(work, "trace")
        trace.write(path)
        test_text(app, path)
        test_stack(app, path)
        test_low(app, work)
        test_perf(app, other, test_processes(work, app, other))
        test_lives(work, app, other)
        test_thread()
        test_stripped(work, app)
        test_running(work, app)
        test_errors(path, work)
    tap.finish()


if __name__ == "__main__":
    main()
