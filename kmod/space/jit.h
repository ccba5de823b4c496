/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jit.h - unwind information that a process hands in for code that it made
 */
#ifndef _KUNWIND_JIT_H
#define _KUNWIND_JIT_H

struct kunwind_jit;

/*
 * KUNWIND_IOC_JIT_ADD and KUNWIND_IOC_JIT_REMOVE for the current process, with
 * the errors of uapi/kunwind.h. The caller has checked size and flags of @jit.
 * kunwind_jit_add() fills in build_error and nr_fdes. May sleep.
 */
int kunwind_jit_add(struct kunwind_jit *jit);
int kunwind_jit_remove(const struct kunwind_jit *jit);

#endif /* _KUNWIND_JIT_H */
