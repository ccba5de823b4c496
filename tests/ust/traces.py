# SPDX-License-Identifier: MIT
"""traces.py - a session daemon of one's own, and stacks of its traces

As root, the daemon's files are system-wide, so the test runs in a mount namespace with its own.
"""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../tools")]
import tap  # noqa: E402

CONTEXT = "$app.kunwind:stack"


def isolate():
    """Begins the script again with its own /run/lttng and /dev/shm."""
    if os.environ.get("UST_ISOLATED"):
        for place in ("/run/lttng", "/dev/shm"):
            os.makedirs(place, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
        return
    os.environ["UST_ISOLATED"] = "1"
    root = os.geteuid() == 0
    os.execvp("unshare", ["unshare", "-m"] + ([] if root else ["-Ur"]) + [sys.executable] + sys.argv)


class Daemon:
    """lttng-sessiond without kernel; lttng() calls the client."""

    def __init__(self, home):
        os.makedirs(home, exist_ok=True)
        os.environ["LTTNG_HOME"] = home
        self.process = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(300):
            if not subprocess.run(["lttng", "-q", "list"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode:
                return
            time.sleep(0.1)
        raise RuntimeError("lttng-sessiond does not answer")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def lttng(*words):
    done = subprocess.run(["lttng", "-q", *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("lttng %s: %s" % (" ".join(words), done.stderr + done.stdout))
    return done.stdout


class Session:
    """A session with one channel, started."""

    def __init__(self, name, trace, channel=("--subbuf-size=1M", "--num-subbuf=4", "--blocking-timeout=inf"),
                 create=(), context=True):
        self.name, self.trace = name, trace
        lttng("create", name, *(create or ("-o", trace)))
        lttng("enable-channel", "-u", "-s", name, "c", *channel)
        lttng("add-context", "-u", "-s", name, "-c", "c", "-t", "vtid", "-t", "vpid",
              *(("-t", CONTEXT) if context else ()))
        lttng("enable-event", "-u", "-s", name, "-c", "c", "kunwind_test:*")
        lttng("start", name)

    def end(self):
        lttng("destroy", self.name)


class Event:
    """name, time, fields; stack: addresses, or None; reason: why it ended, "" if complete."""

    def __init__(self, event, time_ns, stream):
        self.name, self.time, self.stream = event.name, time_ns, stream
        self.fields = event.payload_field
        context = event.common_context_field
        self.pid = int(context["vpid"]) if "vpid" in context else None
        value = context.get("_app_kunwind_stack") if context is not None else None
        value = value.selected_option if value is not None else None
        self.kind, self.id, self.text, self.stack, self.reason = "none", None, None, None, None
        if value is None or type(value).__name__.startswith("_Structure"):
            return
        if "String" in type(value).__name__:
            self.kind, self.text = "string", str(value)
            self.id = int(self.text[:16], 16)
        else:
            self.kind, self.id = "id", int(value)


def stack_of(text):
    """("ID ADDRESS,ADDRESS,...[ REASON]") -> addresses, reason"""
    words = text.split(" ", 2)
    return [int(word, 16) for word in words[1].split(",")], words[2] if len(words) > 2 else ""


def read(trace):
    """All events, with their stacks by their identifiers; problems: definitions that differ."""
    import bt2
    events, defined, problems = [], {}, []
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is bt2._EventMessageConst:
            events.append(Event(message.event, message.default_clock_snapshot.ns_from_origin,
                                message.event.stream.name or message.event.stream.id))
        elif type(message) in (bt2._DiscardedEventsMessageConst, bt2._DiscardedPacketsMessageConst):
            problems.append("%s" % type(message).__name__)
    for event in events:
        if event.text:
            stack = stack_of(event.text)
            if defined.setdefault(event.id, stack) != stack:
                problems.append("%x has two stacks" % event.id)
    for event in events:
        if event.id in defined:
            event.stack, event.reason = defined[event.id]
    return events, problems


def wrong(event):
    """Why the stack of a kunwind_test:call is wrong, or None. The first frame is in the function "at"."""
    stack, own = event.stack, [int(word) for word in event.fields["own"]]
    everything = [int(word) for word in event.fields["all"]]
    if stack is None:
        return "no stack"
    if not 0 < stack[0] - int(event.fields["at"]) < 1024:
        return "the first frame is %x" % stack[0]
    if event.reason == "buffer_full":
        if len(stack) != 1024:
            return "full with %d frames" % len(stack)
        return None if stack[1:] == everything[1:1024] else "not as backtrace()"
    if event.reason:
        return "ended: " + event.reason
    if stack[1:] != everything[1:]:
        return "%s, not as backtrace(): %s" % (["%x" % a for a in stack], ["%x" % a for a in everything])
    return None if stack[1:1 + len(own)] == own else "not as the program's record"
