// SPDX-License-Identifier: MIT
/*
 * walk-test.c - the walk of this process's own stacks, compared with libunwind;
 * and walks of hostile registers and memory
 *
 * Own stacks: the addresses of kunwind_walk() and of libunwind's unw_step()
 * must be equal, from the caller of the function that starts both. Hostile
 * input: the walk must end within its capacity, with a reason, and must not
 * read outside the memory that it may read (AddressSanitizer checks this).
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../bench/self.h"

#define MOST	2048

static struct kunwind_ranges *ranges;
static struct kunwind_rule_cache cache;
static u64 stack_lo, stack_hi;
static unsigned int tests, failed;

static void report(bool good, const char *name, const char *property)
{
	tests++;
	failed += !good;
	printf("%sok %u - walk: %s%s\n", good ? "" : "not ", tests, name, property);
}

/* Walks from here twice (cache cold, warm) and by libunwind; compares. */
static noinline void compare(const char *name)
{
	static unsigned long ours[2][MOST], theirs[MOST];
	enum kunwind_reason reason[2];
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	u32 count[2], n = 0, i, round;
	bool good;

	for (round = 0; round < 2; round++) {
		struct kunwind_walk walk = {
			.ranges = ranges, .cache = &cache, .addresses = ours[round],
			.capacity = MOST, .mem = { .lo = stack_lo, .hi = stack_hi },
		};

		self_regs(&walk.regs);
		reason[round] = kunwind_walk(&walk);
		count[round] = walk.count;
	}
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		theirs[n++] = ip;
	} while (n < MOST && unw_step(&cursor) > 0);

	good = reason[0] == KUNWIND_COMPLETE && reason[1] == KUNWIND_COMPLETE &&
	       count[0] == n && count[1] == n && n > 1;
	for (i = 1; good && i < n; i++)
		good = ours[0][i] == theirs[i] && ours[1][i] == theirs[i];
	if (!good) {
		printf("# %u frames (%s), warm %u (%s), libunwind %u\n", count[0],
		       kunwind_reason_name(reason[0]), count[1], kunwind_reason_name(reason[1]), n);
		for (i = 1; i < n || i < count[0]; i++)
			printf("#  %2u %lx %lx\n", i, i < count[0] ? ours[0][i] : 0,
			       i < n ? theirs[i] : 0);
	}
	report(good, name, ": addresses equal libunwind's");
}

static noinline int recurse(int left)
{
	volatile char room[40];

	room[0] = left;
	if (left)
		return recurse(left - 1) + room[0];
	compare("1,000 frames of recursion");
	return 0;
}

static noinline int with_alloca(int n)
{
	volatile char *room = __builtin_alloca(n);

	room[n - 1] = 1;
	compare("alloca");
	return room[n - 1];
}

/* More alignment than the stack has: the CFA is found by a saved r10 (DRAP). */
static noinline int over_aligned(int n)
{
	_Alignas(128) volatile char room[256];
	volatile char *more = __builtin_alloca(n);

	room[3] = more[0] = n;
	compare("over-aligned frame with alloca");
	return room[3] + more[0];
}

static int from_qsort(const void *a, const void *b)
{
	static int done;

	if (!done++)
		compare("qsort callback");
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int sig)
{
	(void)sig;
	compare("signal handler");
}

static void on_alternate(int sig)
{
	u64 lo = stack_lo, hi = stack_hi;
	stack_t stack;

	(void)sig;
	/* What lies between the two stacks is readable, too. */
	sigaltstack(NULL, &stack);
	stack_lo = min(lo, (u64)stack.ss_sp);
	stack_hi = max(hi, (u64)stack.ss_sp + stack.ss_size);
	compare("signal handler on an alternate stack");
	stack_lo = lo;
	stack_hi = hi;
}

static noinline void by_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	stack_t stack = { .ss_size = 1 << 18 };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);

	/* Below the main stack; what lies between must not be read. */
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
	action.sa_handler = on_alternate;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

static void depth(void)
{
	unsigned long few[3];
	struct kunwind_walk walk = {
		.ranges = ranges, .cache = &cache, .addresses = few, .capacity = 1,
		.mem = { .lo = stack_lo, .hi = stack_hi },
	};
	enum kunwind_reason reason;

	self_regs(&walk.regs);
	reason = kunwind_walk(&walk);
	report(reason == KUNWIND_BUFFER_FULL && walk.count == 1, "capacity of one address",
	       ": buffer_full");
}

struct bad_case {
	const char *name;
	u64 ip, sp;
	u32 valid;
	enum kunwind_reason reason;
};

static void bad_registers(void)
{
	/* Not our own stack: sanitizers may guard what is read there. */
	static const u64 stack[64];
	const u64 text = (u64)compare;
	const struct bad_case cases[] = {
		{ "no stack pointer", text, 0, KUNWIND_REG(KUNWIND_RA), KUNWIND_REG_UNKNOWN },
		{ "address in no mapping", 0x1000, (u64)stack, KUNWIND_ALL_REGS, KUNWIND_NO_OBJECT },
		{ "stack pointer of zero", text, 0, KUNWIND_ALL_REGS, KUNWIND_UNREADABLE },
		{ "stack pointer at the last byte", text, ~0ULL, KUNWIND_ALL_REGS, KUNWIND_UNREADABLE },
		{ "stack pointer of the kernel", text, 0xffff888000000000ULL, KUNWIND_ALL_REGS,
		  KUNWIND_UNREADABLE },
		{ "stack pointer not canonical", text, 0x8000000000000000ULL, KUNWIND_ALL_REGS,
		  KUNWIND_UNREADABLE },
	};
	unsigned long store[64];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_walk walk = {
			.ranges = ranges, .addresses = store, .capacity = 64,
			.mem = { .lo = (u64)stack, .hi = (u64)stack + sizeof(stack) },
		};
		enum kunwind_reason reason;

		walk.regs.r[KUNWIND_RA] = cases[i].ip;
		walk.regs.r[KUNWIND_RSP] = cases[i].sp;
		walk.regs.valid = cases[i].valid;
		reason = kunwind_walk(&walk);
		/* Here, kunwind_deps.h fails at the read. */
		if (reason != cases[i].reason)
			printf("# %s, wanted %s\n", kunwind_reason_name(reason),
			       kunwind_reason_name(cases[i].reason));
		report(reason == cases[i].reason, cases[i].name, ": ends with the right reason");
	}
}

/*
 * The upper part of the stack cannot be read. Each walk reports the address
 * where it ended; when 64 KB from there are readable, the next walk must come
 * further.
 */
static noinline void unread(int n)
{
	volatile char room[3000];

	room[n] = 1;
	if (n) {
		unread(n - 1);
	} else {
		unsigned long store[512];
		struct kunwind_walk walk;
		u64 lo, hi;
		u32 turns = 0, last = 0;
		enum kunwind_reason reason;

		do {
			walk = (struct kunwind_walk){
				.ranges = ranges, .cache = &cache, .addresses = store, .capacity = 512,
			};
			self_regs(&walk.regs);
			lo = walk.regs.r[KUNWIND_RSP];
			if (!turns)
				hi = (lo | 4095) + 1;
			walk.mem.lo = stack_lo;
			walk.mem.hi = min(hi, stack_hi);
			reason = kunwind_walk(&walk);
			if (reason != KUNWIND_UNREADABLE || walk.count < last ||
			    walk.unread[0] >= hi || walk.unread[0] + 65536 <= hi)
				break;
			last = walk.count;
			hi = walk.unread[0] + 65536;
		} while (turns++ < 100);
		report(reason == KUNWIND_COMPLETE && turns > 8,
		       "unreadable stack", ": each walk reports the address, the next comes further");
		if (reason != KUNWIND_COMPLETE || turns <= 8)
			printf("# %s, turn %u, %u addresses, %#llx of %#llx\n",
			       kunwind_reason_name(reason), turns, walk.count,
			       (unsigned long long)walk.unread[0], (unsigned long long)hi);
	}
	room[n + 1] = room[n];
}

/* Random code addresses and near pointers: walks must end, in bounds. */
static void random_stacks(void)
{
	const u32 words = 512, rounds = 100000;
	u64 *memory = malloc(words * 8), lo = (u64)memory, seed = 42;
	unsigned long store[256];
	u64 steps = 0;
	u32 round, i;
	bool good = true;

#define RANDOM() (seed = seed * 6364136223846793005ULL + 1442695040888963407ULL, seed >> 33)
	for (round = 0; round < rounds; round++) {
		struct kunwind_walk walk = {
			.ranges = ranges, .cache = round & 1 ? &cache : NULL, .addresses = store,
			.capacity = 256, .mem = { .lo = lo, .hi = lo + words * 8 },
		};

		if (!(round & 63))
			for (i = 0; i < words; i++) {
				const struct kunwind_range *r =
					&ranges->range[RANDOM() % ranges->nr];

				memory[i] = RANDOM() % 8 ? r->start + RANDOM() % (r->end - r->start) :
					    lo + RANDOM() % (words * 8);
			}
		for (i = 0; i < KUNWIND_NR_REGS; i++)
			walk.regs.r[i] = lo + RANDOM() % (words * 8);
		walk.regs.r[KUNWIND_RA] = memory[RANDOM() % words];
		walk.regs.valid = RANDOM() | KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
		if (kunwind_walk(&walk) >= KUNWIND_NR_REASONS || walk.count > 256 || !walk.count)
			good = false;
		steps += walk.count;
	}
	printf("# %u random stacks, %lu frames\n", rounds, (unsigned long)steps);
	free(memory);
	report(good && steps > rounds, "random stacks", ": walks end within their capacity");
}

int main(void)
{
	int pair[2] = { 2, 1 };

	ranges = self_ranges();
	self_stack(&stack_lo, &stack_hi);
	compare("stack of main");
	with_alloca(100);
	over_aligned(77);
	qsort(pair, 2, sizeof(pair[0]), from_qsort);
	recurse(1000);
	by_signals();
	depth();
	bad_registers();
	unread(200);
	random_stacks();
	printf("1..%u\n", tests);
	return failed != 0;
}
