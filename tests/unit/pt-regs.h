/* SPDX-License-Identifier: MIT */
/*
 * pt-regs.h - the user's registers in the order in which x86-64 kernels store
 * them; include it after kernel.h
 */
#ifndef _TEST_PT_REGS_H
#define _TEST_PT_REGS_H

#define __USER_CS		0x33
#define XEN_USER_CS		0xe033
#define user_64bit_mode(regs)	((regs)->cs == __USER_CS || (regs)->cs == XEN_USER_CS)
#define __USER32_CS		0x23

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
		cs, flags, sp, ss;
};

#endif /* _TEST_PT_REGS_H */
