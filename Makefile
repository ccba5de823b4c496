# SPDX-License-Identifier: MIT
#
# kunwind: kernel modules, library, tools; their tests; their installation.
# "make help" lists the targets. The parts have makefiles of their own.

include scripts/user.mk

# The running kernel's headers, or else the newest that are installed (the
# modules are then for the VM, or for the kernel that is booted next).
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	$(shell ls -1dr $$(ls -1d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V) 2>/dev/null | head -n 1))

export PREFIX DESTDIR

PARTS := $(foreach part,libkunwind tools,$(if $(wildcard $(part)/Makefile),$(part)))

.PHONY: all modules lib tools install install-user install-modules uninstall
.PHONY: demo check check-unit check-vm check-debug check-names check-corpus check-others
.PHONY: check-programs check-runtimes check-kernel-tests check-planted fuzz check-releases
.PHONY: check-rt soak bench bench-names check-bench bench-accept style clean help check-kcsan
.PHONY: check-fuzz-kernel check-selftrace check-steps

all: modules lib tools

modules:
	@test -n "$(KDIR)" || { echo "no kernel headers: run scripts/setup build" >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) W=1 modules

lib:
	$(MAKE) -C libkunwind all

tools: lib
	$(MAKE) -C tools all

# Library, tools, man pages and udev rule below PREFIX; the modules through
# DKMS, which builds them for every kernel that is installed now or later.
# With DESTDIR the files are laid there and nothing is built or loaded.
install: lib tools install-user install-modules

install-user:
	for part in $(PARTS); do $(MAKE) -C $$part install || exit 1; done

install-modules:
	@scripts/install-modules install "$(DESTDIR)" "$(VERSION)"

uninstall:
	for part in $(PARTS); do $(MAKE) -C $$part uninstall || exit 1; done
	@scripts/install-modules uninstall "$(DESTDIR)" "$(VERSION)"

demo:
	@scripts/demo

# TEST: one file, as unit/NAME-test or vm/t-NAME; may name several
check:
	@scripts/check $(or $(TEST),unit vm)

check-unit:
	@scripts/check unit

check-vm:
	@scripts/check vm

check-debug:
	@scripts/check-debug $(FILES)

check-kcsan:
	@scripts/check-kcsan $(FILES)

check-fuzz-kernel:
	@scripts/check-fuzz-kernel $(or $(SECONDS),300) $(SEED)

check-names:
	@scripts/check-names

soak:
	@scripts/soak $(if $(DEBUG),--debug) $(SECONDS)

check-kernel-tests:
	@scripts/check-kernel-tests

check-selftrace:
	@scripts/check-selftrace

check-releases:
	@scripts/check-releases

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
	@$(MAKE) -s -C tests/fuzz fuzz $(if $(SECONDS),SECONDS=$(SECONDS)) $(if $(TARGET),TARGET=$(TARGET))

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

clean:
	-test -z "$(KDIR)" || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	for part in $(PARTS) $(patsubst %/Makefile,%,$(wildcard tests/*/Makefile)); do \
		$(MAKE) -C $$part clean || exit 1; done

help:
	@echo 'all         modules, library, tools'
	@echo '  KDIR=DIR    kernel headers ($(KDIR))'
	@echo 'install     library and tools below PREFIX ($(PREFIX)), modules through DKMS'
	@echo 'uninstall   takes them away again'
	@echo 'demo        trace a real program in a VM, without and with kunwind'
	@echo 'check       all tests; check-unit, check-vm: a part of them; TEST=unit/NAME-test or'
	@echo '            TEST=vm/t-NAME: one file (docs/testing.md)'
	@echo 'check-debug storms, failing allocations and tables on a kernel with KASAN, lockdep and'
	@echo '            kmemleak (built first: 10 min or more; then some 3 h); FILES: only these'
	@echo 'check-kcsan  two of these on a kernel that reports data races (built first; then 30 min);'
	@echo '            FILES: only these'
	@echo 'check-fuzz-kernel  device calls, mappings, processes and parameters at random for SECONDS (300)'
	@echo '            on the kernel of check-debug, guided by what code they reach; SEED (1)'
	@echo 'check-names  names for a trace that was carried away, against eu-addr2line (fetches and'
	@echo '            builds python3, git and sqlite3 with debug files first: 4 min)'
	@echo 'soak        loading, unloading and switching in random order under full load for SECONDS'
	@echo '            (600); SEED=N: that order again; DEBUG=1: on the kernel with checkers'
	@echo 'check-kernel-tests  the selftests of x86 and signals of the kernel itself, and stress-ng, the'
	@echo '            whole system traced, as without'
	@echo 'check-selftrace  every event of the kernel with user stacks, by ftrace, perf and LTTng: the'
	@echo '            module does not cause its own work (15 min)'
	@echo 'check-planted  some 800 bugs, one at a time in a copy of the tree: which do the tests find?'
	@echo '            (hours with those of the VM; UNIT=1: those that need none, 30 min; ROOM=core;'
	@echo '            NAMES="core/cache-*"; JOBS=2)'
	@echo 'check-releases  the VM tests on Debian 12, 13 and sid, each with its own kernel and'
	@echo '            LTTng (root file systems are made first: 10 min each, as root)'
	@echo "check-rt    the VM tests on Debian's PREEMPT_RT kernel; RELEASE: on that of trixie or sid;"
	@echo '            FILES: only these'
	@echo 'check-corpus  every row of every ELF file below DIRS (/usr) against libdw; DIRS=--packages:'
	@echo '            of a root file system with some four hundred packages, made first'
	@echo 'check-others  exception and unwind tests of gcc, libunwind and LLVM: stacks from the kernel'
	@echo '            against libgcc at each throw (220 MB are downloaded first); NAMES: only these'
	@echo 'check-programs  ninety programs of other people in the VM, every thread as eu-stack has'
	@echo '            it; those that are installed, or INSTALL=1: all (3 GB; a machine of its own)'
	@echo 'check-runtimes  OpenJDK, Python -X perf, Ruby, PHP, Go with C, coroutines: the native frames'
	@echo '            on both sides (4 min); RELEASE: there, with what it has (trixie: -X perf)'
	@echo 'check-steps  every instruction of some 40 programs and 150 builds, each walk against a shadow'
	@echo '            stack, libdw and libunwind (an hour on two busy cores); NAMES="python3 work-gcc-*"; JOBS=2; INSTALL=1: all'
	@echo 'fuzz        the core under libFuzzer for SECONDS (60) in all; TARGET: build, rows,'
	@echo '            stages, walk, bare, elf, cost-build, cost-walk'
	@echo 'bench       the figures of docs/performance.md; bench-names: of names and sizes of traces'
	@echo 'check-bench fails when a counted figure (instructions, bytes, lines of the cache) is'
	@echo '            5 % worse than in tests/bench/figures; bench-accept takes what is counted now'
	@echo 'style       checks of form'
	@echo 'clean       what make built'
	@echo 'demo, check and bench install what they need first (Debian 12).'
