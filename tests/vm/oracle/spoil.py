#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
spoil.py - make one FDE of an ELF file's .eh_frame wrong, in place

    spoil.py FILE

Makes the FDE's program begin with DW_CFA_restore_state, although no state was
remembered. The error shows only when the program runs. The FDE is the first one
in the second half of the section that has no augmentation data (length 0), as
GCC and clang write it. Prints the offset of the FDE in the file.
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
            # pcrel sdata4: start, size; length of the augmentation; program
            if at > length // 2 and cie and record >= 16 and not data[at + 16]:
                break
            at += 4 + record
        file.seek(offset + at + 17)
        file.write(b"\x0b")
        print(hex(offset + at))


if __name__ == "__main__":
    main()
