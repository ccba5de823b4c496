#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Builds the exception tests of other projects for the VM.

Usage: tests/third_party/programs.py SOURCES OUT

SOURCES is where scripts/check-others unpacked the test suites of gcc, of libunwind, and
of LLVM's libunwind and libc++abi, and the package of LLVM's libunwind. Of gcc's tests,
those about exceptions, cleanups or unwinding are built, if their directives say that they
are run ("dg-do run"; the default in old-deja). Each is built with its own options, once as it
is and once with -O2. Tests that do not compile here (they are for another processor, or
need a header of their project's build) are only counted. OUT gets the programs, and
programs.tsv: suite, name, path, directory of libraries.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

ABOUT = re.compile(rb"throw|\bcatch\b|cleanup|_Unwind|-fexceptions|unwind|pthread_cancel")
# for another processor or system
NOT_HERE = re.compile(rb"dg-do run[^\n]*target[^\n]*(solaris|aix|hpux|mingw|ia64|mips|darwin|ilp32|arm)")
OPTIONS = re.compile(r'dg-(?:additional-)?options\s+"([^"]*)"\s*(\{ *target[^}]*)?')
SOURCES_TOO = re.compile(r'dg-additional-sources\s+"?([^"}]*)"?')
BASE = ["-w", "-g1", "-rdynamic", "-pthread", "-I."]


def compile_one(job):
    """Tries the job's command lines in turn. In the result, the path is None if all of them fail."""
    suite, name, folder, commands, path, libraries = job
    for command in commands:
        run = subprocess.run(command + ["-o", path], cwd=folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if run.returncode == 0:
            return suite, name, path, libraries
    return suite, name, None, libraries


def gcc_jobs(root, out):
    base = os.path.join(root, "gcc/testsuite")
    for top in ("g++.dg", "g++.old-deja", "g++.target/i386", "gcc.dg", "gcc.target/i386"):
        for folder, folders, names in os.walk(os.path.join(base, top)):
            folders.sort()
            for name in sorted(names):
                if not name.endswith((".C", ".c")):
                    continue
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    text = f.read()
                if not ABOUT.search(text) or NOT_HERE.search(text):
                    continue
                old = top == "g++.old-deja"
                if b"dg-do run" not in text and not (old and b"dg-do" not in text):
                    continue
                text = text.decode("latin-1")
                options = []
                for given, target in OPTIONS.findall(text):
                    if not target or re.search(r"86|linux|\*-\*-\*|lp64", target):
                        options += given.split()
                options = [o for o in options if o not in ("-m32", "-static", "-pg")]
                files = [name] + [n for found in SOURCES_TOO.findall(text) for n in found.split()]
                if name.endswith(".C"):
                    ways = [["g++", "-std=gnu++14"], ["g++", "-std=gnu++98"], ["g++", "-std=gnu++20"]]
                    if any(o.startswith("-std") for o in options):
                        ways = [["g++"]]
                else:
                    ways = [["gcc"]]
                short = os.path.relpath(path, base)
                levels = ("", "-O2") if not any(o.startswith("-O") for o in options) else ("",)
                for level in levels:
                    program = "gcc-%s%s" % (short.replace("/", "_"), level)
                    yield ("gcc", short + (" " + level if level else ""), folder,
                           [way + BASE + options + ([level] if level else []) + files + ["-lm"]
                            for way in ways], os.path.join(out, program), "")


def libunwind_jobs(root, out):
    folder = os.path.join(root, "tests")
    beside = {"x64-test-dwarf-expressions": ["x64-test-dwarf-expressions.S"],
              "test-init-local-signal": ["Ltest-init-local-signal-lib.c"],
              "test-bt": ["ident.c"], "test-trace": ["ident.c"], "test-dyn1": ["flush-cache.S"]}
    for name in sorted(os.listdir(folder)):
        if not re.match(r"([GL](test|x64|rs)-.*|test-.*|x64-.*)\.(c|cxx)$", name) or \
                re.search(r"ptrace|coredump|static-link|-lib\.c$", name):
            continue    # of another process, statically linked; a benchmark
        stem = name.rsplit(".", 1)[0]
        files = [name] + beside.get(stem.lstrip("GL"), [])
        command = ["g++" if name.endswith("cxx") else "gcc"] + BASE + [
            "-I../include", "-I../src", "-DHAVE_EXECINFO_H=1", "-fno-optimize-sibling-calls"]
        tail = ["-lunwind-setjmp"] if stem == "test-setjmp" else []
        tail += ["-lunwind-x86_64", "-lunwind", "-ldl"]
        for level in ("-O0", "-O2"):
            yield ("libunwind", "%s %s" % (name, level), folder,
                   [command + [level] + files + tail], os.path.join(out, "libunwind-" + stem + level),
                   "")


def llvm_jobs(root, package, out):
    libraries = os.path.join(package, "usr/lib/llvm-14/lib")
    for part in ("libunwind", "libcxxabi"):
        folder = os.path.join(root, part, "test")
        for name in sorted(os.listdir(folder)):
            if not re.search(r"\.pass\.(cpp|sh\.s)$", name) or ".compile." in name:
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text = f.read()
            if re.search(r"REQUIRES:.*target=\{\{(aarch64|arm)[^|]*$", text, re.M):
                continue
            command = BASE + ["-std=c++17", "-funwind-tables", "-I" + folder,
                              "-I" + os.path.join(root, "libcxx/test/support"),
                              "-I" + os.path.join(package, "usr/include/libunwind"),
                              "-I" + os.path.join(root, "libcxxabi/include")]
            if name.endswith(".s"):
                command.append("-no-pie")
            tail = []
            if part == "libunwind":
                tail = ["-Wl,--no-as-needed", "-L" + libraries, "-l:libunwind.so.1", "-ldl"]
            for level in ("-O0", "-O2"):
                yield ("llvm", "%s/%s %s" % (part, name, level), folder,
                       [[compiler] + command + [level, name] + tail
                        for compiler in ("clang++", "g++")],
                       os.path.join(out, "llvm-%s-%s%s" % (part, name, level)),
                       libraries if part == "libunwind" else "")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sources, out = map(os.path.abspath, sys.argv[1:])
    os.makedirs(out, exist_ok=True)
    jobs = list(gcc_jobs(os.path.join(sources, "gcc"), out))
    jobs += libunwind_jobs(os.path.join(sources, "libunwind"), out)
    jobs += llvm_jobs(os.path.join(sources, "llvm"), os.path.join(sources, "llvm-package"), out)
    built, not_built = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for suite, name, path, libraries in pool.map(compile_one, jobs):
            if path:
                built.append("\t".join((suite, name, path, libraries)))
            else:
                not_built.append("\t".join((suite, name)))
    with open(os.path.join(out, "programs.tsv"), "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in built))
    with open(os.path.join(out, "not-built.tsv"), "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in not_built))
    for suite in ("gcc", "libunwind", "llvm"):
        print("%s: %d programs built, %d not" % (
            suite, sum(line.startswith(suite + "\t") for line in built),
            sum(line.startswith(suite + "\t") for line in not_built)))


if __name__ == "__main__":
    main()
