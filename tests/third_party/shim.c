// SPDX-License-Identifier: MIT
/*
 * shim.c - compare the kernel's stack with libgcc's at each call of a function
 * of points.h ("point")
 *
 * This library is preloaded into a test of another project. Its constructor
 * registers the process with kunwind. Each stub (stubs.S) calls others_point(),
 * which takes its caller's stack twice, by the ioctl and by libgcc's
 * _Unwind_Backtrace(), and compares the addresses. Both begin with the same
 * registers and use the same CFI, so the frames must be equal. Where code has no
 * CFI, libgcc ends, and kunwind may continue. "longer" counts these stacks, with
 * the trust of kunwind's next frame.
 *
 * Points inside a comparison are not compared, and of each function only the
 * first LIMIT points are. Memory: 2 * DEPTH words a thread, and the mapped file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <kunwind.h>

#include "shim.h"

#define HIDDEN	__attribute__((visibility("hidden")))
#define DEPTH	1024
#define LIMIT	1000

#define POINT(name) #name,
static const char *const names[] = {
#include "points.h"
};
#undef POINT
#define NR_POINTS	(sizeof(names) / sizeof(*names))

#define POINT(name) NUMBER_##name,
enum {
#include "points.h"
};
#undef POINT

/* dlsym() itself may need these two before they are looked up. */
extern void *__libc_malloc(size_t size);
extern void __libc_free(void *memory);
HIDDEN void *others_real[NR_POINTS] = {
	[NUMBER_malloc] = __libc_malloc,
	[NUMBER_free] = __libc_free,
};
HIDDEN void others_point(unsigned int point);

static struct others_file *out;
static bool verbose;
static uint32_t seen[NR_POINTS];
/* These are libgcc's, even if the program has functions of the same names. */
static _Unwind_Reason_Code (*reference)(_Unwind_Trace_Fn, void *);
static _Unwind_Ptr (*reference_ip)(struct _Unwind_Context *, int *);

static __thread bool busy;
static __thread uint64_t ours[DEPTH], theirs[DEPTH];
static __thread uint8_t trust[DEPTH];

struct trace {
	unsigned int count, signals;
};

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
	struct trace *trace = data;
	int signal;
	uint64_t ip = reference_ip(context, &signal);

	if (!ip || trace->count == DEPTH)
		return _URC_END_OF_STACK;
	trace->signals += !!signal;
	theirs[trace->count++] = ip;
	return _URC_NO_REASON;
}

static void place_name(char *to, size_t size, uint64_t ip)
{
	const char *file;
	Dl_info info;

	if (!dladdr((void *)(ip - 1), &info) || !info.dli_fname) {
		snprintf(to, size, "?");
		return;
	}
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	if (info.dli_sname)
		snprintf(to, size, "%.60s:%.100s", file, info.dli_sname);
	else
		snprintf(to, size, "%.60s+%lx", file, ip - (uint64_t)info.dli_fbase);
}

static void stack_print(const char *whose, const uint64_t *stack, unsigned int count)
{
	char name[200];

	for (unsigned int i = 0; i < count && i < 40; i++) {
		place_name(name, sizeof(name), stack[i]);
		dprintf(2, "%s %2u %lx %s%s\n", whose, i, stack[i], name,
			whose[0] == 'k' && trust[i] ? " *" : "");
	}
}

/* Counts a stack with @verdict. @at: the last frame that both stacks have. */
static void found(enum others_verdict verdict, unsigned int point, const char *why, uint64_t at)
{
	char text[OTHERS_TEXT], name[200];
	uint64_t place = 14695981039346656037ULL;

	place_name(name, sizeof(name), at);
	snprintf(text, sizeof(text), "%s|%s|%s", name, why, names[point]);
	for (const char *c = text; *c; c++)
		place = (place ^ (unsigned char)*c) * 1099511628211ULL;
	place = (place ^ verdict) | 1;
	for (int i = 0; i < OTHERS_FINDINGS; i++) {
		struct others_finding *finding = &out->finding[i];
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&finding->place, &none, place, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			finding->verdict = verdict;
			memcpy(finding->text, text, sizeof(text));
		} else if (none != place) {
			continue;
		}
		__atomic_fetch_add(&finding->count, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&out->unnamed, 1, __ATOMIC_RELAXED);
}

/* Stores rip, rsp and the callee-saved registers, as they are at this place. */
#define REGS_HERE(regs)								\
	__asm__ volatile("movq %%rbx, 3*8(%0)\n\tmovq %%rbp, 6*8(%0)\n\t"	\
			 "movq %%rsp, 7*8(%0)\n\tmovq %%r12, 12*8(%0)\n\t"	\
			 "movq %%r13, 13*8(%0)\n\tmovq %%r14, 14*8(%0)\n\t"	\
			 "movq %%r15, 15*8(%0)\n\tleaq 1f(%%rip), %%rcx\n"	\
			 "1:\tmovq %%rcx, 16*8(%0)" :: "a"(regs) : "rcx", "memory")

static void compare(unsigned int point)
{
	unsigned int reason = 0, count, same, n;
	struct trace trace = { };
	uint64_t regs[17] = { 0 };
	int ret;

	memset(trust, 0, sizeof(trust));
	REGS_HERE(regs);
	ret = kunwind_callstack_trust(ours, trust, DEPTH, &reason, regs,
				      1U << 3 | 1U << 6 | 1U << 7 | 0xfU << 12 | 1U << 16);
	reference(note, &trace);
	__atomic_fetch_add(&out->stacks, 1, __ATOMIC_RELAXED);
	if (ret < 0) {
		found(OTHERS_FAILED, point, strerrorname_np(-ret), theirs[0]);
		return;
	}
	/* The first address of both stacks is in this function, and differs. */
	count = ret;
	n = count < trace.count ? count : trace.count;
	for (same = 1; same < n && ours[same] == theirs[same]; same++)
		;
	__atomic_fetch_add(&out->frames, same, __ATOMIC_RELAXED);
	__atomic_fetch_add(&out->signals, trace.signals, __ATOMIC_RELAXED);
	if (same == count && same == trace.count)
		return;
	if (same < n)
		found(OTHERS_DIFFER, point, kunwind_trust_name(trust[same]), ours[same - 1]);
	else if (same < count)
		found(OTHERS_LONGER, point, kunwind_trust_name(trust[same]), ours[same - 1]);
	else
		found(OTHERS_SHORTER, point, kunwind_reason_name(reason), ours[same - 1]);
	if (verbose) {
		dprintf(2, "others: %s, %s\n", names[point], kunwind_reason_name(reason));
		stack_print("kunwind", ours, count);
		stack_print("libgcc", theirs, trace.count);
	}
}

static void resolve(unsigned int point)
{
	void *real = dlsym(RTLD_NEXT, names[point]);

	if (real)
		others_real[point] = real;
}

void others_point(unsigned int point)
{
	if (!others_real[point])
		resolve(point);
	if (busy)
		return;
	busy = true;
	if (out) {
		if (__atomic_fetch_add(&seen[point], 1, __ATOMIC_RELAXED) < LIMIT)
			compare(point);
		else
			__atomic_fetch_add(&out->beyond, 1, __ATOMIC_RELAXED);
	}
	busy = false;
}

static __attribute__((constructor)) void begin(void)
{
	const char *path = getenv("KUNWIND_OTHERS_OUT");
	struct others_file *file;
	void *libgcc;
	int fd, ret;

	busy = true;
	for (unsigned int i = 0; i < NR_POINTS; i++)
		resolve(i);
	verbose = getenv("KUNWIND_OTHERS_VERBOSE");
	libgcc = dlopen("libgcc_s.so.1", RTLD_NOW);
	if (libgcc) {
		*(void **)&reference = dlsym(libgcc, "_Unwind_Backtrace");
		*(void **)&reference_ip = dlsym(libgcc, "_Unwind_GetIPInfo");
	}
	ret = kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0 || !reference || !reference_ip || ret) {
		dprintf(2, "others: %s\n", ret ? strerrordesc_np(-ret) : "no libgcc, or no file");
		busy = false;
		return;
	}
	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (file != MAP_FAILED && file->magic == OTHERS_MAGIC)
		out = file;
	busy = false;
}
