#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares packed tables with readelf --debug-dump=frames-interp, every row.

Usage: reference.py TABLE-DUMP FILE...

For each row that readelf prints, at the row's first byte and
at the byte before it (and the same where an FDE ends and nothing follows), the
rule that the table's lookup finds must agree on the CFA, rbp and the
return address. TAP on stdout, one test an object; no sampling.

Differences of the two notations:
- readelf prints "u" for rbp both if it is undefined and if CFI has no rule
  for it; the psABI calls the latter callee-saved, hence "same"
  (our "s"). Where our table has "u", the raw dump must have DW_CFA_undefined.
- readelf prints "exp" without the expression. FDEs with expressions are run
  again here over the raw dump (--debug-dump=frames), and the expressions'
  operations must be equal, decoded from the table's bytes.
- An FDE without instructions has no rows in readelf's output: its CIE's hold.
- A row at an address where the next one begins too is overridden by it.
- The return address is column 16, undefined ("u") in entry points: "end".
"""

import array
import bisect
import os
import re
import subprocess
import sys
import tempfile

REGS = ("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
        "r10", "r11", "r12", "r13", "r14", "r15", "rip")
# What names GNU readelf gives to register columns in expressions
REGS_I386 = ("eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip")
LITS = {0x30 + i: "DW_OP_lit%d" % i for i in range(32)}
PLAIN = {0x06: "DW_OP_deref", 0x12: "DW_OP_dup", 0x13: "DW_OP_drop", 0x14: "DW_OP_over",
         0x16: "DW_OP_swap", 0x17: "DW_OP_rot", 0x19: "DW_OP_abs", 0x1a: "DW_OP_and",
         0x1b: "DW_OP_div", 0x1c: "DW_OP_minus", 0x1d: "DW_OP_mod", 0x1e: "DW_OP_mul",
         0x1f: "DW_OP_neg", 0x20: "DW_OP_not", 0x21: "DW_OP_or", 0x22: "DW_OP_plus",
         0x24: "DW_OP_shl", 0x25: "DW_OP_shr", 0x26: "DW_OP_shra", 0x27: "DW_OP_xor",
         0x29: "DW_OP_eq", 0x2a: "DW_OP_ge", 0x2b: "DW_OP_gt", 0x2c: "DW_OP_le",
         0x2d: "DW_OP_lt", 0x2e: "DW_OP_ne", 0x96: "DW_OP_nop",
         0x9c: "DW_OP_call_frame_cfa"}
FIXED = {0x08: ("const1u", 1, False), 0x09: ("const1s", 1, True), 0x0a: ("const2u", 2, False),
         0x0b: ("const2s", 2, True), 0x0c: ("const4u", 4, False), 0x0d: ("const4s", 4, True)}


def leb(data, at, signed):
    """A LEB128 number and the offset after it."""
    val = shift = 0
    while True:
        byte = data[at]
        at += 1
        val |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            break
    if signed and byte & 0x40:
        val -= 1 << shift
    return val, at


def is_i386(path):
    with open(path, "rb") as f:
        return f.read(5)[4] == 1


def columns(i386):
    """Which register columns are rbp and the return address."""
    return {"5": "rbp", "8": "ra"} if i386 else {"6": "rbp", "16": "ra"}


def expr_text(hexa, regs):
    """An expression's bytes as readelf decodes them."""
    data, at, out = bytes.fromhex(hexa), 0, []
    while at < len(data):
        op = data[at]
        at += 1
        if op in LITS:
            out.append(LITS[op])
        elif op in PLAIN:
            out.append(PLAIN[op])
        elif 0x70 <= op < 0x70 + len(regs):
            val, at = leb(data, at, True)
            out.append("DW_OP_breg%d (%s): %d" % (op - 0x70, regs[op - 0x70], val))
        elif op == 0x23:
            val, at = leb(data, at, False)
            out.append("DW_OP_plus_uconst: %d" % val)
        elif op in (0x10, 0x11):
            val, at = leb(data, at, op == 0x11)
            out.append("DW_OP_const%s: %d" % ("us"[op - 0x10], val))
        elif op in FIXED:
            name, size, signed = FIXED[op]
            val = int.from_bytes(data[at:at + size], "little", signed=signed)
            at += size
            out.append("DW_OP_%s: %d" % (name, val))
        else:
            out.append("(operation 0x%x unknown to this script)" % op)
    return "; ".join(out)


def dump(path, kind, section=".eh_frame"):
    """Lines of one of readelf's dumps, those of one section only."""
    proc = subprocess.Popen(["readelf", "--debug-dump=no-follow-links",
                             "--debug-dump=" + kind, path],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, env=dict(os.environ, LC_ALL="C"))
    inside = False
    for line in proc.stdout:
        if line.startswith("Contents of the "):
            inside = line.startswith("Contents of the %s section" % section)
        elif inside:
            yield line
    if proc.wait():
        raise RuntimeError("readelf failed")


# Added to offsets in .debug_frame, to distinguish them from those in .eh_frame.
DEBUG = 1 << 40

HEAD = re.compile(r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE)(?: cie=([0-9a-f]+) "
                  r"pc=([0-9a-f]+)\.\.([0-9a-f]+))?")


class Reference:
    """readelf's rows: ascending addresses and a text for each, gaps included."""

    def __init__(self, path):
        self.fdes = []      # (start, end, offset, cie, [(addr, text)])
        self.exprs = set()  # offsets of FDEs and CIEs with expressions
        self.cies = {}
        self.memo = {}
        self.i386 = is_i386(path)
        self._read(path, ".eh_frame", 0)
        self._debug_frame(path)
        self._flatten()

    def _debug_frame(self, path):
        """FDEs of .debug_frame where .eh_frame has none; their offsets are from 1 << 40 on."""
        eh = sorted(self.fdes)
        self.fdes = []
        self._read(path, ".debug_frame", DEBUG)
        starts = [f[0] for f in eh]
        keep = []
        for fde in self.fdes:
            i = bisect.bisect_right(starts, fde[0])
            if (fde[0] not in (0, 2 ** (32 if self.i386 else 64) - 1) and not (i and eh[i - 1][1] > fde[0]) and
                    not (i < len(eh) and starts[i] < fde[1])):
                keep.append(fde)
        self.fdes = eh + keep

    def _text(self, cells, rbp, ra):
        ra_text = cells[ra]
        if ra_text == "u":
            return "end\t-\t-"
        rbp_text = cells[rbp] if rbp else "s"
        if rbp_text == "u":
            rbp_text = "s"
        return "%s\t%s\t%s" % (cells[1], rbp_text, ra_text)

    def _read(self, path, section, base):
        rows, rbp, ra, offset = None, None, None, None
        width = 8 if self.i386 else 16
        for line in dump(path, "frames-interp", section):
            if rows is not None and line[width:width + 1] == " " and line[0] in "0123456789abcdef" \
                    and not re.search(" CIE | FDE | ZERO ", line):
                tail = line[width + 1:]
                text = self.memo.get((tail, rbp, ra))
                if text is None:
                    # a register is printed as "r9 (r9)", "r1 (rdx)"
                    cells = re.sub(r"\br\d+ \((\w+)\)", r"\1", line).split()
                    text = self._text(cells, rbp, ra)
                    self.memo[(tail, rbp, ra)] = text
                if "exp" in text:
                    self.exprs.add(offset)
                rows.append((int(line[:width], 16), text))
            elif line.startswith("   LOC"):
                names = line.split()
                bp = "ebp" if self.i386 else "rbp"
                rbp = names.index(bp) if bp in names else 0
                ra = names.index("ra")
            else:
                head = HEAD.match(line)
                if not head:
                    if line.strip() and "ZERO terminator" not in line:
                        raise RuntimeError("cannot read: " + line)
                    continue
                rows, offset = [], int(head[1], 16) + base
                if head[2] == "CIE":
                    self.cies[offset] = rows
                else:
                    self.fdes.append((int(head[4], 16), int(head[5], 16), offset,
                                      int(head[3], 16) + base, rows))

    def _flatten(self):
        self.fdes.sort(key=lambda f: (f[0], f[2]))
        self.addrs, self.texts, self.owner = array.array("Q"), [], array.array("Q")
        self.overlaps = 0
        at = None
        for start, end, offset, cie, rows in self.fdes:
            if start == end:
                continue
            if at is not None and start < at:
                self.overlaps += 1
                continue
            if at is not None and start > at:
                self._add(at, "none\t-\t-", 0)
            if not rows or rows[0][0] != start:
                self._add(start, self.cies[cie][-1][1], offset)
            for i, (addr, text) in enumerate(rows):
                if addr >= end or (i + 1 < len(rows) and rows[i + 1][0] == addr):
                    continue
                self._add(addr, text, offset)
            at = end
        self._add(at, "none\t-\t-", 0)

    def _add(self, addr, text, offset):
        self.addrs.append(addr)
        self.texts.append(text)
        self.owner.append(offset)


class Raw:
    """The raw dump's FDEs, run with respect to expressions and undefined rbp."""

    def __init__(self, path, wanted):
        self.wanted = wanted
        self.rows = {}      # offset: ([addresses], [states])
        self.cie_state = {}
        self.columns = columns(is_i386(path))
        self._read(path, ".eh_frame", 0)
        self._read(path, ".debug_frame", DEBUG)

    def _rule(self, state, op, rest):
        """Applies one instruction to state {cfa, rbp, ra}: expressions and rbp only."""
        expr = re.search(r"\((.*)\)\s*$", rest)
        if op == "DW_CFA_def_cfa_expression":
            state["cfa"] = expr[1]
        elif op in ("DW_CFA_def_cfa", "DW_CFA_def_cfa_register", "DW_CFA_def_cfa_sf"):
            state["cfa"] = None
        else:
            m = re.match(r":? ?r(\d+) \((\w+)\)", rest)
            col = self.columns.get(m[1]) if m else None
            if not col:
                return
            if op in ("DW_CFA_expression", "DW_CFA_val_expression"):
                state[col] = re.search(r"\w+\) \((.*)\)\s*$", rest)[1]
            elif op == "DW_CFA_undefined":
                state[col] = "undefined"
            else:
                state[col] = None

    def _read(self, path, section, base):
        run = False
        for line in dump(path, "frames", section):
            head = HEAD.match(line)
            if head:
                offset = int(head[1], 16) + base
                stack = []
                if head[2] == "CIE":
                    state = {"cfa": None, "rbp": None, "ra": None}
                    self.cie_state[offset] = state
                    run = True
                else:
                    run = offset in self.wanted
                    if run:
                        initial = self.cie_state[int(head[3], 16) + base]
                        state = dict(initial)
                        self.rows[offset] = ([int(head[4], 16)], [state])
                continue
            if not run or not line.startswith("  DW_CFA_"):
                continue
            op, _, rest = line.strip().partition(" ")
            if op.endswith(":"):
                op, rest = op[:-1], ": " + rest
            if op.startswith("DW_CFA_advance_loc") or op == "DW_CFA_set_loc":
                addr = int(re.search(r"(?: to |: )([0-9a-f]{8,16})", rest)[1], 16)
                state = dict(state)
                self.rows[offset][0].append(addr)
                self.rows[offset][1].append(state)
            elif op == "DW_CFA_remember_state":
                stack.append(dict(state))
            elif op == "DW_CFA_restore_state":
                state.update(stack.pop())
            elif op in ("DW_CFA_restore", "DW_CFA_restore_extended"):
                m = re.match(r":? ?r(\d+)", rest)
                col = self.columns.get(m[1])
                if col:
                    state[col] = initial[col]
            else:
                self._rule(state, op, rest)

    def at(self, offset, addr):
        addrs, states = self.rows[offset]
        return states[bisect.bisect_right(addrs, addr) - 1]


def cell_ok(want, got, raw, regs):
    """One cell; raw: what the raw dump has for it: None or an expression."""
    if want == got and ":" not in got:
        return True
    if want == "s" and got == "u":
        return raw == "undefined"
    if want in ("exp", "vexp") and got.startswith(want + ":"):
        return raw == expr_text(got[len(want) + 1:], regs)
    return False


def compare(tool, path):
    """Counts (rows, queries, by expression) and a list of differences."""
    ref = Reference(path)
    queries, owners, wants = array.array("Q"), array.array("Q"), []
    last = "none\t-\t-", 0
    for addr, text, owner in zip(ref.addrs, ref.texts, ref.owner):
        queries.append(addr - 1)
        wants.append(last[0])
        owners.append(last[1])
        queries.append(addr)
        wants.append(text)
        owners.append(owner)
        last = text, owner
    with tempfile.NamedTemporaryFile() as f:
        queries.tofile(f)
        f.flush()
        out = subprocess.run([tool, path, "-l", f.name], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.split("\n")
    out.pop()
    if len(out) != len(queries):
        raise RuntimeError("%d answers for %d addresses" % (len(out), len(queries)))
    open_ = [i for i, (want, got) in enumerate(zip(wants, out)) if want != got]
    raw = Raw(path, {owners[i] for i in open_}) if open_ else None
    bad, by_expr = [], 0
    for i in open_:
        want, got = wants[i].split("\t"), out[i].split("\t")
        ok = owners[i] in raw.rows
        if ok:
            state = raw.at(owners[i], queries[i])
            ok = all(map(cell_ok, want, got, (state["cfa"], state["rbp"], state["ra"]),
                         [REGS_I386 if ref.i386 else REGS] * 3))
        by_expr += ok
        if not ok:
            bad.append("%x: readelf %r, table %r" % (queries[i], wants[i], out[i]))
    return len(ref.addrs), len(queries), by_expr, ref.overlaps, bad


def main():
    tool, paths = sys.argv[1], sys.argv[2:]
    print("1..%d" % len(paths), flush=True)
    status = 0
    for n, path in enumerate(paths, 1):
        try:
            rows, queries, by_expr, overlaps, bad = compare(tool, os.path.realpath(path))
        except (RuntimeError, OSError, subprocess.CalledProcessError) as err:
            print("not ok %d - %s: %s" % (n, path, err), flush=True)
            status = 1
            continue
        if overlaps:
            bad.append("%d FDEs overlap others: not compared" % overlaps)
        print("%s %d - %s: %d rows, %d addresses, %d of them by their expression" %
              ("not ok" if bad else "ok", n, path, rows, queries, by_expr), flush=True)
        for line in bad[:20]:
            print("# " + line)
        if len(bad) > 20:
            print("# and %d more" % (len(bad) - 20))
        status |= bool(bad)
    return status


if __name__ == "__main__":
    sys.exit(main())
