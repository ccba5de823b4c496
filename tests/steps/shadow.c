// SPDX-License-Identifier: MIT
/*
 * shadow.c - keep shadow stacks by the rules of shadow.h and README
 */
#include <stdlib.h>

#include "shadow.h"

#define NEAR_BELOW	4096		/* rsp at most this far below its interval: same stack */
#define NEAR_ABOVE	512
#define SIGNAL_FRAME	16384		/* the kernel's, at most: AVX-512's state, and the red zone */
#define WHOLE		(64U << 10)	/* a larger interval is a thread's stack */

#define NR_RT_SIGRETURN	15

static u64 mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static u64 word_at(const struct shadow *shadow, u64 addr)
{
	u64 word = 0;

	memory_raw(shadow->pid, addr, &word, sizeof(word));
	return word;
}

void shadow_reset(struct shadow *shadow, pid_t pid)
{
	struct shadow_stack *stack, *next;

	for (stack = shadow->stacks; stack; stack = next) {
		next = stack->next;
		free(stack->entry);
		free(stack);
	}
	*shadow = (struct shadow){ .pid = pid };
}

static struct shadow_stack *find(const struct shadow *shadow, u64 sp)
{
	struct shadow_stack *stack;

	for (stack = shadow->stacks; stack; stack = stack->next)
		if (sp >= stack->lowest && sp <= stack->highest)
			return stack;
	return NULL;
}

static struct shadow_stack *find_or_make(struct shadow *shadow, u64 sp)
{
	struct shadow_stack *stack = find(shadow, sp);

	if (!stack) {
		stack = calloc(1, sizeof(*stack));
		stack->lowest = stack->highest = sp;
		stack->fresh = true;
		stack->next = shadow->stacks;
		shadow->stacks = stack;
	}
	return stack;
}

static struct shadow_entry *top(const struct shadow_stack *stack)
{
	return stack->nr ? &stack->entry[stack->nr - 1] : NULL;
}

static void push(struct shadow_stack *stack, struct shadow_entry entry)
{
	if (stack->nr == stack->room) {
		stack->room = stack->room ? 2 * stack->room : 64;
		stack->entry = realloc(stack->entry, stack->room * sizeof(*stack->entry));
	}
	entry.hash = stack->nr ? top(stack)->hash : 0;
	if (entry.kind == SHADOW_CONTEXT || entry.kind == SHADOW_LINK)
		entry.hash = mix(entry.hash, top(entry.to) ? top(entry.to)->hash : 1);
	if (entry.kind != SHADOW_LINK)
		entry.hash = mix(entry.hash, entry.address);
	stack->entry[stack->nr++] = entry;
}

/* Drops the entries below @sp. */
static void drop(struct shadow_stack *stack, u64 sp)
{
	while (stack->nr && top(stack)->slot < sp)
		stack->nr--;
	if (sp < stack->lowest)
		stack->lowest = sp;
	if (sp > stack->highest)
		stack->highest = sp;
}

void shadow_begin(struct shadow_thread *thread, struct shadow *shadow, u64 sp)
{
	*thread = (struct shadow_thread){ .shadow = shadow, .on = find_or_make(shadow, sp) };
	thread->on->nr = 0;
	thread->on->fresh = true;
	drop(thread->on, sp);
}

/* Whether @sp is on the stack @on, or near it. */
static bool same_stack(const struct shadow_stack *on, u64 sp)
{
	if (sp >= on->lowest)
		return sp <= on->highest + NEAR_ABOVE;
	return on->lowest - sp <= NEAR_BELOW || on->highest - on->lowest > WHOLE ?
	       on->lowest - sp <= (on->highest - on->lowest > WHOLE ? WHOLE : NEAR_BELOW) : false;
}

/* rsp was changed from @from to @to. */
static void set_sp(struct shadow_thread *thread, u64 from, u64 to)
{
	struct shadow_stack *on = thread->on, *other = find(thread->shadow, to);
	struct shadow_entry *last;

	if (other == on || (!other && same_stack(on, to))) {
		drop(on, to);
		return;
	}
	other = find_or_make(thread->shadow, to);
	last = top(on);
	if (thread->left == other) {
		/* Back on the first stack; no call was made meanwhile. */
		thread->left = NULL;
	} else if (last && last->kind == SHADOW_LINK && last->to == other) {
		on->nr--;
		thread->left = NULL;
	} else {
		thread->left = on;
		thread->left_sp = from;
		thread->taken_sp = to;
	}
	thread->on = other;
	drop(other, to);
	while (top(other) && top(other)->kind == SHADOW_LINK && top(other)->slot <= to)
		other->nr--;
	other->fresh |= !other->nr;
}

static void called(struct shadow_thread *thread, const struct shadow_regs *before,
		   const struct shadow_regs *after)
{
	struct shadow_stack *on = thread->on;
	u64 word = word_at(thread->shadow, after->sp);

	/* The call did not run: it faulted. */
	if (after->sp != before->sp - 8 || word - before->ip - 1 >= 15)
		return;
	if (thread->left)
		push(on, (struct shadow_entry){ .slot = thread->taken_sp, .kind = SHADOW_LINK,
						.to = thread->left, .to_sp = thread->left_sp });
	thread->left = NULL;
	on->fresh = false;
	push(on, (struct shadow_entry){ .slot = after->sp, .address = word });
}

/*
 * Finds a stack without entries that is a copy (Go grows stacks in this way).
 * The stack that was left has a link to the original, and the words of the
 * original's entries are also on this stack, at the same distances. The
 * function that asked for the copy starts again from its entry, so its call, at
 * the link's rsp, is over.
 */
static void adopt_copy(struct shadow_thread *thread, u64 sp)
{
	const struct shadow_stack *left = thread->left, *from;
	struct shadow_stack *on = thread->on;
	u64 distance;
	u32 i, first;

	for (i = left->nr; i && left->entry[i - 1].kind != SHADOW_LINK; i--)
		;
	if (!i || left->entry[i - 1].to == on)
		return;
	from = left->entry[i - 1].to;
	distance = sp - (left->entry[i - 1].to_sp + 8);
	for (first = 0; first < from->nr; first++) {
		const struct shadow_entry *entry = &from->entry[first];

		if (entry->slot + distance < sp)
			break;
		if (entry->kind == SHADOW_CONTEXT || entry->kind == SHADOW_LINK ||
		    word_at(thread->shadow, entry->slot + distance) != entry->address)
			return;
	}
	for (i = 0; i < first; i++)
		push(on, (struct shadow_entry){ .slot = from->entry[i].slot + distance,
						.kind = from->entry[i].kind,
						.address = from->entry[i].address });
	if (first)
		drop(on, sp);
}

/*
 * A jump or return to another stack. If it is new, the word at rsp may be a
 * return address.
 */
static void jumped(struct shadow_thread *thread, const struct shadow_regs *after)
{
	struct shadow_stack *on = thread->on;

	if (thread->left && !on->nr)
		adopt_copy(thread, after->sp);
	thread->left = NULL;
	if (on->fresh && !on->nr)
		push(on, (struct shadow_entry){ .slot = after->sp, .kind = SHADOW_PLANTED,
						.address = word_at(thread->shadow, after->sp) });
	on->fresh = false;
}

/*
 * Whether the handler of the signal turned the interrupted place into a call
 * (Go's preemption).
 */
static bool is_call(const struct shadow_entry *context, u64 sp, u64 word)
{
	return sp == context->to_sp - 8 && word == context->address;
}

static void returned_from_signal(struct shadow_thread *thread, const struct shadow_regs *after)
{
	const struct shadow_entry *last = top(thread->on);
	struct shadow_entry context = { .slot = 0 };

	if (last && last->kind == SHADOW_CONTEXT)
		context = *last;
	if (context.to && after->sp >= context.to->lowest - SIGNAL_FRAME &&
	    after->sp <= context.to->highest + NEAR_ABOVE)
		thread->on = context.to;
	else
		thread->on = find_or_make(thread->shadow, after->sp);
	drop(thread->on, after->sp);
	thread->left = NULL;
	if (context.to && is_call(&context, after->sp, word_at(thread->shadow, after->sp)))
		push(thread->on, (struct shadow_entry){ .slot = after->sp,
							.address = context.address });
}

/*
 * The instruction at @ip pops the return address @entry. Keeps it for
 * pushed_back().
 */
static void hold(struct shadow_thread *thread, const struct shadow_entry *entry, u64 ip)
{
	const struct shadow_stack *on = thread->on;
	struct shadow_held *held = &thread->held[0];
	u32 i;

	/* A call to the next instruction reads rip: nothing will return there. */
	if (entry->address == ip)
		return;
	for (i = 0; i < SHADOW_HELD; i++)
		if (!thread->held[i].entry.slot ||
		    (thread->held[i].on == on && thread->held[i].entry.slot == entry->slot))
			held = &thread->held[i];
	*held = (struct shadow_held){ .entry = *entry, .on = thread->on,
				      .until = on->nr > 1 ? entry[-1].slot : ~0ULL };
}

/*
 * rsp has moved down to @sp, or a return address was just popped. If the word at rsp is
 * a popped return address, it is an entry again.
 */
static void pushed_back(struct shadow_thread *thread, u64 sp)
{
	const u64 word = word_at(thread->shadow, sp);
	struct shadow_entry entry;
	u32 i;

	for (i = 0; i < SHADOW_HELD; i++) {
		if (thread->held[i].on != thread->on || thread->held[i].entry.address != word ||
		    !thread->held[i].entry.slot)
			continue;
		/* It is at its old slot, or was just popped (V8 moves it, in both directions). */
		if (thread->held[i].entry.slot != sp &&
		    (thread->popped.address != word || !thread->popped.slot))
			continue;
		entry = thread->held[i].entry;
		entry.slot = sp;
		push(thread->on, entry);
		thread->popped.slot = 0;
		return;
	}
}

/* Forgets popped return addresses of functions whose caller has returned. */
static void let_go(struct shadow_thread *thread, u64 sp)
{
	u32 i;

	for (i = 0; i < SHADOW_HELD; i++)
		if (thread->held[i].on == thread->on && sp > thread->held[i].until)
			thread->held[i].entry = (struct shadow_entry){ .slot = 0 };
}

void shadow_step(struct shadow_thread *thread, enum stepped kind, const struct shadow_regs *before,
		 const struct shadow_regs *after)
{
	struct shadow_entry *last;

	if (kind == STEPPED_SYSCALL) {
		if (before->rax == NR_RT_SIGRETURN && after->ip != before->ip + 2)
			returned_from_signal(thread, after);
		return;
	}
	if (kind == STEPPED_CALL || kind == STEPPED_RETURN || kind == STEPPED_JUMP)
		thread->popped.slot = 0;
	if (kind == STEPPED_OTHER && (after->sp == before->sp - 8 || thread->popped.slot))
		pushed_back(thread, after->sp);
	if (kind == STEPPED_POP) {
		last = top(thread->on);
		if (last && last->slot == before->sp && last->kind == SHADOW_CALL &&
		    after->sp == before->sp + 8) {
			thread->popped = *last;
			hold(thread, last, before->ip);
		}
	}
	if (kind == STEPPED_SET_SP)
		set_sp(thread, before->sp, after->sp);
	else if (after->sp != before->sp)
		drop(thread->on, after->sp);
	if (thread->left && after->sp > thread->taken_sp)
		thread->left = NULL;
	if (after->sp > before->sp)
		let_go(thread, after->sp);
	if (kind == STEPPED_CALL)
		called(thread, before, after);
	else if (kind == STEPPED_RETURN || kind == STEPPED_JUMP)
		jumped(thread, after);
}

bool shadow_signal(struct shadow_thread *thread, const struct shadow_regs *before,
		   const struct shadow_regs *after)
{
	const u64 registers = after->sp + 8 + 40;	/* of struct sigcontext */
	const u64 sp = word_at(thread->shadow, registers + 8 * 15);
	const u64 ip = word_at(thread->shadow, registers + 8 * 16);
	struct shadow_stack *was = thread->on, *on;

	if (after->sp == before->sp || sp != before->sp || before->ip - ip > 2)
		return false;
	on = find(thread->shadow, after->sp);
	if (!on && before->sp > after->sp && before->sp - after->sp <= SIGNAL_FRAME)
		on = was;
	if (!on)
		on = find_or_make(thread->shadow, after->sp);
	/*
	 * The kernel starts at the top of another stack: its old entries are
	 * gone.
	 */
	if (on != was)
		on->nr = 0;
	thread->on = on;
	thread->left = NULL;
	thread->popped.slot = 0;
	on->fresh = false;
	drop(on, after->sp);
	push(on, (struct shadow_entry){ .slot = after->sp + 8, .kind = SHADOW_CONTEXT,
					.address = ip, .to = was, .to_sp = sp });
	push(on, (struct shadow_entry){ .slot = after->sp,
					.address = word_at(thread->shadow, after->sp) });
	return true;
}

u64 shadow_hash(const struct shadow_thread *thread, u64 ip)
{
	u64 hash = top(thread->on) ? top(thread->on)->hash : 0;

	if (thread->left)
		hash = mix(hash, top(thread->left) ? top(thread->left)->hash : 2);
	if (thread->popped.slot)
		hash = mix(hash, 3);
	return mix(hash, ip);
}

/* The number of entries of @stack that are at or above @sp. */
static u32 below(const struct shadow_stack *stack, u64 sp)
{
	u32 i = stack->nr;

	while (i && stack->entry[i - 1].slot < sp)
		i--;
	return i;
}

/*
 * Whether the instruction at @ip is lea 8(%rsp), %rsp, and the call before the
 * address @top leads to it.
 */
static bool drops_top(const struct shadow_thread *thread, u64 ip, u64 top)
{
	static const u8 lea[] = { 0x48, 0x8d, 0x64, 0x24, 0x08 };
	u8 code[5];
	s32 distance;

	if (memory_raw(thread->shadow->pid, ip, code, sizeof(code)) < sizeof(code) ||
	    memcmp(code, lea, sizeof(lea)) ||
	    memory_raw(thread->shadow->pid, top - 5, code, sizeof(code)) < sizeof(code))
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	return code[0] == 0xe8 && top + (s64)distance == ip;
}

/*
 * Whether the instruction is mov %reg, (%rsp); or a pop of its own address, where
 * the call before it reads rip; or the first instruction of a return thunk.
 */
static bool replaces_top(const struct shadow_thread *thread, u64 ip, u64 top)
{
	u8 code[4];

	if (memory_raw(thread->shadow->pid, ip, code, sizeof(code)) < sizeof(code))
		return false;
	if (drops_top(thread, ip, top))
		return true;
	if (top == ip && (code[code[0] == 0x41] & 0xf8) == 0x58)
		return true;
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x89 && (code[2] & 0xc7) == 0x04 && code[3] == 0x24;
}

/*
 * Where the code will continue after the handler of a signal: the signal frame's
 * rip and rsp, which the handler may have changed.
 */
static void resumes(struct memory *memory, const struct shadow_entry *context, u64 *ip, u64 *sp)
{
	const u64 registers = context->slot + 40;	/* of struct sigcontext */

	if (!memory_word(memory, registers + 8 * 15, sp) || !memory_word(memory, registers + 8 * 16, ip)) {
		*sp = context->to_sp;
		*ip = context->address;
	}
}

u32 shadow_truth(const struct shadow_thread *thread, struct memory *memory, u64 ip, u64 sp,
		 u32 reading, u64 *addresses, u32 most, u32 *had)
{
	const struct shadow_stack *stack = thread->on;
	const struct shadow_entry *entry;
	u32 nr = 0, i, links = 0;
	u64 word;

	addresses[nr++] = ip;
	if (thread->left) {
		const bool pushed = sp < thread->taken_sp;

		*had |= pushed ? SHADOW_TAKEN | SHADOW_PUSHED :
			!stack->nr || below(stack, sp) ? SHADOW_TAKEN : 0;
		if (!(reading & SHADOW_TAKEN)) {
			stack = thread->left;
			sp = thread->left_sp;
		} else {
			if (pushed && reading & SHADOW_PUSHED && memory_word(memory, sp, &word))
				addresses[nr++] = word;
			if (!stack->nr && memory_word(memory, thread->taken_sp, &word))
				addresses[nr++] = word;
		}
	}
	if (thread->popped.slot) {
		*had |= SHADOW_POPPED;
		if (reading & SHADOW_POPPED && nr < most)
			addresses[nr++] = thread->popped.address;
	}
	i = below(stack, sp);
	while (i && nr < most && links < most) {
		entry = &stack->entry[--i];
		if (entry->kind == SHADOW_LINK) {
			*had |= i ? SHADOW_OLDER : 0;
			if (i && reading & SHADOW_OLDER)
				continue;
		} else if (entry->kind == SHADOW_PLANTED) {
			*had |= SHADOW_BARE;
			if (reading & SHADOW_BARE)
				continue;
		}
		if (entry->kind == SHADOW_CALL || entry->kind == SHADOW_PLANTED) {
			/*
			 * The word was overwritten: nothing will return to this
			 * address.
			 */
			if (memory_word(memory, entry->slot, &word) && word != entry->address)
				continue;
			if (nr == 1 && entry->slot == sp && replaces_top(thread, ip, word)) {
				*had |= SHADOW_REPLACED;
				if (reading & SHADOW_REPLACED)
					continue;
			}
			addresses[nr++] = entry->address;
			continue;
		}
		sp = entry->to_sp;
		if (entry->kind == SHADOW_CONTEXT) {
			u64 to;

			resumes(memory, entry, &to, &sp);
			if (to != entry->address && memory_word(memory, sp, &word) &&
			    is_call(entry, sp, word)) {
				*had |= SHADOW_INJECTED;
				if (reading & SHADOW_INJECTED)
					addresses[nr++] = to;
				to = entry->address;
				sp = entry->to_sp;
			}
			if (nr < most)
				addresses[nr++] = to;
		}
		/* The handler may have set rsp to another stack. */
		stack = sp == entry->to_sp ? NULL : find(thread->shadow, sp);
		if (!stack)
			stack = entry->to;
		i = below(stack, sp);
		links++;
	}
	return nr;
}
