// SPDX-License-Identifier: MIT
/*
 * hostile.c - a registered process that attacks the module
 *
 *	hostile map FILE...      maps all files as code, and checks that its own
 *				 stack is still whole; then prints the module's
 *				 lines about the objects, and waits for input
 *	hostile through LIBRARY  calls back through LIBRARY (plugin.c); prints
 *				 "REASON ADDRESSES OWN" of the stack; OWN is the
 *				 number of addresses before the library's
 *	hostile truncate FILE    maps FILE (copy of an ELF file), truncates it,
 *				 maps it again; prints the same, with OWN 0
 *	hostile liar [ROUNDS]    stacks from wrong registers and wrong memory: a
 *				 table of cases with the expected reasons, then
 *				 ROUNDS of random cases; prints TAP
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kunwind.h"

#define NOINLINE __attribute__((noinline, noclone))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

static int device;
static uint64_t addresses[KUNWIND_MAX_FRAMES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void begin(void)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };

	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &process))
		die(KUNWIND_DEVICE);
}

static NOINLINE struct kunwind_callstack take(void)
{
	struct kunwind_callstack call = {
		.size = sizeof(call), .addresses = (uintptr_t)addresses,
		.capacity = ARRAY_SIZE(addresses),
	};

	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &call))
		die("KUNWIND_IOC_CALLSTACK");
	return call;
}

/* Prints the module's lines about objects whose path contains @directory. */
static void print_objects(const char *directory)
{
	char line[4096];
	FILE *f = fopen(KUNWIND_DEVICE, "r");

	if (!f)
		die(KUNWIND_DEVICE);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "object\t", 7) && strstr(line, directory))
			fputs(line, stdout);
	fclose(f);
	fflush(stdout);
}

static int map_files(int nr, char **files)
{
	struct kunwind_callstack call;
	int i, waited;
	char c;

	for (i = 0; i < nr; i++) {
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st))
			die(files[i]);
		if (st.st_size && mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
				       fd, 0) == MAP_FAILED)
			die(files[i]);
		close(fd);
		call = take();
		if (call.reason != KUNWIND_COMPLETE || call.count < 3)
			printf("own stack with %s: reason %u, %u addresses\n", files[i], call.reason,
			       call.count);
	}
	/* wait until all files have been read or given up */
	for (waited = 0; waited < 100; waited++) {
		struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };

		if (!ioctl(device, KUNWIND_IOC_REGISTER, &process) && waited > 10)
			break;
		usleep(50000);
	}
	call = take();
	printf("own\t%u\t%u\n", call.reason, call.count);
	if (nr) {
		*strrchr(files[0], '/') = 0;
		print_objects(files[0]);
	}
	puts("end");
	fflush(stdout);
	(void)!read(0, &c, 1);
	return 0;
}

static struct kunwind_callstack called;
static void callback(void) { called = take(); }

static int through(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	void (*fn)(void (*)(void));
	unsigned int i;
	Dl_info info;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	fn = (void (*)(void (*)(void)))dlsym(handle, "plugin_call");
	fn(callback);
	for (i = 0; i < called.count; i++)
		if (dladdr((void *)(uintptr_t)addresses[i], &info) && info.dli_fbase &&
		    strstr(info.dli_fname, strrchr(path, '/') + 1))
			break;
	printf("%u %u %u\n", called.reason, called.count, i);
	return 0;
}

static int truncated(const char *path)
{
	struct kunwind_callstack call;
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	take();
	if (ftruncate(fd, 100))
		die("ftruncate");
	/* a second mapping makes the module read the file again */
	if (mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die("mmap");
	call = take();
	if (pwrite(fd, "junk", 4, 0) != 4 || ftruncate(fd, st.st_size))
		die("pwrite");
	if (mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die("mmap");
	call = take();
	printf("%u %u 0\n", call.reason, call.count);
	return 0;
}

/*
 * Code with CFI whose CFA or return address comes from registers or memory that
 * the caller of the ioctl chooses. It never runs.
 */
__asm__(R"(
	.pushsection .text
	.type by_rsp, @function
by_rsp:	.cfi_startproc			# CFA = rsp + 16, return address at rsp + 8
	.cfi_def_cfa_offset 16
	nop
	nop
	nop
	nop
	.cfi_endproc
	.type by_rbp, @function
by_rbp:	.cfi_startproc			# CFA = rbp + 16
	.cfi_def_cfa %rbp, 16
	.cfi_offset %rbp, -16
	nop
	nop
	nop
	nop
	.cfi_endproc
	.type by_memory, @function
by_memory:	.cfi_startproc		# CFA = *(rbp - 8)
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	nop
	nop
	nop
	nop
	.cfi_endproc
	.type by_rax, @function
by_rax:	.cfi_startproc			# CFA = *(rax) + 8
	.cfi_escape 0x0f, 0x05, 0x70, 0x00, 0x06, 0x23, 0x08
	nop
	nop
	nop
	nop
	.cfi_endproc
	.type by_r10, @function
by_r10:	.cfi_startproc			# CFA = r10
	.cfi_def_cfa %r10, 0
	nop
	nop
	nop
	nop
	.cfi_endproc
	.type ra_by_rdx, @function
ra_by_rdx:	.cfi_startproc		# return address at *(rdx)
	.cfi_escape 0x10, 0x10, 0x02, 0x71, 0x00
	nop
	nop
	nop
	nop
	.cfi_endproc
	.popsection
)");
extern char by_rsp[], by_rbp[], by_memory[], by_rax[], by_r10[], ra_by_rdx[];

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP };
#define ALL 0x1ffff

static uint64_t *words;		/* 64 KB, before an unmapped page */
#define WORDS 8192

static struct kunwind_callstack lie(const uint64_t *regs, uint32_t valid, uint32_t capacity)
{
	struct kunwind_callstack call = {
		.size = sizeof(call), .flags = KUNWIND_HAVE_REGS,
		.addresses = (uintptr_t)addresses, .capacity = capacity,
		.valid_regs = valid, .regs = (uintptr_t)regs,
	};

	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &call))
		die("KUNWIND_IOC_CALLSTACK with registers");
	return call;
}

#define KERNEL	0xffff888000001000ULL
#define HOLE	0x0000800000000000ULL	/* not canonical with 47 bits */
#define TOP	0x00007ffffffff000ULL	/* first address that user space cannot have */

static int tests, failed;
static void expect(const char *what, const struct kunwind_callstack *got, uint64_t reasons,
		   uint32_t min, uint32_t max)
{
	int good = got->reason < 64 && (reasons >> got->reason & 1) && got->count >= min &&
		   got->count <= max;

	tests++;
	failed += !good;
	printf("%s %d - %s: reason %u, %u addresses\n", good ? "ok" : "not ok", tests, what,
	       got->reason, got->count);
}
#define R(name) (1ULL << KUNWIND_##name)

static int liar(long rounds)
{
	uint64_t in_frame = (uintptr_t)by_rsp, regs[17], unmapped, none, untouched;
	struct kunwind_callstack got;
	long i;

	words = mmap(NULL, WORDS * 8 + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED || munmap(words + WORDS, 4096))
		die("mmap");
	/* make the pages present: a walk reads without page faults */
	memset(words, 0, WORDS * 8);
	unmapped = (uintptr_t)(words + WORDS);
	none = (uintptr_t)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	untouched = (uintptr_t)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	const struct {
		const char *what;
		uint64_t rip, rsp, reasons;
		uint32_t max;
	} simple[] = {
		{ "rip in the kernel", KERNEL, (uintptr_t)words, R(NO_OBJECT) | R(BAD_ADDRESS), 1 },
		{ "rip not canonical", HOLE, (uintptr_t)words, R(NO_OBJECT) | R(BAD_ADDRESS), 1 },
		{ "rip zero", 0, (uintptr_t)words, R(NO_OBJECT) | R(BAD_ADDRESS) | R(COMPLETE), 1 },
		{ "rip all ones", ~0ULL, (uintptr_t)words, R(NO_OBJECT) | R(BAD_ADDRESS), 1 },
		{ "rip in data", (uintptr_t)words, (uintptr_t)words, R(NO_OBJECT), 1 },
		{ "rsp in the kernel", in_frame, KERNEL, R(UNREADABLE), 1 },
		{ "rsp not canonical", in_frame, HOLE, R(UNREADABLE), 1 },
		{ "rsp zero", in_frame, 0, R(UNREADABLE), 1 },
		{ "rsp all ones", in_frame, ~0ULL, R(UNREADABLE) | R(CFA_STUCK), 1 },
		{ "rsp wraps around", in_frame, ~0ULL - 15, R(UNREADABLE) | R(CFA_STUCK), 1 },
		{ "rsp at the top of user space", in_frame, TOP - 8, R(UNREADABLE), 1 },
		{ "rsp across the top of user space", in_frame, TOP - 12, R(UNREADABLE), 1 },
		{ "rsp in the vsyscall page", in_frame, 0xffffffffff600000ULL, R(UNREADABLE), 1 },
		{ "rsp not mapped", in_frame, unmapped, R(UNREADABLE), 1 },
		{ "rsp across the end of a mapping", in_frame, unmapped - 12, R(UNREADABLE), 1 },
		{ "rsp in an inaccessible page", in_frame, none, R(UNREADABLE), 1 },
		{ "rsp in a page never accessed", in_frame, untouched, R(UNREADABLE) | R(COMPLETE), 1 },
	};
	for (i = 0; i < (long)ARRAY_SIZE(simple); i++) {
		memset(regs, 0, sizeof(regs));
		regs[RIP] = simple[i].rip;
		regs[RSP] = simple[i].rsp;
		got = lie(regs, ALL, 100);
		expect(simple[i].what, &got, simple[i].reasons, 1, simple[i].max);
	}

	/* a forged stack: each frame of by_rsp has two words */
	const struct {
		const char *what;
		uint64_t ra, reasons;
		uint32_t min, max;
	} returns[] = {
		{ "return address zero", 0, R(COMPLETE), 1, 1 },
		{ "return address in the kernel", KERNEL, R(BAD_ADDRESS), 1, 2 },
		{ "return address not canonical", HOLE, R(BAD_ADDRESS) | R(NO_OBJECT), 1, 2 },
		{ "return address in data", (uintptr_t)words, R(NO_OBJECT), 2, 2 },
		{ "return address one", 1, R(NO_OBJECT) | R(BAD_ADDRESS), 1, 2 },
	};
	for (i = 0; i < (long)ARRAY_SIZE(returns); i++) {
		memset(regs, 0, sizeof(regs));
		regs[RIP] = in_frame;
		regs[RSP] = (uintptr_t)words;
		words[1] = returns[i].ra;
		got = lie(regs, ALL, 100);
		expect(returns[i].what, &got, returns[i].reasons, returns[i].min, returns[i].max);
	}

	regs[RIP] = (uintptr_t)by_rbp;
	regs[RSP] = (uintptr_t)words;
	regs[RBP] = (uintptr_t)&words[10];
	words[10] = (uintptr_t)&words[10];
	words[11] = (uintptr_t)by_rbp + 1;
	got = lie(regs, ALL, 4096);
	expect("saved rbp points to itself", &got, R(CFA_STUCK), 1, 2);
	words[10] = (uintptr_t)&words[20];
	words[20] = (uintptr_t)&words[10];
	words[21] = (uintptr_t)by_rbp + 1;
	got = lie(regs, ALL, 4096);
	/* one step down is allowed: a signal or code may switch stacks */
	expect("two saved rbp that point to each other", &got, R(CFA_STUCK), 1, 5);
	regs[RBP] = KERNEL;
	got = lie(regs, ALL, 100);
	expect("rbp in the kernel", &got, R(UNREADABLE), 1, 1);
	got = lie(regs, ALL & ~(1U << RBP), 100);
	expect("rbp not valid", &got, R(REG_UNKNOWN), 1, 1);

	for (i = 0; i + 1 < WORDS; i += 2)
		words[i + 1] = in_frame + 1;
	regs[RIP] = in_frame;
	regs[RSP] = (uintptr_t)words;
	got = lie(regs, ALL, KUNWIND_MAX_FRAMES);
	expect("forged stack of more than 4096 frames", &got, R(BUFFER_FULL) | R(UNREADABLE), 4096, 4096);
	got = lie(regs, ALL, 7);
	expect("capacity for seven addresses", &got, R(BUFFER_FULL), 7, 7);

	regs[RIP] = (uintptr_t)by_memory;
	regs[RBP] = (uintptr_t)&words[30];
	words[29] = KERNEL;
	got = lie(regs, ALL, 100);
	expect("CFA from memory: a kernel address", &got, R(UNREADABLE), 1, 1);
	words[29] = HOLE;
	got = lie(regs, ALL, 100);
	expect("CFA from memory: not canonical", &got, R(UNREADABLE), 1, 1);
	words[29] = (uintptr_t)words - 64;
	got = lie(regs, ALL, 100);
	expect("CFA from memory: below the stack pointer", &got, R(CFA_STUCK) | R(UNREADABLE), 1, 1);
	regs[RBP] = KERNEL + 8;
	got = lie(regs, ALL, 100);
	expect("CFA from kernel memory", &got, R(UNREADABLE), 1, 1);

	const uint64_t bad[] = { KERNEL, HOLE, TOP - 4, unmapped - 4, 0, ~0ULL, ~0ULL - 7 };
	for (i = 0; i < (long)ARRAY_SIZE(bad); i++) {
		char text[80];

		regs[RIP] = (uintptr_t)by_rax;
		regs[RAX] = bad[i];
		got = lie(regs, ALL, 100);
		snprintf(text, sizeof(text), "CFA expression reads at %#llx", (unsigned long long)bad[i]);
		expect(text, &got, R(UNREADABLE), 1, 1);
		regs[RIP] = (uintptr_t)by_r10;
		regs[R10] = bad[i] + 8;
		got = lie(regs, ALL, 100);
		snprintf(text, sizeof(text), "CFA is %#llx + 8", (unsigned long long)bad[i]);
		expect(text, &got, R(UNREADABLE) | R(CFA_STUCK), 1, 1);
		regs[RIP] = (uintptr_t)ra_by_rdx;
		regs[RDX] = bad[i];
		got = lie(regs, ALL, 100);
		snprintf(text, sizeof(text), "return address is at %#llx", (unsigned long long)bad[i]);
		expect(text, &got, R(UNREADABLE), 1, 1);
	}

	/* random cases: each result must be as the ABI describes */
	const uint64_t pool[] = {
		KERNEL, HOLE, TOP - 8, unmapped - 8, 0, ~0ULL, 8, (uintptr_t)words,
		(uintptr_t)&words[100], (uintptr_t)&words[WORDS - 1], (uintptr_t)by_rsp + 1,
		(uintptr_t)by_rbp + 1, (uintptr_t)by_memory + 1, (uintptr_t)by_rax + 1,
		(uintptr_t)by_r10 + 1, (uintptr_t)ra_by_rdx + 1, (uintptr_t)printf, (uintptr_t)qsort,
		none, untouched,
	};
	uint64_t seed = 1, wrong = 0;
	for (i = 0; i < rounds; i++) {
		uint32_t capacity, n;

		for (n = 0; n < 17; n++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			regs[n] = pool[(seed >> 33) % ARRAY_SIZE(pool)] + (seed >> 60 ? 0 : seed >> 40 & 63);
		}
		for (n = 0; n < 256; n++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			words[n] = pool[(seed >> 33) % ARRAY_SIZE(pool)];
		}
		capacity = 1 + (seed >> 35) % 300;
		got = lie(regs, (uint32_t)(seed >> 20 & ALL) | 1U << RSP | 1U << RIP, capacity);
		if (got.reason >= KUNWIND_NR_REASONS || got.count < 1 || got.count > capacity)
			wrong++;
	}
	tests++;
	failed += wrong != 0;
	printf("%s %d - %ld random cases, %llu results not as the ABI describes\n", wrong ? "not ok" : "ok",
	       tests, rounds, (unsigned long long)wrong);
	got = take();
	expect("own stack is whole after random cases", &got, R(COMPLETE), 3, 100);
	printf("1..%d\n", tests);
	return failed != 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	begin();
	if (!strcmp(argv[1], "map"))
		return map_files(argc - 2, argv + 2);
	if (!strcmp(argv[1], "through") && argc == 3)
		return through(argv[2]);
	if (!strcmp(argv[1], "truncate") && argc == 3)
		return truncated(argv[2]);
	if (!strcmp(argv[1], "liar"))
		return liar(argc > 2 ? atol(argv[2]) : 20000);
	return 2;
}
