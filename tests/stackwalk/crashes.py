# SPDX-License-Identifier: MIT
"""crashes.py - what the tests of kunwind stackwalk share: programs that crash, and what is right

A program's functions on the way to the crash are called k_..., so what is right is known. Of a
tool's stack, these names and main() count:
    right    all of them, in order
    shorter  the innermost of them, in order
    wrong    any other
For kunwind, a right stack that is not complete is shorter, and a shorter one that is complete is
falsely complete.
"""

import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tools"))
import tap  # noqa: E402

KUNWIND = os.path.join(HERE, "../../tools/build/kunwind")
CHAIN = ["k_crash", "k_three", "k_two", "k_one", "main"]
C_MODES = {mode: CHAIN for mode in ("null jump0 jump tail weak data abort free heap strlen divide trap illegal bus printf").split()}
C_MODES.update(
    overflow=["k_recurse"] + CHAIN, noreturn=["k_last"] + CHAIN, qsort=["k_compare"] + CHAIN,
    altstack=["k_handler", "k_handled"] + CHAIN, handler=["k_handler", "k_handled"] + CHAIN,
    vfork=["k_child"] + CHAIN, variable=["k_variable"] + CHAIN, threads=["k_threads"] + CHAIN,
    thread=["k_thread"], smash=["k_smash"])
BROKEN = ("smash",)  # the stack has no way on: it must not be complete
CC_MODES = {"null": ["k_call", "k_apply", "main"], "throw": ["k_call", "k_apply", "main"],
            "at": ["k_call", "k_apply", "main"], "destructor": ["~k_holder", "k_scope", "k_try", "main"]}
RS_MODES = {"null": ["k_crash", "k_two", "k_one", "main"], "abort": ["k_crash", "k_two", "k_one", "main"],
            "thread": ["k_crash", "k_two", "k_one"]}
# without panic=abort, a panic ends the program with an exit status
RS_PANICS = dict(RS_MODES, panic=RS_MODES["null"], index=RS_MODES["null"])
GO_MODES = {"null": ["k_crash", "k_two", "k_one", "main"], "panic": ["k_crash", "k_two", "k_one", "main"],
            "goroutine": ["k_crash", "k_two", "k_one"]}

C, CC, RS, GO = "crasher.c", "crasher.cc", "crasher.rs", "crasher.go"
FEW = ("null", "jump0", "overflow", "altstack", "abort", "smash", "qsort", "variable")
# name: command before source and output, source, modes, modes of the short run
BUILDS = {
    "c-O2": ("gcc -O2", C, C_MODES, tuple(C_MODES)),
    # with -O0, k_smash() overwrites its own counter, and returns, and k_tail() calls
    "c-O0": ("gcc -O0", C, dict({mode: C_MODES[mode] for mode in C_MODES if mode != "smash"}, tail=["k_tail"] + CHAIN),
             ("null", "altstack")),
    "c-nopie": ("gcc -O2 -no-pie -fno-pie", C, C_MODES, ("jump0", "tail", "weak", "data")),
    "c-static": ("gcc -O2 -static", C, C_MODES, FEW),
    "c-static-pie": ("gcc -O3 -static-pie", C, C_MODES, ("null", "abort")),
    "c-musl": ("musl-gcc -O2", C, C_MODES, FEW),
    "c-musl-static": ("musl-gcc -O2 -static", C, C_MODES, FEW),
    "c-clang": ("clang -O2", C, C_MODES, ("null", "altstack")),
    "c-m32": ("gcc -m32 -O2", C, C_MODES, FEW),
    "c-m32-static": ("gcc -m32 -O2 -static", C, C_MODES, ("null", "altstack")),
    # without CFI, no stack goes on from a function that never returns, nor from a handler (docs/limits.md)
    "c-nocfi": ("gcc -O2 -fno-asynchronous-unwind-tables", C,
                {mode: C_MODES[mode] for mode in C_MODES if mode not in ("abort", "heap", "noreturn", "illegal",
                                                                         "altstack", "handler")}, ("null", "smash")),
    "c-strong": ("gcc -O2 -fstack-protector-all", C, C_MODES, ("smash",)),
    "cc-O2": ("g++ -O2", CC, CC_MODES, tuple(CC_MODES)),
    "cc-static": ("g++ -O2 -static", CC, CC_MODES, ("throw",)),
    "rs": ("rustc -O", RS, RS_MODES, tuple(RS_MODES)),
    "rs-abort": ("rustc -O -C panic=abort", RS, RS_PANICS, ("panic", "index")),
    "go": ("go build", GO, GO_MODES, tuple(GO_MODES)),
}


def build(where, name):
    command, source = BUILDS[name][:2]
    out = os.path.join(where, name)
    words = command.split()
    if source == C:
        words += ["-w", "-pthread"]
    if words[0] == "go" or words[0] == "rustc":
        words += ["-o", out, os.path.join(HERE, source)]
    else:
        words += [os.path.join(HERE, source), "-o", out]
    env = dict(os.environ, GOCACHE=os.path.join(where, "gocache"), GOFLAGS="-mod=mod", GO111MODULE="off")
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    return out if not done.returncode else None


def bare(name):
    """The last part of a function's name, without template and other arguments."""
    while True:
        shorter = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
        if shorter == name:
            break
        name = shorter
    name = re.sub(r"\{.*|\[.*", "", name)
    return re.split(r"::|\.", re.sub(r"\.(constprop|part|isra|cold|lto_priv)\b.*", "", name.strip()))[-1].split(" ")[0]


def own(names):
    """The names of the program's own functions; recursion and main() once."""
    kept = []
    for name in map(bare, names):
        if (re.fullmatch(r"~?k_\w+", name) or name == "main") and not (kept and kept[-1] == name):
            kept.append(name)
    return kept


def judge(names, expected, broken):
    names = own(names)
    if names == expected or (broken and names == expected[:len(names)]):
        return "right"
    return "shorter" if names == expected[:len(names)] else "wrong"


def run_kunwind(core, *options):
    done = subprocess.run([KUNWIND, "stackwalk", "--json", *options, core], capture_output=True, text=True)
    return json.loads(done.stdout) if not done.returncode else None


def crashed(report):
    number = report["crash_info"]["crashing_thread"]
    return report["threads"][number or 0]


def verdict_of(report, expected, broken):
    """What kunwind's report is, and the names in the stack that crashed."""
    thread = crashed(report)
    names = [frame["function"] or "?" for frame in thread["frames"]]
    verdict = judge(names, expected, broken)
    if verdict == "right" and not broken and thread["reason"] != "complete":
        verdict = "shorter"
    if thread["reason"] == "complete" and (broken or verdict == "shorter"):
        verdict = "falsely complete"
    return verdict, "%s (%s): %s" % (verdict, thread["reason"], " ".join(names[:40]))


def count(sums, tool, verdict):
    of = sums.setdefault(tool, {})
    of[verdict] = of.get(verdict, 0) + 1


def print_sums(sums):
    for tool, verdicts in sums.items():
        print("# %s: %s" % (tool, ", ".join("%s %d" % pair for pair in sorted(verdicts.items()))))


def each(where, arguments, use):
    """Builds programs, and calls use(name, program, mode, folder) for each crash. arguments: builds, --all."""
    only = [a for a in arguments if not a.startswith("--")]
    for name, (_, _, modes, few) in BUILDS.items():
        if only and name not in only:
            continue
        os.makedirs(where, exist_ok=True)
        compiler = BUILDS[name][0].split()[0]
        if not shutil.which(compiler):
            tap.skip("crashes of " + name, "no " + compiler)
            continue
        program = build(where, name)
        if not program:
            tap.check("build " + name, False, "the compiler failed")
            continue
        for mode in modes if "--all" in arguments else few:
            folder = os.path.join(where, name + "." + mode)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            use(name, program, mode, folder)
            if "--keep" not in arguments:
                shutil.rmtree(folder, ignore_errors=True)
