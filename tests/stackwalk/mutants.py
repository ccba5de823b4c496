#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""mutants.py DIRECTORY [NUMBER] [SEED] - kunwind stackwalk on damaged cores, minidumps, chunks and reports

Each of NUMBER (300) files is a real one with some bytes replaced, cut off or exchanged. The answer is
a report as JSON and status 0, or nothing on standard output, one line on standard error and status 1;
within 10 seconds and with less than 1 GB of memory in each process. libkunwind/dump, with sanitizers, reads 20 times as many
(dump_mutants.c, DUMP_MUTANTS in the environment). Prints TAP.
"""

import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import time

import crashes
import programs
import schema
from crashes import tap

SECONDS, MEGABYTES = 10, 1024
# what is read as a size, a count or an address
NUMBERS = (0, 1, 2, 0x7f, 0xff, 0xfff, 0x1000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 47, (1 << 63) - 1,
           1 << 63, (1 << 64) - 4096, (1 << 64) - 1)


def chunk_of(report):
    """The first thread of a report as a text with registers, mappings and 4 KB of zeros as stack."""
    thread = report["threads"][0]
    registers = thread["frames"][0]["registers"]
    lines = ["kunwind-stack 1"]
    for module in report["modules"]:
        lines.append("map %s-%s r-xp 00000000 00:00 0 %s" % (module["base_addr"][2:], module["end_addr"][2:], module["path"]))
        lines.append("build-id " + (module["code_id"] or ""))
    lines.append("thread %d main" % thread["thread_id"])
    lines += ["%s %s" % pair for pair in registers.items()]
    lines.append("stack %s %s" % (registers["rsp"], "00" * 4096))
    return ("\n".join(lines) + "\n").encode()


def running_of(report):
    """The first thread of a report as kunwind stack writes a process (libkunwind/dump/running.h)."""
    thread = report["threads"][0]
    registers = thread["frames"][0]["registers"]
    names = ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip").split()
    values = [int(registers[name], 16) for name in names]
    auxv = struct.pack("<4Q", 9, values[16], 0, 0)
    out = struct.pack("<16s5Ii64s", b"kunwind-running", 0, len(auxv), len(report["modules"]), 1, 1, 1, b"app") + auxv
    for module in report["modules"]:
        path = (module["path"] or "").encode() + b"\0"
        out += struct.pack("<QQQII", int(module["base_addr"], 16), int(module["end_addr"], 16), 0, 1, len(path)) + path
    out += struct.pack("<II17QIIQ64s", 1, 1, *values, 0x1ffff, 0, 0, b"main")
    return out + struct.pack("<QQ", values[7], 4096) + bytes(4096)


def lines_of(report):
    """A report as libkunwind-crash writes it (kunwind_crash_init(3))."""
    lines = [{key: report[key] for key in ("pid", "command", "system_info", "crash_info")}]
    for thread in report["threads"]:
        lines.append({key: thread[key] for key in ("thread_id", "thread_name")})
        for frame in thread["frames"]:
            lines.append({key: frame[key] for key in ("frame", "offset", "address", "module", "module_offset", "trust",
                                                      "stack_pointer", "registers") if key in frame})
            module = [m for m in report["modules"] if m["filename"] == frame["module"]]
            lines[-1].update(path=module[0]["path"] if module else None, code_id=module[0]["code_id"] if module else None)
        lines.append({"frame_count": len(thread["frames"]), "reason": thread["reason"],
                      "missing_address": thread["missing_address"], "why": None})
    lines.append({"status": "OK", "thread_count": len(report["threads"]), "why": None})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def make_files(where):
    """The files to damage: small ones, so that most damage hits something that is read."""
    files = []
    for name, mode in (("c-O2", "null"), ("c-O2", "thread"), ("c-m32", "null"), ("cc-O2", "throw"), ("c-static", "abort")):
        program = crashes.build(where, name)
        folder = os.path.join(where, "core." + name + mode)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        core = program and programs.make_core(program, mode, folder)
        if core:
            with open(core, "rb") as f:
                files.append(f.read())
            if not files[1:]:
                report = crashes.run_kunwind(core)
                files += [chunk_of(report), running_of(report), lines_of(report)]
    for folder, _, names in os.walk(os.path.join(where, "..", "minidumps")):
        for name in names:
            if name == "dump":
                with open(os.path.join(folder, name), "rb") as f:
                    files.append(f.read())
    return files


def damage(data, rnd):
    data = bytearray(data)
    for _ in range(rnd.choice((1, 1, 2, 4, 16))):
        size = len(data)
        if not size:
            break
        # headers, notes and streams are at the beginning
        at = rnd.randrange(min(size, rnd.choice((64, 1024, 8192, size))))
        kind = rnd.randrange(6)
        if kind == 0:
            data[at] = rnd.randrange(256)
        elif kind == 1:
            data[at:at + 8] = struct.pack("<Q", rnd.choice(NUMBERS))[:len(data[at:at + 8])]
        elif kind == 2:
            data[at:at + 4] = struct.pack("<I", rnd.choice(NUMBERS) & 0xffffffff)[:len(data[at:at + 4])]
        elif kind == 3:
            length = rnd.choice((8, 56, 512))
            other = rnd.randrange(size)
            piece = data[other:other + length]
            data[at:at + len(piece)] = piece
        elif kind == 4:
            data[at:at + 64] = bytes(rnd.randrange(256) for _ in data[at:at + 64])
        elif rnd.randrange(4) == 0:
            del data[at:]
    return bytes(data)


def run(path):
    """Returns what is wrong with the answer, or None; and whether it is a report."""
    began = time.monotonic()
    try:
        done = subprocess.run([crashes.KUNWIND, "stackwalk", "--json", path], capture_output=True, timeout=10 * SECONDS)
    except subprocess.TimeoutExpired:
        return "no end", False
    took = time.monotonic() - began
    if took > SECONDS:
        return "it took %.1f s" % took, False
    if done.returncode == 0:
        try:
            return schema.why_invalid(json.loads(done.stdout)), True
        except ValueError:
            return "no JSON", False
    if done.returncode != 1 or done.stdout or done.stderr.count(b"\n") != 1:
        return "status %d, %d bytes, %r" % (done.returncode, len(done.stdout), done.stderr[-500:]), False
    return None, False


def check_reader(where, files, number):
    """Lets the reader alone, with sanitizers, read damaged files."""
    paths = []
    for i, data in enumerate(files):
        paths.append(os.path.join(where, "original-%d" % i))
        with open(paths[-1], "wb") as f:
            f.write(data)
    program = os.environ.get("DUMP_MUTANTS", "")
    done = subprocess.run([program, str(number)] + paths, capture_output=True, text=True) if program else None
    tap.check("mutants: the reader of dumps reads %d damaged files without an error of the sanitizers" % number,
              done and not done.returncode, done and done.stderr[:3000])
    print("# " + (done.stdout.strip() if done else "no DUMP_MUTANTS"))


def main():
    where = os.path.abspath(sys.argv[1])
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    rnd = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    os.makedirs(where, exist_ok=True)
    files = make_files(where)
    tap.check("mutants: there are real files to damage", len(files) >= 5, len(files))
    check_reader(where, files, 20 * number)
    path, wrong, reports = os.path.join(where, "mutant"), [], 0
    for i in range(number if files else 0):
        with open(path, "wb") as f:
            f.write(damage(rnd.choice(files), rnd))
        what, is_report = run(path)
        reports += is_report
        if what:
            kept = os.path.join(where, "failed-%d" % i)
            shutil.copy(path, kept)
            wrong.append("%s: %s" % (kept, what))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    tap.check("mutants: %d damaged files get a report or one line, in time" % number, not wrong, "\n".join(wrong))
    tap.check("mutants: no process takes 1 GB of memory", most < MEGABYTES, "%d MB" % most)
    print("# %d reports, %d errors; at most %d MB" % (reports, number - reports, most))
    tap.finish()


if __name__ == "__main__":
    main()
