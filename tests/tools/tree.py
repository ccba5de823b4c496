#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kunwind report --tree, --sort self and the names that --callers takes, on a trace of made-up stacks."""

import json
import os
import re
import subprocess
import tempfile

import ctf
import tap
from analyze import BIAS, run
from tap import check, same

MAIN, SORT, PUSH, LESS, LAMBDA, RUST, LEAF = NAMES = (
    "main", "_Z4sortIiEvT_", "_ZN2ns6vectorIiE9push_backIlEEvRKi", "_ZN2nsltIiEEbRKT_S3_", "_ZZ4mainENKUlvE_clEv",
    "_RINvNtCs1234_3std3mem8align_ofdE", "_ZN12_GLOBAL__N_14leafEv")


def make_trace(work):
    """Writes a trace whose program has functions of these names, of 16 bytes each."""
    source, program = os.path.join(work, "names.s"), os.path.join(work, "names.so")
    with open(source, "w", encoding="ascii") as file:
        for name in NAMES:
            file.write('\t.globl "%s"\n\t.type "%s", @function\n"%s":\n\t.skip 16, 0x90\n\t.size "%s", 16\n' % ((name,) * 4))
    subprocess.run(["gcc", "-shared", "-nostdlib", "-Wl,--build-id", "-o", program, source], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in
               subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()}
    notes = subprocess.run(["readelf", "-nW", program], capture_output=True, text=True, check=True).stdout
    thread, trace, now = (100, 100, "app"), ctf.Trace(), 1000
    trace.add(1, "kunwind_map", thread, (), ctf.MAP,
              [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, re.search("Build ID: ([0-9a-f]+)", notes)[1], program])

    def call(ns, *functions):
        nonlocal now
        trace.add(now, "syscall_entry_read", thread, [BIAS + symbols[name] + 2 for name in functions])
        trace.add(now + ns, "syscall_exit_read", thread, (), ctf.RETURN, [0])
        now += 10000
    call(1000, SORT, MAIN)
    call(2000, LEAF, SORT, LESS, SORT, MAIN)        # recursive
    call(4000, LEAF, PUSH, LAMBDA, MAIN)
    call(100, RUST, MAIN)
    call(10, LESS, MAIN)
    directory = os.path.join(work, "trace")
    trace.write(directory)
    return directory


def lines(done):
    """Returns depth, name and weight of the lines of a tree."""
    found = []
    for line in done.stdout.splitlines()[1:]:
        weight, name = line[:10].strip(), line[21:]
        found.append((len(name) - len(name.lstrip()) >> 1, name.strip(), weight))
    return found


def main():
    tap.suite = "tree"
    leaf, sort, push, less = "(anonymous namespace)::leaf()", "sort<int>(int)", "ns::vector<int>::push_back<long>(int const&)", "ns::operator< <int>(int const&, int const&)"
    with tempfile.TemporaryDirectory() as work:
        trace = make_trace(work)
        tree = lines(run("report", "--tree", "--least", "0", trace))
        same("tree: the heaviest path is first, and each line is below its caller", tree[:9], [
            (0, "app", "7.110 us"), (1, "[stack ends here]", "7.110 us"), (2, "main", "7.110 us"),
            (3, "main::{lambda()#1}::operator()() const", "4.000 us"), (4, push, "4.000 us"), (5, leaf, "4.000 us"), (6, "read", "4.000 us"),
            (3, sort, "3.000 us"), (4, less, "2.000 us")])
        same("tree: lines below one percent are left out", [line for line in lines(run("report", "--tree", trace)) if line[1] == less], [(4, less, "2.000 us")])
        same("tree: --depth", len(lines(run("report", "--tree", "--depth", "3", trace))), 3)
        same("tree: by number of events; of equal ones, the one that came first", [line[1:] for line in lines(
            run("report", "--tree", "--sort", "events", trace)) if line[0] == 3],
            [(sort, "2"), ("main::{lambda()#1}::operator()() const", "1"), ("std::mem::align_of::<f64>", "1"), (less, "1")])
        part = json.loads(run("report", "--tree", "--json", "--sort", "events", trace).stdout)["tree"][0]
        while part["parts"]:
            part = part["parts"][0]
        same("tree: JSON by number of events has no other number", sorted(part), ["events", "name", "parts"])
        same("tree: callers, to any depth; a stack counts once", lines(run("report", "--tree", "--callers", "sort", "--depth", "4", "--least", "0", trace)),
             [(0, sort, "3.000 us"), (1, less, "2.000 us"), (2, sort, "2.000 us"), (3, "main", "2.000 us"),
              (1, "main", "1.000 us"), (2, "[stack ends here]", "1.000 us"), (3, "app", "1.000 us")])
        same("tree: callees; a stack counts once", lines(run("report", "--tree", "--callees", "sort", trace)),
             [(0, sort, "3.000 us"), (1, less, "2.000 us"), (2, sort, "2.000 us"), (3, leaf, "2.000 us"), (4, "read", "2.000 us"), (1, "read", "1.000 us")])
        found = json.loads(run("report", "--tree", "--json", "--callers", "leaf", trace).stdout)
        same("tree: JSON", [(found["sorted_by"], part["name"], part["ns"], sorted((below["name"], below["ns"]) for below in part["parts"])) for part in found["tree"]],
             [("blocked", leaf, 6000, [(push, 4000), (sort, 2000)])])
        run("report", "--tree", "--callers", "a", "--callees", "b", trace, status=2)

        def callees(name):
            return sorted(line["name"] for line in json.loads(run("report", "--json", "--callees", name, trace).stdout)["callees"])
        for name, wanted in (("sort", [leaf, less, "read"]), ("sort<int>(int)", [leaf, less, "read"]), ("push_back", [leaf]), ("vector::push_back", [leaf]),
                             ("ns::vector::push_back", [leaf]), ("ns::operator<", ["read", sort]), ("align_of", ["read"]), ("std::mem::align_of", ["read"]),
                             ("leaf", ["read"]), ("*push_back*", [leaf]), ("main::{lambda()#1}::operator()", [push])):
            same("--callees %s" % name, callees(name), wanted)
        for name, wanted in (("push_bcak", ": did you mean push_back?"), ("Main", ": did you mean main?"), ("srot", ": did you mean sort?"), ("xyz", "")):
            done = run("report", "--callers", name, trace, status=1)
            check("no function %s: %s" % (name, wanted or "none is near"), 'no function on the stacks matches "%s"%s\n' % (name, wanted) in done.stderr, done.stderr)
        for order, wanted in (("self", [leaf, sort, "std::mem::align_of::<f64>", less]), ("blocked,self", [leaf, sort, "std::mem::align_of::<f64>", less]),
                              ("blocked", ["main", leaf, "main::{lambda()#1}::operator()() const", push])):
            names = [line["name"] for line in json.loads(run("report", "--json", "--sort", order, trace).stdout)["functions"]]
            same("--sort %s" % order, names[:4] if "self" in order else [names[0], *sorted(names[1:4])], wanted if "self" in order else [wanted[0], *sorted(names[1:4])])
    tap.finish()


if __name__ == "__main__":
    main()
