# SPDX-License-Identifier: MIT
"""
maps.py - find the file, and the address in it, of an address in a process
"""

import os

import elf


class Maps:
    """Executable mappings of one process, from its /proc/PID/maps."""

    def __init__(self, path):
        self.ranges = []
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                parts = line.split(None, 5)
                start, end = (int(x, 16) for x in parts[0].split("-"))
                name = parts[5].strip() if len(parts) > 5 else ""
                if "x" in parts[1]:
                    self.ranges.append((start, end, int(parts[2], 16), name))

    def place(self, address):
        """(file, ELF virtual address), or (mapping's name or None, address)."""
        for start, end, offset, name in self.ranges:
            if start <= address < end:
                if name.startswith("/") and os.path.exists(name):
                    return name, elf.vaddr(name, address - start + offset)
                return name or "anonymous", address
        return None, address
