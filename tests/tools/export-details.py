#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests details of what kunwind export and flamegraph write: fields, names, mappings, locks, two traces.

exports.py opens the exported files with the programs that read these formats.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import tempfile

import analyze
import ctf
import perfetto
import pprof
import tap
from analyze import APP, BIAS, run, stack
from tap import check, same
from waits import PRIVATE, WAIT, Scene, convoy

tap.suite = "export details"


def export(form, name, trace, *options):
    """trace: a ctf.Trace, which is written, or a directory."""
    if not isinstance(trace, str):
        trace.write(os.path.join(WORK, name))
        trace = os.path.join(WORK, name)
    path = os.path.join(WORK, name + "." + form)
    run("export", form, "--all", "-o", path, *options, trace)
    return path


def firefox(name, trace, *options):
    with open(export("firefox", name, trace, *options)) as file:
        return json.load(file)


def test_fields():
    trace = ctf.Trace()
    trace.add(1000, "one", APP, [0x1234], [("pointer", "u64"), ("mask", "x32"), ("type", "s32")],
              [0x7fff00001234, 255, 1])
    long = [("a_long_name_of_a_field_%02d" % i, "s32") for i in range(40)]
    trace.add(1010, "two", APP, [0x1234], long, range(40))
    data = firefox("fields", trace)
    markers = data["threads"][0]["markers"]["data"]
    same("firefox: hexadecimal numbers are text", [markers[0][key] for key in ("pointer", "mask", "type_")], ["0x7fff00001234", "0xff", 1])
    labels = {schema["name"]: schema["tableLabel"] for schema in data["meta"]["markerSchema"]}
    same("firefox: the label has the keys of the data", labels["one"],
         "pointer: {marker.data.pointer}, mask: {marker.data.mask}, type: {marker.data.type_}")
    check("firefox: a label that is too long ends with a whole field", labels["two"].endswith("}") and len(labels["two"]) > 900, labels["two"])
    both = os.path.join(WORK, "kinds")
    for number, (kind, value) in enumerate((("string", "text"), ("s32", 7))):
        trace = ctf.Trace(host="host%d" % number)
        trace.add(1000 + number, "odd", APP, [0x1234], [("value", kind)], [value])
        trace.write(os.path.join(both, "%d" % number))
    data = firefox("kinds-of-both", both)
    same("firefox: a field has the kind of its first value", sorted(
        m["value"] for t in data["threads"] for m in t["markers"]["data"]), ["7", "text"])


def test_repeated():
    """poll changes its argument fds; its exit has the field again."""
    trace = ctf.Trace()
    poll = [("nfds", "s32"), ("fds", "u64s")]
    trace.add(1000, "syscall_entry_poll", APP, [0x1234], poll, [2, [3, 4]])
    trace.add(1010, "syscall_exit_poll", APP, [0x1234], [*ctf.RETURN, *poll, ("more", "s32")], [1, 2, [4], 5])
    wanted = {"nfds": 2, "fds": "0x3, 0x4", "ret": 1, "nfds_exit": 2, "fds_exit": "0x4", "more": 5}
    path = export("firefox", "repeated", trace)
    pairs = []
    with open(path) as file:
        json.load(file, object_pairs_hook=lambda list: pairs.append(list) or dict(list))
    same("firefox: arguments at the entry and at the exit of a system call",
         [dict(list[2:]) for list in pairs if ("type", "poll") in list and len(list) == 8], [wanted])
    check("firefox: no object has a key twice", all(len(dict(list)) == len(list) for list in pairs), pairs)
    if shutil.which("protoc"):
        slices = perfetto.Reader(export("perfetto", "repeated", os.path.join(WORK, "repeated"))).slices
        same("perfetto: arguments at the entry and at the exit of a system call", slices[0]["args"],
             {"nfds": 2, "fds": ["0x3", "0x4"], "ret": 1, "nfds_exit": 2, "fds_exit": ["0x4"], "more": 5})


def test_names(program, symbols, build_id):
    at = stack(symbols, "reader", "main", "_start")
    named = (100, 102, "worker")

    def made(host, comm):
        trace = ctf.Trace(host=host, contexts=("callstack_user", "callstack_kernel", "pid", "tid", "procname"))
        trace.add(900, "kunwind_map", APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
        trace.add(1000, "syscall_entry_read", named, at)
        trace.add(1100, "syscall_exit_read", named, (), ctf.RETURN, [0])
        trace.add(1200, "syscall_entry_read", (100, 100, comm), at)
        trace.add(1300, "syscall_exit_read", (100, 100, comm), (), ctf.RETURN, [0])
        return trace
    both = os.path.join(WORK, "hosts")
    made("here", "first").write(os.path.join(both, "here"))
    made("there", "second").write(os.path.join(both, "there"))
    profile = pprof.Profile(export("pprof", "hosts-of-both", both))
    same("pprof: a process has the name of its main thread in the same trace", sorted(
        (labels["thread"], labels["process"]) for labels, _ in profile.samples()),
         [("first", "first"), ("second", "second"), ("worker", "first"), ("worker", "second")])
    same("pprof: a mapping ends after the highest address that a stack has in it", profile.mappings[program],
         max(symbols[name] + 2 for name in ("reader", "main", "_start")) + 1)
    other = shutil.copy(program, os.path.join(WORK, "libother.so"))
    trace = ctf.Trace()
    for path, start in ((other, BIAS + 0x100000), (program, BIAS)):
        trace.add(900, "kunwind_map", APP, (), ctf.MAP, [100, 100, start, start + 0x10000, 0, start, 0, build_id, path])
    comm = os.path.basename(program)[:15]
    trace.add(1000, "syscall_entry_read", (100, 100, comm), [at[0] + 0x100000, at[2]])
    trace.add(1100, "syscall_exit_read", (100, 100, comm), (), ctf.RETURN, [0])
    same("pprof: the program is the first mapping, although a library is innermost",
         list(pprof.Profile(export("pprof", "first", trace)).mappings), [program, other])
    trace = ctf.Trace()
    trace.add(900, "kunwind_map", APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    time = 1000
    for i in (*range(1200), *range(1200)):
        for call in ("read", "write", "close"):
            trace.add(time, "syscall_entry_" + call, (100, 1000 + i, "t%d" % i), at)
            trace.add(time + 10, "syscall_exit_" + call, (100, 1000 + i, "t%d" % i), (), ctf.RETURN, [0])
            time += 20
    samples = pprof.Profile(export("pprof", "threads", trace)).samples()
    same("pprof: 1,200 threads with three stacks each", (len(samples), {tuple(values) for _, values in samples},
         sorted(labels["tid"] for labels, _ in samples)[::3]), (3600, {(2, 20, 0, 0, 0)}, list(range(1000, 2200))))
    if not shutil.which("protoc"):
        return
    trace = ctf.Trace()
    for time, comm in ((1000, "before"), (2000, "after")):
        trace.add(time, "syscall_entry_execve", (100, 100, comm), [0x1234])
        trace.add(time + 100, "syscall_exit_execve", (100, 100, comm), (), ctf.RETURN, [0])
    trace.add(3000, "sched_switch", APP, [0x1234], ctf.SWITCH, [100, 1, 0])
    trace.add(4000, "sched_switch", (0, 0, "swapper"), (), ctf.SWITCH, [0, 0, 100])
    read = perfetto.Reader(export("perfetto", "renamed", trace))
    same("perfetto: a thread that gets another name", [s["thread"] for s in read.slices if s["name"] == "execve"],
         [(100, 100, "before"), (100, 100, "after")])
    same("perfetto: the arguments of a time off the CPU are those of the event at its start", [s["args"] for s in read.slices if s["name"] == "off CPU"],
         [{"in": "no recorded system call", "prev_tid": 100, "prev_state": 1, "next_tid": 0}])


def test_files():
    """Two functions of one name, in two source files of a program."""
    program, sources = os.path.join(WORK, "twice"), []
    for name in ("one", "two"):
        sources.append(os.path.join(WORK, name + ".c"))
        with open(sources[-1], "w") as file:
            file.write("int getppid(void);\nstatic __attribute__((noinline)) int helper(void) { return getppid() + 1; }\n"
                       "int %s(void) { return helper() + 1; }\n" % name)
    with open(sources[-1], "a") as file:
        file.write("int one(void);\nint main(void) { return one() + two(); }\n")
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", program, *sources], check=True)
    build_id = re.search("Build ID: ([0-9a-f]+)", tap.run("readelf", "-nW", program)).group(1)
    trace = ctf.Trace()
    trace.add(900, "kunwind_map", APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    helpers = [int(line.split()[0], 16) for line in tap.run("nm", program).splitlines() if line.endswith(" helper")]
    for number, address in enumerate(helpers):
        trace.add(1000 + number, "event", APP, [BIAS + address + 1])
    profile = pprof.Profile(export("pprof", "files", trace))
    same("pprof: functions of one name in two files", sorted(os.path.basename(file) for name, file in profile.functions.values()
         if name == "helper"), ["one.c", "two.c"])


def test_locks(program, symbols, build_id):
    scene = Scene(WORK, "convoy", program, symbols, build_id)
    convoy(scene, WAIT | PRIVATE, 2)
    samples = pprof.Profile(export("pprof", "lock", scene.trace)).samples()
    same("pprof: time blocked by locks, at the holders' stacks", sorted(tuple(values) for _, values in samples if values[3]),
         [(0, 0, 0, 5020, 0), (0, 0, 0, 7000, 0), (0, 0, 0, 8010, 0)])


def page(name, *options):
    path = os.path.join(WORK, name + ".html")
    run("flamegraph", "-o", path, *options)
    with open(path) as file:
        text = file.read()
    return text, json.loads(re.search('id="data">(.*?)</script>', text).group(1))


def test_pages(trace, program, symbols, build_id):
    text, data = page("about", "--title", "a & b", trace)
    check("flamegraph: the title in HTML", "<title>a &#38; b</title>" in text, re.findall("<title>.*?</title>", text))
    check("flamegraph: facts about the trace", re.fullmatch(
        r"Trace of testhost \S+ \S+ \S+, 0\.000 s; 9 call stacks, 8 of them complete; 3 events lost", data["about"]), data["about"])
    check("flamegraph: functions have their object", ["reader", program, 1] in data["frames"], data["frames"])

    def small(name, comms, waits):
        made = ctf.Trace()
        at, time = stack(symbols, "reader", "main", "_start"), 1000
        for comm in comms:
            made.add(time, "kunwind_map", APP, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
            if waits:
                made.add(time + 5, "sched_switch", (100, 100, comm), at, ctf.SWITCH, [100, 1, 0])
                made.add(time + 8, "sched_switch", (0, 0, "swapper"), (), ctf.SWITCH, [0, 0, 100])
            else:
                made.add(time + 5, "syscall_entry_read", (100, 100, comm), at)
                made.add(time + 8, "syscall_exit_read", (100, 100, comm), (), ctf.RETURN, [0])
            time += 100
        made.write(os.path.join(WORK, name))
        return os.path.join(WORK, name)
    one, two, waits = small("one", ["x"], False), small("two", ["y", "z"], False), small("waits", ["x"], True)
    data = page("base-weight", "-w", "off-cpu", "--base", waits, one)[1]
    same("flamegraph --base: a weight that only the base has", {weight["name"]: (sum(weight["self"]), sum(weight["base"])) for weight in data["weights"]},
         {"events": (1, 1), "blocked": (3, 0), "off-cpu": (0, 3)})

    def processes(data):
        return sorted(name for name, _, kind in data["frames"] if kind == 0 and name)
    same("flamegraph --base: names of processes, if the base has two processes", processes(page("base-two", "--base", two, one)[1]), ["x", "y", "z"])
    same("flamegraph --base: names of processes, if the trace has two processes", processes(page("trace-two", "--base", one, two)[1]), ["x", "y", "z"])
    same("flamegraph --base: the process name of the trace, if both have one process", processes(page("one-each", "--base", small("other", ["w"], False), one)[1]), ["x"])


def cpu_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_processes():
    """Many processes, as of a build."""
    trace, times = ctf.Trace(), [cpu_time()]
    for pid in range(1, 40001):
        trace.add(1000 + pid, "one", (pid, pid, "app"), [0x1234])
    trace.write(os.path.join(WORK, "processes"))
    for form in ("folded", "pprof"):
        export(form, "processes", os.path.join(WORK, "processes"))
        times.append(cpu_time())
    folded, profile = times[1] - times[0], times[2] - times[1]
    check("pprof: the time for a process does not grow with their number", profile < 8 * folded, "%.2f s, folded: %.2f s" % (profile, folded))


def main():
    global WORK
    with tempfile.TemporaryDirectory() as WORK:
        program, symbols, build_id = analyze.build(WORK)
        trace = analyze.make_trace(WORK, program, symbols, build_id)
        test_fields()
        test_repeated()
        test_names(program, symbols, build_id)
        test_files()
        test_processes()
        test_locks(program, symbols, build_id)
        test_pages(trace, program, symbols, build_id)
    tap.finish()


if __name__ == "__main__":
    main()
