/* SPDX-License-Identifier: MIT */
/*
 * takeover-test.c - which calls of the kernel's functions that save user stacks
 * are redirected, how much room a walk has in perf's buffer, which registers it
 * trusts
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define static_assert(x)	_Static_assert(x, #x)
#define __same_type(a, b)	__builtin_types_compatible_p(__typeof__(a), __typeof__(b))
#define pr_notice(...)		do { } while (0)
#define X86_FEATURE_XENPV	0
struct perf_callchain_entry { u64 nr; u64 ip[16]; };
struct perf_callchain_entry_ctx {
	struct perf_callchain_entry *entry;
	u32 max_stack, nr;
	short contexts;
	bool contexts_maxed;
};
static int perf_callchain_store(struct perf_callchain_entry_ctx *ctx, u64 ip)
{
	ctx->entry->ip[ctx->entry->nr++] = ip;
	ctx->nr++;
	return 0;
}
struct unwind_stacktrace { unsigned int nr; unsigned long *entries; };
#define _KUNWIND_COMPAT_UNWIND_H
#define KUNWIND_HAS_UNWIND_USER	1

unsigned int stack_trace_save_user(unsigned long *store, unsigned int size);
void perf_callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs);
int unwind_user(struct unwind_stacktrace *trace, unsigned int max_entries);

static struct pt_regs user_regs;
static bool nmi, on_task_stack, xenpv;
#define task_pt_regs(task)	((void)(task), &user_regs)
#define in_nmi()		nmi
#define user_mode(regs)		(((regs)->cs & 3) == 3)
#define TASK_SIZE_MAX		0x7ffffffff000UL
#define P4D_SHIFT		39
#define CPU_ENTRY_AREA_BASE	0xfffffe0000000000UL
#define object_is_on_stack(object)	((void)(object), on_task_stack)
#define cpu_feature_enabled(feature)	((void)(feature), xenpv)

#define _KUNWIND_HOOK_H
struct ftrace_ops { int unused; };
struct ftrace_regs { unsigned long ip, argument[2]; };
#define ftrace_regs_set_instruction_pointer(fregs, to)	((fregs)->ip = (to))
#define ftrace_regs_get_argument(fregs, n)	((fregs)->argument[n])
struct kunwind_hook {
	const char *function;
	void (*call)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs);
	bool redirects, on;
	int error;
};
static bool hook_missing;
static unsigned int refused_hook = -1, disabled;
#define kunwind_hook_missing()	hook_missing
/* As in the kernel, a hook that is removed later has no error, and is not on. */
static struct kunwind_hook *kunwind_hooks_enable(struct kunwind_hook *hooks, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		hooks[i].on = i != refused_hook;
		hooks[i].error = hooks[i].on ? 0 : -EBUSY;
	}
	return refused_hook < nr ? &hooks[refused_hook] : NULL;
}
static bool kunwind_hooks_disable(struct kunwind_hook *hooks, unsigned int nr)
{
	disabled = nr;
	while (nr--)
		hooks[nr].on = false;
	return true;
}
#define kunwind_hooks_show(m, hooks, nr, why)	((void)(hooks))
#define kunwind_hook_refusal(hook)	"no reason"

#define _KUNWIND_STACK_EVENT_H
static bool listening;
#define kunwind_stack_event_wanted()	listening
#include "../../kmod/space/space.h"
static bool kunwind_stack_event(struct kunwind_space *space, const struct pt_regs *regs, u32 valid,
				unsigned long *store, u32 size, u32 *count);
#include "../../kmod/stack/takeover.c"

/* --------------------------------------- functions that takeover.c calls */

static struct kunwind_space registered;
static struct mm_struct mm, other_mm;
static struct task_struct task = { .mm = &mm };
static enum kunwind_reason excluded;
static unsigned int passed, walks, emissions;
static u32 trusted_last, room_last;
static bool event_on;

bool kunwind_enabled = true;
static const struct pt_regs *excluded_regs;	/* of the last question */
enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *regs)
{
	excluded_regs = regs;
	return excluded;
}
void kunwind_callstack_passed(void) { passed++; }
struct kunwind_space *kunwind_space_find(const struct mm_struct *of)
{
	return of == &mm ? &registered : NULL;
}

/* The walk finds a stack that is longer than any buffer; or nothing, inside another walk. */
static bool in_walk;
static struct kunwind_request asked;	/* of the last walk */
static const struct pt_regs *walked_regs;
static void fill(unsigned long *store, u32 room, u32 valid)
{
	u32 i;

	for (i = 0; i < room; i++)
		store[i] = 0x1000 + i;
	trusted_last = valid;
	room_last = room;
}

enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *space, const struct pt_regs *regs,
					   u32 valid, struct kunwind_request *request)
{
	if (space != &registered || !request->store || request->count)
		wrong("what a walk is given");
	walked_regs = regs;
	asked = *request;
	walks++;
	if (in_walk)
		return KUNWIND_NESTED;
	fill(request->store, request->capacity, valid);
	request->count = request->capacity;
	return KUNWIND_BUFFER_FULL;
}

static bool kunwind_stack_event(struct kunwind_space *space, const struct pt_regs *regs, u32 valid,
				unsigned long *store, u32 size, u32 *count)
{
	(void)space, (void)regs;
	emissions++;
	if (!event_on)
		return false;
	fill(store, size, valid);
	*count = size;
	return true;
}

/* --------------------------------------------------------------- the scene */

static void begin(void)
{
	current = &task;
	task.mm = &mm;
	kunwind_enabled = true;
	excluded = KUNWIND_COMPLETE;
	nmi = xenpv = listening = event_on = false;
	on_task_stack = true;
	passed = walks = emissions = 0;
	user_regs = (struct pt_regs){ .ip = 0x400000 };
}

/* Returns whether hook number @which redirects a call of its function. */
static bool redirected(unsigned int which)
{
	struct ftrace_regs fregs = { .ip = 1, .argument = { 0, (unsigned long)&user_regs } };

	hooks[which].call(0, 0, NULL, &fregs);
	return fregs.ip != 1;
}

static bool all_redirected(bool wanted)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (redirected(i) != wanted)
			return false;
	return true;
}

/* ---------------------------------------------------------------- the tests */

static void test_whose(void)
{
	begin();
	tap_ok(all_redirected(true) && !passed,
	       "registered process: all three functions are redirected");
	excluded = KUNWIND_KTHREAD;
	tap_ok(all_redirected(false) && !passed,
	       "kernel worker with a registered process's mm: no function is redirected");
	excluded = KUNWIND_COMPLETE;
	task.mm = &other_mm;
	tap_ok(all_redirected(false) && passed == 3,
	       "process that is not registered: no function is redirected, each call is counted");
}

static void test_registers(void)
{
	static const struct {
		const char *name;
		bool nmi, own_regs, on_task_stack, xenpv;
		u32 valid;
	} of[] = {
		{ "no NMI", false, false, true, false, KUNWIND_ALL_REGS },
		{ "a hard interrupt, on a stack of its own", false, false, false, false, KUNWIND_ALL_REGS },
		{ "an NMI from user mode", true, false, true, false, KUNWIND_ALL_REGS },
		{ "an NMI from the kernel", true, false, false, false, KUNWIND_REGS_NMI },
		{ "an NMI with other registers", true, true, false, false, KUNWIND_ALL_REGS },
		{ "any NMI of a Xen guest", true, false, true, true, KUNWIND_REGS_NMI },
	};
	struct perf_callchain_entry entry = { 0 };
	struct pt_regs own;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct perf_callchain_entry_ctx ctx = { .entry = &entry, .max_stack = 4 };

		begin();
		nmi = of[i].nmi;
		on_task_stack = of[i].on_task_stack;
		xenpv = of[i].xenpv;
		entry.nr = 0;
		callchain_user(&ctx, of[i].own_regs ? &own : &user_regs);
		tap_ok(walks == 1 && trusted_last == of[i].valid, "%s: %s registers are trusted",
		       of[i].name, of[i].valid == KUNWIND_ALL_REGS ? "all" : "not all");
	}
}

/* For samples: has the kernel entry saved the user's registers? */
static void test_saved(void)
{
	const unsigned long saved = (unsigned long)&user_regs;
	const struct {
		const char *name;
		bool nmi, user, on_task_stack, saved;
		unsigned long sp;
	} of[] = {
		{ "a timer interrupt", false, false, true, true, saved + 8 },
		{ "an NMI from user mode", true, true, false, true, 0x7fff00001000 },
		{ "an NMI in a system call", true, false, true, true, saved - 512 },
		{ "an NMI when the last register was saved", true, false, true, true, saved },
		{ "an NMI while registers are saved", true, false, true, false, saved + 8 },
		{ "an NMI before the entry code has left the user's stack", true, false, false, false,
		  0x7fff00001000 },
		{ "an NMI on the entry stack", true, false, false, false, CPU_ENTRY_AREA_BASE + 0x2000 },
		{ "an NMI in an interrupt", true, false, false, true, 0xffffc90000004000 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct pt_regs regs = { .sp = of[i].sp, .cs = of[i].user ? __USER_CS : 0x10 };

		begin();
		nmi = of[i].nmi;
		on_task_stack = of[i].on_task_stack;
		tap_ok(kunwind_regs_saved(&regs) == of[i].saved, "%s: the user's registers are %ssaved",
		       of[i].name, of[i].saved ? "" : "not ");
	}
}

/* perf's buffer: marks of a context count in entry->nr, but not in ctx->nr. */
static void test_room(void)
{
	static const struct { const char *name; u32 max, used, marks, left; } of[] = {
		{ "an empty buffer", 10, 0, 1, 10 }, { "frames of the kernel before", 10, 7, 2, 3 },
		{ "room for one", 10, 9, 2, 1 }, { "no room", 10, 10, 2, 0 },
	};
	struct perf_callchain_entry entry;
	struct perf_callchain_entry_ctx full = {
		.entry = &entry, .max_stack = 10, .contexts_maxed = true,
	};
	unsigned int i, j, round;
	bool good;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		/* a walk; the event's; unregistered after the hook ran */
		for (round = 0; round < 3; round++) {
			struct perf_callchain_entry_ctx ctx = {
				.entry = &entry, .max_stack = of[i].max, .nr = of[i].used,
			};
			const u32 first = of[i].used + of[i].marks;
			const u32 left = round == 2 && of[i].left ? 1 : of[i].left;

			begin();
			listening = event_on = round == 1;
			task.mm = round == 2 ? &other_mm : &mm;
			memset(&entry, 0xee, sizeof(entry));
			entry.nr = first;
			callchain_user(&ctx, &user_regs);
			good = ctx.nr == of[i].used + left && entry.nr == first + left;
			for (j = 0; j < ARRAY_SIZE(entry.ip); j++)
				good &= (j >= first && j < first + left) ==
					(entry.ip[j] != 0xeeeeeeeeeeeeeeeeULL);
			tap_ok(good, "perf, %s: %u addresses are added%s", of[i].name, left,
			       round == 1 ? ", event's walk" : round ? ", unregistered meanwhile" : "");
		}
	}
	begin();
	entry.nr = 0;
	callchain_user(&full, &user_regs);
	tap_ok(!walks && !entry.nr, "perf, no room for the mark of the context: nothing is added");
}

static void test_save(void)
{
	unsigned long store[8];
	struct unwind_stacktrace trace = { .entries = store };

	begin();
	store[5] = 1;
	tap_ok(save_user(store, 5) == 5 && walks == 1 && room_last == 5 && store[5] == 1,
	       "stack_trace_save_user: a walk fills the whole buffer");
	tap_ok(!save_user(store, 0) && walks == 1,
	       "stack_trace_save_user: an empty buffer causes no walk");
	listening = true;
	tap_ok(save_user(store, 5) == 5 && walks == 2 && emissions == 1,
	       "stack_trace_save_user: a walk follows if the event is not emitted");
	event_on = true;
	tap_ok(save_user(store, 5) == 5 && walks == 2 && emissions == 2,
	       "stack_trace_save_user: the walk of the event is used, no other follows");
	kunwind_enabled = false;
	tap_ok(save_user(store, 5) == 1 && store[0] == user_regs.ip && walks == 2,
	       "stack_trace_save_user, kill switch set after the hook ran: only the program counter");
	begin();
	tap_ok(!unwind(&trace, 5) && trace.nr == 5, "unwind_user: a walk fills the whole buffer");
	tap_ok(unwind(&trace, 0) == -EINVAL, "unwind_user: an empty buffer returns EINVAL");
	tap_ok(asked.consumer == KUNWIND_FOR_TRACERS && !asked.trust && walked_regs == &user_regs,
	       "walks for tracers: from the task's registers, without trust, counted as tracers'");
	in_walk = true;
	trace.nr = 7;
	tap_ok(!unwind(&trace, 5) && !trace.nr, "unwind_user inside a walk: no addresses, and no error");
	tap_ok(!save_user(store, 5), "stack_trace_save_user inside a walk: no addresses");
	in_walk = false;
}

/* perf passes the registers of the event, the others use those of the task. */
static void test_whose_registers(void)
{
	struct pt_regs own;
	struct ftrace_regs fregs = { .argument = { 0, (unsigned long)&own } };

	begin();
	hooks[1].call(0, 0, NULL, &fregs);
	tap_ok(excluded_regs == &own,
	       "perf_callchain_user: the code segment is that of the event's registers");
	hooks[0].call(0, 0, NULL, &fregs);
	tap_ok(excluded_regs == &user_regs, "stack_trace_save_user: the code segment is the task's");
	hooks[2].call(0, 0, NULL, &fregs);
	tap_ok(excluded_regs == &user_regs, "unwind_user: the code segment is the task's");
}

static void test_features(void)
{
	const u64 others = KUNWIND_F_TAKEOVER_PERF | KUNWIND_F_TAKEOVER_DEFERRED;

	tap_ok(!kunwind_takeover_features(), "before the module's init: no feature");
	hook_missing = true;
	kunwind_takeover_init();
	tap_ok(!kunwind_takeover_features(), "a required hook is missing: no function is taken over");
	hook_missing = false;
	kunwind_takeover_init();
	tap_ok(kunwind_takeover_features() == (others | KUNWIND_F_TAKEOVER_STACK),
	       "all hooks are on: their features");
	tap_ok(kunwind_takeover_exit() && disabled == NR_HOOKS && !kunwind_takeover_features(),
	       "hooks are removed: no feature");
	refused_hook = 0;
	kunwind_takeover_init();
	tap_ok(kunwind_takeover_features() == others, "one hook is refused: the others' features");
}

int main(void)
{
	test_whose();
	test_registers();
	test_saved();
	test_room();
	test_save();
	test_whose_registers();
	test_features();
	return tap_done();
}
