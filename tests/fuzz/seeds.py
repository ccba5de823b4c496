#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the fuzzers' first inputs. Usage: seeds.py DIRECTORY

DIRECTORY/eh gets sections with every CFI instruction, every pointer encoding
and several arrangements of FDEs (format of an input: fuzz.h). DIRECTORY/walk
gets registers and memory before each of these sections (format: fuzz-walk.c),
DIRECTORY/elf a small 64-bit and a small 32-bit ELF file, DIRECTORY/go a table of
Go's linker in each format. The inputs that the fuzzers made from them are in
tests/data/fuzz.
"""

import os
import struct
import sys

ADDR, TEXT, DATA = 0x1000, 0x4000, 0x8000
USUAL = "0c0708 9001"
USUAL_I386 = "0c0404 8801"

PROGRAMS = (
    "", "410e10 8602 430d06 500c0708", "02400e10 0380000e18 04400000000e20",
    "410506 03 411106 7e 412f0602", "410c0a00 41120602 41137d", "860241c6 8602410606",
    "410706", "0710", "86024108 06", "410807", "41090603 41091002 41090611",
    "0a410e100a410e180b410b", "410f03767806 8602", "0f0b770880003f1a3b2a332422",
    "410f057718062308 8602", "450c0a00 4910060276004 50f03767806".replace(" ", ""),
    "1006027708 1610027710", "140602 150701", "2e9001", "052002 211022".replace("21", "07"),
    "83028c03410c0308", "0f057718062308 410d06 410e20", "9002419001",
    "0f1b 3577 00 28 04 00 32 2f 01 00 31 13".replace("1b", "0c"),
    "1003037790 01 1006037 7f800".replace(" ", ""), "0a0a0a410b410b410b",
)


def uleb(val):
    out = b""
    while True:
        byte, val = val & 0x7f, val >> 7
        if not val:
            return out + bytes([byte])
        out += bytes([byte | 0x80])


def sleb(val):
    out = b""
    while True:
        byte, val = val & 0x7f, val >> 7
        if (val == 0 and not byte & 0x40) or (val == -1 and byte & 0x40):
            return out + bytes([byte])
        out += bytes([byte | 0x80])


def number(encoding, val):
    fmt = {0: "<Q", 2: "<H", 3: "<I", 4: "<Q", 8: "<q", 10: "<h", 11: "<i", 12: "<q"}
    if encoding & 15 == 1:
        return uleb(val)
    if encoding & 15 == 9:
        return sleb(val)
    return struct.pack(fmt[encoding & 15], val)


class Section:
    def __init__(self, wide=False, debug=False, i386=False):
        self.data, self.wide, self.encoding, self.debug = b"", wide, 0, debug
        self.i386 = i386

    def record(self, make):
        at = len(self.data)
        head = 12 if self.wide else 4
        body = make(at + head)
        body += b"\0" * (-len(body) % 4)
        length = struct.pack("<Q", len(body)) if self.wide else struct.pack("<I", len(body))
        self.data += (b"\xff" * 4 if self.wide else b"") + length + body
        return at

    def cie(self, code, encoding=0x1b, letters="zR", version=1):
        def make(_):
            out = (b"\xff" if self.debug else b"\0") * (8 if self.wide else 4)
            out += bytes([version]) + letters.encode() + b"\0"
            out += (b"\x04\0" if self.i386 else b"\x08\0") if version == 4 else b""
            out += uleb(1) + (sleb(-4) + b"\x08" if self.i386 else sleb(-8) + b"\x10")
            if "z" in letters:
                data = {"R": bytes([encoding]), "P": b"\x9b" + b"\1\2\3\4", "L": b"\x1b"}
                data = b"".join(data.get(letter, b"") for letter in letters[1:])
                out += uleb(len(data)) + data
            return out + bytes.fromhex(code)
        self.encoding, self.sized = encoding, "z" in letters
        self.last = self.record(make)

    def fde(self, start, length, code):
        def make(at):
            out = struct.pack("<Q" if self.wide else "<I",
                              self.last if self.debug else at - self.last)
            if self.encoding == 0x50:
                out += b"\0" * (-(ADDR + at + len(out)) % 8) + struct.pack("<QQ", start, length)
            else:
                base = {0: 0, 1: ADDR + at + len(out), 2: TEXT, 3: DATA}[self.encoding >> 4]
                out += number(self.encoding, start - base) + number(self.encoding & 15, length)
            return out + (b"\0" if self.sized else b"") + bytes.fromhex(code)
        self.record(make)


def sections():
    for i, program in enumerate(PROGRAMS):
        s = Section(wide=i % 5 == 4)
        s.cie(USUAL, letters=("zR", "zRS", "zPLR")[i % 3], version=(1, 3, 4)[i % 3])
        s.fde(0x10000, 0x100, program)
        s.fde(0x10100, 0x80, "410e10")
        yield "program-%02d" % i, s.data, 31 if i % 2 else 0
    for i, program in enumerate(PROGRAMS):
        s = Section(wide=i % 5 == 4, i386=True)
        s.cie(USUAL_I386, letters=("zR", "zRS", "zPLR")[i % 3], version=(1, 3, 4)[i % 3])
        s.fde(0x10000, 0x100, program)
        s.fde(0x10100, 0x80, "410e08 8502 420d05")
        yield "i386-%02d" % i, s.data, i % 2
    for fmt in (0, 1, 2, 3, 4, 8, 9, 10, 11, 12):
        for rel in (0, 0x10, 0x20, 0x30):
            s = Section()
            s.cie(USUAL, fmt | rel)
            start = 0x8100 if rel == 0x30 else 0x6000
            if fmt in (2, 10) and rel == 0:
                start = 0x6000
            s.fde(start, 0x100, "410e10")
            yield "encoding-%02x" % (fmt | rel), s.data, 0
    s = Section()
    s.cie(USUAL, 0x50)
    s.fde(0x6000, 0x100, "410e10")
    yield "encoding-50", s.data, 0
    for name, fdes in (("nested", ((0, 0x40), (0x10, 0x20), (0x18, 8), (0x28, 4))),
                       ("staggered", ((0, 0x20), (0x10, 0x20), (0x8, 4))),
                       ("equal", ((0, 0x20), (0, 0x20), (0, 0x10))),
                       ("backwards", ((0x40, 0x10), (0x20, 0x10), (0, 0x10))),
                       ("empty", ((0, 0x10), (8, 0), (0x800, 0x1000)))):
        s = Section()
        s.cie(USUAL)
        for n, (start, length) in enumerate(fdes):
            s.fde(0x8000 + start, length, "0e%02x 42 8602" % (8 + 8 * n))
        yield "layout-" + name, s.data, 0
    for n, letters in enumerate(("zXR", "zRX", "eh", "zR")):
        s = Section()
        s.cie(USUAL, letters=letters)
        s.fde(0x8000, 0x10, "")
        s.data += b"\0" * 4 * n
        s.cie(USUAL)
        s.fde(0x8010, 0x10, "410e10")
        yield "unknown-%d" % n, s.data, 0x20
    halves = []
    for wide in (False, True):
        s = Section(wide, debug=True)
        s.cie(USUAL, 0, "S" if wide else "", 4 if wide else 1)
        s.fde(0x8000, 0x20, "410e10")
        s.fde(0x8040, 0x20, "450e10 8602")
        yield "debug-%d" % wide, s.data, 0x40
        halves.append(s.data)
    s = Section()
    s.cie(USUAL)
    s.fde(0x8018, 0x10, "410e10 8602")
    for n, half in enumerate(halves):
        yield "both-%d" % n, s.data.ljust(len(half), b"\0") + half, 0x80


def walks():
    """Yields each section after registers and memory (format: fuzz-walk.c)."""
    code = [(4 * n) | 2 for n in (0x1000, 0x1002, 0xc00, 0x2000, 0x2010, 0x1001)]
    for i, (name, data, keep) in enumerate(sections()):
        regs = [(4 * (64 + 8 * r)) | 1 for r in range(16)] + [code[i % 6]]
        regs[7] = 4 * 64 | 1
        words = [code[(i + n) % 6] if n % 2 else (4 * (64 + 8 * n + 16)) | 1 for n in range(32)]
        head = b"".join(struct.pack(">H", w & 0xffff) for w in regs) + bytes([len(words) - 1])
        head += b"".join(struct.pack(">H", w & 0xffff) for w in words)
        yield name, head + struct.pack(">HBHBHBHB", *[17 * i % 251] * 8) + bytes([keep]) + data


def elf():
    data = bytearray(0x1300)
    data[:7] = b"\x7fELF\2\1\1"
    struct.pack_into("<HHIQQQIHHHHHH", data, 16, 3, 62, 1, 0x1010, 0x40, 0x1100, 0, 64, 56, 5,
                     64, 4, 3)
    for n, (kind, flags, offset, size) in enumerate((
            (1, 4, 0, 0x800), (1, 5, 0x1000, 0x80), (4, 4, 0x200, 0x24),
            (0x6474e550, 4, 0x300, 12), (2, 6, 0x500, 0x20))):
        struct.pack_into("<IIQQQQQQ", data, 0x40 + 56 * n, kind, flags, offset, offset, 0, size,
                         size, 4)
    struct.pack_into("<III", data, 0x200, 4, 20, 3)
    data[0x20c:0x210] = b"GNU\0"
    data[0x300:0x304] = b"\1\x1b\xff\xff"
    struct.pack_into("<i", data, 0x304, 0x400 - 0x304)
    struct.pack_into("<QQ", data, 0x500, 3, 0x3000)
    names = b"\0.text\0.eh_frame\0.shstrtab\0"
    data[0x1080:0x1080 + len(names)] = names
    for n, (name, kind, flags, offset, size) in enumerate((
            (0, 0, 0, 0, 0), (1, 1, 6, 0x1000, 0x80), (7, 1, 2, 0x400, 0x60),
            (17, 3, 0, 0x1080, len(names)))):
        struct.pack_into("<IIQQQQ", data, 0x1100 + 64 * n, name, kind, flags, offset, offset, size)
    return bytes(data)


def elf32():
    data = bytearray(0x1300)
    data[:7] = b"\x7fELF\1\1\1"
    struct.pack_into("<HHIIIIIHHHHHH", data, 16, 3, 3, 1, 0x1010, 0x40, 0x1100, 0, 52, 32, 5,
                     40, 4, 3)
    for n, (kind, flags, offset, size) in enumerate((
            (1, 4, 0, 0x800), (1, 5, 0x1000, 0x80), (4, 4, 0x200, 0x24),
            (0x6474e550, 4, 0x300, 12), (2, 6, 0x500, 0x10))):
        struct.pack_into("<IIIIIIII", data, 0x40 + 32 * n, kind, offset, offset, 0, size, size,
                         flags, 4)
    struct.pack_into("<III", data, 0x200, 4, 20, 3)
    data[0x20c:0x210] = b"GNU\0"
    data[0x300:0x304] = b"\1\x1b\xff\xff"
    struct.pack_into("<i", data, 0x304, 0x400 - 0x304)
    struct.pack_into("<II", data, 0x500, 3, 0x3000)
    names = b"\0.text\0.eh_frame\0.shstrtab\0"
    data[0x1080:0x1080 + len(names)] = names
    for n, (name, kind, flags, offset, size) in enumerate((
            (0, 0, 0, 0, 0), (1, 1, 6, 0x1000, 0x80), (7, 1, 2, 0x400, 0x60),
            (17, 3, 0, 0x1080, len(names)))):
        struct.pack_into("<IIIIII", data, 0x1100 + 40 * n, name, kind, flags, offset, offset, size)
    return bytes(data)


def go(magic, start):
    """The format of an input: fuzz-go.c. Code is nop, then what the functions below have."""
    newer = magic in (0xfffffff0, 0xfffffff1)
    word = 4 if newer else 8
    text = 0x4000
    functions = (("_rt0_amd64_linux", 0, 4, "", ((0, 5),)),
                 ("main.framed", 0, 0, "", ((0, 1), (8, 7), (24, 10), (8, 1), (0, 1))),
                 ("runtime.goexit", 7, 5, "", ((0, 8),)),
                 ("runtime.sigpanic", 18, 0, "", ((0, 1), (8, 8))),
                 ("runtime.nanotime1", 0, 6, "4883ec184989e4488b62384883e4f0ffd04c89e44883c418c3",
                  ((0, 4), (24, 20), (0, 1))),
                 ("runtime.mcall", 11, 6, "4889c2498b66385041ffd458", ((0, 8), (8, 3), (0, 1))))

    def varint(val):
        return uleb((val << 1 ^ val >> 31) & 0xffffffff)

    head = struct.pack("<II", magic, 0x08010000)
    words = [len(functions)] + [0] * (0 if magic == 0xfffffffb else 7 if newer else 6)
    names, lists, at_name, at_list = b"", b"\0", [], []
    for name, _, _, _, rows in functions:
        at_name.append(len(names))
        names += name.encode() + b"\0"
        at_list.append(len(lists))
        last = -1
        for distance, size in rows:
            lists += varint(distance - last) + uleb(size)
            last = distance
        lists += b"\0"
    names_at = len(head) + 8 * len(words)
    lists_at = names_at + len(names)
    table_at = -(-(lists_at + len(lists)) // 8) * 8
    if magic == 0xfffffffb:		# the table follows the header, all offsets are from the start
        table_at = names_at
        names_at = table_at + (2 * len(functions) + 1) * word + 48 * len(functions)
        lists_at = names_at + len(names)
    base = 0 if magic == 0xfffffffb else table_at
    table, structs = b"", b""
    structs_at = table_at + (2 * len(functions) + 1) * word
    pointer = "<I" if newer else "<Q"
    for n, (_, number_, flags, _, _) in enumerate(functions):
        entry = 32 * n if newer else text + 32 * n
        table += struct.pack(pointer, entry) + struct.pack(pointer, structs_at + 48 * n - base)
        one = struct.pack(pointer, entry)
        one += struct.pack("<IIIIIII", at_name[n] + (names_at if not base else 0), 0, 0,
                           at_list[n] + (lists_at if not base else 0), 0, 0, 0)
        one += struct.pack("<I", 0) * (magic != 0xfffffffb) + struct.pack("<I", 0) * (magic == 0xfffffff1)
        structs += (one + bytes([number_, flags])).ljust(48, b"\0")
    table += struct.pack(pointer, 32 * len(functions) if newer else text + 32 * len(functions))
    if base:
        offsets = [names_at, 0, 0, lists_at, table_at]
        words[-5:] = offsets
        if newer:
            words[2] = start
    head += b"".join(struct.pack("<Q", w) for w in words)
    data = head + (table + structs + names + lists if not base else
                   (names + lists).ljust(table_at - len(head), b"\0") + table + structs)
    data = bytearray(data.ljust(max(len(data), 32 * len(functions)), b"\0"))
    return bytes(data + b"\0" * (len(data) % 2))


def main():
    for sub in ("eh", "elf", "walk", "go"):
        os.makedirs(os.path.join(sys.argv[1], sub), exist_ok=True)
    for name, data, keep in sections():
        with open(os.path.join(sys.argv[1], "eh", name), "wb") as f:
            f.write(bytes([keep]) + data)
    for name, data in walks():
        with open(os.path.join(sys.argv[1], "walk", name), "wb") as f:
            f.write(data)
    for magic in (0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1):
        for start in (0, 0x4000):
            with open(os.path.join(sys.argv[1], "go", "%x-%x" % (magic, start)), "wb") as f:
                f.write(go(magic, start))
    for name, data in (("good", elf()), ("good32", elf32())):
        with open(os.path.join(sys.argv[1], "elf", name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
