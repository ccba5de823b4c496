/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread.h - read the registers and the stack of another thread, for the device
 */
#ifndef _KUNWIND_STACK_THREAD_H
#define _KUNWIND_STACK_THREAD_H

struct kunwind_thread_stack;
struct mm_struct;
struct task_struct;

/*
 * Fills in what KUNWIND_IOC_THREAD returns (uapi/kunwind.h), and copies the stack to @of->stack,
 * which is the caller's memory. @of: what is asked, checked. @task: with a reference; the thread is
 * not read unless it uses @mm, also with a reference.
 * 0 or a negative errno, as the call has them. Task context; may sleep.
 */
int kunwind_thread_read(struct task_struct *task, struct mm_struct *mm, struct kunwind_thread_stack *of);

#endif /* _KUNWIND_STACK_THREAD_H */
