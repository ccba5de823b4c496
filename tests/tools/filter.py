#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests babeltrace2's filter.kunwind.symbolize.

The test compiles a program, and writes a trace with addresses in it.
"""

import os
import re
import subprocess
import tempfile

import ctf
import tap
from tap import check, run, same

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.path.join(HERE, "../../tools/babeltrace2/build")
BIAS = 0x555555554000
THREAD = (100, 100, "app")
PROGRAM = """
#include <unistd.h>
static inline __attribute__((always_inline)) long inner(void) { return getppid(); }
__attribute__((noinline)) long outer(void) { return inner() + 1; }
__attribute__((noinline, noreturn)) void last(void) { getppid(); _exit(1); }
int main(void) { asm volatile("nop; a_label: nop; .type a_part, @function; a_part: nop; .size a_part, 1; nop; nop"); if (outer() == 0) last(); return 0; }
__attribute__((noinline)) int strong(void) { return getppid() + 3; }
__attribute__((weak, alias("strong"))) int a_weak(void);
__attribute__((alias("strong"), used)) static int a_local(void);
__attribute__((noinline)) int __two(void) { return getppid() + 4; }
__attribute__((alias("__two"))) int _one(void);
#line 0
long no_line(void) { return inner() + 2; }
"""

tap.suite = "filter"


def traced(work, name, build_id, events):
    """Writes a trace; returns [(function, offset)...] of the stack of each event.

    build_id: (path, build-id, address) of each mapping; events: (stack, name,
    fields, values). Inlined functions are left out.
    """
    trace = ctf.Trace()
    for time, (path, identity, base) in enumerate(build_id):
        trace.add(1 + time, "kunwind_map", THREAD, (), ctf.MAP,
                  [100, 100, base, base + 0x1000000, 0, base, 0, identity, path])
    for time, (stack, event, fields, values) in enumerate(events):
        trace.add(100 + time, event, THREAD, stack, fields, values)
    path = os.path.join(work, name)
    trace.write(path)
    lines = run("babeltrace2", "--plugin-path", PLUGIN, path, "-c", "filter.kunwind.symbolize").splitlines()
    return [[(function, int(offset, 16)) for function, offset, inlined in
             re.findall(r'function = "([^"]*)", offset = (\w+), inlined = (\d)', line) if inlined == "0"]
            for line in lines[-len(events):]]


def names(work, program, symbols, sizes, build_id, calls):
    app = (program, build_id, BIAS)
    end = BIAS + symbols["last"] + sizes["last"]
    read = ("syscall_entry_read", [("fd", "s32")], [3])
    libc = os.path.realpath("/lib/x86_64-linux-gnu/libc.so.6")
    identity = re.search("Build ID: ([0-9a-f]+)", run("readelf", "-nW", libc)).group(1)
    # A return address at the end of last(): another mapping begins there.
    got = traced(work, "ends", [app, (libc, identity, end)], [([BIAS + symbols["main"], end], *read)])
    same("a return address after a call that does not return has the caller's name",
         got[0][1], ("last", sizes["last"]))
    got = traced(work, "behind", [app], [([end], *read)])
    same("the byte after a function does not have its name", got[0][0][0] == "last", False)

    with open(libc, "rb") as file:
        restore = file.read().index(bytes.fromhex("48c7c00f0000000f05"))
    base = 0x7f0000000000
    got = traced(work, "signal", [app, (libc, identity, base)],
                 [([BIAS + symbols["main"], base + restore, BIAS + symbols["outer"]], *read)])
    same("a function that a signal interrupted at its first byte has its name", got[0][2], ("outer", 0))

    # Without debug information, names come from symbols only.
    bare = os.path.join(work, "bare")
    subprocess.run(["objcopy", "--strip-debug", program, bare], check=True)
    got = traced(work, "label", [(bare, build_id, BIAS)], [([BIAS + symbols["a_label"]], *read), ([BIAS + symbols["a_part"]], *read),
                  ([BIAS + symbols["a_part"] + 1], *read)])
    same("an address at a label inside a function has the function's name", got[0][0][0], "main")
    same("an address in a function inside another has the inner function's name", got[1][0][0], "a_part")
    aliases = traced(work, "aliases", [(bare, build_id, BIAS)], [([BIAS + symbols[name]], *read) for name in ("strong", "__two")])
    same("a function with several names gets a global one, and the one with fewer underscores",
         [frames[0][0] for frames in aliases], ["strong", "_one"])
    same("the byte after the inner function has the outer function's name", got[2][0][0], "main")

    trace = ctf.Trace()
    trace.add(1, "kunwind_map", THREAD, (), ctf.MAP,
              [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    trace.add(2, "syscall_entry_read", THREAD, [BIAS + calls[-1]], *read[1:])   # in no_line()
    path = os.path.join(work, "no-line")
    trace.write(path)
    line = run("babeltrace2", "--plugin-path", PLUGIN, path, "-c", "filter.kunwind.symbolize",
               "--params", 'format="text"').splitlines()[-1]
    same("format=text: an unknown line number is left out",
         [at.replace(program, "") for at in re.findall(r' at ([^"]*)', line)], [".c:3", ".c"])

    done = subprocess.run(["babeltrace2", "--plugin-path", PLUGIN, path, "-c", "filter.kunwind.symbolize",
                           "--params", 'debug-dirs=["/missing"]'], capture_output=True, text=True)
    check("debug-dirs with a directory that is missing: an error names it", done.returncode == 1 and
          re.search(r'parameter "debug-dirs":\s+/missing:\s+No\s+such\s+file', done.stderr), done.stderr)

    ctf.STACK = ctf.STACK.replace("_callstack_user_length", "_other_length").replace(
        "callstack_user[", "other[")
    addresses = [BIAS + symbols["main"], BIAS + symbols["outer"] + 1]
    got = traced(work, "whole", [app], [((), "kunwind_callstack", ctf.WHOLE,
                                         (100, 100, 100, 0, 0, 7, 0, 0, addresses, [0, 1]))])
    same("kunwind_callstack: frames have names without the context callstack_user", [frame[0] for frame in got[0]], ["main", "outer"])


def main():
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "app")
        with open(program + ".c", "w") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", "-o", program, program + ".c"], check=True)
        symbols = {line.split()[2]: int(line.split()[0], 16)
                   for line in run("nm", program).splitlines() if len(line.split()) == 3}
        calls = [int(line.split(":")[0], 16) for line in run("objdump", "-d", program).splitlines()
                 if re.search(r"\tcall.*<getppid@plt>", line)]
        build_id = re.search("Build ID: ([0-9a-f]+)", run("readelf", "-nW", program)).group(1)
        # The call, in inner() inlined into outer(); its return address; an
        # address without code.
        stack = [BIAS + calls[0], BIAS + calls[0] + 5, 0x1234]
        trace = ctf.Trace()
        trace.add(1, "kunwind_map", THREAD, (), ctf.MAP,
                  [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
        trace.add(2, "syscall_entry_read", THREAD, stack, [("fd", "s32")], [3])
        path = os.path.join(work, "trace")
        trace.write(path)
        babeltrace = ["babeltrace2", "--plugin-path", PLUGIN, path, "-c", "filter.kunwind.symbolize"]
        line = run(*babeltrace).splitlines()[-1]
        sizes = {line.split()[3]: int(line.split()[1], 16)
                 for line in run("nm", "-S", program).splitlines() if len(line.split()) == 4}
        names(work, program, symbols, sizes, build_id, calls)
        frames = re.findall(r'function = "([^"]*)", offset = (\w+), inlined = (\d).*?why = "([^"]*)"', line)
        same("inlined functions come before the function that contains them",
             [(frame[0], frame[2]) for frame in frames[:4]],
             [("inner", "1"), ("outer", "0")] * 2)
        same("the offset counts from the start of the function",
             int(frames[3][1], 16), calls[0] + 5 - symbols["outer"])
        same("why is empty for a frame with a name", [frame[3] for frame in frames[:4]], [""] * 4)
        same("why is the reason for a frame without a name", frames[4][0] == "" and frames[4][3], "no mapping known")
        same("three frames have five functions", len(frames), 5)
        twice = run(*babeltrace, "-c", "filter.kunwind.symbolize").splitlines()[-1]
        same("a second filter adds nothing", twice, line)
    tap.finish()


if __name__ == "__main__":
    main()
