#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests what kunwind writes with --json by a schema that follows kunwind-json(5).

Python parses the output and jsonschema checks it, with the worst names that a
file system and a trace allow. (tests/vm/check/t-tools.sh and t-record.sh test the
commands that need the module.)
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

import ctf
import tap
from tap import check

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind")
# Control and other special characters, and sequences that are nearly UTF-8.
HOSTILE = "".join(map(chr, range(1, 47))) + "\x7f\u0085\u2028\ud83d\ude00\\\"'".encode(
    "utf-16", "surrogatepass").decode("utf-16") + "\udcff\udcc0\udcaf\udced\udca0\udc80\udcc3"

STRING = {"type": ["string", "null"]}
NUMBER = {"type": ["integer", "null"]}
ADDRESS = {"type": "string", "pattern": "^0x[0-9a-f]+$"}
COUNT = {"type": "integer", "minimum": 0}
REASONS = ["complete", "buffer_full", "budget_spent", "no_object", "no_rule", "reg_unknown",
           "unreadable", "cfa_stuck", "bad_address", "corrupt", "not_ready", "no_table",
           "memory_limit", "kthread", "code_segment", "disabled", "nested"]


def members(required=None, **properties):
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": list(properties) if required is None else required}


def many(item):
    return {"type": "array", "items": item}


FRAME = members(address=ADDRESS, kernel={"type": "boolean"}, function=STRING, offset=NUMBER, object=STRING,
                object_address={"anyOf": [ADDRESS, {"type": "null"}]}, build_id=STRING, why=STRING, trust=STRING,
                sources=many(members(function=STRING, inlined={"type": "boolean"}, file=STRING, line=NUMBER)))
FUNCTION = members(name={"type": "string"}, object={"type": "string"}, kernel={"type": "boolean"}, file=STRING,
                   line=NUMBER)
NEIGHBOUR = members(name={"type": "string"}, object={"type": "string"}, kernel={"type": "boolean"}, events=COUNT, blocked_ns=COUNT, off_cpu_ns=COUNT, lock_ns=COUNT, cpu_ns=COUNT)
# a thread that was blocked when the recording began
BLOCKED = members(name=STRING, pid=NUMBER, tid=COUNT, state=STRING, call=STRING, fd=NUMBER, file=STRING, futex=STRING,
                  holder_tid=NUMBER, time_ns=COUNT, since_ns=NUMBER, end_ns=NUMBER, stack=many(FUNCTION))
SCHEMA = {
    "event": members(number=COUNT, time_ns=NUMBER, name={"type": "string"}, command={"type": "string"},
                     pid=NUMBER, tid=NUMBER, cpu=NUMBER, context={"type": "object"},
                     fields={"type": "object"}, stack=many(FRAME), reason={"enum": [*REASONS, None]}),
    "symbolize": members(line=COUNT, pid=NUMBER, frame=FRAME),
    "summary": members(**{name: COUNT for name in (
        "events", "with_stack", "frames", "with_kernel_stack", "kernel_frames", "lost", "named", "complete",
        "cut_at_128", "kernel_named")}),
    "report": members(
        trace=members(hostname={"type": "string"}, stack_ends_recorded={"type": "boolean"}, **{name: COUNT for name in (
            "begin_ns", "end_ns", "events", "lost", "lost_packets", "cut_files", "cut_bytes", "samples", "stacks", "stacks_complete",
            "frames", "frames_named", "threads", "calls_not_returned")},
            lost_by=many(members(channel={"type": "string"}, events=COUNT)),
            frames_by_trust={"type": "object", "additionalProperties": COUNT}),
        sorted_by={"enum": ["events", "blocked", "off-cpu", "lock", "cpu"]},
        system_calls=many(members(name={"type": "string"}, **{name: COUNT for name in (
            "count", "failed", "timed", "ns", "longest_ns", "off_cpu_ns")})),
        off_cpu=many(members(name={"type": "string"}, count=COUNT, timed=COUNT, ns=COUNT, longest_ns=COUNT)),
        events=many(members(name={"type": "string"}, count=COUNT)),
        threads=many(members(comm={"type": "string"}, pid={"type": "integer"}, tid=COUNT, **{name: COUNT for name in (
            "count", "failed", "ns", "longest_ns", "off_cpu_ns", "on_cpu_ns")})),
        results=many(members(name={"type": "string"}, result={"type": "string"}, count=COUNT, ns=COUNT, longest_ns=COUNT,
                             smallest={"type": "integer"}, largest={"type": "integer"})),
        files=many(members(name={"type": "string"}, fd=NUMBER, **{name: COUNT for name in (
            "count", "failed", "ns", "longest_ns", "off_cpu_ns", "bytes")})),
        functions=many(members(name={"type": "string"}, object={"type": "string"}, kernel={"type": "boolean"}, end=STRING, **{name: COUNT for name in (
            "events", "blocked_ns", "off_cpu_ns", "lock_ns", "cpu_ns", "self", "complete", "guessed")})),
        reasons=many(members(name={"enum": [*REASONS, "not recorded", "no stack recorded"]}, stacks=COUNT)),
        blocked_at_begin=many(BLOCKED),
        **{name: many(NEIGHBOUR) for name in ("callers", "callees")},
        required=["trace", "sorted_by", "system_calls", "off_cpu", "events", "threads", "results", "files", "functions", "reasons",
                  "blocked_at_begin"]),
    "waits": {"definitions": {"chain": members(["name", "ns", "parts"], name={"type": "string"}, ns=COUNT, count=COUNT,
                                               parts=many({"$ref": "#/definitions/chain"}))},
              **members(
        trace=members(hostname={"type": "string"}, wakeups_recorded={"type": "boolean"},
                      interrupts_recorded={"type": "boolean"}, **{name: COUNT for name in (
                          "begin_ns", "end_ns", "events", "lost", "threads", "waits", "ended_by_thread",
                          "ended_by_interrupt", "waker_not_recorded", "preempted", "end_lost", "in_call_at_begin",
                          "waiting_at_end")}),
        threads=many(members(name={"type": "string"}, pid=NUMBER, **{name: COUNT for name in (
            "tid", "on_cpu_ns", "blocked_ns", "runnable_ns", "waits")})),
        wakers=many(members(waiter={"type": "string"}, pid=NUMBER, cause={"type": "string"}, waker=STRING, waker_call=STRING,
                            ended_by={"enum": ["thread", "interrupt", "preemption", "unknown"]}, count=COUNT,
                            blocked_ns=COUNT, longest_ns=COUNT, latency_ns=COUNT, stack=many(FUNCTION),
                            waker_stack=many(FUNCTION))),
        locks=many(members(address=ADDRESS, pid=NUMBER, kind={"enum": ["lock", "futex"]},
                           pairs=many(members(function=STRING, caller=STRING, holder=STRING, ns=COUNT, count=COUNT,
                                              stack=many(FUNCTION), holder_stack=many(FUNCTION),
                                              meanwhile=many(members(what={"type": "string"}, ns=COUNT,
                                                                     stack=many(FUNCTION))))),
                           **{name: COUNT for name in ("waits", "blocked_ns", "longest_ns", "latency_ns",
                                                       "holder_known_ns", "other_waits", "other_ns", "releases")})),
        chains=many({"$ref": "#/definitions/chain"}),
        waiting_at_end=many(members(name={"type": "string"}, tid=COUNT, cause={"type": "string"}, ns=COUNT,
                                    stack=many(FUNCTION))),
        blocked_at_begin=many(BLOCKED))},
    "doctor": many(members(state={"enum": ["ok", "FAIL", "note"]}, requirement={"type": "string"},
                           finding={"type": "string"}, fix={"type": "string"})),
    "dump": members(file={"type": "string"}, fdes=COUNT, rows=COUNT, rules=COUNT, bytes=COUNT,
                    table=many(members(["address", "cfa", "rbp", "ra"], address=ADDRESS, more={"type": "string"},
                                       **{name: {"type": "string"} for name in ("cfa", "rbp", "ra")}))),
    "record": members(["trace", "session", "lost", "status"], trace={"type": "string"}, session={"type": "string"},
                      lost=COUNT, status=COUNT, snapshots=COUNT, suppressed=COUNT),
    "flight": members(["why", "suppressed"], flight={"type": "string"}, snapshot={"type": "string"},
                      why={"type": "string"}, suppressed=COUNT),
    "crashes": members(number=COUNT, time_ns=NUMBER, command={"type": "string"}, pid=NUMBER, tid=NUMBER,
                       signal=COUNT, signal_name={"type": "string"}, to_process={"type": "boolean"}, code=NUMBER,
                       code_name=STRING, address={"anyOf": [ADDRESS, {"type": "null"}]}, sender=NUMBER,
                       stack=many(FRAME), reason={"enum": [*REASONS, None]}),
    "snapshot": members(snapshot={"type": "string"}),
    "register": many(members(["pid", "ok"], pid=COUNT, ok={"type": "boolean"}, maps=COUNT, tables=COUNT,
                             error={"type": "string"})),
    "system-wide": members(system_wide={"type": "boolean"}, pending=COUNT, missed_limit=COUNT, missed_memory=COUNT),
    "status": members(
        abi=COUNT, version={"type": "string"}, params={"type": "object"},
        stats={"type": "object", "additionalProperties": COUNT},
        reasons={"type": "object", "propertyNames": {"enum": REASONS}, "additionalProperties": COUNT},
        stacks=many(members(consumer={"type": "string"}, reason={"enum": REASONS}, count=COUNT)),
        frames=many(members(consumer={"type": "string"}, trust={"type": "string"}, count=COUNT)),
        methods={"type": "object", "additionalProperties": COUNT},
        hooks=many(members(name={"type": "string"}, state={"type": "string"}, reason={"type": "string"})),
        sampler=many(members(clock={"type": "string"}, reason={"type": "string"})),
        processes=many(members(pid=COUNT, comm={"type": "string"}, maps=COUNT, flags={}, bytes=COUNT)),
        objects=many(members(state={"type": "string"}, build_error={"type": "string"}, rows=COUNT,
                             bytes=COUNT, users=COUNT, path={"type": "string"})),
        parts=many(members(built=COUNT, all=COUNT, path={"type": "string"})),
        users=many(members(uid=COUNT, bytes=COUNT, objects=COUNT, processes=COUNT, ms=COUNT))),
}


def parse(kind, text):
    """Returns the value of bytes; raises if they are not strict JSON of this kind."""
    value = json.loads(text.decode("utf-8", "strict"), parse_constant=lambda name: 1 / 0)
    jsonschema.validate(value, SCHEMA[kind])
    return value


def values(kind, what, text, lines=False):
    try:
        parsed = [parse(kind, line) for line in text.splitlines()] if lines else [parse(kind, text)]
        raw = [c for c in text.decode() if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
        check(what, parsed and not raw, raw)
        return parsed
    except (ValueError, ZeroDivisionError, jsonschema.ValidationError) as error:
        check(what, False, error)
        return []


def run(*arguments, status=0, text=""):
    done = subprocess.run([KUNWIND, *arguments], capture_output=True, input=text.encode())
    check("kunwind %s: status %d" % (arguments[0],
          status), done.returncode == status, done.stderr.decode("utf-8", "replace"))
    return done.stdout


def hostile_program(work):
    """Compiles a program; its path and a function have bad names.

    Returns (path, build-id, address of that function, address of main).
    """
    source, path = os.path.join(work, "app.c"), os.path.join(work, HOSTILE)
    name = HOSTILE.encode("utf-8", "surrogateescape")
    plain = b"hostile_".ljust(len(name), b"x")
    with open(source, "wb") as file:
        file.write(b"int %s(int x) { return x + 1; }\n\nint main(void) { return %s(1); }\n" % (plain, plain))
    subprocess.run(["gcc", "-g", "-O0", "-Wl,--build-id", "-o", path, source], check=True)
    # No compiler accepts such a name: replace the name in the string tables.
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(plain, name))
    notes = subprocess.run(["readelf", "-nW", path], capture_output=True, check=True).stdout.decode("utf-8", "replace")
    symbols = subprocess.run(["readelf", "-sW", path], capture_output=True, check=True).stdout
    # "Num: Value Size Type ... Name": main begins where the bad name's
    # function ends.
    functions = sorted((int(field[1], 16), int(field[2])) for field in map(bytes.split, symbols.splitlines())
                       if len(field) > 6 and field[3] == b"FUNC" and int(field[2]) > 0)
    end = {start + size: start for start, size in functions}
    main = [start for start, _ in functions if start in end][-1]
    return path, notes.split("Build ID: ")[1].split()[0], end[main], main


def make_trace(work):
    path, build_id, odd, main = hostile_program(work)
    bias = 0x555555554000
    thread = (100, 100, HOSTILE[:15] + "\udcff")
    # The host name exceeds 255 bytes, and the limit is inside a character.
    trace = ctf.Trace(host="host\\\\name\u009b31m\udcff" + "\u00e4" * 200)
    trace.add(1000, "kunwind_map", thread, (), ctf.MAP,
              [100, 100, bias, bias + 0x10000, 0, bias, 0, build_id, path])
    fields = [("filename", "string"), ("flags", "s32"), ("large", "u64"), ("small", "s64")]
    trace.add(1001, "kunwind_map", thread, (), ctf.MAP,
              [100, 100, 0x10000, 0x20000, 0, 0x10000, 0, "\x1b[31m\u009b31m\udcff", "/nonexistent"])
    stack = [bias + odd + 2, bias + main + 2, 0xffffffff81000000, 0x10010]
    trace.add(2000, "syscall_entry_openat", thread, stack, fields, [HOSTILE, -1, 2**64 - 1, -2**63])
    trace.add(3000, "syscall_exit_openat", thread, stack, ctf.RETURN, [-2])
    trace.add(4000, "other", thread, (), fields, ["", 0, 0, 0])
    directory = os.path.join(work, "trace")
    trace.write(directory)
    return directory, path


def main():
    work = tempfile.mkdtemp()
    try:
        trace, program = make_trace(work)
        shown = HOSTILE.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        events = values("event", "show", run("show", "--json", trace), lines=True)
        first = events[0] if events else None
        check("show --json: all events, with integers of 64 bits",
              first and [e["name"] for e in events] == ["syscall_entry_openat", "syscall_exit_openat", "other"] and
              first["fields"]["large"] == 2**64 - 1 and first["fields"]["small"] == -2**63 and
              first["fields"]["flags"] == -1, events)
        check("show --json: a field with special characters",
              first and first["fields"]["filename"].replace("\ufffd", "") == shown.replace("\ufffd", ""), first and first["fields"])
        check("show --json: frames with bad names, and without names",
              first and os.path.basename(first["stack"][0]["object"]).replace("\ufffd", "") ==
              shown.replace("\ufffd", "").rpartition("/")[2] and "\ufffd" in first["stack"][0]["function"] and
              first["stack"][1]["function"] == "main" and first["stack"][1]["sources"][0]["line"] == 3 and
              first["stack"][2]["function"] is None and first["stack"][2]["object"] is None, first and first["stack"])
        check("show --json: each event has its time and its processor", events and
              [(e["time_ns"] % 10**9, e["cpu"], e["pid"], e["tid"]) for e in events] == [
                  (2000, 0, 100, 100), (3000, 0, 100, 100), (4000, 0, 100, 100)], events)
        check("show --json: an event without a stack has an empty list", events and events[2]["stack"] == [])
        everything = values("event", "show --own --no-symbols",
                            run("show", "--json", "--own", "--no-symbols", trace), lines=True)
        check("show --json --no-symbols: no functions",
              len(everything) == 5 and all(f["function"] is None for e in everything for f in e["stack"]), everything)
        asked = first["stack"] if first else []
        answers = values("symbolize", "symbolize", run("symbolize", "--json", trace, text="".join(
            " %s\n" % frame["address"] for frame in asked)), lines=True)
        check("symbolize --json has the frames of show --json",
              len(answers) == 4 and [answer["line"] for answer in answers] == [1, 2, 3, 4] and
              [answer["frame"] for answer in answers if answer["pid"]] ==
              [frame for frame in asked if frame["object"]], answers)
        summary = values("summary", "show --summary", run("show", "--json", "--summary", trace))
        check("show --summary: numbers of events and named frames", summary and summary[0]["events"] == 3 and summary[0]["named"] == 4, summary)
        report = values("report", "report", run("report", "--json", trace))
        near = values("report", "report --callers --callees", run("report", "--json", "--callers", "main", "--callees", "main", trace))
        check("report --json --callers --callees: both lists", near and near[0]["callees"] and "callers" in near[0], near)
        check("report --json: number of failed calls", report and report[0]["system_calls"][0]["failed"] == 1, report)
        dump = values("dump", "dump", run("dump", "--json", program))
        check("dump --json: all rows of the table", dump and dump[0]["file"].startswith(work) and dump[0]["rows"] > 5 and
              len(dump[0]["table"]) == dump[0]["rows"] + 1, dump and dump[0]["rows"])
        text = run("dump", "--tsv", program).decode().splitlines()
        check("dump --json and dump --tsv have the same rows", dump and [line.split("\t")[:4] for line in text] ==
              [[row["address"][2:], row["cfa"], row["rbp"], row["ra"]] for row in dump[0]["table"]])
        for command in (("show",), ("show", "--tsv"), ("show", "--no-symbols"), ("report",), ("dump",)):
            try:
                text = run(*command, program if command[0] == "dump" else trace).decode("utf-8", "strict")
                check("%s: no control characters, and UTF-8" % " ".join(command),
                      text and not re.search("[^ -~\n\t\u00a0-\U0010ffff]", text), ascii(text))
            except ValueError as error:
                check("%s: no control characters, and UTF-8" % " ".join(command), False, error)
        values("doctor", "doctor", subprocess.run([KUNWIND, "doctor", "--json"], capture_output=True).stdout)
        for export in ("speedscope", "firefox"):
            try:
                json.loads(run("export", export, trace).decode("utf-8", "strict"))
                check("export %s is JSON" % export, True)
            except ValueError as error:
                check("export %s is JSON" % export, False, error)
    finally:
        shutil.rmtree(work)
    tap.finish()


if __name__ == "__main__":
    # json_output.py [--lines] KIND <FILE: fails if FILE (with --lines: any line
    # of FILE) is not JSON of this KIND. The tests in the VM call it.
    if len(sys.argv) > 1:
        text = sys.stdin.buffer.read()
        for part in text.splitlines() if sys.argv[1] == "--lines" else [text]:
            parse(sys.argv[-1], part)
        sys.exit(0)
    main()
