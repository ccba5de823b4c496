// SPDX-License-Identifier: GPL-2.0-only
/*
 * killer.c - kill each process of one name while kunwind registers it by system_wide
 *
 * A kprobe at the entry of kunwind_process_adopt(mm, pid, ...) kills the
 * process if its name is "comm" and other tasks also use its mm. The probe
 * spins, at most 5 s, until the caller has the last reference to the mm.
 * Parameter nr counts these processes.
 */
#include <linux/kprobes.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#define MOST	(5 * (u64)NSEC_PER_SEC)

static char *comm = "";
module_param(comm, charp, 0444);

static unsigned int nr;
module_param(nr, uint, 0444);

static int before(struct kprobe *p, struct pt_regs *regs)
{
	const struct mm_struct *mm = (const struct mm_struct *)regs->di;
	struct pid *pid = (struct pid *)regs->si;
	u64 end = ktime_get_mono_fast_ns() + MOST;
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (!task || strcmp(task->comm, comm))
		task = NULL;
	rcu_read_unlock();
	if (!task || atomic_read(&mm->mm_users) < 2)
		return 0;
	kill_pid(pid, SIGKILL, 1);
	while (atomic_read(&mm->mm_users) > 1 && ktime_get_mono_fast_ns() < end)
		cpu_relax();
	if (atomic_read(&mm->mm_users) == 1)
		WRITE_ONCE(nr, nr + 1);
	return 0;
}

static struct kprobe probe = { .pre_handler = before, .symbol_name = "kunwind_process_adopt" };

static int __init killer_init(void)
{
	return register_kprobe(&probe);
}

static void __exit killer_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(killer_init);
module_exit(killer_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kills processes of one name while kunwind registers them by system_wide");
