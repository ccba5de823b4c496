// SPDX-License-Identifier: MIT
/*
 * fuzz-calls.c - the calls that the steps of an input make (fuzz.h)
 *
 * The arguments of a step choose among existing things: mappings (slots),
 * descriptors of /proc/PID/mem, children. Therefore most calls are for
 * something that exists, and the same bytes make the same calls in each run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../kmod/uapi/kunwind.h"

#include "fuzz.h"

#define NR_SLOTS	8
#define NR_FDS		4
#define NR_CHILDREN	4
#define SLOT_SIZE	(64 << 10)
#define ORDINARY_USER	65534

static const char *const param_names[] = {
	"system_wide", "callstack_syscalls", "enabled", "max_build_ms", "max_eh_frame_mb", "max_objects",
	"max_processes", "max_ranges", "max_stall_ms", "max_table_mb", "max_user_processes",
	"max_user_table_mb", "max_whole_kb", "register_timeout_ms", "guess",
};

static struct {
	int fd;
	bool set;		/* by a step of this input */
	char before[32];
} params[ARRAY_SIZE(param_names)];

const uint64_t fuzz_odd[FUZZ_NR_ODD] = {
	0, 1, 7, 8, 16, 24, 32, 40, 48, 64, 4095, 4096, 4097, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7ffffffff000, 0x7fffffffffff, 0x800000000000, 0xffff800000000000, 0xffffffff81000000,
	0xffffffffff600000, ~0ULL, ~0ULL - 4095, 0x8000000000000000,
};

static int device = -1, nr_files, elf = -1, uffd = -1;
static char **files;
static struct { char *at; size_t len; } slots[NR_SLOTS];
static int fds[NR_FDS];
static pid_t children[NR_CHILDREN];
static char *page, *missing;	/* a page before an unmapped one; memory of userfaultfd */
static sigjmp_buf back;

static bool unregistered;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

void fuzz_one_stack(void)
{
	uint64_t addresses[64];
	struct kunwind_callstack stack = {
		.size = sizeof(stack), .addresses = (uintptr_t)addresses, .capacity = 64,
	};

	if (device < 0)
		device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	syscall(SYS_ioctl, device, KUNWIND_IOC_CALLSTACK, &stack);
}

static void on_signal(int sig)
{
	(void)sig;
	fuzz_one_stack();
}

/* An address for an argument or a register, chosen by @word of the step. */
static uint64_t address(uint64_t word)
{
	uint64_t rest = word >> 8;

	switch (word & 7) {
	case 0: return (uintptr_t)slots[(word >> 3) % NR_SLOTS].at + rest % SLOT_SIZE;
	case 1: return (uintptr_t)page + rest % 4096 / 8 * 8;
	case 2: return (uintptr_t)page + 4096 - rest % 256;
	case 3: return (uintptr_t)missing + rest % (4 * 4096);
	case 4: return fuzz_odd[rest % FUZZ_NR_ODD];
	case 5: return rest;
	case 6: return (uintptr_t)&rest + rest % 8192;
	default: return (uintptr_t)fuzz_one_stack + rest % 64;
	}
}

/*
 * Writes a CIE "zR" and an FDE for [start, start + len) with absolute pointers.
 * If bit 0 of @damage is set, one bit is flipped. Returns the size in bytes.
 */
static size_t eh_frame(char *to, uint64_t start, uint64_t len, uint64_t damage)
{
	static const uint8_t cie[24] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1, 0, 0,
	};
	uint32_t head[2] = { 28, 28 };
	size_t size = sizeof(cie) + 32 + 4;

	memset(to, 0, size);
	memcpy(to, cie, sizeof(cie));
	memcpy(to + 24, head, 8);
	memcpy(to + 32, &start, 8);
	memcpy(to + 40, &len, 8);
	memcpy(to + 49, "\x41\x0e\x10\x86\x02\x43\x0d", 7);
	if (damage & 1)
		to[damage / 2 % size] ^= 1 << (damage >> 16) % 8;
	return size;
}

static long call_device(const struct step *s)
{
	static const unsigned int calls[9] = {
		KUNWIND_IOC_INFO, KUNWIND_IOC_REGISTER, KUNWIND_IOC_UNREGISTER, KUNWIND_IOC_CALLSTACK,
		KUNWIND_IOC_STATS, KUNWIND_IOC_SYSTEM_WIDE, KUNWIND_IOC_JIT_ADD, KUNWIND_IOC_JIT_REMOVE,
		KUNWIND_IOC_THREAD,
	};
	/* the first inputs are older than the ninth call */
	const unsigned int number = s->op % 8 || !(s->b & 1) ? s->op % 8 : 8;
	unsigned int call = calls[number], i;
	void *argument = page + 2048;
	uint64_t regs[17];
	union {
		uint32_t size;
		struct kunwind_process process;
		struct kunwind_callstack stack;
		struct kunwind_system_wide system_wide;
		struct kunwind_jit jit;
		struct kunwind_thread_stack thread;
		char bytes[512];
	} u;

	memset(&u, 0, sizeof(u));
	u.size = _IOC_SIZE(call);
	switch (number) {
	case 1: case 2:
		unregistered |= number == 2;
		u.process.flags = s->b & 1;
		u.process.mem_fd = s->b & 2 ? fds[s->c % NR_FDS] : s->b & 4 ? (int)s->c : -1;
		break;
	case 3:
		u.stack.addresses = address(s->d);
		u.stack.capacity = s->b & 0x8000 ? fuzz_odd[s->b % FUZZ_NR_ODD] : s->b % 256;
		u.stack.trust = s->c & 1 ? address(s->d >> 20) : 0;
		if (s->c & 2) {
			for (i = 0; i < 17; i++)
				regs[i] = address(s->d >> (i + 1) ^ s->c);
			if (s->c & 4)
				regs[7] = (uintptr_t)regs;
			if (s->c & 8)
				regs[16] = (uintptr_t)fuzz_one_stack + (s->d >> 40) % 64;
			u.stack.flags = KUNWIND_HAVE_REGS;
			u.stack.regs = s->c & 16 ? address(s->d >> 30) : (uintptr_t)regs;
			u.stack.valid_regs = s->c & 32 ? s->c >> 8 : 0x1ffff;
		}
		break;
	case 5:
		u.system_wide.flags = s->b & 1;
		break;
	case 6: case 7:
		u.jit.start = (uintptr_t)slots[s->b % NR_SLOTS].at + (s->b & 0x80 ? s->b >> 8 : 0);
		u.jit.len = s->b & 0x40 ? fuzz_odd[s->c % FUZZ_NR_ODD] : 64 + s->c % 4096;
		if (number == 6) {
			u.jit.eh_frame_len = eh_frame(page, u.jit.start, u.jit.len, s->d);
			u.jit.eh_frame = s->b & 0x20 ? address(s->d) : (uintptr_t)page;
		}
		break;
	case 8:
		u.thread.mem_fd = s->b & 2 ? fds[s->c % NR_FDS] : (int)s->c;
		u.thread.timeout_ms = s->b & 4 ? s->c % 16 : 0;
		u.thread.stack = address(s->d);
		u.thread.stack_len = s->b & 8 ? s->c % (KUNWIND_MOST_STACK + 2) : 4096;
		break;
	}
	if (s->a & 0x80)
		u.bytes[s->c % _IOC_SIZE(call)] ^= 1 << s->b % 8;
	if (s->a & 0x40)
		u.size = s->b & 0x100 ? _IOC_SIZE(call) + (s->b >> 9) % 256 : fuzz_odd[s->b % FUZZ_NR_ODD];
	if (s->a & 0x20)
		call = _IOC(s->b % 4, KUNWIND_IOC_MAGIC, 0xdf + s->b % 11, s->c % 512);
	if (s->a & 0x10) {
		argument = (void *)address(s->d >> 12);
		/*
		 * No memcpy() to what may be a file that does not answer: the
		 * page fault would end only with the process.
		 */
		if ((s->d >> 12 & 7) != 1 && (s->d >> 12 & 7) != 2)
			return syscall(SYS_ioctl, device, call, argument);
	}
	memcpy(argument, &u, _IOC_SIZE(call) < sizeof(u) ? _IOC_SIZE(call) : sizeof(u));
	return syscall(SYS_ioctl, device, call, argument);
}

static void drop(unsigned int i)
{
	if (slots[i].at)
		munmap(slots[i].at, slots[i].len);
	slots[i].at = NULL;
	slots[i].len = 0;
}

static long map_something(const struct step *s)
{
	unsigned int i = s->a % NR_SLOTS;
	int prot = s->b & 7 ? s->b & 7 : PROT_READ | PROT_EXEC, flags = MAP_PRIVATE, fd = -1;
	void *at = NULL;

	if (s->b & 0x100 && slots[s->c % NR_SLOTS].at) {
		at = slots[s->c % NR_SLOTS].at + (s->b & 0x200 ? 4096 : 0);
		flags |= MAP_FIXED;
	} else {
		drop(i);
	}
	switch (s->b >> 3 & 3) {
	case 0: flags |= MAP_ANONYMOUS; break;
	case 1: fd = elf; break;
	case 2:
		fd = nr_files ? open(files[s->c / 8 % nr_files], O_RDONLY | O_CLOEXEC) : elf;
		break;
	case 3: fd = elf; flags ^= MAP_PRIVATE | MAP_SHARED; break;
	}
	at = mmap(at, SLOT_SIZE, prot, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
		  fd < 0 ? 0 : (s->d % 8) * 4096);
	if (fd >= 0 && fd != elf)
		close(fd);
	if (at == MAP_FAILED)
		return -1;
	if (!(s->b & 0x100)) {
		slots[i].at = at;
		slots[i].len = SLOT_SIZE;
	}
	return 0;
}

static long remap(const struct step *s)
{
	unsigned int i = s->a % NR_SLOTS, to = s->b % NR_SLOTS;
	static const size_t lens[] = { 4096, SLOT_SIZE / 2, SLOT_SIZE, 0 };
	void *at;

	if (!slots[i].at || (s->c & 1 && (!slots[to].at || to == i)))
		return 0;
	at = mremap(slots[i].at, slots[i].len, lens[s->c >> 2 & 3], s->c & 1 ?
		    MREMAP_MAYMOVE | MREMAP_FIXED : s->c & 2 ? MREMAP_MAYMOVE : 0,
		    slots[to].at);
	if (at == MAP_FAILED)
		return -1;
	if (s->c & 1) {
		slots[i].at = NULL;
		slots[to].len = lens[s->c >> 2 & 3];
		return 0;
	}
	slots[i].at = at;
	slots[i].len = lens[s->c >> 2 & 3];
	return 0;
}

static void child(const struct step *s)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuzz_one_stack();
	if (s->b & 1)
		syscall(SYS_munmap, slots[s->c % NR_SLOTS].at, SLOT_SIZE);
	if (s->b & 2)
		syscall(SYS_mprotect, slots[s->c % NR_SLOTS].at, 4096, PROT_READ | PROT_EXEC);
	if (s->b & 4)
		fuzz_one_stack();
	if (s->b & 8)
		execl("/proc/self/exe", "fuzz", "leaf", NULL);
	if (s->b & 16)
		for (;;)
			syscall(SYS_pause);
	syscall(s->b & 32 ? SYS_exit_group : SYS_exit, 0);
}

static int clone_child(void *arg)
{
	child(arg);
	return 0;
}

static long make_child(const struct step *s)
{
	static const int flags[] = {
		0, CLONE_VM, CLONE_VM | CLONE_FILES | CLONE_FS, CLONE_VM | CLONE_VFORK, CLONE_VFORK,
		CLONE_VM | CLONE_SIGHAND, CLONE_NEWUSER, CLONE_NEWPID | CLONE_NEWUSER, CLONE_NEWNS,
		CLONE_PARENT_SETTID | CLONE_IO, CLONE_UNTRACED,
	};
	static struct step steps[NR_CHILDREN];
	static char stacks[NR_CHILDREN][32 << 10] __attribute__((aligned(16)));
	unsigned int i = s->a % NR_CHILDREN;
	int flag = flags[s->c % ARRAY_SIZE(flags)];
	pid_t parent;

	if (children[i])
		return 0;
	steps[i] = *s;
	/* A vfork child blocks its parent, so it must exit by itself. */
	if (flag & CLONE_VFORK)
		steps[i].b &= ~16;
	if (flag == 0) {
		children[i] = fork();
		if (!children[i])
			child(&steps[i]);
	} else {
		children[i] = clone(clone_child, stacks[i] + sizeof(stacks[i]), flag | SIGCHLD, &steps[i],
				    &parent);
	}
	if (children[i] < 0)
		children[i] = 0;
	return children[i] ? 0 : -1;
}

static long trace_child(const struct step *s)
{
	static const int requests[] = {
		PTRACE_SEIZE, PTRACE_ATTACH, PTRACE_INTERRUPT, PTRACE_SYSCALL, PTRACE_CONT, PTRACE_SINGLESTEP,
		PTRACE_POKEUSER, PTRACE_POKEDATA, PTRACE_DETACH, PTRACE_LISTEN, PTRACE_KILL,
	};
	pid_t pid = children[s->a % NR_CHILDREN];
	int request = requests[s->b % ARRAY_SIZE(requests)];

	if (!pid)
		return 0;
	if (s->b & 0x100)
		waitpid(pid, NULL, WNOHANG | __WALL);
	return syscall(SYS_ptrace, request, pid, request == PTRACE_POKEUSER ? s->c % 27 * 8 :
		       request == PTRACE_POKEDATA ? address(s->d) : 0,
		       request == PTRACE_POKEUSER || request == PTRACE_POKEDATA ? address(s->d >> 8) : 0);
}

static long set_param(const struct step *s)
{
	unsigned int i = s->a % ARRAY_SIZE(params);
	const char *name = param_names[i];
	uint64_t value = s->c % 1024;
	char text[24];
	int length;

	/* Long waits for a hung file system would leave no time for calls. */
	if (strstr(name, "_timeout_ms") || strstr(name, "_stall_ms"))
		value %= 16;
	if (s->b & 2 && s->d % 64 == 0)
		value = fuzz_odd[s->c % FUZZ_NR_ODD];
	length = s->b & 1 ? snprintf(text, sizeof(text), "%c", "YN01"[s->b >> 1 & 3]) :
			    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	params[i].set = true;
	return pwrite(params[i].fd, text, length, 0) < 0 ? -1 : 0;
}

/* If a switch stayed off, the code that depends on it could not be reached. */
static void restore_params(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		if (params[i].set &&
		    pwrite(params[i].fd, params[i].before, strlen(params[i].before), 0) < 0 &&
		    errno != EPERM)
			perror(param_names[i]);
		params[i].set = false;
	}
}

static void register_oneself(void)
{
	struct kunwind_process process = {
		.size = sizeof(process), .flags = KUNWIND_REGISTER_CHILDREN, .mem_fd = -1,
	};

	unregistered = syscall(SYS_ioctl, device, KUNWIND_IOC_REGISTER, &process) < 0;
}

static long open_mem(const struct step *s)
{
	unsigned int i = s->a % NR_FDS;
	char path[64];
	pid_t pid = s->b % 4 == 0 ? getpid() : s->b % 4 == 1 ? getppid() : s->b % 4 == 2 ? 1 :
		    children[s->c % NR_CHILDREN];

	if (fds[i] > 0)
		close(fds[i]);
	snprintf(path, sizeof(path), s->b & 4 ? "/proc/%d/maps" : "/proc/%d/mem", pid);
	fds[i] = open(path, (s->b & 8 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	return fds[i] < 0 ? -1 : 0;
}

static void *thread(void *arg)
{
	const struct step *s = arg;
	unsigned int i;

	for (i = 0; i < s->b % 8U; i++) {
		fuzz_one_stack();
		if (s->c & 1 << i)
			mprotect(slots[i].at, 4096, s->d >> 3 * i & 7);
	}
	return NULL;
}

static long make_thread(const struct step *s)
{
	struct step copy = *s;
	pthread_t id;

	if (pthread_create(&id, NULL, thread, &copy))
		return -1;
	if (s->a & 1)
		fuzz_one_stack();
	return pthread_join(id, NULL) ? -1 : 0;
}

static long change_file(const struct step *s)
{
	struct stat st;

	if (fstat(elf, &st))
		return -1;
	if (s->a % 8 == 0)
		return ftruncate(elf, s->d % (64 << 10));
	/* in the ELF headers, or anywhere */
	return pwrite(elf, &s->c, 1 + s->a % 4, s->d % (s->b & 1 ? 1024 : st.st_size + 1)) < 0 ? -1 : 0;
}

enum { OP_MAP = FUZZ_DEVICE_OPS, OP_PROTECT, OP_UNMAP, OP_REMAP, OP_ADVISE, OP_CHILD, OP_TRACE,
	OP_PARAM, OP_MEM, OP_KILL, OP_THREAD, OP_FILE, OP_READ, OP_SIGNAL, OP_MISSING, OP_STACK };

const char *const fuzz_names[FUZZ_NR_OPS] = {
	"info", "register", "unreg", "stack", "stats", "system_wide", "jit_add", "jit_del", "map", "protect",
	"unmap", "remap", "advise", "child", "trace", "param", "mem", "kill", "thread", "file", "read",
	"signal", "missing", "stack",
};

static long run_step(const struct step *s)
{
	unsigned int i = s->a % NR_SLOTS;
	char text[4096];

	switch (s->op % FUZZ_NR_OPS) {
	default: return call_device(s);
	case OP_MAP: return map_something(s);
	case OP_PROTECT: return mprotect(slots[i].at, s->b & 8 ? 4096 : SLOT_SIZE, s->b & 7);
	case OP_UNMAP:
		if (s->b & 1)
			return slots[i].at ? munmap(slots[i].at, 4096) : 0;
		drop(i);
		return 0;
	case OP_REMAP: return remap(s);
	case OP_ADVISE: return madvise(slots[i].at, SLOT_SIZE, s->b % 26);
	case OP_CHILD: return make_child(s);
	case OP_TRACE: return trace_child(s);
	case OP_PARAM: return set_param(s);
	case OP_MEM: return open_mem(s);
	case OP_KILL: {
		pid_t pid = children[s->a % NR_CHILDREN];

		return pid ? kill(pid, s->b & 1 ? SIGKILL : s->b & 2 ? SIGSTOP : SIGUSR1) : 0;
	}
	case OP_THREAD: return make_thread(s);
	case OP_FILE: return change_file(s);
	case OP_READ: return pread(device, text, s->b % sizeof(text), s->c % 8 ? 0 : s->d) < 0 ? -1 : 0;
	case OP_SIGNAL: return raise(SIGUSR1);
	case OP_MISSING: return madvise(missing, 4 * 4096, MADV_DONTNEED);
	case OP_STACK: fuzz_one_stack(); return 0;
	}
}

/* A thread: answers page faults in @missing after 0.5 ms. */
static void *answer(void *arg)
{
	struct uffd_msg message;

	(void)arg;
	while (read(uffd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_zeropage zero = {
			.range = { .start = message.arg.pagefault.address & ~4095ULL, .len = 4096 },
		};

		usleep(500);
		ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
	}
	return NULL;
}

bool fuzz_begin(unsigned int worker, char **names, int nr_names, bool ordinary)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg;
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER };
	stack_t stack = { .ss_size = 64 << 10 };
	char path[96], data[4096];
	pthread_t id;
	ssize_t n;
	unsigned int i;
	int fd;

	files = names;
	nr_files = nr_names;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		sigaction(faults[i], &action, NULL);
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	missing = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	reg = (struct uffdio_register){ .range = { (uintptr_t)missing, 4 * 4096 },
					.mode = UFFDIO_REGISTER_MODE_MISSING };
	if (uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api) && !ioctl(uffd, UFFDIO_REGISTER, &reg))
		pthread_create(&id, NULL, answer, NULL);
	/* a private copy of an ELF file, which is changed while it is mapped */
	snprintf(path, sizeof(path), "/tmp/fuzz-elf-%d", worker);
	elf = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	fd = open(nr_files ? files[0] : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	while ((n = read(fd, data, sizeof(data))) > 0)
		n = write(elf, data, n);
	close(fd);

	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	/* After a change of user a process cannot be traced without this. */
	if (ordinary && (setresuid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER) ||
			 prctl(PR_SET_DUMPABLE, 1) || prctl(PR_SET_PDEATHSIG, SIGKILL)))
		return false;
	register_oneself();
	return device >= 0;
}

int fuzz_step(const struct step *step)
{
	volatile int error = FUZZ_FAULT;

	/* SA_NODEFER: no signal mask has to be restored. */
	if (!sigsetjmp(back, 0)) {
		errno = 0;
		error = run_step(step) < 0 ? errno & 127 : 0;
	}
	return error;
}

void fuzz_end(void)
{
	unsigned int i;

	for (i = 0; i < NR_CHILDREN; i++) {
		if (!children[i])
			continue;
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, __WALL);
		children[i] = 0;
	}
	for (i = 0; i < NR_FDS; i++) {
		if (fds[i] > 0)
			close(fds[i]);
		fds[i] = 0;
	}
	for (i = 0; i < NR_SLOTS; i++)
		drop(i);
	restore_params();
	if (unregistered)
		register_oneself();
}

bool fuzz_open(void)
{
	char path[96];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		snprintf(path, sizeof(path), "/sys/module/kunwind/parameters/%s", param_names[i]);
		params[i].fd = open(path, O_RDWR | O_CLOEXEC);
		if (params[i].fd < 0 || pread(params[i].fd, params[i].before, 31, 0) < 0) {
			perror(path);
			return false;
		}
	}
	return true;
}

void fuzz_close(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		params[i].set = true;
	restore_params();
}

