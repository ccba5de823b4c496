/* SPDX-License-Identifier: MIT */
/*
 * system_calls.h - the system calls that Breakpad's writer makes, by libc
 *
 * Takes the place of third_party/lss/linux_syscall_support.h, which is not in the sources of the
 * npm package. That one makes the calls without libc, for a process that has crashed; here another
 * process writes the minidump (write_minidump.cc).
 */
#ifndef STACKWALK_SYSTEM_CALLS_H
#define STACKWALK_SYSTEM_CALLS_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define kernel_stat	stat
#define kernel_stat64	stat64
#define kernel_dirent	dirent_of_getdents
struct dirent_of_getdents {
	long d_ino, d_off;
	unsigned short d_reclen;
	char d_name[256];
};

#define sys_close	::close
#define sys_fstat	::fstat
#define sys_getpid	::getpid
#define sys_lseek	::lseek
#define sys_mmap	::mmap
#define sys_munmap	::munmap
#define sys_open	::open
#define sys_read	::read
#define sys_readlink	::readlink
#define sys_stat	::stat
#define sys_waitpid	::waitpid
#define sys_write	::write
#define sys_getdents(fd, entries, size)			syscall(SYS_getdents, fd, entries, size)
#define sys_ptrace(request, pid, address, data)		\
	syscall(SYS_ptrace, (long)(request), (long)(pid), (void *)(address), (void *)(data))

#endif
