#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the options that select a part of a trace: --from, --to, --tid, --comm, --duration.

First with the trace of analyze.py at the edges of its events, then with traces of
random calls, for which this program calculates the sums itself.
"""

import json
import os
import random
import shutil
import subprocess
import tempfile

import analyze
import ctf
import perfetto
import tap
from analyze import KUNWIND, run, table
from tap import check, same

tap.suite = "filters"
BEGIN = 1000  # time of the first event


def report(trace, *options, status=0):
    done = run("report", "--json", *options, trace, status=status)
    return json.loads(done.stdout) if done.returncode == 0 else None


def calls(data):
    return table(data["system_calls"], "count", "timed", "ns", "off_cpu_ns")


def waits(data):
    return table(data["off_cpu"], "count", "ns")


def seconds(time):
    """The option's value for a time of the trace."""
    return "%d.%09d" % divmod(time - BEGIN, 10**9)


def test_edges(trace):
    """Windows that begin or end at the time of an event, or 1 ns beside it."""
    for start, wanted in ((8000, {"futex": (1, 1, 1000, 900)}), (7999, {"futex": (1, 1, 1001, 901), "read": (1, 1, 1, 0)}),
                          (2000, {"futex": (1, 1, 6000, 5800), "read": (1, 1, 6000, 5000)}),
                          (2001, {"futex": (1, 1, 6000, 5800), "read": (1, 1, 5999, 5000)})):
        same("--from %d: calls" % start, calls(report(trace, "--from", seconds(start), "--to", seconds(9100), "--pid", "100")), wanted)
    for stop, wanted in ((3000, {"read": (1, 1, 1000, 500)}), (3001, {"read": (1, 1, 1001, 501), "futex": (1, 1, 1, 0)}),
                         (2001, {"read": (1, 1, 1, 0)})):
        same("--to %d: calls" % stop, calls(report(trace, "--to", seconds(stop))), wanted)
    same("a window within two waits: both have its length", waits(report(trace, "--from", seconds(4000), "--to", seconds(4010))),
         {"read": (1, 10), "futex": (1, 10)})
    same("a wait that ends at --from is outside", waits(report(trace, "--from", seconds(7500), "--to", seconds(7510))), {"futex": (1, 10)})
    same("an event at --from is inside", table(report(trace, "--from", seconds(10400), "--to", seconds(10401))["events"], "count"),
         {"block_rq_issue": (1,)})
    check("an event at --to is outside", "no events" in run("report", "--from", seconds(10399), "--to", seconds(10400), trace, status=1).stderr)
    facts = report(trace, "--from", seconds(8000), "--to", seconds(9000))["trace"]
    same("the report names the window, and counts its threads and stacks", [facts[k] % 10**9 for k in (
        "begin_ns", "end_ns")] + [facts[k] for k in ("threads", "stacks")], [8000, 9000, 1, 2])
    same("a call that does not return counts, without a time", calls(report(trace, "--from", seconds(11000))), {"exit_group": (1, 0, 0, 0)})
    for command in ("report", "flamegraph"):
        check("%s: a call that does not return does not count after the end of the trace" % command,
              "no events of the threads and times" in
              run(command, *(("-o", "-") if command == "flamegraph" else ()), "--from", seconds(11001), trace, status=1).stderr)
    same("a clock time is that of show", calls(report(trace, "--from", "22:13:20.000008", "--to", "22:13:20.0000091")),
         {"futex": (1, 1, 1000, 900)})
    same("--event and --from", calls(report(trace, "--from", seconds(4000), "--event", "read")), {"read": (2, 2, 4100, 3500)})


def test_reversed(trace):
    """The trace begins at 22:13:20 UTC."""
    for start, stop in (("22:13:30", "22:13:25"), ("22:13:25", "22:13:25"), ("00:00:01", "22:14:00"), ("60", "22:13:30")):
        for command in ("report", "show", "waits"):
            done = run(command, "--own" if command == "show" else "--all", "--from", start, "--to", stop, trace, status=1)
            check("%s --from %s --to %s: a message says that the times are reversed" % (command, start, stop),
                  "--from must be before --to\n" in done.stderr, done.stderr)
    report(trace, "--from", "22:13:20", "--to", "00:00:01")


def test_daylight_saving(work):
    """Traces with an event each minute around the end of daylight saving time, at 01:00 UTC."""
    end = 1698541200
    for start, wanted in ((-1800, {"02:30:00": 61, "02:59:00": 32, "02:00:00": 31, "02:29:00": 2, "02:29:59": 1, "03:00:00": 0}),
                          (-5400, {"01:30:00": 61, "02:00:00": 31, "02:30:00": 1, "02:30:01": 0}),
                          (0, {"02:00:00": 61, "02:59:00": 2, "03:00:00": 1})):
        ticks = ctf.Trace(seconds=end + start)
        for minute in range(61):
            ticks.add(minute * 60 * 10**9 + BEGIN, "tick", (1, 1, "app"))
        directory = os.path.join(work, "ticks%d" % start)
        ticks.write(directory)
        for clock, number in wanted.items():
            shown = subprocess.run([KUNWIND, "show", "--tsv", "--from", clock, directory], capture_output=True, text=True,
                                   env={**os.environ, "TZ": "CET-1CEST,M3.5.0,M10.5.0/3"}, check=False).stdout
            same("a trace from %d s before the end of daylight saving time, --from %s: number of events" % (-start, clock),
                 shown.count("event\t"), number)


def test_durations(trace):
    for value, wanted, off in (
            ("6us", {"read": (1, 1, 6000, 5000), "futex": (1, 1, 6000, 5800)}, {}),
            ("6001ns", None, None), ("5us..5.8us", {}, {"read": (1, 5000), "futex": (1, 5800)}),
            ("5001ns..5800ns", {}, {"futex": (1, 5800)}), ("5us..5.799us", {}, {"read": (1, 5000)}),
            ("100ns..400ns", {"read": (1, 1, 100, 0), "openat": (1, 1, 400, 0)}, {"preempted": (1, 300)}),
            ("101ns..399ns", {}, {"preempted": (1, 300)}),
            ("0ns", {"read": (2, 2, 6100, 5000), "futex": (1, 1, 6000, 5800), "openat": (1, 1, 400, 0),
                     "exit_group": (1, 0, 0, 0)}, {"read": (1, 5000), "futex": (1, 5800), "preempted": (1, 300)})):
        data = report(trace, "--duration", value, status=0 if wanted is not None else 1)
        if data:
            same("--duration %s: calls, waits and other events" % value, (calls(data), waits(data), data["events"]), (wanted, off, []))
        else:
            check("--duration %s: none is so long" % value, wanted is None)
    same("--duration is that of the whole call, --from cuts its time",
         calls(report(trace, "--duration", "6us", "--from", seconds(8500))), {"futex": (1, 1, 500, 400)})


def test_values(trace):
    """Times and durations as the user writes them."""
    same("--from with zeros after the ninth decimal place",
         calls(report(trace, "--from", seconds(8000) + "000", "--to", seconds(9100) + "0")),
         calls(report(trace, "--from", seconds(8000), "--to", seconds(9100))))
    for value in ("0.0000000001", "22:13:60", "22:60:20", "24:13:20", "22:13:20.0000000001", "22:13", "1.", ".5", "1.5s"):
        check("--from %s: a message" % value, "--from takes seconds" in run("report", "--from", value, trace, status=2).stderr)
    report(trace, "--from", "22:13:20", "--to", "22:13:59.999999999")
    same("--duration with equal limits", calls(report(trace, "--duration", "6us..6us")),
         {"read": (1, 1, 6000, 5000), "futex": (1, 1, 6000, 5800)})
    for value in ("0ns..1000000000ns", "0ns..90000000000000000ns", "0us..1000000000us"):
        same("--duration %s: a number with many digits" % value, calls(report(trace, "--duration", value)),
             calls(report(trace, "--duration", "0ns..1s")))
    same("the last --duration counts, even if it has no maximum",
         calls(report(trace, "--duration", "1us..2us", "--duration", "6us")),
         {"read": (1, 1, 6000, 5000), "futex": (1, 1, 6000, 5800)})
    check("--duration with reversed limits: a message",
          "--duration takes MIN" in run("report", "--duration", "6us..5us", trace, status=2).stderr)
    link = trace + "-link"
    os.symlink(trace, link)
    same("a symbolic link to a trace, as an argument", calls(report(link)), calls(report(trace)))
    for others in ((trace,), (link,), (trace + "/.", os.path.dirname(trace))):
        done = run("report", "--json", trace, *others)
        same("a trace that several arguments lead to is read once", json.loads(done.stdout)["system_calls"],
             report(trace)["system_calls"])
        check("a trace that several arguments lead to: a message", "given more than once" in done.stderr, done.stderr)
    os.remove(link)
    closed = trace + "-closed"
    shutil.copytree(trace, os.path.join(closed, "trace"))
    os.makedirs(os.path.join(closed, "below"), mode=0)
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    done = subprocess.run([*without, KUNWIND, "report", closed], capture_output=True, text=True, check=False)
    same("an unreadable directory beside a trace: status 1, and a message", (done.returncode, done.stderr),
         (1, "kunwind report: %s/below: Permission denied: use sudo, or let its owner give you the right to read it\n" %
          closed))


def test_threads(trace):
    same("--tid: one thread", calls(report(trace, "--tid", "101")), {"futex": (1, 1, 6000, 5800)})
    same("--tid: the main thread", set(calls(report(trace, "--tid", "100"))), {"read", "openat", "exit_group"})
    same("--comm: a name", set(calls(report(trace, "--comm", "app"))), {"read", "futex", "openat", "exit_group"})
    same("--comm: a pattern", set(calls(report(trace, "--all", "--comm", "o*r"))), {"read"})
    check("--comm: no such thread", "no events" in run("report", "--comm", "ap", trace, status=1).stderr)
    shown = run("show", "--tsv", "--tid", "101", "--from", seconds(3100), "--to", seconds(9000), trace).stdout
    same("show: --tid, --from and --to", [line.split("\t")[3] for line in shown.splitlines() if line.startswith("event")],
         ["sched_switch"])
    check("show: no such thread", "no events of the threads and times" in run("show", "--comm", "ap", trace, status=1).stderr)


def test_lists(trace):
    """An option may be repeated, and takes a list with commas: what one of its items selects."""
    def events(*options):
        lines = run("show", "--tsv", "--own", *options, trace).stdout.splitlines()
        return sorted(line.split("\t")[2:] for line in lines if line.startswith("event"))

    for option, one, two in (("-e", "openat", "read"), ("-p", "100", "300"), ("--tid", "101", "200"), ("--comm", "o*r", "a?p")):
        each = sorted(events(option, one) + events(option, two))
        check("%s: both items select something else" % option, events(option, one) and events(option, two) and
              events(option, one) != events(option, two))
        for options in ((option, one, option, two), (option, "%s,%s" % (two, one))):
            same("show %s: what one of the items selects" % " ".join(options), events(*options), each)
            for more in ((), ("--from", "0")):
                counts = [report(trace, "--all", *more, *choice)["trace"]["events"]
                          for choice in ((option, one), (option, two), options)]
                same("report %s: number of events" % " ".join((*more, *options)), counts[2], counts[0] + counts[1])
            run("flamegraph", "--all", *options, "-o", "-", "--base", trace, trace)
    same("different options: an event must match each", len(events("-e", "read,futex", "--tid", "101,300")),
         len(events("-e", "futex", "--tid", "101")) + len(events("-e", "read", "--tid", "300")))
    for option, value, wanted in (
            ("-e", "openat,,read", "--event: an item of the list is empty"), ("-e", "read,", "--event: an item of the list is empty"),
            ("--comm", ",a", "--comm: an item of the list is empty"), ("-p", "1,x", "--pid takes the number of a process, not: 1,x"),
            ("-p", "1,", "--pid takes the number of a process, not: 1,"), ("--tid", "1,,2", "--tid takes the number of a thread, not: 1,,2")):
        for command in ("show", "report"):
            check("%s %s %s: an error" % (command, option, value), wanted in run(command, option, value, trace, status=2).stderr)
    for options, wanted in ((("-p", "77,78"), "no event of processes 77, 78: the trace has processes 100, 200, 0, 300"),
                            (("-e", "x", "-e", "y"), 'no event matches "x,y": the trace has ')):
        check("show %s: the message names all items" % " ".join(options), wanted in run("show", *options, trace, status=1).stderr)
    for options, nothing in (
            (("-e", "read,opneat"), ("--event opneat",)), (("-e", "opneat,read", "-e", "x*"), ("--event opneat", "--event x*")),
            (("-e", "syscall_*,read"), ()), (("-e", "read,*"), ()), (("-e", "*,read"), ()), (("--comm", "app,ap"), ("--comm ap",)),
            (("-e", "read,block_rq_issue", "--pid", "200"), ("--event block_rq_issue",))):
        for command in (("show",), ("show", "--summary"), ("report",), ("export", "folded")):
            done = run(*command, "--own" if command[0] == "show" else "--all", *options, trace).stderr
            same("%s %s: a message for each item without events" % (" ".join(command), " ".join(options)),
                 [line for line in done.splitlines() if "selects nothing" in line],
                 ["kunwind %s: %s selects nothing" % (command[0], item) for item in nothing])
    base = ctf.Trace()
    base.add(1, "syscall_entry_read", (7, 7, "app"), [0x1234])
    base.write(trace + "-base")
    done = run("flamegraph", "--all", "-e", "read,openat", "--comm", "app,other", "-o", "-", "--base", trace + "-base", trace).stderr
    same("flamegraph --base: a message for each item without events in the base", done.splitlines()[-2:],
         ["kunwind flamegraph: base: --%s selects nothing" % item for item in ("event openat", "comm other")])
    done = run("show", "--own", "-n", "1", "-e", "read,opneat", trace).stderr
    check("show -n: no message about patterns, because the rest of the trace is not read",
          "selects nothing" not in done, done)


def test_entries(trace):
    """The name of a system call, and that of its entry."""
    for name, wanted in (("read", (2, 2, 6100, 5000)), ("futex", (1, 1, 6000, 5800))):
        for pattern in (name, "syscall_entry_" + name, "syscall_entry_%s*" % name[:3]):
            data = report(trace, "-e", pattern)
            same("-e %s: calls, and the waits in them" % pattern, (calls(data), waits(data)), ({name: wanted}, {name: (1, wanted[3])}))


def test_counts(trace):
    """The number of events is that of the events that show prints."""
    for options in (["-e", "read"], ["-e", "sched_switch"], ["-e", "[!k]*"],
                    ["-e", "[!k]*", "--comm", "app"], ["-e", "read", "--from", seconds(2001)],
                    ["-e", "[!k]*", "--tid", "101", "--to", seconds(9000)]):
        shown = sum(line.startswith("event\t") for line in
                    run("show", "--own", "--tsv", *options, trace).stdout.splitlines())
        for command in ("report", "waits"):
            data = json.loads(run(command, "--all", "--json", *options, trace).stdout)
            same("%s --all %s: number of events" % (command, " ".join(options)), data["trace"]["events"], shown)


def test_exports(trace, work):
    options = ("--from", seconds(8000), "--to", seconds(9200))
    for weight, wanted in (("blocked", {1000, 100}), ("off-cpu", {900})):
        lines = run("export", "folded", "--weight", weight, *options, trace).stdout.splitlines()
        same("export folded of a window: %s" % weight, {int(line.rsplit(" ", 1)[1]) for line in lines}, wanted)
    profile = json.loads(run("export", "firefox", *options, trace).stdout)
    strings = profile["shared"]["stringArray"]
    markers = [(strings[name], round(start * 10**6), round(end * 10**6)) for thread in profile["threads"] for name, start, end in zip(
        *(thread["markers"][key] for key in ("name", "startTime", "endTime"))) if end is not None]
    same("export firefox of a window: markers", sorted(markers), [("futex", 0, 1000), ("off CPU", 0, 900), ("openat", 1100, 1200)])
    if shutil.which("protoc"):
        path = os.path.join(work, "window.pftrace")
        run("export", "perfetto", "-o", path, *options, trace)
        slices = perfetto.Reader(path).slices
        same("export perfetto of a window: slices", sorted((s["name"], s["begin"] % 10**9, s["end"] % 10**9) for s in slices),
             [("futex", 8000, 9000), ("off CPU", 8000, 8900), ("openat", 9100, 9200)])
        run("export", "perfetto", "-o", path, "--duration", "5900ns", trace)
        same("export perfetto --duration: slices", sorted(s["name"] for s in perfetto.Reader(path).slices), ["futex", "read"])
    else:
        tap.skip("export perfetto of a window: slices", "no protoc")


def test_unselected(work):
    """A thread that waits for a lock, and the call of the holder: options may select neither."""
    waiter, holder, nobody = (100, 101, "waiter"), (100, 102, "holder"), (0, 0, "swapper/0")
    trace = ctf.Trace()
    trace.add(BEGIN, "syscall_entry_futex", waiter, [0x1111], ctf.FUTEX, [0x7000, 0x80, 2])
    trace.add(1100, "sched_switch", waiter, [0x1111], ctf.SWITCH, [101, 1, 0])
    trace.add(5000, "syscall_entry_futex", holder, [0x2222], ctf.FUTEX, [0x7000, 0x81, 1], cpu=1)
    trace.add(5100, "sched_waking", holder, [0x2222], ctf.WAKING, ["waiter", 101], cpu=1)
    trace.add(5200, "syscall_exit_futex", holder, [0x2222], ctf.RETURN, [1], cpu=1)
    trace.add(6000, "sched_switch", nobody, (), ctf.SWITCH, [0, 0, 101])
    trace.add(6100, "syscall_exit_futex", waiter, [0x1111], ctf.RETURN, [0])
    directory = os.path.join(work, "unselected")
    trace.write(directory)
    for options in ((), ("--tid", "101"), ("--comm", "waiter"), ("-e", "futex"), ("-e", "sched_switch"),
                    ("-e", "sched_switch", "--from", "0"), ("--sort", "lock", "--tid", "101")):
        data = report(directory, *options)
        same("report %s: the wait is in the call" % " ".join(options), waits(data), {"futex": (1, 4900)})
        same("report %s: time blocked by locks" % " ".join(options), max(row["lock_ns"] for row in data["functions"]), 4000)


def random_trace(work, seed):
    """Writes a trace of random calls with waits. Returns its path and (name, begin, end, waits) of each call."""
    chance = random.Random(seed)
    events, truth = [(BEGIN, 0, "first", (1, 1, "app"), (), ())], []
    for tid in range(2, 7):
        now = BEGIN + chance.randrange(50)
        thread = (1, tid, "app")
        for _ in range(40):
            now += chance.randrange(1, 30)
            name, begin, inside = chance.choice(("read", "futex", "poll")), now, []
            events.append((now, tid, "syscall_entry_" + name, thread, (), ()))
            for _ in range(chance.randrange(3)):
                away = now + chance.randrange(1, 20)
                now = away + chance.randrange(1, 200)
                events.append((away, tid, "sched_switch", thread, ctf.SWITCH, (tid, 1, 0)))
                events.append((now, tid, "sched_switch", (0, 0, "idle"), ctf.SWITCH, (0, 0, tid)))
                inside.append((away, now))
            now += chance.randrange(1, 100)
            events.append((now, tid, "syscall_exit_" + name, thread, ctf.RETURN, (0,)))
            truth.append((name, begin, now, inside))
    trace = ctf.Trace()
    for time, _, name, thread, fields, values in sorted(events, key=lambda event: event[:2]):
        trace.add(time, name, thread, (0x1234,), fields, values)
    directory = os.path.join(work, "random-%d" % seed)
    trace.write(directory)
    return directory, truth


def sums(truth, start, stop, shortest, longest):
    """Returns what the report must have: the tables of calls and of waits."""
    of_calls, of_waits = {}, {}

    def part(begin, end):
        """Time in the window; None: the options do not select it."""
        if not shortest <= end - begin <= longest or begin >= stop or (begin < start and end <= start):
            return None
        return min(end, stop) - max(begin, start)

    for name, begin, end, inside in truth:
        time = part(begin, end)
        if time is not None:
            count, timed, ns, off = of_calls.get(name, (0, 0, 0, 0))
            off += sum(max(0, min(b, stop) - max(a, start)) for a, b in inside)
            of_calls[name] = (count + 1, timed + 1, ns + time, off)
        for away, back in inside:
            time = part(away, back)
            if time is not None:
                count, ns = of_waits.get(name, (0, 0))
                of_waits[name] = (count + 1, ns + time)
    return of_calls, of_waits


def test_random(work):
    for seed in range(3):
        trace, truth = random_trace(work, seed)
        chance, wrong = random.Random(seed), []
        last = max(end for _, _, end, _ in truth)
        for _ in range(5):
            # at the time of an event or beside it: the edges count
            start, stop = sorted(chance.sample([call[i] + d for call in truth for i in (1, 2) for d in (-1, 0, 1)], 2))
            shortest, longest = sorted((chance.randrange(300), chance.randrange(300)))
            if start == stop:
                continue
            for options, wanted in (
                    (("--from", seconds(start), "--to", seconds(stop)), sums(truth, start, stop, 0, last)),
                    (("--to", seconds(stop)), sums(truth, 0, stop, 0, last)),
                    (("--from", seconds(start), "--duration", "%dns..%dns" % (shortest, longest)),
                     sums(truth, start, last + 1, shortest, longest)),
                    (("--duration", "%dns" % shortest), sums(truth, 0, last + 1, shortest, last))):
                done = subprocess.run([KUNWIND, "report", "--json", "--comm", "app", *options, trace], capture_output=True, text=True)
                data = json.loads(done.stdout) if done.returncode == 0 else {"system_calls": [], "off_cpu": []}
                if (calls(data), waits(data)) != wanted:
                    wrong.append((options, (calls(data), waits(data)), wanted))
        check("random calls %d: each sum is that of the calculation" % seed, not wrong, "\n".join(map(str, wrong[:3])))


def main():
    os.environ["TZ"] = "UTC"
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        test_edges(trace)
        test_reversed(trace)
        test_daylight_saving(work)
        test_durations(trace)
        test_values(trace)
        test_threads(trace)
        test_lists(trace)
        test_entries(trace)
        test_counts(trace)
        test_exports(trace, work)
        test_unselected(work)
        test_random(work)
    tap.finish()


if __name__ == "__main__":
    main()
