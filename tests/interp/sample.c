// SPDX-License-Identifier: MIT
/*
 * sample.c - stop a Python process at random moments, find its functions by a
 * description, and let the process write its own record in the same instant
 *
 *	sample OBJECT SAMPLES SEED RECORD -- PROGRAM [ARGUMENT...]
 *
 * OBJECT: the file that has the interpreter; its description is that of libkunwind/interp.
 * RECORD: a file to which the process's faulthandler, registered for SIGUSR1, appends.
 *
 * A thread is stopped by PTRACE_INTERRUPT. Then it gets SIGUSR1: the handler runs
 * before any other instruction of the thread. run.py reads the output:
 *	S TID REASON MISSING NATIVE NATIVE_REASON NODES
 *	F LINE NAME\tFILE
 *	H LINE				of the record
 *	E				or X: there is no record
 *	D SIGNAL			the process was killed by it
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kunwind/unwind.h>

#include "interp/interp_walk.h"
#include "interp_memory.h"
#include "python.h"
#include "walk/mem.h"

#define NATIVE		8192
#define FRAMES		8192
#define THREADS		256
#define NODES		16384

static struct python python;
static struct kunwind_interp interp;
static const char *object;
static int record;
static off_t recorded;
static int taken;		/* samples */

static struct thread {
	pid_t tid, pid;
} threads[THREADS];
static int nr_threads;

/* One unwinder, of the process that was sampled last. */
static struct kunwind_unwinder *unwinder;
static pid_t unwinder_pid;
static u64 unwinder_maps;

static unsigned long addresses[NATIVE];
static u64 sps[NATIVE + 1];
static struct kunwind_interp_frame frames[FRAMES];

static void die(const char *what)
{
	fprintf(stderr, "sample: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t read_other(void *data, uint64_t addr, void *buf, size_t len)
{
	struct iovec here = { buf, len }, there = { (void *)addr, len };
	ssize_t got = process_vm_readv(*(pid_t *)data, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : got;
}

static size_t read_object(void *data, uint64_t offset, void *buf, size_t len)
{
	ssize_t got = pread(*(int *)data, buf, len, offset);

	return got < 0 ? 0 : got;
}

/* Reads the executable mappings, and makes an unwinder if they have changed. */
static void look_at(pid_t pid)
{
	char path[64], line[4500], mode[5], name[4097];
	static char maps[1 << 20];
	unsigned long start, end, offset;
	size_t size = 0;
	u64 hash = 5381;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*x-%*x %4s", mode) == 1 && mode[2] == 'x' &&
		    size + strlen(line) < sizeof(maps))
			size += sprintf(maps + size, "%s", line);
	if (file)
		fclose(file);
	for (size_t i = 0; i < size; i++)
		hash = hash * 33 + maps[i];
	if (unwinder && unwinder_pid == pid && hash == unwinder_maps)
		return;
	kunwind_unwinder_free(unwinder);
	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, 0);
	unwinder_pid = pid;
	unwinder_maps = hash;
	for (char *at = maps; at < maps + size; at = strchr(at, '\n') + 1) {
		*name = 0;
		if (sscanf(at, "%lx-%lx %4s %lx %*s %*s%*[ ]%4096[^\n]", &start, &end, mode, &offset,
			   name) >= 4 && (long)start > 0)
			kunwind_unwinder_map(unwinder, start, end, offset, *name == '/' ? name : NULL);
	}
	kunwind_unwinder_refresh(unwinder);
}

static u32 native_walk(pid_t pid, const struct user_regs_struct *user, u64 *bias, bool *found,
		       enum kunwind_reason *reason)
{
	static struct kunwind_stack_walk walk;
	struct kunwind_registers regs = {
		.r = { user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi, user->rbp,
		       user->rsp, user->r8, user->r9, user->r10, user->r11, user->r12, user->r13,
		       user->r14, user->r15, user->rip },
		.valid = (1U << KUNWIND_NR_REGISTERS) - 1, .fs_base = user->fs_base,
	};
	struct kunwind_stack_frame frame;
	u32 nr = 0;

	*found = false;
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_other, &pid);
	while (nr < NATIVE && kunwind_walk_next(&walk, &frame)) {
		if (frame.module && frame.module->path && !strcmp(frame.module->path, object)) {
			*bias = frame.module->bias;
			*found = true;
		}
		addresses[nr] = frame.ip;
		sps[nr++] = frame.sp;
	}
	*reason = kunwind_walk_reason(&walk);
	return nr;
}

static void take(const struct thread *thread)
{
	pid_t pid = thread->pid;
	struct interp_memory memory = { read_other, &pid };
	struct kunwind_mem mem = { .memory = (void *)&memory, .left = NODES };
	static struct python_frame named;
	struct kunwind_interp_walk walk = {
		.interp = &interp, .mem = &mem, .addresses = addresses, .sp = sps, .frames = frames,
		.capacity = FRAMES,
	};
	enum kunwind_interp_reason reason = KUNWIND_INTERP_NO_LOOP;
	enum kunwind_reason native_reason;
	struct user_regs_struct user;
	bool found;
	u32 i;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &user))
		die("PTRACE_GETREGS");
	look_at(thread->pid);
	walk.nr = native_walk(thread->pid, &user, &walk.bias, &found, &native_reason);
	walk.complete = native_reason == KUNWIND_COMPLETE;
	mem.fs = user.fs_base;
	if (found)
		reason = kunwind_interp_walk(&walk);
	printf("S %d %d %u %u %d %u %llx\n", pid, reason, walk.missing, walk.nr, native_reason,
	       NODES - mem.left, user.rip);
	for (i = 0; i < walk.count; i++) {
		if (!python_name(&python, frames[i].id, frames[i].position, interp_copy, &memory, &named))
			named.name[0] = 0;
		printf("F %u %s\t%s\n", named.line, named.name, named.file);
	}
}

static struct thread *thread_of(pid_t tid)
{
	int i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].tid == tid)
			return &threads[i];
	return NULL;
}

/* Sets *@records: the thread's process catches SIGUSR1. */
static pid_t pid_of(pid_t tid, bool *records)
{
	char path[64], line[256];
	unsigned long long caught = 0;
	pid_t pid = tid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) != 1 && sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	if (file)
		fclose(file);
	*records = caught >> (SIGUSR1 - 1) & 1;
	return pid;
}

static void forget(pid_t tid)
{
	struct thread *thread = thread_of(tid);

	if (thread)
		*thread = threads[--nr_threads];
}

/* Handles a stop that is not of a sample: lets the thread go on. */
static void go_on(pid_t tid, int status, int request)
{
	int sig = 0;

	if (!WIFSTOPPED(status)) {
		if (WIFSIGNALED(status))
			printf("D %d\n", WTERMSIG(status));
		forget(tid);
		return;
	}
	if (!thread_of(tid) && nr_threads < THREADS)
		threads[nr_threads++] = (struct thread){ tid, tid };
	if (status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80))
		sig = WSTOPSIG(status);
	ptrace(request, tid, NULL, sig);
}

/* Waits for @tid to stop. Others that stop meanwhile go on. False: it has ended. */
static bool wait_for(pid_t tid, int *status)
{
	pid_t got;

	for (;;) {
		got = waitpid(-1, status, __WALL);
		if (got < 0)
			return false;
		if (got == tid && WIFSTOPPED(*status))
			return true;
		go_on(got, *status, PTRACE_CONT);
		if (got == tid)
			return false;
	}
}

/* Gives the thread SIGUSR1, and waits until its handler has returned. False: no record. */
static bool let_record(const struct thread *thread)
{
	const pid_t tid = thread->tid;
	struct user_regs_struct user;
	bool first = true;
	int status, sig;

	syscall(SYS_tgkill, thread->pid, tid, SIGUSR1);
	ptrace(PTRACE_CONT, tid, NULL, 0);
	for (;; first = false) {
		if (!wait_for(tid, &status))
			return false;
		if (!(status >> 16) && WSTOPSIG(status) == SIGUSR1)
			break;
		go_on(tid, status, PTRACE_CONT);
	}
	if (!first) {			/* the thread went on before: not the same instant */
		ptrace(PTRACE_CONT, tid, NULL, 0);
		return false;
	}
	sig = SIGUSR1;
	for (;;) {
		ptrace(PTRACE_SYSCALL, tid, NULL, sig);
		sig = 0;
		if (!wait_for(tid, &status))
			return false;
		if (status >> 16)
			continue;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			sig = WSTOPSIG(status);
			continue;
		}
		if (!ptrace(PTRACE_GETREGS, tid, NULL, &user) && user.orig_rax == SYS_rt_sigreturn)
			break;
	}
	ptrace(PTRACE_CONT, tid, NULL, 0);
	return true;
}

static void print_record(bool good)
{
	static char text[1 << 20];
	ssize_t got = pread(record, text, sizeof(text) - 1, recorded);
	char *line, *rest;

	if (got < 0)
		die("record");
	recorded += got;
	text[got] = 0;
	if (good)
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			printf("H %s\n", line);
	printf(good ? "E\n" : "X\n");
}

static void wait_a_moment(void)
{
	int status;
	pid_t got;

	usleep(100 + random() % 3000);
	while ((got = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		go_on(got, status, PTRACE_CONT);
}

static bool sample(void)
{
	struct thread thread;
	bool good, records;
	int status;

	if (!nr_threads)
		return false;
	thread = threads[random() % nr_threads];
	if (ptrace(PTRACE_INTERRUPT, thread.tid, NULL, NULL)) {
		forget(thread.tid);
		return true;
	}
	if (!wait_for(thread.tid, &status))
		return true;
	if (status >> 16 != PTRACE_EVENT_STOP) {
		go_on(thread.tid, status, PTRACE_CONT);
		return true;
	}
	thread.pid = pid_of(thread.tid, &records);
	if (!records) {			/* it has only just begun */
		ptrace(PTRACE_CONT, thread.tid, NULL, 0);
		return true;
	}
	print_record(false);		/* what came without being asked for */
	take(&thread);
	taken++;
	good = let_record(&thread);
	print_record(good);
	return true;
}

int main(int argc, char **argv)
{
	const char *why = "it is no interpreter";
	int status, samples, fd;
	pid_t child;

	if (argc < 7 || strcmp(argv[5], "--")) {
		fprintf(stderr, "usage: sample OBJECT SAMPLES SEED RECORD -- PROGRAM [ARG...]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (python_find(read_object, &fd, &python, &why) != PYTHON_FOUND ||
	    kunwind_interp_check(&python.desc, &interp)) {
		fprintf(stderr, "sample: %s: %s\n", argv[1], why);
		return 1;
	}
	object = argv[1];
	samples = atoi(argv[2]);
	srandom(atoi(argv[3]));
	record = open(argv[4], O_RDONLY | O_CREAT | O_TRUNC, 0666);
	child = fork();
	if (!child) {
		raise(SIGSTOP);
		execvp(argv[6], argv + 6);
		die(argv[6]);
	}
	waitpid(child, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		   PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		die("PTRACE_SEIZE");
	threads[nr_threads++] = (struct thread){ child, child };
	kill(child, SIGCONT);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	do
		wait_a_moment();
	while (taken < samples && sample());
	fflush(stdout);
	kill(child, SIGKILL);
	return 0;
}
