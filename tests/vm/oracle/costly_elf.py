#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
costly_elf.py - write an ELF file whose .eh_frame takes long to compile

    costly_elf.py FILE MEGABYTES

The FDEs use many CIEs in turn. The programs of the CIEs and of the FDEs push
and pop the state again and again. All rows are equal, so the table is small.
.eh_frame has MEGABYTES.
"""

import struct
import sys

import hostile_elf as h

TEXT = 0x1000000
CIES = 256
PUSH_POP = b"\x0a\x0b"		# DW_CFA_remember_state, DW_CFA_restore_state


def main():
    path, size = sys.argv[1], int(sys.argv[2]) << 20
    eh_at = h.EH_ADDR = 0x10000
    cie = h.cie(program=b"\x0c\x07\x08\x90\x01" + PUSH_POP * 505)
    out = bytearray(cie * CIES)
    start = TEXT
    while len(out) < size:
        out += h.fde(len(out), (b"\x41" + PUSH_POP) * 4, start=start, size=8,
                     cie_at=len(cie) * (start // 8 % CIES))
        start += 8
    out += b"\0\0\0\0"
    # .text is a hole in the file
    with open(path, "wb") as f:
        f.write(image(out, eh_at, TEXT, start - TEXT))
        f.truncate(start)


def image(eh, eh_at, text, text_size):
    names = b"\0.eh_frame\0.shstrtab\0"
    tail = eh_at + len(eh)
    tail += -tail % 8
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, text, 64, tail, 0, 64, 56, 2, 64, 3, 2)
    for flags, at, length in ((4, 0, tail), (5, text, text_size)):
        header += struct.pack("<IIQQQQQQ", 1, flags, at, at, at, length, length, 4096)
    out = bytearray(tail)
    out[:len(header)] = header
    out[eh_at:eh_at + len(eh)] = eh
    for name, kind, flags, at, length in ((0, 0, 0, 0, 0), (1, 1, 2, eh_at, len(eh)),
                                          (11, 3, 0, tail + 192, len(names))):
        out += struct.pack("<IIQQQQIIQQ", name, kind, flags, at if flags else 0, at, length,
                             0, 0, 8 if flags else 1, 0)
    return out + names


main()
