// SPDX-License-Identifier: MIT
/*
 * helper_sandbox.c - limit what a parser of other people's files can do
 *
 * The helper can compute, map the files that it was handed, use memory up to a
 * limit, and answer. It cannot open a file, reach the network or start a
 * program: a system call that is not listed fails with EPERM, which the
 * libraries take for a missing file. A hostile file can still make it return
 * false names.
 *
 * The filter has x86-64's numbers. A system call of the 32-bit ABI kills the
 * process.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "helper.h"

static const int allowed[] = {
	SYS_read, SYS_pread64, SYS_recvmsg, SYS_sendmsg, SYS_close, SYS_lseek,
	SYS_fstat, SYS_newfstatat, SYS_fcntl,
	SYS_ftruncate,		/* shorter only: RLIMIT_FSIZE */
	SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk,
	SYS_setitimer, SYS_sysinfo, SYS_getrandom, SYS_futex, SYS_clock_gettime,
	SYS_rt_sigreturn, SYS_exit, SYS_exit_group,
	/* for abort() */
	SYS_rt_sigprocmask, SYS_getpid, SYS_gettid, SYS_tgkill,
};
#define NR_ALLOWED	(sizeof(allowed) / sizeof(*allowed))

static bool limit(int resource, rlim_t value)
{
	struct rlimit old, new = { value, value };

	if (getrlimit(resource, &old))
		return false;
	if (old.rlim_max != RLIM_INFINITY && old.rlim_max < value)
		new.rlim_cur = new.rlim_max = old.rlim_max;
	return !setrlimit(resource, &new);
}

static bool filter_calls(void)
{
	struct sock_filter code[NR_ALLOWED + 8];
	struct sock_fprog program = { .filter = code };
	unsigned int n = 0;
	size_t i;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (i = 0; i < NR_ALLOWED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned int)allowed[i],
							 (unsigned char)(NR_ALLOWED - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

const char *kunwind_sandbox_enter(unsigned int memory_mb)
{
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
