#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints the stacks that hotspot's reader of perf.data finds.

    perfparser.py FILE

FILE is the output of hotspot-perfparser, the program by which KDAB hotspot reads
perf.data. Prints for each sample: process id and functions, innermost first, "?"
for one without a name.

A message is its length, its type and fields of QDataStream, big-endian. These are
used: 3, a place (its number, address, file, process, line, column, the place that
it is inlined in); 4, a function (the number of its place, the number of its name);
5, a text; 13 and 14, samples (process, thread, time, CPU, the numbers of places).
"""

import struct
import sys

HEADER = len("QPERFSTREAM") + 1 + 4


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    texts, names, outer, samples = {}, {}, {}, []
    at = HEADER
    while at + 4 <= len(data):
        size = struct.unpack_from("<I", data, at)[0]
        kind, fields = data[at + 4], data[at + 5:at + 4 + size]
        at += 4 + size
        if kind == 3:
            number, = struct.unpack_from(">i", fields)
            outer[number] = struct.unpack_from(">i", fields, len(fields) - 4)[0]
        elif kind == 4:
            number, name = struct.unpack_from(">ii", fields)
            names[number] = name
        elif kind == 5:
            texts[struct.unpack_from(">i", fields)[0]] = fields[8:].decode()
        elif kind in (13, 14):
            pid, count = struct.unpack_from(">i16xi", fields)
            samples.append((pid, struct.unpack_from(">%di" % count, fields, 24)))
    for pid, places in samples:
        functions = []
        for place in places:
            while place >= 0 and place not in names:
                place = outer.get(place, -1)
            functions.append(texts.get(names.get(place, -1)) or "?")
        print(pid, *functions)


if __name__ == "__main__":
    main()
