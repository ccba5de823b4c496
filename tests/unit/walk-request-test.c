/* SPDX-License-Identifier: MIT */
/*
 * walk-request-test.c - what callstack.c gives a walk, what it requests after
 * the walk, and what it counts
 *
 * The walks are replaced. They check all that they are given, and return what
 * the test has set. The kernel does not initialize struct kunwind_walk; here it
 * has a pattern (tests/unit/Makefile).
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

#define kunwind_walk(...)		replaced_walk(__VA_ARGS__)
#define kunwind_walk_i386(...)		replaced_walk_i386(__VA_ARGS__)
#define kunwind_replay_walk(...)	replaced_replay(__VA_ARGS__)
#include "../../kmod/core/kunwind_core.h"
#include "callstack-scene.h"
static const struct task_struct *walked, *looked_up;
static void kunwind_mem_init(struct kunwind_mem *mem, const struct task_struct *task)
{
	walked = task;
	*mem = (struct kunwind_mem){ };
}

/* IP in a slot of uprobes stands for CODE. */
#define _KUNWIND_COMPAT_UPROBES_H
#define SLOT		0x7f0000001000UL
#define CODE		0x401000UL
static u64 kunwind_uprobes_ip(const struct task_struct *task, u64 ip)
{
	looked_up = task;
	return ip == SLOT ? CODE : ip;
}

#include "../../kmod/base/enabled.c"
#include "../../kmod/stack/interrupt_budget.c"
#include "../../kmod/stack/callstack.c"

/* --------------------------------------- functions that callstack.c calls */

/* The last request of a walk. */
static struct {
	enum { NONE, PAGES, PART, BREAKPOINT } kind;
	u64 first, second;
	const struct kunwind_range *range;
	unsigned int times;
} asked;

static void asks(int kind, u64 first, u64 second, const struct kunwind_range *range)
{
	on_this_cpu(&asked);
	asked.kind = kind;
	asked.first = first;
	asked.second = second;
	asked.range = range;
	asked.times++;
}

void kunwind_original_init(void) { }
void kunwind_fault_in(u64 at, u64 second) { asks(PAGES, at, second, NULL); }
void kunwind_fault_in_part(const struct kunwind_range *range, u64 addr) { asks(PART, addr, 0, range); }
void kunwind_fault_in_breakpoint(u64 id, u64 addr) { asks(BREAKPOINT, addr, id, NULL); }

/* --------------------------------------------------------------- the scene */

#define ROOM		8
#define FIRST		0x500000UL	/* addresses of frames */

static struct kunwind_space space;
static struct kunwind_ranges ranges = { .id = 77 };
static struct kunwind_range range;
static struct task_struct task;

/* What the next walk does. */
static struct {
	enum kunwind_reason reason;
	u32 count, spends;
	u32 found[KUNWIND_NR_METHODS];
	u64 unread[2];
	u64 breakpoint;
	bool replays;		/* the record of the previous walk is the stack */
	void (*meanwhile)(void);
} next;

/* What it was given. */
enum kind { NO_WALK, WALK, WALK_I386, REPLAY };
static struct {
	enum kind kind;
	struct kunwind_regs regs;
	struct kunwind_replay *replay;
	struct kunwind_analysis_cache *answers;
	u32 budget;
	u64 unread[2];
	u8 *trust;
	bool guess;
	u8 entry;
	unsigned int walks;
} was;

static unsigned long store[ROOM];
static u8 trust[ROOM + 1];

static void fill(struct kunwind_walk *walk)
{
	if (walk->ranges != &ranges || walk->cache != caches || walk->addresses != store ||
	    walk->capacity != ROOM || walk->others)
		wrong("what a walk is given");
	for (walk->count = 0; walk->count < next.count; walk->count++)
		walk->addresses[walk->count] = FIRST + walk->count;
}

static enum kunwind_reason does(struct kunwind_walk *walk, enum kind kind)
{
	void (*meanwhile)(void) = next.meanwhile;
	u32 i;

	on_this_cpu(walk);
	next.meanwhile = NULL;
	if (meanwhile)
		meanwhile();
	was.kind = kind;
	was.regs = walk->regs;
	was.replay = walk->replay;
	was.answers = walk->mem.answers;
	was.budget = walk->budget;
	was.unread[0] = walk->unread[0];
	was.unread[1] = walk->unread[1];
	was.trust = walk->trust;
	was.guess = walk->guess;
	was.entry = walk->entry;
	was.walks++;
	fill(walk);
	walk->range = &range;
	walk->mem.left = kunwind_budget(walk) - next.spends;
	walk->mem.breakpoint = next.breakpoint;
	for (i = 0; i < 2; i++)
		if (next.unread[i])
			walk->unread[i] = next.unread[i];
	/* As the real one: found is set with others. */
	for (i = 0; i < KUNWIND_NR_METHODS; i++) {
		if (!next.found[i])
			continue;
		if (!walk->others)
			memset(walk->found, 0, sizeof(walk->found));
		walk->others = true;
		walk->found[i] = next.found[i];
	}
	return next.reason;
}

enum kunwind_reason replaced_walk(struct kunwind_walk *walk) { return does(walk, WALK); }
enum kunwind_reason replaced_walk_i386(struct kunwind_walk *walk) { return does(walk, WALK_I386); }

bool replaced_replay(struct kunwind_walk *walk)
{
	if (!walk->replay || walk->i386 || walk->regs.r[KUNWIND_RSP] != user_regs.sp ||
	    walk->regs.r[KUNWIND_RBP] != user_regs.bp)
		wrong("what the record is compared with");
	if (!next.replays)
		return false;
	was.kind = REPLAY;
	fill(walk);
	return true;
}

static void begin(void)
{
	memset(&next, 0, sizeof(next));
	memset(&was, 0, sizeof(was));
	memset(&asked, 0, sizeof(asked));
	memset(&counters, 0, sizeof(counters));
	memset(per_cpu_ptr(&counters, 1), 0, sizeof(counters));
	next.count = 3;
	range = (struct kunwind_range){ .start = FIRST, .end = FIRST + 0x1000 };
	space = (struct kunwind_space){ .ranges = &ranges };
	task = (struct task_struct){ .pid = 10, .tgid = 10 };
	current = &task;
	user_regs = (struct pt_regs){
		.ip = CODE, .sp = 0x7ffd00001000, .bp = 0x7ffd00001010, .cs = __USER_CS, .orig_ax = 35,
		.bx = 3, .r12 = 12, .r15 = 15, .di = 5,
	};
	irqs_off = guess = false;
	level = IN_TASK;
	tokens = burst_tokens = CAPACITY;
	burst_filled = now_ns;
	kunwind_callstack_init();
}

static void end(void)
{
	kunwind_callstack_exit();
	current = NULL;
}

/* The result of the last walk. */
static struct kunwind_request request;

static enum kunwind_reason walks_for(enum kunwind_consumer consumer, bool with_trust)
{
	memset(store, 0xee, sizeof(store));
	request = (struct kunwind_request){
		.consumer = consumer, .store = store, .trust = with_trust ? trust : NULL,
		.capacity = ROOM, .count = 99,
	};
	return kunwind_callstack_walk(&space, &user_regs, KUNWIND_ALL_REGS, &request);
}

static enum kunwind_reason walks(void)
{
	return walks_for(KUNWIND_FOR_IOCTL, false);
}

/* A walk from registers that the caller of the ioctl passes. */
static enum kunwind_reason walks_from(const struct kunwind_regs *regs)
{
	request = (struct kunwind_request){
		.consumer = KUNWIND_FOR_IOCTL, .store = store, .capacity = ROOM, .count = 99,
	};
	return kunwind_callstack_walk_regs(&space, regs, &request);
}

static u64 stacks(enum kunwind_consumer of, enum kunwind_reason reason)
{
	return counters.of[of].by_reason[reason];
}

/* ---------------------------------------------------------------- the tests */

static void test_registers(void)
{
	struct kunwind_regs regs = { .valid = KUNWIND_ALL_REGS };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(regs.r); i++)
		regs.r[i] = 0x1000 + i;
	begin();
	tap_ok(walks() == KUNWIND_COMPLETE && was.kind == WALK && was.regs.r[KUNWIND_RBX] == 3 &&
	       was.regs.r[KUNWIND_R12] == 12 && was.regs.r[KUNWIND_R15] == 15 &&
	       was.regs.r[KUNWIND_RDI] == 5 && was.regs.r[KUNWIND_RSP] == user_regs.sp &&
	       was.regs.r[KUNWIND_RBP] == user_regs.bp && was.regs.r[KUNWIND_RA] == CODE &&
	       was.regs.valid == KUNWIND_ALL_REGS, "walk: it has the task's registers");
	user_regs.ip = SLOT;
	walks();
	tap_ok(was.regs.r[KUNWIND_RA] == CODE, "task in a slot of uprobes: the walk begins in the code");
	user_regs.ip = CODE;
	user_regs.sp = 1;		/* the record's arguments are checked with these */
	regs.r[KUNWIND_RSP] = user_regs.sp;
	regs.r[KUNWIND_RBP] = user_regs.bp;
	tap_ok(walks_from(&regs) == KUNWIND_COMPLETE && !memcmp(&was.regs, &regs, sizeof(regs)),
	       "walk from the caller's registers: it has those registers");
	end();
}

static void test_other(void)
{
	static struct task_struct other;
	struct kunwind_other_task blocked = { .task = &other };

	begin();
	walks();
	tap_ok(walked == &task && looked_up == &task, "walk: of the current task");
	request.other = &blocked;
	request.consumer = KUNWIND_FOR_BLOCKED;
	next.reason = KUNWIND_UNREADABLE;
	next.unread[0] = 0x111;
	next.unread[1] = 0x222;
	asked.times = 0;
	tap_ok(kunwind_callstack_walk(&space, &user_regs, KUNWIND_ALL_REGS, &request) == KUNWIND_UNREADABLE &&
	       walked == &other && looked_up == &other, "walk: of another task");
	tap_ok(!asked.times && blocked.unread[0] == 0x111 && blocked.unread[1] == 0x222,
	       "walk of another task: what it could not read is returned, and not requested");
	tap_ok(counters.of[KUNWIND_FOR_BLOCKED].by_reason[KUNWIND_UNREADABLE] == 1,
	       "walk of another task: it is counted apart");
	end();
}

static void test_entry(void)
{
	struct kunwind_regs regs = { .valid = KUNWIND_ALL_REGS };

	begin();
	walks();
	tap_ok(was.entry == KUNWIND_ENTRY_SYSCALL, "system call: the walk knows the entry");
	user_regs.orig_ax = -1UL;
	walks();
	tap_ok(was.entry == KUNWIND_ENTRY_OTHER, "interrupt: the walk knows the entry");
	user_regs.orig_ax = 0xffffffff;
	walks();
	tap_ok(was.entry == KUNWIND_ENTRY_SYSCALL,
	       "system call number 0xffffffff: it is no interrupt");
	user_regs.orig_ax = 35;
	regs.r[KUNWIND_RSP] = user_regs.sp;
	regs.r[KUNWIND_RBP] = user_regs.bp;
	walks_from(&regs);
	tap_ok(was.entry == KUNWIND_ENTRY_UNKNOWN,
	       "registers of the caller: how the first frame was left is not known");
	end();
}

static void test_guess(void)
{
	begin();
	walks_for(KUNWIND_FOR_TRACERS, false);
	tap_ok(!was.guess && !was.trust, "caller without room for the trust: no guesses");
	walks_for(KUNWIND_FOR_TRACERS, true);
	tap_ok(was.guess && was.trust == trust, "caller with room for the trust: guesses");
	guess = true;
	walks_for(KUNWIND_FOR_TRACERS, false);
	tap_ok(was.guess && !was.trust && kunwind_callstack_guesses(), "parameter guess: guesses for all");
	end();
}

static void test_kinds(void)
{
	begin();
	walks();
	tap_ok(was.kind == WALK && was.replay == replays, "task context: the walk makes a record");
	next.replays = true;
	next.count = 2;
	tap_ok(walks() == KUNWIND_COMPLETE && was.kind == REPLAY && was.walks == 1 && request.count == 2,
	       "record of the previous walk holds: no second walk");
	level = IN_SOFTIRQ;
	tap_ok(walks() == KUNWIND_COMPLETE && was.kind == WALK && !was.replay,
	       "softirq: the walk uses no record");
	level = IN_TASK;
	user_regs.cs = __USER32_CS;
	tap_ok(walks() == KUNWIND_COMPLETE && was.kind == WALK_I386, "32-bit code: its walk, and no record");
	end();
}

static void test_fresh(void)
{
	begin();
	WRITE_ONCE(space.fresh, true);
	tap_ok(walks() == KUNWIND_COMPLETE && request.count == 1 && store[0] == CODE && !was.walks,
	       "program after exec: it is at its entry");
	WRITE_ONCE(space.ranges, NULL);
	tap_ok(walks() == KUNWIND_COMPLETE && request.count == 1 && store[0] == CODE,
	       "program after exec, its mappings are not read: it is at its entry");
	WRITE_ONCE(space.fresh, false);
	tap_ok(walks() == KUNWIND_NOT_READY && request.count == 1 && store[0] == CODE && !was.walks,
	       "process whose mappings are not read: only the program counter");
	tap_ok(!asked.times, "process without mappings: nothing is requested");
	end();
}

static void test_requests(void)
{
	static const struct {
		const char *name;
		enum kunwind_reason reason;
		u32 count;
		u64 breakpoint;
		int kind;
		u64 first, second;
	} of[] = {
		{ "stack that cannot be read", KUNWIND_UNREADABLE, 3, 0, PAGES, 0x7000, 0x8000 },
		{ "the same after a breakpoint", KUNWIND_UNREADABLE, 3, 0x123, PAGES, 0x7000, 0x8000 },
		{ "missing part, second frame", KUNWIND_NOT_READY, 2, 0, PART, FIRST, 0 },
		{ "missing part, first frame", KUNWIND_NOT_READY, 1, 0, PART, FIRST, 0 },
		{ "missing part after a breakpoint", KUNWIND_NOT_READY, 3, 0x123, PART, FIRST + 1, 0 },
		{ "no rule", KUNWIND_NO_RULE, 3, 0, NONE, 0, 0 },
		{ "no rule, a breakpoint", KUNWIND_NO_RULE, 3, 0x123, BREAKPOINT, 0x123, 77 },
		{ "no table, a breakpoint", KUNWIND_NO_TABLE, 3, 0x123, BREAKPOINT, 0x123, 77 },
		{ "no object, a breakpoint", KUNWIND_NO_OBJECT, 3, 0x123, BREAKPOINT, 0x123, 77 },
		{ "budget spent after a breakpoint", KUNWIND_BUDGET_SPENT, 3, 0x123, NONE, 0, 0 },
		{ "no more room after a breakpoint", KUNWIND_BUFFER_FULL, 3, 0x123, NONE, 0, 0 },
		{ "complete after a breakpoint", KUNWIND_COMPLETE, 3, 0x123, NONE, 0, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		begin();
		next.reason = of[i].reason;
		next.count = of[i].count;
		next.breakpoint = of[i].breakpoint;
		next.unread[0] = 0x7000;
		next.unread[1] = 0x8000;
		/* The last address of frame 2 or later is that after a call. */
		tap_ok(walks() == of[i].reason && request.count == of[i].count &&
		       (int)asked.kind == of[i].kind && asked.first == of[i].first &&
		       asked.second == of[i].second && asked.times == (of[i].kind != NONE) &&
		       (asked.kind != PART || asked.range == &range),
		       "%s: what the walk missed is requested", of[i].name);
		end();
	}
	begin();
	next.reason = KUNWIND_UNREADABLE;
	tap_ok(walks() == KUNWIND_UNREADABLE && !was.unread[0] && !was.unread[1] && asked.kind == PAGES &&
	       !asked.first && !asked.second,
	       "stack that cannot be read, address not known: no address is made up");
	end();
}

static void test_budget(void)
{
	static const struct {
		const char *name;
		u8 level;
		bool irqs_off;
		u32 budget, tokens, burst_tokens;
	} of[] = {
		{ "task", IN_TASK, false, KUNWIND_BUDGET, CAPACITY, CAPACITY },
		{ "interrupts off", IN_TASK, true, KUNWIND_BUDGET_URGENT, CAPACITY, CAPACITY - 1000 },
		{ "softirq", IN_SOFTIRQ, false, KUNWIND_BUDGET_URGENT, CAPACITY, CAPACITY - 1000 },
		{ "hard interrupt", IN_HARDIRQ, true, KUNWIND_BUDGET_URGENT, CAPACITY - 1000, CAPACITY },
		{ "NMI", IN_NMI, true, KUNWIND_BUDGET_URGENT, CAPACITY - 1000, CAPACITY },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		begin();
		next.spends = 1000;
		level = of[i].level;
		irqs_off = of[i].irqs_off;
		walks();
		level = IN_TASK;
		tap_ok(was.budget == of[i].budget && tokens == of[i].tokens &&
		       burst_tokens == of[i].burst_tokens,
		       "%s: the walk has its budget, and pays what it spends", of[i].name);
		end();
	}
}

/* A walk in an NMI, during a walk in an interrupt, during a walk in a task. */
static struct kunwind_analysis_cache *inner_answers[2];

static void in_nmi(void)
{
	level = IN_NMI;
	walks();
	inner_answers[1] = was.answers;
	level = IN_HARDIRQ;
}

static void two_interrupts(void)
{
	level = IN_HARDIRQ;
	next.meanwhile = in_nmi;
	walks();
	inner_answers[0] = was.answers;
	/* A second interrupt of the same walk. */
	walks();
	if (was.answers)
		inner_answers[0] = was.answers;
	level = IN_TASK;
}

static bool nested;

static void in_page_fault(void)
{
	nested = walks() == KUNWIND_NESTED && !request.count;
}

static void test_nested(void)
{
	begin();
	next.meanwhile = two_interrupts;
	inner_answers[0] = inner_answers[1] = NULL;
	walks();
	tap_ok(was.walks == 4 && !inner_answers[0] && !inner_answers[1] && was.answers == answers,
	       "interrupts and an NMI in a walk: only the outer walk uses the answers about code");
	walks();
	tap_ok(was.answers == answers && answers->jit == jit_rules, "next walk: it uses the answers");
	level = IN_HARDIRQ;
	walks();
	level = IN_TASK;
	tap_ok(was.answers == answers, "interrupt in no walk: its walk uses the answers");
	end();
	begin();
	next.meanwhile = in_page_fault;
	tap_ok(walks() == KUNWIND_COMPLETE && nested && stacks(KUNWIND_FOR_IOCTL, KUNWIND_NESTED) == 1 &&
	       stacks(KUNWIND_FOR_IOCTL, KUNWIND_COMPLETE) == 1 &&
	       counters.of[KUNWIND_FOR_IOCTL].frames == 3,
	       "page fault in a walk: no stack, both requests are counted");
	end();
}

/* The lines of the status, and the counters of the ioctl. */
static void test_counters(void)
{
	static struct seq_file m;
	struct kunwind_stats stats = { .frames = 1 };	/* one more than nothing: it is added to */
	struct walk_counters *other;
	const char *text;

	begin();
	next.found[KUNWIND_BY_FP] = 2;
	next.found[KUNWIND_BY_ROW] = 3;
	next.count = 8;
	walks_for(KUNWIND_FOR_SAMPLER, true);
	walks_for(KUNWIND_FOR_SAMPLER, true);
	memset(next.found, 0, sizeof(next.found));
	next.count = 4;
	next.reason = KUNWIND_NO_RULE;
	walks_for(KUNWIND_FOR_TRACERS, false);
	WRITE_ONCE(walking[IN_TASK], 1);
	walks_for(KUNWIND_FOR_TRACERS, false);
	WRITE_ONCE(walking[IN_TASK], 0);
	kunwind_callstack_passed();
	other = per_cpu_ptr(&counters, 1);
	other->of[KUNWIND_FOR_TRACERS].frames = 10;
	other->of[KUNWIND_FOR_TRACERS].by_reason[KUNWIND_NO_RULE] = 2;
	other->of[KUNWIND_FOR_TRACERS].by_method[KUNWIND_BY_URETPROBE] = 1;
	other->passed_through = 5;
	cpus = 2;
	memset(&m, 0, sizeof(m));
	kunwind_callstack_show(&m);
	text = "stacks\ttracers\tno_rule\t3\n"
	       "stacks\ttracers\tnested\t1\n"
	       "frames\ttracers\tregisters\t3\n"
	       "frames\ttracers\tcfi\t10\n"
	       "frames\ttracers\turetprobe\t1\n"
	       "stacks\tsampler\tcomplete\t2\n"
	       "frames\tsampler\tregisters\t2\n"
	       "frames\tsampler\tcfi\t4\n"
	       "frames\tsampler\tcode\t6\n"
	       "frames\tsampler\tfp\t4\n"
	       "method\t";
	tap_ok(!strncmp(m.text, text, strlen(text)),
	       "status: stacks by reason, frames by trust, of all CPUs");
	if (strncmp(m.text, text, strlen(text)))
		printf("# %s\n", m.text);
	tap_ok(strstr(m.text, "method\tfp\t4\n") && strstr(m.text, "method\turetprobe\t1\n") &&
	       strstr(m.text, "method\trow\t6\n") && strstr(m.text, "method\tscan\t0\n") &&
	       !strstr(m.text, "method\tcfi"), "status: steps by each method");
	kunwind_callstack_stats(&stats);
	tap_ok(stats.frames == 1 + 14 + 16 && stats.stacks == 4 + 2 && stats.passed_through == 6 &&
	       stats.by_reason[KUNWIND_NO_RULE] == 3 && stats.by_reason[KUNWIND_COMPLETE] == 2 &&
	       stats.by_reason[KUNWIND_NESTED] == 1, "counters: the sums of all consumers and CPUs");
	cpus = 1;
	memset(&m, 0, sizeof(m));
	kunwind_callstack_show_params(&m);
	guess = true;
	kunwind_callstack_show_params(&m);
	tap_ok(!strcmp(m.text, "param\tguess\tN\nparam\tguess\tY\n"), "status: the parameter guess");
	end();
}

/* A stack of which methods have found more steps than it has frames. */
static void test_no_cfi(void)
{
	static struct seq_file m;

	begin();
	next.count = 1;
	next.found[KUNWIND_BY_BEGIN] = 1;	/* it found that there is no caller */
	walks();
	kunwind_callstack_show(&m);
	tap_ok(strstr(m.text, "frames\tioctl\tregisters\t1\n") && !strstr(m.text, "frames\tioctl\tcfi"),
	       "stack of one frame, without a caller: no frame by CFI");
	tap_ok(strstr(m.text, "method\tbegin\t1\n"),
	       "stack of one frame, without a caller: the step is counted");
	next.count = 4;
	memset(next.found, 0, sizeof(next.found));
	walks();
	memset(&m, 0, sizeof(m));
	kunwind_callstack_show(&m);
	tap_ok(strstr(m.text, "frames\tioctl\tregisters\t2\n") && strstr(m.text, "frames\tioctl\tcfi\t3\n"),
	       "stacks with and without such a step: the frames by registers and by CFI are all frames");
	end();
}

int main(void)
{
	test_registers();
	test_other();
	test_entry();
	test_guess();
	test_kinds();
	test_fresh();
	test_requests();
	test_budget();
	test_nested();
	test_counters();
	test_no_cfi();
	return tap_done();
}
