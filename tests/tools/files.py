#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the table of files of kunwind report, which follows file descriptors.

Each test makes system calls of processes, and knows which file each of them uses.
"""

import json
import os
import subprocess
import tempfile

import ctf
import tap
from analyze import KUNWIND, run
from tap import check, same

tap.suite = "files"
CLOEXEC, F_DUPFD, F_SETFD, F_DUPFD_CLOEXEC = 0x80000, 0, 2, 1030
FIELDS = {
    "openat": [("dfd", "s32"), ("filename", "string"), ("flags", "s32")], "open": [("filename", "string"), ("flags", "s32")],
    "read": [("fd", "s32")], "write": [("fd", "s32")], "close": [("fd", "s32")], "dup": [("fildes", "s32")],
    "dup2": [("oldfd", "s32"), ("newfd", "s32")], "dup3": [("oldfd", "s32"), ("newfd", "s32"), ("flags", "s32")],
    "fcntl": [("fd", "s32"), ("cmd", "s32"), ("arg", "u64")], "socket": [("family", "s32"), ("type", "s32")],
    "accept4": [("fd", "s32"), ("flags", "s32")], "pipe2": [("flags", "s32")], "epoll_create1": [("flags", "s32")],
    "epoll_wait": [("epfd", "s32")], "newfstatat": [("dfd", "s32"), ("filename", "string")], "unlink": [("pathname", "string")],
    "mmap": [("fd", "s32")], "clone": [], "clone3": [], "exit": [("error_code", "s32")], "exit_group": [("error_code", "s32")], "execve": [("filename", "string")],
    "close_range": [("fd", "s32"), ("max_fd", "s32"), ("flags", "s32")], "sendfile64": [("out_fd", "s32"), ("in_fd", "s32")],
    "mremap": [("fd", "u64")], "memfd_create": [("flags", "s32")], "pidfd_open": [("pid", "s32"), ("flags", "s32")],
}
AT_FDCWD = -100


class Calls:
    """A trace of system calls. Each takes 10 ns, and the next one begins 100 ns later."""

    def __init__(self):
        self.trace, self.time = ctf.Trace(), 1000

    def event(self, name, fields, values, thread=(1, 1, "app")):
        self.trace.add(self.time, name, thread, (0x1234,), fields, values)
        self.time += 1

    def call(self, name, *values, result=0, thread=(1, 1, "app"), pair=None):
        self.trace.add(self.time, "syscall_entry_" + name, thread, (0x1234,), FIELDS[name], values)
        fields, results = list(ctf.RETURN), [result]
        if name == "pipe2":
            fields, results = fields + [("fildes", "u64s")], results + [pair or ()]
        if not name.startswith("exit"):
            self.trace.add(self.time + 10, "syscall_exit_" + name, thread, (), fields, results)
        self.time += 100

    def files(self, work, name, *options):
        """Returns {file: (calls, failed, bytes, fd)}."""
        directory = os.path.join(work, name)
        self.trace.write(directory)
        data = json.loads(run("report", "--json", "--all", *options, directory).stdout)
        return {row["name"]: (row["count"], row["failed"], row["bytes"], row["fd"]) for row in data["files"]}


def test_copies(work):
    calls = Calls()
    calls.call("openat", AT_FDCWD, "/data", 0, result=3)
    calls.call("read", 3, result=100)
    calls.call("dup", 3, result=4)
    calls.call("write", 4, result=7)
    calls.call("fcntl", 3, F_DUPFD, 50, result=50)
    calls.call("read", 50, result=1)
    calls.call("dup2", 3, 9, result=9)
    calls.call("read", 9, result=2)
    calls.call("dup3", 4, 10, CLOEXEC, result=10)
    calls.call("read", 10, result=3)
    calls.call("close", 3)
    calls.call("read", 4, result=0)
    calls.call("openat", AT_FDCWD, "/other", 0, result=3)
    calls.call("read", 3, result=1000)
    calls.call("dup2", 3, 4, result=4)
    calls.call("read", 4, result=1)
    calls.call("openat", AT_FDCWD, "/missing", 0, result=-2)
    calls.call("read", 77, result=-9)
    calls.call("open", "/three", 0, result=20)
    for fd in (20, 21):
        calls.call("dup", fd, result=fd + 1)
    calls.call("read", 22, result=5)
    same("copies: descriptors of dup, dup2, dup3 and F_DUPFD, and new ones after close", calls.files(work, "copies"), {
        "/data": (12, 0, 113, None), "/other": (4, 0, 1001, None), "/missing": (1, 1, 0, None), "/three": (4, 0, 5, None), "fd 77 of process 1": (1, 1, 0, 77)})


def test_kinds(work):
    calls = Calls()
    calls.call("pipe2", 0, result=0, pair=(5, 6))
    calls.call("write", 6, result=3)
    calls.call("read", 5, result=3)
    calls.call("socket", 2, 1, result=7)
    calls.call("accept4", 7, 0, result=8)
    calls.call("read", 8, result=5)
    calls.call("epoll_create1", 0, result=9)
    calls.call("epoll_wait", 9, result=1)
    calls.call("mmap", -1, result=0x7f0000000000)
    same("kinds: pipes, sockets and others have the names of their kind; a number of events is no number of bytes",
         calls.files(work, "kinds"), {"pipe": (2, 0, 6, None), "socket": (1, 0, 0, 7), "socket (accepted)": (1, 0, 5, 8),
                                      "anon_inode:[eventpoll]": (1, 0, 0, 9)})


def known(calls, work, name, thread=(1, 1, "app")):
    """Returns which of the descriptors 3 to 15 still have a name, after a read of each."""
    for fd in range(3, 16):
        calls.call("read", fd, result=1 << fd, thread=thread)
    read = calls.files(work, name, "-e", "read")
    return {file: row[2] for file, row in read.items() if not file.startswith("fd ")}


def test_close(work):
    calls = Calls()
    for fd in range(3, 13):
        calls.call("open", "/%d" % fd, 0, result=fd)
    calls.call("close", 3, result=-4)                   # EINTR
    calls.call("close", 4, result=-9)                   # EBADF: 4 was not open; it may have been opened since
    calls.call("close_range", 6, 8, 0)
    calls.call("close_range", 10, -1, 0, result=-22)
    calls.call("close_range", 11, -1, 0)
    calls.call("close_range", 9, 9, 4)                  # CLOSE_RANGE_CLOEXEC: it stays open
    same("close closes even if a signal interrupts it; close_range closes the first to the last, if it succeeds",
         known(calls, work, "close"), {"/%d" % fd: 1 << fd for fd in (4, 5, 9, 10)})


def marked(calls):
    """Opens descriptors with and without close-on-exec, by each kind of call that can set or clear it."""
    calls.call("open", "/three", CLOEXEC, result=3)
    calls.call("dup", 3, result=4)
    calls.call("dup2", 3, 3, result=3)                  # does not change close-on-exec
    calls.call("dup3", 4, 5, CLOEXEC, result=5)
    calls.call("pipe2", CLOEXEC, result=0, pair=(6, 7))
    calls.call("socket", 2, 1 | CLOEXEC, result=8)
    calls.call("open", "/nine", CLOEXEC, result=9)
    calls.call("fcntl", 9, F_SETFD, 0)
    calls.call("open", "/ten", 0, result=10)
    calls.call("open", "/eleven", 0, result=11)
    calls.call("open", "/twelve", 0, result=12)
    calls.call("close_range", 11, 11, 4)                # CLOSE_RANGE_CLOEXEC
    calls.call("memfd_create", 1, result=13)            # MFD_CLOEXEC
    calls.call("memfd_create", 0, result=14)
    calls.call("pidfd_open", 1, 0, result=15)           # always sets close-on-exec


def test_exec(work):
    kept = {"/three": 1 << 4, "/nine": 1 << 9, "/ten": 1 << 10, "/twelve": 1 << 12, "memfd": 1 << 14}
    calls = Calls()
    marked(calls)
    calls.call("execve", "/bin/true")
    same("execve closes descriptors that open, dup3, pipe2, socket, close_range, memfd_create or pidfd_open made close-on-exec", known(calls, work, "exec"), kept)
    calls = Calls()
    marked(calls)
    calls.event("kunwind_exec", [("tgid", "s32"), ("pid", "s32"), ("comm", "string")], [1, 2, "true"])
    same("kunwind_exec closes the same descriptors as execve", known(calls, work, "exec-event"), kept)


def test_ends(work):
    """The table of a new process: when its parent's call returns late, when its PID is used again, and by other events."""
    fork = [("parent", "s32"), ("child", "s32"), ("vchild", "s32")]
    calls, child = Calls(), (2, 2, "app")
    calls.call("open", "/three", 0, result=3)
    calls.call("open", "/four", 0, result=4)
    calls.trace.add(calls.time, "syscall_entry_clone", (1, 1, "app"), (0x1234,))
    calls.time += 1
    calls.event("kunwind_fork", fork, [1, 2, 2])
    calls.call("close", 3, thread=child)
    calls.trace.add(calls.time, "syscall_exit_clone", (1, 1, "app"), (), ctf.RETURN, [2])
    calls.time += 1
    same("clone returns after the child has closed a file: the file stays closed", known(calls, work, "late", child), {"/four": 1 << 4})
    calls = Calls()
    calls.call("open", "/three", 0, result=3, thread=child)
    calls.event("kunwind_exit", [("tgid", "s32")], [2])
    same("a new process has the PID of one that has ended: no files are left", known(calls, work, "ended", child), {})
    calls = Calls()
    calls.call("open", "/three", 0, result=3)
    for number, result in ((318, 4), (435, 2)):         # getrandom and clone3, in events for unknown calls
        calls.trace.add(calls.time, "syscall_entry_unknown", (1, 1, "app"), (0x1234,), [("id", "s32")], [number])
        calls.trace.add(calls.time + 1, "syscall_exit_unknown", (1, 1, "app"), (), [("id", "s32"), ("ret", "s64")], [number, result])
        calls.time += 10
    same("clone3 in an event for unknown calls: the child has a copy", known(calls, work, "unknown", child), {"/three": 1 << 3})
    calls = Calls()
    calls.call("open", "/three", 0, result=3)
    calls.event("sched_process_fork", [("parent_pid", "s32"), ("child_pid", "s32"), ("child_tid", "s32")], [1, 2, 2])
    same("sched_process_fork: the child has a copy", known(calls, work, "sched", child), {"/three": 1 << 3})
    calls = Calls()
    calls.call("open", "/high", 0, result=1000)
    calls.event("kunwind_fork", fork, [1, 2, 2])
    calls.call("read", 1000, result=7, thread=child)
    same("kunwind_fork: the child has a copy of large descriptors", calls.files(work, "high", "-e", "read")["/high"][2], 7)


def test_hosts(work):
    """The traces of two hosts have a process with the same PID."""
    both = os.path.join(work, "hosts")
    for host in ("here", "there"):
        calls = Calls()
        calls.trace = ctf.Trace(host=host)
        calls.time += 50 if host == "there" else 0
        calls.call("open", "/%s" % host, 0, result=3)
        calls.call("read", 3, result=1)
        calls.trace.write(os.path.join(both, host))
    data = json.loads(run("report", "--json", "--all", "-e", "read", both).stdout)
    same("two hosts with the same PID: each process has its own files", {row["name"] for row in data["files"]}, {"/here", "/there"})


def test_numbers(work):
    """Descriptors that are too large to follow, -1 as an unsigned number, and calls with two descriptors."""
    calls = Calls()
    for fd in (1048575, 1048576):
        calls.call("open", "/%d" % fd, 0, result=fd)
        calls.call("read", fd, result=1)
    calls.call("mremap", 0xffffffff)
    calls.call("open", "/in", 0, result=5)
    calls.call("open", "/out", 0, result=6)
    calls.call("sendfile64", 6, 5, result=9)
    files = calls.files(work, "numbers")
    same("numbers: the largest descriptor with a name, the next one, and the descriptor that sendfile reads",
         {name: row[2] for name, row in files.items() if row[2]}, {"/1048575": 1, "fd 1048576 of process 1": 1, "/in": 9})
    check("numbers: -1 as an unsigned number is no descriptor", "fd 4294967295 of process 1" not in files, files)


def test_paths(work):
    calls = Calls()
    calls.call("openat", AT_FDCWD, "/etc", 0, result=3)
    calls.call("openat", 3, "hosts", 0, result=4)
    calls.call("read", 4, result=10)
    calls.call("newfstatat", 3, "hosts")
    calls.call("newfstatat", 4, "")
    calls.call("newfstatat", 3, "/absolute")
    calls.call("openat", AT_FDCWD, "relative", 0, result=5)
    calls.call("unlink", "/gone", result=-2)
    same("paths: relative to a directory's descriptor, absolute, and none", calls.files(work, "paths"), {
        "/etc": (1, 0, 0, None), "/etc/hosts": (4, 0, 10, 4), "/absolute": (1, 0, 0, None), "relative": (1, 0, 0, None),
        "/gone": (1, 1, 0, None)})


def test_processes(work):
    parent, child, other, thread = (1, 1, "app"), (2, 2, "app"), (3, 3, "app"), (1, 11, "app")
    calls = Calls()
    calls.call("open", "/kept", 0, result=3)
    calls.call("open", "/closed", CLOEXEC, result=4)
    calls.call("open", "/set", 0, result=5)
    calls.call("fcntl", 5, F_SETFD, 1)
    calls.call("fcntl", 3, F_DUPFD_CLOEXEC, 20, result=20)
    calls.event("kunwind_fork", [("parent", "s32"), ("child", "s32"), ("vchild", "s32")], [1, 2, 2])
    for fd, size in ((3, 1), (4, 10), (5, 100), (20, 1000)):
        calls.call("read", fd, result=size, thread=child)
    calls.call("open", "/own", 0, result=6, thread=child)
    calls.call("execve", "/bin/true", thread=child)
    calls.call("read", 3, result=2, thread=child)
    calls.call("read", 6, result=3, thread=child)
    for fd in (4, 5, 20):
        calls.call("read", fd, result=-9, thread=child)
    calls.call("read", 4, result=20, thread=parent)     # the parent still has it
    calls.call("read", 6, result=-9, thread=parent)     # but not what the child opened
    calls.call("read", 3, result=5, thread=thread)      # threads share the table
    calls.call("clone", result=3)                       # without an event of kunwind
    calls.call("read", 5, result=200, thread=other)
    same("processes: a child has its parent's descriptors, exec closes what is marked", {
        name: row[:3] for name, row in calls.files(work, "processes").items()}, {
            "/kept": (6, 0, 1 + 2 + 5 + 1000), "/closed": (3, 0, 30), "/set": (4, 0, 300), "/own": (2, 0, 3), "/bin/true": (1, 0, 0),
            "fd 4 of process 2": (1, 1, 0), "fd 5 of process 2": (1, 1, 0), "fd 20 of process 2": (1, 1, 0),
            "fd 6 of process 1": (1, 1, 0)})


def test_threads(work):
    """Threads share the table of their process, also if clone3 does not say that it makes a thread."""
    calls = Calls()
    calls.call("clone3", result=11)
    calls.call("open", "/late", 0, result=3)
    calls.call("read", 3, result=1, thread=(1, 11, "app"))
    calls.call("clone3", result=2)
    calls.call("read", 3, result=10, thread=(2, 2, "app"))
    calls.call("close", 3, thread=(2, 2, "app"))
    calls.call("read", 3, result=100)
    calls.call("exit", 0, thread=(2, 21, "app"))
    calls.call("exit_group", 0, thread=(2, 2, "app"))
    calls.call("clone3", result=2)                      # the number of a process that has ended
    calls.call("read", 3, result=1000, thread=(2, 2, "app"))
    same("clone3: a thread's descriptors are its process's, a process has a copy", calls.files(work, "threads"),
         {"/late": (6, 0, 1111, 3)})


def memory(directory):
    """Returns the largest resident set of kunwind report --by file, in KiB."""
    child = subprocess.Popen([KUNWIND, "report", "--all", "--by", "file", directory], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    return os.wait4(child.pid, 0)[2].ru_maxrss


def test_memory(work):
    """Each process and each thread ends before the next one begins. A table with descriptor 2000 takes 32 KB."""
    used = {}
    for call, ended in (("clone3", "exit"), ("clone", "exit_group")):
        for nr in (10, 2000):
            calls = Calls()
            calls.call("open", "/data", 0, result=2000)
            for tid in range(1000, 1000 + nr):
                thread = (1 if ended == "exit" else tid, tid, "app")
                calls.call(call, result=tid)
                calls.call("read", 2000, result=1, thread=thread)
                calls.call(ended, 0, thread=thread)
            directory = os.path.join(work, "%s-%d" % (call, nr))
            calls.trace.write(directory, packets=10)
            used[ended, nr] = memory(directory)
    for ended, what in (("exit", "threads"), ("exit_group", "processes")):
        check("memory: 2,000 %s that have ended keep no table" % what,
              used[ended, 2000] - used[ended, 10] < 2000 * 32 / 4, used)


def test_dump(work):
    calls = Calls()
    # thread 9 is one of process 2; process 3 shares the table of process 1
    for tid, pid, table in ((2, 2, 2), (9, 2, 2), (1, 1, 1), (3, 3, 1)):
        calls.event("lttng_statedump_process_state", [("tid", "s32"), ("pid", "s32"), ("file_table_address", "u64")], [tid, pid, 0xabc0 + table])
    fields = [("file_table_address", "u64"), ("fd", "s32"), ("flags", "s32"), ("filename", "string")]
    calls.call("open", "/new", 0, result=4)             # before the dump reaches it
    for table, fd, flags, name in ((1, 3, 0, "/before"), (1, 4, 0, "/older"), (1, 5, CLOEXEC, "/marked"), (2, 3, 0, "/second")):
        calls.event("lttng_statedump_file_descriptor", fields, [0xabc0 + table, fd, flags, name])
    for fd in (3, 4, 5):
        calls.call("read", fd, result=1)
    calls.call("read", 3, result=10, thread=(2, 2, "b"))
    calls.call("read", 3, result=100, thread=(3, 3, "c"))
    calls.call("execve", "/bin/true")
    calls.call("read", 5, result=-9)
    same("state dump: files that were open before the trace", {name: row[2] for name, row in calls.files(work, "dump", "-e", "read").items()},
         {"/before": 101, "/new": 1, "/marked": 1, "/second": 10, "fd 5 of process 1": 0})


def test_selection(work):
    calls = Calls()
    calls.call("open", "/data", 0, result=3)
    begin = calls.time
    calls.call("read", 3, result=1)
    calls.call("read", 3, result=2)
    same("files that were opened before --from and by calls that -e does not select", calls.files(
        work, "selection", "-e", "read", "--from", "0.%09d" % (begin + 50 - 1000)), {"/data": (1, 0, 2, 3)})


def test_damaged(work):
    """What only a damaged trace says: a process that has forked itself, and more bytes than a call can transfer."""
    calls = Calls()
    for fd in 0, 1, 2:
        calls.call("openat", AT_FDCWD, "/%d" % fd, 0, result=fd)
    calls.event("kunwind_fork", [("parent", "s32"), ("child", "s32")], [1, 1])
    for fd in 0, 1, 2:
        calls.call("read", fd, result=1)
    same("a process is its own parent: its files stay", calls.files(work, "damaged"),
         {"/%d" % fd: (2, 0, 1, fd) for fd in (0, 1, 2)})
    calls = Calls()
    calls.call("openat", AT_FDCWD, "/big", 0, result=3)
    for result in (0x7ffff000, 1, 0x7fffffffffffffff, 0x100000000):
        calls.call("read", 3, result=result)
    same("a result that no call can return is no number of bytes", calls.files(work, "bytes"), {"/big": (5, 0, 0x7ffff001, 3)})


def main():
    with tempfile.TemporaryDirectory() as work:
        for test in (test_copies, test_kinds, test_close, test_exec, test_ends, test_hosts, test_numbers, test_paths, test_processes, test_threads, test_memory, test_dump, test_selection, test_damaged):
            test(work)
    tap.finish()


if __name__ == "__main__":
    main()
