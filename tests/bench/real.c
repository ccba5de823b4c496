// SPDX-License-Identifier: MIT
/*
 * real.c - measure walks of real programs' own stacks in user space, compared
 * with libunwind
 *
 * A library to preload. When the program's first thread calls one of the
 * functions at the end of this file (malloc(): each EVERYth call), the library
 * walks the stack. A stack that was not seen before is compared with
 * unw_step(), then walked by kunwind_walk(), unw_backtrace() (libunwind's
 * cached fast path) and unw_step() in turn; the results are medians of ROUNDS.
 * If the addresses differ, the stack is not measured, and the line says so.
 *
 * Built a second time with an instrumented core (lines.c), the library instead
 * counts the lines of the data cache that a walk touches.
 *
 * Appends tab-separated lines to the file named by KUNWIND_BENCH_OUT:
 *	stack  PROGRAM  FRAMES  WARM  COLD  UNW_BACKTRACE  UNW_STEP	ns of a whole walk
 *	lines  PROGRAM  FRAMES  CACHE  STACK  RULES  TABLE  OTHER	lines touched
 *	differs  PROGRAM  FRAMES  WHY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lines.h"
#include "median.h"
#include "self.h"
#include "unw_step.h"

#define MOST		512	/* frames */
#define STACKS		200	/* measured stacks of one program, at most */
#define EVERY		61	/* calls of malloc() from one walk to the next */
#define ROUNDS		9
#define REPEAT		16

static struct kunwind_ranges *ranges;
static struct kunwind_rule_cache cache;
static u64 stack_lo, stack_hi;
static unsigned long long objects;	/* loads and unloads when ranges were made */
static int busy;
static int wanted = -1;			/* -1: not known yet */
static u64 seen[STACKS];
static unsigned int nr_seen;
static int out = -1;

static int on_object(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned long long *)data = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

static struct kunwind_walk walk;
static u64 stack_top;			/* rsp at the start of the last walk */
static unsigned long ours[MOST], step[MOST], fast[MOST];

static noinline enum kunwind_reason walk_ours(void)
{
	walk = (struct kunwind_walk){
		.ranges = ranges, .cache = &cache, .addresses = ours, .capacity = MOST,
		.mem = { .lo = stack_lo, .hi = stack_hi },
	};
	self_regs(&walk.regs);
	stack_top = walk.regs.r[KUNWIND_RSP];
	return kunwind_walk(&walk);
}

static noinline u32 walk_fast(void)
{
	return unw_backtrace((void **)fast, MOST);
}

static void say(const char *line)
{
	/* The program may have closed all descriptors. */
	if (write(out, line, strlen(line)) < 0)
		_exit(99);
}

static const char *differs(u32 n, u32 n_step)
{
	u32 i;

	if (n != n_step)
		return "unw_step finds another number of addresses";
	/* The first two addresses are in the walkers and in their caller. */
	for (i = 2; i < n; i++)
		if (ours[i] != step[i])
			return "unw_step finds other addresses";
	return NULL;
}

static void count_lines(void)
{
	static const char *const states[] = { "cold", "warm" };
	char line[256];
	int warm;

	memset(&cache, 0, sizeof(cache));
	for (warm = 0; warm < 2; warm++) {
		struct lines lines;

		lines_begin();
		walk_ours();
		lines_end(stack_top, stack_hi, &walk, &lines);
		snprintf(line, sizeof(line), "lines\t%s\t%u\t%s\t%u\t%u\t%u\t%u\n",
			 program_invocation_short_name, walk.count, states[warm], lines.stack,
			 lines.cache, lines.table, lines.other);
		say(line);
	}
}

static void measure(void)
{
	static double warm[ROUNDS], cold[ROUNDS], quick[ROUNDS], slow[ROUNDS];
	char line[256];
	int r, k;

	for (r = 0; r < ROUNDS; r++) {
		double t0 = now(), t1, t2, t3;

		for (k = 0; k < REPEAT; k++)
			walk_ours();
		t1 = now();
		for (k = 0; k < REPEAT; k++)
			walk_fast();
		t2 = now();
		walk_step(step, MOST);
		t3 = now();
		memset(&cache, 0, sizeof(cache));
		cold[r] = now();
		walk_ours();
		cold[r] = now() - cold[r];
		warm[r] = (t1 - t0) / REPEAT;
		quick[r] = (t2 - t1) / REPEAT;
		slow[r] = t3 - t2;
	}
	snprintf(line, sizeof(line), "stack\t%s\t%u\t%.0f\t%.0f\t%.0f\t%.0f\n",
		 program_invocation_short_name, walk.count, median(warm, ROUNDS), median(cold, ROUNDS),
		 median(quick, ROUNDS), median(slow, ROUNDS));
	say(line);
}

static noinline void look(void)
{
	unsigned long long adds = 0;
	enum kunwind_reason reason;
	const char *why = NULL;
	u64 hash = 0;
	u32 i, n;

	if (!stack_hi)
		self_stack(&stack_lo, &stack_hi);
	dl_iterate_phdr(on_object, &adds);
	if (!ranges || adds != objects) {
		objects = adds;
		ranges = self_ranges();
		ranges->id = 1 + adds;
	}
	reason = walk_ours();
	n = walk.count;
	for (i = 2; i < n; i++)
		hash = (hash ^ ours[i]) * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < nr_seen; i++)
		if (seen[i] == hash)
			return;
	seen[nr_seen++] = hash;
	if (reason != KUNWIND_COMPLETE)
		why = kunwind_reason_name(reason);
	else if (!lines_counted)
		why = differs(n, walk_step(step, MOST));
	if (why) {
		char line[256];

		snprintf(line, sizeof(line), "differs\t%s\t%u\t%s\n", program_invocation_short_name,
			 n, why);
		say(line);
	} else if (lines_counted) {
		count_lines();
	} else {
		measure();
	}
}

/*
 * Returns whether to walk now: in the process's first thread, not within a walk
 * of this library, and if the output file can be opened. Sets busy.
 */
static int begin(void)
{
	const char *path;

	if (busy || nr_seen == STACKS || !wanted)
		return 0;
	if (syscall(SYS_gettid) != getpid())
		return 0;
	busy = 1;
	if (wanted < 0) {
		path = getenv("KUNWIND_BENCH_OUT");
		out = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
		if (out >= 0)
			out = fcntl(out, F_DUPFD_CLOEXEC, 900);
		wanted = out >= 0;
	}
	return 1;
}

#define LOOK()									\
do {										\
	if (begin()) {								\
		look();								\
		busy = 0;							\
	}									\
} while (0)

/* Functions that programs call often. Each calls the original function. */
#define NEXT(name)	((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	static unsigned int calls;

	if (!busy && ++calls % EVERY == 0)
		LOOK();
	return __libc_malloc(size);
}

ssize_t read(int fd, void *buf, size_t size)
{
	LOOK();
	return NEXT(read)(fd, buf, size);
}

int close(int fd)
{
	LOOK();
	return NEXT(close)(fd);
}

char *getenv(const char *name)
{
	LOOK();
	return NEXT(getenv)(name);
}
