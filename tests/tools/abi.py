#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares stop reasons, parameters and the version in all files that repeat them.

kmod/uapi/kunwind_reasons.h defines the reasons, kunwind.h beside it the version. kmod/core/names.c, which
the module, libkunwind and the tools contain, is compiled and called. kunwind(3),
docs/debugging.md and the schema of kunwind-json(5) are read, and kunwind(4) for
the parameters.
"""

import ctypes
import glob
import os
import re
import subprocess
import tempfile

import json_output
import tap
from tap import check, same

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
tap.suite = "abi"


def text_of(path):
    with open(os.path.join(TREE, path), encoding="utf-8") as file:
        return file.read()


def names_of(nr):
    """Returns what kunwind_reason_name() returns for 0 to nr."""
    with tempfile.TemporaryDirectory() as work:
        library = os.path.join(work, "names.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-I", os.path.join(TREE, "libkunwind/deps"),
                        "-o", library, os.path.join(TREE, "kmod/core/names.c")], check=True)
        name = ctypes.CDLL(library).kunwind_reason_name
        name.restype = ctypes.c_char_p
        return [name(reason).decode() for reason in range(nr + 1)]


def parameters():
    """Returns {parameter: default} from the descriptions that modinfo prints."""
    found = {}
    for path in glob.glob(os.path.join(TREE, "kmod/**/*.c"), recursive=True):
        for name, words in re.findall(r"^MODULE_PARM_DESC\((\w+),(.*?)\);", text_of(path), re.M | re.S):
            default = re.search(r"\(default (\w+)\)|([\w-]+) \(default\)", words)
            found[name] = default.group(1) or default.group(2)
    return found


def main():
    header = text_of("kmod/uapi/kunwind.h")
    enum = re.search(r"enum kunwind_reason \{(.*?)\n\tKUNWIND_NR_REASONS\n\}",
                     text_of("kmod/uapi/kunwind_reasons.h"), re.S).group(1)
    reasons = re.findall(r"^\tKUNWIND_(\w+) = (\d+),", enum, re.M)
    names = [name.lower() for name, _ in reasons]
    check("the header has reasons", reasons)
    same("the numbers of the reasons have no holes", [int(number) for _, number in reasons],
         list(range(len(reasons))))
    same("kunwind_reason_name() returns the names of the header's reasons", names_of(len(names)), names + ["?"])

    page = re.findall(r'^\.BR KUNWIND_(\w+) " \(" (\w+) \)$', text_of("libkunwind/man/kunwind.3"), re.M)
    same("kunwind(3) lists all reasons with their names", page, [(name, name.lower()) for name, _ in reasons])
    same("the schema of kunwind-json(5) has all reasons", json_output.REASONS, names)
    rows = re.search(r"\n\| reason \| what it means.*?\n\n", text_of("docs/debugging.md"), re.S).group(0)
    same("docs/debugging.md explains all reasons", sorted(re.findall(r"^\| `(\w+)` \|", rows, re.M)), sorted(names))

    page = re.findall(r'^\.IR (\w+) " \(([\w-]+)\)"$', text_of("tools/man/kunwind.4").replace(r"\-", "-"), re.M)
    same("kunwind(4) lists all parameters with their defaults", sorted(page), sorted(parameters().items()))

    version = re.search(r'^#define KUNWIND_VERSION\s+"([\d.]+)"$', header, re.M).group(1)
    kunwind = os.path.join(TREE, "tools/build/kunwind")
    same("kunwind --version prints the version of the header", tap.run(kunwind, "--version").split()[1], version)
    node = "KUNWIND_" + version.rpartition(".")[0]
    check("the symbols of libkunwind have the version of the header",
          "\n%s {\n" % node in text_of("libkunwind/libkunwind.map"), "wanted: " + node)
    pages = [page for page in glob.glob(os.path.join(TREE, "**/man/*.[1-8]"), recursive=True)
             if ".TH" in text_of(page)]
    check("manual pages take the version from the header",
          pages and all('"kunwind @VERSION@"' in text_of(page) for page in pages), pages)
    tap.finish()


if __name__ == "__main__":
    main()
