#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""babeltrace2's filter.kunwind.symbolize on a made-up trace of a program that is compiled here."""

import os
import re
import subprocess
import sys
import tempfile

import ctf

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.path.join(HERE, "../../tools/babeltrace2/build")
BIAS = 0x555555554000
THREAD = (100, 100, "app")
PROGRAM = """
#include <unistd.h>
static inline __attribute__((always_inline)) long inner(void) { return getppid(); }
__attribute__((noinline)) long outer(void) { return inner() + 1; }
int main(void) { return outer() == 0; }
"""

count = failures = 0


def same(what, got, wanted):
    global count, failures
    count += 1
    failures += got != wanted
    print("%s %d - filter: %s" % ("ok" if got == wanted else "not ok", count, what))
    if got != wanted:
        print("# got:    %.900r\n# wanted: %.900r" % (got, wanted))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


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
        # at the call, in inner() inlined into outer(); where it returns to; a place without code
        stack = [BIAS + calls[0], BIAS + calls[0] + 5, 0x1234]
        trace = ctf.Trace()
        trace.add(1, "kunwind_map", THREAD, (), ctf.MAP,
                  [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
        trace.add(2, "syscall_entry_read", THREAD, stack, [("fd", "s32")], [3])
        path = os.path.join(work, "trace")
        trace.write(path)
        babeltrace = ["babeltrace2", "--plugin-path", PLUGIN, path, "-c", "filter.kunwind.symbolize"]
        line = run(*babeltrace).splitlines()[-1]
        frames = re.findall(r'function = "([^"]*)", offset = (\w+), inlined = (\d).*?why = "([^"]*)"', line)
        same("functions that are inlined come before the one that they are part of",
             [(frame[0], frame[2]) for frame in frames[:4]],
             [("inner", "1"), ("outer", "0")] * 2)
        same("the offset is that from the function's begin",
             int(frames[3][1], 16), calls[0] + 5 - symbols["outer"])
        same("a frame with a name does not say why it has none", [frame[3] for frame in frames[:4]], [""] * 4)
        same("one without says so", frames[4][0] == "" and frames[4][3], "no mapping known")
        same("five functions of three frames", len(frames), 5)
        twice = run(*babeltrace, "-c", "filter.kunwind.symbolize").splitlines()[-1]
        same("a second filter adds nothing", twice, line)
    print("1..%d" % count)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
