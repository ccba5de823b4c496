#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares kunwind dump --tsv with readelf --debug-dump=frames-interp.

For the first and the last byte of each row of readelf, the rules that dump
prints must be the same, as text; with --saved also those of the registers that a
call preserves. (tests/unit compares the table itself, in
binary, for larger objects.) readelf prints only "exp" for an expression, and so
for the rule of the PLT, which dump prints in its own form.
"""

import bisect
import os
import re
import subprocess
import sys

KUNWIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/build/kunwind")
OBJECTS = ("/bin/ls", "/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
           "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
SAVED = ("rbx", "r12", "r13", "r14", "r15")


def saved(rules):
    """Returns the rules of the registers in SAVED, without those that keep their value."""
    return {reg: re.sub(r"^(v?exp)\(.*", r"\1", rule) for reg, rule in rules if reg in SAVED and rule not in ("s", "u")}


def dump(path, *options):
    """Returns the rows of dump: ascending addresses, and for each (CFA, rbp, ra, {saved register: rule})."""
    out = subprocess.run([KUNWIND, "dump", "--tsv", *options, path], capture_output=True, text=True, check=True)
    addresses, rules = [], []
    for line in out.stdout.splitlines():
        fields = line.split("\t")
        addresses.append(int(fields[0], 16))
        more = (word.split("=", 1) for word in " ".join(fields[4:]).split() if "=" in word)
        rules.append((*fields[1:4], saved(more)))
    return addresses, rules


def reference(path):
    """Yields (first byte, last byte, (CFA, rbp, ra, saved registers)) of each row of readelf."""
    # The status is ignored: readelf exits with 1 after a warning. If its output
    # is empty, the test fails, because there are no rows.
    out = subprocess.run(["readelf", "--debug-dump=frames-interp", "-W", path],
                         capture_output=True, text=True, check=False, env={"LC_ALL": "C"})
    columns, pending, end, in_fde = [], None, 0, False
    for line in out.stdout.splitlines() + [""]:
        fde = re.match(r"[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
        if fde or not line or " CIE " in line or " ZERO " in line:
            if pending and pending[0] < end:
                yield pending[0], end - 1, pending[1]
            pending, columns, in_fde = None, [], bool(fde)
            if fde:
                end = int(fde.group(2), 16)
            continue
        if line.split()[:2] == ["LOC", "CFA"]:
            columns = line.split()
            continue
        if not in_fde or not columns or not re.match(r"[0-9a-f]{16} ", line):
            continue
        # Each rule is one word, except "r5 (rdi)" for a register: make it one.
        line = re.sub(r"\br\d+ \((\w+)\)", r"\1", line)
        words = dict(zip(columns, line.split()))
        row = (words["CFA"], words.get("rbp", "u"), words.get("ra", "c-8"), saved(words.items()))
        first = int(words["LOC"], 16)
        if pending and pending[0] < first:
            yield pending[0], first - 1, pending[1]
        pending = (first, row)


def alike(ours, theirs):
    """Are the rules equal? "u" for rbp in readelf: no rule, the same value."""
    if theirs[2] == "u":
        return ours[2] == "u"
    cfa, rbp, ra, more = ours
    if cfa.startswith(("exp(", "*(", "rsp+8+8*(")):
        cfa = "exp"
    rbp, ra = (re.sub(r"^(v?exp)\(.*", r"\1", rule) for rule in (rbp, ra))
    return more == theirs[3] and cfa == theirs[0] and ra == theirs[2] and (rbp == theirs[1] or (rbp, theirs[1]) == ("s", "u"))


def main():
    failed = 0
    for number, path in enumerate(OBJECTS, 1):
        addresses, rules = dump(path, "--saved")
        plain, fewer = dump(path)
        rows, wrong = 0, []
        for first, last, theirs in reference(path):
            rows += 1
            for address in (first, last):
                at = bisect.bisect_right(addresses, address) - 1
                ours = rules[at] if at >= 0 else ("-", "-", "-", {})
                at = bisect.bisect_right(plain, address) - 1
                less = fewer[at][:3] if at >= 0 else ours[:3]
                if not alike(ours, theirs) or less != ours[:3]:
                    wrong.append("%#x: %s, without --saved %s, readelf %s" % (address, ours, less, theirs))
        good = rows > 0 and not wrong
        failed |= not good
        print("%sok %d - %s: %d rows equal those of readelf" % ("" if good else "not ", number, path, rows))
        for line in wrong[:10]:
            print("# " + line)
    print("1..%d" % len(OBJECTS))
    return int(failed)


sys.exit(main())
