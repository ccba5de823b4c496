# SPDX-License-Identifier: MIT
"""
elf.py - where the entry points of an ELF object are

An entry point is code that nobody called: the stack ends there. Found in the
file itself, by its ELF header and by names in its symbol table (or in that of
its separate debug file), never by what kunwind says.
"""

import functools
import os
import re
import struct
import subprocess

# Threads begin in clone() or clone3(), contexts of makecontext() return to
# __start_context(); ld.so's two pieces of code are one function in all but name.
THREAD_ENTRIES = {"clone", "__clone", "clone3", "__clone3", "__start_context",
                  "_dl_start_user"}


def _symbols(path):
    text = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                          errors="replace", check=False).stdout
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 8 and parts[0].endswith(":") and parts[6] != "UND":
            try:
                yield parts[7].split("@")[0], int(parts[1], 16), int(parts[2], 0)
            except ValueError:
                pass


def _debug_file(path):
    notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True,
                           errors="replace", check=False).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    if not build_id:
        return None
    build_id = build_id.group(1)
    debug = "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id[:2], build_id[2:])
    return debug if os.path.exists(debug) else None


@functools.lru_cache(maxsize=None)
def segments(path):
    """PT_LOAD segments as (offset, vaddr, filesz), and the entry's address."""
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            raise ValueError(path + ": no 64-bit ELF")
        entry, phoff = struct.unpack_from("<QQ", header, 24)
        size, number = struct.unpack_from("<HH", header, 54)
        file.seek(phoff)
        table = file.read(size * number)
    loads = []
    for i in range(number):
        kind, _, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", table, i * size)
        if kind == 1:
            loads.append((offset, vaddr, filesz))
    return loads, entry


def vaddr(path, offset):
    """The ELF virtual address of a file offset, or None."""
    for start, address, size in segments(path)[0]:
        if start <= offset < start + size:
            return offset - start + address
    return None


def _text(path, address, size):
    for start, begin, length in segments(path)[0]:
        if begin <= address < begin + length:
            with open(path, "rb") as file:
                file.seek(start + address - begin)
                return file.read(size)
    return b""


@functools.lru_cache(maxsize=None)
def entries(path):
    """
    [(first, last, name)] of ELF virtual addresses at which a stack may end:
    inclusive, for return addresses.
    """
    found = []
    _, entry = segments(path)
    symbols = list(_symbols(path))
    debug = _debug_file(path)
    if debug:
        symbols += list(_symbols(debug))
    for name, address, size in symbols:
        if name == "_dl_start_user":
            # no size in the table: up to its jump to the program, jmp *%r12
            size = _text(path, address, 128).find(b"\x41\xff\xe4") + 3
        if name in THREAD_ENTRIES and size > 0:
            found.append((address, address + size, name))
    if entry:
        # the program's _start() ends with hlt, which its one call returns to;
        # ld.so's is a call that returns to _dl_start_user, above
        found.append((entry, entry, "entry"))
        text = _text(path, entry, 64)
        halt = re.search(rb"\xff\x15....\xf4|\xe8....\xf4|\x67\xe8....\xf4", text, re.DOTALL)
        if halt:
            found.append((entry + halt.end() - 1, entry + halt.end() - 1, "_start"))
        if any(name == "_dl_start_user" and begin == entry + 8 for begin, _, name in found):
            found.append((entry, entry + 8, "_start of ld.so"))
    return found


def entry_at(path, address):
    """The name of the entry point that an ELF virtual address belongs to, or None."""
    for first, last, name in entries(path):
        if first <= address <= last:
            return name
    return None
