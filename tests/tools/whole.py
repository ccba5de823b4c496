#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the event kunwind_callstack, which holds a whole stack, in made-up traces.

The readers are kunwind show, kunwind report, kunwind export and babeltrace2's
filter.
"""

import json
import os
import tempfile

import ctf
import tap
from tap import check, run, same

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "../../tools")
KUNWIND = os.path.join(TOOLS, "build/kunwind")
THREAD = (100, 101, "app")
MOST = 4096
COMPLETE, NO_RULE, NOT_READY, NO_TABLE = 0, 4, 10, 11         # enum kunwind_reason
REASONS = 17                                             # KUNWIND_NR_REASONS
REGISTERS, CFI, SIGNAL, CODE, SCAN = 0, 1, 3, 4, 6       # enum kunwind_trust
READ = [("fd", "s32")]
IDS = iter(range(1, 1000000))

tap.suite = "whole"


def callstack(trace, time, stack, reason=COMPLETE, trust=None, number=None, defines=True,
              thread=(100, 101, 101), context=(), base=0, shared=0):
    """Adds a kunwind_callstack. thread: tgid, tid, vtid. base: an id. Returns its id."""
    number = number or next(IDS)
    trace.add(time, "kunwind_callstack", THREAD, context, ctf.WHOLE,
              (*thread, 0, reason, number, base and base - number, shared,
               stack if defines else [], trust or []))
    return number


def shown(path, *options):
    """Events of kunwind show: a list of (name, addresses, trusts, reason)."""
    lines = run(KUNWIND, "show", "--no-symbols", "--tsv", *options, path).splitlines()
    events = []
    for line in lines:
        words = line.split("\t")
        if words[0] == "event":
            events.append([words[3], [], [], None])
        elif words[0] == "frame":
            events[-1][1].append(int(words[3], 16))
            events[-1][2].append(words[10])
        elif words[0] == "end":
            events[-1][3] = words[2]
    return [tuple(event) for event in events]


def test_fields(work):
    few = [0x1000 + 16 * i for i in range(5)]
    most = [0x10000 + i for i in range(MOST)]
    trust = [REGISTERS, CFI, CFI, SCAN, CFI]
    trace = ctf.Trace()
    callstack(trace, 1, few, NOT_READY, trust, thread=(700, 701, 1), context=few[:2])
    trace.add(2, "syscall_entry_read", THREAD, few[:3], READ, (3,))
    callstack(trace, 3, most)
    path = os.path.join(work, "fields")
    trace.write(path)
    show = [KUNWIND, "show", "--no-symbols", "--own"]
    lines = [line.split("\t") for line in run(*show, "--tsv", path).splitlines()]
    events = [line for line in lines if line[0] == "event"]
    same("show --own: the process and thread of kunwind_callstack are those in its fields",
         [(line[3], line[5], line[6]) for line in events],
         [("kunwind_callstack", "700", "701"), ("syscall_entry_read", "100", "101"),
          ("kunwind_callstack", "100", "101")])
    got = shown(path, "--own")
    same("show: kunwind_callstack has the frames and trust of its fields, not of the context",
         got[0][1:], (few, ["registers", "cfi", "cfi", "scan", "cfi"], "not_ready"))
    same("show: an event of another thread has the frames of the context, without trust and reason",
         got[1][1:], (few[:3], [""] * 3, None))
    same("show: a stack of 4,096 frames is complete", got[2][1:],
         (most, ["registers"] + ["cfi"] * (MOST - 1), "complete"))
    same("show: the fields of kunwind_callstack are shown without the frames", events[0][8].partition("} ")[2],
         "{ tgid = 700, tid = 701, vtid = 1, syscall = 0, reason = 10, stack = 0x1 }")
    text = run(*show, "--limit", "1", path).splitlines()
    same("show: text has only unusual trust, and why the stack ended",
         [line.partition(" [")[2] for line in text[1:]], ["", "", "", "scan]", "", "the stack ends here: not_ready]"])
    objects = [json.loads(line) for line in run(*show, "--json", path).splitlines()]
    same("show: JSON has the trust of each frame", [frame["trust"] for frame in objects[0]["stack"]],
         ["registers", "cfi", "cfi", "scan", "cfi"])
    same("show: JSON has the reason", [o["reason"] for o in objects], ["not_ready", None, "complete"])
    same("show: without --own, kunwind_callstack is left out", [event[0] for event in shown(path)],
         ["syscall_entry_read"])
    same("show: a pattern selects kunwind_callstack", len(shown(path, "-e", "kunwind_callstack")), 2)
    folded = run(KUNWIND, "export", "folded", path)
    same("export: kunwind_callstack is left out, because it is the stack of another event",
         sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()), 1)
    plugin = os.path.join(TOOLS, "babeltrace2/build")
    out = run("babeltrace2", "--plugin-path", plugin, path, "-c", "filter.kunwind.symbolize")
    named = [line.partition("callstack_user_frames = [")[2].count("address = 0x")
             - line.count("object_address = 0x") for line in out.splitlines()]
    same("filter: all frames of all events are there", named, [5, 3, MOST])


def frames_of_filter(path):
    plugin = os.path.join(TOOLS, "babeltrace2/build")
    out = run("babeltrace2", "--plugin-path", plugin, path, "-c", "filter.kunwind.symbolize")
    return [[int(word.split(",")[0], 16) for word in
             line.partition("callstack_user_frames = [")[2].split("{ address = 0x")[1:]]
            for line in out.splitlines()]


def test_ids(work):
    one, two = [0x1000, 0x2000, 0x3000], [0x1000, 0x2000, 0x4000]
    trace = ctf.Trace()
    callstack(trace, 1, two, number=71, defines=False)  # a snapshot begins after the definition
    callstack(trace, 2, one, number=70)
    callstack(trace, 3, one, number=70, defines=False)
    callstack(trace, 4, two, number=71)
    callstack(trace, 5, one, number=70, defines=False)
    callstack(trace, 6, two, number=71, defines=False)
    callstack(trace, 7, two, number=72, defines=False)  # its definition is lost
    path = os.path.join(work, "ids")
    trace.write(path)
    wanted = [two, one, one, two, one, two, []]
    out = run(KUNWIND, "show", "--own", "--no-lines", "--tsv", path).splitlines()
    events = {line.split("\t")[1]: [] for line in out if line.startswith("event")}
    for line in out:
        if line.startswith("frame"):
            events[line.split("\t")[1]].append(int(line.split("\t")[3], 16))
    same("show: each id has its stack, also before its definition", list(events.values()), wanted)
    same("filter: each id has its stack, also before its definition", frames_of_filter(path), wanted)
    test_ids_of_two_traces(work, trace, one, two)


def test_ids_of_two_traces(work, trace, one, two):
    """The same ids in a second trace, of another boot."""
    other = ctf.Trace()
    callstack(other, 1, [0x9000], number=70)
    callstack(other, 8, [], number=70, defines=False)
    other.write(os.path.join(work, "pair", "b"))
    trace.write(os.path.join(work, "pair", "a"))
    stacks = frames_of_filter(os.path.join(work, "pair"))
    same("filter: equal ids in two traces are two stacks", sorted(stacks),
         sorted([two, one, one, two, one, two, [], [0x9000], [0x9000]]))


def test_bases(work):
    """Definitions that hold only the inner frames."""
    cpu = 3 << 44
    one = [0x1000, 0x2000, 0x3000, 0x4000, 0x5000]
    two = [0x1100, 0x2200, *one[2:]]
    three = [0x1300, *two[1:]]
    four = [0x1400, 0x2400, 0x3400, *one[3:]]
    deep = [0x10000 + i for i in range(MOST)]
    trace = ctf.Trace()
    wanted = []

    def event(stack, held, **rest):
        callstack(trace, len(wanted) + 1, held, defines=bool(held), **rest)
        wanted.append(stack)

    # a snapshot begins after the definition of 10
    event([], [], number=cpu + 10)
    event([], two[:2], number=cpu + 8, base=cpu + 10, shared=3)
    event(one, one, number=cpu + 10)
    event([], [], number=cpu + 8)
    event(two, two[:2], number=cpu + 11, base=cpu + 10, shared=3)
    # chains: three needs 11, which needs 10; an older id may have a newer base
    event(three, three[:1], number=cpu + 12, base=cpu + 11, shared=4)
    event(four, four[:3], number=cpu + 9, base=cpu + 12, shared=2)
    event(two, [], number=cpu + 11)
    event(three, [], number=cpu + 12)
    event(four, [], number=cpu + 9)
    # the base is lost, or it has this number on another CPU only
    event([], [0x9000], number=cpu + 20, base=cpu + 19, shared=3)
    event(one, one, number=(4 << 44) + 30)
    event([], [0x9000], number=cpu + 31, base=cpu + 30, shared=3)
    event([], [], number=cpu + 31)
    # all frames of the base, and one more
    event([0x1500, *one], [0x1500], number=cpu + 13, base=cpu + 10, shared=5)
    # no tracer writes these: more shared frames than the base has, than a stack can have
    event([], [0x9000], number=cpu + 40, base=cpu + 10, shared=6)
    event(deep, deep, number=cpu + 41)
    event([], [0x9000, 0x9001], number=cpu + 42, base=cpu + 41, shared=MOST - 1)
    event([0x9000, *deep[1:]], [0x9000], number=cpu + 43, base=cpu + 41, shared=MOST - 1)
    path = os.path.join(work, "bases")
    trace.write(path)
    same("show: definitions without the outer frames, read once", [e[1] for e in shown(path, "--own")], wanted)
    # the definitions come later
    wanted[0], wanted[1], wanted[3] = one, two, two
    same("filter: definitions without the outer frames, read twice", frames_of_filter(path), wanted)

    trust = [REGISTERS, CFI, SIGNAL, CFI, SCAN]
    trace = ctf.Trace()
    callstack(trace, 1, one, number=10, trust=trust)
    callstack(trace, 2, two[:2], number=11, base=10, shared=3)
    callstack(trace, 3, three[:1], number=12, base=11, shared=4, trust=[CODE], reason=NO_RULE)
    callstack(trace, 4, [], number=11, defines=False)
    # the same id again, with another trust, and with a reason that this version does not know
    other = [REGISTERS, CODE, SIGNAL, CFI, SCAN]
    callstack(trace, 5, one, number=10, trust=other)
    callstack(trace, 6, [], number=10, defines=False)
    callstack(trace, 7, one, number=10, trust=other, reason=REASONS - 1)
    callstack(trace, 8, one, number=10, trust=other, reason=REASONS)
    path = os.path.join(work, "base-trust")
    trace.write(path)
    same("trust: that of shared frames is the base's, that of others is usual if it is not held",
         [e[2] for e in shown(path, "--own")],
         [["registers", "cfi", "signal", "cfi", "scan"], ["registers", "cfi", "signal", "cfi", "scan"],
          ["code", "cfi", "signal", "cfi", "scan"], ["registers", "cfi", "signal", "cfi", "scan"],
          *[["registers", "code", "signal", "cfi", "scan"]] * 4])
    same("reason: that of the event; none if it is not known", [e[3] for e in shown(path, "--own")],
         ["complete", "complete", "no_rule", "complete", "complete", "complete", "nested", None])


def test_ends(work):
    """Events with LTTng's context, each after the kunwind_callstack of its thread."""
    three = [0x1000, 0x2000, 0x3000]
    deep = [0x10000 + i for i in range(300)]
    trace = ctf.Trace()

    def pair(time, stack, context, thread=(100, 101, 101), of=THREAD, **rest):
        callstack(trace, time, stack, thread=thread, **rest)
        trace.add(time + 1, "syscall_entry_read", of, context, READ, (3,))

    pair(10, three, three)
    trace.add(12, "syscall_exit_read", THREAD, three, [("ret", "s64")], (1,))
    pair(20, three, three, reason=NOT_READY)
    pair(30, three, [0x1000, 0x2000, 0x5000])
    pair(40, deep, deep[:128])
    pair(50, three, three[:2], trust=[REGISTERS, CFI, SCAN])
    pair(60, deep, deep[:128], trust=[REGISTERS] + [CFI] * 199 + [SCAN] * 100)
    pair(70, three, three, thread=(100, 102, 102))
    pair(80, three, three, trust=[REGISTERS, SIGNAL, CFI])
    pair(90, three, three, number=9000000, defines=False)    # its definition is lost
    # the first walk could not read the stack, and the next one could
    pair(100, three[:2], three, reason=NOT_READY)
    pair(110, three, three[:2], trust=[REGISTERS, CFI, SCAN], reason=NO_TABLE)
    path = os.path.join(work, "ends")
    trace.write(path)
    events = shown(path)
    same("same frames: complete", events[0][3], "complete")
    same("the exit of a system call has the end that its entry has", events[1][3], "complete")
    same("same frames: the reason is the walk's", events[2][3], "not_ready")
    same("other frames: no reason, no trust", events[3][1:], ([0x1000, 0x2000, 0x5000], [""] * 3, None))
    check("a stack that LTTng cut at 128 frames is whole", events[4][1] == deep and events[4][3] == "complete",
          len(events[4][1]))
    same("a guess follows: the stack ends before it", events[5][1:], (three[:2], ["registers", "cfi"], "no_rule"))
    check("cut at 128 frames: the rest ends before the first guess",
          events[6][1] == deep[:200] and events[6][3] == "no_rule", len(events[6][1]))
    same("another thread's stack says nothing", events[7][3], None)
    same("trust of the frames", events[8][2], ["registers", "signal", "cfi"])
    same("kunwind_callstack without its definition: the stack before it says nothing", events[9][1:],
         (three, [""] * 3, None))
    same("a guess follows, and the walk ended for want of a rule: the reason is the walk's", events[11][1:],
         (three[:2], ["registers", "cfi"], "no_table"))
    same("more frames than kunwind_callstack has: no reason", events[10][1:], (three, [""] * 3, None))
    report = json.loads(run(KUNWIND, "report", "--json", path))["trace"]
    same("report: complete stacks are those that the trace calls complete",
         (report["stacks"], report["stacks_complete"], report["stack_ends_recorded"]), (11, 3, True))
    summary = run(KUNWIND, "show", "--summary", "--tsv", path)
    check("show --summary: the same share", "summary\tcomplete\t4\n" in summary, summary)
    text = run(KUNWIND, "report", path)
    check("report: no word of this host's files", "by this host's files" not in text, text)


def test_prefix(work):
    """Stacks of which a part is missing, of frames or of trusts."""
    five = [0x1000 * i for i in range(1, 6)]
    trace = ctf.Trace()
    callstack(trace, 1, five)
    trace.add(2, "syscall_entry_read", THREAD, five[:3], READ, (3,))        # LTTng cuts at 128 frames only
    callstack(trace, 3, five, trust=[REGISTERS, SIGNAL])
    path = os.path.join(work, "prefix")
    trace.write(path)
    events = shown(path, "--own")
    same("fewer frames than LTTng can hold: no frame is added", events[1][1:], (five[:3], ["registers", "cfi", "cfi"], "no_rule"))
    same("fewer trusts than frames: the definition is damaged", events[2][1:], ([], [], None))


def test_container(work):
    """The trace has numbers of a container's pid namespace only (vpid, vtid)."""
    stack = [0x1000, 0x2000]
    trace = ctf.Trace(contexts=("callstack_user", "vpid", "vtid", "procname"))
    trace.add(1, "kunwind_map", (1, 1, "app"), [], ctf.MAP, (500, 1, 0x1000, 0x3000, 0, 0, 7, "", "/bin/app"))
    trace.add(2, "kunwind_map", (1, 1, "app"), [], ctf.MAP, (600, 1, 0x8000, 0x9000, 0, 0, 8, "", "/bin/else"))
    callstack(trace, 3, stack, NOT_READY, thread=(500, 501, 2))
    # the same numbers: in another container, and of another thread in the initial namespace
    callstack(trace, 3, stack, thread=(600, 601, 2))
    callstack(trace, 3, stack, thread=(500, 2, 3))
    trace.add(4, "syscall_entry_read", (1, 2, "app"), stack, READ, (3,))
    path = os.path.join(work, "container")
    trace.write(path)
    out = run(KUNWIND, "show", "--no-lines", "--tsv", path)
    check("numbers of a container: the reason is found", "end\t1\tnot_ready" in out, out)
    check("numbers of a container: no other thread's reason is taken", "complete" not in out, out)


def test_unknown(work):
    """Reasons and trusts that kunwind does not know: of a newer module, or of a damaged trace."""
    stack = [0x1000, 0x2000, 0x3000]
    reasons = [COMPLETE, NO_RULE, 20, 63, 64, 100, 200, 255, 256, 1 << 16, 0x7fffffff, -1, -200]
    trace = ctf.Trace()
    for number, reason in enumerate(reasons):
        time, trust = 10 * number + 1, [REGISTERS, 7 + number * 20, 255] if reason == 200 else []
        callstack(trace, time, stack, reason, trust)
        trace.add(time + 1, "syscall_entry_read", THREAD, stack, READ, (3,))
    path = os.path.join(work, "unknown")
    trace.write(path)
    same("unknown reasons: shown as not recorded", [event[3] for event in shown(path)],
         ["complete", "no_rule"] + [None] * (len(reasons) - 2))
    report = json.loads(run(KUNWIND, "report", "--json", path))
    same("unknown reasons: report counts them as not recorded",
         {row["name"]: row["stacks"] for row in report["reasons"]},
         {"complete": 1, "no_rule": 1, "not recorded": len(reasons) - 2})
    same("unknown trusts: report counts them as not recorded", report["trace"]["frames_by_trust"],
         {"registers": len(reasons), "cfi": 2 * len(reasons) - 2, "not recorded": 2})
    same("unknown reasons: nothing else is counted",
         [report["trace"][key] for key in ("stacks", "stacks_complete", "lost_packets", "calls_not_returned")],
         [len(reasons), 1, 0, len(reasons)])


def test_stock(work):
    """A trace of stock LTTng."""
    trace = ctf.Trace()
    trace.add(1, "syscall_entry_read", THREAD, [0x1000, 0x2000], READ, (3,))
    path = os.path.join(work, "stock")
    trace.write(path)
    same("trace without kunwind_callstack: no reason", shown(path)[0][3], None)
    text = run(KUNWIND, "report", path)
    check("trace without kunwind_callstack: report says by what it judges",
          "complete (by this host's files: the trace has no kunwind_callstack)" in text, text)


def main():
    with tempfile.TemporaryDirectory() as work:
        test_fields(work)
        test_ids(work)
        test_bases(work)
        test_ends(work)
        test_prefix(work)
        test_container(work)
        test_unknown(work)
        test_stock(work)
    tap.finish()


if __name__ == "__main__":
    main()
