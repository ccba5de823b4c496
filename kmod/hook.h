/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hook.h - ftrace hooks on kernel functions, by name; tracepoints by name
 *
 * Two kinds: a plain one observes a call with its arguments; a redirecting one
 * (FTRACE_OPS_FL_IPMODIFY) may send the call to another function. A hook is
 * optional: when the kernel refuses it, the reason is kept for the status.
 */
#ifndef _KUNWIND_HOOK_H
#define _KUNWIND_HOOK_H

#include "compat/ftrace.h"

struct seq_file;
struct tracepoint;

struct kunwind_hook {
	const char *function;		/* in kallsyms */
	void (*call)(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs);
	bool redirects;			/* IPMODIFY */
	bool on;
	bool stuck;			/* unregistering failed: the module must stay */
	int error;			/* of registration, 0 or negative errno */
	struct ftrace_ops ops;
};

/*
 * Each of @hooks that the kernel allows; of another the log says once that the
 * function is not @done ("followed"), and hook->error why. May sleep.
 */
void kunwind_hooks_enable(struct kunwind_hook *hooks, unsigned int nr, const char *done);

/*
 * May sleep: waits until no task is in a trampoline of theirs. False: ftrace
 * would not let go of one (hook->stuck), and the module must stay.
 */
bool __must_check kunwind_hooks_disable(struct kunwind_hook *hooks, unsigned int nr);

/* The kernel's own tracepoint (no module's) of that name, or NULL. */
struct tracepoint *kunwind_tracepoint_find(const char *name);

void kunwind_hooks_show(struct seq_file *m, const struct kunwind_hook *hooks, unsigned int nr);

#endif /* _KUNWIND_HOOK_H */
