/* SPDX-License-Identifier: MIT */
/*
 * kernel-context-test.c - the id of an event's kernel stack: it is that of what the
 * kernel's unwinder would find now, and is defined before the next event needs it
 *
 * The unwinder here is like ORC: it has for each return address how far the next one is,
 * from the stack pointer or from rbp.
 */
#include "kernel.h"
#include "tap.h"

#include "../../kmod/uapi/kunwind.h"

/* ------------------------------------------------------ more of the kernel */

#define CONFIG_UNWINDER_ORC
#define THREAD_SIZE		16384
#define nr_cpu_ids		2
#define smp_processor_id()	0
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 2; (cpu)++)
#define kvcalloc(n, size, gfp)	kvzalloc((n) * (size), gfp)
static int fails;		/* which of the next allocations for a CPU fails; 0: none */
#undef kvzalloc_node
#define kvzalloc_node(size, gfp, node)	(fails && !--fails ? NULL : kernel_alloc(size, gfp, node, true, true))
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define this_cpu_inc_return(x)	(++(x))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define READ_ONCE_NOCHECK(x)	READ_ONCE(x)
#define hash_32(value, bits)	(shared_set ? 0 : (u32)((value) * 0x61C88647U) >> (32 - (bits)))
static bool shared_set;
static u8 level;
#define interrupt_context_level()	level
static struct registers { unsigned long orig_ax; } user;
#define task_pt_regs(task)	(&user)

#define WORDS			(THREAD_SIZE / sizeof(unsigned long))
static unsigned long stack[WORDS], other_stack[WORDS];
#define task_stack_page(task)	((void *)stack)
static unsigned long *sp_now;	/* where kunwind_kernel_context_id() is called */
#define current_stack_pointer	((unsigned long)sp_now)

/*
 * A frame: its return address is @up words above the last one, as far as the last one
 * says; the first one is always at the same distance. BY_RBP: it is above the word at
 * rbp. BROKEN: so it is, but the walk fails. REALIGNED: the word below rbp points there.
 * @saved: the word so far below the return address has the caller's rbp; 0: the callee has
 * not changed rbp.
 */
enum { BY_SP, BY_RBP, BROKEN, REALIGNED, REGS, TRACED };
struct frame { unsigned long address; u32 up; int kind; u32 saved; };
static const struct frame *frames;
static u32 nr_frames;
static unsigned int walks, frames_read;
static unsigned long start_rbp;	/* of the first frame */
struct unwind_state {
	const struct frame *now;
	unsigned long sp, bp;
	void *regs;
	bool error, done;
};

static bool needs_rbp(const struct frame *frame)
{
	return frame->kind == BY_RBP || frame->kind == BROKEN || frame->kind == REALIGNED;
}

static void arrive(struct unwind_state *state)
{
	frames_read++;
	state->done = state->now == frames + nr_frames;
	if (state->done)
		return;
	if (needs_rbp(state->now)) {
		if (state->bp % 8 || state->bp - (unsigned long)stack >= THREAD_SIZE - 16) {
			state->error = state->done = true;
			return;
		}
		state->sp = state->now->kind == REALIGNED ? ((unsigned long *)state->bp)[-1] : state->bp + 16;
		state->error = state->done = state->now->kind == BROKEN;
	} else {
		state->sp += state->now->up * sizeof(unsigned long);
	}
	if (state->now->saved)
		state->bp = ((unsigned long *)state->sp)[-1 - (int)state->now->saved];
	state->regs = state->now->kind == REGS ? &user : NULL;
}

static void unwind_start(struct unwind_state *state, struct task_struct *task, void *regs,
			 unsigned long *first_frame)
{
	if (task != current || regs || first_frame != sp_now)
		wrong("another stack");
	walks++;
	*state = (struct unwind_state){ .now = frames, .sp = (unsigned long)sp_now, .bp = start_rbp };
	arrive(state);
}

static bool unwind_done(const struct unwind_state *state) { return state->done; }
static bool unwind_error(const struct unwind_state *state) { return state->error; }
static unsigned long unwind_get_return_address(const struct unwind_state *state)
{
	return state->now->address;
}

static bool unwind_next_frame(struct unwind_state *state)
{
	state->now++;
	arrive(state);
	return !state->done;
}

#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#include "../../kmod/trace/stack.h"
static void heard(const struct kunwind_stack *of);
static bool on = true;
#define trace_kunwind_kernel_callstack_enabled()	on
#define trace_kunwind_kernel_callstack(of)		heard(of)
#include "../../kmod/trace/stack_ids.c"
/* both files have functions of these names */
#define define	define_kernel
#define find	find_kernel
#include "../../kmod/stack/kernel_context.c"
#undef define
#undef find
#include "stack-reader.h"

/* --------------------------------------------------------------- the scene */

static struct task_struct task = { .pid = 101, .tgid = 100 };
static struct reader reader;
static unsigned int definitions;
static u64 nested = 1;
static bool nest;

static void heard(const struct kunwind_stack *of)
{
	definitions++;
	if (nest)
		nested = kunwind_kernel_context_id();
	read_event(&reader, of);
}

/* The task's stack is now that of these frames, from @depth words below the top on. */
static void calls(const struct frame *of, u32 nr, u32 depth, unsigned long *bottom)
{
	unsigned long *at = sp_now = bottom + WORDS - depth, *rbp = NULL;
	u32 i;

	frames = of;
	nr_frames = nr;
	for (i = 0; i < nr; i++) {
		at += of[i].up;
		if (of[i].kind != TRACED)
			at[-1] = of[i].address;
	}
	/* From the caller on: rbp is that of the next frame that needs it. */
	for (i = nr; i-- > 0; at -= of[i].up) {
		if (of[i].saved)
			at[-1 - (int)of[i].saved] = (unsigned long)rbp;
		if (needs_rbp(&of[i]))
			rbp = at - (of[i].kind == REALIGNED ? 4 : 2);
		if (of[i].kind == REALIGNED)
			rbp[-1] = (unsigned long)at;
	}
	start_rbp = (unsigned long)rbp;
}

/* The word where frame @nr has saved rbp. */
static unsigned long *saved(u32 nr)
{
	unsigned long *at = sp_now;
	u32 i;

	for (i = 0; i <= nr; i++)
		at += frames[i].up;
	return &at[-1 - (int)frames[nr].saved];
}

/* An event: its stack, by what the reader knows. */
static bool right(void)
{
	const u64 id = kunwind_kernel_context_id();
	const struct kunwind_stack *got = id ? *place(&reader, id) : NULL;
	u32 i;

	if (!got || got->count != nr_frames || got->tgid || got->tid)
		return false;
	for (i = 0; i < nr_frames; i++)
		if (got->addresses[i] != frames[i].address)
			return false;
	return true;
}

static const struct frame entry[] = { { 11, 4, 0, 0 }, { 12, 9, 0, 0 }, { 13, 2, 0, 0 }, { 14, 30, 0, 0 } };
static const struct frame leave[] = { { 11, 4, 0, 0 }, { 12, 9, 0, 0 }, { 23, 2, 0, 0 }, { 14, 30, 0, 0 } };
/* rbp is the first frame's own: it has no word in the stack. */
static const struct frame by_rbp[] = { { 11, 4, 0, 0 }, { 15, 9, BY_RBP, 0 }, { 14, 30, 0, 0 } };
static const struct frame restored[] = {
	{ 11, 4, 0, 0 }, { 12, 9, 0, 2 }, { 16, 5, 0, 0 }, { 15, 9, BY_RBP, 1 }, { 14, 30, 0, 3 },
};
/* The same, with two words more where do_syscall_64() makes the stack deeper. */
static const struct frame deeper[] = {
	{ 11, 4, 0, 0 }, { 12, 9, 0, 2 }, { 16, 5, 0, 0 }, { 15, 11, BY_RBP, 1 }, { 14, 30, 0, 3 },
};
static const struct frame twice[] = {
	{ 11, 4, 0, 0 }, { 12, 9, 0, 2 }, { 15, 9, BY_RBP, 1 }, { 16, 5, 0, 0 }, { 14, 30, BY_RBP, 0 },
};
static const struct frame broken[] = { { 11, 4, 0, 0 }, { 12, 9, 0, 2 }, { 15, 9, BROKEN, 1 }, };
static const struct frame realigned[] = {
	{ 11, 4, 0, 0 }, { 12, 9, 0, 2 }, { 15, 9, REALIGNED, 1 }, { 14, 30, 0, 0 },
};
static const struct frame after_regs[] = { { 11, 4, 0, 0 }, { 15, 9, REGS, 0 }, { 14, 30, 0, 0 } };
static const struct frame traced[] = { { 11, 4, 0, 0 }, { 15, 9, TRACED, 0 }, { 14, 30, 0, 0 } };
#define CALLS(frames)	calls(frames, sizeof(frames) / sizeof(*(frames)), 100, stack)

static void begin(void)
{
	while (counters)
		kunwind_kernel_context_put();
	if (kunwind_kernel_context_get())
		wrong("no memory");
	current = &task;
	memset(stack, 0, sizeof(stack));
	level = 0;
	on = true;
	shared_set = nest = false;
	user.orig_ax = 3;
	walks = definitions = frames_read = 0;
}

/* ---------------------------------------------------------------- the tests */

static void test_notes(void)
{
	u64 id;

	begin();
	CALLS(entry);
	tap_ok(right() && walks == 1 && definitions == 1, "first event: the stack is walked and defined");
	id = kunwind_kernel_context_id();
	tap_ok(right() && walks == 1 && definitions == 1, "equal stack: the same id without a walk");
	CALLS(leave);
	tap_ok(right() && kunwind_kernel_context_id() != id, "one return address differs: another stack");
	CALLS(entry);
	tap_ok(kunwind_kernel_context_id() == id && walks == 2 && definitions == 2,
	       "the first stack again: its id, by its note");
	user.orig_ax = 4;
	tap_ok(kunwind_kernel_context_id() == id && definitions == 2,
	       "another system call with an equal stack: the same id");
	calls(entry, 4, 200, stack);
	tap_ok(kunwind_kernel_context_id() == id && walks == 4,
	       "the same return addresses at another depth: walked, the same id");
	walks = 0;
	tap_ok(right() && !walks, "the note of that depth");
	kunwind_stack_restart();
	tap_ok(right() && definitions == 3 && !walks,
	       "a session begins: the stack is defined again, without a walk");
}

static void test_inputs(void)
{
	static struct frame deep[KUNWIND_MAX_KERNEL_FRAMES + 2];
	u32 i;

	begin();
	CALLS(by_rbp);
	tap_ok(right() && walks == 2, "a frame by rbp: the stack is walked with the right rbp");
	walks = 0;
	tap_ok(right() && walks == 1, "a frame by rbp: walked each time, but not twice");
	begin();
	CALLS(after_regs);
	right();
	walks = 0;
	tap_ok(right() && walks, "registers that an exception has saved: walked each time");
	begin();
	CALLS(traced);
	right();
	walks = 0;
	tap_ok(right() && walks, "a changed return address (kretprobe): walked each time");
	begin();
	for (i = 0; i < KUNWIND_MAX_KERNEL_FRAMES + 2; i++)
		deep[i] = (struct frame){ 1000 + i, i ? 3 : 4, 0, 0 };
	calls(deep, NOTE_FRAMES, 1000, stack);
	right();
	walks = 0;
	tap_ok(right() && !walks, "a stack that just fits a note");
	begin();
	calls(deep, NOTE_FRAMES + 1, 1000, stack);
	tap_ok(right() && right(), "a stack with one frame more");
	calls(deep, KUNWIND_MAX_KERNEL_FRAMES + 2, 1000, stack);
	kunwind_kernel_context_id();
	nr_frames = KUNWIND_MAX_KERNEL_FRAMES;
	tap_ok(right(), "the longest stack is cut");
}

/* Frames for which the walk needs rbp. */
static void test_rbp(void)
{
	unsigned long *word;
	bool ok;
	u32 i;

	begin();
	CALLS(restored);
	tap_ok(right() && walks == 1, "a frame by an rbp that a callee has saved: a note");
	ok = right();
	*saved(4) = 77;
	tap_ok(ok && right() && walks == 1, "an rbp that nothing needs may differ");
	saved(1)[-1] = 77;
	tap_ok(right() && walks == 1, "other words may differ");
	CALLS(restored);
	calls(deeper, 5, 102, stack);
	ok = right();
	calls(restored, 5, 100, stack);
	tap_ok(ok && right() && walks == 1, "the frames below the one by rbp are deeper: the note");
	calls(deeper, 5, 102, stack);
	saved(3)[1]++;
	right();
	tap_ok(walks > 1, "a return address above the frame by rbp differs: walked");
	begin();
	CALLS(restored);
	right();
	*saved(1) += 8;
	right();
	tap_ok(walks > 1, "the saved rbp differs: walked");

	begin();
	CALLS(twice);
	ok = right() && right();
	tap_ok(ok && walks == 1, "two frames by rbp: a note");
	*saved(2) += 8;
	right();
	tap_ok(walks > 1, "the second one's rbp differs: walked");

	begin();
	CALLS(restored);
	word = saved(1);
	for (i = 1; i < 6; i++)
		word[-(int)i] = *word;
	ok = right() && right();
	tap_ok(ok && walks == 1, "the frame has more words with the same value: a note");
	word[-3] = 5;
	tap_ok(right() && walks == 2, "any of these words differs: walked");
	begin();
	CALLS(restored);
	right();
	for (i = 0; i < 5; i++) {
		static const unsigned long more[] = { 4, 8, THREAD_SIZE, -THREAD_SIZE, 1UL << 35 };

		walks = 0;
		*saved(1) += more[i];
		kunwind_kernel_context_id();
		tap_ok(walks, "another rbp, also one outside of the stack: walked");
		*saved(1) -= more[i];
	}

	begin();
	CALLS(broken);
	kunwind_kernel_context_id();
	kunwind_kernel_context_id();
	tap_ok(walks > 2, "the walk fails above the frame by rbp: walked each time");

	begin();
	CALLS(realigned);
	walks = 0;
	tap_ok(right() && right() && walks > 2, "a frame whose end another word gives: walked each time");

	begin();
	CALLS(restored);
	right();
	memcpy(other_stack, stack, sizeof(stack));
	memset(stack, 0, sizeof(stack));
	CALLS(restored);
	walks = 0;
	tap_ok(right() && !walks, "the same stack written again: its note");
}

static void test_contexts(void)
{
	begin();
	CALLS(entry);
	right();
	level = 3;
	walks = 0;
	tap_ok(right() && walks == 1, "an NMI walks, and leaves the notes alone");
	level = 0;
	calls(entry, 4, 100, other_stack);
	tap_ok(right() && walks == 2, "on another stack than the task's: walked");
	begin();
	nest = true;
	CALLS(entry);
	tap_ok(right() && !nested, "an event of the definition itself has no stack");
	on = false;
	tap_ok(!kunwind_kernel_context_id(), "the event is off: no id");
	begin();
	CALLS(entry);
	nr_frames = 0;
	tap_ok(!kunwind_kernel_context_id(), "nothing is found: no id");
}

static void test_set(void)
{
	static struct frame many[2 * NOTE_WAYS][4];
	bool ok = true;
	u32 i, round;

	begin();
	shared_set = true;
	for (i = 0; i < 2 * NOTE_WAYS; i++)
		for (round = 0; round < 4; round++)
			many[i][round] = (struct frame){ 100 * i + round + 1, 4, 0, 0 };
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 2 * NOTE_WAYS; i++) {
			calls(many[i], 4, 100, stack);
			ok = ok && right();
		}
	}
	tap_ok(ok && definitions == 2 * NOTE_WAYS, "more stacks than a set has notes: each has its id");
	for (round = 0; round < 2; round++) {
		calls(many[0], 4, 100, stack);
		right();
		if (round)
			CALLS(by_rbp);
		else
			CALLS(traced);
		for (i = 0; i < SKIP; i++)
			ok = ok && right();
		calls(many[0], 4, 100, stack);
		walks = 0;
		tap_ok(ok && right() && !walks, "a stack without note (%s) replaces one note only",
		       round ? "by rbp" : "kretprobe");
	}
	begin();
	shared_set = true;
	CALLS(entry);
	right();
	calls(leave, 4, 300, stack);
	tap_ok(right(), "the return addresses of a note are still there, further out: another stack");
}

static void test_memory(void)
{
	int i;

	begin();
	tap_ok(!kunwind_kernel_context_get(), "a second counter");
	kunwind_kernel_context_put();
	CALLS(entry);
	tap_ok(right(), "the memory stays until the last counter ends");
	kunwind_kernel_context_put();
	tap_ok(!memory && !counters, "the last counter frees it");
	for (i = 1; i <= 4; i++) {
		fails = i;
		if (kunwind_kernel_context_get() != -ENOMEM || memory || counters || nr_of_kvmalloc)
			break;
	}
	fails = 0;
	tap_ok(i == 5, "each allocation for a CPU may fail: no counter, and nothing stays allocated");
}

int main(void)
{
	test_notes();
	test_inputs();
	test_rbp();
	test_contexts();
	test_set();
	test_memory();
	return tap_done();
}
