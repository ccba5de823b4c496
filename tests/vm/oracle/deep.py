#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
deep.py - compare whole stacks of kunwind_callstack with the program's record

    deep.py text FILE SYSCALL CALLS PROGRAM...
    deep.py lttng DIR SYSCALL CALLS PROGRAM...
    deep.py sleeper DIR SYSCALL LEAST PID FILE

text: FILE is ftrace's, perf script's or bpftrace's text. lttng: DIR is an LTTng
trace. PROGRAM is PID:FRAMES:RECORD: the FRAMES of fixtures/deep.c, and its file of
return addresses. Each of the program's CALLS of SYSCALL must have one stack,
with its parts in order and the right addresses, reason and trust.

sleeper: DIR is an LTTng trace. FILE is eu-stack's stack, of at least LEAST
frames, of process PID, which sleeps in SYSCALL. The last event of the process
must have the same frames.

Prints TAP.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace                       # noqa: E402

MOST = 4096             # KUNWIND_MAX_FRAMES
REGISTERS, CFI = 0, 1   # enum kunwind_trust

_TEXT = re.compile(r"kunwind_callstack: tgid=(\d+) syscall=(-?\d+) reason=(\S+) first=(\d+) "
                   r"count=(\d+) addresses=(?:\{([^}]*)\}|([\d ]*)) trust=(.*)")
_HEAD = re.compile(r"kunwind_callstack: .*\{ tgid = (\d+), tid = \d+, vtid = \d+, syscall = (-?\d+), "
                   r'reason = \( "(\w+)" : container = \d+ \), stack = (\d+), '
                   r"base = (-?\d+), shared = (\d+), ")
_EU_STACK = re.compile(r"#\d+\s+0x([0-9a-f]+)")
_ELEMENT = re.compile(r"\] = (\w+)")


class Stack:
    """One stack: count is the event's, addresses and trust are of all parts."""

    def __init__(self, pid, syscall, reason, count):
        self.pid, self.syscall, self.reason, self.count = pid, syscall, reason, count
        self.addresses, self.trust = [], []
        self.torn = False


def from_text(path):
    """Stacks of a text with a line for each part. perf's numbers are decimal."""
    stacks, open_ones = [], {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if "LINE TOO BIG" in line:
                raise SystemExit("Bail out! a line was too big for ftrace's text")
            match = _TEXT.search(line)
            if not match:
                continue
            pid, syscall, reason, first, count, addresses, decimal, trust = match.groups()
            if int(first) == 0:
                stack = Stack(int(pid), int(syscall), reason, int(count))
                stacks.append(stack)
                open_ones[pid] = stack
            stack = open_ones[pid]
            stack.torn |= int(first) != len(stack.addresses)
            stack.addresses += ([int(word) for word in decimal.split()] if decimal else
                                [int(word, 16) for word in addresses.split(",")])
            trust = trust.replace(" ", "")
            stack.trust += [int(trust[i:i + 2], 16) for i in range(0, len(trust), 2)]
    return stacks


def from_lttng(directory):
    """Stacks of an LTTng trace, which has one event for each stack."""
    process = subprocess.Popen(["babeltrace2", directory], stdout=subprocess.PIPE, text=True,
                               errors="replace")
    stacks, whole = [], ktrace.WholeStacks()
    for line in process.stdout:
        match = _HEAD.search(line)
        if not match:
            continue
        pid, syscall, reason, number, base, shared = match.groups()
        addresses, trust = line[match.end():].split("trust = [")
        stack = Stack(int(pid), int(syscall), reason, 0)
        stack.addresses, stack.trust = whole.whole(
            int(number), int(base), int(shared),
            [int(word, 16) for word in _ELEMENT.findall(addresses)],
            [int(word) for word in _ELEMENT.findall(trust)])
        stack.count = len(stack.addresses)
        stacks.append(stack)
    if process.wait():
        raise SystemExit("Bail out! babeltrace2 failed")
    return stacks


def verdict(good, text, why=""):
    """Prints one line of TAP, and why if the test failed."""
    verdict.number += 1
    print(f"{'ok' if good else 'not ok'} {verdict.number} - {text}")
    if not good and why:
        print(f"# {why}")


verdict.number = 0


def examine(stacks, syscall, calls, program):
    """Tests one program's stacks by its record."""
    pid, frames, path = program.split(":", 2)
    with open(path, encoding="utf-8") as lines:
        record = [int(line, 16) for line in lines]
    mine = [s for s in stacks if s.pid == int(pid) and s.syscall == syscall]
    name = f"{frames} frames"
    verdict(len(mine) == calls, f"{name}: one stack for each of {calls} system calls",
            f"there are {len(mine)}")
    wanted = record[:MOST - 1]
    deep = len(record) >= MOST
    wrong = [i for i, s in enumerate(mine) if s.addresses[1:1 + len(wanted)] != wanted]
    verdict(mine and not wrong, f"{name}: all recorded return addresses are in the stack",
            f"stacks {wrong} differ")
    whole = [s.torn or s.count != len(s.addresses) or s.count != len(s.trust) for s in mine]
    verdict(mine and not any(whole), f"{name}: no part of a stack is missing")
    reason = "buffer_full" if deep else "complete"
    got = {(s.reason, s.count if deep else s.count - len(record)) for s in mine}
    # more than recorded: the program counter, _start, at most three of libc
    limits = {(reason, MOST)} if deep else {(reason, n) for n in range(3, 6)}
    verdict(got and got <= limits, f"{name}: the reason is {reason}", f"(reason, frames): {got}")
    trusts = {(s.trust[0], *set(s.trust[1:])) for s in mine if s.trust}
    verdict(trusts == {(REGISTERS, CFI)}, f"{name}: all callers were found by CFI", str(trusts))


def compare(where, syscall, least, pid, path):
    """Tests the last stack of a process that still sleeps in syscall."""
    with open(path, encoding="utf-8") as lines:
        wanted = [int(match.group(1), 16) for match in map(_EU_STACK.match, lines) if match]
    got = [s for s in from_lttng(where) if s.pid == int(pid) and s.syscall == int(syscall)]
    print(f"# {len(wanted)} frames")
    verdict(len(wanted) >= int(least), f"python3: eu-stack has at least {least} frames")
    same = bool(got) and got[-1].addresses == wanted
    verdict(same, "python3: the stack is eu-stack's",
            f"{len(got[-1].addresses) if got else 'no'} frames, {len(wanted)} are eu-stack's")
    verdict(got and got[-1].reason == "complete", "python3: the reason is complete")


def main():
    """See the head of the file."""
    if sys.argv[1] == "sleeper":
        compare(*sys.argv[2:7])
        print(f"1..{verdict.number}")
        return
    kind, where, syscall, calls = sys.argv[1:5]
    stacks = from_text(where) if kind == "text" else from_lttng(where)
    print(f"# {len(stacks)} stacks, {sum(s.count for s in stacks)} frames")
    for program in sys.argv[5:]:
        examine(stacks, int(syscall), int(calls), program)
    print(f"1..{verdict.number}")


if __name__ == "__main__":
    main()
