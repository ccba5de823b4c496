/* SPDX-License-Identifier: MIT */
/*
 * callstack-test.c - walks that interrupt a walk on the same CPU, and tasks
 * whose stack is not walked
 *
 * core/walk/walk.c is compiled here a second time, with a call before each word
 * that it reads. The call starts another walk, as an interrupt, an NMI or a
 * page fault does.
 */
#include "kernel.h"
#include "pt-regs.h"

static void before_read(void);
#undef kunwind_mem_read
#define kunwind_mem_read(mem, val, addr, fault)					\
do {										\
	u64 at_ = (addr);							\
										\
	before_read();								\
	if (unlikely(at_ < (mem)->lo || at_ > (mem)->hi - sizeof(u64)))		\
		goto fault;							\
	memcpy(&(val), (const void *)(uintptr_t)(at_ + (mem)->delta), 8);	\
} while (0)
#define kunwind_walk(...)		interrupted_walk(__VA_ARGS__)
#define kunwind_replay_walk(...)		interrupted_replay_walk(__VA_ARGS__)
#include "../../kmod/core/walk/walk.c"
#include "../../kmod/core/walk/replay.c"
#include "scene.h"

#include "callstack-scene.h"
static void kunwind_mem_init(struct kunwind_mem *to, const struct task_struct *of)
{
	(void)of;
	*to = mem;
}

#include "../../kmod/base/enabled.c"
#include "../../kmod/stack/interrupt_budget.c"
#include "../../kmod/stack/callstack.c"

/* --------------------------------------- functions that callstack.c calls */

void kunwind_original_init(void) { }
void kunwind_fault_in(u64 at, u64 second) { (void)at, (void)second; }
void kunwind_fault_in_part(const struct kunwind_range *range, u64 addr) { (void)range, (void)addr; }
void kunwind_fault_in_breakpoint(u64 id, u64 addr) { (void)id, (void)addr; }

/* --------------------------------------------------------------- the scene */

#define LEN	10			/* addresses of a stack */

static struct kunwind_space space;
static struct task_struct task;

/* Two stacks: by the task's own registers (word 0), by an ioctl's. */
static const u32 at[2] = { 0, 20 };
static struct kunwind_regs other;

static void begin(void)
{
	u32 which, i;

	scene();
	OBJECT(0x100, { 0, 0x100, "" });
	for (which = 0; which < 2; which++) {
		for (i = 0; i < LEN - 1; i++)
			stack[at[which] + i] = CODE(1, 2 + at[which] + i);
		stack[at[which] + i] = 0;
	}
	user_regs = (struct pt_regs){ .ip = CODE(1, 1 + at[0]), .sp = WORD(at[0]), .cs = __USER_CS };
	other = regs;
	other.r[KUNWIND_RA] = CODE(1, 1 + at[1]);
	other.r[KUNWIND_RSP] = WORD(at[1]);
	WRITE_ONCE(space.ranges, ranges);
	current = &task;
	level = IN_TASK;
	kunwind_callstack_init();
}

static void end(void)
{
	kunwind_callstack_exit();
	current = NULL;
}

/* The result of a walk. */
struct found {
	enum kunwind_reason reason;
	u32 count;
	unsigned long address[LEN + 1];
};

static void walk(u32 which, struct found *found)
{
	struct kunwind_request request = {
		.consumer = KUNWIND_FOR_IOCTL, .store = found->address, .capacity = LEN + 1,
	};

	memset(found, 0xee, sizeof(*found));
	found->reason = which ? kunwind_callstack_walk_regs(&space, &other, &request) :
		kunwind_callstack_walk(&space, &user_regs, KUNWIND_ALL_REGS, &request);
	found->count = request.count;
}

static bool is_true(const struct found *found, u32 which)
{
	u32 i;

	for (i = 0; i < LEN; i++)
		if (found->address[i] != CODE(1, 1 + at[which] + i))
			return false;
	return found->reason == KUNWIND_COMPLETE && found->count == LEN;
}

/* The second walk: before read @before of the first, in @context. */
static u32 reads, before;
static u8 context;
static struct found inner;
static bool inside, nested;

static void before_read(void)
{
	const u8 outside = level;

	if (!before || (inside ? context != IN_TASK : ++reads != before))
		return;
	if (inside) {
		nested = true;		/* a page fault in the walk that a page fault started */
		return;
	}
	inside = true;
	level = context;
	walk(0, &inner);
	level = outside;
	inside = false;
}

/*
 * A walk that another one interrupts before read number @n. Returns false if
 * the walk has fewer reads. @may_replay: it may reuse the previous walk's record
 * (replay.c).
 */
static bool interrupted(u32 which, bool may_replay, u32 n, struct found *found)
{
	walk(which, found);
	if (!may_replay)
		replays->id = 0;
	reads = 0;
	before = n;
	walk(which, found);
	before = 0;
	return reads >= n;
}

/* ---------------------------------------------------------------- the tests */

/* A second walk at each read of a walk, then walks without interrupts. */
static void test_interrupts(void)
{
	static const struct { const char *name; u8 level; } contexts[] = {
		{ "softirq", IN_SOFTIRQ }, { "hard interrupt", IN_HARDIRQ }, { "NMI", IN_NMI },
	};
	u32 i, n, which, bad, times;
	struct found outer, after;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		begin();
		context = contexts[i].level;
		bad = times = 0;
		for (which = 0; which < 4; which++) {
			for (n = 1; interrupted(which & 1, which & 2, n, &outer); n++, times++) {
				bad += !is_true(&outer, which & 1) || !is_true(&inner, 0);
				/* the second one may reuse the record */
				walk(0, &after);
				bad += !is_true(&after, 0);
				walk(0, &after);
				bad += !is_true(&after, 0);
			}
		}
		tap_ok(!bad && times >= 4 * LEN,
		       "%s: a second walk at each of %u reads of a walk: all stacks are right",
		       contexts[i].name, times);
		end();
	}
}

/* A read faults, and the tracepoint of page faults requests a stack. */
static void test_nested(void)
{
	u32 n, which, bad = 0, times = 0;
	struct found outer, after;

	begin();
	context = IN_TASK;
	for (which = 0; which < 4; which++) {
		for (n = 1; interrupted(which & 1, which & 2, n, &outer); n++, times++) {
			bad += inner.reason != KUNWIND_NESTED || inner.count || !is_true(&outer, which & 1);
			walk(0, &after);
			bad += !is_true(&after, 0);
		}
	}
	tap_ok(!bad && times >= 4 * LEN,
	       "page fault at each of %u reads: the nested request gets no stack",
	       times);
	tap_ok(!nested, "page fault at each of %u reads: the nested request reads nothing", times);
	tap_ok(counters.of[KUNWIND_FOR_IOCTL].by_reason[KUNWIND_NESTED] == times,
	       "page fault at each of %u reads: each nested request is counted", times);
	for (level = IN_TASK; level <= IN_NMI; level++) {
		walk(0, &after);
		tap_ok(is_true(&after, 0), "after page faults: a walk in context %u works", level);
	}
	end();
}

/* Walks a stack of 40 addresses, none of which is in the cache. */
static enum kunwind_reason walk_long(void)
{
	unsigned long addresses[64];
	struct kunwind_request request = {
		.consumer = KUNWIND_FOR_IOCTL, .store = addresses, .capacity = ARRAY_SIZE(addresses),
	};
	u32 i;

	for (i = 0; i < 39; i++)
		stack[i] = CODE(1, 100 + i);
	stack[i] = 0;
	return kunwind_callstack_walk(&space, &user_regs, KUNWIND_ALL_REGS, &request);
}

static void test_burst(void)
{
	struct found found;
	u32 before;

	begin();
	irqs_off = true;
	before = burst_tokens;
	walk(0, &found);
	tap_ok(is_true(&found, 0) && burst_tokens < before, "interrupts off: a walk takes tokens");
	end();
	begin();
	burst_tokens = 0;
	burst_filled = now_ns;
	tap_ok(walk_long() == KUNWIND_BUDGET_SPENT, "interrupts off, no tokens: the walk ends early");
	end();
	begin();
	now_ns += 1000000;
	tap_ok(walk_long() == KUNWIND_COMPLETE, "interrupts off, a millisecond later: the walk is complete");
	end();
	begin();
	irqs_off = false;
	before = burst_tokens;
	walk(0, &found);
	tap_ok(is_true(&found, 0) && burst_tokens == before, "interrupts on: a walk takes no tokens");
	end();
	begin();
	level = IN_SOFTIRQ;
	walk(0, &found);
	tap_ok(is_true(&found, 0) && burst_tokens < before, "softirq: a walk takes tokens");
	end();
}

static void test_excluded(void)
{
	static const struct { const char *name; u32 flags; u64 cs; enum kunwind_reason reason; } of[] = {
		{ "64-bit code", 0, __USER_CS, KUNWIND_COMPLETE },
		{ "64-bit code in a guest of Xen", 0, XEN_USER_CS, KUNWIND_COMPLETE },
		{ "32-bit code", 0, __USER32_CS, KUNWIND_COMPLETE },
		{ "another code segment", 0, 0x10, KUNWIND_CODE_SEGMENT },
		{ "kernel thread", PF_KTHREAD, __USER_CS, KUNWIND_KTHREAD },
		{ "io_uring worker", PF_IO_WORKER, __USER_CS, KUNWIND_KTHREAD },
		{ "vhost worker", PF_USER_WORKER, __USER_CS, KUNWIND_KTHREAD },
		{ "virtual CPU that runs its guest", PF_VCPU, __USER_CS, KUNWIND_KTHREAD },
	};
	u32 i;

	begin();
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		task.flags = of[i].flags;
		user_regs.cs = of[i].cs;
		tap_ok(kunwind_callstack_excluded(&user_regs) == of[i].reason, "%s: %s", of[i].name,
		       of[i].reason ? "its stack is not walked" : "its stack is walked");
	}
	task.flags = 0;
	user_regs.cs = __USER_CS;
	hook_missing = true;
	tap_ok(kunwind_callstack_excluded(&user_regs) == KUNWIND_DISABLED,
	       "a required hook is missing: no stack is walked");
	hook_missing = false;
	kunwind_enabled = false;
	tap_ok(kunwind_callstack_excluded(&user_regs) == KUNWIND_DISABLED,
	       "kill switch: no stack is walked");
	kunwind_enabled = true;
	end();
}

int main(void)
{
	test_interrupts();
	test_nested();
	test_burst();
	test_excluded();
	return tap_done();
}
