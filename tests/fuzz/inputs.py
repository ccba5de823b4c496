#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Store many fuzzer inputs in one file: for each, its length (u32) and its bytes.

Usage: inputs.py pack FILE DIRECTORY...    writes all files of the directories to FILE
       inputs.py unpack FILE DIRECTORY     writes each input of FILE to DIRECTORY/NUMBER
"""

import os
import struct
import sys


def pack(path, directories):
    inputs = set()
    for directory in directories:
        for name in os.listdir(directory):
            with open(os.path.join(directory, name), "rb") as f:
                inputs.add(f.read())
    with open(path, "wb") as f:
        for data in sorted(inputs, key=lambda d: (len(d), d)):
            f.write(struct.pack("<I", len(data)) + data)


def unpack(path, directory):
    os.makedirs(directory, exist_ok=True)
    with open(path, "rb") as f:
        number = 0
        while head := f.read(4):
            number += 1
            with open(os.path.join(directory, "%05d" % number), "wb") as out:
                out.write(f.read(struct.unpack("<I", head)[0]))


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "pack":
        pack(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) == 4 and sys.argv[1] == "unpack":
        unpack(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
