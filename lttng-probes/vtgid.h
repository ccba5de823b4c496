/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vtgid.h - a process's number in its own pid namespace
 */
#ifndef _KUNWIND_VTGID_H
#define _KUNWIND_VTGID_H

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>

/*
 * Returns the number of @tgid (of the initial namespace) in its own namespace,
 * or 0 if the process has gone. Any context.
 */
static inline pid_t kunwind_vtgid(pid_t tgid)
{
	struct pid *pid;
	pid_t nr = 0;

	rcu_read_lock();
	pid = find_pid_ns(tgid, &init_pid_ns);
	if (pid)
		nr = pid->numbers[pid->level].nr;
	rcu_read_unlock();
	return nr;
}

#endif /* _KUNWIND_VTGID_H */
