/* SPDX-License-Identifier: MIT */
/*
 * thread-test.c - another thread's registers and stack: which threads are read from outside, which
 * copy their own, what happens if the thread or the caller goes meanwhile, and what is given back
 *
 * While the caller waits, the thread does what the test says.
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define TWA_RESUME		1
#define ERR_CAST(p)		((void *)(p))
#define u64_to_user_ptr(at)	((void *)(uintptr_t)(at))
#define msecs_to_jiffies(ms)	((ms) * HZ / 1000)
#define atomic_inc_return(v)	(++(v)->n)
#define refcount_dec(r)		((void)refcount_dec_and_test(r))

struct callback_head { void (*func)(struct callback_head *head); };
#define init_task_work(head, fn)	((head)->func = (fn))

static struct task_struct thread, caller;
static struct pt_regs user_regs;
static struct mm_struct mm, other_mm;
static bool on_cpu, no_stack, ends;
static struct callback_head *queued;
static int module_refs, shares;
static bool no_share;

#define _KUNWIND_COMPAT_TASK_STATE_H
#define _KUNWIND_X86_FS_BASE_H
#define _KUNWIND_TASK_WORK_H
#define _KUNWIND_QUOTA_H
#define kunwind_task_on_cpu(task)	on_cpu
#define kunwind_task_fs_base(task)	0xf5
#define kunwind_current_fs_base()	0xf6
#define task_pt_regs(task)		(&user_regs)
static void (*while_read)(void);	/* what the thread does while its registers are copied */
static int copy_from_kernel_nofault(void *to, const void *from, size_t size)
{
	if (no_stack)
		return -EFAULT;
	memcpy(to, from, size);
	if (while_read)
		while_read();
	return 0;
}
static int task_work_add(struct task_struct *task, struct callback_head *head, int how)
{
	if (task != &thread || how != TWA_RESUME || queued)
		wrong("the task work");
	if (!ends)
		queued = head;
	return ends ? -ESRCH : 0;
}
static void *kunwind_task_work_alloc(size_t size, gfp_t gfp)
{
	void *work = kzalloc(size, gfp | __GFP_NOWARN);

	module_refs += !!work;
	return work;
}
static void kunwind_task_work_free(void *work)
{
	module_refs--;
	kfree(work);
}
struct kunwind_quota { int unused; };
enum kunwind_share { KUNWIND_SHARE_THREAD };
static unsigned int free_shares;
static struct kunwind_quota *kunwind_quota_add_share(const struct task_struct *task, enum kunwind_share share,
						     unsigned int free)
{
	need_rcu(rcu_depth);
	if (task != &caller)
		wrong("who is charged");
	free_shares = free;
	shares += !no_share;
	return no_share ? ERR_PTR(-ENOSPC) : NULL;
}
static void kunwind_quota_remove_share(struct kunwind_quota *quota, enum kunwind_share share) { shares--; }

/* The thread's memory: pages of a byte each. The caller's buffer. */
#define STACK		0x7000000UL
#define PAGES		4
static bool resident[PAGES];
static unsigned int copies;
static int copy_from_user_nofault(void *to, const void *from, size_t size)
{
	const unsigned long at = (unsigned long)from - STACK;

	copies++;
	if (current != &thread || at & (PAGE_SIZE - 1) || size != PAGE_SIZE)
		wrong("the read of %lx", at);
	if (at >= PAGES * PAGE_SIZE || !resident[at / PAGE_SIZE])
		return -EFAULT;
	memset(to, 'a' + (int)(at / PAGE_SIZE), size);
	return 0;
}
static u8 buffer[PAGES * 4096 + 1];
static bool bad_buffer;
static unsigned long copy_to_user(void *to, const void *from, size_t size)
{
	might_sleep();
	if (current != &caller || (size && to != buffer))
		wrong("whose buffer?");
	if (bad_buffer)
		return size;
	if (size)
		memcpy(to, from, size);
	return 0;
}

/* Each wait ends after what the test says. */
static void (*meanwhile)(void);
static bool killed;
static unsigned int looks;
static void complete(struct completion *c) { c->done = true; }
static long wait_for_completion_killable_timeout(struct completion *c, unsigned long timeout)
{
	might_sleep();
	looks++;
	if (meanwhile)
		meanwhile();
	if (c->done)
		return 1;
	jiffies += timeout;
	return killed ? -EINTR : 0;
}

#include "../../kmod/stack/thread.c"

/* --------------------------------------------------------------- the scene */

static struct kunwind_thread_stack of;

/* The thread returns to user mode, or ends. */
static void returns(void)
{
	struct callback_head *head = queued;

	if (!head)
		return;
	queued = NULL;
	current = &thread;
	head->func(head);
	current = &caller;
}

static void sleeps(void) { thread.__state = 1; on_cpu = false; thread.nvcsw++; }
static void runs_again(void) { thread.nivcsw++; }
static void wakes(void) { on_cpu = true; }
static void execs(void) { thread.mm = &other_mm; returns(); }
static void exits(void) { thread.mm = NULL; returns(); }
static void changes_code(void) { user_regs.cs = 0x13; returns(); }

static void scene(bool runs)
{
	unsigned int i;

	thread = (struct task_struct){ .mm = &mm, .__state = runs ? 0 : 1, .nvcsw = 3, .nivcsw = 4 };
	user_regs = (struct pt_regs){
		.ip = 0x400, .sp = STACK + 0x1800, .bx = 0xb, .r12 = 0x12, .cs = __USER_CS,
	};
	on_cpu = runs;
	no_stack = ends = no_share = bad_buffer = killed = false;
	while_read = meanwhile = NULL;
	for (i = 0; i < PAGES; i++)
		resident[i] = true;
	looks = 0;
	memset(buffer, 0, sizeof(buffer));
	of = (struct kunwind_thread_stack){
		.timeout_ms = 40, .stack = (uintptr_t)buffer, .stack_len = PAGES * PAGE_SIZE,
	};
}

static int reads(void) { return kunwind_thread_read(&thread, &mm, &of); }

/* Whether all is given back. */
static bool clean(void)
{
	return !queued && !module_refs && !shares && !mm.grabbed && !nr_of_kvmalloc && !nr_asked.n;
}

static void test_asleep(void)
{
	scene(false);
	tap_ok(!reads() && of.state == KUNWIND_THREAD_ASLEEP && of.regs[16] == 0x400 && of.regs[3] == 0xb &&
	       of.regs[12] == 0x12 && of.turns == 7 && of.fs_base == 0xf5 && !of.stack_len && clean(),
	       "asleep: registers from outside");
	user_regs.cs = __USER32_CS;
	tap_ok(!reads() && of.state == (KUNWIND_THREAD_ASLEEP | KUNWIND_THREAD_I386) && !of.fs_base,
	       "asleep: 32-bit code");
	scene(false);
	of.timeout_ms = 0;
	while_read = runs_again;
	tap_ok(reads() == -EAGAIN, "asleep: it runs meanwhile");
	while_read = wakes;
	tap_ok(reads() == -EAGAIN, "asleep: it wakes meanwhile");
	scene(false);
	of.timeout_ms = 0;
	no_stack = true;
	tap_ok(reads() == -EAGAIN, "asleep: its kernel stack is gone");
	scene(false);
	of.timeout_ms = 0;
	thread.__state = TASK_DEAD;
	tap_ok(reads() == -EAGAIN, "asleep: one that is dead is not");
}

static void test_which(void)
{
	scene(false);
	thread.mm = &other_mm;
	tap_ok(reads() == -ESRCH, "which: one with another program is not read");
	thread.mm = NULL;
	tap_ok(reads() == -ESRCH, "which: one without memory is not read");
	scene(false);
	thread.flags = PF_IO_WORKER;
	tap_ok(reads() == -ESRCH, "which: a worker of io_uring is not read");
	thread.flags = PF_KTHREAD;
	tap_ok(reads() == -ESRCH, "which: a kernel thread is not read");
	tap_ok(kunwind_thread_read(&caller, &mm, &of) == -EDEADLK,
	       "which: the caller does not wait for itself");
	tap_ok(clean(), "which: nothing is kept");
}

static void test_running(void)
{
	scene(true);
	meanwhile = returns;
	tap_ok(!reads() && !of.state && of.regs[16] == 0x400 && of.regs[12] == 0x12 && of.fs_base == 0xf6 &&
	       clean(), "running: its own registers");
	tap_ok(of.stack_start == STACK + 0x1000 && of.stack_len == 0x3000 && buffer[0] == 'b' &&
	       buffer[0x2fff] == 'd' && !buffer[0x3000],
	       "running: its stack, from the stack pointer's page on");
	scene(true);
	meanwhile = returns;
	user_regs.sp = STACK + 0x1010;
	tap_ok(!reads() && of.stack_start == STACK && of.stack_len == 0x4000,
	       "running: with what is just below");
	scene(true);
	meanwhile = returns;
	user_regs.sp = STACK + 0x1010;
	resident[0] = false;
	tap_ok(!reads() && of.stack_start == STACK + 0x1000 && of.stack_len == 0x3000,
	       "running: unless that is not there");
	scene(true);
	meanwhile = returns;
	resident[2] = false;
	tap_ok(!reads() && of.stack_len == 0x1000 && !buffer[0x1000],
	       "running: the copy ends before a page that is not there");
	scene(true);
	meanwhile = returns;
	of.stack_len = 0x1fff;
	tap_ok(!reads() && of.stack_len == 0x1000 && !buffer[0x1000], "running: whole pages only");
	scene(true);
	meanwhile = returns;
	of.stack_len = 64;
	user_regs.sp = STACK + 0x1010;
	copies = 0;
	tap_ok(!reads() && !of.stack_len && !copies && clean(), "running: less room than a page");
	scene(true);
	meanwhile = returns;
	of.stack_len = 0;
	user_regs.sp = 0x10;
	tap_ok(!reads() && !of.stack_len && clean(), "running: no room for a stack");
	scene(true);
	meanwhile = returns;
	bad_buffer = true;
	tap_ok(reads() == -EFAULT && clean(), "running: a buffer that cannot be written");
	scene(true);
	of.timeout_ms = 0;
	tap_ok(reads() == -EAGAIN && !looks && clean(), "running: without patience it is not asked");
}

static void test_goes(void)
{
	scene(true);
	meanwhile = execs;
	tap_ok(reads() == -ESRCH && clean(), "goes: nothing is told of another program");
	scene(true);
	meanwhile = exits;
	tap_ok(reads() == -ESRCH && clean(), "goes: it ends");
	scene(true);
	ends = true;
	tap_ok(reads() == -ESRCH && !looks && clean(), "goes: it has ended before it could be asked");
	scene(true);
	meanwhile = changes_code;
	tap_ok(reads() == -ENODATA && clean(), "goes: neither 64-bit nor 32-bit code");
	scene(true);
	meanwhile = sleeps;
	tap_ok(!reads() && of.state == KUNWIND_THREAD_ASLEEP && looks == 1 && queued,
	       "goes: it sleeps before it returns, and is read from outside");
	tap_ok(module_refs == 1 && shares == 1 && mm.grabbed == 1,
	       "goes: the question stays, and holds the module");
	copies = 0;
	returns();
	tap_ok(clean() && !copies, "goes: it is freed when the thread returns, without an answer");
	scene(true);
	tap_ok(reads() == -ETIME && looks == 10, "goes: it does not return in time");
	exits();
	tap_ok(clean(), "goes: its end frees the question");
	scene(true);
	killed = true;
	tap_ok(reads() == -EINTR && looks == 1, "goes: the caller is killed");
	returns();
	tap_ok(clean(), "goes: the question of a caller that was killed is freed");
}

static void test_limits(void)
{
	bool right = true;
	unsigned int i;

	scene(true);
	no_share = true;
	tap_ok(reads() == -ENOSPC && clean(), "limits: the user has no share left");
	scene(true);
	nr_asked.n = ASKED_MAX;
	right = reads() == -ENOSPC && nr_asked.n == ASKED_MAX && !looks;
	nr_asked.n = ASKED_MAX - 1;
	meanwhile = returns;
	right &= !reads() && free_shares == 1 && nr_asked.n == ASKED_MAX - 1;
	nr_asked.n = 0;
	tap_ok(right && clean(), "limits: so many threads are asked at a time");
	scene(true);
	meanwhile = returns;
	for (i = 1; i <= 2; i++) {
		no_memory_at = i;
		right &= reads() == -ENOMEM && clean();
		scene(true);
		meanwhile = returns;
	}
	no_memory_at = 0;
	tap_ok(right, "limits: no memory");
}

int main(void)
{
	current = &caller;
	test_asleep();
	test_which();
	test_running();
	test_goes();
	test_limits();
	return tap_done();
}
