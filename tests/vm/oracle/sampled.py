#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
sampled.py - compare the events kunwind_sample of a trace with a program's own
count of its CPU time (tests/vm/fixtures/burner.c)

    sampled.py TRACE shares BURNER TRUTH [--perf SCRIPT] [--within PERCENT] [--nmi]
    sampled.py TRACE list

shares: by weight, the samples of the first thread have each function's share of
its CPU time; the samples of each thread add up to its CPU time; the first
thread's stacks end at _start, unless a table was not ready, or, with --nmi, the sample was taken in a context switch.
SCRIPT is the output of "perf script -F comm,tid,ip,sym" of the same run, whose shares are compared, too. Prints TAP.

list: prints a line for each sample: COMM TGID TID PERIOD CPU SYSCALL REASON
NR-USER NR-KERNEL, tab-separated.
"""
import argparse
import bisect
import collections
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace                       # noqa: E402
from tap import Tap                 # noqa: E402

FIELD = re.compile(r'(\w+) = (?:\( "([^"]*)" : [^)]*\)|"([^"]*)"|(-?\w+))')
WORD = re.compile(r"\] = (0x[0-9A-Fa-f]+|\d+)")


class Sample:
    def __init__(self, line):
        at = line.index("kunwind_sample: ")
        fields = {name: a or b or c for name, a, b, c in FIELD.findall(line, at)}
        self.comm = fields["comm"]
        self.reason, self.clock = fields["reason"], fields["clock"]
        for name in ("tgid", "tid", "vtid", "period", "cpu_id", "syscall", "stack", "base", "shared"):
            setattr(self, name, int(fields[name], 0))
        self.addresses = words(line, "addresses", int(fields["_addresses_length"]))
        self.kernel = words(line, "callstack_kernel", int(fields["_callstack_kernel_length"]))


def words(line, name, count):
    at = line.index(f" {name} = [")
    found = []
    for match in WORD.finditer(line, at):
        if len(found) == count:
            break
        found.append(int(match[1], 0))
    return found


def samples(directory):
    """
    Yields each sample, with the addresses of its user stack.

    LTTng records events some time before it dumps the state, where all stacks
    are defined again. Until then, an event can have a stack whose definition is
    older than the trace (docs/limits.md). Such a sample is left out. Definitions
    last a second, so this is an error later in the trace.
    """
    stacks, begin, missing = ktrace.WholeStacks(), None, 0
    for event in ktrace.events(directory):
        if event.name != "kunwind_sample":
            continue
        sample, time = Sample(event.line), event.time
        begin = time if begin is None else begin
        try:
            if sample.stack:
                sample.addresses, _ = stacks.whole(sample.stack, sample.base, sample.shared,
                                                   sample.addresses, None)
        except KeyError:
            if time - begin >= 1:
                raise
            missing += 1
            continue
        yield sample
    if missing:
        print(f"# {missing} samples have stacks that were defined before the trace began", file=sys.stderr)


class Functions:
    """The functions of a program that is no PIE."""

    def __init__(self, program):
        out = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True)
        self.of = sorted((int(row[0], 16), int(row[1], 16), row[3])
                         for row in (line.split() for line in out.stdout.splitlines()) if len(row) == 4)

    def name(self, address):
        at = bisect.bisect_right(self.of, (address, 1 << 64, "")) - 1
        if at < 0 or address >= self.of[at][0] + self.of[at][1]:
            return None
        return self.of[at][2]

    def stack(self, addresses):
        return [self.name(address - (i > 0)) for i, address in enumerate(addresses)]


def perf_shares(path, tid):
    """Samples by burn_ function, of a thread."""
    found, ours, names = collections.Counter(), False, set()
    with open(path, encoding="utf-8") as lines:
        for line in list(lines) + ["end 0"]:
            if line[:1].isspace() and len(line.split()) > 1:
                names.add(line.split()[1])
            elif line.strip():
                if ours:
                    found.update(name for name in names if name.startswith("burn_"))
                names, ours = set(), line.split()[-1] == str(tid)
    return found


def shares(args):
    tap = Tap()
    truth, threads = {}, {}
    for row in ktrace.read_tsv(args.truth):
        if row[0] == "function":
            truth[row[1]] = int(row[2])
        else:
            threads[row[2]] = (int(row[1]), int(row[3]))
    functions = Functions(args.burner)
    weight, by_tid, entry = collections.Counter(), collections.Counter(), collections.Counter()
    nr, first_tid, period = 0, threads["burner"][0], math.inf
    for sample in samples(args.trace):
        by_tid[sample.tid] += sample.period
        period = min(period, sample.period)
        if sample.tid != first_tid:
            continue
        nr += 1
        names = functions.stack(sample.addresses)
        if any(name and name.startswith("burn_") for name in names):
            whole = names[-1] == "_start" and "main" in names
            # An NMI in the middle of a context switch cannot read the program's memory (limits.md).
            late = sample.reason == "not_ready" or args.nmi and sample.reason == "unreadable" and sample.kernel
            entry["whole" if whole else "late" if late else "cut"] += 1
            if not whole:
                tap.note(f"{sample.reason}: {' '.join(name or '?' for name in names)}")
        weight.update({name: sample.period for name in names if name and name.startswith("burn_")})
    total, all_true = sum(weight.values()), sum(truth.values())
    tap.note(f"{nr} samples of the first thread")
    tap.test(nr >= args.at_least, f"at least {args.at_least} samples of the first thread")
    for name, ns in sorted(truth.items()):
        got, want = 100 * weight[name] / max(total, 1), 100 * ns / all_true
        tap.note(f"{name}: sampled {got:.2f} %, true {want:.2f} %")
        tap.test(abs(got - want) <= args.within, f"{name} has its share of the samples within {args.within:g} %")
    for name, (tid, ns) in sorted(threads.items()):
        part = 100 * by_tid[tid] / ns
        tap.note(f"thread {name}: weights {by_tid[tid] / 1e9:.3f} s, {part:.1f} % of its CPU time")
        # On a busy host, timers are late: the task that runs then gets the periods that were missed,
        # and a burst that has gone to sleep meanwhile loses its sample. So bursts have fewer samples
        # than their due, by the lateness of the host. A clock that starts a full period after idle
        # gives bursts nearly none, because they are shorter than a period.
        within = 10 if name == "burner" else 50
        tap.test(abs(part - 100) <= within, f"the weights of thread {name} are its CPU time within {within} %")
        tap.test(ns >= 300 * period, f"thread {name} ran long enough to tell")
    tap.note(f"{entry['cut']} stacks of {entry.total()} do not end at _start, and {entry['late']} more "
             "met a table that was not ready" + (" or a context switch" if args.nmi else ""))
    tap.test(entry["whole"] >= 0.9 * entry.total() > 0 and not entry["cut"],
             "the stacks of the first thread have main, and end at _start")
    if args.perf:
        theirs = perf_shares(args.perf, first_tid)
        all_theirs = sum(theirs.values())
        tap.test(all_theirs > 0, "perf has samples of the first thread")
        for name in sorted(truth):
            got, want = 100 * weight[name] / max(total, 1), 100 * theirs[name] / max(all_theirs, 1)
            tap.note(f"{name}: sampled {got:.2f} %, perf {want:.2f} %")
            tap.test(abs(got - want) <= args.within, f"{name} has perf's share of the samples within {args.within:g} %")
    return tap.done()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("trace")
    parser.add_argument("what", choices=("shares", "list"))
    parser.add_argument("burner", nargs="?")
    parser.add_argument("truth", nargs="?")
    parser.add_argument("--perf")
    parser.add_argument("--within", type=float, default=2)
    parser.add_argument("--at-least", type=int, default=10000)
    parser.add_argument("--nmi", action="store_true")
    args = parser.parse_args()
    if args.what == "shares":
        return shares(args)
    for s in samples(args.trace):
        print(s.comm, s.tgid, s.tid, s.period, s.cpu_id, s.syscall, s.reason, len(s.addresses), len(s.kernel), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
