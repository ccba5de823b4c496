// SPDX-License-Identifier: MIT
/*
 * helper_sandbox.c - limit what a parser of other people's files can do
 *
 * The helper can compute, map the files that it was handed, use memory up to a
 * limit, and answer. It cannot open a file or ask about a path, reach the network,
 * start a program, or make memory executable: a system call that is not listed
 * fails with EPERM, which the libraries take for a missing file. It has no
 * capabilities; started by root, it is the user nobody. A hostile file can still make
 * it return false names.
 *
 * In a user namespace without a user nobody, and in a container without CAP_SETUID,
 * the user stays as it is, without capabilities. If anything else fails, also if the
 * kernel has no seccomp filters, the helper does not start: there are no names then.
 *
 * The filter has x86-64's numbers. A system call of the 32-bit ABI kills the
 * process.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper.h"

static const int allowed[] = {
	SYS_read, SYS_pread64, SYS_recvmsg, SYS_sendmsg, SYS_close, SYS_lseek,
	SYS_fstat,
	SYS_ftruncate,		/* shorter only: RLIMIT_FSIZE */
	SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk,
	SYS_setitimer, SYS_sysinfo, SYS_getrandom, SYS_futex, SYS_clock_gettime,
	SYS_rt_sigreturn, SYS_exit, SYS_exit_group,
	/* for abort() */
	SYS_rt_sigprocmask, SYS_getpid, SYS_gettid,
};
#define NR(array)	(sizeof(array) / sizeof(*(array)))

/* The commands of fcntl(2) that copy a descriptor or read its flags. */
static const int commands[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_GETFL };

/*
 * glibc's fstat(2) may be newfstatat(2), which takes paths, too. A program's own
 * function is used instead of that of a shared object: this one calls the system
 * call that takes only descriptors. Declared here, because <sys/stat.h> has others
 * for other file size widths.
 */
int kunwind_fstat(int fd, struct stat *st);
int kunwind_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

__asm__(".globl fstat, fstat64\n"
	".set fstat, kunwind_fstat\n"
	".set fstat64, kunwind_fstat\n"
	".type fstat, @function\n"
	".type fstat64, @function\n");

static bool limit(int resource, rlim_t value)
{
	struct rlimit old, new = { value, value };

	if (getrlimit(resource, &old))
		return false;
	if (old.rlim_max != RLIM_INFINITY && old.rlim_max < value)
		new.rlim_cur = new.rlim_max = old.rlim_max;
	return !setrlimit(resource, &new);
}

struct sandbox_filter {
	struct sock_filter code[2 * (NR(allowed) + NR(commands)) + 32];
	unsigned short len;
};

static void add(struct sandbox_filter *filter, unsigned int code, unsigned int value, unsigned int if_not)
{
	filter->code[filter->len++] = (struct sock_filter){
		.code = (unsigned short)code, .k = value, .jf = (unsigned char)if_not };
}

static void load(struct sandbox_filter *filter, size_t offset)
{
	add(filter, BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset, 0);
}

static void allow_if(struct sandbox_filter *filter, unsigned int value)
{
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 1);
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0);
}

/*
 * Allows @call if its argument @arg is one of @values. The kernel reads only the
 * lower half of the argument, which is an int.
 */
static void allow_with(struct sandbox_filter *filter, int call, unsigned int arg, const int *values,
		       size_t nr)
{
	size_t i;

	add(filter, BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, (unsigned int)(2 * nr + 2));
	load(filter, offsetof(struct seccomp_data, args[arg]));
	for (i = 0; i < nr; i++)
		allow_if(filter, (unsigned int)values[i]);
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0);
}

/* Allows @call if its argument @arg, an int, has none of @bits. */
static void allow_without(struct sandbox_filter *filter, int call, unsigned int arg, unsigned int bits)
{
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 4);
	load(filter, offsetof(struct seccomp_data, args[arg]));
	add(filter, BPF_JMP | BPF_JSET | BPF_K, bits, 1);
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0);
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0);
}

static bool filter_calls(void)
{
	struct sandbox_filter filter = { .len = 0 };
	struct sock_fprog program = { .filter = filter.code };
	int self = getpid();
	size_t i;

	load(&filter, offsetof(struct seccomp_data, arch));
	/* x86-64: skip the next instruction */
	filter.code[filter.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								 AUDIT_ARCH_X86_64, 1, 0);
	add(&filter, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0);
	load(&filter, offsetof(struct seccomp_data, nr));
	for (i = 0; i < NR(allowed); i++)
		allow_if(&filter, (unsigned int)allowed[i]);
	allow_without(&filter, SYS_mmap, 2, PROT_EXEC);
	allow_without(&filter, SYS_mprotect, 2, PROT_EXEC);
	allow_with(&filter, SYS_fcntl, 1, commands, NR(commands));
	allow_with(&filter, SYS_tgkill, 0, &self, 1);	/* for abort() */
	add(&filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0);
	program.len = filter.len;
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/*
 * False: it failed, and not because the user namespace has no such user (EINVAL), or
 * the container no such right (EPERM).
 */
static bool or_impossible(int failed)
{
	return !failed || errno == EINVAL || errno == EPERM;
}

/* Changes to the user and the group nobody, and to no other group. */
static bool become_nobody(void)
{
	const unsigned int nobody = 65534;

	if (geteuid() && getuid())
		return true;
	return or_impossible(setgroups(0, NULL)) && or_impossible(setresgid(nobody, nobody, nobody)) &&
	       or_impossible(setresuid(nobody, nobody, nobody));
}

/* Gives up all capabilities for good: no_new_privs forbids to get any by execve(2). */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) &&
	       !syscall(SYS_capset, &header, none);
}

const char *kunwind_sandbox_enter(unsigned int memory_mb)
{
	if (!become_nobody())
		return "user nobody";
	if (!drop_capabilities())
		return "no capabilities";
	/* other processes of the same user may not look into it */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return "protection from debuggers";
	if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0) || !limit(RLIMIT_NPROC, 0))
		return "limits on files and processes";
	/* three descriptors for each object that the library keeps open */
	if (!limit(RLIMIT_NOFILE, 1024))
		return "limit on descriptors";
	if (!limit(RLIMIT_AS, (rlim_t)memory_mb << 20))
		return "limit on memory";
	if (!filter_calls())
		return "filter of system calls";
	return NULL;
}
