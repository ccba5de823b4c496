// SPDX-License-Identifier: MIT
/*
 * hostile.c - count instructions of walks over stacks made to be expensive
 *
 *	hostile off|on|interrupt FRAMES
 *	hostile spin
 *	hostile wake THREADS
 *
 * Registers itself and reads /dev/kunwind-bench, which walks this thread's
 * stack eight times with interrupts off or on, or in a hard interrupt
 * (kmod/count.c). rsp then points to a stack that this program filled: FRAMES
 * return addresses whose rule is in the cache, then the frames listed here,
 * which spend the budget of the walk. Prints a line for each stack: name,
 * addresses found, instructions of the most expensive of the eight walks.
 * "interrupt": the mean of 256 walks, because the budget of walks in interrupts
 * is limited on average, and then the most expensive of them. "spin" runs on
 * the stack each-loops until it is killed. "wake" starts THREADS threads, which
 * poll an eventfd, and writes to it eight times from the stack each-loops. A write
 * wakes all threads, with interrupts off. Prints the instructions of the most
 * expensive write.
 *
 *	words        each word follows a call of one function, whose code the walk decodes
 *	jumps        as words; the function consists of conditional jumps
 *	prefixes     as words; each instruction has eleven prefixes
 *	both         as words; conditional jumps with nine prefixes
 *	loops        as words; loops of two instructions that push
 *	returns      frames of a JIT, found by the pops in the code after each call
 *	lookups      frames with unwind information, at addresses that are not in the cache
 *	expressions  frames whose CFA is a DWARF expression that reads memory 100 times
 *
 * The walk keeps answers about code (kmod/core/nocfi/analysis_cache.h). Most
 * stacks above ask one question for many words. A stack each-NAME asks another
 * question for each word (words, jumps, prefixes, both, loops) or frame
 * (returns). In "checks", all answers are kept from earlier walks, and nearly
 * all of the budget is spent on comparing code.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../../kmod/uapi/kunwind.h"

#define WALKS	8		/* WALKS and MOST as ROUNDS and MOST in kmod/count.c */
#define MOST	1024
#define FILL_US	20000		/* longer than the token bucket takes to fill */
#define WORDS	8192
#define CODE	0x4000
#define AT	0x300		/* return address of the frame; calls have targets below it */
#define CALL	0x1000		/* a call of offset 0; others may follow, CALL_SIZE bytes apart */
#define CALL_SIZE 8
#define CALLS	512
#define LARGE	0x2000		/* instructions of INSN_SIZE bytes; the first LARGE_CALLS are called */
#define INSN_SIZE 15
#define LARGE_CALLS 64
#define LARGE_AT (LARGE + (LARGE_CALLS + 200) * INSN_SIZE)	/* return address, as AT */
#define SELF	0x10000000	/* a word that holds its own address */

static uint64_t result[1 + WALKS + MOST], stack[WORDS];
static uint8_t *code;
static int bench, frames;
static long mode;		/* file offset: kmod/count.c */
static int reads = 1;		/* of the device, for each line */

/*
 * In flat(), the return address is at rsp at each of 4,096 addresses. In dear()
 * too, by an expression: const4u SELF; 100 times deref; drop; breg7 8.
 */
__asm__(".text\n"
	"flat:\n"
	"	.cfi_startproc\n"
	"	.skip 4096, 0x90\n"
	"flat_call:\n"
	"	syscall\n"
	"	jmp *%rbx\n"
	"	.cfi_endproc\n"
	"dear:\n"
	"	.cfi_startproc\n"
	"	.cfi_escape 0x0f, 108, 0x0c, 0, 0, 0, 0x10\n"
	"	.rept 100\n"
	"	.cfi_escape 0x06\n"
	"	.endr\n"
	"	.cfi_escape 0x13, 0x77, 8\n"
	"	.skip 4096, 0x90\n"
	"	.cfi_endproc\n");
extern uint8_t flat[], flat_call[], dear[];

/* Makes a system call from flat(), with rsp at the stack. */
static uint64_t call_from_stack(long number, long fd, void *bytes, size_t size, long last)
{
	register uint64_t sp __asm__("r12") = (uint64_t)stack;
	register uint64_t to __asm__("r13") = (uint64_t)flat_call;
	register long offset __asm__("r10") = last;
	uint64_t ret;

	__asm__ __volatile__("mov %%rsp, %%r14\n\t"
			     "mov %%rbp, %%r15\n\t"
			     "lea 1f(%%rip), %%rbx\n\t"
			     "mov %%r12, %%rsp\n\t"
			     "xor %%ebp, %%ebp\n\t"
			     "jmp *%%r13\n"
			     "1:	mov %%r14, %%rsp\n\t"
			     "mov %%r15, %%rbp\n"
			     : "=a"(ret)
			     : "0"(number), "D"(fd), "S"(bytes), "d"(size),
			       "r"(sp), "r"(to), "r"(offset)
			     : "rbx", "r14", "r15", "rcx", "r11", "memory");
	return ret;
}

static void read_stack(const char *name)
{
	uint64_t ret = call_from_stack(SYS_pread64, bench, result, sizeof(result), mode);

	if (ret != sizeof(result))
		errx(1, "%s: read: %ld", name ? name : "checks", (long)ret);
}

/* Walks the stack and prints its line; with @name NULL, only walks it. */
static void measure(const char *name)
{
	uint64_t dearest = 0, sum = 0;
	int i, j;

	for (j = 0; j < reads; j++) {
		if (!mode)
			usleep(FILL_US);
		read_stack(name);
		for (i = 1; i <= WALKS; i++) {
			sum += result[i];
			if (result[i] > dearest)
				dearest = result[i];
		}
	}
	if (!name)
		return;
	printf("%s %lu ", name, (unsigned long)result[0]);
	if (reads > 1)
		printf("%lu ", (unsigned long)(sum / (reads * WALKS)));
	printf("%lu\n", (unsigned long)dearest);
}

/* Writes call number @number, of the function at @to. */
static void call(uint32_t number, uint32_t to)
{
	const uint32_t at = CALL + CALL_SIZE * number;
	const int32_t distance = to - (at + 5);

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, 4);
}

/*
 * Fills the stack from word @from with return addresses of @calls calls, in
 * turn.
 */
static void fill(int from, uint32_t calls)
{
	int i;

	for (i = from; i < WORDS; i++)
		stack[i] = (uint64_t)code + CALL + CALL_SIZE * (i % calls) + 5;
}

/*
 * Writes the function that is called: @bytes repeated up to the frame's return
 * address.
 */
static void function_of(const void *bytes, size_t size)
{
	uint32_t i;

	memset(code, 0x90, CODE);
	memcpy(code, "\x50\x58", 2);			/* push %rax; pop %rax */
	for (i = 16; i + size <= AT - 16; i += size)
		memcpy(code + i, bytes, size);
}

/* Measures with the frame at @at: its return address is at rsp, and is zero. */
static void measure_at(const char *name, uint32_t at, uint32_t calls)
{
	stack[frames] = (uint64_t)code + at;
	stack[frames + 1] = 0;
	fill(frames + 2, calls);
	measure(name);
}

static void measure_code(const char *name, const char *each, const void *bytes, size_t size)
{
	uint32_t i;

	function_of(bytes, size);
	call(0, 0);
	measure_at(name, AT, 1);
	for (i = 0; i < CALLS; i++)
		call(i, 16 + i);
	measure_at(each, AT, CALLS);
}

static void measure_returns(void)
{
	uint32_t i;

	function_of("\x90", 1);
	call(0, 0);
	memcpy(code + CALL + 5 + 120, "\x58\xc3", 2);	/* pop %rax; ret */
	fill(frames, 1);
	measure("returns");
	function_of("\x90", 1);
	for (i = 0; i < CALLS; i++) {
		call(i, 0);
		if (i % 64 == 63)
			memcpy(code + CALL + CALL_SIZE * i + 6, "\x58\xc3", 2);
	}
	fill(frames, CALLS);
	measure("each-returns");
}

/*
 * Each walk answers a few new questions; after 16 reads, all answers are kept.
 */
static void measure_checks(void)
{
	static const uint8_t insn[INSN_SIZE] = { 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e,
						 0x48, 0x81, 0xc0, 0, 0, 0, 0 };
	uint32_t i;

	memset(code, 0x90, CODE);
	for (i = LARGE; i < LARGE_AT; i += INSN_SIZE)
		memcpy(code + i, insn, INSN_SIZE);		/* add $0, %rax */
	for (i = 0; i < LARGE_CALLS; i++)
		call(i, LARGE + INSN_SIZE * i);
	for (i = 0; i < 16; i++)
		measure_at(NULL, LARGE_AT, LARGE_CALLS);
	measure_at("checks", LARGE_AT, LARGE_CALLS);
}

/* Code for the stack each-loops. */
static void write_loops(void)
{
	uint32_t i;

	function_of("\x50\x75\xfd", 3);
	for (i = 0; i < CALLS; i++)
		call(i, 16 + i);
}

/* Runs a jmp to itself at AT, with rsp at a zero word. Does not return. */
static void spin(void)
{
	write_loops();
	memcpy(code + AT, "\xeb\xfe", 2);
	stack[0] = 0;
	fill(1, CALLS);
	puts("up");
	fflush(stdout);
	__asm__ __volatile__("mov %0, %%rsp\n\t"
			     "xor %%ebp, %%ebp\n\t"
			     "jmp *%1\n" : : "r"(stack), "r"(code + AT) : "memory");
	__builtin_unreachable();
}

static void *poll_always(void *arg)
{
	struct pollfd poller = { .fd = *(int *)arg, .events = POLLIN };

	for (;;) {
		poll(&poller, 1, -1);
		usleep(50000);		/* until wake() has read the eventfd */
	}
	return NULL;
}

static void wake(int threads)
{
	uint64_t one = 1, most = 0, start, cost, count;
	int fd = eventfd(0, 0), i;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread, &attr, poll_always, &fd))
			errx(1, "thread %d", i);
	write_loops();
	stack[0] = (uint64_t)code + AT;
	stack[1] = 0;
	fill(2, CALLS);
	for (i = 0; i < WALKS; i++) {
		usleep(500000);		/* all threads poll */
		start = __rdtsc();
		if (call_from_stack(SYS_write, fd, &one, sizeof(one), 0) != sizeof(one))
			errx(1, "write to the eventfd");
		cost = __rdtsc() - start;
		if (cost > most)
			most = cost;
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			err(1, "read of the eventfd");
	}
	printf("wake %lu\n", (unsigned long)most);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0,
					    0xf2, 0xf3, 0x90 };
	static const uint8_t both[] = { 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x66,
					0x0f, 0x85, 0x00, 0x01, 0x00, 0x00 };
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };
	const bool spins = argc == 2 && !strcmp(argv[1], "spin");
	const bool wakes = argc == 3 && !strcmp(argv[1], "wake");
	int fd = open(KUNWIND_DEVICE, O_RDWR), i;
	uint64_t *self;

	frames = argc == 3 ? atoi(argv[2]) : -1;
	if (!spins && (frames < 0 || frames > 4096))
		errx(2, "usage: hostile off|on|interrupt FRAMES, hostile spin, hostile wake THREADS");
	mode = !spins && !strcmp(argv[1], "on") ? 1 : !strcmp(argv[1], "interrupt") ? 2 : 0;
	reads = mode == 2 ? 256 / WALKS : 1;
	code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	self = mmap((void *)SELF, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	bench = spins || wakes ? 0 : open("/dev/kunwind-bench", O_RDONLY);
	if (bench < 0 || fd < 0 || code == MAP_FAILED || self == MAP_FAILED)
		err(1, "/dev/kunwind-bench");
	*self = SELF;
	memset(result, 0, sizeof(result));	/* makes pages present: no fault in the bench */
	memset(code, 0x90, CODE);
	if (ioctl(fd, KUNWIND_IOC_REGISTER, &process))
		err(1, KUNWIND_DEVICE);
	if (spins)
		spin();
	if (wakes) {
		wake(frames);
		_exit(0);
	}

	for (i = 0; i < frames; i++)
		stack[i] = (uint64_t)flat + 64;
	measure_code("words", "each-words", "\x90", 1);
	measure_code("jumps", "each-jumps", "\x75\x7f", 2);
	measure_code("prefixes", "each-prefixes", prefixes, sizeof(prefixes));
	measure_code("both", "each-both", both, sizeof(both));
	measure_code("loops", "each-loops", "\x50\x75\xfd", 3);	/* push %rax; jne back to it */
	measure_returns();
	measure_checks();

	for (i = frames; i < WORDS; i++)
		stack[i] = (uint64_t)flat + 1 + i * 7 % 4095;
	measure("lookups");
	for (i = frames; i < WORDS; i++)
		stack[i] = (uint64_t)dear + 64;
	measure("expressions");
	return 0;
}
