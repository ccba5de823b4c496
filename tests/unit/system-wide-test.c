/* SPDX-License-Identifier: MIT */
/*
 * system-wide-test.c - registration of the whole system (system_wide): which
 * processes are registered, which are tried again, and how far one user's
 * ending processes delay other users
 *
 * The test runs passes of the work item and unmaps explicitly. Quotas are the
 * module's own; kunwind_process_adopt() is replaced.
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define PIDTYPE_TGID		1
#define THIS_MODULE		NULL
#define mm_users		users
#define atomic_add_unless(p, n, unless)	(atomic_add_unless)((atomic_t *)(p), n, unless)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define for_each_thread(leader, t)	for ((t) = (leader); (t); (t) = NULL)
#define task_lock(task)		((void)(task))
#define task_unlock(task)	((void)(task))
#define wait_event_killable_timeout(queue, condition, timeout)			\
	(wait_event_timeout(queue, condition, timeout) ? left_of_wait : 0L)
static const long left_of_wait = 37;
#define pr_warn(text)		((void)(warned++))

struct pid { int nr, refs; struct task_struct *task; };
static unsigned int warned;
static int module_refs;
static bool going;			/* the module is being unloaded */
static bool try_module_get(void *module) { (void)module; return !going && ++module_refs; }
static void module_put(void *module) { (void)module; module_refs--; }

/* A process of one thread. */
struct one {
	struct task_struct task;
	struct pid pid;
	struct cred cred;
	struct mm_struct mm;
	int answer;			/* what kunwind_process_adopt() returns */
	bool ends;			/* while its mappings are read */
	unsigned int tries, reads;
	bool last;			/* the list of processes ends here */
};
#define ONE(of)			container_of(of, struct one, task)
#define task_tgid(of)		(&ONE(of)->pid)
#define pid_task(pid, type)	((pid)->task)
static struct pid *get_pid(struct pid *pid) { pid->refs++; return pid; }
static void put_pid(struct pid *pid) { pid->refs--; }

#define NR	100
static struct one all[NR];
static unsigned int nr_all;
#define for_each_process(of)							\
	for ((of) = &all[0].task; ONE(of) < &all[nr_all]; (of) = &ONE(of)[1].task)	\
		if (!ONE(of)->pid.task) { } else

#define _KUNWIND_ENABLED_H
static bool kunwind_enabled;
static bool kunwind_allowed(void) { return kunwind_enabled; }

#include "../../kmod/base/quota.c"
#include "../../kmod/process/process_memory.c"
#include "../../kmod/process/system_wide.c"

/* --------------------------- functions of other files that these files call */

static bool whole;
static unsigned int disowned;
void kunwind_process_whole_system(bool on) { whole = on; }
static struct kunwind_process_record *last_ended, *const some_record = (void *)&disowned;

struct kunwind_process_record *kunwind_process_disown(void)
{
	disowned++;
	return some_record;
}

void kunwind_process_ended(struct kunwind_process_record *list)
{
	if (list)
		emits();
	last_ended = list;
}
unsigned long kunwind_process_timeout(void) { return 100; }
static unsigned long settle_timeout;
static int settle_error;
int kunwind_space_settle(unsigned long timeout)
{
	might_sleep();
	settle_timeout = timeout;
	return settle_error;
}
int kunwind_process_adopt(struct mm_struct *mm, struct pid *tgid, bool read)
{
	struct one *one = container_of(tgid, struct one, pid);

	one->tries++;
	one->reads += read;
	if (read && mm->users < 2 && one->pid.task)
		abort();		/* system_wide must hold a reference to the mm */
	if (!read)
		return -EAGAIN;
	if (one->ends) {
		one->pid.task = NULL;
		one->task.mm = NULL;
		mm->users--;
	}
	return one->answer;
}

/* --------------------------------------------------------------- the scene */

#define ANN	1001
#define BOB	1002

static struct one me;

static struct one *starts(u32 uid)
{
	struct one *one = &all[nr_all++];

	*one = (struct one){
		.cred = { &init_user_ns, { uid }, uid ? 0 : 1ULL << CAP_SYS_ADMIN },
		.pid = { .nr = nr_all, .task = &one->task },
		.mm = { .users = 1 },
		.task = { .cred = &one->cred, .pid_ns = &init_pid_ns, .mm = &one->mm },
	};
	return one;
}

/* Runs one pass of the work item. Returns false if none is queued. */
static bool passes(void)
{
	if (!adopter.queued)
		return false;
	adopter.queued = false;
	adopter.work.run(&adopter.work);
	return true;
}

/*
 * For a waiting task: passes run until its request is done, or none is queued.
 */
static void waits(void)
{
	while (!adopted_since(nr_asked) && passes())
		;
}

static unsigned int pending(void)
{
	struct seq_file m = { .used = 0 };

	kunwind_system_wide_show(&m);
	return atoi(strstr(m.text, "system_wide_pending\t") + strlen("system_wide_pending\t"));
}

static void begin(void)
{
	memset(all, 0, sizeof(all));
	nr_all = 0;
	me = (struct one){ .cred = { &init_user_ns, { 0 }, 1ULL << CAP_SYS_ADMIN } };
	me.task = (struct task_struct){ .cred = &me.cred, .pid_ns = &init_pid_ns };
	current = &me.task;
	kunwind_enabled = true;
	going = false;
	phase = LOADING;
	wanted = false;
	system_wide_on = whole = false;
	while_waiting = waits;
	kunwind_process_memory_init();
	kunwind_system_wide_init();
	kunwind_system_wide_start();
}

static void end(const char *what)
{
	unsigned int i;
	int held = 0;

	while (run_work())
		;
	kunwind_system_wide_exit();
	kunwind_process_memory_exit();
	for (i = 0; i < nr_all; i++)
		held += all[i].pid.refs + all[i].mm.grabbed + (all[i].mm.users != !!all[i].task.mm);
	tap_ok(!held && !module_refs && !nr_ended.n, "%s: all references are released", what);
}

static unsigned int shares_of(u32 uid)
{
	const struct kunwind_quota *quota;
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(quotas); i++)
		hlist_for_each_entry(quota, &quotas[i], node)
			if (quota->key.uid.val == uid)
				n += quota->shares[KUNWIND_SHARE_UNMAP];
	return n;
}

/* ------------------------------------------------------------------- tests */

static void test_running(void)
{
	struct one *ann, *bob, *kthread, *ended;

	begin();
	ann = starts(ANN);
	bob = starts(BOB);
	kthread = starts(0);
	kthread->task.flags = PF_KTHREAD;
	ended = starts(ANN);
	ended->task.mm = NULL;
	ended->mm.users = 0;
	tap_ok(!kunwind_system_wide_set(true) && whole, "on: the hooks register new processes");
	tap_ok(ann->tries == 1 && ann->reads == 1 && bob->reads == 1,
	       "on: each running process is registered and read once");
	tap_ok(!kthread->tries && !ended->tries, "on: kernel threads and ended processes are not tried");
	tap_ok(!pending() && !adopter.queued, "on: nothing is left to do");
	starts(ANN);
	tap_ok(!kunwind_system_wide_set(true) && all[4].reads == 1 && ann->reads == 2,
	       "on again: each running process is tried again");
	tap_ok(!kunwind_system_wide_set(false) && !whole && disowned == 1 && last_ended == some_record,
	       "off: system_wide's registrations are removed");
	passes();
	tap_ok(ann->tries == 2 && !adopter.queued, "off: no process is tried");
	/* what is left of the timeout after the processes are registered */
	tap_ok(!kunwind_system_wide_set(true) && settle_timeout == left_of_wait,
	       "on: the wait for tables has the rest of the timeout");
	settle_error = -EINTR;
	tap_ok(kunwind_system_wide_set(true) == -EINTR, "a fatal signal while it waits for tables: EINTR");
	settle_error = 0;
	nr_asked = nr_listed = nr_adopted = U32_MAX;
	ann->reads = 0;
	tap_ok(!kunwind_system_wide_set(true) && !nr_asked && ann->reads == 1,
	       "on for the 2^32nd time: the caller waits until the processes are registered");
	end("running");
}

static void test_again(void)
{
	struct one *stuck, *other, *full;
	unsigned long longest = 0;
	unsigned int i;

	begin();
	stuck = starts(ANN);
	other = starts(ANN);
	full = starts(ANN);
	stuck->answer = -EAGAIN;
	full->answer = -ENOSPC;
	tap_ok(!kunwind_system_wide_set(true) && other->reads == 1,
	       "mmap_lock taken: other processes are registered");
	tap_ok(pending() == 1 && adopter.queued, "mmap_lock taken: the process is pending");
	tap_ok(stuck->tries > 1 && full->tries == 1 && other->tries == 1,
	       "mmap_lock taken: the process is tried again; a refused one is not");
	for (i = 0; i < 20; i++) {
		passes();
		longest = max(longest, delay);
	}
	/* The next switch tries soon, not after the delay of the earlier one. */
	param_set("Y");
	passes();
	tap_ok(delay == DELAY_MIN && !adopted_since(nr_asked),
	       "on again while a process is pending: its tries begin anew");
	for (i = 0; i < 20; i++)
		passes();
	tap_ok(longest == DELAY_MAX && pending() == 1,
	       "mmap_lock stays taken: the process is tried at least once a second");
	i = stuck->tries;
	kunwind_enabled = false;
	passes();
	tap_ok(stuck->tries == i && adopter.queued, "kill switch: no process is tried");
	kunwind_enabled = true;
	stuck->answer = 0;
	passes();
	tap_ok(stuck->tries == i + 1 && !pending() && !adopter.queued,
	       "mmap_lock free again: the process is not pending any more");
	stuck->answer = -EAGAIN;
	kunwind_system_wide_set(true);
	kunwind_system_wide_set(false);
	tap_ok(!pending(), "off while a process is pending: none is pending");
	kunwind_system_wide_set(true);
	stuck->pid.task = NULL;
	stuck->task.mm = NULL;
	stuck->mm.users = 0;
	passes();
	tap_ok(!pending() && !adopter.queued,
	       "mmap_lock taken: a process that has ended is not pending any more");
	end("again");

	begin();
	other = starts(ANN);
	no_memory = 1;		/* for the list of processes */
	param_set("Y");
	passes();
	tap_ok(!other->tries && pending() && adopter.queued && !adopted_since(nr_asked),
	       "no memory for the list of processes: the list is made later");
	passes();
	tap_ok(other->reads == 1 && !pending(), "memory for the list of processes again: all are registered");
	kunwind_system_wide_set(false);
	param_set("Y");
	adopter.queued = false;
	list_processes();
	no_memory = 1;
	adopt_waiting();
	tap_ok(other->tries == 1 && nr_waiting == 1, "no memory for one process: that process stays pending");
	adopt_waiting();
	tap_ok(other->tries == 2 && !nr_waiting,
	       "memory for one process again: it is registered");
	end("no memory");
}

static void test_unmap(void)
{
	unsigned int i, anns = 0, unread = 0;
	struct one *bob;

	begin();
	for (i = 0; i < 70; i++)
		starts(ANN)->ends = true;
	bob = starts(BOB);
	bob->ends = true;
	kunwind_system_wide_set(true);
	for (i = 0; i < 70; i++) {
		anns += !all[i].pid.task;
		unread += all[i].tries && !all[i].reads;
	}
	tap_ok(anns == ENDED_MAX / 2 && shares_of(ANN) == anns && nr_works == anns + 1,
	       "unmaps: one user's ending processes have at most half of them: %u", anns);
	tap_ok(anns + unread == 70,
	       "unmaps: the user's other processes are registered and not read: %u", unread);
	tap_ok(!bob->pid.task && bob->mm.users == 1 && shares_of(BOB) == 1,
	       "unmaps: one user has half of them: another user's process is read");
	tap_ok(pending() == unread && adopter.queued && module_refs == anns + 1,
	       "unmaps: processes that were not read are pending");
	for (i = 0; i < 10; i++)
		run_work();
	tap_ok(!all[0].mm.users && shares_of(ANN) == anns - 10 && nr_ended.n == anns + 1 - 10,
	       "unmaps: a finished unmap is not counted any more");
	passes();
	tap_ok(pending() < unread && shares_of(ANN) <= ENDED_MAX / 2,
	       "unmaps: after some of them, more processes are read");
	for (i = 0; i < 20 && adopter.queued; i++) {
		while (run_work())
			;
		passes();
	}
	tap_ok(!pending() && !adopter.queued, "unmaps: after all of them, no process is pending");
	for (i = 0; i < 70 && all[i].reads == 1; i++)
		;
	tap_ok(i == 70, "unmaps: after all of them, each process was read once");
	end("unmaps");
	tap_ok(!shares_of(ANN) && !shares_of(BOB), "unmaps: after all of them, no user's share has any");

	begin();
	starts(0)->ends = true;
	for (i = 0; i < 70; i++)
		starts(0)->ends = true;
	kunwind_system_wide_set(true);
	tap_ok(nr_ended.n == ENDED_MAX && pending() == 71 - ENDED_MAX,
	       "unmaps: root's ending processes may use all");
	end("root's unmaps");

	begin();
	for (i = 0; i < 40; i++)
		starts(ANN);
	kunwind_system_wide_set(true);
	tap_ok(!pending() && !shares_of(ANN) && !nr_works,
	       "unmaps: running processes need none, and use no share");
	going = true;
	starts(ANN)->ends = true;
	kunwind_system_wide_set(true);
	tap_ok(!nr_works && !all[40].mm.users && !shares_of(ANN),
	       "module unload: the kernel's own work item unmaps the process");
	end("module unload");
}

static void test_switch(void)
{
	begin();
	starts(ANN);
	tap_ok(param_set("Z") == -EINVAL && !system_wide_on,
	       "parameter: a value other than Y and N is refused");
	tap_ok(!param_set("Y") && system_wide_on && !all[0].tries,
	       "parameter: a write does not wait for processes");
	tap_ok(pending() == 1, "parameter: system_wide_pending is 1 until the list of processes is made");
	WRITE_ONCE(nr_pending, 2);
	tap_ok(pending() == 2, "parameter: with an earlier list, it is the number of processes on that list");
	WRITE_ONCE(nr_pending, 0);
	passes();
	kunwind_enabled = false;
	tap_ok(kunwind_system_wide_set(true) == -EOPNOTSUPP,
	       "kill switch: system_wide cannot be switched on");
	tap_ok(!param_set("N") && !system_wide_on && !whole,
	       "kill switch: system_wide can be switched off");
	end("switch");
	tap_ok(kunwind_system_wide_set(true) == -ENODEV && param_set("Y") == -ENODEV && !system_wide_on,
	       "module unload: system_wide cannot be switched on");

	begin();
	phase = LOADING;
	starts(ANN);
	tap_ok(!param_set("Y") && !system_wide_on && kunwind_system_wide_set(true) == -ENODEV,
	       "system_wide=1 at load: system_wide is not on before the module is loaded");
	kunwind_system_wide_start();
	tap_ok(system_wide_on && whole && passes() && all[0].reads == 1,
	       "system_wide=1 at load: system_wide is on once the module is loaded");
	end("at load");

	begin();
	phase = LOADING;
	param_set("Y");
	kunwind_enabled = false;
	warned = 0;
	kunwind_system_wide_start();
	tap_ok(!system_wide_on && warned == 1,
	       "system_wide=1 enabled=N at load: system_wide stays off, the log has a warning");
	end("disabled at load");
}

int main(void)
{
	test_running();
	test_again();
	test_unmap();
	test_switch();
	return tap_done();
}
