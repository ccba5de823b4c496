#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
spoil.py - make one FDE of an ELF file's .eh_frame wrong, in place

    spoil.py FILE

Its instructions begin with one that restores a state which none remembered: a
record that is in order until it is run. The FDE is the one in the middle of the
section whose augmentation is of one byte (length 0), as GCC and clang write it.
Prints its offset in the file.
"""

import struct
import sys


def main():
    with open(sys.argv[1], "r+b") as file:
        file.seek(40)
        (shoff,) = struct.unpack("<Q", file.read(8))
        file.seek(58)
        size, number, names = struct.unpack("<HHH", file.read(6))
        file.seek(shoff)
        sections = [struct.unpack("<IIQQQQ", file.read(size)[:40]) for _ in range(number)]
        file.seek(sections[names][4])
        strings = file.read(sections[names][5])
        for name, _, _, _, offset, length in sections:
            if strings[name:strings.index(b"\0", name)] == b".eh_frame":
                break
        else:
            sys.exit("no .eh_frame")
        file.seek(offset)
        data = file.read(length)
        at = 0
        while at + 20 < length:
            record, cie = struct.unpack_from("<II", data, at)
            # pcrel sdata4: start, length; then the augmentation's length, then instructions
            if at > length // 2 and cie and record >= 16 and not data[at + 16]:
                break
            at += 4 + record
        file.seek(offset + at + 17)
        file.write(b"\x0b")
        print(hex(offset + at))


if __name__ == "__main__":
    main()
