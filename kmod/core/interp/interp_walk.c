// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * interp_walk.c - walk an interpreter's own call stack by a checked description
 *
 * Any context, NMI included: takes no lock, allocates nothing, causes no page fault.
 * The walk runs after the native one, in one window of access to user memory. It
 * reads each node once. The thread does not run meanwhile. Its lists may be
 * half changed all the same, because it may have been interrupted anywhere, and
 * other threads may write to the same memory.
 *
 * Which native frame a group of frames belongs to is decided by the group's anchor, an
 * address on the stack of the eval loop's native frame, and never by counting. Groups and
 * native frames have the same order, so one pass over both is enough (place()). A native
 * frame of the loop without a group has only just begun, or is about to end. A group without
 * a native frame is left out. Layouts without an anchor are counted from the outer end
 * (align()), which needs both ends: the list must end, and the native stack be complete.
 *
 * Bounds: each node pays one unit of the budget, a read that fails some more (mem.h). A
 * list that leads back to itself is found before it has been followed three times around
 * (goes_back()). A frame costs some 60 instructions.
 */
#include "../walk/mem.h"
#include "interp_walk.h"

#define FIRST_MARK	16	/* nodes of short lists are not marked */

/* All functions that get a pointer to it are inlined, so that its members are registers. */
struct interp_state {
	u64 fs;
	u64 outer, node;
	u64 mark;		/* an earlier node, for goes_back(); 0: none yet */
	u32 gap, to_mark;	/* nodes between marks, and up to the next one */
	u32 loop;		/* index of the next native frame of the eval loop; nr: none is left */
	u32 groups;		/* with frames, without an anchor */
	u32 begun;		/* index of the group's first frame */
	u32 next;		/* index of the next frame, also if there is no room for it */
	bool full, torn;
	enum kunwind_interp_reason reason;
};

/* @addr: what kunwind_mem_clamp() has returned, plus an offset of a description. */
static __always_inline bool load_word(struct kunwind_interp_walk *walk, u64 addr, u64 *value)
{
	u64 word;

	kunwind_mem_load(walk->mem, word, addr, fault);
	*value = word;
	return true;
fault:
	walk->unread = addr;
	return false;
}

static __always_inline bool read_word(struct kunwind_interp_walk *walk, u64 addr, u64 *value)
{
	return load_word(walk, kunwind_mem_clamp(walk->mem, addr), value);
}

/* Returns the index of the first native frame of the eval loop from @i on, or walk->nr. */
static __always_inline u32 find_loop(const struct kunwind_interp_walk *walk, u32 i)
{
	while (i < walk->nr &&
	       !kunwind_interp_loop(walk->interp, walk->addresses[i] - !!i - walk->bias))
		i++;
	return i;
}

/*
 * Reads @width bytes at any address; inside the window. Root steps only: they may
 * count from what is not aligned.
 */
static __always_inline bool read_width(struct kunwind_interp_walk *walk, u64 addr, u8 width, u64 *value)
{
	const u64 at = (addr & 7) + width <= 8 ? addr & ~7ULL : addr;
	u64 word;

	if (!read_word(walk, at, &word))
		return false;
	word >>= 8 * (addr - at);
	*value = width == 8 ? word : word & ((1ULL << 8 * width) - 1);
	return true;
}

/* Takes the root steps; inside the window. False: there is no node, and state->reason says why. */
static __always_inline bool take_steps(struct kunwind_interp_walk *walk, struct interp_state *state,
				       u64 *address)
{
	const struct kunwind_interp *interp = walk->interp;
	u64 at = 0, key = 0;
	u32 i;

	state->reason = KUNWIND_INTERP_UNREADABLE;
	for (i = 0; i < interp->nr_steps; i++) {
		const struct kunwind_interp_step *step = &interp->step[i];

		switch (step->op) {
		case KUNWIND_INTERP_OBJECT:
			at = walk->bias + step->arg;
			break;
		case KUNWIND_INTERP_FS:
			at = state->fs + step->arg;
			break;
		case KUNWIND_INTERP_LOAD:
			if (!read_width(walk, at + step->arg, step->width, &at))
				return false;
			if (!at) {
				state->reason = KUNWIND_INTERP_NO_STATE;
				return false;
			}
			break;
		case KUNWIND_INTERP_KEY:
			if (!read_width(walk, at + step->arg, step->width, &key))
				return false;
			if (key >= step->limit) {
				state->reason = KUNWIND_INTERP_BAD_KEY;
				return false;
			}
			break;
		default:	/* KUNWIND_INTERP_INDEX */
			at += key * step->arg;
		}
	}
	*address = at;
	return true;
}

/*
 * Brent's method: each marked node is compared with twice as many nodes as the one
 * before. Returns true if the node has been there before.
 */
static __always_inline bool goes_back(struct interp_state *state, u64 node)
{
	if (unlikely(node == state->mark))
		return true;
	if (unlikely(!--state->to_mark)) {
		state->mark = node;
		state->to_mark = state->gap *= 2;
	}
	return false;
}

/* A node is met: checks and charges it. False: the walk ends with state->reason. */
static __always_inline bool meet(struct kunwind_interp_walk *walk, struct interp_state *state, u64 node)
{
	if (unlikely(node & 7) || goes_back(state, node)) {
		state->reason = KUNWIND_INTERP_SPOILT;
		return false;
	}
	if (unlikely(!kunwind_pay(walk->mem, 1))) {
		state->reason = KUNWIND_INTERP_BUDGET;
		return false;
	}
	return true;
}

/* Adds a check word to a digest, of which the upper half is used. */
static __always_inline u64 mix(u64 digest, u64 word)
{
	return (digest ^ word) * 0x9e3779b97f4a7c15ULL;
}

/* The digest of the check words. @base: clamped. */
static __always_inline bool read_check(struct kunwind_interp_walk *walk, const u64 *base, u32 *check)
{
	const struct kunwind_interp *interp = walk->interp;
	const struct kunwind_interp_place *place = interp->check, *end = place + interp->nr_checks;
	u64 digest = 0, word;

	for (; place < end; place++) {
		if (!load_word(walk, base[place->base & 3] + place->word, &word))
			return false;
		digest = mix(digest, word & place->mask);
	}
	*check = digest >> 32;
	return true;
}

/*
 * Sets *@verdict to that of the first test that holds, or 0: the node is a frame. False: a word
 * cannot be read. @base: clamped; what is counted from address 0 is not tested.
 */
static __always_inline bool judge(struct kunwind_interp_walk *walk, const u64 *base, u8 *verdict)
{
	const struct kunwind_interp *interp = walk->interp;
	u64 word;
	u32 i;

	*verdict = 0;
	for (i = 0; i < interp->nr_tests && !*verdict; i++) {
		const struct kunwind_interp_place *place = &interp->test[i].place;

		if (!base[place->base & 3])
			continue;
		if (!load_word(walk, base[place->base & 3] + place->word, &word))
			return false;
		if (((word & place->mask) == interp->test[i].equals) != interp->test[i].differs)
			*verdict = interp->test[i].verdict;
	}
	return true;
}

/* Stores a frame of the group that is being read; it counts when the group's place is known. */
static __always_inline bool add(struct kunwind_interp_walk *walk, struct interp_state *state, u64 id,
				const u64 *base)
{
	const struct kunwind_interp_place *position = &walk->interp->position;
	const u32 at = state->next;
	struct kunwind_interp_frame *frame;

	if (unlikely(id & 7)) {
		state->reason = KUNWIND_INTERP_SPOILT;
		return false;
	}
	state->next++;
	if (unlikely(at >= walk->capacity))
		return true;
	frame = &walk->frames[at];
	if (!load_word(walk, base[KUNWIND_INTERP_NODE] + position->word, &frame->position) ||
	    !read_check(walk, base, &frame->check))
		return false;
	frame->position = (frame->position & position->mask) >> position->shift;
	frame->id = id;
	return true;
}

/*
 * Reads state->node; inside the window. Sets *@verdict, and the node after it. False: the walk ends
 * with state->reason.
 */
static __always_inline bool read_node(struct kunwind_interp_walk *walk, struct interp_state *state,
				      u8 *verdict, u64 *after)
{
	const struct kunwind_interp *interp = walk->interp;
	u64 base[4], id;

	if (!meet(walk, state, state->node))
		return false;
	base[KUNWIND_INTERP_NODE] = kunwind_mem_clamp(walk->mem, state->node);
	base[KUNWIND_INTERP_VIA] = 0;
	if (!load_word(walk, base[KUNWIND_INTERP_NODE] + interp->id_at, &id))
		return false;
	id &= interp->id_mask;
	base[KUNWIND_INTERP_ID] = kunwind_mem_clamp(walk->mem, id);
	if (unlikely(interp->via)) {
		if (!load_word(walk, base[KUNWIND_INTERP_NODE] + interp->via_at, &base[KUNWIND_INTERP_VIA]))
			return false;
		base[KUNWIND_INTERP_VIA] = kunwind_mem_clamp(walk->mem, base[KUNWIND_INTERP_VIA]);
	}
	if (!judge(walk, base, verdict))
		return false;
	if (unlikely(*verdict == KUNWIND_INTERP_STOP)) {
		*after = 0;
		return true;
	}
	if (unlikely(interp->stride))
		*after = state->node + interp->stride;
	else if (!load_word(walk, base[KUNWIND_INTERP_NODE] + interp->next, after))
		return false;
	return (*verdict && *verdict != KUNWIND_INTERP_LAST) || unlikely(!id) || add(walk, state, id, base);
}

/*
 * The same for a run of nodes of a plain description that are frames and for which there is
 * room, in fewer instructions. Stops before any other node, and before one that cannot be read.
 */
static __always_inline void read_run(struct kunwind_interp_walk *walk, struct interp_state *state)
{
	const struct kunwind_interp *interp = walk->interp;
	const struct kunwind_interp_place *test = &interp->test[0].place, *check = interp->check;
	const u64 equals = interp->test[0].equals, id_mask = interp->id_mask, mark = state->mark;
	struct kunwind_interp_frame *frame, *from, *end;
	u64 node = state->node, next, at, id, code, word, position, digest;

	if (!interp->plain || state->next >= walk->capacity || !walk->mem->left)
		return;
	from = frame = walk->frames + state->next;
	end = frame + min(min(walk->capacity - state->next, walk->mem->left - 1), state->to_mark - 1);
	for (; frame < end; frame++, node = next) {
		if (unlikely(node & 7 || node == mark || !node))
			break;
		at = kunwind_mem_clamp(walk->mem, node);
		kunwind_mem_load(walk->mem, word, at + test->word, stop);
		if (unlikely((word & test->mask) == equals))
			break;
		kunwind_mem_load(walk->mem, id, at + interp->id_at, stop);
		id &= id_mask;
		if (unlikely(id & 7 || !id))
			break;
		code = kunwind_mem_clamp(walk->mem, id);
		kunwind_mem_load(walk->mem, position, at + interp->position.word, stop);
		digest = 0;
		if (likely(interp->nr_checks)) {
			kunwind_mem_load(walk->mem, word, code + check[0].word, stop);
			digest = mix(digest, word & check[0].mask);
		}
		if (likely(interp->nr_checks > 1)) {
			kunwind_mem_load(walk->mem, word, code + check[1].word, stop);
			digest = mix(digest, word & check[1].mask);
		}
		if (unlikely(interp->nr_checks > 2)) {
			kunwind_mem_load(walk->mem, word, code + check[2].word, stop);
			digest = mix(digest, word & check[2].mask);
		}
		kunwind_mem_load(walk->mem, next, at + interp->next, stop);
		frame->id = id;
		frame->position = position;
		frame->check = digest >> 32;
	}
stop:
	state->node = node;
	state->next += frame - from;
	state->to_mark -= frame - from;
	walk->mem->left -= frame - from;
}

/* The group's native frame is walk->addresses[@native]; or, before align(), its number. */
static __always_inline void keep(struct kunwind_interp_walk *walk, struct interp_state *state, u32 native)
{
	u32 i, end = min(state->next, walk->capacity);

	for (i = state->begun; i < end; i++)
		walk->frames[i].native = native;
	if (unlikely(end < state->next)) {
		walk->missing += state->next - end;
		state->full = true;
	}
	state->begun = end;
}

/*
 * The group has ended: finds its native frame. The search goes outwards from the native
 * frame of the group before. It passes over native frames below the anchor only, because
 * these have no group.
 */
static __always_inline void place(struct kunwind_interp_walk *walk, struct interp_state *state, u64 anchor)
{
	u64 sp, cfa;

	if (state->next == state->begun)
		return;
	if (walk->interp->anchor == KUNWIND_INTERP_NO_ANCHOR) {
		keep(walk, state, state->groups++);
		return;
	}
	for (; anchor && state->loop < walk->nr; state->loop = find_loop(walk, state->loop + 1)) {
		/* Where the memory of the last frame ends is not known. */
		if (state->loop == walk->nr - 1)
			break;
		sp = walk->sp[state->loop];
		cfa = walk->sp[state->loop + 1];
		if (cfa > sp && anchor - sp < cfa - sp) {
			keep(walk, state, state->loop);
			state->loop = find_loop(walk, state->loop + 1);
			return;
		}
		if (anchor < cfa)
			break;
	}
	walk->missing += state->next - state->begun;
}

/*
 * Returns whether the group goes on where the next outer node's list begins. It does not if
 * the thread has linked its new outer node already, but not the list.
 */
static __always_inline bool chained(struct kunwind_interp_walk *walk, struct interp_state *state, u64 after)
{
	u64 outer, head;

	if (!walk->interp->chain)
		return true;
	if (!read_word(walk, state->outer + walk->interp->outer_next, &outer) ||
	    (outer && !read_word(walk, outer + walk->interp->outer_head, &head)))
		return false;
	return !outer || head == after;
}

/* The group has ended, at @end (0: at the end of its list). @after: the node after it. */
static __always_inline void end_group(struct kunwind_interp_walk *walk, struct interp_state *state, u64 end,
				      u64 after)
{
	if (likely(!end || chained(walk, state, after))) {
		place(walk, state, walk->interp->anchor == KUNWIND_INTERP_AT_OUTER ? state->outer : end);
	} else {
		walk->missing += state->next - state->begun;
		state->torn = true;
	}
	state->next = state->begun;
}

/*
 * Reads a list, with an outer list up to the end of a group; inside the window. False: the walk
 * ends with state->reason.
 */
static __always_inline bool read_list(struct kunwind_interp_walk *walk, struct interp_state *state)
{
	u8 verdict;
	u64 after;

	state->reason = KUNWIND_INTERP_UNREADABLE;
	for (; state->node; state->node = after) {
		read_run(walk, state);
		if (unlikely(!state->node))
			break;
		if (!read_node(walk, state, &verdict, &after))
			return false;
		if (verdict == KUNWIND_INTERP_LAST || verdict == KUNWIND_INTERP_BEYOND) {
			end_group(walk, state, state->node, after);
			if (walk->interp->outer || state->loop >= walk->nr)
				return true;
		}
	}
	end_group(walk, state, 0, 0);
	return true;
}

/* Follows the lists from @root on; inside the window. */
static __always_inline void follow(struct kunwind_interp_walk *walk, struct interp_state *state, u64 root)
{
	const struct kunwind_interp *interp = walk->interp;

	state->node = root;
	if (!interp->outer) {
		if (read_list(walk, state))
			state->reason = KUNWIND_INTERP_COMPLETE;
		return;
	}
	for (state->outer = root; state->outer && state->loop < walk->nr;) {
		if (!meet(walk, state, state->outer))
			return;
		state->reason = KUNWIND_INTERP_UNREADABLE;
		if (!read_word(walk, state->outer + interp->outer_head, &state->node) ||
		    !read_list(walk, state) ||
		    !read_word(walk, state->outer + interp->outer_next, &state->outer))
			return;
	}
	state->reason = KUNWIND_INTERP_COMPLETE;
}

/*
 * Without anchors: the outermost group belongs to the outermost native frame of the loop. Groups
 * that are left over at the inner end have no native frame yet, or no more.
 */
static __always_inline void align(struct kunwind_interp_walk *walk, struct interp_state *state)
{
	u32 loops = 0, i, from = 0, to, group, at;
	s32 inner;

	for (i = find_loop(walk, 0); i < walk->nr; i = find_loop(walk, i + 1))
		loops++;
	inner = loops - state->groups;
	if (!walk->complete || state->reason != KUNWIND_INTERP_COMPLETE)
		from = state->begun;
	while (from < state->begun && (s32)walk->frames[from].native + inner < 0)
		from++;
	walk->missing += from;
	i = find_loop(walk, 0);
	for (to = 0, at = 0; from < state->begun; from++, to++) {
		for (group = walk->frames[from].native + inner; at < group; at++)
			i = find_loop(walk, i + 1);
		walk->frames[to] = walk->frames[from];
		walk->frames[to].native = i;
	}
	state->begun = to;
}

enum kunwind_interp_reason kunwind_walk_attr kunwind_interp_walk(struct kunwind_interp_walk *walk)
{
	const struct kunwind_interp_range *range;
	struct interp_state state = { .gap = FIRST_MARK, .to_mark = FIRST_MARK };
	u64 root;

	walk->count = walk->missing = 0;
	walk->unread = 0;
	state.loop = find_loop(walk, 0);
	if (state.loop >= walk->nr)
		return KUNWIND_INTERP_NO_LOOP;
	range = kunwind_interp_loop(walk->interp, walk->addresses[0] - walk->bias);
	if (range && range->flags & KUNWIND_INTERP_UNSETTLED)
		return KUNWIND_INTERP_UNSETTLED_CODE;
	state.fs = kunwind_mem_fs(walk->mem);
	if (!kunwind_mem_begin(walk->mem, walk->sp[0]))
		return KUNWIND_INTERP_UNREADABLE;
	if (take_steps(walk, &state, &root))
		follow(walk, &state, root);
	kunwind_mem_end(walk->mem);
	if (state.reason == KUNWIND_INTERP_UNREADABLE)
		kunwind_pay(walk->mem, KUNWIND_COST_FAULT);
	/* Frames of a group that was not read to its end. Of a spoilt list, none is known to be one. */
	if (state.reason != KUNWIND_INTERP_SPOILT)
		walk->missing += state.next - state.begun;
	if (walk->interp->anchor == KUNWIND_INTERP_NO_ANCHOR)
		align(walk, &state);
	walk->count = state.begun;
	if (state.reason != KUNWIND_INTERP_COMPLETE)
		return state.reason;
	if (state.torn)
		return KUNWIND_INTERP_TORN;
	if (state.full)
		return KUNWIND_INTERP_FULL;
	return walk->missing || (!walk->complete && state.loop >= walk->nr) ? KUNWIND_INTERP_NATIVE :
									      KUNWIND_INTERP_COMPLETE;
}
