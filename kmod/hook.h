/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hook.h - ftrace hooks on kernel functions, by name
 *
 * Two kinds: a plain one observes a call with its arguments; a redirecting one
 * (FTRACE_OPS_FL_IPMODIFY) may send the call to another function. A hook is
 * optional: when the kernel refuses it, the reason is kept for the status.
 */
#ifndef _KUNWIND_HOOK_H
#define _KUNWIND_HOOK_H

#include "compat/ftrace.h"

struct seq_file;

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

/* May sleep. 0, or the negative errno that is also kept in hook->error. */
int kunwind_hook_enable(struct kunwind_hook *hook);

/*
 * May sleep: waits until no task is in the hook's trampoline. An error other
 * than 0 means that ftrace would not let go: hook->stuck is set then.
 */
int kunwind_hook_disable(struct kunwind_hook *hook);

void kunwind_hook_show(struct seq_file *m, const struct kunwind_hook *hook);

#endif /* _KUNWIND_HOOK_H */
