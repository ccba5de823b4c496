/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uprobes.h - addresses that the kernel's probes of user code replaced
 *
 * Return addresses: from 6.1 to 7.2 the kernel keeps them in a list below
 * task->utask, newest first. The fields read here have the same names in
 * all these kernels, which differ in when they free an entry. Only the task
 * itself changes the list, in its own context, but this code may interrupt
 * that change. In 6.1 the head of the list can be a freed entry while the
 * handlers of a return run, and a probe's event may request a stack just then.
 * Therefore each word is read by copy_from_kernel_nofault(), the number of
 * entries is bounded, and the caller checks that the result is code. Any
 * context, NMI included.
 */
#ifndef _KUNWIND_COMPAT_UPROBES_H
#define _KUNWIND_COMPAT_UPROBES_H

#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#ifdef CONFIG_UPROBES
#define KUNWIND_MOST_RETURNS	64	/* MAX_URETPROBE_DEPTH */

#define kunwind_peek(val, from)							\
	(!copy_from_kernel_nofault(&(val), (from), sizeof(val)))

/*
 * Returns the return address that was at @slot of the task's stack, or
 * 0 if it is not known. *@looked: how many entries were read.
 */
static inline notrace u64 kunwind_uprobes_return(const struct task_struct *task, u64 slot, u32 *looked)
{
	struct uprobe_task *utask = READ_ONCE(task->utask);
	struct return_instance *entry;
	unsigned long stack, ret;
	unsigned int i;

	*looked = 0;
	if (!utask || !kunwind_peek(entry, &utask->return_instances))
		return 0;
	for (i = 0; entry && i < KUNWIND_MOST_RETURNS; i++) {
		++*looked;
		if (!kunwind_peek(stack, &entry->stack))
			return 0;
		if (stack == slot)
			return kunwind_peek(ret, &entry->orig_ret_vaddr) ? ret : 0;
		if (!kunwind_peek(entry, &entry->next))
			return 0;
	}
	return 0;
}

static noinline notrace __maybe_unused u64 kunwind_uprobes_from_slot(struct uprobe_task *utask, u64 ip)
{
	unsigned long slot, original;

	if (!kunwind_peek(slot, &utask->xol_vaddr) || !slot || ip - slot >= MAX_UINSN_BYTES ||
	    !kunwind_peek(original, &utask->vaddr))
		return ip;
	return original + (ip - slot);
}

/*
 * Returns the address of the code that runs at @ip. The kernel executes a copy
 * of the instruction that a probe's breakpoint replaced, in a slot of another
 * page. If a page fault or an interrupt comes there, @ip is in the slot. This
 * may read a freed task->utask, as above.
 */
static __always_inline u64 kunwind_uprobes_ip(const struct task_struct *task, u64 ip)
{
	struct uprobe_task *utask = READ_ONCE(task->utask);

	return likely(!utask) ? ip : kunwind_uprobes_from_slot(utask, ip);
}
#else
static inline notrace u64 kunwind_uprobes_ip(const struct task_struct *task, u64 ip)
{
	return ip;
}

static inline notrace u64 kunwind_uprobes_return(const struct task_struct *task, u64 slot, u32 *looked)
{
	*looked = 0;
	return 0;
}
#endif

#endif /* _KUNWIND_COMPAT_UPROBES_H */
