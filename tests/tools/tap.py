# SPDX-License-Identifier: MIT
"""Checks that print TAP, for the Python tests of this directory."""

import os
import subprocess
import sys

# no command reads the last recording of the user, or of another test
os.environ["XDG_STATE_HOME"] = "/nonexistent"

suite = ""  # prefix of the description of each check
count = failures = 0


def check(what, good, detail=""):
    """Prints the result of a check; detail: lines to print if it failed."""
    global count, failures
    count += 1
    failures += not good
    print("%s %d - %s%s" % ("ok" if good else "not ok", count, suite and suite + ": ", what))
    if not good:
        print("".join("# %s\n" % line for line in str(detail).splitlines()), end="")


def same(what, got, wanted):
    """Prints the result of a check: got must equal wanted."""
    check(what, got == wanted, "got:    %.900r\nwanted: %.900r" % (got, wanted))


def skip(what, why):
    """Prints that a check cannot run on this machine; why: what is missing."""
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, what, why))


def run(*command):
    """Returns the output of the command; raises CalledProcessError if it fails."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def finish():
    """Prints the plan and exits, with status 1 if a check failed."""
    print("1..%d" % count)
    sys.exit(failures > 0)
