# SPDX-License-Identifier: MIT
"""
elf.py - find the entry points of an ELF object

An entry point is code without a caller, where a stack ends. Entry points are
found by the ELF header and by names in the symbol table (or in that of the
separate debug file), never by kunwind's results.
"""

import functools
import os
import re
import struct
import subprocess

# Threads begin in clone() or clone3(). Contexts of makecontext() return to
# __start_context(). ld.so begins in _start, which goes on as _dl_start_user.
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


def interpreter(path):
    """The ELF file that runs when path is executed, path or its #!; or None."""
    for _ in range(4):
        with open(path, "rb") as file:
            head = file.read(256)
        if not head.startswith(b"#!"):
            return path if head.startswith(b"\x7fELF") else None
        path = head[2:].split(b"\n")[0].split()[0].decode()
    return None


@functools.lru_cache(maxsize=None)
def segments(path):
    """PT_LOAD segments [(offset, vaddr, filesz)], and the entry point."""
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:5] not in (b"\x7fELF\x01", b"\x7fELF\x02"):
            raise ValueError(path + ": no ELF")
        wide = header[4] == 2
        entry, phoff = struct.unpack_from("<QQ" if wide else "<II", header, 24)
        size, number = struct.unpack_from("<HH", header, 54 if wide else 42)
        file.seek(phoff)
        table = file.read(size * number)
    loads = []
    for i in range(number):
        if wide:
            kind, _, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", table, i * size)
        else:
            kind, offset, vaddr, _, filesz = struct.unpack_from("<IIIII", table, i * size)
        if kind == 1:
            loads.append((offset, vaddr, filesz))
    return loads, entry


def vaddr(path, offset):
    """The ELF virtual address of a file offset, or None."""
    for start, address, size in segments(path)[0]:
        if start <= offset < start + size:
            return offset - start + address
    return None


def text(path, address, size):
    """The bytes at an ELF virtual address; fewer at the end of a segment."""
    for start, begin, length in segments(path)[0]:
        if begin <= address < begin + length:
            with open(path, "rb") as file:
                file.seek(start + address - begin)
                return file.read(size)
    return b""


def _stripped_i386(path, entry):
    """
    Entry points of Debian's 32-bit libraries, which have no symbols for them:
    clone3(), found by its system call, mov $435,%eax; int $0x80 (glibc:
    sysdeps/unix/sysv/linux/i386/clone3.S), and ld.so's first code up to its
    jump to the program, jmp *%edi.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data[4] != 1:
        return
    at = data.find(b"\xb8\xb3\x01\x00\x00\xcd\x80")
    if at > 0:
        begin = next((at - offset + address for offset, address, size in segments(path)[0]
                      if offset <= at < offset + size), None)
        if begin is not None:
            yield begin, begin + 45, "clone3"
    code = text(path, entry, 128)
    jump = code.find(b"\xff\xe7")
    if entry and code.startswith(b"\x89\xe0") and jump > 0:
        yield entry, entry + jump + 2, "_start of ld.so"


@functools.lru_cache(maxsize=None)
def entries(path):
    """
    [(first, last, name)] of ELF virtual addresses at which a stack may end.
    last is inclusive, because it may be a return address.
    """
    found = []
    _, entry = segments(path)
    symbols = list(_symbols(path))
    debug = _debug_file(path)
    if debug:
        symbols += list(_symbols(debug))
    for name, address, size in symbols:
        if name == "_dl_start_user":
            # has no size; ends at the jump to the program, jmp *%r12 or *%edi
            code = text(path, address, 128)
            jump = re.search(rb"\x41\xff\xe4|\xff\xe7", code)
            size = jump.end() if jump else 0
        if name in THREAD_ENTRIES and size > 0:
            found.append((address, address + size, name))
    found += _stripped_i386(path, entry)
    if entry:
        # A program's _start has one call, which returns to a hlt. ld.so's has a
        # call that returns to _dl_start_user, see above.
        found.append((entry, entry, "entry"))
        code = text(path, entry, 64)
        halt = re.search(rb"\xff\x15....\xf4|\xff\x93....\xf4|\xe8....\xf4|\x67\xe8....\xf4", code,
                         re.DOTALL)
        if halt:
            found.append((entry + halt.end() - 1, entry + halt.end() - 1, "_start"))
        for begin, _, name in list(found):
            if name == "_dl_start_user" and 0 < begin - entry <= 16:
                found.append((entry, begin, "_start of ld.so"))
    return found


def entry_at(path, address):
    """The name of the entry point at an ELF virtual address, or None."""
    for first, last, name in entries(path):
        if first <= address <= last:
            return name
    return None
