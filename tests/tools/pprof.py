# SPDX-License-Identifier: MIT
"""Reads what kunwind export pprof writes: a gzipped protobuf, the profile.proto of pprof."""

import gzip


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Returns the fields of a protobuf message: {number: [value or bytes...]}."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Profile:
    """What kunwind export pprof writes."""

    def __init__(self, path):
        with gzip.open(path) as file:
            self.data = fields(file.read())
        self.strings = [text.decode() for text in self.data[6]]
        self.units = {self.strings[f[1][0]]: self.strings[f[2][0]] for f in map(fields, self.data[1])}
        self.functions = {f[1][0]: (self.strings[f[2][0]], self.strings[f.get(4, [0])[0]]) for f in map(fields, self.data.get(5, []))}
        self.mappings = {self.strings[m[5][0]]: m[3][0] for m in map(fields, self.data.get(3, []))}

    def samples(self):
        """Returns (labels, values) of each sample."""
        found = []
        for sample in map(fields, self.data.get(2, [])):
            labels = {}
            for label in map(fields, sample.get(3, [])):
                labels[self.strings[label[1][0]]] = self.strings[label[2][0]] if 2 in label else label[3][0]
            found.append((labels, packed(sample[2][0])))
        return found

    def leaves(self):
        """Returns the names of the innermost functions."""
        innermost = {f[1][0]: fields(f[4][0])[1][0] for f in map(fields, self.data.get(4, []))}
        return {self.functions[innermost[packed(sample[1][0])[0]]][0] for sample in map(fields, self.data.get(2, []))}
