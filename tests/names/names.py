#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks the names for a trace whose programs are not on this host. Prints TAP.

  names.py OUT DEBUG KUNWIND

OUT is a directory that record.sh wrote; DEBUG has debug files below .build-id. A debuginfod
server on this host has the original objects and their debug files. KUNWIND names the
trace, and has only this server. At least 99 % of the frames must have a name. Each
distinct frame must have the function and line that eu-addr2line -i -f finds in the
original object, and the beginning of the function that its option -S prints. Inlined
functions must be those of eu-addr2line or of addr2line: elfutils 0.188 finds none in an
object that was optimized at link time, such as python.
"""

import collections
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

DEBUG_SYSTEM = "/usr/lib/debug"
# what compilers append to the name of a part or a variant of a function
VARIANT = re.compile(r"\.(part|isra|constprop|cold|lto_priv|localalias)(\.\d+)?")


class Tap:
    number = failed = 0

    def check(self, ok, text, *remarks):
        self.number += 1
        self.failed += not ok
        print("%sok %d - %s" % ("" if ok else "not ", self.number, text))
        if not ok:
            for remark in remarks[:12]:
                print("#", remark)

    def end(self):
        print("1..%d" % self.number)
        return self.failed > 0


def build_id(path):
    text = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", text)
    return found and found[1]


def originals(out):
    """{path in the trace: (copy, build-id)}"""
    found = {}
    for folder, _, names in os.walk(out):
        for name in names:
            copy = os.path.join(folder, name)
            path = copy[len(out):]
            found["[vdso]" if path == "/[vdso]" else path] = (copy, build_id(copy))
    return found


def save(objects, debug, to):
    """Copies the objects, and the debug files of those that have one, for a server."""
    shutil.copytree(os.path.join(DEBUG_SYSTEM, ".dwz"), os.path.join(to, ".dwz")) \
        if os.path.isdir(os.path.join(DEBUG_SYSTEM, ".dwz")) else None
    for copy, name in objects.values():
        if not name:
            continue
        folder = os.path.join(to, ".build-id", name[:2])
        os.makedirs(folder, exist_ok=True)
        shutil.copy(copy, os.path.join(folder, name[2:]))
        for root in (debug, DEBUG_SYSTEM):
            file = os.path.join(root, ".build-id", name[:2], name[2:] + ".debug")
            if os.path.exists(file):
                shutil.copy(file, folder)
                break


class Server:
    """debuginfod for a directory. serves: it has all build-ids in wanted."""

    def __init__(self, saved, work, wanted):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.log = open(os.path.join(work, "debuginfod.log"), "w")
        self.process = subprocess.Popen(
            ["debuginfod", "-F", "-d", ":memory:", "-p", str(port), "-t", "0", saved],
            stdout=self.log, stderr=self.log)
        self.cache = os.path.join(work, "cache")
        self.environment = {"DEBUGINFOD_URLS": "http://127.0.0.1:%d" % port,
                            "DEBUGINFOD_CACHE_PATH": self.cache}
        self.serves = all(self.has(name) for name in wanted)
        shutil.rmtree(self.cache, ignore_errors=True)

    def has(self, name):
        for _ in range(600):
            shutil.rmtree(self.cache, ignore_errors=True)
            if not subprocess.run(["debuginfod-find", "executable", name], capture_output=True,
                                  env={**os.environ, **self.environment}).returncode:
                return True
            time.sleep(0.2)
        return False

    def end(self):
        self.process.terminate()
        self.process.wait()


def read_names(kunwind, trace, environment):
    """Yields (object, address in it, exact, function, offset, why, [(function, file, line)])."""
    show = subprocess.Popen([kunwind, "show", "--tsv", "--no-local", trace], stdout=subprocess.PIPE,
                            text=True, errors="replace", env={**os.environ, **environment})
    frame = None
    for line in show.stdout:
        field = line.rstrip("\n").split("\t")
        if field[0] == "source" and frame:
            frame[-1].append((field[4], field[5], field[6]))
            continue
        if frame:
            yield frame
        frame = None
        if field[0] == "frame":
            frame = (field[6], field[7], field[2] == "0", field[4], field[5], field[9], [])
    if frame:
        yield frame
    if show.wait():
        sys.exit("kunwind show failed")


def debug_file(path, debug):
    """Returns the debug file of an object, or the object itself if it has none."""
    name = build_id(path)
    found = [os.path.join(root, ".build-id", name[:2], name[2:] + ".debug")
             for root in (debug, DEBUG_SYSTEM)] if name else []
    return next(filter(os.path.exists, found), path)


def chains(command, addresses):
    """Returns {address: [(function, file:line), innermost first]}, by a tool's -a -i -f."""
    done = subprocess.run([*command, "-a", "-i", "-f"], input="".join("%#x\n" % a for a in addresses),
                          capture_output=True, text=True)
    answers, name = {}, None
    for line in done.stdout.splitlines():
        if re.fullmatch("0x[0-9a-f]{16}", line):
            chain, name = answers.setdefault(int(line, 16), []), None
        elif name is None:
            name = line.split(" inlined at ")[0]
        else:
            chain.append((name, ":".join(line.split(" (")[0].split(":")[:2])))
            name = None
    return answers


class Answer:
    """What the other tools find for one address: two chains, and eu-addr2line's symbol+offset."""

    def __init__(self, chain, second, symbol):
        self.chain, self.second = chain, second
        self.symbol, _, self.offset = symbol.partition("+")
        if self.symbol.startswith(("(", "?")):
            self.symbol = None


def ask_others(path, debug, addresses):
    command = ["eu-addr2line", "--debuginfo-path=%s:%s" % (debug, DEBUG_SYSTEM), "-e", path]
    first = chains(command, addresses)
    second = chains(["addr2line", "-e", debug_file(path, debug)], addresses)
    symbols = subprocess.run([*command, "-S"], input="".join("%#x\n" % a for a in addresses),
                             capture_output=True, text=True).stdout.splitlines()[::2]
    return {a: Answer(first[a], second[a], symbol) for a, symbol in zip(addresses, symbols)}


def aliases(path, debug):
    """{name: {names at the same address}} of an object's and its debug file's symbols."""
    by_address, found = collections.defaultdict(set), {}
    for file in {path, debug_file(path, debug)}:
        for options in ([], ["-D"]):
            for line in subprocess.run(["nm", *options, file], capture_output=True,
                                       text=True).stdout.splitlines():
                field = line.split()
                if len(field) == 3:
                    by_address[field[0]].add(VARIANT.sub("", field[2].split("@")[0]))
    for names in by_address.values():
        for name in names:
            found.setdefault(name, set()).update(names)
    return found


def is_chain(source, chain):
    """Whether lines and functions are equal, except the last function: it may have several names."""
    return len(source) == len(chain) and all(
        "%s:%s" % (os.path.basename(file), line or "0") == os.path.basename(place).replace(":?", ":0") and
        (i + 1 == len(chain) or VARIANT.sub("", function) == VARIANT.sub("", name))
        for i, ((function, file, line), (name, place)) in enumerate(zip(source, chain)))


def compare(frame, answer, names):
    """Returns why a name is wrong, or None."""
    _, _, exact, function, offset, _, source = frame
    if not function:
        return None
    if answer.symbol and int(offset, 16) - (not exact) != int(answer.offset or "0", 16):
        return "%s+%s, eu-addr2line -S: %s+%s" % (function, offset, answer.symbol, answer.offset)
    outer = answer.chain[-1][0]
    if outer == "??" and not answer.symbol:
        return "%s+%s, which eu-addr2line does not know" % (function, offset)
    plain = VARIANT.sub("", function)
    same = names.get(plain, set()) | {plain}
    if not same & {VARIANT.sub("", name) for name in (outer, answer.symbol or "")}:
        return "%s, eu-addr2line: %s, %s" % (function, outer, answer.symbol)
    if not source and "??" in (answer.chain[0][1][:2], answer.second[0][1][:2]):
        return None         # for code of no unit (crt1's), eu-addr2line prints the line before it
    # with files that dwz moved, addr2line's innermost one is "<artificial>"
    second = [(answer.second[0][0], answer.chain[0][1])] + answer.second[1:]
    if not is_chain(source, answer.chain) and not is_chain(source, second):
        return "%s\n#   eu-addr2line: %s\n#   addr2line: %s" % (source, answer.chain, answer.second)
    return None


def main():
    out, debug, kunwind = sys.argv[1:]
    tap = Tap()
    work = tempfile.mkdtemp()
    try:
        objects = originals(os.path.join(out, "originals"))
        save(objects, debug, os.path.join(work, "saved"))
        shutil.copytree(os.path.join(out, "trace"), os.path.join(work, "carried"))
        gone = [path for path in objects if path.startswith("/tmp/names/programs")]
        tap.check(gone and not any(os.path.exists(path) for path in gone),
                  "the programs are not on this host (%d of %d objects)" % (len(gone), len(objects)))
        server = Server(os.path.join(work, "saved"), work, [name for _, name in objects.values() if name])
        tap.check(server.serves, "a debuginfod server has all objects by their build-ids")
        counts, distinct = collections.Counter(), {}
        for frame in read_names(kunwind, os.path.join(work, "carried"), server.environment):
            key = frame[:3]
            counts[key] += 1
            distinct.setdefault(key, frame)
        server.end()
        report(tap, counts, distinct)
        verify(tap, objects, debug, distinct)
    finally:
        shutil.rmtree(work)
    return tap.end()


def report(tap, counts, distinct):
    total = sum(counts.values())
    unnamed = collections.Counter()
    for key, frame in distinct.items():
        if not frame[3]:
            unnamed[frame[0] or "no object", frame[5]] += counts[key]
    share = 100 * (1 - sum(unnamed.values()) / total) if total else 0
    tap.check(total > 100000 and share >= 99, "%d frames, %d distinct: %.3f %% have a name" % (
        total, len(distinct), share))
    for (path, why), number in unnamed.most_common(20):
        print("# %.3f %% without: %s (%s)" % (100 * number / total, path, why))


def verify(tap, objects, debug, distinct):
    wrong, compared, with_lines = [], 0, 0
    by_object = collections.defaultdict(list)
    for key, frame in distinct.items():
        if key[0] in objects:
            by_object[key[0]].append(frame)
    for path, frames in sorted(by_object.items()):
        copy = objects[path][0]
        asked = {id(frame): int(frame[1], 16) - (not frame[2]) for frame in frames}
        answers = ask_others(copy, debug, sorted(set(asked.values())))
        names = aliases(copy, debug)
        for frame in frames:
            answer = answers[asked[id(frame)]]
            why = compare(frame, answer, names)
            compared += bool(frame[3])
            with_lines += bool(frame[3]) and bool(frame[6])
            if why:
                wrong.append("%s %s: %s" % (path, frame[1], why))
    tap.check(not wrong, "%d distinct names, %d with lines: %d differ from eu-addr2line -i -f on the originals"
              % (compared, with_lines, len(wrong)), *wrong)
    tap.check(compared >= 1000, "at least 1,000 names were compared")


if __name__ == "__main__":
    sys.exit(main())
