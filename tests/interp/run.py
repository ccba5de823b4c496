#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py SAMPLE [SAMPLES [PYTHON...]] - compare functions that libkunwind/interp finds with the interpreter's record

Starts SAMPLE (sample.c) for each case of cases.py. For each sample, the frames must be those of
the traceback that faulthandler writes in the same instant: the same names, files and lines, in
the same order. A frame more, or another one, is wrong. A stack that ends early, or has no frames,
has a reason, and is counted as missing. (faulthandler writes co_name, the last part of co_qualname.)

Prints TAP: one test for each case and interpreter.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ("recursion", "deep", "generators", "coroutines", "callbacks", "exceptions", "deletions", "made_code",
         "names", "calls", "threads", "fork", "end")
REASONS = ("complete", "no_loop", "no_state", "unsettled_code", "bad_key", "unreadable", "spoilt", "torn", "budget",
           "full", "native")
NONE = "???"
OUTERMOST = ("<module>", "_bootstrap")
RECORDED = 100  # faulthandler stops after so many frames
# What 3.12 writes first if no function of the innermost eval loop runs (not yet, or no more).
SHIM = 'File "<shim>", line ??? in <interpreter trampoline>'


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def object_of(python):
    """Returns minor version, and the file that has the interpreter."""
    minor = int(output(python, "-c", "import sys; print(sys.version_info[1])"))
    maps = output(python, "-c", "print(open('/proc/self/maps').read())")
    library = re.search(r" (/\S*/libpython3\.%d\S*)" % minor, maps)
    return minor, os.path.realpath(library[1] if library else python)


def frame_of(text):
    """A frame of sample.c as faulthandler writes it."""
    line, rest = text.split(" ", 1)
    name, file = rest.split("\t")
    name = name.rpartition(".")[2]
    name = "".join(c if 32 <= ord(c) < 127 else "\\x%02x" % ord(c) if ord(c) < 256 else
                   "\\u%04x" % ord(c) if ord(c) < 65536 else "\\U%08x" % ord(c) for c in name)
    return 'File "%s", line %s in %s' % (file, NONE if line == "0" else line, name)


class Count:
    def __init__(self):
        self.samples = self.equal = self.frames = self.missing = self.crashed = self.cut = 0
        self.wrong, self.reasons = [], {}

    def add(self, reason, ours, theirs, what):
        self.samples += 1
        self.frames += len(ours)
        cut = len(theirs) >= RECORDED
        if cut:
            theirs, ours = theirs[:RECORDED], ours[:RECORDED]
        if ours == theirs:
            self.equal += 1
        elif not theirs or (len(theirs) < RECORDED and theirs[-1].split(" in ")[-1] not in OUTERMOST):
            # The generator that runs is just being unlinked from its caller: the record ends there.
            self.cut += 1
        elif len(ours) < len(theirs) and is_part(ours, theirs) and reason != "complete":
            self.missing += len(theirs) - len(ours)
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        else:
            self.wrong.append((what, reason, ours, theirs))


def is_part(ours, theirs):
    """Whether ours is theirs with frames left out."""
    rest = iter(theirs)
    return all(frame in rest for frame in ours)


def compare(count, text):
    reason, ours, theirs = None, [], []
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "S":
            reason, what, ours, theirs = REASONS[int(words[2])], line, [], []
        elif words[0] == "F":
            ours.append(frame_of(line[2:]))
        elif words[0] == "H":
            match = re.match(r"H   (File .*)$", line)
            if match and match[1] != SHIM:
                # the first instruction of a module has line 0: none
                theirs.append(match[1].replace(", line 0 in ", ", line %s in " % NONE))
        elif words[0] == "E":
            count.add(reason, ours, theirs, what)
            reason = None
        elif words[0] == "X":
            reason = None
        elif words[0] == "D":   # 3.13.0's faulthandler takes None for a code object
            count.crashed += 1
            reason = None


def main():
    sample, samples = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    pythons = sys.argv[3:] or ["/usr/bin/python3.11"] + sorted(
        p for p in glob.glob("/usr/bin/python3.1[2-4]") if os.access(p, os.X_OK))
    only = os.environ.get("ONLY", "").split()
    nr = failed = 0
    for python in pythons:
        minor, path = object_of(python)
        print("# %s" % path)
        for case in only or CASES:
            count, seed = Count(), 0
            while count.samples < samples and seed < 9 + samples // 20:
                seed += 1
                with tempfile.NamedTemporaryFile() as record:
                    program = [python, os.path.join(HERE, "cases.py"), case, record.name]
                    done = subprocess.run([sample, path, str(samples - count.samples), str(seed), record.name,
                                           "--"] + program, capture_output=True, text=True)
                compare(count, done.stdout)
            good = not done.returncode and not count.wrong and count.samples == samples and count.cut <= samples // 50
            nr += 1
            failed += not good
            print("%sok %d - %s %s: %d of %d equal, %d frames, %d frames missing %s, %d records cut, %d crashed, %d wrong" % (
                "" if good else "not ", nr, "3.%d" % minor, case, count.equal, count.samples, count.frames, count.missing,
                count.reasons or "", count.cut, count.crashed, len(count.wrong)), flush=True)
            for what, reason, ours, theirs in count.wrong[:2]:
                print("# %s %s" % (what, reason))
                for i in range(max(len(ours), len(theirs))):
                    print("#   %-70s | %s" % (ours[i] if i < len(ours) else "", theirs[i] if i < len(theirs) else ""))
            if done.stderr:
                print("# " + done.stderr[-2000:].replace("\n", "\n# "))
    print("1..%d" % nr)
    return failed > 0


sys.exit(main())
