#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""commands.py DIRECTORY TOOLS - "kunwind run --ust" gives events of LTTng-UST stacks

TOOLS is a directory with the program kunwind. The oracle is the program's own record of its calls, and
backtrace(), in each event. Prints TAP.
"""

import os
import shutil
import subprocess
import sys

import stacks
import traces
from traces import tap

TOOLS = os.path.abspath(sys.argv[2])
KUNWIND = TOOLS + "/kunwind"
LIBRARY = "libkunwind-ust-preload.so"


def run(*command, **environment):
    """A command without LTTng-UST's usual variables."""
    own = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "LTTNG_UST_REGISTER_TIMEOUT")}
    return subprocess.run(command, env={**own, **environment}, capture_output=True, text=True)


def variables(done):
    lines = [line.split("=", 1) for line in done.stdout.splitlines() if "=" in line]
    return {name: value for name, value in lines if name in ("LD_PRELOAD", "LTTNG_UST_REGISTER_TIMEOUT")}


def installed(prefix):
    """An installation as "make install" makes it, of the files that matter."""
    shutil.rmtree(prefix, ignore_errors=True)
    for directory, file in (("bin", KUNWIND), ("libexec/kunwind", TOOLS + "/kunwind-record"), ("lib", stacks.PRELOAD)):
        os.makedirs(os.path.join(prefix, directory))
        shutil.copy(file, os.path.join(prefix, directory))
    return prefix + "/bin/kunwind", os.path.join(os.path.realpath(prefix), "lib", LIBRARY)


def environment():
    kunwind, library = installed(stacks.BUILD + "/installed")
    tap.same("run --ust: the library that is installed with kunwind", variables(run(kunwind, "run", "--ust", "--", "env")),
             {"LD_PRELOAD": library, "LTTNG_UST_REGISTER_TIMEOUT": "60000"})
    tap.same("run -U: what is preloaded already stays, and so does the time to wait",
             variables(run(kunwind, "run", "-U", "env", LD_PRELOAD="libm.so.6", LTTNG_UST_REGISTER_TIMEOUT="7")),
             {"LD_PRELOAD": library + ":libm.so.6", "LTTNG_UST_REGISTER_TIMEOUT": "7"})
    if not os.path.exists("/dev/kunwind"):
        done = run(kunwind, "run", "env")
        tap.check("run without --ust needs the module", done.returncode == 125 and "modprobe" in done.stderr, done)
    os.remove(library)
    done = run(kunwind, "run", "--ust", "--", "env")
    tap.same("run --ust without the library: a message with the place where it should be",
             (done.returncode, done.stdout, "lib/%s: not found: sudo make install" % LIBRARY in done.stderr), (125, "", True))
    kunwind, _ = installed(stacks.BUILD + "/with blank")
    done = run(kunwind, "run", "--ust", "--", "env")
    tap.same("run --ust: a path that LD_PRELOAD cannot have",
             (done.returncode, done.stdout, "no path with a blank" in done.stderr), (125, "", True))


def running():
    one = stacks.session("run")
    done = run(KUNWIND, "run", "--ust", "--", stacks.PROGRAM, "plain", "300", LTTNG_UST_ALLOW_BLOCKING="1")
    one.end()
    tap.check("run --ust: the command ends well", not done.returncode and done.stdout == "done\n", done)
    events, problems = traces.read(one.trace)
    stacks.check("run --ust", events, problems, range(300))


def main():
    subprocess.run(["rm", "-rf", stacks.BUILD + "/traces"], check=True)
    environment()
    daemon = traces.Daemon(stacks.BUILD + "/home")
    try:
        running()
    finally:
        daemon.stop()
    tap.finish()


traces.isolate()
main()
