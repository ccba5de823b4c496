// SPDX-License-Identifier: GPL-2.0-only
/*
 * takeover.c - replace kernel functions that save user stacks
 *
 * LTTng's context callstack-user and ftrace's userstacktrace call
 * stack_trace_save_user(). perf record -g and bpf_get_stack() call
 * perf_callchain_user(). perf's deferred call chains call unwind_user(), if the
 * kernel has it. An ftrace hook is at the first instruction of each. For a
 * registered process, the hook redirects the call to a function of the same
 * prototype in this file. Otherwise it leaves the instruction pointer
 * unchanged, and the kernel's own code runs as without this module.
 *
 * Any context, NMI included: neither the hooks nor the replacements sleep, take
 * locks, or allocate.
 *
 * This file calls no function that the kernel does not export, not even through
 * a pointer, because the replacements need nothing of the original functions.
 *
 * Each of these hooks is optional. If ftrace refuses one (a livepatch or a
 * kprobe with a post-handler is on the function), the kernel's own code runs,
 * and log and status say why. If a required hook is refused (hook.h), none of
 * these hooks is enabled.
 *
 * Unloading: unregister_ftrace_function() waits for tasks inside the
 * trampoline. Then main.c calls synchronize_rcu_tasks(), which waits for tasks
 * that were preempted inside a replacement.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>

#include "../base/enabled.h"
#include "../base/hook.h"
#include "callstack.h"
#include "../compat/unwind.h"
#include "stack_event.h"
#include "takeover.h"
#include "valid_regs.h"

/*
 * Returns whether this module walks the current task's stack. Counts each
 * request of a task whose process is not registered.
 */
static __always_inline bool ours(const struct pt_regs *regs)
{
	bool known;

	if (kunwind_callstack_excluded(regs) != KUNWIND_COMPLETE)
		return false;
	preempt_disable_notrace();
	known = kunwind_space_find(current->mm);
	preempt_enable_notrace();
	if (likely(known))
		return true;
	kunwind_callstack_passed();
	return false;
}

/*
 * All replacements walk from task_pt_regs(): perf passes its own registers if
 * the event hit user mode, but these lie at the same place.
 */
static __always_inline void take(struct kunwind_space *space, const struct pt_regs *regs,
				 unsigned long *store, u32 size, u32 *count)
{
	struct kunwind_request request = {
		.consumer = KUNWIND_FOR_TRACERS, .store = store, .capacity = size,
	};
	u32 valid = kunwind_valid_regs(regs);

	if (kunwind_stack_event_wanted() &&
	    kunwind_stack_event(space, regs, valid, store, size, count))
		return;
	kunwind_callstack_walk(space, regs, valid, &request);
	*count = request.count;
}

/*
 * Returns the space of the current task. NULL: after the hook's check, the
 * process was unregistered, or walks were switched off. Preemption is off.
 */
static __always_inline struct kunwind_space *space_now(void)
{
	return likely(kunwind_allowed()) ? kunwind_space_find(current->mm) : NULL;
}

static notrace unsigned int save_user(unsigned long *store, unsigned int size)
{
	const struct pt_regs *regs = task_pt_regs(current);
	struct kunwind_space *space;
	u32 count = 0;

	if (!size)
		return 0;
	preempt_disable_notrace();
	space = space_now();
	if (likely(space)) {
		take(space, regs, store, size, &count);
	} else {
		store[0] = regs->ip;
		count = 1;
	}
	preempt_enable_notrace();
	return count;
}

static notrace void callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	struct perf_callchain_entry *entry = ctx->entry;
	struct kunwind_space *space;
	u32 count = 0;

	if (ctx->contexts_maxed || ctx->nr >= ctx->max_stack)
		return;
	preempt_disable_notrace();
	space = space_now();
	if (likely(space))
		take(space, regs, (unsigned long *)&entry->ip[entry->nr],
		     ctx->max_stack - ctx->nr, &count);
	else
		perf_callchain_store(ctx, regs->ip);
	preempt_enable_notrace();
	entry->nr += count;
	ctx->nr += count;
}

/*
 * Replaces unwind_user(). Runs in task work, on the way back to user mode, with
 * at most 510 entries. The kernel's function may sleep to read the stack; here
 * the stack ends at a page that is not resident.
 */
static notrace int unwind(struct unwind_stacktrace *trace, unsigned int max_entries)
{
	trace->nr = save_user(trace->entries, max_entries);
	return max_entries ? 0 : -EINVAL;
}

/* If the prototype of a hooked function changes, this file must not compile. */
static_assert(__same_type(&save_user, &stack_trace_save_user));
static_assert(__same_type(&callchain_user, &perf_callchain_user));
static_assert(__same_type(&unwind, &unwind_user));

static notrace void on_save_user(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ours(task_pt_regs(current)))
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)save_user);
}

static notrace void on_callchain_user(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ours((const struct pt_regs *)ftrace_regs_get_argument(fregs, 1)))
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)callchain_user);
}

static notrace void on_unwind(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ours(task_pt_regs(current)))
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)unwind);
}

static struct kunwind_hook hooks[] = {
	{ .function = "stack_trace_save_user", .call = on_save_user, .redirects = true },
	{ .function = "perf_callchain_user", .call = on_callchain_user, .redirects = true },
	/* last, because not every kernel has this function */
	{ .function = "unwind_user", .call = on_unwind, .redirects = true },
};
#define NR_HOOKS	(ARRAY_SIZE(hooks) - !KUNWIND_HAS_UNWIND_USER)

static const u64 features[] = {
	KUNWIND_F_TAKEOVER_STACK, KUNWIND_F_TAKEOVER_PERF, KUNWIND_F_TAKEOVER_DEFERRED,
};

void kunwind_takeover_init(void)
{
	const struct kunwind_hook *hook;

	if (kunwind_hook_missing() || !kunwind_hooks_enable(hooks, NR_HOOKS))
		return;
	for (hook = hooks; hook < hooks + NR_HOOKS; hook++)
		if (hook->error)
			pr_notice("%s is not taken over: %s\n", hook->function,
				  kunwind_hook_refusal(hook));
}

bool kunwind_takeover_exit(void)
{
	return kunwind_hooks_disable(hooks, NR_HOOKS);
}

void kunwind_takeover_show(struct seq_file *m)
{
	kunwind_hooks_show(m, hooks, NR_HOOKS, "a required hook is refused");
}

u64 kunwind_takeover_features(void)
{
	u64 on = 0;
	unsigned int i;

	for (i = 0; i < NR_HOOKS; i++)
		if (hooks[i].on)
			on |= features[i];
	return on;
}
