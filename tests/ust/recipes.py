#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""recipes.py DIRECTORY TOOLS - the commands of docs/recipes-ust.md work and answer the questions

Runs each line of the page that begins with "    $ ", in order. The exit status has to be 0. The comment "output has: TEXT; TEXT"
names texts that the output of the last command has to contain. Prints TAP.
"""

import os
import re
import subprocess
import sys

import traces
from traces import tap

BUILD, TOOLS = (os.path.abspath(word) for word in sys.argv[1:3])
TREE = os.path.abspath(os.path.join(traces.HERE, "../.."))


def main():
    work = BUILD + "/recipes"
    subprocess.run(["rm", "-rf", work], check=True)
    os.makedirs(work)
    environment = {**os.environ, "PATH": TOOLS + ":" + os.environ["PATH"], "KUNWIND_TREE": TREE}
    lttngust = not subprocess.run(["/usr/bin/python3", "-c", "import lttngust"], capture_output=True).returncode
    daemon, output, needed = traces.Daemon(BUILD + "/home"), "", True
    # of the session daemon that has just been made
    environment["LTTNG_HOME"] = BUILD + "/home"
    try:
        for line in open(TREE + "/docs/recipes-ust.md", encoding="utf-8"):
            texts = re.match("<!-- output has: (.*) -->", line)
            if line.startswith("## "):
                needed = lttngust or "Python" not in line
                if not needed:
                    tap.skip(line.strip(), "no python3-lttngust")
            elif needed and line.startswith("    $ "):
                done = subprocess.run(["bash", "-c", line[6:]], cwd=work, env=environment, capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL)
                output = done.stdout
                tap.check("exit status of: " + line[6:].strip(), not done.returncode, done.stdout + done.stderr)
            elif needed and texts:
                for text in texts.group(1).split("; "):
                    tap.check("the output has: " + text, text in output, output)
    finally:
        daemon.stop()
    tap.check("the page has at least fifteen commands", tap.count > 15)
    tap.finish()


traces.isolate()
main()
