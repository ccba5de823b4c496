# SPDX-License-Identifier: MIT
"""
ktrace.py - read an LTTng kernel trace with user call stacks, by babeltrace2

events(directory) yields one Event for each event, in the trace's order. The
trace needs the contexts callstack-user, vpid and vtid. An Event parses a
property when it is read, because there are many events, of which most tests
read only the last address. Memory: one event at a time.
"""

import re
import subprocess

_STACK = "callstack_user = ["
_WORD = re.compile(r"\] = (0x[0-9A-Fa-f]+)")
_FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|0x[0-9A-Fa-f]+|-?[0-9]+)')
END_MARK = 0xFFFFFFFFFFFFFFFF
LTTNG_MOST = 128        # the most addresses in a stack


class DiscardedError(Exception):
    """The tracer lost events, so a test cannot cover all of them."""


class Event:
    """
    name, vpid, vtid; stack: its addresses, innermost first, without LTTng's end
    mark; length: the number of these (both are None if the event has no stack);
    fields: the event's own, a dict of strings and numbers; time: in seconds.
    """

    __slots__ = ("line", "name", "vpid", "vtid", "_begin", "_end")

    def __init__(self, line):
        self.line = line
        colon = line.find(": { cpu_id")
        self.name = line[line.rfind(" ", 0, colon) + 1:colon]
        self._begin = line.find(_STACK, colon)
        self._end = line.find(" ], vpid = ", colon)
        at = line.find("vpid = ", max(self._end, colon))
        self.vpid = int(line[at + 7:line.find(",", at)]) if at >= 0 else None
        at = line.find("vtid = ", max(self._end, colon))
        # kunwind_callstack has a field of this name, too, with a comma after it
        self.vtid = int(line[at + 7:line.find(" ", at + 7)].rstrip(",")) if at >= 0 else None

    @property
    def stack(self):
        if self._begin < 0:
            return None
        words = [int(word, 16) for word in _WORD.findall(self.line, self._begin, self._end)]
        while words and words[-1] == END_MARK:
            words.pop()
        return words

    @property
    def length(self):
        if self._begin < 0:
            return None
        text = self.line[self._begin - 16:self._begin]
        count = int(text[text.find("= ") + 2:text.find(",")])
        return count - self.line.count("= 0xFFFFFFFFFFFFFFFF", self._begin, self._end)

    @property
    def last_two(self):
        """The two outermost addresses, the outermost first, or None for each."""
        found, end = [], self._end
        while self._begin >= 0 and len(found) < 2:
            end = self.line.rfind("= 0x", self._begin, end)
            if end < 0:
                break
            word = int(self.line[end + 2:end + 20].split(",")[0].split(" ")[0], 16)
            if word != END_MARK:
                found.append(word)
        return tuple(found + [None] * (2 - len(found)))

    @property
    def fields(self):
        result = {}
        for name, value in _FIELD.findall(self.line, self.line.rfind("{ ")):
            result[name] = value[1:-1] if value[0] == '"' else int(value, 0)
        return result

    @property
    def time(self):
        return float(self.line[1:self.line.find("]")])


class WholeStacks:
    """
    The stacks of kunwind_callstack, or of kunwind_sample, of one trace. Only some
    events hold addresses, and these may be of the inner frames only (kunwind(4)).
    """

    def __init__(self):
        self._known = {}

    def whole(self, number, base, shared, addresses, trust):
        """The addresses and the trust of an event's stack, from its fields. KeyError: not in the trace."""
        if addresses:
            trust = trust or [0] + [1] * (len(addresses) - 1)     # enum kunwind_trust: registers, cfi
            if base:
                outer = self._known[number + base]
                addresses = addresses + outer[0][-shared:]
                trust = trust + outer[1][-shared:]
            self._known[number] = addresses, trust
        return self._known[number]


def events(directory):
    """Yield each Event in directory. DiscardedError if events were lost."""
    command = ["babeltrace2", "--clock-seconds", "--no-delta", directory]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, errors="replace")
    for line in process.stdout:
        yield Event(line)
    complaints = process.stderr.read()
    if process.wait():
        raise RuntimeError("babeltrace2: " + complaints)
    if "iscarded" in complaints:
        raise DiscardedError(complaints.strip().splitlines()[0])


def read_tsv(path):
    """Lines of tab-separated words, without empty lines and comments."""
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines
                if line.strip() and not line.startswith("#")]
