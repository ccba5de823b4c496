# SPDX-License-Identifier: MIT
"""Many builds of cases/work.c and cases/throw.cc, and the hand-made cases.

Each entry is (name, program that must be installed, shell command that makes $out from $cases,
environment of the run). The program runs in the directory of $out.
"""

WORK = "$cases/work.c -pthread -o $out"
THROW = "$cases/throw.cc -o $out"
CASE = "gcc -O2 -fno-builtin "
ENTRY = "$cases/entry.S -o $out"
FP = "-fno-omit-frame-pointer "


def entries():
    """Yields all entries; names are unique."""
    for cc in ("gcc", "clang"):
        for level in ("-O0", "-O1", "-O2", "-O3", "-Os") + (("-Oz",) if cc == "clang" else ()):
            for name, flags in (("", ""), ("-fp", FP), ("-nofp", "-fomit-frame-pointer "),
                                ("-nopie", "-no-pie -fno-pie ")):
                yield f"work-{cc}{level}{name}", cc, f"{cc} {level} {flags}{WORK}", {}
        yield f"work-{cc}-lto", cc, f"{cc} -O2 -flto {'-fuse-ld=lld ' if cc == 'clang' else ''}{WORK}", {}
        for name, flags in (("static", "-static"), ("static-pie", "-static-pie -fPIE"),
                            ("asan", "-fsanitize=address"), ("ubsan", "-fsanitize=undefined"),
                            ("cet", "-fcf-protection"), ("clash", "-fstack-clash-protection"),
                            ("split", "-fsplit-stack -static"),
                            ("stripped", "-s"), ("noexcept", "-fno-asynchronous-unwind-tables"),
                            ("instrument", "-pg" if cc == "gcc" else "-fxray-instrument"),
                            ("now", "-Wl,-z,now"),
                            ("retpoline", "-mindirect-branch=thunk -mfunction-return=keep"
                             if cc == "gcc" else "-mretpoline")):
            yield (f"work-{cc}-{name}", cc, f"{cc} -O2 {flags} {WORK}",
                   {"ASAN_OPTIONS": "detect_leaks=0"} if name == "asan" else {})
        for linker, tool in (("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")):
            how = f"-fuse-ld={linker}"
            yield f"work-{cc}-{linker}", tool, f"{cc} -O2 {how} -Wl,-z,lazy {WORK}", {}
            yield f"work-{cc}-{linker}-cet", tool, f"{cc} -O2 {how} -fcf-protection -Wl,-z,lazy {WORK}", {}
        cxx = {"gcc": "g++", "clang": "clang++"}[cc]
        for level in ("-O0", "-O2", "-Os"):
            yield f"throw-{cc}{level}", cxx, f"{cxx} {level} {THROW}", {}
        yield f"throw-{cc}-static", cxx, f"{cxx} -O2 -static {THROW}", {}
    yield ("work-gcc-return-thunk", "gcc",
           f"gcc -O2 -mfunction-return=thunk -fno-asynchronous-unwind-tables {WORK}", {})
    for name, flags in (("", "thunk"), ("-inline", "thunk-inline")):
        yield (f"work-gcc-return-thunk-cfi{name}", "gcc", f"gcc -O2 -mfunction-return={flags} {WORK}", {})
    yield "work-bind-not", "gcc", f"gcc -O2 -Wl,-z,lazy {WORK}", {"LD_BIND_NOT": "1"}
    yield ("work-profile", "gcc", f"gcc -O2 -Wl,-z,lazy {WORK}",
           {"LD_PROFILE": "libc.so.6", "LD_PROFILE_OUTPUT": "$work"})
    for level in ("-O0", "-O2"):
        yield f"work-musl{level}", "musl-gcc", f"musl-gcc {level} {WORK}", {}
        yield f"work-musl-static{level}", "musl-gcc", f"musl-gcc {level} -static -DNO_THREAD {WORK}", {}
        yield f"work-diet{level}", "diet", f"diet gcc {level} -DNO_THREAD $cases/work.c -o $out", {}
    yield "work-tcc", "tcc", f"tcc {WORK}", {}
    # Most hand-made cases have no libc: they run the same few hundred instructions everywhere.
    alone = CASE + "-nostdlib -static -fno-stack-protector "
    for name, flags in (("", ""), ("-fp", FP)):
        yield f"bare{name}", "gcc", f"{alone}{flags}$cases/bare-main.c $cases/bare.S {ENTRY}", {}
        yield f"moved{name}", "gcc", f"{alone}{flags}$cases/moved-main.c $cases/moved.S {ENTRY}", {}
        yield f"switch{name}", "gcc", f"{alone}{flags}$cases/switch-main.c $cases/switch.S {ENTRY}", {}
        yield f"again{name}", "gcc", f"{alone}{flags}$cases/again.c $cases/again.S {ENTRY}", {}
        yield f"realigned{name}", "gcc", f"{alone}{flags}$cases/realigned.c {ENTRY}", {}
        yield (f"realigned-nocfi{name}", "gcc",
               f"{alone}{flags}-fno-asynchronous-unwind-tables $cases/realigned.c {ENTRY}", {})
        yield f"nested{name}", "gcc", f"{alone}{flags}-z execstack $cases/nested.c {ENTRY}", {}
        yield f"nested-O0{name}", "gcc", f"{alone}-O0 {flags}-z execstack $cases/nested.c {ENTRY}", {}
        yield f"signal{name}", "gcc", f"{CASE}{flags}$cases/signal-main.c $cases/signal.S -o $out", {}
        yield f"context{name}", "gcc", f"{CASE}{flags}$cases/context-main.c $cases/context.S -o $out", {}
    library = f"{CASE}-fPIC -shared -DLIBRARY $cases/constructor.c -o $out.so"
    yield "constructor", "gcc", f"{library} && {CASE}$cases/constructor.c $out.so -o $out", {}
    yield "deliver", "gcc", f"{CASE}$cases/deliver.c -o $out", {}
    yield ("context-static", "gcc",
           f"{CASE}-static $cases/context-main.c $cases/context.S -o $out", {})
    yield "odd", "gcc", f"{alone}$cases/odd-main.c $cases/odd.S {ENTRY}", {}
    for name in ("COLUMN", "REGISTER", "STATES", "OPCODE"):
        yield (f"odd-{name.lower()}", "gcc",
               f"{alone}-DODD_{name} $cases/odd-main.c $cases/odd.S {ENTRY}", {})
    yield ("odd-header", "gcc", f"{alone}-Wl,--eh-frame-hdr $cases/odd-main.c $cases/odd.S {ENTRY}.whole "
           "&& objcopy --remove-section .eh_frame_hdr $out.whole $out", {})
    yield "start", "gcc", "gcc -nostdlib -static $cases/start.S -o $out", {}
