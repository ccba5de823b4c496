#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Lets one allocation of kunwind fail in each run.

If the exit status is not 0, stderr must have a message; no run may end by a
signal. A preloaded library replaces malloc(3), calloc(3) and realloc(3). Only
calls of the program itself fail, not those of libraries.
"""

import os
import shutil
import subprocess
import tempfile

import ctf
import tap
from tap import check

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind")
MOST = 30  # runs of one command, plus 1
ALLOCATOR = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static int fails(void *caller)
{
	static int count, wanted, busy;
	Dl_info info;
	int own;

	if (busy)
		return 0;
	busy = 1;
	if (!wanted)
		wanted = getenv("FAIL") ? atoi(getenv("FAIL")) : -1;
	own = dladdr(caller, &info) && strstr(info.dli_fname, "kunwind") && !strstr(info.dli_fname, ".so");
	busy = 0;
	if (!own || ++count != wanted)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
"""

tap.suite = "memory"


def main():
    with tempfile.TemporaryDirectory() as work:
        library, trace = os.path.join(work, "allocator.so"), os.path.join(work, "trace")
        copy = os.path.join(work, "copy")
        with open(os.path.join(work, "allocator.c"), "w") as file:
            file.write(ALLOCATOR)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, os.path.join(work, "allocator.c")], check=True)
        events = ctf.Trace()
        events.add(1000, "syscall_entry_read", (100, 100, "app"), [0x1234])
        events.write(trace)
        for command in (("show", "--no-symbols"), ("show",), ("report",), ("export", "folded"),
                        ("export", "perfetto"), ("export", "pprof"), ("export", "firefox"),
                        ("export", "speedscope"), ("export", "ctf", "-o", copy)):
            silent, failures = [], 0
            for number in range(1, MOST):
                done = subprocess.run([KUNWIND, *command, trace], capture_output=True, text=True, errors="replace",
                                      env={**os.environ, "LD_PRELOAD": library, "FAIL": str(number)})
                failures += done.returncode != 0
                if done.returncode and os.path.exists(copy):
                    silent.append((number, "leaves a directory"))
                shutil.rmtree(copy, ignore_errors=True)
                if done.returncode < 0 or (done.returncode and not done.stderr):
                    silent.append((number, done.returncode))
            check("kunwind %s: a run that fails for lack of memory prints a message" % " ".join(command), failures and not silent,
                  "%d runs failed; allocations and statuses of silent ones: %s" % (failures, silent))
    tap.finish()


if __name__ == "__main__":
    main()
