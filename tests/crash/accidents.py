#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""accidents.py DIRECTORY LIBRARY - reports where a report is difficult

Runs accidents.c, which describes the accidents, and checks the reports, how the process ended, and the
system calls after the signal. LIBRARY is a directory with the library's files. Prints TAP.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import reports
from reports import tap
import crashes

SEGV = -signal.SIGSEGV
CHAIN = ["k_crash", "k_outer", "main"]
THREAD = ["k_crash", "k_together"]
# mode: what a report must show, exit status, number of reports, functions
MODES = {
    "plain": ("a crash", SEGV, 1, CHAIN),
    "chain": ("the handler that was there before is called with the same siginfo_t", 42, 1, CHAIN),
    "recover": ("a handler that leaves by siglongjmp(): each crash has a report", 0, 3, CHAIN),
    "returns": ("a handler runs with the signal mask that it asked for", 0, 3, None),
    "reset": ("SA_RESETHAND: the handler is called once", SEGV, 2, None),
    "ignored": ("ignored signals that a process has sent have no report, a fault has", SEGV, 1, CHAIN),
    "fork": ("a forked child, then its parent", SEGV, 2, CHAIN),
    "forked-twice": ("two forked children, then their parent", SEGV, 3, CHAIN),
    "vfork": ("a child of vfork(), then its parent", SEGV, 2, CHAIN),
    "zombie": ("a child of vfork() that nobody has waited for, then its parent", SEGV, 2, CHAIN),
    "blocked": ("all other signals are blocked", SEGV, 1, CHAIN),
    "together": ("eight threads crash at the same time: one report", SEGV, 1, THREAD),
    "second-recovers": ("eight threads crash at the same time, and their handler ends them", 0, 9, None),
    "heap": ("the whole heap is overwritten", SEGV, 1, ["k_crash", "k_heap", "main"]),
    "overflow-thread": ("a thread's stack overflows", SEGV, 1, ["k_recurse", "k_overflow"]),
    "seccomp-eperm": ("process_vm_readv() is refused", SEGV, 1, CHAIN),
    "seccomp-trap": ("process_vm_readv() raises SIGSYS", SEGV, 1, CHAIN),
    "seccomp-many": ("many system calls are refused", SEGV, 1, CHAIN),
    "seccomp-many-trap": ("many system calls raise SIGSYS", SEGV, 1, CHAIN),
    "threads-end": ("the alternate stacks of threads that have ended are freed", 0, 0, None),
}
# that a report and the end of the process need, as kunwind_crash_init(3) lists them
CALLS = set("getpid gettid sigaltstack openat clock_gettime poll write close prctl process_vm_readv rt_sigaction "
            "rt_sigprocmask rt_tgsigqueueinfo rt_sigreturn restart_syscall getdents64 read clone futex ptrace wait4 "
            "nanosleep tgkill kill".split())


def build(where, name, *options):
    lib = os.path.join(reports.HERE, "../../libkunwind")
    program = os.path.join(where, name)
    words = ["gcc", "-O1", "-g", "-w", "-D_GNU_SOURCE", "-I" + lib + "/crash/include", "-o", program,
             os.path.join(reports.HERE, "accidents.c"), *options, "-pthread", "-ldl"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        tap.check("build " + name, False, done.stderr)
    return program


def run(folder, *command, **more):
    """Returns how the command has ended, and the reports in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = ["bash", "-c", 'ulimit -c 0; ulimit -s 1024; exec "$@"', "-", *command]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, **more)
    except subprocess.TimeoutExpired as late:
        return late, []
    found = [report for entry in sorted(os.listdir(folder)) if entry.startswith("report.")
             for report in reports.read(os.path.join(folder, entry))]
    return done, found


def check(what, done, found, status, count, names, symbols):
    good = getattr(done, "returncode", "timeout") == status and len(found) == count and all(r.whole() for r in found)
    stacks = [crashes.own(symbols.names(report.threads[0])) for report in found]
    reasons = [report.threads[0].get("reason") for report in found]
    if names is not None:
        # a child's stack goes on in the function that has made it
        stacks = [[name for name in stack if name != "in_child"] for stack in stacks]
        good = good and all(stack == names for stack in stacks) and set(reasons) == {"complete"}
    tap.check(what, good, "%r\n%s" % (done, "\n".join("%s %s %s %s" % (r.end, r.problems, why, stack[:20])
                                                      for r, why, stack in zip(found, reasons, stacks))))


OTHERS = [["k_spin", "k_other"], ["k_blocked", "k_other"], ["k_lock", "k_other"], ["k_read", "k_other"]]


def check_others(program, shared, folder, symbols):
    """Threads that run, block all signals, wait for a lock, or are in a system call."""
    for mode, what, status, count in (("others", "stacks of other threads", SEGV, 1),
                                      ("others-go-on", "other threads go on after a report", 0, 1),
                                      ("others-vfork", "other threads, and a child of vfork()", SEGV, 2)):
        done, found = run(folder, program, mode, "report.%p")
        report = max(found, key=lambda report: len(report.threads), default=None)
        others = report.threads[1:] if report else []
        stacks = [crashes.own(symbols.names(thread)) for thread in others]
        tap.check(what, done.returncode == status and len(found) == count and all(r.whole() for r in found) and
                  sorted(stacks) == sorted(OTHERS) and {t["thread_name"] for t in others} == {'other "name"'} and
                  {(t["reason"], t["why"]) for t in others} == {("complete", None)}, (done, stacks, others))
        if mode == "others-vfork" and report:
            tap.check("the child has no other threads", min(len(r.threads) for r in found) == 1)
    for mode, what, whys in (("seccomp-ptrace", "ptrace() is refused", {"not permitted"}),
                             ("seccomp-ptrace-trap", "ptrace() raises SIGSYS", {"not stopped"}),
                             ("seccomp-clone", "clone() is refused", {"not permitted"}),
                             ("seccomp-wait", "wait4() raises SIGSYS", {"not stopped"}),
                             ("others-nested", "the stack of each thread crashes the report", {"crashed"})):
        done, found = run(folder, shared if mode == "others-nested" else program, mode, "report.%p")
        others = found[0].threads[1:] if found else []
        tap.check("other threads: " + what, done.returncode == SEGV and len(found) == 1 and found[0].whole() and
                  len(others) == len(OTHERS) and {t["thread_name"] for t in others} == {'other "name"'} and
                  {t["why"] for t in others} == whys and {t["reason"] for t in others} == {None}, (done, others))
    done, found = run(folder, "strace", "-f", "-o", "trace", program, "others", "report.%p")
    tap.check("other threads of a program under strace have their names", len(found) == 1 and found[0].whole() and
              {t["why"] for t in found[0].threads[1:]} == {"not permitted"}, (done, found and found[0].threads[1:]))


def check_nested(program, folder):
    """The walk itself crashes: the report says so and goes on, and the process ends by the first signal."""
    done, found = run(folder, program, "nested", "report.%p")
    thread = found[0].threads[0] if found and found[0].threads else {}
    tap.check("a crash in the report ends the stack, and the report goes on",
              done.returncode == SEGV and len(found) == 1 and found[0].whole() and thread["reason"] is None and
              thread["why"] == "crashed", (done, thread))


def check_pipes(program, folder, symbols):
    read, write = os.pipe()
    os.close(read)
    done, _ = run(folder, program, "closed-pipe", "fd:%d" % write, pass_fds=[write])
    os.close(write)
    tap.same("a pipe that nobody reads: the program goes on as without the report", done.returncode, 0)
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while os.write(write, b"x" * 4096):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(write, True)
    start = time.monotonic()
    done, _ = run(folder, program, "full-pipe", "fd:%d" % write, pass_fds=[write])
    tap.check("a pipe that is full: the process ends after the deadline",
              done.returncode == SEGV and 0.3 <= time.monotonic() - start < 10, (done, time.monotonic() - start))
    os.close(write)
    os.close(read)
    read, write = os.pipe()
    done, _ = run(folder, program, "plain", "fd:%d" % write, pass_fds=[write])
    os.close(write)
    with open(read, encoding="utf-8") as f:
        check("a report to a descriptor", done, reports.parse(f.read()), SEGV, 1, CHAIN, symbols)


def check_slow_pipe(program, folder):
    """A reader that is too slow for all frames."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    read, write = os.pipe()
    command = ["bash", "-c", 'ulimit -c 0; ulimit -s 1024; exec "$@"', "-", program, "slow-pipe", "fd:%d" % write]
    with subprocess.Popen(command, cwd=folder, pass_fds=[write]) as process, open(read, "rb", 0) as f:
        os.close(write)
        text, part = b"", b"x"
        while part:
            part = f.read(4096)
            text += part
            time.sleep(0.02)
    found = reports.parse(text.decode())
    thread = found[0].threads[0] if found else {}
    tap.check("a slow reader: the report ends at its deadline, and says so",
              process.returncode == SEGV and len(found) == 1 and found[0].whole() and thread["why"] == "deadline" and
              thread["frame_count"] > 10, (process.returncode, thread and thread.get("why"), len(text)))


def check_name(program, folder, where):
    """A path that is not UTF-8."""
    odd = os.path.join(os.fsencode(where), b'odd"\xff\x01\xc3\xa4')
    shutil.copy(program, odd)
    done, found = run(folder, odd, "plain", "report.%p")
    names = {frame["module"] for report in found for frame in report.threads[0]["frames"]}
    tap.check("a path that is not UTF-8", len(found) == 1 and found[0].whole() and 'odd"\ufffd\x01\xe4' in names and
              found[0].process["command"] == 'odd"\ufffd\x01\xe4', (done, names))


def check_system_calls(program, folder):
    done, _ = run(folder, "strace", "-f", "-o", "trace", program, "plain", "report.%p")
    with open(os.path.join(folder, "trace"), encoding="utf-8") as f:
        lines = f.read().split("--- SIGSEGV", 1)[1].splitlines()
    calls = set(re.findall(r"^\d+ +(\w+)\(", "\n".join(lines), re.M))
    tap.check("after the signal, only the documented system calls", calls and not calls - CALLS,
              (calls - CALLS, done))


def check_receiver(program, folder, where, symbols):
    def script(name, text):
        path = os.path.join(where, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    # it has the report, and sees the process that has crashed
    receiver = script("receive", 'cat >"report.$1" && tr "\\0" " " </proc/$1/cmdline >command\n[ -z "$HOME" ] || exit 1\n'
                      # not the mask of the shell, which blocks all signals while it starts a program
                      'exec grep "^SigBlk:.0*$" /proc/self/status >blocked\n')
    done, found = run(folder, program, "plain", "fd:-1", receiver, env=dict(os.environ, HOME="/"))
    check("a receiver has the report", done, found, SEGV, 1, CHAIN, symbols)
    seen = os.path.join(folder, "command")
    tap.check("a receiver sees the process that has crashed", os.path.exists(seen) and program in open(seen).read())
    tap.check("a receiver has no signal blocked", os.path.getsize(os.path.join(folder, "blocked")) > 0)
    done, found = run(folder, program, "plain", "report.%p", os.path.join(where, "none"))
    check("a receiver that cannot be started: the report is in the file", done, found, SEGV, 1, CHAIN, symbols)
    done, found = run(folder, program, "others", "fd:-1", receiver)
    tap.check("a receiver of a program with threads", len(found) == 1 and found[0].whole() and
              len(found[0].threads) == 1 + len(OTHERS), (done, found))
    start = time.monotonic()
    done, found = run(folder, program, "receiver-hangs", "fd:-1", script("hang", "exec >&- 2>&-; exec sleep 15"))
    tap.check("a receiver that hangs: the process ends after the deadline",
              done.returncode == SEGV and 0.3 <= time.monotonic() - start < 12, (done, time.monotonic() - start))


def check_process_1(program, folder):
    """The kernel drops signals without a handler that process 1 sends to itself."""
    for mode, status in (("plain", 128 + 11), ("breakpoint", 128 + 5)):
        done, found = run(folder, "unshare", "-pf", "bash", "-c", 'exec "$@"', "-", program, mode, "report.%p")
        if b"unshare" in done.stderr:
            tap.skip("process 1, " + mode, done.stderr.decode().strip())
            continue
        tap.check("process 1, %s: it has a report, and ends" % mode, len(found) == 1 and found[0].whole() and
                  found[0].process["pid"] == 1 and done.returncode in (status, status - 256, 128 - status), (done, found))


def check_no_proc(program, folder, symbols):
    done, found = run(folder, "unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "-", program,
                      "plain", "report.%p")
    if b"unshare" in done.stderr or b"mount" in done.stderr:
        tap.skip("no /proc", done.stderr.decode().strip())
        return
    # the program's path is not known without /proc
    for report in found:
        for frame in report.threads[0]["frames"]:
            if not frame["path"] and frame["code_id"]:
                frame["path"] = program
    check("no /proc", done, found, SEGV, 1, CHAIN, symbols)


HEALTHY = {
    "python3": ["python3", "-c", "import threading, subprocess\nfor i in range(20):\n t = threading.Thread(target=print, "
                "args=(i,)); t.start(); t.join()\nprint(subprocess.run(['true']).returncode)"],
    "bash": ["bash", "-c", "for i in 1 2 3; do echo $i | cat; done; (exit 3); echo $?"],
    "sort": ["sort", "--parallel=4", "/etc/services"],
}


def check_healthy(library, folder):
    env = dict(os.environ, LD_PRELOAD=os.path.join(library, "libkunwind-crash-preload.so"),
               KUNWIND_CRASH_PATH=folder + "/report.%p")
    for name, command in HEALTHY.items():
        if not shutil.which(name):
            tap.skip("%s with the preloaded library" % name, "no " + name)
            continue
        without, _ = run(folder, *command)
        done, found = run(folder, *command, env=env)
        tap.check("%s prints the same with the preloaded library" % name,
                  (done.returncode, done.stdout, done.stderr) == (without.returncode, without.stdout, without.stderr) and
                  not found, (done, without))


def main():
    where, library = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    archive = os.path.join(library, "libkunwind-crash.a")
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    folder, symbols = os.path.join(where, "run"), reports.Symbols()
    program = build(where, "accidents", archive)
    shared = build(where, "shared", "-L" + library, "-lkunwind-crash", "-Wl,-rpath," + library)
    for mode, (what, status, count, names) in MODES.items():
        done, found = run(folder, program, mode, "report.%p")
        if mode.startswith("seccomp") and done.returncode == 77:
            tap.skip(what, "no seccomp")
            continue
        check(what, done, found, status, count, names, symbols)
    check_others(program, shared, folder, symbols)
    check_nested(shared, folder)
    check_pipes(program, folder, symbols)
    check_slow_pipe(program, folder)
    check_name(program, folder, where)
    preloaded = build(where, "preloaded", "-DPRELOADED")
    env = dict(os.environ, LD_PRELOAD=os.path.join(library, "libkunwind-crash-preload.so"),
               KUNWIND_CRASH_PATH="report.%p", KUNWIND_CRASH_FRAMES="10000")
    done, found = run(folder, "env", "LD_PRELOAD=" + env.pop("LD_PRELOAD"), preloaded, "overflow-thread", "-", env=env)
    check("a preloaded program: a thread's stack overflows", done, found, SEGV, 1, ["k_recurse", "k_overflow"], symbols)
    forbidding = build(where, "forbidding", "-DFORBID", archive)
    done, found = run(folder, forbidding, "plain", "report.%p")
    check("no allocation, lock, thread-local variable or stdio", done, found, SEGV, 1, CHAIN, symbols)
    locked = build(where, "locked", "-DLOCKED", archive)
    done, found = run(folder, locked, "malloc", "report.%p")
    check("a crash in malloc(), which holds its lock", done, found, SEGV, 1, ["k_allocate", "main"], symbols)
    check_system_calls(program, folder)
    check_no_proc(program, folder, symbols)
    check_process_1(program, folder)
    check_receiver(program, folder, where, symbols)
    check_healthy(library, folder)
    tap.finish()


if __name__ == "__main__":
    main()
