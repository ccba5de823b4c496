/* SPDX-License-Identifier: MIT */
/*
 * fault-in-test.c - requests of walks: which are accepted, when the task's next
 * one is accepted, which pages are faulted in; walks during a task work request
 * nothing
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define ____cacheline_aligned
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define cmpxchg_local(p, old, new)	cmpxchg(p, old, new)
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define per_cpu_ptr(p, cpu)	((void)(cpu), p)
#define this_cpu_ptr(p)		on_this_cpu(p)
#define this_cpu_inc(x)		((x)++)
#define __this_cpu_read(x)	(x)
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < 1; cpu++)
#define MAX_RT_PRIO		100
#define PF_EXITING		4
#define PF_KTHREAD		0x200000
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define TASK_SIZE_MAX		0x7ffffffff000ULL
#define VM_READ			1
#define TWA_RESUME		1
#define PIDTYPE_PID		0
#define THIS_MODULE		NULL

struct irq_work { void (*func)(struct irq_work *work); };
/* Not a hard one: on PREEMPT_RT, allocating memory in hard interrupts is not allowed. */
#define IRQ_WORK_INIT(fn)	((struct irq_work){ fn })
struct callback_head { void (*func)(struct callback_head *head); };
#define init_task_work(head, fn)	((head)->func = (fn))
struct vm_area_struct { u64 vm_start, vm_end; u64 vm_flags; bool anonymous, armed; };

#define DEFINE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_add(table, node, key)	hlist_add_head(node, &table[(key) & 255])
#define hash_for_each_possible(table, pos, member, key)	hlist_for_each_entry(pos, &table[(key) & 255], member)

/* The task that is walked, and what is queued for it. */
static struct task_struct me;
static struct callback_head *queued_work;
static int module_refs;
static bool module_goes, task_gone, mmap_locked;
static struct vm_area_struct area;
static bool present[64];	/* pages of the area */
static struct irq_work *raised;
static unsigned int faults;

static bool try_module_get(void *module) { (void)module; module_refs += !module_goes; return !module_goes; }
static void module_put(void *module) { (void)module; module_refs--; }
static void irq_work_queue(struct irq_work *w) { raised = w; }
static void irq_work_sync(struct irq_work *work) { (void)work; }
/* The only lock of this file is taken in interrupts, too. */
static unsigned int lock_irqsave(spinlock_t *lock)
{
	spin_lock(lock);
	return irqs_depth++;
}
static void unlock_irqrestore(spinlock_t *lock, unsigned int flags)
{
	if (--irqs_depth != flags)
		wrong("interrupts: %u, not %u", irqs_depth, flags);
	spin_unlock(lock);
}
#define spin_lock_irqsave(lock, flags)		((flags) = lock_irqsave(lock))
#define spin_unlock_irqrestore(lock, flags)	unlock_irqrestore(lock, flags)
#define spin_lock(lock)		wrong("an interrupt may take the same lock")
#define find_pid_ns(pid, ns)	(pid)
static struct task_struct *pid_task(int pid, int type)
{
	(void)type;
	return pid == me.pid && !task_gone ? &me : NULL;
}
static void (*while_queueing)(void);	/* an event in the irq_work */
static int task_work_add(void *task, struct callback_head *head, int how)
{
	(void)task, (void)how;
	if (while_queueing)
		while_queueing();
	queued_work = head;
	return 0;
}
#define STACK	0x7f0000000000ULL	/* address of present[0] */

/* What happens while a page is read from swap, for which mmap_lock is released. */
static void (*while_swapping)(void);
static unsigned int mmap_held, waits_with_lock;
static bool mmap_read_trylock(struct mm_struct *mm)
{
	(void)mm;
	mmap_held += !mmap_locked;
	return !mmap_locked;
}
static void mmap_read_unlock(struct mm_struct *mm) { (void)mm; mmap_held--; }
static struct vm_area_struct *find_vma(struct mm_struct *mm, u64 at)
{
	(void)mm;
	if (!mmap_held)
		abort();
	return at < area.vm_end ? &area : NULL;
}
#define vma_is_anonymous(vma)	((vma)->anonymous)
#define userfaultfd_armed(vma)	((vma)->armed)
static int copy_from_user_nofault(void *to, const void *from, size_t size)
{
	u64 page = ((u64)from - STACK) >> PAGE_SHIFT;

	(void)to, (void)size;
	return page < 64 && present[page] ? 0 : -EFAULT;
}
static int fixup_user_fault(struct mm_struct *mm, u64 at, int flags, bool *unlocked)
{
	(void)mm, (void)flags;
	if (!mmap_held)
		abort();
	/* As in the kernel: without @unlocked, it waits with the lock held. */
	if (!unlocked) {
		waits_with_lock++;
	} else if (while_swapping) {
		*unlocked = true;
		while_swapping();
	}
	present[(at - STACK) >> PAGE_SHIFT] = true;
	faults++;
	return 0;
}

#include "../../kmod/base/request_limit.c"
#include "../../kmod/stack/fault_in.c"

/* Walks ask with preemption off. */
#define kunwind_fault_in(...)	\
	({ preempt_disable(); (kunwind_fault_in)(__VA_ARGS__); preempt_enable(); })
#define kunwind_fault_in_part(...)	\
	({ preempt_disable(); (kunwind_fault_in_part)(__VA_ARGS__); preempt_enable(); })
#define kunwind_fault_in_breakpoint(...)	\
	({ preempt_disable(); (kunwind_fault_in_breakpoint)(__VA_ARGS__); preempt_enable(); })

static int part_answer;
static bool part_missing;
bool kunwind_part_missing(const struct kunwind_range *range, u64 addr)
{
	(void)range, (void)addr;
	return part_missing;
}
int kunwind_part_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout)
{
	(void)mm, (void)addr, (void)timeout;
	/* a traced event during the wait, with an unreadable stack */
	kunwind_fault_in(area.vm_start, 0);
	return part_answer;
}
unsigned long kunwind_mm_hooks_max_wait(void) { return 10; }

static u64 learned_id, learned_at;
static bool learns;
bool kunwind_breakpoint_learn(struct mm_struct *mm, u64 id, u64 addr)
{
	(void)mm;
	learned_id = id;
	learned_at = addr;
	return learns;
}

/* --------------------------------------------------------------- the scene */

static struct mm_struct mm;

static void begin(void)
{
	memset(&slots, 0, sizeof(slots));
	memset(limits, 0, sizeof(limits));
	memset(&counters, 0, sizeof(counters));
	memset(present, 0, sizeof(present));
	me.pid = 100;
	me.flags = 0;
	me.prio = 120;
	me.mm = &mm;
	area = (struct vm_area_struct){ STACK, STACK + 64 * PAGE_SIZE, VM_READ, true, false };
	queued_work = NULL;
	raised = NULL;
	task_gone = module_goes = mmap_locked = false;
	while_swapping = NULL;
	waits_with_lock = 0;
	part_missing = true;
	part_answer = 0;
	faults = 0;
	jiffies += 100000;
	kunwind_fault_in_init();
}

/* Runs the irq_work. Returns whether a task work was queued. */
static bool heard(void)
{
	struct irq_work *work = raised;

	raised = NULL;
	if (!work)
		return false;
	irqs_depth++;
	work->func(work);
	irqs_depth--;
	return queued_work;
}

static void other_asks(void)
{
	me.pid++;
	kunwind_fault_in(STACK, 0);
	me.pid--;
}

/* The task returns to user mode. */
static void returns(void)
{
	struct callback_head *work = queued_work;

	queued_work = NULL;
	if (work)
		work->func(work);
}

/*
 * A walk cannot read the stack. Returns whether a task work was queued; runs
 * it.
 */
static bool asks(u64 at)
{
	bool was;

	kunwind_fault_in(at, 0);
	was = heard();
	returns();
	return was;
}

static bool asks_part(void)
{
	bool was;

	kunwind_fault_in_part(NULL, 0x1000);
	was = heard();
	returns();
	return was;
}

static bool asks_breakpoint(void)
{
	bool was;

	kunwind_fault_in_breakpoint(7, 0x401000);
	was = heard();
	returns();
	return was;
}

/*
 * After how many jiffies a request of an unhelped task is accepted; 0: > @most.
 */
static unsigned int silence(unsigned int most)
{
	unsigned int i;

	for (i = 1; i <= most; i++) {
		jiffies++;
		if (asks(STACK - PAGE_SIZE))
			return i;
	}
	return 0;
}

/* ------------------------------------------------------------------- tests */

static void test_pages(void)
{
	unsigned int i, there = 0;

	begin();
	tap_ok(asks(STACK + 10 * PAGE_SIZE + 8) && faults == PAGES, "stack pages: %u are faulted in", PAGES);
	for (i = 0; i < 64; i++)
		there += present[i];
	tap_ok(there == PAGES && present[10] && present[9 + PAGES],
	       "stack pages: the first one is that of the frame");
	tap_ok(!asks(STACK), "stack pages: a second request in the same jiffy is refused");
	jiffies++;
	tap_ok(asks(STACK + 60 * PAGE_SIZE) && faults == PAGES + 4,
	       "stack pages: a request in the next jiffy is accepted, up to the mapping's end");
	jiffies++;
	present[0] = true;
	faults = 0;
	asks(STACK);
	/* 1 to 9 of the first 16 */
	tap_ok(faults == 9, "stack pages: no resident page is faulted in");
	begin();
	kunwind_fault_in(STACK, STACK + 30 * PAGE_SIZE);
	heard();
	returns();
	tap_ok(faults == PAGES + 1 && present[30],
	       "stack pages: the page where a register was saved is faulted in");
}

static void grows(void) { area.vm_start -= PAGE_SIZE; }
static void is_replaced(void) { area.vm_start += PAGE_SIZE; }
static void becomes_a_file(void) { area.anonymous = false; }
static void is_armed(void) { area.armed = true; }
static void is_protected(void) { area.vm_flags = 0; }

/* The mappings change while mmap_lock is released. */
static void test_swap(void)
{
	static const struct { const char *what; void (*changes)(void); unsigned int faults; } cases[] = {
		{ "the stack grows", grows, PAGES },
		{ "another mapping takes the place of the first page", is_replaced, 1 },
		{ "it becomes a file's", becomes_a_file, 1 },
		{ "it becomes a userfaultfd's", is_armed, 1 },
		{ "it becomes unreadable", is_protected, 1 },
	};
	unsigned int i;

	begin();
	asks(STACK);
	tap_ok(!waits_with_lock && !mmap_held,
	       "stack pages in swap: mmap_lock is not held while they are read");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		area.vm_start += PAGE_SIZE;
		while_swapping = cases[i].changes;
		asks(STACK + PAGE_SIZE);
		tap_ok(faults == cases[i].faults && !mmap_held,
		       "stack pages in swap, meanwhile %s: %u faulted in", cases[i].what, cases[i].faults);
	}
}

static void test_not_helped(void)
{
	begin();
	area.anonymous = false;
	asks(STACK);
	tap_ok(!faults, "not faulted in: pages of a file");
	begin();
	area.armed = true;
	asks(STACK);
	tap_ok(!faults, "not faulted in: pages of a userfaultfd");
	begin();
	area.vm_flags = 0;
	asks(STACK);
	tap_ok(!faults, "not faulted in: pages that the user may not read");
	begin();
	mmap_locked = true;
	asks(STACK);
	tap_ok(!faults, "not faulted in: any page while mmap_lock is taken");
	begin();
	asks(STACK - PAGE_SIZE);
	tap_ok(!faults, "not faulted in: addresses below the mapping");
	begin();
	me.prio = 50;
	tap_ok(!asks(STACK), "request refused: of a real-time task");
	begin();
	me.flags = PF_EXITING;
	tap_ok(!asks(STACK), "request refused: of a task that is exiting");
	begin();
	part_missing = false;
	tap_ok(!asks_part(), "request refused: for a part that is not missing");
	begin();
	task_gone = true;
	tap_ok(!asks(STACK) && !module_refs, "request dropped: its task has ended");
	task_gone = false;
	begin();
	me.flags = PF_KTHREAD;
	kunwind_fault_in(STACK, 0);
	tap_ok(!heard() && !module_refs, "request dropped: a kernel thread has the number of its task");
	begin();
	module_goes = true;
	tap_ok(!asks(STACK) && !module_refs, "request dropped: the module is being unloaded");
	begin();
	no_memory = 1;
	tap_ok(!asks(STACK) && !module_refs && counters.dropped == 1,
	       "request dropped and counted: no memory for the task work");
}

static void test_again(void)
{
	unsigned int n, before = 0, sum = 0;
	bool good = true;

	begin();
	tap_ok(asks_part() && asks_part() && asks_part(),
	       "next request: accepted at once after the part was built");
	begin();
	part_answer = -ETIME;
	tap_ok(asks_part() && !asks_part(),
	       "next request: refused at once after the wait for a part timed out");
	/* without success: after one jiffy, two, four ... up to a second */
	begin();
	asks(STACK - PAGE_SIZE);
	for (n = 0; n < 12; n++) {
		unsigned int now = silence(3 * HZ);

		good &= now >= before && now <= HZ + 1 && now;
		before = now;
		sum += now;
	}
	tap_ok(good && before >= HZ && sum > 4 * HZ,
	       "next request: after each failure refused for longer, up to a second (%u jiffies)", before);
	tap_ok(asks(STACK) == false, "next request: refused during this time");
	jiffies += HZ + 1;
	faults = 0;
	asks(STACK);
	jiffies++;
	tap_ok(faults && asks(STACK - PAGE_SIZE) && silence(3) == 1,
	       "next request: accepted soon after a success");
}

static void test_breakpoint(void)
{
	begin();
	learns = true;
	tap_ok(asks_breakpoint() && learned_id == 7 && learned_at == 0x401000 && !faults,
	       "breakpoint: the original byte is looked up, no page is faulted in");
	jiffies++;
	tap_ok(asks_breakpoint(), "breakpoint: the next request is accepted soon after a success");
	begin();
	learns = false;
	asks_breakpoint();
	jiffies += 2;
	asks_breakpoint();
	jiffies++;
	tap_ok(!asks_breakpoint(), "breakpoint: the next request is refused for longer after each failure");
	begin();
	learned_at = 0;
	mmap_locked = true;
	asks_breakpoint();
	tap_ok(!learned_at, "breakpoint: no byte is looked up while mmap_lock is taken");
}

static void test_own(void)
{
	/* kunwind_part_wait() above makes a request */
	begin();
	kunwind_fault_in_part(NULL, 0x1000);
	heard();
	returns();
	tap_ok(!raised && !slots.busy, "task work: walks during it request nothing");
	tap_ok(kunwind_request_limit_own_begin(),
	       "task work of another file: the task gets a slot");
	tap_ok(!asks(STACK), "task work of another file: walks during it request nothing");
	kunwind_request_limit_own_end();
	tap_ok(asks(STACK), "task work of another file: a request after its end is accepted");
	/* an event in the irq_work takes the stack of another task */
	begin();
	while_queueing = other_asks;
	tap_ok(asks(STACK) && !raised && !slots.busy, "irq_work: walks during it request nothing");
	while_queueing = NULL;
	returns();
	/* before the irq_work has run: one request for each CPU */
	begin();
	kunwind_fault_in(STACK, 0);
	me.pid = 101;
	kunwind_fault_in(STACK + 1, 0);
	tap_ok(slots.request.pid == 100 && slots.request.at == STACK, "CPU: it has one request at a time");
	me.pid = 100;
	heard();
	tap_ok(slots.request.pid == 100 && !slots.busy,
	       "CPU: its request is that of the first walk");
	/*
	 * the task has not returned to user mode yet: it is refused for one
	 * second
	 */
	kunwind_fault_in(STACK, 0);
	tap_ok(!raised, "task: it has one request at a time");
	jiffies += HZ + 1;
	kunwind_fault_in(STACK, 0);
	{
		struct callback_head *first = queued_work;

		heard();
		tap_ok(queued_work == first && module_refs == 1,
		       "task: it has one task work at a time, also after a second");
	}
	returns();
	tap_ok(!module_refs, "task work: its reference to the module is dropped");
}

/* Returns how many of @nr tasks from number @pid on are accepted. */
static unsigned int many(int pid, unsigned int nr, unsigned int *twice)
{
	unsigned int i, was = 0;

	for (i = 0; i < nr; i++) {
		me.pid = pid + i;
		was += asks(STACK);
		*twice += asks(STACK);
	}
	return was;
}

/* Each task has a slot of its own in request_limit.c. */
static void test_tasks(void)
{
	const unsigned int nr_slots = ARRAY_SIZE(limits) * GROUP;
	unsigned int was, twice = 0;

	begin();
	area.anonymous = false;
	was = many(1000, nr_slots / 4, &twice);
	tap_ok(was > nr_slots / 4 * 9 / 10 && !twice,
	       "many tasks: requests of %u of %u are accepted, each once", was, nr_slots / 4);
	was = many(10000, 3 * nr_slots, &twice);
	tap_ok(was < nr_slots && !twice, "many tasks: no more requests than slots are accepted");
	jiffies += 2 * HZ;
	was = many(50000, 2 * nr_slots, &twice);
	tap_ok(was > nr_slots * 9 / 10 && !twice, "many tasks: old slots are taken over later");
}

/* Returns the @nr'th number after 1,000 with the same hash of @bits bits. */
static int alike(unsigned int nr, unsigned int bits)
{
	int pid;

	for (pid = 1000; nr; nr--)
		do
			pid++;
		while (hash_32(pid, bits) != hash_32(1000, bits));
	return pid;
}

/* All slots that a task may use belong to other tasks. */
static void test_taken(void)
{
	unsigned int i, round, lost = 0;
	bool changed = false;
	u64 refused;

	begin();
	area.anonymous = false;
	for (round = 0; round <= OFTEN; round++) {
		jiffies += 1 << OFTEN;
		for (i = 0; i < GROUP; i++) {
			me.pid = alike(i, GROUP_BITS);
			asks(STACK);
		}
		me.pid = alike(GROUP, GROUP_BITS);
		if (!round)
			tap_ok(!asks(STACK),
			       "slot of a task with one failed request: not taken over");
	}
	tap_ok(asks(STACK), "slot of a task with many failed requests: taken over");

	/* tasks that sleep before their requests run */
	begin();
	for (i = 0; i < GROUP; i++) {
		me.pid = alike(i, GROUP_BITS);
		kunwind_request_limit_begin();
	}
	me.pid = alike(GROUP, GROUP_BITS);
	tap_ok(kunwind_request_limit_begin(), "slot of a task whose request has not run: taken over");
	tap_ok(!kunwind_request_limit_begin(),
	       "slot taken over before the request ran: the new task keeps it");

	begin();
	for (i = 0; i < GROUP; i++) {
		me.pid = alike(i, GROUP_BITS);
		kunwind_request_limit_own_begin();
	}
	me.pid = alike(GROUP, GROUP_BITS);
	jiffies += HZ;
	refused = kunwind_request_limit_refused();
	tap_ok(!asks(STACK), "slot of a task in a task work: not taken over within a second");
	tap_ok(kunwind_request_limit_refused() == refused + 1,
	       "no slot is free: the request is counted as refused");
	jiffies += 2;
	area.anonymous = false;
	tap_ok(asks(STACK), "slot of a task in a task work: taken over after more than a second");
	for (i = 0; i < GROUP; i++) {
		u64 before[GROUP], *group = limits[hash_32((u32)alike(i, GROUP_BITS), GROUP_BITS)];
		bool had = false;
		unsigned int j;

		memcpy(before, group, sizeof(before));
		me.pid = alike(i, GROUP_BITS);
		for (j = 0; j < GROUP; j++)
			had |= (before[j] & LIMIT_PID) == limit_pid();
		kunwind_request_limit_own_end();
		if (!had) {
			lost++;
			changed |= memcmp(before, group, sizeof(before));
		}
	}
	tap_ok(lost == 1, "slot taken over: one task in a task work has lost its slot");
	tap_ok(!changed, "slot taken over: the end of that task work changes no other slot");
	me.pid = alike(GROUP, GROUP_BITS);
	tap_ok(!asks(STACK), "slot taken over: the new task keeps it after the end of that task work");
}

/*
 * The tasks sleep, so their task works stay queued. Last test: nothing frees
 * them.
 */
static void test_sleepers(void)
{
	unsigned int i, was = 0;

	begin();
	module_refs = 0;
	for (i = 0; i < 2 * MAX_CHAIN; i++) {
		jiffies += 2 * HZ;
		me.pid = 1000 + 256 * i;
		queued_work = NULL;
		kunwind_fault_in(STACK, 0);
		was += heard();
	}
	tap_ok(was == MAX_CHAIN && module_refs == MAX_CHAIN,
	       "sleeping tasks: at most %u task works in one bucket of the hash", was);
}

int main(void)
{
	current = &me;
	test_pages();
	test_swap();
	test_not_helped();
	test_again();
	test_breakpoint();
	test_own();
	test_tasks();
	test_taken();
	test_sleepers();
	return tap_done();
}
