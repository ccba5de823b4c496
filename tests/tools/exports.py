#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Opens what kunwind export writes with the programs that it is for.

- Perfetto: protoc, with perfetto.py; and Perfetto's trace processor, if it is in
  PATH or named by TRACE_PROCESSOR.
- pprof: pprof itself, built from Debian's package of its source.
- speedscope: its schema; its page in a browser.
- Firefox Profiler: its command line, which has the code of the page.

The numbers must be those of kunwind report, or those that the traces were
written with (analyze.py).
"""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile

import analyze
import ctf
import flamegraph
import perfetto
import tap
from analyze import APP, BIAS, THREAD, run, stack
from tap import check, same

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = os.path.join(HERE, "../../scripts/npm-packages")
START = 1700000000000000000     # time 0 of the traces
WEIGHTS = ("events", "blocked", "off-cpu")
INLINED = """
#include <unistd.h>
static inline __attribute__((always_inline)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		getppid();
}
void outer(int n) { inner(n); getpid(); }
int main(int argc, char **argv) { outer(argc); return 0; }
"""
WAKE = [("comm", "string"), ("tid", "s32"), ("prio", "s32")]




def package(name):
    """Returns the directory of an npm package in the cache."""
    return subprocess.run([PARTS, "--path", name], capture_output=True, text=True).stdout.strip()


def make_wakeups(work, program, symbols, build_id):
    """A thread that waits, and another that wakes it; events with fields of each kind."""
    trace = ctf.Trace()
    at = stack(symbols, "reader", "main", "_start")
    deep = stack(symbols, "recursive", "main", "_start")
    swapper = (0, 0, "swapper/0")
    trace.add(900, "kunwind_map", APP, (), ctf.MAP,
              [APP[0], APP[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    trace.add(1000, "syscall_entry_futex", THREAD, deep, [("uaddr", "u64"), ("op", "s32")], [0x7fff00001234, -128])
    trace.add(1100, "sched_switch", THREAD, deep, ctf.SWITCH, [101, 1, 0])
    trace.add(1200, "syscall_entry_socket", APP, at, [("family", "s32"), ("type", "s32"), ("name", "string"),
                                                      ("bytes", "u8s")], [2, 1, 'a "\n\\\udcff é', [7, 8, 9]])
    trace.add(1300, "sched_waking", APP, at, WAKE, ["app", 101, 20])
    trace.add(1400, "sched_wakeup", APP, at, WAKE, ["app", 101, 20])
    trace.add(1500, "sched_switch", swapper, (), ctf.SWITCH, [0, 0, 101])
    trace.add(1600, "sched_waking", APP, at, WAKE, ["app", 101, 20])     # it runs already
    trace.add(1700, "syscall_exit_futex", THREAD, deep, ctf.RETURN, [0])
    trace.add(1800, "syscall_exit_socket", APP, at, ctf.RETURN, [3])
    trace.add(2000, "syscall_entry_read", THREAD, deep)                 # its exit was lost
    trace.add(2100, "sched_switch", THREAD, deep, ctf.SWITCH, [101, 1, 0])      # so was the switch back
    trace.add(2200, "syscall_entry_write", THREAD, deep)
    trace.add(2300, "syscall_exit_write", THREAD, deep, ctf.RETURN, [1])
    trace.add(2400, "syscall_entry_exit", THREAD, deep)
    trace.add(2500, "sched_switch", THREAD, deep, ctf.SWITCH, [101, 0x10, 0])   # EXIT_DEAD
    trace.add(9000, "syscall_entry_pause", APP, at)
    directory = os.path.join(work, "wakeups")
    trace.write(directory)
    return directory


def make_inlined(work):
    """A program with an inlined function, and a trace with a stack through it."""
    source, program = os.path.join(work, "inlined.c"), os.path.join(work, "inlined")
    with open(source, "w") as file:
        file.write(INLINED)
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", program, source], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in tap.run("nm", program).splitlines()
               if len(line.split()) == 3}
    build_id = re.search("Build ID: ([0-9a-f]+)", tap.run("readelf", "-nW", program)).group(1)
    for address in range(symbols["outer"], symbols["outer"] + 64):
        lines = tap.run("addr2line", "-fie", program, hex(address)).splitlines()
        if lines[0::2] == ["inner", "outer"]:
            break
    trace = ctf.Trace()
    trace.add(900, "kunwind_map", APP, (), ctf.MAP,
              [APP[0], APP[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    trace.add(1000, "syscall_entry_getppid", APP, [BIAS + address, BIAS + symbols["main"] + 2,
                                                   BIAS + symbols["_start"] + 2])
    trace.add(1500, "syscall_exit_getppid", APP, [], ctf.RETURN, [1])
    directory = os.path.join(work, "inlined-trace")
    trace.write(directory)
    return directory, program, build_id, address, [int(line.split(":")[1].split()[0]) for line in lines[1::2]]


# ---------------------------------------------------------------- Perfetto

def short(found, *keys):
    return [tuple(s["thread"][1] if key == "tid" else s[key] - START if key in ("begin", "end") and s[key] is not None
                  else s[key] for key in keys) for s in found]


def test_perfetto(trace, program, symbols, build_id, work):
    path = os.path.join(work, "main.pftrace")
    run("export", "perfetto", "-o", path, trace)
    read = perfetto.Reader(path)
    app = [s for s in read.slices if s["thread"][0] == 100]
    same("perfetto: slices of the process: thread, name, times, depth", sorted(short(app, "tid", "name", "category",
         "begin", "end", "depth"), key=lambda s: (s[0], s[3])), [
             (100, "read", "system call", 2000, 8000, 0), (100, "off CPU", "off CPU", 2500, 7500, 1),
             (100, "openat", "system call", 9100, 9500, 0), (100, "off CPU", "off CPU", 10000, 10300, 0),
             (100, "exit_group", "system call", 11000, None, 0),
             (101, "futex", "system call", 3000, 9000, 0), (101, "off CPU", "off CPU", 3100, 8900, 1)])
    same("perfetto: names of threads and processes", (sorted(set(read.threads.values()))[:2], read.processes[100]),
         ([(100, 100, "app"), (100, 101, "app")], "app"))
    deep = next(s for s in app if s["name"] == "futex")
    same("perfetto: a call stack, innermost first, with object, build-id and address", deep["frames"],
         [{"name": name, "object": program, "build_id": build_id, "address": symbols[name] + 2, "line": 0, "file": ""}
          for name in ("recursive", "recursive", "recursive", "main", "_start")])
    same("perfetto: a time off the CPU has the stack of its begin", [f["name"] for f in app[1]["frames"]],
         ["reader", "main", "_start"])
    same("perfetto: why a thread is off the CPU", [s["args"]["in"] for s in app if s["name"] == "off CPU"],
         ["read", "futex", "preempted"])
    same("perfetto: results and failures of system calls", [(s["name"], s["args"]) for s in app if s["name"] != "off CPU"],
         [("read", {"ret": 5}), ("futex", {"ret": -110, "failed": True}), ("openat", {"ret": -2, "failed": True}),
          ("exit_group", {})])
    same("perfetto: other events are instants; an incomplete stack is marked",
         [(i["name"], i["begin"] - START, [f["name"] for f in i["frames"]]) for i in read.instants],
         [("block_rq_issue", 10400, ["opener", "main", "[stack ends here]"])])
    check("perfetto: control characters and bad UTF-8 are replaced",
          (300, 300, "</script><img src=x onerror=alert(1)>\ufffd[31m\ufffd") in read.threads.values(), read.threads)


def test_perfetto_wakeups(trace, work):
    path = os.path.join(work, "wakeups.pftrace")
    run("export", "perfetto", "-o", path, trace)
    read = perfetto.Reader(path)
    same("perfetto: a flow from the event that wakes to the end of the wait",
         [(s["name"], s["thread"][1], s["begin"] - START, s["flows_out"], s["flows_in"])
          for s in read.slices + read.instants if s["flows_out"] or s["flows_in"]],
         [("sched_waking", 100, 1300, [1], []), ("woken", 101, 1500, [], [1])])
    same("perfetto: arguments of each kind", [s["args"] for s in read.slices if s["name"] in ("futex", "socket")],
         [{"uaddr": "0x7fff00001234", "op": -128, "ret": 0},
          {"family": 2, "type": 1, "name": 'a "\ufffd\\\ufffd é', "bytes": [7, 8, 9], "ret": 3}])
    same("perfetto: slices of a thread whose events were lost, and which ends",
         short([s for s in read.slices if s["thread"][1] == 101][2:], "name", "begin", "end", "depth"),
         [("read", 2000, 2200, 0), ("off CPU", 2100, 2200, 1), ("write", 2200, 2300, 0), ("exit", 2400, 2500, 0)])
    same("perfetto: a call that does not return has no end",
         short([s for s in read.slices if s["end"] is None], "name", "begin"), [("pause", 9000)])


def test_perfetto_inlined(inlined, work):
    trace, program, build_id, address, lines = inlined
    path = os.path.join(work, "inlined.pftrace")
    run("export", "perfetto", "-o", path, trace)
    same("perfetto: an inlined function and its caller have one address, and their lines",
         [(f["name"], f["address"], f["line"], os.path.basename(f["file"])) for f in perfetto.Reader(path).slices[0]["frames"][:2]],
         [("inner", address, lines[0], "inlined.c"), ("outer", address, lines[1], "inlined.c")])


def test_perfetto_contexts(work):
    """Traces whose events have no process, or no thread."""
    for contexts, name in ((("callstack_user", "tid", "procname"), "app 101"), (("callstack_user",), "events of unknown threads")):
        trace = ctf.Trace(contexts=contexts)
        trace.add(1000, "syscall_entry_read", THREAD, [0x1234])
        directory, path = os.path.join(work, "contexts-%d" % len(contexts)), os.path.join(work, "contexts.pftrace")
        trace.write(directory)
        run("export", "perfetto", "-o", path, directory)
        read = perfetto.Reader(path)
        same("perfetto: a track without a process: %s" % name, [s["thread"] for s in read.slices + read.instants], [name])


def peak(*arguments):
    """Returns the largest memory of a command in KB."""
    child = subprocess.Popen([analyze.KUNWIND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return usage.ru_maxrss


def test_perfetto_memory(program, symbols, build_id, work):
    trace = ctf.Trace()
    at = stack(symbols, "reader", "main", "_start")
    trace.add(900, "kunwind_map", APP, (), ctf.MAP,
              [APP[0], APP[0], BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
    for i in range(60000):
        trace.add(1000 + 10 * i, "syscall_entry_openat", APP, at, [("filename", "string")], ["/a/file/number/%d" % i])
        trace.add(1005 + 10 * i, "syscall_exit_openat", APP, at, ctf.RETURN, [3])
    directory, path = os.path.join(work, "many"), os.path.join(work, "many.pftrace")
    trace.write(directory)
    report, export = peak("report", directory), peak("export", "perfetto", "-o", path, directory)
    check("perfetto: memory does not grow with the number of events", export < report + 2000,
          "report %d KB, export %d KB" % (report, export))
    size = os.path.getsize(path) / 120000
    check("perfetto: at most 40 bytes for each event with one argument", size <= 40, size)


def test_trace_processor(work):
    """The same with Perfetto's own reader."""
    if not perfetto.trace_processor():
        tap.skip("perfetto: its own reader", "no trace_processor_shell")
        return

    def rows(name, sql):
        return perfetto.query(os.path.join(work, name), sql, work)

    errors = "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
    for name in ("main.pftrace", "wakeups.pftrace", "inlined.pftrace"):
        same("trace processor: no error in %s" % name, rows(name, errors), [])
    same("trace processor: slices", rows("main.pftrace", """
        SELECT tid, s.name, s.category, s.ts - %d, s.dur, s.depth FROM slice s JOIN thread_track t ON s.track_id = t.id
        JOIN thread USING (utid) JOIN process USING (upid) WHERE pid = 100 AND s.dur != 0 ORDER BY tid, s.ts""" % START), [
            ("100", "read", "system call", "2000", "6000", "0"), ("100", "off CPU", "off CPU", "2500", "5000", "1"),
            ("100", "openat", "system call", "9100", "400", "0"), ("100", "off CPU", "off CPU", "10000", "300", "0"),
            ("100", "exit_group", "system call", "11000", "-1", "0"),
            ("101", "futex", "system call", "3000", "6000", "0"), ("101", "off CPU", "off CPU", "3100", "5800", "1")])
    same("trace processor: names", rows("main.pftrace", """
        SELECT pid, tid, process.name, thread.name FROM thread JOIN process USING (upid) WHERE pid = 100 ORDER BY tid"""),
         [("100", "100", "app", "app"), ("100", "101", "app", "app")])
    same("trace processor: a call stack", rows("main.pftrace", """
        WITH RECURSIVE up(id, parent, frame, depth) AS (
          SELECT c.id, c.parent_id, c.frame_id, c.depth FROM __intrinsic_track_event_callstacks t JOIN slice s ON t.slice_id = s.id
          JOIN stack_profile_callsite c ON t.callsite_id = c.id WHERE s.name = 'futex'
          UNION ALL SELECT c.id, c.parent_id, c.frame_id, c.depth FROM up JOIN stack_profile_callsite c ON up.parent = c.id)
        SELECT f.name, length(m.build_id) FROM up JOIN stack_profile_frame f ON up.frame = f.id
        JOIN stack_profile_mapping m ON f.mapping = m.id ORDER BY depth DESC"""),
         [(name, "40") for name in ("recursive", "recursive", "recursive", "main", "_start")])
    same("trace processor: arguments", rows("wakeups.pftrace", """
        SELECT a.key, coalesce(a.int_value, a.string_value) FROM slice s JOIN args a USING (arg_set_id)
        WHERE s.name = 'futex' AND a.key LIKE 'debug.%' ORDER BY a.key"""),
         [("debug.op", "-128"), ("debug.ret", "0"), ("debug.uaddr", str(0x7fff00001234))])
    same("trace processor: the flow", rows("wakeups.pftrace", """
        SELECT o.name, i.name, i.ts - %d FROM flow JOIN slice o ON slice_out = o.id JOIN slice i ON slice_in = i.id""" % START),
         [("sched_waking", "woken", "1500")])


# ---------------------------------------------------------------- pprof

def build_pprof(work):
    """Builds pprof from Debian's package. Returns its path, or None."""
    source = "/usr/share/gocode/src/github.com/google/pprof"
    if not os.path.isdir(source) or not shutil.which("go"):
        return None
    program = os.path.join(work, "pprof")
    subprocess.run(["go", "build", "-o", program, "github.com/google/pprof"], check=True,
                   env={**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "",
                        "GOCACHE": os.environ.get("GOCACHE", os.path.join(work, "go"))})
    return program


def pprof(program, work, weight, path, *options):
    done = subprocess.run([program, "-symbolize=none", "-sample_index=" + weight, "-nodefraction=0", "-edgefraction=0",
                           "-nodecount=100000", "-unit=" + ("count" if weight == "events" else "ns"), *options, path],
                          capture_output=True, text=True, env={**os.environ, "PPROF_TMPDIR": work, "HOME": work})
    if done.returncode:
        check("pprof reads the profile", False, done.stderr)
    return done.stdout


def number(text):
    """pprof prints 5800ns, but large counts with a unit of their own never."""
    return round(float(re.sub("[a-z]*$", "", text)))


def top(text):
    """Returns flat and cumulative value of each function."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
    return {line.split(None, 5)[5].replace(" (inline)", ""): (number(line.split()[0]), number(line.split()[3])) for line in lines[at + 1:]}


def traces(text):
    """Returns value, labels and functions of each stack."""
    found = []
    for block in re.split(r"-{10,}\+-*\n", text)[1:]:
        labels, value, functions = {}, None, []
        for line in block.splitlines():
            label = re.match(r" *([a-z]+):\s+(.*)$", line)
            if label and value is None:
                labels[label[1]] = label[2]
            elif line.strip():
                first = re.match(r" *([0-9.]+(?:ns|count)?|0) {2,}(.*)$", line) if value is None else None
                if first:
                    value = number(first[1])
                functions.append((first[2] if first else line).strip())
        if functions:
            found.append((value, labels, functions))
    return found


def test_pprof(trace, inlined, build_id, work):
    path = os.path.join(work, "profile.pb.gz")
    run("export", "pprof", "-o", path, trace)
    program = build_pprof(work)
    if not program:
        tap.skip("pprof", "scripts/setup test")
        return
    report = json.loads(run("report", "--json", trace).stdout)
    keys = {"events": "events", "blocked": "blocked_ns", "off-cpu": "off_cpu_ns"}
    for weight in WEIGHTS:
        rows = top(pprof(program, work, weight, path, "-top"))
        same("pprof -top, %s: functions as in kunwind report" % weight,
             {name: cum for name, (_, cum) in rows.items() if " " not in name},
             {f["name"]: f[keys[weight]] for f in report["functions"] if f[keys[weight]]})
        wanted = {"events": {"system call " + c["name"]: c["count"] for c in report["system_calls"]},
                  "blocked": {"system call " + c["name"]: c["ns"] for c in report["system_calls"] if c["ns"]},
                  "off-cpu": {"off CPU " + c["name"]: c["ns"] for c in report["off_cpu"]}}[weight]
        if weight == "events":
            wanted.update({"event " + e["name"]: e["count"] for e in report["events"]})
        same("pprof -top, %s: system calls, causes and events as in kunwind report" % weight,
             {name: flat for name, (flat, _) in rows.items() if flat}, wanted)
    found = [t for t in traces(pprof(program, work, "blocked", path, "-traces")) if t[0]]
    same("pprof -traces: stacks and labels",
         sorted((value, labels.get("thread"), labels.get("process"), labels.get("tid"), labels.get("pid"), functions)
                for value, labels, functions in found if labels.get("pid") == "100"),
         [(400, "app", "app", "100", "100", ["system call openat", "opener", "main", "_start"]),
          (6000, "app", "app", "100", "100", ["system call read", "reader", "main", "_start"]),
          (6000, "app", "app", "101", "100", ["system call futex", "recursive", "recursive", "recursive", "main", "_start"])])
    off = sum(value for value, _, _ in traces(pprof(program, work, "off-cpu", path, "-traces")))
    same("pprof -traces, off-cpu: the sum is that of kunwind report", off, sum(c["ns"] for c in report["off_cpu"]))
    raw = pprof(program, work, "events", path, "-raw")
    check("pprof -raw: the mapping has its build-id", build_id in raw, raw)
    check("pprof: the default weight is blocked", "events/count blocked/nanoseconds[dflt] off-cpu/nanoseconds lock/nanoseconds cpu/nanoseconds" in raw, raw)
    same("pprof: time and duration of the trace", re.findall(r"^(?:Time|Duration): (.*)$", raw, re.M),
         ["2023-11-14 22:13:20.000001 +0000 UTC", "10µs"])

    trace, _, build_id, address, lines = inlined
    run("export", "pprof", "-o", path, trace)
    raw = pprof(program, work, "blocked", path, "-raw")
    check("pprof: an inlined function and its caller are one location, with lines",
          re.search(r"0x%x M=\d+ inner \S*inlined.c:%d.*\n\s+outer \S*inlined.c:%d" % (address, *lines), raw), raw)


# ---------------------------------------------------------------- speedscope

def test_speedscope(trace, work):
    path = os.path.join(work, "speedscope.json")
    run("export", "speedscope", "-o", path, trace)
    with open(path) as file:
        data = json.load(file)
    names = [frame["name"] for frame in data["shared"]["frames"]]

    def segments(profile):
        """Returns begin, end and stack of each stretch of time that has a stack."""
        found, now = [], 0
        for indices, weight in zip(profile["samples"], profile["weights"]):
            if indices:
                found.append((now, now + weight, ";".join(names[i] for i in indices)))
            now += weight
        return found, now

    same("speedscope: a profile for each thread, in the time of the trace",
         [(p["name"], p["type"], p["unit"], p["startValue"], p["endValue"], segments(p)[1]) for p in data["profiles"]][:2],
         [("app 100", "sampled", "nanoseconds", 0, 10000, 10000), ("app 101", "sampled", "nanoseconds", 0, 10000, 10000)])
    same("speedscope: system calls at their times, and when they were off the CPU", segments(data["profiles"][0])[0],
         [(1000, 1500, "app;_start;main;reader;read"), (1500, 6500, "app;_start;main;reader;read;off CPU"),
          (6500, 7000, "app;_start;main;reader;read"), (8100, 8500, "app;_start;main;opener;openat")])
    check("speedscope: all lists have one length",
          all(len(p["weights"]) == len(p["samples"]) for p in data["profiles"]))
    off = json.loads(run("export", "speedscope", "--weight", "off-cpu", trace).stdout)
    names = [frame["name"] for frame in off["shared"]["frames"]]
    same("speedscope, off-cpu: times off the CPU", segments(off["profiles"][0])[0],
         [(1500, 6500, "app;_start;main;reader;read"), (9000, 9300, "app;_start;main;reader;preempted")])
    events = json.loads(run("export", "speedscope", "--weight", "events", trace).stdout)
    same("speedscope, events: each event counts 1", sum(sum(p["weights"]) for p in events["profiles"]), 9)
    same("speedscope, events: the axis of each thread ends after its events",
         [(p["startValue"], p["endValue"]) for p in events["profiles"]], [(0, sum(p["weights"])) for p in events["profiles"]])
    same("speedscope, events: no unit", {p["unit"] for p in events["profiles"]}, {"none"})
    speedscope_itself(path, work)
    schema = os.path.join(package("speedscope"), "dist/release/file-format-schema.json")
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
    if not jsonschema or not os.path.exists(schema):
        tap.skip("speedscope: valid by its schema", "scripts/setup test")
        return
    with open(schema) as file:
        schema = json.load(file)
    for one in (data, off, events):
        try:
            jsonschema.validate(one, schema)
            check("speedscope: valid by its schema", True)
        except jsonschema.ValidationError as error:
            check("speedscope: valid by its schema", False, error)


def speedscope_itself(path, work):
    """Opens the file in speedscope's page, as speedscope's command does."""
    page = os.path.join(package("speedscope"), "dist/release/index.html")
    if not flamegraph.browser() or not os.path.exists(page):
        return
    script = os.path.join(work, "profile.js")
    with open(path, "rb") as profile, open(script, "w") as file:
        file.write('speedscope.loadFileFromBase64("x.json", "%s")' % base64.b64encode(profile.read()).decode())
    done = subprocess.run([flamegraph.browser(), "--headless", "--no-sandbox", "--allow-file-access-from-files",
                           "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                           "--virtual-time-budget=10000", "--dump-dom",
                           "file://%s#localProfilePath=%s" % (page, script)],
                          capture_output=True, text=True, timeout=300)
    # the first of two threads with the same time is shown, and there are three
    title = re.search("<title>(.*?)</title>", done.stdout)
    same("speedscope: its page shows the file", title and title[1],
         "testhost: time between entry and exit of system calls - speedscope")
    check("speedscope: its page shows the thread, as one of three", "app 100" in done.stdout and "(1/3)" in done.stdout,
          re.sub(r"<(style|script).*?</\1>", "", done.stdout, flags=re.S))


# ---------------------------------------------------------------- Firefox Profiler

class Profiler:
    """The command line of the Firefox Profiler, with a profile that it has loaded."""

    def __init__(self, path, work):
        self.program = os.path.join(package("@firefox-devtools/profiler-cli"), "dist/profiler-cli.js")
        self.environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": os.path.join(work, "sessions"),
                            "PROFILER_CLI_NO_SYMBOLICATE": "1", "HOME": work, "NODE_NO_WARNINGS": "1"}
        self.path = path

    def missing(self):
        """Returns what is missing on this machine, or None."""
        if not os.path.exists(self.program) or not shutil.which("node"):
            return "scripts/setup test"
        version = int(re.match(r"v(\d+)", tap.run("node", "--version"))[1])
        return None if version >= 20 else "node %d is too old" % version

    def ask(self, *arguments):
        done = subprocess.run(["node", self.program, *arguments], capture_output=True, text=True,
                              env=self.environment, timeout=300)
        if done.returncode:
            raise ValueError(done.stdout + done.stderr)
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.ask(*arguments, "--json"))

    def __enter__(self):
        try:
            self.ask("load", self.path)
        except ValueError:
            # on a busy machine its daemon may be late
            for _ in range(100):
                try:
                    self.ask("status")
                    break
                except ValueError:
                    subprocess.run(["sleep", "0.3"])
        return self

    def __exit__(self, *_):
        self.ask("stop")


def test_firefox_profiler(trace, wakeups, work):
    """The profiler's own code reads the profile, converts it to its format and answers."""
    path = os.path.join(work, "firefox.json")
    run("export", "firefox", "-o", path, wakeups)
    profiler = Profiler(path, work)
    if profiler.missing():
        tap.skip("Firefox Profiler: its own code", profiler.missing())
        return
    with profiler:
        info = profiler.json("profile", "info", "--all")
        threads = {t["tid"]: t["threadHandle"] for p in info["processes"] for t in p["threads"]}
        same("Firefox Profiler: threads", sorted(int(t) for t in threads), [100, 101])
        profiler.ask("thread", "select", threads[next(t for t in threads if int(t) == 100)])
        listed = profiler.json("thread", "markers", "--list", "--limit", "0")["flatMarkers"]
        same("Firefox Profiler: markers and their times in nanoseconds",
             [(m["name"], round(m["start"] * 1e6), round((m.get("duration") or 0) * 1e6)) for m in listed],
             # the profiler counts from the first marker
             [("socket", 200, 600), ("sched_waking", 300, 0), ("sched_wakeup", 400, 0), ("sched_waking", 600, 0),
              ("pause", 8000, 0)])
        marker = profiler.json("marker", "info", next(m["handle"] for m in listed if m["name"] == "socket"))
        same("Firefox Profiler: arguments of a marker", {f["label"]: f["value"] for f in marker["fields"]},
             {"family": 2, "type": 1, "name": 'a "\ufffd\\\ufffd é', "bytes": "7, 8, 9", "ret": 3})
        same("Firefox Profiler: the stack of a marker", [f["name"] for f in marker["stack"]["frames"]],
             ["reader", "main", "_start", "app"])


def test_firefox(trace):
    data = json.loads(run("export", "firefox", trace).stdout)
    shared = data["shared"]
    strings = shared["stringArray"]
    for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
        lengths = {key: len(value) for key, value in shared[name].items() if key != "length"}
        check("firefox: %s: columns of one length" % name,
              set(lengths.values()) == {shared[name]["length"]}, lengths)
    threads = {(t["name"], t["tid"]): t for t in data["threads"] if t["pid"] == "100"}
    same("firefox: threads", sorted(threads), [("app", 100), ("app", 101)])

    def names(index):
        found = []
        while index is not None:
            func = shared["frameTable"]["func"][shared["stackTable"]["frame"][index]]
            found.append(strings[shared["funcTable"]["name"][func]])
            index = shared["stackTable"]["prefix"][index]
        return found

    main = threads["app", 100]
    same("firefox: samples of the main thread",
         [(time, weight, names(at)[0]) for at, time, weight in
          zip(*(main["samples"][key] for key in ("stack", "time", "weight")))],
         [(0.001, 0.006, "read"), (0.0081, 0.0004, "openat")])
    same("firefox: a whole stack", names(main["samples"]["stack"][0]), ["read", "reader", "main", "_start", "app"])
    same("firefox: weights are time", main["samples"]["weightType"], "tracing-ms")
    markers = main["markers"]
    same("firefox: markers", [(strings[n], s, e, names(d["cause"]["stack"])) for n, s, e, d in
         zip(*(markers[key] for key in ("name", "startTime", "endTime", "data")))][:3],
         [("read", 0.001, 0.007, ["reader", "main", "_start", "app"]),
          ("off CPU", 0.0015, 0.0065, ["reader", "main", "_start", "app"]),
          ("sched_switch", 0.0015, None, ["reader", "main", "_start", "app"])])
    same("firefox: markers are intervals or instants, and of a category", list(zip(markers["phase"], (
        data["meta"]["categories"][i]["name"] for i in markers["category"])))[:3],
        [(1, "System call"), (1, "Off the CPU"), (0, "Other")])
    same("firefox: the main thread is that whose number is the process's", sorted(
        (t["tid"], t["isMainThread"]) for t in data["threads"] if t["pid"] == "100"), [(100, True), (101, False)])
    schemas = {s["name"]: {f["key"] for f in s["fields"]} for s in data["meta"]["markerSchema"]}
    check("firefox: each marker has data that its schema names",
          all(set(d) - {"type", "cause"} <= schemas.get(d["type"], set()) for t in data["threads"] for d in t["markers"]["data"]),
          schemas)
    same("firefox: results of system calls", [d.get("ret") for d in markers["data"] if d["type"] in ("read", "openat")], [5, -2])
    check("firefox: parents come before their children",
          all(p is None or p < i for i, p in enumerate(shared["stackTable"]["prefix"])))


def test_unsigned(work):
    """Numbers of 64 bits without a sign: not negative, and exact."""
    trace = ctf.Trace()
    numbers = [(1 << 64) - 1, (1 << 64) - 2, (1 << 53) + 1]
    trace.add(1000, "large", APP, [0x1234], [("first", "decimal"), ("value", "enum"), ("last", "decimal")], numbers)
    directory = os.path.join(work, "unsigned")
    trace.write(directory)
    data = json.loads(run("export", "firefox", "--all", directory).stdout)
    marker = data["threads"][0]["markers"]["data"][0]
    same("firefox: large numbers without a sign", [marker[key] for key in ("first", "value", "last")],
         [str(number) for number in numbers])
    path = os.path.join(work, "unsigned.pftrace")
    run("export", "perfetto", "--all", "-o", path, directory)
    same("perfetto: a large value of an enumeration without a label",
         perfetto.Reader(path).instants[0]["args"]["value"], str(numbers[1]))


def main():
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        wakeups = make_wakeups(work, program, symbols, build_id)
        inlined = make_inlined(work)
        if shutil.which("protoc"):
            test_perfetto(trace, program, symbols, build_id, work)
            test_perfetto_wakeups(wakeups, work)
            test_perfetto_inlined(inlined, work)
            test_perfetto_contexts(work)
            test_perfetto_memory(program, symbols, build_id, work)
            test_trace_processor(work)
            test_unsigned(work)
        else:
            tap.skip("perfetto", "scripts/setup test")
        test_pprof(trace, inlined, build_id, work)
        test_speedscope(trace, work)
        test_firefox(trace)
        test_firefox_profiler(trace, wakeups, work)
    tap.finish()


if __name__ == "__main__":
    main()
