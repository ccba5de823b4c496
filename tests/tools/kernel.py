#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests kernel stacks: their names, and how all commands show them.

The test makes up the symbols of a kernel, and writes traces with stacks in it:
each address has a known function.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile

import analyze
import ctf
import perfetto
import tap
from tap import check, same

tap.suite = "kernel"
BOOT = "01234567-89ab-cdef-0123-456789abcdef"
OTHER_BOOT = "76543210-89ab-cdef-0123-456789abcdef"
# The test runs on some host; no trace but those with host=HERE is of it.
HERE = os.uname().nodename
SYMBOLS = """\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T do_syscall_64
ffffffff81000100 T entry_SYSCALL_64_after_hwframe
ffffffff81000200 T ksys_read
ffffffff81000300 T vfs_read
ffffffff81000400 t pipe_read
ffffffff81000400 t alias_of_pipe_read
ffffffff81000500 T schedule
ffffffff81000600 t __schedule
ffffffff81000700 T __traceiter_sched_switch
ffffffff81000800 D data_in_between
ffffffff81000900 T last_of_the_kernel
ffffffffc0000000 t lttng_event_reserve\t[lttng_tracer]
ffffffffc0000100 t __event_probe__sched_switch\t[lttng_probe_sched]
ffffffffc0000200 t a_walk\t[kunwind]
ffffffffc0001000 t nft_do_chain\t[nf_tables]
ffffffffc0001200 t lttng_like_name\t[nf_tables]
ffffffffc0001400 t nft_last\t[nf_tables]
ffffffffc0009000 t other\t[other]
"""
START = {line.split()[2]: int(line.split()[0], 16) for line in SYMBOLS.splitlines()}
# The stack of a read that sleeps, as LTTng records it: innermost first.
SLEEP = ("a_walk", "lttng_event_reserve", "__event_probe__sched_switch", "__traceiter_sched_switch", "__schedule",
         "schedule", "pipe_read", "vfs_read", "ksys_read", "do_syscall_64", "entry_SYSCALL_64_after_hwframe")
KERNEL = list(SLEEP[4:])
USER = ["reader", "main", "_start"]
CONTEXTS = ("callstack_user", "callstack_kernel", "pid", "tid", "procname")


def at(*names):
    return [START[name] + 0x10 for name in names]


def save(directory, boot=BOOT, text=SYMBOLS):
    """Writes the file that kunwind record --kernel writes."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "kallsyms.gz")
    with gzip.open(path, "wt") as file:
        file.write("# kunwind kernel symbols 1\n# release 6.1.0-1-made-up\n# boot %s\n" % boot)
        file.write("".join(line + "\n" for line in text.splitlines() if line.split()[1] in "TtWw"))
    return path


class Maker:
    """Makes traces of one process of the program."""

    def __init__(self, work):
        self.work = work
        self.program, symbols, self.build_id = analyze.build(work)
        self.user = analyze.stack(symbols, *USER)

    def trace(self, name, kernel=None, boot=BOOT, host="testhost", below="kernel"):
        """Writes DIR/kernel, and returns DIR. kernel: addresses at the sched_switch."""
        trace = ctf.Trace(host=host, contexts=CONTEXTS, boot=boot)
        kernel = at(*SLEEP) if kernel is None else kernel
        entry = at("lttng_event_reserve", "do_syscall_64", "entry_SYSCALL_64_after_hwframe")
        trace.add(1000, "kunwind_map", analyze.APP, (), ctf.MAP, [
            100, 100, analyze.BIAS, analyze.BIAS + 0x10000, 0, analyze.BIAS, 0, self.build_id, self.program])
        trace.add(2000, "syscall_entry_read", analyze.APP, self.user, kernel=entry)
        trace.add(2500, "sched_switch", analyze.APP, self.user, ctf.SWITCH, [100, 1, 0], kernel=kernel)
        trace.add(7500, "sched_switch", (0, 0, "swapper/0"), (), ctf.SWITCH, [0, 0, 100], kernel=at("__schedule"))
        trace.add(8000, "syscall_exit_read", analyze.APP, self.user, ctf.RETURN, [5], kernel=entry)
        # Stacks are in the payload, as in kunwind_sample.
        trace.add(9000, "sample", analyze.APP, self.user, [("callstack_kernel", "u64s")], [at("vfs_read", "ksys_read")])
        trace.add(9500, "whole_sample", analyze.APP, (), [*ctf.WHOLE, ("callstack_kernel", "u64s")], [
            100, 100, 100, -1, 0, 1, 0, 0, self.user, bytes(len(self.user)), at("ksys_read")])
        directory = os.path.join(self.work, name)
        trace.write(os.path.join(directory, below))
        return directory


def run(*arguments, status=0):
    done = analyze.run(*arguments, status=status)
    return done.stdout, done.stderr


def functions(trace, *options, event="sched_switch", kind="kernel"):
    """Returns [(function, object, why)...] of the first such event."""
    out, _ = run("show", "--tsv", "--limit", "1", "--event", event, *options, trace)
    rows = [line.split("\t") for line in out.splitlines()]
    return [(row[4], row[6], row[9]) for row in rows if row[0] == kind]


def names(trace, *options, **more):
    return [row[0] for row in functions(trace, *options, **more)]


def folded(trace, weight, *options):
    out, _ = run("export", "folded", "--weight", weight, *options, trace)
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in out.splitlines()}


def test_show(trace):
    same("show: names of the kernel's functions, without the tracer's own", names(trace), KERNEL)
    same("show: the user's functions are still there", names(trace, kind="frame"), USER)
    same("show: the kernel's functions have the object [kernel]", {row[1] for row in functions(trace)}, {"[kernel]"})
    same("show: a stack in the payload (kunwind_sample)", names(trace, event="sample"), ["vfs_read", "ksys_read"])
    same("show: an event whose payload has both stacks",
         [names(trace, event="whole_sample", kind=kind) for kind in ("kernel", "frame")], [["ksys_read"], USER])
    sample = json.loads(run("show", "--json", "--event", "whole_sample", trace)[0])
    check("show, JSON: the addresses are not among the fields of such an event", not {"addresses", "callstack_kernel"} & set(sample["fields"]), sample)
    out, _ = run("show", "--limit", "1", "--event", "sched_switch", trace)
    found = re.findall(r"^ +#(\d+) +0x[0-9a-f]+ (\w+)\+0x[0-9a-f]+ \((\S+)\)", out, re.M)
    same("show, text: one stack, the kernel's functions on top of the user's",
         [(int(number), name) for number, name, _ in found], list(enumerate(KERNEL + USER)))
    check("show, text: the addresses are not among the fields", not re.search("callstack_(user|kernel) =", out), out)
    event = json.loads(run("show", "--json", "--limit", "1", "--event", "sched_switch", trace)[0])
    same("show, JSON: one stack that marks the kernel's frames",
         [(frame["function"], frame["kernel"]) for frame in event["stack"]],
         [(name, True) for name in KERNEL] + [(name, False) for name in USER])
    check("show, JSON: the addresses are not among the contexts", not {"callstack_user", "callstack_kernel"} & set(event["context"]), event)
    same("show --no-kernel: no kernel's functions", (names(trace, "--no-kernel"), names(trace, "--no-kernel", kind="frame")), ([], USER))
    same("show --no-symbols: addresses, with the tracer's", names(trace, "--no-symbols"), [""] * len(SLEEP))
    summary = json.loads(run("show", "--summary", "--json", trace)[0])
    same("show --summary: counts of the kernel's frames and the user's are apart",
         [summary[key] for key in ("with_kernel_stack", "kernel_frames", "kernel_named", "with_stack", "frames")],
         [5, 2 + 7 + 1 + 2 + 2, 2 + 7 + 1 + 2 + 2, 4, 12])
    idle = [stack.split(";")[:2] for stack in folded(trace, "events", "--all") if stack.startswith("swapper")]
    same("folded: a stack with kernel frames only says that the user stack is missing",
         idle, [["swapper/0", "[no user stack]"]])


def test_addresses(maker):
    addresses = [0xffffffff80fffff0, START["nft_do_chain"] + 1, START["lttng_like_name"] + 1, START["nft_last"] + 0x1fff - 0x400 + 1,
                 START["nft_last"] + 0x2000 - 0x400 + 1, START["last_of_the_kernel"] + 0x10000, START["pipe_read"],
                 START["data_in_between"] + 1, START["other"] + 1]
    save(maker.trace("addresses", addresses))
    same("names: module, gap, end, alias and return address at a function's start", functions(os.path.join(maker.work, "addresses")), [
        ("", "[kernel]", "no symbol"), ("nft_do_chain", "[nf_tables]", ""), ("lttng_like_name", "[nf_tables]", ""),
        ("nft_last", "[nf_tables]", ""), ("", "[kernel]", "no symbol"), ("", "[kernel]", "no symbol"),
        ("vfs_read", "[kernel]", ""), ("__traceiter_sched_switch", "[kernel]", ""), ("", "[kernel]", "no symbol")])
    save(maker.trace("lttng", at("pipe_read", "lttng_event_reserve", "vfs_read")))
    same("the tracer's functions are left out only on top", names(os.path.join(maker.work, "lttng")),
         ["pipe_read", "lttng_event_reserve", "vfs_read"])


def unnamed(what, directory, why, said, *options, **more):
    rows = functions(directory, *options, **more)
    same("%s: no names, and why" % what, {row for row in rows}, {("", "[kernel]", why)})
    for command in (("report",), ("show", "--summary"), ("export", "folded")):
        _, errors = run(*command, *options, directory)
        check("%s: %s says why and what to do, in one line" % (what, command[0]), re.search(
            "^kunwind %s: kernel functions have no names: .*%s" % (command[0], said), errors, re.M), errors)


def test_boots(maker):
    other = maker.trace("other-boot", boot=OTHER_BOOT)
    save(other)
    unnamed("symbols of another boot", other, "kernel symbols are of another boot", "is of another boot than the trace")
    nothing = maker.trace("nothing", boot=OTHER_BOOT, host=HERE)
    unnamed("no symbols, this host's name, and another boot", nothing, "kernel of another host or boot",
            "record it with kunwind record --kernel, as root")
    no_boot = maker.trace("no-boot", boot=None)
    save(no_boot)
    unnamed("a trace without a boot id", no_boot, "the trace does not record its boot", "does not record of which boot")
    both = os.path.join(maker.work, "both")
    os.makedirs(both)
    shutil.copytree(maker.trace("first"), os.path.join(both, "first"))
    shutil.copytree(maker.trace("second", boot=OTHER_BOOT), os.path.join(both, "second"))
    save(os.path.join(both, "first"))
    save(os.path.join(both, "second"), OTHER_BOOT, SYMBOLS.replace("pipe_read", "pipe_of_second"))
    out, _ = run("show", "--tsv", "--event", "sched_switch", both)
    named = {line.split("\t")[4] for line in out.splitlines() if line.startswith("kernel\t")}
    check("two traces of two boots: each has its own symbols", {"pipe_read", "pipe_of_second"} <= named, named)


def test_places(maker):
    for below, given in (("kernel", ""), ("kernel", "kernel"), ("archives/20260101-1/kernel", "archives/20260101-1/kernel"),
                         ("snapshot-1/kernel", "snapshot-1")):
        name = "place-" + (below or "top").replace("/", "-") + "-" + (given or "top").replace("/", "-")
        directory = maker.trace(name, below=below)
        save(directory)
        same("symbols are found for DIR/%s beside DIR/%s" % (given, below), names(os.path.join(directory, given)), KERNEL)
    plain = maker.trace("plain")
    with open(os.path.join(plain, "kallsyms.gz"), "w") as file:
        file.write(gzip.open(save(os.path.join(maker.work, "for-plain")), "rt").read())
    same("symbols that gunzip(1) has expanded", names(plain), KERNEL)


def test_damaged(maker):
    directory = maker.trace("damaged")
    path = save(directory, text=SYMBOLS + "".join("%x t f%d\n" % (0xffffffffc0100000 + 64 * i, hash(i * i)) for i in range(5000)))
    with open(path, "rb") as file:
        whole = file.read()
    with open(path, "wb") as file:
        file.write(whole[:len(whole) // 2])
    unnamed("symbols that are cut off", directory, "the file of kernel symbols is damaged", "is damaged or not readable")
    for what, content in (("empty", b""), ("not compressed, and no symbols", b"hello"), ("noise", os.urandom(5000))):
        with open(path, "wb") as file:
            file.write(content)
        unnamed("a file of symbols that is " + what, directory, "kernel of another host or boot", "record it with")
    with gzip.open(path, "wb") as file:
        file.write(b"# kunwind kernel symbols 1\n# release 6\n# boot %s\n" % BOOT.encode())
    unnamed("a file without a symbol", directory, "the file of kernel symbols is damaged", "is damaged or not readable")
    os.unlink(path)
    os.mkfifo(path)
    unnamed("a FIFO in place of the file", directory, "kernel of another host or boot", "record it with")


def test_owners(maker):
    """A file that another user could put beside, or above, a trace of the viewer."""
    def own(user, *paths):
        for path in paths:
            os.chown(path, user, user)

    if os.geteuid():
        tap.skip("symbols of other users", "not root")
        return
    one, two = 1, 2
    foreign = "the file of kernel symbols belongs to another user", "belongs to another user than root"
    directory = maker.trace("owners", below="above/trace")
    trace, above = os.path.join(directory, "above/trace"), os.path.join(directory, "above")
    path = save(directory)
    own(one, path)
    unnamed("symbols of another user, two directories above the trace", trace, *foreign)
    unnamed("symbols of another user in the directory of the trace", directory, *foreign)
    own(one, directory)
    same("symbols of the owner of the directory that is given: used", names(directory), KERNEL)
    own(one, trace)
    same("symbols of the owner of the trace, above it: used", names(trace), KERNEL)
    own(two, trace)
    unnamed("symbols of another user than the owner of the trace", trace, *foreign)
    own(0, path)
    same("symbols of root beside the trace of another user: used", names(trace), KERNEL)
    own(one, path)
    own(one, trace)
    other = maker.trace("owners-other", boot=OTHER_BOOT)
    out, errors = run("show", "--event", "sched_switch", trace, other)
    check("symbols of the owner of one of two traces: not used", foreign[0] in out, out + errors)
    own(one, other)
    out, errors = run("show", "--event", "sched_switch", trace, other)
    check("symbols of the owner of both traces: used", "pipe_read" in out, out + errors)
    os.unlink(path)
    elsewhere = save(os.path.join(maker.work, "elsewhere"))
    os.symlink(elsewhere, path)
    check("a symbolic link to symbols of root: not followed", "pipe_read" not in run("show", trace)[0])


def test_this_boot(maker):
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        with open("/proc/kallsyms") as file:
            visible = [line.split() for line in file if line.split()[1] in "Tt" and len(line.split()) == 3]
    except OSError as error:
        tap.skip("a trace of this boot", str(error))
        return
    symbols = [line for line in visible if int(line[0], 16)]
    address = int(symbols[1000][0], 16) if symbols else 0xffffffff81000000
    # Of names for one address, the first one counts.
    name = next((line[2] for line in symbols if int(line[0], 16) == address), None)
    directory = maker.trace("this-boot", [address], boot=boot, host=HERE)
    if name:
        same("a trace of this boot: names from /proc/kallsyms", names(directory), [name])
    else:
        unnamed("/proc/kallsyms hides addresses", directory, "kernel symbols are hidden", "run this command as root")
    unnamed("a trace of this boot, --no-local", directory, "no kernel symbols in the trace", "--no-local forbids", "--no-local")
    save(directory, boot, SYMBOLS + "%x t saved_name\n%x t next_name\n" % (address, address + 64))
    same("a trace of this boot: the saved symbols come first", names(directory), ["saved_name"])
    os.unlink(os.path.join(directory, "kallsyms.gz"))
    # A user who sees only zeros. That user may have no access to this tree.
    programs = os.path.join(maker.work, "programs")
    os.mkdir(programs)
    for program in ("kunwind", "kunwind-show", "kunwind-symbolize-helper"):
        shutil.copy(os.path.join(os.path.dirname(analyze.KUNWIND), program), programs)
    nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
    subprocess.run(["chmod", "-R", "a+rX", maker.work], check=True)
    seen = subprocess.run([*nobody, "grep", "-qvE", "^0+ ", "/proc/kallsyms"], capture_output=True).returncode
    can = subprocess.run([*nobody, "test", "-x", programs], capture_output=True).returncode == 0
    if os.geteuid() or seen != 1 or not can:
        tap.skip("a trace of this boot, kallsyms hidden from the user",
                 "not root, or other users see the addresses, or cannot read the directory of the test")
        return
    done = subprocess.run([*nobody, os.path.join(programs, "kunwind"), "show", "--event", "sched_switch", directory],
                          capture_output=True, text=True, cwd=maker.work)
    check("a trace of this boot, kallsyms hidden from the user: no names, and says to run as root",
          "(kernel symbols are hidden)" in done.stdout and "run this command as root" in done.stderr, done.stdout + done.stderr)


def test_analysis(trace, work):
    kernel = [name + "_[k]" for name in reversed(KERNEL)]
    entry = ";".join(kernel[:2])
    stack = "app;_start;main;reader;"
    same("export folded: off the CPU, kernel functions end with _[k]", folded(trace, "off-cpu"),
         {stack + ";".join(kernel) + ";read": 5000})
    same("export folded: a system call", folded(trace, "blocked"), {stack + entry + ";read": 6000})
    same("export folded --no-kernel", folded(trace, "off-cpu", "--no-kernel"), {stack + "read": 5000})
    text, _ = run("waits", trace)
    check("waits, text: the program's functions, then two of the kernel, without the scheduler's",
          "reader < main < _start; kernel: pipe_read < vfs_read\n" in text, text)
    waker = json.loads(run("waits", "--json", trace)[0])["wakers"][0]
    same("waits, JSON: the whole stack", [(frame["name"], frame["kernel"]) for frame in waker["stack"]],
         [(name, True) for name in KERNEL] + [(name, False) for name in USER])
    report = json.loads(run("report", "--json", trace)[0])
    rows = {row["name"]: (row["object"], row["kernel"], row["off_cpu_ns"]) for row in report["functions"]}
    same("report: functions of the kernel with their times", rows.get("pipe_read"), ("[kernel]", True, 5000))
    same("report: functions of the user keep their times", rows["reader"][1:], (False, 5000))
    same("report: counts of stacks and frames are the user's", [report["trace"][key] for key in ("stacks", "frames", "stacks_complete")], [4, 12, 4])
    same("report --no-kernel: no functions of the kernel", [row for row in json.loads(run("report", "--json", "--no-kernel", trace)[0])["functions"]
         if row["object"] == "[kernel]"], [])
    text, _ = run("report", "--sort", "off-cpu", trace)
    check("report, text: the object is [kernel]", re.search(r"  pipe_read \(\[kernel\]\)$", text, re.M), text)
    speedscope = json.loads(run("export", "speedscope", trace)[0])
    check("export speedscope: the file of a kernel function is [kernel]",
          {"name": "pipe_read", "file": "[kernel]"} in speedscope["shared"]["frames"])
    firefox = json.loads(run("export", "firefox", trace)[0])
    shared, categories = firefox["shared"], [category["name"] for category in firefox["meta"]["categories"]]
    of = {shared["stringArray"][shared["funcTable"]["name"][function]]: categories[category] for function, category in zip(
        shared["frameTable"]["func"], shared["frameTable"]["category"])}
    same("export firefox: category of functions of kernel and user, and of the system call",
         [of[name] for name in ("pipe_read", "reader", "read")], ["Kernel", "Other", "System call"])
    out = os.path.join(work, "out.pprof")
    run("export", "pprof", "-o", out, trace)
    with gzip.open(out) as file:
        profile = file.read()
    check("export pprof: the mapping [kernel.kallsyms]", b"[kernel.kallsyms]" in profile and b"pipe_read" in profile)
    out = os.path.join(work, "out.pftrace")
    run("export", "perfetto", "-o", out, trace)
    with open(out, "rb") as file:
        written = file.read()
    check("export perfetto: frames of the kernel in the mapping [kernel]", b"[kernel]" in written and b"pipe_read" in written)
    page = os.path.join(work, "page.html")
    run("flamegraph", "-o", page, trace)
    with open(page) as file:
        data = json.loads(re.search('id="data">(.*?)</script>', file.read()).group(1))
    kinds = {frame[0]: frame[2] for frame in data["frames"]}
    same("flamegraph: kernel functions have a kind of their own", [kinds[name] for name in ("pipe_read", "reader", "read")], [5, 1, 3])


def test_babeltrace(trace, maker):
    plain = tap.run("babeltrace2", trace)
    same("babeltrace2 opens DIR with the symbols beside its trace", len(plain.splitlines()), 7)
    plugin = os.path.join(analyze.HERE, "../../tools/babeltrace2/build")
    path = os.path.join(trace, "kallsyms.gz")

    def named(directory, *parameters):
        out = tap.run("babeltrace2", "--plugin-path", plugin, directory, "-c", "filter.kunwind.symbolize", *parameters)
        line = [line for line in out.splitlines() if "sched_switch" in line][0]
        line = line[line.index("callstack_kernel_frames"):]
        return re.findall(r'function = "([^"]*)"', line), re.findall(r'why = "([^"]*)"', line)

    same("plug-in: names from the file that kallsyms= names, compressed", named(trace, "--params", 'kallsyms="%s"' % path)[0], list(SLEEP))
    same("plug-in: a kernel of another boot has no names", set(named(trace)[1]), {"kernel of another host or boot"})


def main():
    with tempfile.TemporaryDirectory() as work:
        os.environ.pop("DEBUGINFOD_URLS", None)
        maker = Maker(work)
        trace = maker.trace("trace")
        save(trace)
        test_show(trace)
        test_addresses(maker)
        test_boots(maker)
        test_places(maker)
        test_damaged(maker)
        test_owners(maker)
        test_this_boot(maker)
        test_analysis(trace, work)
        test_babeltrace(trace, maker)
    tap.finish()


if __name__ == "__main__":
    main()
