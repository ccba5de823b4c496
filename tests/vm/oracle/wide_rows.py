#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
wide_rows.py - write an ELF file with a table several times as big as .eh_frame

    wide_rows.py FILE

The .eh_frame has a megabyte. One FDE has a CFA by rbx. All others save rbx in
another place at each byte of their code, so that each row has another rule. The
FDEs can be listed, but their table exceeds the limit (the section's size and 64
KB).
"""

import struct
import sys

TEXT = 0x200000
FDES = 64
ROWS = 4000


def record(body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def fde(at, start, size, code):
    return record(struct.pack("<III", at + 4, start, size) + code)


def main():
    rows = b"".join(struct.pack("4B", 0x41, 0x83, 0x80 | n & 0x7f, n >> 7) for n in range(256, 256 + ROWS))
    # the augmentation is only the encoding of addresses: udata4
    eh = record(b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x03\x0c\x07\x08\x90\x01")
    eh += fde(len(eh), TEXT, 16, b"\0\x0d\x03")
    for n in range(FDES):
        eh += fde(len(eh), TEXT + 0x2000 * (n + 1), ROWS + 1, b"\0" + rows)
    eh += b"\0\0\0\0"
    text = 0x2000 * (FDES + 2)
    names = b"\0.eh_frame\0.shstrtab\0"
    tail = TEXT + text
    image = bytearray(tail)
    image[0x1000:0x1000 + len(eh)] = eh
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0x1000, 0x1000, len(eh), 0, 0, 8, 0)
    sections += struct.pack("<IIQQQQIIQQ", 11, 3, 0, 0, tail + 192, len(names), 0, 0, 1, 0)
    image[:64] = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, TEXT, 64, tail, 0, 64, 56, 2, 64, 3, 2)
    image[64:120] = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, TEXT, TEXT, 0x1000)
    image[120:176] = struct.pack("<IIQQQQQQ", 1, 5, TEXT, TEXT, TEXT, text, text, 0x1000)
    with open(sys.argv[1], "wb") as file:
        file.write(image + sections + names)


if __name__ == "__main__":
    main()
