#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests how kunwind export and flamegraph write the file that -o names.

All files are in a directory of the test. Device nodes are made there, because a
defect could replace those in /dev. What needs another user or a mount is skipped
unless root runs the test.
"""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

import ctf
import tap
from tap import check, same, skip

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../../tools/build")
ROOT = os.geteuid() == 0
OTHER = 65534
APP = (100, 100, "app")
OUTPUT = "app;[stack ends here];[unknown];tick 1\n"
# openat() of a file system that has no O_TMPFILE
SHIM = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	if ((flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}
int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
"""
work = kunwind = short = long = None


def prepare():
    """Copies the programs to where any user can run them, and writes the traces."""
    global kunwind, short, long
    os.chmod(work, 0o755)
    programs = os.path.join(work, "bin")
    os.mkdir(programs)
    for name in ("kunwind", "kunwind-analyze", "kunwind-symbolize-helper"):
        shutil.copy(os.path.join(BUILD, name), programs)
    kunwind = os.path.join(programs, "kunwind")
    trace = ctf.Trace()
    trace.add(1, "tick", APP, [0x1234])
    short = os.path.join(work, "short")
    trace.write(short)
    trace = ctf.Trace()
    for i in range(100000):
        trace.add(i + 1, "tick", APP, [0x1234])
    long = os.path.join(work, "long")
    trace.write(long, packets=4)


def place(name):
    """Returns a new directory."""
    directory = os.path.join(work, name)
    os.mkdir(directory)
    return directory


def write(path, text="old"):
    with open(path, "w") as file:
        file.write(text)
    return path


def read(path):
    with open(path) as file:
        return file.read()


def command(path, *options, trace=None):
    return [kunwind, "export", "folded", "--all", "-o", path, *options, trace or short]


def export(path, *options, **how):
    how = {"stdout": subprocess.PIPE, **how}
    return subprocess.run(command(path, *options), stderr=subprocess.PIPE, text=True, timeout=60, **how)


def as_other():
    return {"user": OTHER, "group": OTHER, "extra_groups": []}


def written(what, path, done, text=OUTPUT):
    same(what + ": status and content", (done.returncode, os.path.exists(path) and read(path)), (0, text))


def failed(what, done, *texts):
    check(what, done.returncode == 1 and len(done.stderr.splitlines()) >= 1 and
          all(text in done.stderr for text in texts), (done.returncode, done.stderr))


def test_new():
    directory = place("new")
    path = os.path.join(directory, "x")
    written("new file", path, export(path, umask=0o027))
    same("new file: mode is 0666 without the umask", stat.S_IMODE(os.stat(path).st_mode), 0o640)
    same("new file: nothing else in its directory", os.listdir(directory), ["x"])
    longest = os.path.join(directory, "n" * 255)
    written("new file: a name of 255 bytes", longest, export(longest))
    failed("new file: its directory does not exist: error", export(os.path.join(work, "none/x")),
           "cannot write to", "none/x: No such file", "directory that exists")
    failed("a directory: error", export(directory), "Is a directory")
    failed("an empty name: error", export(""), "-o: the name is empty (an unset variable?)")


def test_failed():
    directory = place("empty")
    for form in ("folded", "speedscope", "firefox", "perfetto", "pprof"):
        for what, arguments in (("no trace", [directory]), ("no events", ["--pid", "77", short])):
            done = subprocess.run([kunwind, "export", form, *arguments], capture_output=True, check=False)
            same("%s to standard output, %s: status 1, and nothing is written" % (form, what),
                 (done.returncode, done.stdout), (1, b""))


def test_existing():
    directory = place("existing")
    path = write(os.path.join(directory, "x"), "old" * 100)
    os.chmod(path, 0o604)
    other = os.path.join(directory, "other")
    os.link(path, other)
    inode = os.stat(path).st_ino
    written("existing file", path, export(path))
    check("existing file: replaced, not overwritten", os.stat(path).st_ino != inode)
    same("existing file: mode is kept", stat.S_IMODE(os.stat(path).st_mode), 0o604)
    same("existing file: its other hard link keeps the old content", read(other), "old" * 100)
    same("existing file: no temporary file is left", sorted(os.listdir(directory)), ["other", "x"])
    failed("no events: error", export(other, "--pid", "77"), "no events")
    same("no events: old content is kept", read(other), "old" * 100)


def test_owner():
    if not ROOT:
        skip("owner and group of an existing file", "needs root")
        return
    directory = place("owner")
    path = write(os.path.join(directory, "x"))
    os.chown(path, OTHER, 1)
    os.chmod(path, 0o2640)
    written("file of another user, as root", path, export(path))
    found = os.stat(path)
    same("file of another user, as root: owner, group and mode are kept",
         (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)), (OTHER, 1, 0o2640))
    # any user may write the file and its directory
    os.chmod(directory, 0o777)
    path = write(os.path.join(directory, "y"), "old" * 100)
    os.chmod(path, 0o666)
    inode = os.stat(path).st_ino
    written("root's file in a writable directory", path, export(path, **as_other()))
    found = os.stat(path)
    same("root's file in a writable directory: written in place, owner kept", (found.st_uid, found.st_ino), (0, inode))
    os.chmod(path, 0o644)
    failed("file without write permission in a writable directory: error", export(path, **as_other()),
           "y: Permission denied", "may write, or use sudo")
    same("file without write permission: old content is kept", read(path), OUTPUT)


def test_directory():
    if not ROOT:
        skip("writable file in a read-only directory", "needs root")
        return
    directory = place("read-only")
    path = write(os.path.join(directory, "x"), "old" * 100)
    os.chown(path, OTHER, OTHER)
    written("writable file in a read-only directory", path, export(path, **as_other()))
    write(path, "old")
    failed("in place, no events: error", export(path, "--pid", "77", **as_other()), "no events")
    same("in place, no events: old content is kept", read(path), "old")
    failed("new file in a read-only directory: error", export(os.path.join(directory, "y"), **as_other()),
           "y: Permission denied")


def test_links():
    directory, target = place("links"), place("target")
    path, link = write(os.path.join(target, "x")), os.path.join(directory, "link")
    os.symlink("../target/x", link)
    os.symlink("link", os.path.join(directory, "chain"))
    for name in ("link", "chain"):
        inode = os.stat(path).st_ino
        written("symbolic link: " + name, path, export(os.path.join(directory, name)))
        check("symbolic link: %s: still a link" % name, os.path.islink(os.path.join(directory, name)))
        check("symbolic link: %s: its target is replaced, not overwritten" % name, os.stat(path).st_ino != inode)
    same("symbolic link: no temporary file is left", (sorted(os.listdir(directory)), os.listdir(target)),
         (["chain", "link"], ["x"]))
    os.remove(path)
    written("dangling link: target is created", path, export(link))
    check("dangling link: still a link", os.path.islink(link))
    for name, to in (("a", "b"), ("b", "a")):
        os.symlink(to, os.path.join(directory, name))
    failed("loop of links: error", export(os.path.join(directory, "a")), "a: Too many levels", "remove the loop")
    if not ROOT:
        skip("link of another user in a sticky directory", "needs root")
        return
    os.chmod(directory, 0o1777)
    write(path)
    for name, to in (("theirs", path), ("theirs-dangling", os.path.join(target, "y"))):
        os.symlink(to, os.path.join(directory, name))
        os.lchown(os.path.join(directory, name), OTHER, OTHER)
        failed("link of another user in a sticky directory: %s: refused" % name,
               export(os.path.join(directory, name)), "Permission denied")
    same("link of another user in a sticky directory: target is kept", (read(path), os.listdir(target)), ("old", ["x"]))


def test_devices():
    directory = place("devices")
    null, full = os.path.join(directory, "null"), os.path.join(directory, "full")
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        with open(null, "w") as file:
            file.write("x")
    except PermissionError:
        skip("device nodes", "needs root and a file system with devices")
        return
    same("device: status", export(null).returncode, 0)
    check("device: still a device", stat.S_ISCHR(os.stat(null).st_mode))
    failed("device without space: error", export(full), "cannot write to %s: No space left" % full, "free some space")
    check("device without space: still a device", stat.S_ISCHR(os.stat(full).st_mode))
    if os.path.exists(os.path.join(os.path.dirname(kunwind), "flamegraph")):
        done = subprocess.run([kunwind, "flamegraph", "--all", "-o", full, short], capture_output=True, text=True)
        failed("flamegraph: device without space: error", done, "cannot write to %s: No space left" % full)
    same("device: nothing else in its directory", sorted(os.listdir(directory)), ["full", "null"])


def test_fifo():
    directory = place("fifo")
    path, got = os.path.join(directory, "fifo"), []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(read(path)), daemon=True)
    reader.start()
    done = export(path)
    reader.join(10)
    same("FIFO: status, and what its reader gets", (done.returncode, got), (0, [OUTPUT]))
    check("FIFO: still a FIFO", stat.S_ISFIFO(os.lstat(path).st_mode))
    if stat.S_ISFIFO(os.lstat(path).st_mode):
        end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        process = subprocess.Popen(command(path, trace=long), stderr=subprocess.PIPE, text=True)
        if wait_for(process, path):
            os.close(end)
        process.stderr_text = process.communicate(timeout=60)[1]
        same("FIFO whose reader ends: status 1 and an error",
             (process.returncode, "Broken pipe; its reader ended" in process.stderr_text), (1, True))
    path = os.path.join(directory, "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        failed("socket: error", export(path), "socket: No such device", "it is a socket")
    check("socket: still a socket", stat.S_ISSOCK(os.lstat(path).st_mode))


def test_descriptors():
    """/dev/stdout and /dev/fd/N are links to /proc/self/fd/N."""
    directory = place("descriptors")
    link, other = os.path.join(directory, "stdout"), os.path.join(directory, "fd")
    os.symlink("/proc/self/fd/1", link)
    os.symlink("/proc/self/fd", other)
    same("/dev/stdout, a pipe: output", export(link).stdout, OUTPUT)
    log = write(os.path.join(directory, "log"), "first\n")
    for path in (link, os.path.join(other, "1")):
        write(log, "first\n")
        with open(log, "a") as file:
            written("%s, a file: output is appended" % os.path.basename(path), log,
                    export(path, stdout=file), "first\n" + OUTPUT)
    ends = socket.socketpair()
    done = export(link, stdout=ends[0])
    ends[0].close()
    same("/dev/stdout, a socket: output", (done.returncode, ends[1].recv(4096)), (0, OUTPUT.encode()))
    ends[1].close()
    with open(log, "a") as file:
        written("/dev/fd/N: output is appended", log,
                export(os.path.join(other, str(file.fileno())), pass_fds=[file.fileno()]), "first\n" + OUTPUT * 2)
    same("/dev/stdout: nothing is replaced", (os.path.islink(link), sorted(os.listdir(directory))),
         (True, ["fd", "log", "stdout"]))
    failed("/dev/fd/N of a closed descriptor: error", export(os.path.join(other, "77")), "cannot write to")


def test_streams():
    shell = ["sh", "-c", 'exec "$0" "$@" >&-']
    for option in ([], ["-o", "-"]):
        done = subprocess.run([*shell, kunwind, "export", "folded", "--all", *option, short], capture_output=True, text=True)
        failed("standard output is closed: error", done, "cannot write to standard output: Bad file", "-o FILE")
    ends = os.pipe()
    os.close(ends[0])
    done = subprocess.run([kunwind, "export", "folded", "--all", short], stdout=ends[1], stderr=subprocess.PIPE,
                          text=True, restore_signals=False)
    os.close(ends[1])
    failed("standard output is a pipe without reader, SIGPIPE is ignored: error", done, "standard output: Broken pipe")
    path = os.path.join(place("closed"), "x")
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *command(path)])
    written("standard streams are closed: no message in the file", path, done)


def limited():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def test_reader():
    """Standard output whose reader has gone, with SIGPIPE ignored; and a full disk."""
    commands = (["report", "-a", long], ["report", "-a", "--json", long], ["show", "--own", "--summary", long], ["show", "--own", long],
                ["show", "--own", "--json", long], ["dump", "/bin/ls"], ["show", "--help"])
    for command in commands:
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([os.path.join(BUILD, "kunwind"), *command], stdout=writer, stderr=subprocess.PIPE, text=True,
                              check=False, restore_signals=False,
                              preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        os.close(writer)
        same("the reader of standard output has gone: %s: status 0, and no message" % " ".join(command[:-1]),
             (done.returncode, done.stderr), (0, ""))
    for command in (*commands, ["crashes", "--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.path.join(BUILD, "kunwind"), *command], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        check("standard output is on a full disk: %s: status 1, and a message" % " ".join(command[:-1]),
              done.returncode == 1 and "cannot write to standard output: No space" in done.stderr, (done.returncode, done.stderr))


def test_space(shim):
    directory = place("limit")
    path = write(os.path.join(directory, "x"))
    failed("limit of the file size: error", export(path, preexec_fn=limited), "x: File too large", "ulimit -f")
    same("limit of the file size: old file is kept", (read(path), os.listdir(directory)), ("old", ["x"]))
    mounted = place("mounted")
    for what, extra in (("full file system", ""), ("full file system without O_TMPFILE", "LD_PRELOAD=" + shim)):
        script = """set -e
            mount -t tmpfs -o size=8k none "$0"
            echo old >"$0/x"
            echo 1 >"$0/fill"
            status=0
            env %s "$@" || status=$?
            echo "$status $(cat "$0/x") $(ls -A "$0" | tr '\\n' ' ')"
            """ % extra
        done = subprocess.run(["unshare", "-m", "bash", "-c", script, mounted, *command(os.path.join(mounted, "x"))],
                              capture_output=True, text=True)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            skip(what, "needs root")
            return
        same(what + ": status 1, old file is kept", done.stdout, "1 old fill x \n")
        check(what + ": error", "x: No space left" in done.stderr, done.stderr)
    path, source = write(os.path.join(directory, "mount-point")), write(os.path.join(directory, "source"), "old" * 100)
    script = 'mount --bind "$0" "$1" && shift && exec "$@"'
    done = subprocess.run(["unshare", "-m", "bash", "-c", script, source, path, *command(path)], capture_output=True, text=True)
    written("mount point: written in place", source, done)


def wait_for(process, directory, but=None):
    """Waits until the process has a file below the directory, except one, open for writing."""
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        try:
            for fd in os.listdir("/proc/%d/fd" % process.pid):
                path = os.readlink("/proc/%d/fd/%s" % (process.pid, fd))
                if path.startswith(directory) and path != but:
                    with open("/proc/%d/fdinfo/%s" % (process.pid, fd)) as info:
                        flags = next(line for line in info if line.startswith("flags:"))
                    # O_PATH has no access mode of its own
                    if int(flags.split()[1], 8) & os.O_WRONLY:
                        return True
        except (OSError, StopIteration):
            pass
    return False


def test_killed_view(shim):
    """Two parts of the program have temporary files: the output, and the view of a trace that is cut off."""
    cut = os.path.join(work, "cut")
    shutil.copytree(long, cut)
    data = os.path.join(cut, "channel_0")
    os.truncate(data, os.path.getsize(data) - 1)
    directory, views = place("killed-view"), place("views")
    process = subprocess.Popen(command(os.path.join(directory, "x"), trace=cut), stderr=subprocess.PIPE,
                               env={**os.environ, "LD_PRELOAD": shim, "TMPDIR": views})
    until = time.monotonic() + 20
    while not os.listdir(views) and time.monotonic() < until and process.poll() is None:
        time.sleep(0.01)
    found = len(os.listdir(directory)), len(os.listdir(views))
    process.send_signal(signal.SIGTERM)
    process.communicate()
    same("killed, without O_TMPFILE, trace cut off: both temporary files are removed",
         (process.returncode, found, os.listdir(directory), os.listdir(views)), (-signal.SIGTERM, (1, 1), [], []))


def test_killed(shim):
    cases = [(name, preload) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGKILL") for preload in ("", shim)
             if not (preload and name == "SIGKILL")]
    for name, preload in cases:
        number = getattr(signal, name)
        what = name + (", without O_TMPFILE" if preload else "")
        directory = place("killed-%s-%d" % (name, bool(preload)))
        path = write(os.path.join(directory, "x"))
        process = subprocess.Popen(command(path, trace=long), stderr=subprocess.PIPE,
                                   env={**os.environ, "LD_PRELOAD": preload})
        check("killed by %s: the output is open before the trace is read" % what, wait_for(process, directory, path))
        if preload:
            same("killed by %s: the temporary file is in the directory" % what, len(os.listdir(directory)), 2)
        process.send_signal(number)
        process.communicate()
        same("killed by %s: status" % what, process.returncode, -number)
        same("killed by %s: old file is kept, no temporary file is left" % what,
             (read(path), os.listdir(directory)), ("old", ["x"]))
    test_killed_view(shim)
    directory = place("without")
    path = write(os.path.join(directory, "x"))
    os.chmod(path, 0o600)
    written("existing file, without O_TMPFILE", path, export(path, env={**os.environ, "LD_PRELOAD": shim}))
    new = os.path.join(directory, "new")
    written("new file, without O_TMPFILE", new, export(new, env={**os.environ, "LD_PRELOAD": shim}, umask=0o022))
    same("without O_TMPFILE: modes and names", [(name, stat.S_IMODE(os.stat(os.path.join(directory, name)).st_mode))
         for name in sorted(os.listdir(directory))], [("new", 0o644), ("x", 0o600)])


def test_terminal():
    for form, options, status, start in (("pprof", (), 2, None), ("perfetto", (), 2, None), ("pprof", ("-o", "-"), 0, b"\x1f\x8b"),
                                         ("folded", (), 0, b"app;")):
        ours, terminal = os.openpty()
        done = subprocess.run([kunwind, "export", form, "--all", *options, short], stdout=terminal, stderr=subprocess.PIPE, text=True)
        os.close(terminal)
        try:
            out = os.read(ours, 100)
        except OSError:     # nothing was written
            out = b""
        os.close(ours)
        what = " ".join((form, *options))
        same("%s to a terminal: status" % what, done.returncode, status)
        check("%s to a terminal: output or message" % what, out.startswith(start) if start else not out and
              "%s writes no text: name a file (-o FILE)" % form in done.stderr, (out, done.stderr))


def main():
    global work
    with tempfile.TemporaryDirectory() as directory:
        work = os.path.realpath(directory)
        # Programs that the test runs must not ignore these, as in the background.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, lambda *_: sys.exit(1))
        prepare()
        shim = os.path.join(work, "shim.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-o", shim, "-"], input=SHIM, text=True, check=True)
        test_new()
        test_failed()
        test_existing()
        test_owner()
        test_directory()
        test_links()
        test_devices()
        test_fifo()
        test_descriptors()
        test_streams()
        test_terminal()
        test_reader()
        test_space(shim)
        test_killed(shim)
    tap.finish()


if __name__ == "__main__":
    main()
