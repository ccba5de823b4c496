/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fault_in.h - make the pages and table parts that a walk could not read
 * available to the next walk
 */
#ifndef _KUNWIND_FAULT_IN_H
#define _KUNWIND_FAULT_IN_H

#include <linux/types.h>

struct kunwind_range;
struct mm_struct;
struct seq_file;

void kunwind_fault_in_init(void);
/* Call it when no walk can run any more. May sleep. */
void kunwind_fault_in_exit(void);

/**
 * kunwind_fault_in() - ask for stack pages that a walk could not read
 * @at: address where the frame begins; 16 pages from this address on are
 *	faulted in
 * @second: another address; only its page is faulted in
 * Both addresses may be invalid. The current task faults the pages in before it
 * next runs user code. Any context, NMI included; preemption off. notrace.
 */
void kunwind_fault_in(u64 at, u64 second);

/**
 * kunwind_fault_in_part() - ask for the table part that a walk missed
 * @range: where the walk ended, or NULL
 * @addr: of the code that has no rule yet
 * If only a part of a table is missing, the current task waits for that part
 * before it next runs user code. Otherwise this does nothing. Any context, NMI
 * included; preemption off. notrace.
 */
void kunwind_fault_in_part(const struct kunwind_range *range, u64 addr);

/**
 * kunwind_fault_in_breakpoint() - ask for the byte of code under a breakpoint
 * @id: of the ranges that were walked
 * @addr: of the breakpoint
 * The current task looks the byte up in the file's page before it next runs
 * user code. Any context, NMI included; preemption off. notrace.
 */
void kunwind_fault_in_breakpoint(u64 id, u64 addr);

/*
 * Does at once what kunwind_fault_in() asks for, if mmap_lock is free. @mm: of the
 * current task, which may be a kernel thread (kthread_use_mm()). Returns whether a page
 * was faulted in. May sleep.
 */
bool kunwind_fault_in_now(struct mm_struct *mm, u64 at, u64 second);

void kunwind_fault_in_show(struct seq_file *m);

#endif /* _KUNWIND_FAULT_IN_H */
