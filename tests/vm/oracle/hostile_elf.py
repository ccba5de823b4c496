#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
hostile_elf.py - write ELF files that contradict themselves

    hostile_elf.py DIRECTORY LIBRARY MUTANTS

Writes files into DIRECTORY. There is one for each of CASES: a small ELF object
with one error in its .eh_frame or its headers. MUTANTS more are copies of
LIBRARY with random changes of bytes in .eh_frame or the headers. Prints for
each file "name<TAB>expected<TAB>why". expected is "ready", "refused", or "any"
if both are acceptable. why is the name of the build error if the case is about only
that one.
"""

import os
import random
import struct
import sys

TEXT, TEXT_SIZE = 0x2000, 0x1000
EH, EH_ADDR = 0x400, 0x400
MAX_EH = 0x1c00


def uleb(value):
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def record(body, length=None):
    """A CIE or FDE with this body: adds the length word and the padding."""
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body) if length is None else length) + body


def cie(version=1, augmentation=b"zR", data=b"\x1b", column=16, data_length=None,
        program=b"\x0c\x07\x08\x90\x01", identity=0, code=1, length=None):
    body = struct.pack("<I", identity) + bytes([version]) + augmentation + b"\0"
    body += uleb(code) + b"\x78" + bytes([column])
    if augmentation.startswith(b"z"):
        body += uleb(len(data) if data_length is None else data_length) + data
    return record(body + program, length)


def fde(at, program=b"", start=TEXT, size=0x100, cie_at=0, pointer=None, length=None, data=b"\0"):
    """An FDE for offset "at" of .eh_frame."""
    body = struct.pack("<I", at + 4 - cie_at if pointer is None else pointer)
    body += struct.pack("<iI", start - (EH_ADDR + at + 8), size & 0xFFFFFFFF) + data + program
    return record(body, length)


def frame(program=b"", cie_args=None, **fde_args):
    """An .eh_frame with one CIE, one FDE and a terminator."""
    first = cie(**(cie_args or {}))
    return first + fde(len(first), program, **fde_args) + b"\0\0\0\0"


def elf(eh, eh_size=None, eh_offset=EH, eh_addr=EH_ADDR, phnum=2, phoff=64, phentsize=56,
        shoff=None, shnum=3, shentsize=64, kind=3, machine=62, ident=b"\x7fELF\x02\x01\x01",
        text_filesz=TEXT_SIZE, text_offset=TEXT, text_vaddr=TEXT, text_memsz=None,
        first_section_size=0, strndx=2):
    names = b"\0.eh_frame\0.shstrtab\0"
    image = bytearray(TEXT + TEXT_SIZE)
    image[EH:EH + len(eh)] = eh
    image[TEXT:TEXT + TEXT_SIZE] = b"\xc3" * TEXT_SIZE
    tail = len(image)
    sections = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, first_section_size, 0, 0, 0, 0)
    sections += struct.pack("<IIQQQQIIQQ", 1, 1, 2, eh_addr, eh_offset,
                            len(eh) if eh_size is None else eh_size, 0, 0, 8, 0)
    sections += struct.pack("<IIQQQQIIQQ", 11, 3, 0, 0, tail + 192, len(names), 0, 0, 1, 0)
    image += sections + names
    header = ident.ljust(16, b"\0")
    header += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, TEXT, phoff,
                          tail if shoff is None else shoff, 0, 64, phentsize, phnum,
                          shentsize, shnum, strndx)
    image[:64] = header
    image[64:120] = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, TEXT, TEXT, 0x1000)
    image[120:176] = struct.pack("<IIQQQQQQ", 1, 5, text_offset, text_vaddr, text_vaddr, text_filesz,
                                 text_filesz if text_memsz is None else text_memsz, 0x1000)
    return bytes(image)


# No CFI is found in these files. So their rows come from their code (docs/unwinding.md).
NO_CFI = "ready"
GOOD = frame()
TWO = cie()
CASES = {
    # name: (bytes, expected, with the build error's name); None: "any"
    "good": (elf(GOOD), "ready"),
    "good-without-fde": (elf(cie() + b"\0\0\0\0"), None),
    "length-past-end": (elf(cie() + fde(len(TWO), length=0x7ffffff0)), "refused"),
    "length-of-cie-past-end": (elf(cie(length=0xfffffff0)), "refused"),
    "length-64-bit-huge": (elf(struct.pack("<IQ", 0xffffffff, 1 << 63) + b"\0" * 64), "refused"),
    "length-64-bit-all-ones": (elf(struct.pack("<IQ", 0xffffffff, (1 << 64) - 1) + b"\0" * 64), "refused"),
    "length-one": (elf(struct.pack("<I", 1) + b"\0" * 64), "refused"),
    "cie-pointer-outside": (elf(frame(pointer=0x10000000)), "refused"),
    "cie-pointer-negative": (elf(frame(pointer=0x80000001)), "refused"),
    "cie-pointer-to-itself": (elf(frame(pointer=4)), "refused"),
    "cie-pointer-into-the-middle": (elf(frame(pointer=len(TWO) - 4)), "refused"),
    "cie-pointer-to-an-fde": (elf(TWO + fde(len(TWO)) + fde(len(TWO) * 2, pointer=len(TWO) + 4)), "ready"),
    "cie-version-9": (elf(frame(cie_args={"version": 9})), "refused"),
    "cie-version-0": (elf(frame(cie_args={"version": 0})), "refused"),
    "augmentation-unknown": (elf(frame(cie_args={"augmentation": b"zQR"})), "refused augmentation"),
    "augmentation-unknown-beside-a-known-one": (elf(
        cie(augmentation=b"zQR") + fde(len(TWO)) + cie() +
        fde(2 * len(TWO) + 24, cie_at=len(TWO) + 24, start=TEXT + 0x100)), "ready"),
    "augmentation-without-end": (elf(record(b"\0\0\0\0\x01" + b"z" * 90)), NO_CFI),
    "augmentation-data-past-end": (elf(frame(cie_args={"data_length": 5000})), "refused"),
    "return-column-200": (elf(frame(cie_args={"column": 200})), "ready"),
    "encoding-unknown": (elf(frame(cie_args={"data": b"\x7d"})), "refused"),
    "encoding-indirect": (elf(frame(cie_args={"data": b"\x9b"})), "refused"),
    "range-outside": (elf(frame(start=0x70000000)), NO_CFI),
    "range-across-the-end": (elf(frame(size=TEXT_SIZE + 1)), "ready"),
    "range-4-GB": (elf(frame(size=0xffffffff)), "refused"),
    "range-before-zero": (elf(frame(start=-0x1000)), NO_CFI),
    "ranges-overlap": (elf(TWO + fde(len(TWO)) + fde(len(TWO) + 24, b"\x0e\x10", start=TEXT + 0x80)),
                       "ready"),
    "ranges-twice-with-other-rules": (elf(TWO + fde(len(TWO)) + fde(len(TWO) + 24, b"\x0e\x10")),
                                      "refused overlap"),
    "ranges-of-one-start": (elf(TWO + fde(len(TWO)) + fde(len(TWO) + 24, size=0x80)), "ready"),
    "ranges-twice": (elf(TWO + fde(len(TWO)) + fde(len(TWO) + 24)), "ready"),
    "ranges-nested": (elf(TWO + fde(len(TWO)) + fde(len(TWO) + 24, b"\x0e\x10", start=TEXT + 0x80, size=8)),
                      "ready"),
    "range-empty-within-another": (elf(TWO + fde(len(TWO)) + fde(len(TWO) + 24, start=TEXT + 8, size=0)),
                                   "ready"),
    "opcode-unknown": (elf(frame(b"\x3f")), "refused"),
    "opcode-reserved": (elf(frame(b"\x17")), "refused"),
    "opcode-cut-off": (elf(frame(b"\x00\x00\x00\x00\x00\x00\x04")), None),
    "advance-past-end": (elf(frame(b"\x04\xff\xff\xff\xff\x0e\x10")), "ready"),
    "advance-backwards": (elf(frame(b"\x01" + struct.pack("<i", -0x7fff0000) + b"\x0e\x10")), "ready"),
    "restore-without-remember": (elf(frame(b"\x0b")), "refused"),
    "remember-5000-times": (elf(frame(b"\x0a" * 5000)), "refused"),
    "expression-past-end": (elf(frame(b"\x0f\xff\x7f\x70\x00")), "refused"),
    "expression-that-loops": (elf(frame(b"\x0f\x05\x70\x00\x2f\xfd\xff")), "ready"),
    "expression-that-leaves-itself": (elf(frame(b"\x0f\x05\x70\x00\x2f\x01\x00")), "ready"),
    "expression-of-vendors-ops": (elf(frame(b"\x0f\x03\xf8\xf9\xfa")), "ready"),
    "expression-of-unknown-ops": (elf(frame(b"\x0f\x03\x00\x01\x02")), "ready"),
    "expression-that-pops-nothing": (elf(frame(b"\x0f\x02\x22\x22")), "ready"),
    "expression-of-200-pushes": (elf(frame(b"\x0f\xc8\x01" + b"\x31" * 200)), "ready"),
    "operand-of-40-bytes": (elf(frame(b"\x0e" + b"\x80" * 40 + b"\x01")), "refused"),
    "operand-2-to-the-63": (elf(frame(b"\x0e" + uleb(1 << 63))), "refused"),
    "register-10000": (elf(frame(b"\x05" + uleb(10000) + b"\x01")), None),
    "cfa-of-register-10000": (elf(frame(b"\x0c" + uleb(10000) + b"\x08")), "ready"),
    "section-past-the-file": (elf(GOOD, eh_size=1 << 40), NO_CFI),
    "section-offset-2-to-the-64-minus-64": (elf(GOOD, eh_offset=(1 << 64) - 64), NO_CFI),
    "section-of-4-GB": (elf(GOOD, eh_size=0xffffffff), NO_CFI),
    "section-elsewhere-in-memory": (elf(GOOD, eh_addr=0x12345678), NO_CFI),
    "program-headers-past-the-file": (elf(GOOD, phoff=1 << 40), "refused"),
    "program-headers-wrap": (elf(GOOD, phoff=(1 << 64) - 56), "refused"),
    "program-headers-65535": (elf(GOOD, phnum=0xffff), "refused"),
    "program-headers-of-odd-size": (elf(GOOD, phentsize=1), "refused"),
    "section-headers-past-the-file": (elf(GOOD, shoff=1 << 50), None),
    "section-headers-wrap": (elf(GOOD, shoff=(1 << 64) - 64), None),
    "sections-4-billion": (elf(GOOD, shnum=0, first_section_size=0xffffffff), None),
    "section-names-nowhere": (elf(GOOD, strndx=77), None),
    "segment-past-the-file": (elf(GOOD, text_filesz=1 << 40), None),
    "segment-wraps": (elf(GOOD, text_vaddr=(1 << 64) - 0x1000, text_memsz=1 << 40), "refused"),
    "class-32": (elf(GOOD, ident=b"\x7fELF\x01\x01\x01"), "refused"),
    "big-endian": (elf(GOOD, ident=b"\x7fELF\x02\x02\x01"), "refused"),
    "arm": (elf(GOOD, machine=183), "refused"),
    "relocatable": (elf(GOOD, kind=1), "refused"),
    "not-elf": (b"#!/bin/sh\n" * 1000, "refused"),
    "empty-but-magic": (b"\x7fELF", "refused"),
}
for _cut in (1, 16, 63, 64, 100, 176, EH + 3, EH + 30, TEXT, TEXT + TEXT_SIZE + 100):
    CASES["cut-at-%d" % _cut] = (elf(GOOD)[:_cut], None if _cut >= TEXT else "refused")


def eh_frame_of(data):
    """(offset, size) of .eh_frame, from the section headers."""
    shoff, = struct.unpack_from("<Q", data, 40)
    size, number, strndx = struct.unpack_from("<HHH", data, 58)
    names, = struct.unpack_from("<Q", data, shoff + strndx * size + 24)
    for i in range(number):
        at = shoff + i * size
        name, = struct.unpack_from("<I", data, at)
        if data[names + name:names + name + 10] == b".eh_frame\0":
            return struct.unpack_from("<QQ", data, at + 24)
    raise ValueError("no .eh_frame")


def main():
    directory, library, mutants = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.makedirs(directory, exist_ok=True)
    for name, (data, expected) in CASES.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)
        print("%s\t%s\t%s" % ((name,) + (expected or "any").partition(" ")[::2]))
    with open(library, "rb") as file:
        original = file.read()
    offset, size = eh_frame_of(original)
    chance = random.Random(1)
    for n in range(mutants):
        data = bytearray(original)
        for _ in range(chance.choice((1, 2, 8, 64))):
            where = (chance.randrange(offset, offset + size) if n % 4 else
                     chance.choice((chance.randrange(0, 64), chance.randrange(64, 600),
                                    chance.randrange(len(data) - 2000, len(data)))))
            data[where] = chance.choice((0, 0xff, 0x7f, 0x80, chance.randrange(256)))
        name = "mutant-%d" % n
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)
        print("%s\tany\t" % name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
