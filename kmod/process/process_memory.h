/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_memory.h - keep the memory of a process while a worker uses it
 */
#ifndef _KUNWIND_PROCESS_MEMORY_H
#define _KUNWIND_PROCESS_MEMORY_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct kunwind_quota;
struct mm_struct;
struct pid;

/* The mm is not freed; if @kept, its mappings stay, too (mmget()). */
struct kunwind_process_memory {
	struct mm_struct *mm;
	bool kept;
	/* The rest is private to process_memory.c. */
	struct work_struct work;
	/*
	 * Of the user who is charged; NULL: nobody is; ERR_PTR(): no share
	 * left.
	 */
	struct kunwind_quota *quota;
};

/*
 * Returns the memory of a process, not kept if it is being unmapped or if no
 * share is left; or ERR_PTR(-ESRCH): the process has ended; ERR_PTR(-ENOMEM).
 */
struct kunwind_process_memory *kunwind_process_memory_get(struct pid *pid);

/* Frees @memory. The process may have ended: then a work item unmaps its memory. */
void kunwind_process_memory_put(struct kunwind_process_memory *memory);

/* Makes the workqueue. 0 or -ENOMEM. */
int kunwind_process_memory_init(void);
/* No caller of kunwind_process_memory_get() is left. May sleep. */
void kunwind_process_memory_exit(void);

#endif /* _KUNWIND_PROCESS_MEMORY_H */
