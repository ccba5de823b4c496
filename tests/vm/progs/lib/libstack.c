// SPDX-License-Identifier: MIT
/*
 * libstack.c - compare stacks of libkunwind with those of libunwind
 *
 * Two comparisons at each place, in code without frame pointers:
 *   kunwind_callstack() with unw_backtrace(): one function calls both, so all
 *	addresses except the first must be equal, and both first ones are in
 *	that function
 *   kunwind_callstack_regs() with unw_step(): from the same registers, so all
 *	addresses must be equal
 * Prints "ok - WHAT" or "not ok - WHAT" for each place, and both stacks after a
 * failure.
 *
 *   libstack stacks|errors|descriptors|absent|hold
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <kunwind.h>

#include "verdict.h"

#define MAX	4096
#define NOINLINE __attribute__((__noinline__))

struct place {
	const char *what;
	atomic_int stacks, wrong;
	char first[2048];	/* text about the first difference */
};

struct pair {
	uint64_t ours[MAX];
	void *theirs[MAX];
};

static volatile int sink;

static void wrong(struct place *place, const struct pair *pair, int ours, int theirs,
		  unsigned int reason, const char *which)
{
	size_t at = 0;
	int i;

	if (atomic_fetch_add(&place->wrong, 1))
		return;
	at += (size_t)snprintf(place->first, sizeof(place->first),
			       "# %s: %d addresses (%s), libunwind %d\n", which, ours,
			       kunwind_reason_name(reason), theirs);
	for (i = 0; i < ours || i < theirs; i++) {
		uint64_t a = i < ours ? pair->ours[i] : 0;
		uint64_t b = i < theirs ? (uintptr_t)pair->theirs[i] : 0;

		if (a == b && i > 2)
			continue;
		if (at < sizeof(place->first) - 80)
			at += (size_t)snprintf(place->first + at, sizeof(place->first) - at,
					       "#   %d %#llx %#llx\n", i, (unsigned long long)a,
					       (unsigned long long)b);
	}
}

static int same(const struct pair *pair, int ours, int theirs, int from)
{
	int i;

	if (ours != theirs)
		return 0;
	for (i = from; i < ours; i++)
		if (pair->ours[i] != (uintptr_t)pair->theirs[i])
			return 0;
	return 1;
}

/* The registers of a context, in the ABI's order. */
static void regs_of(const ucontext_t *context, uint64_t regs[17])
{
	static const int order[17] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	int i;

	for (i = 0; i < 17; i++)
		regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

static int step_all(unw_context_t *context, void **addresses)
{
	unw_cursor_t cursor;
	unw_word_t ip;
	int n = 0;

	unw_init_local(&cursor, context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		addresses[n++] = (void *)ip;
	} while (n < MAX && unw_step(&cursor) > 0);
	return n;
}

/* Makes both comparisons. This function is smaller than a page. */
static NOINLINE void look(struct place *place)
{
	struct pair *pair = malloc(sizeof(*pair));
	unsigned int reason = 99;
	unw_context_t context;
	uint64_t regs[17];
	int ours, theirs;

	ours = kunwind_callstack(pair->ours, MAX, &reason);
	theirs = unw_backtrace(pair->theirs, MAX);
	atomic_fetch_add(&place->stacks, 1);
	if (reason != KUNWIND_COMPLETE || !same(pair, ours, theirs, 1) ||
	    pair->ours[0] - (uintptr_t)look > 4096 ||
	    (uintptr_t)pair->theirs[0] - (uintptr_t)look > 4096)
		wrong(place, pair, ours, theirs, reason, "kunwind_callstack and unw_backtrace");

	unw_getcontext(&context);
	regs_of(&context, regs);
	ours = kunwind_callstack_regs(pair->ours, MAX, &reason, regs, 0x1ffff);
	theirs = step_all(&context, pair->theirs);
	if (reason != KUNWIND_COMPLETE || !same(pair, ours, theirs, 0))
		wrong(place, pair, ours, theirs, reason, "kunwind_callstack_regs and unw_step");
	free(pair);
}

static NOINLINE int deep(struct place *place, int depth)
{
	int ret;

	if (depth > 0)
		ret = deep(place, depth - 1) + 1;
	else
		look(place), ret = 0;
	sink = ret;		/* no tail call */
	return ret;
}

static NOINLINE int frames_of_all_sizes(struct place *place, int depth)
{
	char *room = alloca((size_t)(depth * 37 % 600) + 1);

	memset(room, depth, (size_t)(depth * 37 % 600) + 1);
	if (depth > 0)
		sink = frames_of_all_sizes(place, depth - 1);
	else
		look(place);
	return room[0];
}

static struct place *current;

static int compare(const void *a, const void *b)
{
	static _Thread_local int calls;

	if (calls++ < 3)
		look(current);
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	(void)number;
	look(current);
}

static void finish(struct place *place)
{
	verdict(place->stacks > 0 && !place->wrong, "%s: %d stacks, %d wrong", place->what,
		place->stacks, place->wrong);
	fputs(place->first, stdout);
	fflush(stdout);
}

static void *thread(void *data)
{
	struct place *place = data;
	int i;

	for (i = 0; i < 20; i++)
		deep(place, (i * 53) % 300);
	return NULL;
}

static void in_threads(void)
{
	struct place place = { .what = "8 threads at once" };
	pthread_t id[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&id[i], NULL, thread, &place);
	for (i = 0; i < 8; i++)
		pthread_join(id[i], NULL);
	finish(&place);
}

static void in_signal(const char *what, int flags)
{
	static char stack[65536 * 2];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	struct place place = { .what = what };

	current = &place;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	finish(&place);
}

static void in_child(void)
{
	struct place place = { .what = "a forked child" };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		look(&place);
		finish(&place);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static int stacks(void)
{
	static const int depth[] = { 0, 1, 10, 100, 1000, 3000 };
	struct place sorted = { .what = "callbacks of qsort" };
	struct place sizes = { .what = "frames of run-time size" };
	int numbers[16], i;
	size_t d;

	for (d = 0; d < sizeof(depth) / sizeof(depth[0]); d++) {
		struct place place = { .what = "recursion" };
		char what[32];

		snprintf(what, sizeof(what), "recursion %d deep", depth[d]);
		place.what = what;
		deep(&place, depth[d]);
		finish(&place);
	}
	for (i = 0; i < 30; i++)
		frames_of_all_sizes(&sizes, i);
	finish(&sizes);
	for (i = 0; i < 16; i++)
		numbers[i] = i * 7 % 16;
	current = &sorted;
	qsort(numbers, 16, sizeof(numbers[0]), compare);
	finish(&sorted);
	in_signal("a signal handler", 0);
	in_signal("a signal handler on an alternate stack", SA_ONSTACK);
	in_threads();
	in_child();
	return 0;
}

static void expect(int got, int want, const char *what)
{
	verdict(got == want, "%s: %d", what, got);
	if (got != want)
		printf("# wanted %d\n", want);
}

/* Calls that must fail, with the errno that the manual page describes. */
static int errors(void)
{
	uint64_t a[4], regs[17] = { 0 };
	unsigned int reason = 77, maps = 0, ready = 0;
	struct kunwind_stats stats;
	struct kunwind_info info;
	uint64_t *volatile unmapped = (uint64_t *)16;
	int fd;

	kunwind_unregister_self();
	errno = 4711;
	expect(kunwind_callstack(a, 4, &reason), -ENOENT, "stack of a process that is not registered");
	expect(kunwind_unregister_self(), -ENOENT, "unregister a process that is not registered");
	expect(kunwind_register_self(1U << 30), -EINVAL, "register: an unknown flag");
	expect(kunwind_register_pid(0, 0), -ESRCH, "register: PID 0");
	expect(kunwind_register_pid(-1, 0), -ESRCH, "register: PID -1");
	expect(kunwind_register_pid(4194305, 0), -ESRCH, "register: a PID above the limit");
	expect(kunwind_register_pid(2, 0), -ESRCH, "register: a kernel thread");
	expect(kunwind_register_fd(12345, 0, NULL, NULL), -EBADF, "register: a descriptor that is not open");
	fd = open("/proc/self/maps", O_RDONLY);
	expect(kunwind_register_fd(fd, 0, NULL, NULL), -EBADF, "register: a descriptor of another file");
	close(fd);
	expect(kunwind_register_self(0), 0, "register itself");
	expect(kunwind_register_self(0), 0, "register itself again");
	fd = open("/proc/self/mem", O_RDONLY);
	expect(kunwind_register_fd(fd, 0, &maps, &ready), 0, "register by descriptor");
	close(fd);
	verdict(maps >= 3 && ready == maps, "register reports ready mappings: %u of %u", ready, maps);
	expect(kunwind_callstack(a, 0, &reason), -EINVAL, "stack: capacity 0");
	expect(kunwind_callstack(a, KUNWIND_MAX_FRAMES + 1, &reason), -EINVAL,
	       "stack: capacity above the limit");
	expect(kunwind_callstack(unmapped, 4, &reason), -EFAULT, "stack: a buffer that is not mapped");
	expect(kunwind_callstack_regs(a, 4, &reason, regs, 0), -EINVAL,
	       "stack from registers: no register is valid");
	expect(kunwind_callstack_regs(a, 4, &reason, unmapped, 0x1ffff), -EFAULT,
	       "stack from registers: registers that are not mapped");
	expect(reason, 77, "calls that fail do not change the reason");
	expect(kunwind_callstack(a, 1, &reason), 1, "stack: capacity 1");
	expect((int)reason, KUNWIND_BUFFER_FULL, "stack: capacity 1 gives the reason buffer_full");
	expect(kunwind_callstack(a, 4, NULL) > 0, 1, "stack: the pointer for the reason may be NULL");
	memset(regs, 0xff, sizeof(regs));
	expect(kunwind_callstack_regs(a, 4, &reason, regs, 0x1ffff), 1,
	       "stack from wrong registers: one address");
	verdict(reason == KUNWIND_BAD_ADDRESS || reason == KUNWIND_NO_OBJECT ||
		reason == KUNWIND_UNREADABLE, "stack from wrong registers ends with: %s",
		kunwind_reason_name(reason));
	expect(kunwind_stats(&stats), 0, "kunwind_stats()");
	verdict(stats.processes >= 1 && stats.objects >= 1 && stats.stacks >= 2 &&
		stats.by_reason[KUNWIND_BUFFER_FULL] >= 1,
		"kunwind_stats() counts processes, objects, stacks and reasons");
	expect(kunwind_info(&info), 0, "kunwind_info()");
	verdict(info.abi_version == KUNWIND_ABI_VERSION && info.max_frames == KUNWIND_MAX_FRAMES &&
		info.nr_reasons == KUNWIND_NR_REASONS, "kunwind_info() reports the ABI version and limits");
	expect(kunwind_unregister_self(), 0, "unregister itself");
	expect(kunwind_callstack(a, 4, &reason), -ENOENT, "stack after unregister");
	expect(errno, 4711, "no call changes errno");
	return 0;
}

/* How many open descriptors are the device's; libunwind has some of its own. */
static int devices(void)
{
	char name[64], target[64];
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		memset(target, 0, sizeof(target));
		n += readlink(name, target, sizeof(target) - 1) > 0 && !strcmp(target, KUNWIND_DEVICE);
	}
	return n;
}

/* The descriptor that libkunwind keeps for stacks, if a program closes all. */
static int descriptors(void)
{
	struct place closed = { .what = "stack after all descriptors were closed" };
	struct place taken = { .what = "stack after another file got the descriptor's number" };
	char name[64], target[64];
	int fd;

	expect(devices(), 0, "register keeps no descriptor open");
	kunwind_callstack((uint64_t[4]){ 0 }, 4, NULL);
	expect(fcntl(3, F_GETFD), FD_CLOEXEC, "a stack keeps descriptor 3 open, close-on-exec");
	expect(devices(), 1, "a stack keeps only one descriptor open");
	close(3);
	look(&closed);
	finish(&closed);
	expect(devices(), 1, "after close() a stack opens another descriptor");
	for (fd = 3; fd < 64; fd++)
		close(fd);
	for (fd = 3; fd < 8; fd++)
		open("/dev/null", O_WRONLY);
	look(&taken);
	finish(&taken);
	expect(devices(), 1, "after the number was reused a stack opens another descriptor");
	kunwind_release();
	expect(devices(), 0, "kunwind_release() closes the kept one");
	kunwind_release();
	for (fd = 3; fd < 8; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		verdict(readlink(name, target, sizeof(target)) == 9 &&
			!memcmp(target, "/dev/null", 9), "descriptor %d of another file is not closed", fd);
	}
	return 0;
}

static int absent(void)
{
	struct kunwind_stats stats;
	uint64_t a[4];

	expect(kunwind_register_self(0), -ENODEV, "without the module: register itself");
	expect(kunwind_register_pid(getppid(), 0), -ENODEV, "without the module: register another process");
	expect(kunwind_unregister_self(), -ENODEV, "without the module: unregister");
	expect(kunwind_callstack(a, 4, NULL), -ENODEV, "without the module: stack");
	expect(kunwind_stats(&stats), -ENODEV, "without the module: kunwind_stats()");
	return 0;
}

/*
 * Takes a stack, releases the device, sleeps: then the module can be unloaded.
 */
static int hold(void)
{
	struct place place = { .what = "before kunwind_release()" };

	look(&place);
	finish(&place);
	kunwind_release();
	puts("released");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(mode, "absent"))
		return absent();
	err = kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	if (err) {
		verdict(0, "registering: %s", strerror(-err));
		return 1;
	}
	if (!strcmp(mode, "stacks"))
		return stacks();
	if (!strcmp(mode, "errors"))
		return errors();
	if (!strcmp(mode, "descriptors"))
		return descriptors();
	if (!strcmp(mode, "hold"))
		return hold();
	fprintf(stderr, "usage: libstack stacks|errors|descriptors|absent|hold\n");
	return 2;
}
