/* SPDX-License-Identifier: MIT */
/*
 * nocfi.c - take stacks through code without unwind information, by ioctl
 *
 * Each scene prints the stack that its innermost function takes:
 *   asm      hand-written functions without CFI, with and without frame pointer
 *   jit      the same code in memory that is mapped after the registration
 *   handler  a signal handler that interrupts a function of this program
 *   blocked  a thread in poll(2): in a signal handler that interrupts it, and
 *            from the handler's ucontext, as an event in poll(2) would see it
 *   qsort    a callback of the C library
 * The names of the functions say what each stack must be. The program is also
 * built with musl, whose functions have no CFI.
 *
 * Output, tab-separated: "map START END OFFSET PATH", "jit START END", then for
 * each stack "stack SCENE REASON" and "frame ADDRESS TRUST".
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../../kmod/uapi/kunwind.h"

#define MOST		64
#define NOINLINE	__attribute__((__noinline__))
/* after a call: prevents a tail call */
#define AFTER()		__asm__ __volatile__("" : : : "memory")

static const char *const trusts[] = {
	"registers", "cfi", "uretprobe", "signal", "code", "fp", "scan",
};

struct taken {
	uint64_t addresses[MOST];
	uint8_t trust[MOST];
	unsigned int count, reason;
};

static int device;
static struct taken in_handler, of_interrupted;

static NOINLINE void take(struct taken *t, const uint64_t *regs)
{
	struct kunwind_callstack call = {
		.size = sizeof(call), .addresses = (uintptr_t)t->addresses, .capacity = MOST,
		.trust = (uintptr_t)t->trust, .flags = regs ? KUNWIND_HAVE_REGS : 0,
		.regs = (uintptr_t)regs, .valid_regs = regs ? 0x1ffff : 0,
	};

	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &call))
		err(1, "KUNWIND_IOC_CALLSTACK");
	t->count = call.count;
	t->reason = call.reason;
}

static void show(const char *scene, const struct taken *t)
{
	unsigned int i;

	printf("stack\t%s\t%u\n", scene, t->reason);
	for (i = 0; i < t->count; i++)
		printf("frame\t%lx\t%s\n", (unsigned long)t->addresses[i],
		       t->trust[i] < 7 ? trusts[t->trust[i]] : "?");
}

/* call_fp() calls f with a frame pointer, call_bare() without. */
void call_fp(void (*f)(void));
void call_bare(void (*f)(void));
extern const char call_fp_end[], call_bare_end[];
__asm__(".text\n"
	".globl call_fp, call_bare\n"
	".type call_fp, @function\n"
	"call_fp:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $80, %rsp\n"
	"	movq $0, 8(%rsp)\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	"call_fp_end:\n"
	".size call_fp, . - call_fp\n"
	".type call_bare, @function\n"
	"call_bare:\n"
	"	push %rbx\n"
	"	sub $48, %rsp\n"
	"	movq $0, 8(%rsp)\n"
	"	movq $0, (%rsp)\n"
	"	movq $0, 16(%rsp)\n"
	"	movq $0, 24(%rsp)\n"
	"	movq $0, 32(%rsp)\n"
	"	movq $0, 40(%rsp)\n"
	"	call *%rdi\n"
	"	add $48, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	"call_bare_end:\n"
	".size call_bare, . - call_bare\n");

static const char *scene;
static void (*by_fp)(void (*)(void)) = call_fp, (*by_nothing)(void (*)(void)) = call_bare;

NOINLINE void innermost(void)
{
	struct taken t;

	take(&t, NULL);
	show(scene, &t);
}

NOINLINE void second(void)
{
	by_fp(innermost);
	AFTER();
}

NOINLINE void first(void)
{
	by_nothing(second);
	AFTER();
}

NOINLINE void jit(void)
{
	char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		err(1, "mmap");
	memcpy(code, (void *)call_fp, call_fp_end - (char *)call_fp);
	memcpy(code + 512, (void *)call_bare, call_bare_end - (char *)call_bare);
	if (mprotect(code, 8192, PROT_READ | PROT_EXEC))
		err(1, "mprotect");
	printf("jit\t%lx\t%lx\n", (unsigned long)code, (unsigned long)code + 8192);
	by_fp = (void *)code;
	by_nothing = (void *)(code + 512);
	scene = "jit";
	first();
	AFTER();
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint64_t regs[17] = {
		g[REG_RAX], g[REG_RDX], g[REG_RCX], g[REG_RBX], g[REG_RSI], g[REG_RDI], g[REG_RBP],
		g[REG_RSP], g[REG_R8], g[REG_R9], g[REG_R10], g[REG_R11], g[REG_R12], g[REG_R13],
		g[REG_R14], g[REG_R15], g[REG_RIP],
	};

	(void)sig;
	(void)info;
	take(&in_handler, NULL);
	take(&of_interrupted, regs);
}

NOINLINE void raises(void)
{
	raise(SIGUSR1);
	AFTER();
}

NOINLINE void raises_above(void)
{
	raises();
	AFTER();
}

NOINLINE void blocks(void)
{
	struct pollfd none = { .fd = -1 };

	poll(&none, 1, -1);
	AFTER();
}

NOINLINE void blocks_above(void)
{
	blocks();
	AFTER();
}

static void *thread(void *data)
{
	(void)data;
	blocks_above();
	AFTER();
	return NULL;
}

static int compare(const void *a, const void *b)
{
	static int done;

	if (!done++)
		innermost();
	AFTER();
	return *(const int *)a - *(const int *)b;
}

NOINLINE void sorts(void)
{
	int numbers[] = { 3, 1, 2 };

	scene = "qsort";
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	AFTER();
}

static void maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[4600], mode[5], path[4096];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095s", &start, &end, mode, &offset,
			   path) == 5 && mode[2] == 'x' && path[0] == '/')
			printf("map\t%lx\t%lx\t%lx\t%s\n", start, end, offset, path);
	if (file)
		fclose(file);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct kunwind_process self = { .size = sizeof(self), .mem_fd = -1 };
	pthread_t blocked;

	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &self))
		err(1, KUNWIND_DEVICE);
	maps();
	scene = "asm";
	first();
	jit();
	sorts();
	sigaction(SIGUSR1, &action, NULL);
	raises_above();
	show("handler", &in_handler);
	if (pthread_create(&blocked, NULL, thread, NULL))
		errx(1, "pthread_create");
	usleep(500000);
	pthread_kill(blocked, SIGUSR1);
	pthread_join(blocked, NULL);
	show("blocked-handler", &in_handler);
	show("blocked", &of_interrupted);
	fflush(stdout);
	return 0;
}
