/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * build.h - limits of the table builder, for tests
 */
#ifndef _KUNWIND_BUILD_H
#define _KUNWIND_BUILD_H

/* How deep FDEs may lie within each other. Compilers and linkers nest none. */
#define KUNWIND_MAX_NESTED	8

/*
 * An FDE that lies around others is run again behind each of them: bytes of
 * instructions that may be run so, all in all, for each byte of .eh_frame.
 */
#define KUNWIND_RERUN_FACTOR	4

/*
 * Bytes of expressions in one row, which a step of the walk evaluates all, with
 * interrupts off perhaps. A signal frame's take some 70.
 */
#define KUNWIND_ROW_MAX_EXPR	512

#endif /* _KUNWIND_BUILD_H */
