// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_context.c - give events of LTTng the id of their kernel stack
 *
 * LTTng's context callstack-kernel walks the kernel stack at each event, and copies it
 * to the event. This file gives it an id instead, like that of the user stack: as the
 * value of a counter of the PMU "kunwind" (stack_context.c). The event
 * kunwind_kernel_callstack defines the id, in the stream of the same CPU, whenever
 * trace/stack_ids.c asks for that. The stacks of all tasks share one table, because
 * equal kernel stacks differ in nothing else.
 *
 * The kernel's own unwinder (ORC) takes some 250 instructions a frame, and the frames
 * of the tracer are a half of each stack. So each CPU has notes of walks: where the
 * return addresses were in the task's stack, and which ones. If all these words are the
 * same, as far from the stack pointer, a walk would have the same result, because ORC finds
 * the next return address from the stack pointer and the last return address.
 *
 * Some code needs rbp, too: LTTng's probes of system calls, and do_syscall_64(), which
 * makes the stack deeper by a random number of bytes. A walk for a note therefore steps
 * from each frame with a wrong rbp first. If that fails, the note has the words from which
 * rbp may have come: all words of the frame that restored rbp that have its value. The
 * frames from there on are as far from rbp as they were. If there are no such words, the
 * stack is walked without a note.
 *
 * Notes are used on the stack of a task only. In interrupts and NMIs each event walks.
 * A kernel without ORC has no notes.
 *
 * Memory: 146 KB for each CPU while a counter is open.
 */
#include <linux/build_bug.h>
#include <linux/hash.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/asm.h>
#include <asm/unwind.h>

#include "../uapi/kunwind.h"
#include "kernel_context.h"
#include "../trace/kernel_stack.h"
#include "../trace/sample.h"
#include "../trace/stack_ids.h"

#define NOTE_FRAMES	40
#define NOTE_RBP	8	/* words with an rbp that the walk needed */
#define NOTE_BITS	4
#define NOTE_WAYS	8
#define SKIP		32
#define CONTEXTS	4	/* interrupt_context_level(): task, softirq, hardirq, NMI */
#define STACK_WORDS	(THREAD_SIZE / sizeof(unsigned long))

/* A walk, and the id that its stack got last. Positions are words from the task's stack. */
struct kernel_note {
	u64 id;
	u32 slot;			/* see kunwind_stack_ids_define() */
	u16 sp;
	u16 nr;				/* 0: no note */
	u16 nr_rbp;
	u16 at[NOTE_FRAMES];
	u16 rbp_at[NOTE_RBP], rbp[NOTE_RBP];	/* its value is a position, too */
	u8 rbp_frame[NOTE_RBP];			/* whose caller is found by it */
	unsigned long address[NOTE_FRAMES];
};

/* Notes of walks with the same hash of system call, or, outside of them, of stack pointer. */
struct kernel_note_set {
	u32 next;			/* the way that is used again next */
	u32 skip;			/* walks without a note, because the last one failed */
	struct kernel_note note[NOTE_WAYS];
};

struct kernel_scratch {
	bool busy;
	unsigned long address[KUNWIND_MAX_KERNEL_FRAMES];
};

/* Of one CPU. */
struct memory {
	struct kunwind_stack_ids *ids;
	struct kernel_scratch scratch[CONTEXTS];
	struct kernel_note_set set[1 << NOTE_BITS];
};

/* Protects counters, and changes of memory. */
static DEFINE_MUTEX(counters_lock);
static unsigned int counters;
/* Of each possible CPU. A reader has a counter, so it is not freed meanwhile. */
static struct memory **memory;

/* Each frame as in a walk by CFI: no event needs to hold the trusts. */
static const u8 trust[KUNWIND_MAX_KERNEL_FRAMES] = {
	[0] = KUNWIND_TRUST_REGISTERS,
	[1 ... KUNWIND_MAX_KERNEL_FRAMES - 1] = KUNWIND_TRUST_CFI,
};

static void memory_free(struct memory **old)
{
	int cpu;

	if (!old)
		return;
	for_each_possible_cpu(cpu) {
		if (old[cpu])
			kunwind_stack_ids_free(old[cpu]->ids);
		kvfree(old[cpu]);
	}
	kvfree(old);
}

static struct memory **memory_alloc(void)
{
	struct memory **new = kvcalloc(nr_cpu_ids, sizeof(*new), GFP_KERNEL | __GFP_NOWARN);
	int cpu;

	if (!new)
		return NULL;
	for_each_possible_cpu(cpu) {
		new[cpu] = kvzalloc_node(sizeof(**new), GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
		if (new[cpu])
			new[cpu]->ids = kunwind_stack_ids_alloc(cpu);
		if (!new[cpu] || !new[cpu]->ids) {
			memory_free(new);
			return NULL;
		}
	}
	return new;
}

int kunwind_kernel_context_get(void)
{
	int err = 0;

	mutex_lock(&counters_lock);
	if (!counters)
		memory = memory_alloc();
	if (memory)
		counters++;
	else
		err = -ENOMEM;
	mutex_unlock(&counters_lock);
	return err;
}

void kunwind_kernel_context_put(void)
{
	mutex_lock(&counters_lock);
	if (!--counters) {
		memory_free(memory);
		memory = NULL;
	}
	mutex_unlock(&counters_lock);
}

#ifdef CONFIG_UNWINDER_ORC
/* Not in any stack: a frame that needs it ends the walk with an error. */
#define WRONG_RBP	1UL

/*
 * Adds the frame of @state to the note. Returns false if the walk's result depends on
 * more than the stack pointer and return addresses: after registers that an exception of
 * the kernel has saved, and where a tracer has changed the return address.
 */
static notrace bool add_to_note(struct kernel_note *note, const struct unwind_state *state,
				const unsigned long *bottom, unsigned long address)
{
	const unsigned long *word = (const unsigned long *)state->sp - 1;

	if (state->regs || note->nr == NOTE_FRAMES || word < bottom || word >= bottom + STACK_WORDS ||
	    READ_ONCE_NOCHECK(*word) != address)
		return false;
	note->at[note->nr] = word - bottom;
	note->address[note->nr++] = address;
	return true;
}

/* The words from which rbp may have come. */
struct rbp_words {
	u32 nr;				/* 0: not known */
	u16 at[NOTE_RBP];
};

/* Sets the words of a frame, from @from to @end, that have the value of rbp. */
static notrace void find_rbp(struct rbp_words *words, unsigned long rbp, const unsigned long *bottom,
			     unsigned long from, unsigned long end)
{
	const unsigned long *word = (const unsigned long *)from;
	const unsigned long *last = min((const unsigned long *)end, bottom + STACK_WORDS);

	for (words->nr = 0; word < last; word++) {
		if (READ_ONCE_NOCHECK(*word) != rbp)
			continue;
		if (words->nr == NOTE_RBP) {
			words->nr = 0;
			return;
		}
		words->at[words->nr++] = word - bottom;
	}
}

/* Adds to the note that the walk needs @rbp. Returns false if it is not known where it came from. */
static notrace bool add_rbp(struct kernel_note *note, const struct rbp_words *words, unsigned long rbp,
			    const unsigned long *bottom)
{
	u32 i;

	if (!words->nr || words->nr > NOTE_RBP - note->nr_rbp || rbp % sizeof(long) ||
	    rbp - (unsigned long)bottom >= THREAD_SIZE)
		return false;
	for (i = 0; i < words->nr; i++) {
		note->rbp_frame[note->nr_rbp] = note->nr - 1;
		note->rbp_at[note->nr_rbp] = words->at[i];
		note->rbp[note->nr_rbp++] = (const unsigned long *)rbp - bottom;
	}
	return true;
}

enum rbp_use { RBP_KEPT, RBP_RESTORED, RBP_NEEDED };

/* What the next step does with rbp. */
static notrace enum rbp_use use_of_rbp(const struct unwind_state *state)
{
	struct unwind_state without = *state;

	without.bp = WRONG_RBP;
	unwind_next_frame(&without);
	if (unwind_error(&without))
		return RBP_NEEDED;
	return without.bp == WRONG_RBP ? RBP_KEPT : RBP_RESTORED;
}

/* Steps to the next frame. Returns false if more than the note's words decides where that is. */
static notrace bool note_step(struct kernel_note *note, struct unwind_state *state,
			      struct rbp_words *words, const unsigned long *bottom)
{
	const enum rbp_use use = use_of_rbp(state);
	const unsigned long from = state->sp, rbp = state->bp;

	if (use == RBP_NEEDED && !add_rbp(note, words, rbp, bottom))
		return false;
	unwind_next_frame(state);
	/* Otherwise a word below rbp may say where the frame ends: it has realigned the stack. */
	if (use == RBP_NEEDED && state->sp != rbp + 2 * sizeof(long))
		return false;
	if (use != RBP_KEPT)
		find_rbp(words, state->bp, bottom, from, state->sp);
	return true;
}

/* Walks from @sp on, and makes the note. Returns false if there is none. */
static notrace bool walk_to_note(struct kernel_note *note, unsigned long sp, const unsigned long *bottom)
{
	struct rbp_words words = { };
	struct unwind_state state;
	unsigned long address;

	note->nr = note->nr_rbp = 0;
	note->slot = KUNWIND_NO_SLOT;
	note->sp = (const unsigned long *)sp - bottom;
	unwind_start(&state, current, NULL, (unsigned long *)sp);
	while (!unwind_done(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		if (!add_to_note(note, &state, bottom, address) ||
		    !note_step(note, &state, &words, bottom))
			goto failed;
	}
	if (!unwind_error(&state) && note->nr)
		return true;
failed:
	note->nr = 0;
	return false;
}
#else
static notrace bool walk_to_note(struct kernel_note *note, unsigned long sp, const unsigned long *bottom)
{
	return false;
}
#endif

/* Walks from @sp on. Returns the number of addresses. */
static notrace u32 walk(unsigned long *store, unsigned long sp)
{
	struct unwind_state state;
	unsigned long address;
	u32 count = 0;

	for (unwind_start(&state, current, NULL, (unsigned long *)sp);
	     count < KUNWIND_MAX_KERNEL_FRAMES && !unwind_done(&state); unwind_next_frame(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		store[count++] = address;
	}
	return count;
}

/*
 * Sets @moved to how many words the rbp at position @at is above @noted. Returns false if it is
 * not in the stack.
 */
static notrace bool rbp_moved(const unsigned long *bottom, u32 at, u16 noted, s32 *moved)
{
	unsigned long rbp;

	if (at >= STACK_WORDS)
		return false;
	rbp = READ_ONCE_NOCHECK(bottom[at]) - (unsigned long)bottom;
	*moved = (s32)(rbp / sizeof(long)) - noted;
	return rbp < THREAD_SIZE && !(rbp % sizeof(long));
}

/*
 * If the walk needs rbp at this frame, sets @moved to how many words the frames from the caller
 * on are above those of the note. Returns false if rbp may be another one.
 */
static notrace bool follow_rbp(const struct kernel_note *note, const unsigned long *bottom,
			       u32 frame, u32 *word, s32 *moved)
{
	const s32 here = *moved;
	const u32 first = *word;
	s32 next;

	for (; *word < note->nr_rbp && note->rbp_frame[*word] == frame; ++*word) {
		if (!rbp_moved(bottom, note->rbp_at[*word] + here, note->rbp[*word], &next) ||
		    (*word != first && next != *moved))
			return false;
		*moved = next;
	}
	return true;
}

/* The words may be those of other frames now, even of their redzones. */
static notrace bool is_again(const struct kernel_note *note, u16 sp, const unsigned long *bottom)
{
	s32 moved = sp - note->sp;
	u32 i, at, word = 0;

	for (i = 0; i < note->nr; i++) {
		at = note->at[i] + moved;
		if (at >= STACK_WORDS || READ_ONCE_NOCHECK(bottom[at]) != note->address[i] ||
		    !follow_rbp(note, bottom, i, &word, &moved))
			return false;
	}
	/* The outermost frame has its place at the end of the stack. */
	return note->nr && !moved;
}

/*
 * Returns the note of the stack from @sp on, made now if needed; NULL: it has none. @bottom: of
 * the task's stack.
 */
static notrace struct kernel_note *find_note(struct kernel_note_set *sets, unsigned long sp,
				      const unsigned long *bottom)
{
	const u16 at = (const unsigned long *)sp - bottom;
	const u32 call = task_pt_regs(current)->orig_ax;
	const u32 key = call == -1U ? at : call;
	struct kernel_note_set *set = &sets[hash_32(key, NOTE_BITS)];
	struct kernel_note *note;
	u32 way;

	for (way = 0; way < NOTE_WAYS; way++)
		if (is_again(&set->note[way], at, bottom))
			return &set->note[way];
	if (set->skip) {
		set->skip--;
		return NULL;
	}
	note = &set->note[set->next++ % NOTE_WAYS];
	if (walk_to_note(note, sp, bottom))
		return note;
	set->skip = SKIP;
	return NULL;
}

/* Sets the id of a stack, and emits its definition if one is needed. Returns its slot. */
static notrace u32 define(struct kunwind_stack_ids *ids, const unsigned long *address, u32 count,
			  u64 *id)
{
	struct kunwind_stack stack = { .addresses = address, .trust = trust, .count = count };
	const u32 slot = kunwind_stack_ids_define(ids, &stack);

	*id = stack.id;
	if (stack.inner)
		trace_kunwind_kernel_callstack(&stack);
	return slot;
}

static notrace u64 find_id(struct memory *mine, struct kernel_scratch *scratch, u32 context,
			   unsigned long sp)
{
	const unsigned long *bottom = task_stack_page(current);
	struct kernel_note *note = NULL;
	u64 id = 0;
	u32 count;

	if (!context && sp - (unsigned long)bottom < THREAD_SIZE)
		note = find_note(mine->set, sp, bottom);
	if (note) {
		if (!kunwind_stack_ids_defined(mine->ids, note->slot, note->id))
			note->slot = define(mine->ids, note->address, note->nr, &note->id);
		return note->id;
	}
	count = walk(scratch->address, sp);
	if (count)
		define(mine->ids, scratch->address, count, &id);
	return id;
}

/* Not inlined: its stack pointer is always as far below the caller's. */
noinline notrace u64 kunwind_kernel_context_id(void)
{
	const unsigned long sp = current_stack_pointer;
	const u32 context = interrupt_context_level();
	struct memory *mine;
	struct kernel_scratch *scratch;
	u64 id;

	if (!trace_kunwind_kernel_callstack_enabled())
		return 0;
	mine = memory[smp_processor_id()];
	scratch = &mine->scratch[context];
	/* Busy: an event within the definition's event. */
	if (READ_ONCE(scratch->busy))
		return 0;
	WRITE_ONCE(scratch->busy, true);
	barrier();
	id = find_id(mine, scratch, context, sp);
	barrier();
	WRITE_ONCE(scratch->busy, false);
	return id;
}
