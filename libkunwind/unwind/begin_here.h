/* SPDX-License-Identifier: MIT */
/*
 * begin_here.h - where the registers of a walk are, for begin_here.S; walk.c checks the number
 */
#ifndef _UNWIND_BEGIN_HERE_H
#define _UNWIND_BEGIN_HERE_H

#define UNWIND_REGS_AT	112	/* offsetof(struct unwind_walk, core.regs.r) */

#endif /* _UNWIND_BEGIN_HERE_H */
