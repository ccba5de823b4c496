/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - system calls that neither change errno nor go through libc
 */
#ifndef _UNWIND_SYSCALL_H
#define _UNWIND_SYSCALL_H

/* Returns what the kernel returns: a negative errno value is an error. */
static inline long unwind_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ __volatile__("syscall"
			     : "=a"(result)
			     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			     : "rcx", "r11", "memory");
	return result;
}

#endif /* _UNWIND_SYSCALL_H */
