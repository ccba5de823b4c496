// SPDX-License-Identifier: MIT
/*
 * steps.c - run a program one instruction at a time, and walk its stack at each
 * one
 *
 *	steps [-bm] [-n STEPS] [-s EVERY] [-e LIST] [-d STACKS] [-p NAME] -- PROGRAM [ARGUMENT]...
 *
 * -b: walks again with 0xcc at each function's entry, counted as PROGRAM+int3;
 *     then also with the original bytes known to the walk, as PROGRAM+known.
 * -m: does not step ld.so; stepping begins at the program's entry.
 * -n: ends after STEPS instructions of all threads together (default: never).
 * -s: every EVERYth position is a sample for libdw and libunwind (default 997).
 * -e: the list of explained functions (report.h).
 * -d: shows STACKS stacks that are not right, on stderr.
 * -p: the name in the output.
 *
 * Steps all threads, and programs that they exec; their children run without
 * being stepped. Also ends when no thread makes a step for PATIENCE seconds. A
 * position that was visited before is not walked again. The program's standard
 * input and output are /dev/null. report.c describes the output.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "entries.h"
#include "report.h"

#define KINDS	(1U << 16)
#define WAYS	3
#define PATIENCE	30		/* seconds without a step: all threads wait */

struct thread {
	pid_t tid;
	bool begun;
	bool loading;			/* runs up to the program's entry without steps */
	struct shadow_thread shadow;
	struct shadow_regs before;
	enum stepped kind;
	u64 syscall, arg[3];
	int signal;
};

/* The kind of an instruction in a file's code, by address and epoch. */
struct kind {
	u64 ip, epoch;
	u8 kind;
};

static struct thread *threads;
static u32 nr_threads;
static struct shadow shadow;
static struct target target;
/*
 * Memory as it is; with breakpoints; with breakpoints whose original bytes are
 * known.
 */
static struct report report[WAYS];
static struct memory memory[WAYS];
static u32 nr_reports = 1;
static struct kind kinds[KINDS];
static struct kunwind_rule_cache cache[WAYS];
static struct kunwind_replay replay[WAYS];
static struct kunwind_analysis_cache answers[WAYS];
static struct kunwind_jit_rules jit_rules[WAYS];
static u64 *seen;
static size_t nr_seen, room_seen;
static u64 most_steps = ~0ULL, every = 997;
static bool maps_changed, skip_loader;

static struct thread *thread_of(pid_t tid)
{
	u32 i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].tid == tid)
			return &threads[i];
	threads = realloc(threads, (nr_threads + 1) * sizeof(*threads));
	threads[nr_threads] = (struct thread){ .tid = tid };
	return &threads[nr_threads++];
}

static void forget(pid_t tid)
{
	struct thread *thread = thread_of(tid);

	*thread = threads[--nr_threads];
}

/* Returns true if the hash is new. */
static bool remember(u64 hash)
{
	size_t i;

	hash |= !hash;
	if (2 * nr_seen >= room_seen) {
		u64 *old = seen;
		size_t room = room_seen;

		room_seen = room ? 2 * room : 1 << 16;
		seen = calloc(room_seen, sizeof(*seen));
		nr_seen = 0;
		for (i = 0; i < room; i++)
			if (old[i])
				remember(old[i]);
		free(old);
	}
	for (i = hash & (room_seen - 1); seen[i]; i = (i + 1) & (room_seen - 1))
		if (seen[i] == hash)
			return false;
	seen[i] = hash;
	nr_seen++;
	return true;
}

static void read_maps(void)
{
	target_read(&target);
	maps_changed = false;
}

static enum stepped kind_at(u64 ip)
{
	struct kind *kind = &kinds[(ip * 0x9e3779b97f4a7c15ULL) >> 48];
	const struct target_mapping *mapping;
	u8 code[16] = { 0 };

	if (kind->ip == ip && kind->epoch == target.epoch)
		return kind->kind;
	if (memory_raw(target.pid, ip, code, sizeof(code)) < sizeof(code))
		memory_raw(target.pid, ip, code, MEMORY_PAGE - ip % MEMORY_PAGE);
	mapping = target_find(&target, ip);
	/* A JIT's code may change, so its kinds are not kept. */
	if (!mapping || !mapping->object)
		return stepped_kind(code);
	*kind = (struct kind){ .ip = ip, .epoch = target.epoch, .kind = stepped_kind(code) };
	return kind->kind;
}

/* Walks with memory @n. */
static void walk(const struct thread *thread, const struct user_regs_struct *user, u32 n)
{
	static unsigned long addresses[VERDICT_MOST];
	static struct verdict_stack stack;
	struct kunwind_walk walk = {
		.ranges = target.ranges, .cache = &cache[n], .replay = &replay[n],
		.mem = { .memory = &memory[n], .answers = &answers[n], .fs = user->fs_base },
		.regs = { .r = { user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi,
				 user->rbp, user->rsp, user->r8, user->r9, user->r10, user->r11,
				 user->r12, user->r13, user->r14, user->r15, user->rip },
			  .valid = KUNWIND_ALL_REGS },
		.addresses = addresses, .trust = stack.trust, .capacity = KUNWIND_REPLAY_FRAMES,
	};
	const struct kunwind_regs regs = walk.regs;
	enum kunwind_reason reason;

	target.memory = &memory[n];
	memory_new_position(&memory[n]);
	for (;;) {
		memset(stack.trust, KUNWIND_TRUST_CFI, sizeof(stack.trust));
		stack.trust[0] = KUNWIND_TRUST_REGISTERS;
		walk.others = false;
		reason = kunwind_replay_walk(&walk) ? KUNWIND_COMPLETE : kunwind_walk(&walk);
		if (reason != KUNWIND_BUFFER_FULL || walk.capacity == VERDICT_MOST)
			break;
		/*
		 * Deeper than tracers record: walk again with the ioctl's
		 * capacity.
		 */
		walk.capacity = VERDICT_MOST;
		walk.regs = regs;
	}
	report_methods(&report[n], &walk);
	for (stack.nr = 0; stack.nr < walk.count; stack.nr++)
		stack.address[stack.nr] = addresses[stack.nr];
	stack.complete = reason == KUNWIND_COMPLETE;
	stack.reason = kunwind_reason_name(reason);
	report_add(&report[n], &target, &thread->shadow, thread->tid, &regs, &stack,
		   report[n].positions % every == 0);
}

/* The process has set the handler of a signal: struct sigaction of the system call at @action. */
static void note_handler(u64 number, u64 action)
{
	u64 handler = 0;
	u32 n;

	if (!action || number - 1 >= MEMORY_SIGNALS)
		return;
	memory_raw(target.pid, action, &handler, sizeof(handler));
	for (n = 0; n < WAYS; n++)
		memory[n].handler[number - 1] = handler > (u64)SIG_IGN ? handler : 0;
}

/* Notes a new handler, or that the system call may have changed executable mappings. */
static void note_syscall(const struct thread *thread)
{
	const u64 start = thread->arg[0], end = start + thread->arg[1];
	u32 i;

	switch (thread->syscall) {
	case 13:				/* rt_sigaction */
		note_handler(thread->arg[0], thread->arg[1]);
		return;
	case 9: case 10: case 329:		/* mmap, mprotect, pkey_mprotect */
		maps_changed |= thread->arg[2] & 4;
		break;
	case 11:				/* munmap */
		break;
	case 25: case 30:			/* mremap, shmat */
		maps_changed = true;
		return;
	default:
		return;
	}
	for (i = 0; i < target.nr; i++)
		maps_changed |= start < target.mapping[i].end && end > target.mapping[i].start;
}

/* The thread is stopped before an instruction: walk, and note its kind. */
static void arrive(struct thread *thread, const struct user_regs_struct *user)
{
	u32 n;

	if (maps_changed || !target_find(&target, user->rip))
		read_maps();
	if (remember(shadow_hash(&thread->shadow, user->rip)))
		for (n = 0; n < nr_reports; n++)
			walk(thread, user, n);
	thread->before = (struct shadow_regs){ .ip = user->rip, .sp = user->rsp, .rax = user->rax };
	thread->kind = kind_at(user->rip);
	thread->syscall = thread->kind == STEPPED_SYSCALL ? user->rax : ~0ULL;
	thread->arg[0] = user->rdi;
	thread->arg[1] = user->rsi;
	thread->arg[2] = user->rdx;
}

static void stepped(struct thread *thread)
{
	struct user_regs_struct user;
	struct shadow_regs after;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &user))
		return;
	after = (struct shadow_regs){ .ip = user.rip, .sp = user.rsp, .rax = user.rax };
	if (!thread->begun) {
		shadow_begin(&thread->shadow, &shadow, user.rsp);
		thread->begun = true;
	} else if (!thread->signal || !shadow_signal(&thread->shadow, &thread->before, &after)) {
		note_syscall(thread);
		shadow_step(&thread->shadow, thread->kind, &thread->before, &after);
	}
	thread->signal = 0;
	report->steps++;
	/* 32-bit code is not tested. */
	if (user.cs == 0x33)
		arrive(thread, &user);
}

/* The thread is at the first instruction of the program that is stepped. */
static void begin(struct thread *thread)
{
	stepped(thread);
	report->steps--;
}

static void program_begins(pid_t pid)
{
	u32 n;

	while (nr_threads)
		forget(threads[0].tid);
	shadow_reset(&shadow, pid);
	target.pid = pid;
	for (n = 0; n < WAYS; n++) {
		memory[n].pid = pid;
		memset(memory[n].handler, 0, sizeof(memory[n].handler));
	}
	read_maps();
	memset(replay, 0, sizeof(replay));
}

static u64 entry_of(pid_t pid)
{
	char path[64];
	u64 pair[2] = { 0, 0 }, entry = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "r");
	while (file && fread(pair, sizeof(pair), 1, file))
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	if (file)
		fclose(file);
	return entry;
}

/* The program's entry, and the code that the breakpoint there replaces. */
static u64 entry;
static long entry_code;

/*
 * Puts a breakpoint at the program's entry, where the stack is empty, so that
 * ld.so runs up to it without steps. False: this is not possible.
 */
static bool plant_entry(pid_t pid)
{
	entry = entry_of(pid);
	errno = 0;
	entry_code = ptrace(PTRACE_PEEKTEXT, pid, entry, NULL);
	return !errno && !ptrace(PTRACE_POKETEXT, pid, entry, (entry_code & ~0xffL) | 0xcc);
}

/*
 * Returns whether the thread that runs ld.so has stopped at the program's entry.
 * If so, removes the breakpoint. Other stops may come before: constructors may
 * make threads (which are stepped), and raise signals.
 */
static bool loaded(struct thread *thread, int signal)
{
	struct user_regs_struct user;

	if (signal != SIGTRAP || ptrace(PTRACE_GETREGS, thread->tid, NULL, &user) || user.rip != entry + 1)
		return false;
	ptrace(PTRACE_POKETEXT, thread->tid, entry, entry_code);
	user.rip = entry;
	ptrace(PTRACE_SETREGS, thread->tid, NULL, &user);
	read_maps();
	return true;
}

/*
 * Handles a stop of one thread, and lets it make the next step. False: it
 * cannot.
 */
static bool stopped(pid_t tid, int status)
{
	struct thread *thread = thread_of(tid);
	const int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_EXEC) {
		program_begins(tid);
		thread = thread_of(tid);
		thread->loading = skip_loader && plant_entry(tid);
		if (!thread->loading)
			begin(thread);
	} else if (thread->loading) {
		if (!event && loaded(thread, signal)) {
			thread->loading = false;
			begin(thread);
		} else {
			return !ptrace(PTRACE_CONT, tid, NULL, event || signal == SIGTRAP ? 0 : signal);
		}
	} else if (event) {
		/*
		 * clone: the new thread has its own stop. The system call
		 * continues.
		 */
	} else if (!thread->begun && signal == SIGSTOP) {
		stepped(thread);
	} else if (signal == SIGTRAP) {
		stepped(thread);
	} else {
		/*
		 * A signal to deliver: the next stop has the signal frame, if
		 * there is a handler.
		 */
		struct user_regs_struct user;

		ptrace(PTRACE_GETREGS, tid, NULL, &user);
		thread->before.ip = user.rip;
		thread->before.sp = user.rsp;
		thread->signal = signal;
	}
	if (thread->loading)
		return !ptrace(PTRACE_CONT, tid, NULL, NULL);
	return !ptrace(PTRACE_SINGLESTEP, tid, NULL, thread_of(tid)->signal);
}

static bool idle;

static void on_alarm(int signal)
{
	static u64 last = ~0ULL;

	(void)signal;
	idle = report->steps == last;
	last = report->steps;
	alarm(PATIENCE);
}

static pid_t start(char **command)
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	personality(ADDR_NO_RANDOMIZE);
	setpgid(0, 0);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execvp(command[0], command);
	_exit(127);
}

static void run(char **command)
{
	const pid_t pid = start(command);
	int status;
	pid_t tid;

	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		err(1, "%s", command[0]);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	/* The alarm interrupts waitpid(). */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL);
	alarm(PATIENCE);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || (errno == EINTR && !idle)) {
		if (tid < 0)
			continue;
		if (!WIFSTOPPED(status)) {
			if (tid == pid && WIFEXITED(status) && WEXITSTATUS(status) == 127 && !report->steps)
				errx(77, "%s: cannot be run", command[0]);
			forget(tid);
			if (tid == pid)
				break;
			continue;
		}
		if (report->steps >= most_steps)
			break;
		stopped(tid, status);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	static const char *const suffixes[WAYS] = { "", "+int3", "+known" };
	u32 stacks = 0, n;
	int option;

	while ((option = getopt(argc, argv, "+bmn:s:e:d:p:")) != -1) {
		switch (option) {
		case 'b': nr_reports = WAYS; break;
		case 'm': skip_loader = true; break;
		case 'n': most_steps = strtoull(optarg, NULL, 0); break;
		case 's': every = strtoull(optarg, NULL, 0); break;
		case 'e': report_read_explained(optarg); break;
		case 'd': stacks = strtoul(optarg, NULL, 0); break;
		case 'p': report->program = optarg; break;
		default: errx(2, "usage: steps [-bm] [-n STEPS] [-s EVERY] [-e LIST] [-d STACKS] "
				 "[-p NAME] -- PROGRAM [ARGUMENT]...");
		}
	}
	if (optind == argc || !every)
		errx(2, "no program to run, or EVERY is zero");
	if (!report->program)
		report->program = argv[optind];
	for (n = 0; n < WAYS; n++) {
		report[n].program = report->program;
		report[n].suffix = suffixes[n];
		report[n].stacks = stacks;
		answers[n].jit = &jit_rules[n];
		memory[n].patch = n ? entries_patch : NULL;
		memory[n].patch_data = &target;
		memory[n].known = n == 2;
	}
	run(argv + optind);
	for (n = 0; n < nr_reports; n++) {
		report[n].steps = report->steps;
		report_print(&report[n], stdout);
	}
	return 0;
}
