/* SPDX-License-Identifier: MIT */
/*
 * process-scene.h - for tests of registered processes: includes the files of
 * kmod that keep processes, and has processes of two users that fork, exec and
 * end
 *
 * The hooks are called in the kernel's order. Spaces and quotas are the
 * module's own. The mappings of a space are not read.
 */
#ifndef _TEST_PROCESS_SCENE_H
#define _TEST_PROCESS_SCENE_H

#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define CAP_SYS_PTRACE		19
#define PIDTYPE_PID		0
#define PIDTYPE_TGID		1
#define BINPRM_FLAGS_ENFORCE_NONDUMP	1
#define hash_ptr(p, bits)	hash_long((u64)(uintptr_t)(p), bits)
#define msecs_to_jiffies(ms)	((ms) / 4)
#define call_rcu(head, fn)	fn(head)	/* there are no readers */
#define atomic_read(p)		(*(p))
/* With an LSM, a refusal of capable() is a line in the audit log. */
static unsigned int audited;
#define ns_capable_noaudit(ns, cap)						\
	((ns) == &init_user_ns && cap_raised(current->cred->cap_effective, cap))
#define capable(cap)								\
	({ bool may_ = ns_capable_noaudit(&init_user_ns, cap); audited += !may_; may_; })
#define current_uid()		(current->cred->uid)
#define for_each_thread(leader, t)	for ((t) = (leader); (t); (t) = NULL)

struct signal_struct { int live; };
struct linux_binprm { bool secureexec; unsigned int interp_flags; };
struct pid { int nr, refs; struct task_struct *task; };

/* A process of one thread. exec switches between its two mms. */
struct one {
	struct task_struct task;
	struct pid pid;
	struct cred cred;
	struct signal_struct signal;
	struct mm_struct mm[2];
};
#define ONE(of)			container_of(of, struct one, task)
#define task_tgid(of)		(&ONE(of)->pid)
#define pid_task(pid, type)	((pid)->task)
#define pid_nr(pid)		((pid)->nr)
#define pid_nr_ns(pid, ns)	((void)(ns), (pid)->nr)
static struct pid *get_pid(struct pid *pid) { pid->refs++; return pid; }
static void put_pid(struct pid *pid) { pid->refs--; }

/* Each hook is a function named after the function that it hooks. */
#define _KUNWIND_HOOK_H
struct kunwind_hook { const char *function; };
#define KUNWIND_HOOK1(name, type, arg)		static void hook_##name(type arg)
#define KUNWIND_HOOK_ENTRY(name)		{ #name }
#define kunwind_hooks_require(hooks, nr)	((void)(hooks))
#define kunwind_hooks_disable(hooks, nr)	((void)(hooks), true)
#define kunwind_hooks_show(m, hooks, nr, why)	((void)(hooks))

#define _KUNWIND_EVENTS_H
#define _KUNWIND_MAP_EVENT_H
static int forked, executed, exited;		/* pids of the last events */
static void trace_kunwind_fork(int parent, int child);
#define _KUNWIND_EMIT_H
#define KUNWIND_EMIT(event, ...)		(emits(), trace_##event(__VA_ARGS__))
static unsigned int nr_exited;
static void trace_kunwind_exec(int tgid, const char *comm);
#define trace_kunwind_exit(tgid)		(nr_exited++, exited = (tgid))
#define kunwind_trace_map(tgid, range, detail)	(emits(), (void)(tgid))

#define _KUNWIND_SHOW_H
static bool kunwind_show_ends(struct seq_file *m) { (void)m; return false; }

#include "../../kmod/object/object.h"
#include "../../kmod/base/memory_limit.h"
#include "../../kmod/base/quota.c"
#include "../../kmod/space/snapshot.c"
#include "../../kmod/space/reap.c"
#include "../../kmod/space/changed.c"
#include "../../kmod/space/invalidate.c"
#include "../../kmod/space/space.c"
#undef HASH_BITS
#define bucket			record_bucket	/* space.c has one of its own */
#include "../../kmod/process/process_record.c"
#include "../../kmod/process/process.c"
#define kunwind_space_find(mm)	in_rcu((kunwind_space_find)(mm))

/* --------------------------------- functions of other files that these call */

struct kunwind_object kunwind_object_anonymous = { .users = REFCOUNT_INIT(1) };
void kunwind_object_put(struct kunwind_object *object) { (void)object; }
void kunwind_name_put(struct kunwind_name *name) { (void)name; }
int kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes)
{
	(void)quota, (void)bytes;
	return 0;
}
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes) { (void)quota, (void)bytes; }
void kunwind_memory_refused(void) { }
int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	(void)quota, (void)bytes;
	return 0;
}
#include "memory.h"
void kunwind_result_listen(const struct kunwind_result_listener *listener) { (void)listener; }
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	(void)object;
	return KUNWIND_NO_TABLE;
}
static struct task_struct *follower;		/* the last task asked to read its mappings */
static enum kunwind_read_cause follow_why;
static bool no_follow;
bool kunwind_mm_hooks_queue(struct task_struct *task, enum kunwind_read_cause why)
{
	follower = task;
	follow_why = why;
	return !no_follow;
}

static void (*meanwhile)(void);		/* runs while a registration reads the mappings */
static int scan_error;
static struct { bool force, patient; unsigned long timeout; } scan;	/* the last one */
int kunwind_space_read_mappings(struct kunwind_space *space, struct mm_struct *mm, bool force,
				unsigned long timeout, bool patient)
{
	void (*what)(void) = meanwhile;

	might_sleep();
	if (space->mm != mm || nr_held)
		wrong("a space is read with another mm");
	scan.force = force;
	scan.patient = patient;
	scan.timeout = timeout;
	meanwhile = NULL;
	if (what)
		what();
	return scan_error;
}

/* --------------------------------------------------------------- the scene */

#define ROOT	(1ULL << CAP_SYS_ADMIN | 1ULL << CAP_SYS_PTRACE)
#define ANN	1001
#define BOB	1002
#define NR	24

static struct one all[NR];
static struct one *const nobody = &all[0];	/* the test's own task, never registered */

static pid_t named_at_fork;	/* whom kunwind_map of the child named at the last kunwind_fork */
static void trace_kunwind_fork(int parent, int child)
{
	const struct kunwind_space *space;
	unsigned int i;

	(void)parent;
	for (i = 0; i < NR && all[i].pid.nr != child; i++)
		;
	space = i < NR ? kunwind_space_find(all[i].task.mm) : NULL;
	named_at_fork = space ? space->tgid : -1;
	forked = child;
}

static bool spaced_at_exec;	/* the new mm had a space at the last kunwind_exec */
static void (*at_exec)(void);	/* what another task does then */
static void trace_kunwind_exec(int tgid, const char *comm)
{
	(void)comm;
	spaced_at_exec = kunwind_space_find(current->mm);
	executed = tgid;
	if (at_exec)
		at_exec();
	at_exec = NULL;
}

/* Starts process @n of user @uid, without a parent (helper: clear .mm). */
static struct one *start(unsigned int n, u32 uid, u64 caps)
{
	struct one *one = &all[n];

	memset(one, 0, sizeof(*one));
	one->cred = (struct cred){ &init_user_ns, { uid }, caps };
	one->signal.live = 1;
	one->pid = (struct pid){ .nr = 100 + n, .task = &one->task };
	one->task = (struct task_struct){
		.cred = &one->cred, .pid_ns = &init_pid_ns, .mm = &one->mm[0],
		.pid = 100 + n, .tgid = 100 + n, .comm = "", .signal = &one->signal,
	};
	one->mm[0].owner = one->mm[1].owner = &one->task;
	return one;
}

static void be(struct one *one) { current = &one->task; }

static struct one *forks(struct one *parent, unsigned int n)
{
	struct one *child = start(n, parent->cred.uid.val, parent->cred.cap_effective);

	be(parent);
	under_mmap_lock(parent->task.mm, kunwind_space_dup(parent->task.mm, child->task.mm));
	hook_perf_event_fork(&child->task);
	return child;
}

static const struct linux_binprm usual, secure = { .secureexec = true };
static const struct linux_binprm unreadable = { .interp_flags = BINPRM_FLAGS_ENFORCE_NONDUMP };

/* @one execs a program, and then runs as user @uid with @caps. */
static void executes_as(struct one *one, u32 uid, u64 caps, struct linux_binprm bprm)
{
	struct mm_struct *old = one->task.mm;

	be(one);
	one->cred.uid.val = uid;
	one->cred.cap_effective = caps;
	one->task.mm = old == &one->mm[0] ? &one->mm[1] : &one->mm[0];
	hook_setup_new_exec(&bprm);
	if (old)
		kunwind_space_forget(old);
	hook_proc_exec_connector(&one->task);
}

static void ends(struct one *one)
{
	struct mm_struct *old = one->task.mm;

	be(one);
	one->signal.live = 0;
	one->task.mm = NULL;
	hook_exit_files(&one->task);
	one->pid.task = NULL;
	if (old)
		kunwind_space_forget(old);
}

/* Process @by registers process @one. */
static int registers(struct one *by, struct one *one, u32 flags)
{
	u32 maps, ready;

	be(by);
	return kunwind_process_register(one->task.mm, &one->pid, flags, &maps, &ready);
}

static int unregisters(struct one *by, struct one *one)
{
	be(by);
	return kunwind_process_unregister(&one->pid);
}

/*
 * Switches system_wide on or off; processes that already run are not
 * registered.
 */
static void switches(bool on)
{
	be(nobody);
	kunwind_process_whole_system(on);
	if (!on)
		kunwind_process_ended(kunwind_process_disown());
}

/* Returns the flags that the status shows for @one; "absent" if not listed. */
static const char *told(struct one *one, bool to_all, u32 uid)
{
	static struct seq_file m;
	static char flags[32];
	char start[32];
	const char *p;

	m.used = 0;
	m.text[0] = '\0';
	kunwind_process_show(&m, &init_pid_ns, KUIDT_INIT(uid), to_all);
	snprintf(start, sizeof(start), "process\t%d\t", one->pid.nr);
	p = strstr(m.text, start);
	if (!p || sscanf(p + strlen(start), "\t%*u\t%31s", flags) != 1)
		return "absent";
	return flags;
}

static bool is(struct one *one, const char *want)
{
	const char *got = told(one, true, 0);
	bool same = !strcmp(got, want);

	if (!same)
		printf("# process %d: %s, not %s\n", one->pid.nr, got, want);
	return same;
}

static bool sees(u32 uid, struct one *one) { return strcmp(told(one, false, uid), "absent"); }

/* Returns how many registrations user @uid has: by hand, or by system_wide. */
static unsigned int count_of(u32 uid, bool by_hand)
{
	const struct kunwind_quota *quota;
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(quotas); i++)
		hlist_for_each_entry(quota, &quotas[i], node)
			if (quota->key.uid.val == uid)
				n += by_hand ? quota->processes : quota->shares[KUNWIND_SHARE_RECORD];
	return n;
}
#define shares_of(uid)		count_of(uid, false)
#define by_hand_of(uid)		count_of(uid, true)

static unsigned long long missed_by_limit(void)
{
	struct kunwind_stats stats;

	kunwind_process_stats(&stats);
	return stats.missed_limit;
}

static unsigned long long missed_by_memory(void)
{
	struct kunwind_stats stats;

	kunwind_process_stats(&stats);
	return stats.missed_memory;
}

static void begin(void)
{
	start(0, 0, ROOT);
	max_processes = 100;
	max_user_processes = 10;
	scan_error = 0;
	no_follow = false;
	forked = executed = exited = nr_exited = 0;
	follower = NULL;
}

static void end(const char *what)
{
	int refs = 0, grabbed = 0;
	unsigned int i;

	switches(false);
	for (i = 0; i < NR; i++)
		if (all[i].pid.task)
			ends(&all[i]);
	for (i = 0; i < 10 && !llist_empty(&reaped); i++)
		flush_delayed_work(&reap_work);
	for (i = 0; i < NR; i++) {
		refs += all[i].pid.refs;
		grabbed += all[i].mm[0].grabbed + all[i].mm[1].grabbed;
	}
	tap_ok(!kunwind_process_any() && !refs && !grabbed && !shares_of(ANN) && !shares_of(BOB) &&
	       !by_hand_of(ANN) && !by_hand_of(BOB) && !by_hand_of(0),
	       "%s: all records, references and shares are released", what);
}

#endif /* _TEST_PROCESS_SCENE_H */
