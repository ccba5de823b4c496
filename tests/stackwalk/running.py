#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""running.py DIRECTORY - kunwind stack: the threads of running processes, beside eu-stack and gdb

What is right is what eu-stack says of the same threads, and the source of waiting.c: its functions on a
stack are called k_... A process must not notice that it was read: what its system calls return says so.
Prints TAP, and times as comments.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import crashes
import schema
from crashes import tap

BUILDS = {"-O2": "gcc -O2", "with frame pointers": "gcc -O0 -fno-omit-frame-pointer", "32-bit": "gcc -m32 -O2",
          "static": "gcc -O2 -static", "musl": "musl-gcc -O2"}
EINTR = 4
ROOT = not os.geteuid()


def build(where, name):
    out = os.path.join(where, "waiting" + re.sub(r"\W", "_", name))
    subprocess.run(BUILDS[name].split() + ["-w", "-D_GNU_SOURCE", "-pthread", os.path.join(crashes.HERE, "waiting.c"),
                                           "-o", out], check=True, capture_output=True)
    return out


def start(*command, **more):
    """Starts a program, and waits until its first thread sleeps."""
    child = subprocess.Popen(command, **more)
    for _ in range(200):
        time.sleep(0.05)
        with open("/proc/%d/stat" % child.pid, encoding="utf-8", errors="replace") as f:
            if f.read().rsplit(")", 1)[1].split()[0] in "SDZ":
                break
    time.sleep(0.5)
    return child


def stop(child):
    child.kill()
    child.wait()


def kunwind(*arguments, **more):
    return subprocess.run([crashes.KUNWIND, "stack", *arguments], capture_output=True, text=True, **more)


def report_of(child, *options):
    done = kunwind("--json", *options, str(child.pid))
    if done.returncode:
        tap.check("kunwind stack %s" % " ".join(options), False, done.stderr)
        return None
    report = json.loads(done.stdout)
    invalid = schema.why_invalid(report)
    if invalid:
        tap.check("the report follows kunwind-json(5)", False, invalid)
    return report


def names_of(thread):
    return crashes.own([frame["function"] or "?" for frame in thread["frames"]])


def eu_stack(child):
    """{thread: [address]}"""
    done = subprocess.run(["eu-stack", "-n", "0", "-p", str(child.pid)], capture_output=True, text=True, errors="replace")
    threads = {}
    for part in re.split(r"^TID ", done.stdout, flags=re.M)[1:]:
        threads[int(part.split(":")[0])] = [int(a, 16) for a in re.findall(r"^#\d+ +(0x[0-9a-f]+)", part, re.M)]
    return threads


def addresses_of(report):
    """{thread: [address]}, without functions of interpreters"""
    return {thread["thread_id"]: [int(frame["address"], 16) for frame in thread["frames"] if frame["trust"] != "interpreter"]
            for thread in report["threads"]}


def check_calls(program, name):
    """All threads have their call on their stacks, and no call notices."""
    seconds = 12
    child = start(program, "calls", str(seconds), stdout=subprocess.PIPE, text=True)
    began = time.monotonic()
    reports = [report_of(child, "--no-lines") for _ in range(3)]
    took = time.monotonic() - began
    out = child.communicate()[0]
    tap.check("calls, %s: no system call is interrupted" % name, took < seconds and out and
              not [line for line in out.splitlines() if line.endswith(" %d" % EINTR)], out)
    bad, stopped, partial = [], 0, 0
    for thread in (t for report in reports if report for t in report["threads"]):
        if thread["thread_name"].startswith("waiting"):
            continue
        stopped += thread["taken"] == "stopped"
        partial += thread["note"] is not None
        wanted = ["k_" + thread["thread_name"]]
        # musl's libc and start of a thread have no CFI
        if names_of(thread)[:1] != wanted or (thread["reason"] != "complete" and not thread["note"] and name != "musl"):
            bad.append((thread["thread_name"], thread["taken"], thread["reason"], names_of(thread)))
    tap.check("calls, %s: each thread's call is on its stack" % name, None not in reports and not bad, bad)
    print("# calls, %s: %d stopped, %d not complete because a stop would end the call" % (name, stopped, partial))
    registers = next((t["frames"][0]["registers"] for t in reports[0]["threads"] if t["thread_name"] == "epoll_timed"), {})
    tap.same("calls, %s: the arguments of a call are in the registers" % name,
             [int(registers.get(r, "0"), 16) for r in (("edx", "esi") if name == "32-bit" else ("rdx", "r10"))],
             [1, seconds * 1000])
    tap.same("calls, %s: a thread is not stopped if its call would wait longer" % name,
             {thread["thread_name"] for thread in reports[0]["threads"] if "EINTR" in (thread["note"] or "")},
             {"epoll_timed", "semop_timed"} if name == "with frame pointers" else set())
    if name in ("-O2", "32-bit"):
        tap.check("calls, %s: no thread that sleeps is stopped" % name, not stopped and not partial)


def check_oracle(program, what, *arguments):
    """The addresses are eu-stack's. It may end before kunwind does."""
    child = start(program, *arguments, stdout=subprocess.DEVNULL)
    time.sleep(2)       # interpreters do much before their threads sleep
    report = report_of(child, "--no-lines")
    wanted = eu_stack(child)
    stop(child)
    got = report and addresses_of(report)
    # without the module, threads in Python functions are stopped
    how = "stopped" if what == "python3" else "asleep"
    sleeping = {t["thread_id"] for t in report["threads"] if t["taken"] == how} if report else set()
    bad = {tid: ([hex(a) for a in got[tid]], [hex(a) for a in wanted.get(tid, [])]) for tid in sleeping
           if not wanted.get(tid) or got[tid][:len(wanted[tid])] != wanted[tid]}
    tap.check("%s: %d threads as eu-stack has them" % (what, len(sleeping)), sleeping and not bad, bad)
    tap.check("%s: all threads are complete" % what,
              report and {t["reason"] for t in report["threads"]} <= {"complete"} and len(got) == len(wanted),
              report and [t for t in report["threads"] if t["reason"] != "complete"])


def check_running(program, name):
    child = start(program, "spin", "100")
    report = report_of(child, "--no-lines")
    with open("/proc/%d/status" % child.pid, encoding="utf-8") as f:
        tracer = re.search(r"TracerPid:\s*(\d+)", f.read())[1]
    before = kunwind(str(child.pid)).stdout
    stop(child)
    first = [t for t in report["threads"] if t["thread_id"] == child.pid] if report else []
    tap.same("%s: the first thread is complete" % name, [t["reason"] for t in first], ["complete"])
    spinning = [t for t in report["threads"] if names_of(t) == ["k_spin"]] if report else []
    tap.check("%s: a thread that runs is stopped, and let go" % name,
              len(spinning) == 1 and spinning[0]["taken"] == "stopped" and tracer == "0", report and report["threads"])
    tap.check("%s: the text says so" % name, "Stopped for a moment by ptrace(2)" in before and ": 1 of 3 threads" in before,
              before)


def check_ended(program):
    child = start(program, "ended", "20")
    bad, threads = [], 0
    for _ in range(10):
        report = report_of(child, "--no-lines")
        if not report:
            break
        threads += len(report["threads"])
        bad += [t for t in report["threads"] if t["thread_id"] == child.pid and (t["frames"] or t["note"] != "it has ended")]
        bad += [t for t in report["threads"] if t["reason"] == "complete" and not t["frames"]]
    stop(child)
    tap.check("threads that begin and end all the time, and a first thread that has ended", threads > 20 and not bad, bad)


def check_memory(program):
    child = start(program, "altstack")
    report = report_of(child, "--no-lines")
    stop(child)
    thread = report and [t for t in report["threads"] if t["thread_id"] != child.pid][0]
    tap.check("a handler on an alternate stack", thread and thread["reason"] == "complete" and
              names_of(thread) == ["k_wait", "k_handler"] and thread["taken"] == "asleep", thread)
    child = start(program, "deep")
    report = report_of(child, "--no-lines")
    stop(child)
    thread = report and [t for t in report["threads"] if t["thread_id"] != child.pid][0]
    tap.check("2 MB of stack", thread and thread["reason"] == "complete" and thread["frame_count"] > 2000,
              thread and (thread["reason"], thread["frame_count"]))


def check_unstoppable(programs, where):
    child = start(programs["with frame pointers"], "vfork", "100")
    report = report_of(child, "--no-lines")
    thread = report and report["threads"][0]
    tap.check("a thread that cannot be stopped has a stack, and the cause",
              thread and thread["frames"] and thread["taken"] == "asleep" and "uninterruptible" in (thread["note"] or ""),
              thread)
    for pid in subprocess.run(["ps", "-o", "pid=", "--ppid", str(child.pid)], capture_output=True, text=True).stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    stop(child)
    child = start(programs["-O2"], "spin", "100")
    with subprocess.Popen(["strace", "-f", "-o", os.path.join(where, "strace"), "-p", str(child.pid)],
                          stderr=subprocess.DEVNULL) as tracer:
        time.sleep(1.5)
        report = report_of(child, "--no-lines")
        tracer.terminate()
    stop(child)
    notes = sorted(t["note"] or "" for t in report["threads"]) if report else None
    tap.same("threads of another tracer: those that sleep are read", notes, ["", "", "another tracer has it"])
    child = start(programs["with frame pointers"], "threads", "2")
    child.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    report = report_of(child, "--no-lines")
    with open("/proc/%d/stat" % child.pid, encoding="utf-8") as f:
        state = f.read().rsplit(")", 1)[1].split()[0]
    stop(child)
    tap.check("a process that SIGSTOP has stopped is complete, and stays stopped",
              report and {t["reason"] for t in report["threads"]} == {"complete"} and state == "T", (state, report))
    zombie = subprocess.Popen(["true"])
    time.sleep(0.5)
    done = kunwind(str(zombie.pid))
    zombie.wait()
    tap.check("a zombie", done.returncode == 1 and done.stderr == "kunwind stack: %d: it has ended\n" % zombie.pid, done)
    done = kunwind("2")
    tap.check("a kernel thread", done.returncode == 1 and not done.stdout and "kernel thread" in done.stderr, done) \
        if open("/proc/2/comm", encoding="utf-8").read() == "kthreadd\n" else tap.skip("a kernel thread", "pid 2 is none")


def check_rights(program):
    child = start(program, "threads", "1")
    report = report_of(child)
    tap.check("the kernel's part is there for root only",
              report and [bool(t["kernel"]) for t in report["threads"]] == [ROOT] * 2, report)
    if not ROOT:
        tap.skip("another user", "not root")
    else:
        # this tree may be in a directory that others may not enter
        place = tempfile.mkdtemp()
        os.chmod(place, 0o755)
        copy = os.path.join(place, "tools")
        shutil.copytree(os.path.dirname(crashes.KUNWIND), copy)
        program = shutil.copy(program, place)
        nobody = ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", os.path.join(copy, "kunwind"), "stack"]
        done = subprocess.run(nobody + [str(child.pid)], capture_output=True, text=True)
        tap.check("another user's process is refused, and the capability named",
                  done.returncode == 1 and not done.stdout and "CAP_SYS_PTRACE" in done.stderr and
                  done.stderr.count("\n") == 1, done)
        own = subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", program, "threads", "1"])
        time.sleep(1)
        done = subprocess.run(nobody + ["--json", str(own.pid)], capture_output=True, text=True)
        threads = json.loads(done.stdout)["threads"] if done.stdout else []
        stop(own)
        shutil.rmtree(place)
        tap.check("a user's own process, without the kernel's part",
                  [t["kernel"] for t in threads] == [None, None] and {t["reason"] for t in threads} == {"complete"}, done)
    stop(child)
    done = kunwind(str(child.pid))
    tap.check("no such process", done.returncode == 1 and done.stderr.endswith(": no such process\n"), done)


def check_files(program, where):
    """Files that are in another mount namespace, and files that were deleted, have names."""
    if not ROOT:
        tap.skip("a container", "not root")
        return
    hidden = os.path.join(where, "hidden")
    os.makedirs(hidden, exist_ok=True)
    child = start("unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$1" && cp "$0" "$1/app" && exec "$1/app" threads 1',
                  program, hidden)
    time.sleep(1)
    report = report_of(child)
    stop(child)
    tap.same("a program in another mount namespace",
             report and sorted(names_of(t) for t in report["threads"]), [["k_wait", "k_down"], ["k_wait", "main"]])
    copy = os.path.join(where, "deleted")
    shutil.copy(program, copy)
    child = start(copy, "threads", "1")
    os.unlink(copy)
    report = report_of(child)
    stop(child)
    tap.same("a program that was deleted",
             report and sorted(names_of(t) for t in report["threads"]), [["k_wait", "k_down"], ["k_wait", "main"]])


def check_repeat(program):
    child = subprocess.Popen([program, "spin", "3"])
    time.sleep(0.5)
    with subprocess.Popen([crashes.KUNWIND, "stack", "--json", "--no-lines", "--repeat", "0.2", str(child.pid)],
                          stdout=subprocess.PIPE, text=True) as again:
        child.wait()
        out = again.stdout.read()
    decoder, at, reports = json.JSONDecoder(), 0, []
    while at < len(out):
        report, at = decoder.raw_decode(out, at)
        reports.append(report)
        at += len(out[at:]) - len(out[at:].lstrip())
    tap.check("--repeat prints again and again, and ends with the process",
              len(reports) > 2 and again.returncode == 0 and {r["pid"] for r in reports} == {child.pid},
              (len(reports), again.returncode))


def check_speed(program):
    child = start(program, "threads", "1000")
    times = {}
    for tool, command in (("kunwind", [crashes.KUNWIND, "stack", "--no-lines", "--json", str(child.pid)]),
                          ("eu-stack", ["eu-stack", "-n", "0", "-p", str(child.pid)]),
                          ("gdb", ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(child.pid), "-ex",
                                   "thread apply all bt"])):
        best = None
        for _ in range(3):
            began = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True)
            best = min(best or 1e9, time.monotonic() - began)
        times[tool] = best
        if tool == "kunwind":
            threads = json.loads(done.stdout)["threads"]
    stop(child)
    tap.check("1,000 threads: all complete, none stopped", len(threads) == 1001 and
              {(t["taken"], t["reason"]) for t in threads} == {("asleep", "complete")})
    print("# 1,001 threads: " + ", ".join("%s %.3f s" % item for item in times.items()))
    tap.check("1,000 threads: faster than eu-stack and gdb", times["kunwind"] < min(times["eu-stack"], times["gdb"]), times)


def main():
    where = os.path.abspath(sys.argv[1])
    os.makedirs(where, exist_ok=True)
    programs = {name: build(where, name) for name in BUILDS}
    for name, program in programs.items():
        check_calls(program, name)
        check_running(program, name)
    for name in ("-O2", "with frame pointers", "static"):
        check_oracle(programs[name], name, "threads", "50")
    threads = os.path.join(where, "threads")
    subprocess.run(["g++", "-O2", "-pthread", os.path.join(crashes.HERE, "threads.cc"), "-o", threads], check=True)
    check_oracle(threads, "C++", "50")
    check_oracle(sys.executable, "python3", "-c", "import threading, time\n"
                 "for i in range(5): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\ntime.sleep(1000)")
    if shutil.which("node"):
        check_oracle("node", "node", "-e", "setTimeout(() => {}, 1000000)")
    else:
        tap.skip("node", "no node")
    check_ended(programs["-O2"])
    check_memory(programs["-O2"])
    check_unstoppable(programs, where)
    check_rights(programs["-O2"])
    check_files(programs["-O2"], where)
    check_repeat(programs["-O2"])
    check_speed(programs["-O2"])
    tap.finish()


if __name__ == "__main__":
    main()
