/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fs_base.h - read where a thread's own data is: the base of the segment fs
 */
#ifndef _KUNWIND_X86_FS_BASE_H
#define _KUNWIND_X86_FS_BASE_H

#include <linux/sched.h>
#include <asm/fsgsbase.h>

/* Of a task that no CPU runs: its last switch has saved it. */
static inline u64 kunwind_task_fs_base(const struct task_struct *task)
{
	return READ_ONCE(task->thread.fsbase);
}

/* Of the current task, which may have changed it since its last switch. */
static inline u64 kunwind_current_fs_base(void)
{
	return x86_fsbase_read_cpu();
}

#endif /* _KUNWIND_X86_FS_BASE_H */
