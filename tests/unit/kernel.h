/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - a replacement of those parts of the kernel that files of kmod use
 *
 * For unit tests of what these files count, compare and decide. There is one
 * thread. The kernel's own headers are empty files here (Makefile); a test
 * includes a file of kmod as a whole, after this one.
 *
 * The replacements check how they are called, as the kernel's debug options do,
 * and end the test with a message if that is wrong:
 * - kernel-context.h: locks, RCU, preemption, sleeping; a test calls what needs
 *   a read side or a lock by in_rcu() or with_lock()
 * - kernel-memory.h: flags and nodes of allocations; poison
 * - here: reference counts, removed list entries, work queues
 * They also keep the arguments that tests compare: allocated, waited_for,
 * grace_periods, delayed_work.delay and .queue, workqueues[].
 */
#ifndef _TEST_KERNEL_H
#define _TEST_KERNEL_H

#include <errno.h>
#include <linux/auxvec.h>
#include <linux/magic.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include <kunwind_deps.h>

#include "kernel-context.h"
#include "kernel-memory.h"

/* ------------------------------------------------------------ language */

#define __rcu
#define __percpu
#define __user
#define notrace
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define offsetofend(type, member)	(offsetof(type, member) + sizeof(((type *)0)->member))
#define BUILD_BUG_ON(x)			_Static_assert(!(x), #x)
#define clamp(x, lo, hi)		min(max(x, lo), hi)
#define max_t(type, a, b)		max((type)(a), (type)(b))
#define min_t(type, a, b)		min((type)(a), (type)(b))
#define check_add_overflow(a, b, sum)	__builtin_add_overflow(a, b, sum)
#define struct_size(p, member, n)	(sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define xchg(p, v)			__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define smp_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_mb()			__sync_synchronize()
#define smp_acquire__after_ctrl_dep()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()			__sync_synchronize()
#define MODULE_PARM_DESC(name, text)	extern int unused_desc_##name
#define EXPORT_SYMBOL_GPL(name)		extern int unused_export_##name
#define ERR_PTR(e)			((void *)(long)(e))
#define PTR_ERR(p)			((long)(p))
#define IS_ERR(p)			((unsigned long)(p) >= -4095UL)
#define U32_MAX				UINT32_MAX
#define U64_MAX				UINT64_MAX
#define AT_VECTOR_SIZE			48
#define AT_NULL				0
#define AT_BASE				7
#define AT_ENTRY			9
#define PAGE_SHIFT			12
#define PAGE_SIZE			4096UL
#define PAGE_ALIGN(x)			(((x) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define L1_CACHE_SHIFT			6

/* Returns the first byte that is not @c; NULL: there is none. */
static inline const void *memchr_inv(const void *p, int c, size_t size)
{
	const u8 *byte = p;

	for (; size; size--, byte++)
		if (*byte != (u8)c)
			return byte;
	return NULL;
}

/* --------------------------------------------------------------- atomic */

struct atomic64 { s64 n; };
#define atomic64_t			struct atomic64
#define ATOMIC64_INIT(i)		{ i }
static inline s64 atomic64_read(const atomic64_t *v) { return v->n; }
static inline void atomic64_add(s64 i, atomic64_t *v) { v->n += i; }
static inline void atomic64_sub(s64 i, atomic64_t *v) { v->n -= i; }
static inline void atomic64_inc(atomic64_t *v) { v->n++; }
static inline s64 atomic64_add_return(s64 i, atomic64_t *v) { return v->n += i; }
static inline s64 atomic64_sub_return(s64 i, atomic64_t *v) { return v->n -= i; }
static inline s64 atomic64_inc_return(atomic64_t *v) { return ++v->n; }

#define atomic_t			struct atomic
struct atomic { int n; };
#define ATOMIC_INIT(i)			{ i }
static inline int atomic_read(const atomic_t *v) { return v->n; }
static inline void atomic_set(atomic_t *v, int n) { v->n = n; }
static inline void atomic_inc(atomic_t *v) { v->n++; }
static inline void atomic_dec(atomic_t *v) { v->n--; }
static inline int atomic_dec_return(atomic_t *v) { return --v->n; }
static inline bool atomic_add_unless(atomic_t *v, int n, int unless)
{
	return v->n != unless && (v->n += n, true);
}

struct refcount { int n; };
#define refcount_t			struct refcount
#define REFCOUNT_INIT(i)		{ i }
static inline void refcount_set(refcount_t *r, int n) { r->n = n; }
static inline int refcount_read(const refcount_t *r) { return r->n; }
static inline void refcount_inc(refcount_t *r)
{
	if (r->n++ <= 0)
		wrong("the count was 0: use after free");
}
static inline bool refcount_inc_not_zero(refcount_t *r)
{
	if (r->n)
		r->n++;
	return r->n;
}
static inline bool refcount_dec_and_test(refcount_t *r)
{
	if (r->n <= 0)
		wrong("the count was 0");
	return !--r->n;
}
#define refcount_dec_and_lock(r, lock)						\
	({ bool last_ = refcount_dec_and_test(r); if (last_) spin_lock(lock); last_; })

static inline bool test_and_set_bit(unsigned int nr, unsigned long *word)
{
	bool was = *word >> nr & 1;

	*word |= 1UL << nr;
	return was;
}
static inline void clear_bit_unlock(unsigned int nr, unsigned long *word)
{
	if (!(*word >> nr & 1))
		wrong("bit %u is not set", nr);
	*word &= ~(1UL << nr);
}

/* ---------------------------------------------------------------- waits */

struct completion { bool done; };
static inline void init_completion(struct completion *c) { c->done = false; }
static inline void complete_all(struct completion *c) { c->done = true; }

/* The test sets what happens during a wait; then the wait times out. waited_for: the last timeout. */
struct wait_queue_head { unsigned int woken; };
#define DECLARE_WAIT_QUEUE_HEAD(name)	struct wait_queue_head name
#define wake_up_all(queue)		((queue)->woken++)
static void (*while_waiting)(void);
static unsigned int waits_left = 1000;
static long waited_for;
#define wait_event_timeout(queue, condition, timeout)				\
	({									\
		bool met_ = (condition);					\
										\
		might_sleep();							\
		waited_for = (timeout);						\
		if (!met_) {							\
			if (!while_waiting || !waits_left--)			\
				abort();	/* the wait would never end */	\
			while_waiting();					\
			met_ = (condition);					\
		}								\
		met_ ? 1L : 0L;							\
	})

/* ---------------------------------------------------------------- lists */

struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
#define LIST_HEAD_INIT(name)		{ &(name), &(name) }
#define LIST_HEAD(name)			struct list_head name = LIST_HEAD_INIT(name)
#define LLIST_HEAD(name)		struct llist_head name

static inline void INIT_LIST_HEAD(struct list_head *head) { head->next = head->prev = head; }
static inline bool list_empty(const struct list_head *head) { return head->next == head; }
static inline void list_add(struct list_head *new, struct list_head *head)
{
	new->next = head->next;
	new->prev = head;
	head->next->prev = new;
	head->next = new;
}
#define LIST_POISON			((void *)0x100)
static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	entry->next = entry->prev = LIST_POISON;
}
static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	list_add(new, head->prev);
}
#define list_first_entry_or_null(head, type, member)				\
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))
#define list_for_each_entry_safe(pos, n, head, member)				\
	for (pos = list_entry((head)->next, __typeof__(*pos), member),		\
	     n = list_entry(pos->member.next, __typeof__(*pos), member);	\
	     &pos->member != (head);						\
	     pos = n, n = list_entry(n->member.next, __typeof__(*pos), member))
#define list_entry(p, type, member)	container_of(p, type, member)
#define list_for_each_entry(pos, head, member)					\
	for (pos = list_entry((head)->next, __typeof__(*pos), member);		\
	     &pos->member != (head); pos = list_entry(pos->member.next, __typeof__(*pos), member))

static inline bool hlist_empty(const struct hlist_head *head) { return !head->first; }
static inline bool hlist_unhashed(const struct hlist_node *node) { return !node->pprev; }
static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	if (head->first)
		head->first->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}
/* Readers may still be at the node: it keeps its next. */
static inline void hlist_del_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	node->pprev = LIST_POISON;
}
static inline void hlist_del(struct hlist_node *node)
{
	hlist_del_rcu(node);
	node->next = LIST_POISON;
}
static inline void hlist_del_init(struct hlist_node *node)
{
	hlist_del(node);
	node->next = NULL;
	node->pprev = NULL;
}
#define hlist_add_head_rcu		hlist_add_head
#define hlist_entry_safe(p, type, member)					\
	({ __typeof__(p) p_ = (p); p_ ? container_of(p_, type, member) : NULL; })
#define hlist_for_each_entry(pos, head, member)					\
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member); pos;	\
	     pos = hlist_entry_safe(pos->member.next, __typeof__(*pos), member))
#define hlist_for_each_entry_rcu(pos, head, member, ...)			\
	if (({ need_rcu(rcu_read_lock_any_held() || (__VA_ARGS__ + 0)); 0; })) { } else	\
		hlist_for_each_entry(pos, head, member)
#define hlist_for_each_entry_rcu_notrace	hlist_for_each_entry_rcu
#define hlist_for_each_entry_safe(pos, n, head, member)				\
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);	\
	     pos && ({ n = pos->member.next; 1; });				\
	     pos = hlist_entry_safe(n, __typeof__(*pos), member))

static inline bool llist_add(struct llist_node *node, struct llist_head *head)
{
	node->next = head->first;
	head->first = node;
	return !node->next;
}
static inline struct llist_node *llist_del_all(struct llist_head *head)
{
	struct llist_node *first = head->first;

	head->first = NULL;
	return first;
}
static inline bool llist_empty(const struct llist_head *head) { return !head->first; }
#define llist_for_each_entry_safe(pos, n, first, member)			\
	for (pos = hlist_entry_safe(first, __typeof__(*pos), member);		\
	     pos && ({ n = hlist_entry_safe(pos->member.next, __typeof__(*pos), member); 1; }); \
	     pos = n)

#define GENMASK_ULL(hi, lo)		((~0ULL << (lo)) & (~0ULL >> (63 - (hi))))
#define BIT_ULL(n)			(1ULL << (n))
#define GOLDEN_RATIO_64		0x61C8864680B583EBULL
static inline u32 hash_32(u32 value, unsigned int bits) { return value * 0x61C88647U >> (32 - bits); }
static inline u32 hash_64(u64 value, unsigned int bits)
{
	return value * GOLDEN_RATIO_64 >> (64 - bits);
}
static inline u32 hash_long(u64 value, unsigned int bits) { return hash_64(value, bits); }
static inline u32 jhash_2words(u32 a, u32 b, u32 seed)
{
	return hash_64((hash_64(a ^ (u64)seed << 32, 64) ^ hash_64(a ^ (u64)seed << 32, 32) ^ b) *
		       GOLDEN_RATIO_64, 32);
}
static inline u32 jhash_1word(u32 a, u32 seed) { return jhash_2words(a, 0, seed); }
static u32 next_random = 7;
static inline u32 get_random_u32(void) { return next_random++; }

/* ------------------------------------------------------------ time, work */

#define HZ				250
#define NSEC_PER_USEC			1000L
#define USEC_PER_MSEC			1000L
#define NSEC_PER_MSEC			1000000L
#define NSEC_PER_SEC			1000000000L
static unsigned long jiffies = 1000;
static u64 now_ns = 1000000000;
static inline u64 ktime_get_ns(void) { return now_ns; }
static inline u64 ktime_get_mono_fast_ns(void) { return now_ns; }
#define time_after(a, b)		((long)((b) - (a)) < 0)
#define time_before(a, b)		time_after(b, a)
static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline unsigned long nsecs_to_jiffies(u64 ns) { return ns / (NSEC_PER_SEC / HZ); }

struct work_struct { void (*run)(struct work_struct *work); };
struct workqueue_struct;
struct delayed_work {
	struct work_struct work;
	struct workqueue_struct *queue;
	unsigned long delay;
	bool queued;
};
struct workqueue_struct { const char *name; int flags, most; bool gone; };
#define WQ_UNBOUND			2
#define WQ_FREEZABLE			4
#define WQ_UNBOUND_MAX_ACTIVE		512
#define MOST_WORKQUEUES			64
static struct workqueue_struct workqueues[MOST_WORKQUEUES];
static unsigned int nr_workqueues;
#define DECLARE_DELAYED_WORK(name, fn)	struct delayed_work name = { .work = { fn } }
static inline struct workqueue_struct *alloc_workqueue(const char *name, int flags, int most)
{
	might_sleep();
	if (nr_workqueues == MOST_WORKQUEUES)
		wrong("MOST_WORKQUEUES");
	workqueues[nr_workqueues] = (struct workqueue_struct){ name, flags, most, false };
	return &workqueues[nr_workqueues++];
}
/* A work that is queued stays so, with its first delay. */
static inline bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
				      unsigned long delay)
{
	if (!work->work.run)
		wrong("a work without a function");
	if (queue && queue->gone)
		wrong("queue %s was destroyed", queue->name);
	if (work->queued)
		return false;
	work->queue = queue;
	work->delay = delay;
	return work->queued = true;
}
static inline bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
				    unsigned long delay)
{
	const bool was = work->queued;

	work->queued = false;
	queue_delayed_work(queue, work, delay);
	return was;
}
static inline bool flush_delayed_work(struct delayed_work *work)
{
	const bool was = work->queued;

	might_sleep();
	work->queued = false;
	if (was)
		work->work.run(&work->work);
	return was;
}
static inline bool cancel_delayed_work_sync(struct delayed_work *work)
{
	const bool was = work->queued;

	might_sleep();
	work->queued = false;
	return was;
}
/* Work items in the order in which they were queued; the test runs them. */
#define MOST_WORKS			256
static struct { struct workqueue_struct *queue; struct work_struct *work; } works[MOST_WORKS];
static unsigned int nr_works;
#define INIT_WORK(work, fn)		((work)->run = (fn))
static inline bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	unsigned int i;

	if (!work->run)
		wrong("a work without a function");
	if (queue && queue->gone)
		wrong("queue %s was destroyed", queue->name);
	for (i = 0; i < nr_works; i++)
		if (works[i].work == work)
			return false;
	if (nr_works == MOST_WORKS)
		abort();
	works[nr_works].queue = queue;
	works[nr_works++].work = work;
	return true;
}
static inline void run_work_at(unsigned int i)
{
	struct work_struct *work = works[i].work;

	memmove(works + i, works + i + 1, (--nr_works - i) * sizeof(works[0]));
	work->run(work);
	might_sleep();			/* a work leaves nothing held */
}
static inline bool run_work(void)
{
	if (!nr_works)
		return false;
	run_work_at(0);
	return true;
}
/* Runs the works of this queue only. */
static inline void drain_workqueue(struct workqueue_struct *queue)
{
	unsigned int i = 0;

	might_sleep();
	while (i < nr_works)
		if (works[i].queue == queue) {
			run_work_at(i);
			i = 0;
		} else {
			i++;
		}
}
static inline void destroy_workqueue(struct workqueue_struct *queue)
{
	drain_workqueue(queue);
	queue->gone = true;
}
static inline void schedule_timeout_killable(unsigned long timeout)
{
	might_sleep();
	jiffies += timeout;
}

/* ------------------------------------------------------ users, tasks, files */

struct kuid { u32 val; };
#define kuid_t				struct kuid
#define KUIDT_INIT(n)			((kuid_t){ n })
#define GLOBAL_ROOT_UID			KUIDT_INIT(0)
static inline u32 __kuid_val(kuid_t uid) { return uid.val; }
static inline bool uid_eq(kuid_t a, kuid_t b) { return a.val == b.val; }

struct user_namespace { struct user_namespace *parent; kuid_t owner; };
struct pid_namespace {
	struct pid_namespace *parent;
	struct user_namespace *user_ns;
	struct { u32 inum; } ns;
};
static struct user_namespace init_user_ns;
static struct pid_namespace init_pid_ns = { .user_ns = &init_user_ns, .ns = { 1 } };
/* Numbers of users are the same in all namespaces, except that a foreign one says so. */
#define from_kuid_munged(ns, uid)	((ns) == &init_user_ns ? (uid).val : (uid).val + 1000000)
#define CAP_SYS_ADMIN			21
#define cap_raised(set, cap)		((set) >> (cap) & 1)
struct cred { struct user_namespace *user_ns; kuid_t uid; u64 cap_effective; };
struct vdso_image;
struct mm_struct {
	struct task_struct *owner;
	int grabbed, users, mmap_lock;
	unsigned long start_stack;
	unsigned long saved_auxv[AT_VECTOR_SIZE];
	struct { void *vdso; const struct vdso_image *vdso_image; } context;
	struct mem_cgroup *memcg;
};
static inline struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm)
{
	if (mm->memcg)
		mm->memcg->refs++;
	return mm->memcg;
}
struct sigpending { struct list_head list; u64 signal; };
#define TASK_COMM_LEN			16
#define TASK_DEAD			0x80
#define TASK_WAKING			0x200
#define TASK_NEW			0x800
#define PF_IO_WORKER			0x10
#define PF_USER_WORKER			0x4000
#define PF_KTHREAD			0x200000
#define smp_rmb()			__sync_synchronize()
struct task_struct {
	struct cred *cred;
	struct pid_namespace *pid_ns;
	struct mm_struct *mm;
	struct { u64 sum_exec_runtime; } se;
	int nice, prio, pid, tgid;
	unsigned int flags;
	u64 start_time;
	char comm[TASK_COMM_LEN] __attribute__((aligned(8)));
	struct signal_struct *signal;
	struct sigpending pending;
	struct task_struct *group_leader;
	int exit_state;
	unsigned int __state;
	unsigned long nvcsw, nivcsw;
};
#define MAX_NICE			19
#define TICK_NSEC			(NSEC_PER_SEC / HZ)
#define task_nice(task)			((task)->nice)
#define set_user_nice(task, value)	((task)->nice = (value))
#define CONFIG_MEMCG			1
static struct task_struct *current;
#define __task_cred(task)		((task)->cred)
#define task_active_pid_ns(task)	((task)->pid_ns)
static struct task_struct *dying_task;	/* it has a fatal signal */
#define fatal_signal_pending(task)	(dying_task && (task) == dying_task)
static inline void mmgrab(struct mm_struct *mm) { mm->grabbed++; }
static inline void mmdrop(struct mm_struct *mm) { mm->grabbed--; }
static inline bool mmget_not_zero(struct mm_struct *mm) { return mm->users && ++mm->users; }
static inline void mmput_async(struct mm_struct *mm)
{
	if (!mm->users--)
		wrong("no reference is left");
}
static inline void mmput(struct mm_struct *mm)
{
	might_sleep();
	mmput_async(mm);
}
/* Does @call as a system call that changes the mappings of @mm. */
#define under_mmap_lock(mm, call)						\
	do {									\
		hold(&(mm)->mmap_lock, "mmap_lock", false);			\
		call;								\
		unhold(&(mm)->mmap_lock, "mmap_lock");				\
	} while (0)

struct seq_file { char text[16384]; size_t used; void *private; };
/* The compiler does not check the format: the kernel's u64 has another type. */
static inline void seq_printf(struct seq_file *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->used += vsnprintf(m->text + m->used, sizeof(m->text) - m->used, format, args);
	va_end(args);
}
static inline void seq_escape(struct seq_file *m, const char *text, const char *what)
{
	for (; *text; text++)
		seq_printf(m, strchr(what, *text) ? "\\%03o" : "%c", *text);
}
static inline bool seq_has_overflowed(const struct seq_file *m) { return m->used >= sizeof(m->text); }
static inline void seq_puts(struct seq_file *m, const char *text) { seq_printf(m, "%s", text); }

/* ---------------------------------------------------------- parameters */

/* The parameter's variable or functions, of which the compiler checks the type. */
#define module_param_cb(name, ops, arg, mode)					\
	static void *const param_arg_##name __attribute__((unused)) = (arg)
#define param_check_uint(name, p)						\
	static inline unsigned int *param_check_##name(void) { return p; }
#define param_check_bool(name, p)						\
	static inline bool *param_check_##name(void) { return p; }
struct kernel_param { struct module *mod; void *arg; };
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *text, const struct kernel_param *param);
	int (*get)(char *to, const struct kernel_param *param);
};
/* Like the kernel's: a newline may end the text. */
static inline int kstrtouint(const char *text, unsigned int base, unsigned int *value)
{
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, base);
	if (end[*end == '\n'])
		return -EINVAL;
	if (errno || n > UINT32_MAX)
		return -ERANGE;
	*value = n;
	return 0;
}
static inline int kstrtobool(const char *text, bool *value)
{
	if (!*text || !strchr("YyTt1NnFf0", *text))
		return -EINVAL;
	*value = strchr("YyTt1", *text);
	return 0;
}
#define sysfs_emit(to, ...)		snprintf(to, PAGE_SIZE, __VA_ARGS__)

#endif /* _TEST_KERNEL_H */
