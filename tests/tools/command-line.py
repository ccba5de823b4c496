#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What all commands have in common: letters of options, --version, the last recording, colours, the pager."""

import os
import pty
import re
import subprocess
import tempfile

import ctf
from analyze import KUNWIND
from tap import check, finish, same

HERE = os.path.dirname(os.path.abspath(__file__))
# One meaning for each letter. "-n": how many lines or events are printed.
LETTERS = {"a": {"all"}, "b": {"by"}, "c": {"children"}, "e": {"event"}, "F": {"frequency"}, "h": {"help"},
           "i": {"inlined"}, "j": {"json"}, "k": {"kernel"}, "l": {"lines"}, "m": {"maps"}, "n": {"top", "limit", "frames"},
           "o": {"output"}, "p": {"pid"}, "q": {"quiet"}, "r": {"repeat"}, "s": {"sort"}, "t": {"tsv"}, "U": {"ust"},
           "u": {"user"}, "w": {"weight"}}


def run(*command, **environment):
    return subprocess.run([KUNWIND, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "XDG_STATE_HOME": "/nonexistent", **environment})


def on_terminal(*command, **environment):
    """Returns the exit status and the output of a command on a terminal."""
    environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": "/nonexistent", **environment}
    pid, fd = pty.fork()
    if not pid:
        os.execve(KUNWIND, ["kunwind", *command], environment)
    output = b""
    while True:
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        output += part
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode()


def test_options(commands):
    found, version = {}, run("--version").stdout
    for command in commands:
        text = run(command, "--help").stdout
        for letter, name in re.findall(r"^ +-(\w), --([a-z-]+)", text, re.M):
            found.setdefault(letter, set()).add(name)
        same("%s --version" % command, run(command, "--version").stdout, version)
        # run and record have the statuses of env(1); see their --help
        program = "COMMAND" in text.splitlines()[0]
        same("%s: wrong usage" % command, run(command, "--frobnicate").returncode, 125 if program else 2)
        check("%s: the help has the exit statuses" % command,
              re.search(r"Exit status: .*125" if program else "", text, re.S))
        for name, argument in re.findall(r"^ +(?:-\w, )?--([a-z-]+)( [A-Z])?", text, re.M):
            if name in ("left-over", "help") or argument:
                continue
            error = run(command, "--" + name, "--frobnicate").stderr
            check("%s --%s is an option" % (command, name), name not in error.splitlines()[0] or "frobnicate" in error, error)
    same("each letter means the same in all commands", found, {x: found.get(x) for x in found if found[x] <= LETTERS[x]})


def test_last(work, trace):
    state = os.path.join(work, "state")
    os.makedirs(os.path.join(state, "kunwind"))
    link = os.path.join(state, "kunwind/last")
    for command in (["report", "-a"], ["show"], ["export", "folded", "-a"], ["flamegraph", "-a", "-o", "-"]):
        done = run(*command, XDG_STATE_HOME=state)
        check("%s: no last recording" % command[0], done.returncode == 2 and "no recording is remembered" in done.stderr, done)
    os.symlink(trace, link)
    for command in (["report", "-a"], ["show"], ["export", "folded", "-a"], ["flamegraph", "-a", "-o", "-"]):
        done = run(*command, XDG_STATE_HOME=state)
        same("%s reads the last recording" % command[0], (done.returncode, done.stdout), (0, run(*command, trace).stdout))
        check("%s names the last recording" % command[0], "the last recording: " + trace in done.stderr, done.stderr)
    done = subprocess.run([KUNWIND, "symbolize"], input="0x1234567812345678\n", capture_output=True, text=True,
                          env={**os.environ, "XDG_STATE_HOME": state})
    check("symbolize reads the last recording", "the last recording: " + trace in done.stderr, done.stderr)
    home = os.path.join(work, "home")
    os.makedirs(os.path.join(home, ".local/state/kunwind"))
    os.symlink(trace, os.path.join(home, ".local/state/kunwind/last"))
    environment = {name: value for name, value in os.environ.items() if name != "XDG_STATE_HOME"}
    read = lambda: subprocess.run([KUNWIND, "report", "-a"], capture_output=True, env={**environment, "HOME": home}).returncode
    same("without XDG_STATE_HOME: below the home directory", read(), 0)
    if not os.geteuid():
        os.chown(os.path.join(home, ".local"), 65534, 65534)
        same("a directory of another user is not used", read(), 2)


def test_colours(trace):
    colour = "\033[1m"
    for options, environment, wanted in (
            ((), {}, True), (("--color=never",), {}, False), ((), {"NO_COLOR": "1"}, False), ((), {"NO_COLOR": ""}, True),
            (("--color=always",), {"NO_COLOR": "1"}, True), ((), {"TERM": "dumb"}, False)):
        status, output = on_terminal("report", "-a", *options, trace, PAGER="cat", **environment)
        same("terminal, %s %s: colours" % (options, environment), (status, colour in output), (0, wanted))
    for options, wanted in (((), False), (("--color=always",), True), (("--color=auto",), False)):
        same("pipe, %s: colours" % (options,), colour in run("report", "-a", trace, *options).stdout, wanted)


def test_pager(trace, missing):
    pager = "sed 's/^/paged: /'"
    plain = run("report", "-a", trace).stdout
    status, output = on_terminal("report", "-q", "-a", trace, KUNWIND_PAGER=pager, PAGER="false", NO_COLOR="1")
    same("KUNWIND_PAGER: the pager has the output", (status, output.replace("\r", "").replace("paged: ", "")), (0, plain))
    same("KUNWIND_PAGER: all of it", output.count("paged: "), len(plain.splitlines()))
    for name, options, environment in (("--no-pager", ("--no-pager",), {}), ("cat", (), {"KUNWIND_PAGER": "cat"}),
                                       ("empty", (), {"KUNWIND_PAGER": ""}), ("dumb", (), {"TERM": "dumb"})):
        output = on_terminal("report", "-a", trace, *options, **{"KUNWIND_PAGER": pager, **environment})[1]
        check("%s: no pager" % name, "paged: " not in output and "events" in output, output)
    check("PAGER is used", "paged: " in on_terminal("show", trace, PAGER=pager)[1])
    check("the pager gets colours", "\033[1m" in on_terminal("report", "-a", trace, PAGER=pager)[1])
    same("the status is that of the command", on_terminal("report", missing, PAGER=pager)[0], 1)
    status, output = on_terminal("report", "-a", trace, PAGER="/nonexistent")
    check("a pager that does not exist: status 1, and a message", status == 1 and
          "kunwind report: the pager cannot run, so the output is lost: /nonexistent (KUNWIND_PAGER names" in output, (status, output))
    same("a pager that reads nothing", on_terminal("dump", "/bin/bash", PAGER="true")[0], 0)
    check("--help is not paged", "paged: " not in on_terminal("report", "--help", PAGER=pager)[1])
    check("status is not paged", "paged: " not in on_terminal("status", PAGER=pager)[1])
    check("a pipe is not paged", "paged: " not in run("report", "-a", trace, PAGER=pager).stdout)


def main():
    commands = re.findall(r"^  ([a-z][a-z-]*) ", run("--help").stdout, re.M)
    same("--help lists the commands", len(commands), 19)
    test_options(commands)
    with tempfile.TemporaryDirectory() as work:
        trace = ctf.Trace()
        for time in range(40):
            trace.add(1 + time, "tick", (1, 1, "app"))
        path = os.path.join(work, "trace")
        trace.write(path)
        test_last(work, path)
        test_colours(path)
        test_pager(path, os.path.join(work, "missing"))
    finish()


main()
