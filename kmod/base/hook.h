/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hook.h - ftrace hooks on kernel functions, by name; tracepoints by name
 *
 * There are two kinds of hooks. A plain hook observes a call and its arguments.
 * A redirecting hook (FTRACE_OPS_FL_IPMODIFY) may send the call to another
 * function of the same prototype.
 *
 * ftrace finds a function by its name, so the compiler never sees the call.
 * KUNWIND_HOOK1() and KUNWIND_HOOK2() make the compiler check the prototype all
 * the same: they take the hooked function's types, compare them with the
 * declaration in the kernel's header, and fetch each argument as that type. If
 * a kernel update changes the prototype, the module does not build.
 */
#ifndef _KUNWIND_HOOK_H
#define _KUNWIND_HOOK_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <asm/syscall.h>

#include "../compat/ftrace.h"

struct seq_file;
struct tracepoint;
struct kunwind_hook;

struct kunwind_hook {
	const char *function;		/* its name in kallsyms */
	void (*call)(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs);
	bool redirects;			/* IPMODIFY */
	bool on;
	bool stuck;			/* unregistering failed: the module must stay */
	bool lost;			/* was called where its handler cannot run */
	int error;			/* of registration: 0 or negative errno */
	struct ftrace_ops ops;
};

/*
 * The first required hook that was refused, the last one that was lost, or a
 * dummy while the module is unloaded; NULL: none. Written by the module's init
 * and exit, and when a hook is lost.
 */
extern const struct kunwind_hook *kunwind_hooks_first_missing;

/*
 * True if a stack could be wrong, because a required hook is missing. Any
 * context.
 */
static __always_inline bool kunwind_hook_missing(void)
{
	return unlikely(READ_ONCE(kunwind_hooks_first_missing));
}

/*
 * Called where a plain hook cannot run: ends all walks and registrations
 * (hook.c).
 */
void kunwind_hook_lose(struct ftrace_ops *ops);

static __always_inline bool __kunwind_hook_usable(struct ftrace_ops *ops)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) || likely(preemptible()))
		return true;
	kunwind_hook_lose(ops);
	return false;
}

#define __KUNWIND_HOOK(function, arguments, ...)					\
	static __always_inline void on_##function arguments;				\
	static void notrace call_##function(unsigned long ip, unsigned long parent_ip,	\
					    struct ftrace_ops *ops,			\
					    struct ftrace_regs *fregs)			\
	{										\
		if (__kunwind_hook_usable(ops))						\
			on_##function(__VA_ARGS__);					\
	}										\
	static __always_inline void on_##function arguments

#define __KUNWIND_ARGUMENT(type, n)	((type)ftrace_regs_get_argument(fregs, n))

/*
 * Defines the handler of a plain, required hook on void @function(type1 arg1);
 * the body follows the macro. The handler runs at the first instruction of
 * @function, in its context. It must not sleep, because preemption may be off
 * (except on PREEMPT_RT).
 */
#define KUNWIND_HOOK1(function, type1, arg1)						\
	static_assert(__same_type(function, void (type1)));				\
	__KUNWIND_HOOK(function, (type1 arg1), __KUNWIND_ARGUMENT(type1, 0))

/* The same for void @function(type1 arg1, type2 arg2). */
#define KUNWIND_HOOK2(function, type1, arg1, type2, arg2)				\
	static_assert(__same_type(function, void (type1, type2)));			\
	__KUNWIND_HOOK(function, (type1 arg1, type2 arg2),				\
		       __KUNWIND_ARGUMENT(type1, 0), __KUNWIND_ARGUMENT(type2, 1))

/*
 * The same for the entry of a system call, which no header declares: all have
 * the prototype of the entries of sys_call_table.
 */
#define KUNWIND_HOOK_SYSCALL(function, regs)						\
	static_assert(__same_type(*(sys_call_ptr_t)NULL, long (const struct pt_regs *))); \
	__KUNWIND_HOOK(function, (const struct pt_regs *regs),				\
		       __KUNWIND_ARGUMENT(const struct pt_regs *, 0))

/* The entry of such a hook in an array of struct kunwind_hook. */
#define KUNWIND_HOOK_ENTRY(name)	{ .function = #name, .call = call_##name }

/*
 * Enables those of @hooks that the kernel allows; hook->error says why a hook
 * is refused. May sleep. Returns the first refused hook, or NULL.
 */
const struct kunwind_hook *kunwind_hooks_enable(struct kunwind_hook *hooks, unsigned int nr);

/*
 * The same for hooks without which stacks could be wrong. If one is refused,
 * the log says so once, no process can be registered, and
 * kunwind_takeover_init() enables no hook. May sleep. Only for the module's
 * init.
 */
void kunwind_hooks_require(struct kunwind_hook *hooks, unsigned int nr);

/*
 * Removes @hooks, and waits until no task is in one of their trampolines. May
 * sleep. False: ftrace did not remove a hook (hook->stuck), and the module must
 * stay.
 */
bool __must_check kunwind_hooks_disable(struct kunwind_hook *hooks, unsigned int nr);

/*
 * Call this before the required hooks are removed: kunwind_hook_missing() is
 * true from now on. Walks that have begun end within an RCU grace period.
 */
void kunwind_hooks_retire(void);

/* Returns what hook->error means, in a few words. */
const char *kunwind_hook_refusal(const struct kunwind_hook *hook);

/* Returns the kernel's tracepoint (no module's) of that name, or NULL. */
struct tracepoint *kunwind_tracepoint_find(const char *name);

/*
 * Prints status lines. @why: why hooks that were never enabled are off, or "".
 */
void kunwind_hooks_show(struct seq_file *m, const struct kunwind_hook *hooks, unsigned int nr,
			const char *why);

#endif /* _KUNWIND_HOOK_H */
