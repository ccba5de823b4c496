# SPDX-License-Identifier: MIT
#
# Builds, tests and installs kunwind: kernel modules, library, tools. "make
# help" lists the targets. Each part has a makefile of its own.

include scripts/user.mk

# The headers of the running kernel, or the newest ones that are installed, those
# of other flavours (-rt, -cloud) last. In the second case the modules are for the
# VM, or for the kernel that is booted next.
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	$(shell ls -1d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | \
		awk '/-(rt|cloud)-amd64$$/ { other = $$0; next } { plain = $$0 } END { print plain ? plain : other }'))

export PREFIX DESTDIR

PARTS := $(foreach part,libkunwind tools,$(if $(wildcard $(part)/Makefile),$(part)))

.PHONY: all modules lib tools install install-user install-modules uninstall uninstall-user
.PHONY: demo check check-unit check-vm check-debug check-names check-corpus check-others
.PHONY: check-programs check-runtimes check-kernel-tests check-planted fuzz check-releases
.PHONY: check-rt soak bench bench-names check-bench bench-accept style clean help check-kcsan
.PHONY: check-fuzz-kernel check-long check-selftrace check-steps check-install try-modules dist
.PHONY: check-packages

all: modules lib tools

modules:
	$(if $(KDIR),,$(error no kernel headers in /lib/modules or /usr/src: apt install linux-headers-amd64, or set KDIR))
	+@scripts/build-modules "$(KDIR)" W=1 modules

lib:
	$(MAKE) -C libkunwind all

tools: lib
	$(MAKE) -C tools all

# Installs the library, tools, man pages and udev rule below PREFIX, and the
# modules through DKMS, which builds them for each kernel that is installed now
# or later. With DESTDIR, copies the files below it; no module is built or
# loaded. install-user needs no root if PREFIX is a directory of the user: then
# all its files are below PREFIX, without the udev rule.
install install-user: export WERROR :=
install: lib tools install-user install-modules

install-user:
	for part in $(PARTS); do $(MAKE) -C $$part install || exit 1; done

# make's own message is the last line, so the reason why no module can be loaded is in it.
install-modules: try-modules
	$(if $(file <build/no-modules),$(error $(file <build/no-modules)))

try-modules:
	@mkdir -p build; $(RM) build/no-modules
	@scripts/install-modules install "$(DESTDIR)" "$(VERSION)" build/no-modules

# Also removes PREFIX if it is empty, except a directory of a package or the user's home.
uninstall-user:
	for part in $(PARTS); do $(MAKE) -C $$part uninstall || exit 1; done
	@[ "$(PREFIX)" = "$$HOME" ] || dpkg-query -S "$(PREFIX)" >/dev/null 2>&1 || \
		rmdir "$(DESTDIR)$(PREFIX)" 2>/dev/null || :

uninstall: uninstall-user
	@scripts/install-modules uninstall "$(DESTDIR)" "$(VERSION)"

demo:
	@scripts/demo

# TEST: unit/NAME-test or vm/t-NAME; may name several files
check:
	@scripts/check $(or $(TEST),unit vm)

check-unit:
	@scripts/check unit

check-vm:
	@scripts/check vm

check-long:
	@scripts/check long

check-debug:
	@scripts/check-debug $(FILES)

check-kcsan:
	@scripts/check-kcsan $(FILES)

check-fuzz-kernel:
	@scripts/check-fuzz-kernel $(if $(STOCK),--stock) $(or $(SECONDS),300) $(SEED)

check-names:
	@scripts/check-names

soak:
	@scripts/soak $(if $(DEBUG),--debug) $(if $(SAMPLING),--sampling) $(SECONDS)

check-kernel-tests:
	@scripts/check-kernel-tests

check-selftrace:
	@scripts/check-selftrace

check-releases:
	@scripts/check-releases

# RELEASES: bookworm, trixie, sid
check-install:
	@scripts/check-install $(RELEASES)

# RELEASES: bookworm, trixie, sid
check-packages:
	@scripts/check-packages $(RELEASES)

check-rt:
	@scripts/check-rt $(if $(RELEASE),--release $(RELEASE)) $(FILES)

check-planted:
	@scripts/check-planted $(if $(ROOM),--room $(ROOM)) $(if $(UNIT),--unit-only) -j $(or $(JOBS),1) $(NAMES)

check-corpus:
	@scripts/check-corpus $(DIRS)

check-others:
	@scripts/check-others $(NAMES)

check-runtimes:
	@scripts/check-runtimes $(if $(RELEASE),--release $(RELEASE))

check-programs:
	@scripts/check-programs $(if $(filter 1,$(INSTALL)),--install)

check-steps:
	@scripts/check-steps $(if $(filter 1,$(INSTALL)),--install) -j $(or $(JOBS),1) $(NAMES)

fuzz:
	@$(MAKE) -s -C tests/fuzz fuzz $(if $(SECONDS),SECONDS=$(SECONDS)) $(if $(TARGET),TARGET="$(TARGET)")

bench:
	@scripts/bench

bench-names:
	@scripts/check-names --bench

check-bench:
	@scripts/check-bench

bench-accept:
	@scripts/check-bench --accept

style:
	@scripts/style

dist:
	@scripts/dist

clean:
	+-test -z "$(KDIR)" || scripts/build-modules "$(KDIR)" clean
	for part in $(PARTS) $(patsubst %/Makefile,%,$(wildcard tests/*/Makefile)); do \
		$(MAKE) -C $$part clean || exit 1; done

help:
	@echo 'all         build modules, library and tools'
	@echo '  KDIR=DIR    kernel headers ($(KDIR))'
	@echo 'install     install library and tools below PREFIX ($(PREFIX)), libraries in LIBDIR'
	@echo '            ($(LIBDIR)), and the modules through DKMS'
	@echo 'uninstall   remove what "make install" installed'
	@echo 'install-user, uninstall-user  the same without the modules; PREFIX=DIR: only files below DIR'
	@echo 'demo        trace a real program in a VM, first without kunwind, then with it'
	@echo 'check       run all tests except those of check-long; check-unit, check-vm: a part of them;'
	@echo '            TEST=unit/NAME-test or TEST=vm/t-NAME: one file (docs/testing.md)'
	@echo 'check-debug run storms, failing allocations and table tests on a kernel with KASAN, lockdep'
	@echo '            and kmemleak (built first: 10 min or more; then some 3 h); FILES: only these'
	@echo 'check-kcsan  run two of these tests on a kernel that reports data races (built first; then'
	@echo '            30 min); FILES: only these'
	@echo 'check-fuzz-kernel  make random device calls, mappings, processes and parameter changes for'
	@echo '            SECONDS (300) on the kernel of check-debug, guided by coverage; SEED (1);'
	@echo "            STOCK=1: on Debian's kernel, not guided, some 3,000 calls a second"
	@echo 'check-names  compare the names of frames in a trace from another machine with eu-addr2line'
	@echo '            (first fetches and builds python3, git and sqlite3 with debug files: 4 min)'
	@echo 'soak        load, unload and switch the module in random order under full load for SECONDS'
	@echo '            (600); SEED=N: repeat that order; DEBUG=1: on the kernel of check-debug;'
	@echo '            SAMPLING=1: instead, keep the sampler and the flight recorder on (3600)'
	@echo "check-kernel-tests  run the kernel's selftests of x86 and of signal stacks, and stress-ng:"
	@echo '            the results with the whole system traced equal those without the module'
	@echo 'check-long  run the VM tests that take too long for make check, and longer versions of'
	@echo '            some others (10,000 samples in t-sampler)'
	@echo 'check-selftrace  trace every kernel event with user stacks, by ftrace, perf and LTTng: the'
	@echo '            module does not cause its own work (15 min)'
	@echo 'check-planted  plant some 1,500 bugs, one at a time in a copy of the tree: which do the tests'
	@echo '            find? (hours; UNIT=1: without the VM, 30 min; ROOM=core;'
	@echo '            NAMES="core/cache-*"; JOBS=2)'
	@echo 'check-releases  run the VM tests on Debian 12, 13 and sid, each with its own kernel and'
	@echo '            LTTng (makes root file systems first: 10 min each, as root)'
	@echo 'check-install  install kunwind in clean root file systems of these releases, word by word as'
	@echo '            README.md says, trace a program there in a VM, and remove kunwind (as root; some'
	@echo '            30 min each); RELEASES=trixie: only there'
	@echo 'check-packages  build the packages for these releases, twice, run lintian, and install and remove'
	@echo '            them in clean root file systems (as root; some 20 min each); RELEASES=trixie: only there'
	@echo "check-rt    run the VM tests on Debian's PREEMPT_RT kernel; RELEASE: on that of trixie or"
	@echo '            sid; FILES: only these'
	@echo 'check-corpus  compare every row of every ELF file below DIRS (/usr) with libdw;'
	@echo '            DIRS=--packages: of a root file system with some 400 packages, made first'
	@echo 'check-others  run exception and unwind tests of gcc, libunwind and LLVM: at each throw, the'
	@echo "            stack from the kernel equals libgcc's (downloads 220 MB first); NAMES: only these"
	@echo "check-programs  run ninety other projects' programs in the VM: each thread's stack equals"
	@echo "            eu-stack's; INSTALL=1: install missing programs (3 GB; on a machine of its own)"
	@echo 'check-runtimes  compare native frames in OpenJDK, Python -X perf, Ruby, PHP, Go with C, and'
	@echo "            coroutines with the programs' own records (4 min); RELEASE: in that release's root,"
	@echo '            with the packages that it has (trixie: -X perf)'
	@echo 'check-steps  walk at every instruction of some 40 programs and 130 builds, compared with a shadow'
	@echo '            stack, libdw and libunwind (an hour on two busy cores); NAMES="python3 work-gcc-*";'
	@echo '            JOBS=2; INSTALL=1: install missing programs'
	@echo 'fuzz        run the core under libFuzzer for SECONDS (60) in all; TARGET: build, rows,'
	@echo '            parts, walk, nocfi, elf, cost-build, cost-walk'
	@echo 'bench       measure the figures of docs/performance.md; bench-names: costs of names, and'
	@echo '            sizes of traces'
	@echo 'check-bench fail if a counted figure (instructions, bytes, cache lines) is 5 % worse than in'
	@echo '            tests/bench/figures; bench-accept: write the present ones there'
	@echo 'style       check the form of all tracked files'
	@echo 'dist        make the tarball of the source, build/kunwind-VERSION.tar.xz'
	@echo 'clean       remove what make built'
	@echo 'demo, check and bench first install the packages that they need (Debian 12).'
