// SPDX-License-Identifier: MIT
/*
 * verdict.c - compare the stack that an unwinder found with the true one
 */
#include "verdict.h"

const char *const verdict_names[NR_VERDICTS] = { "right", "open", "shorter", "false", "wrong" };

static enum verdict compare(const struct verdict_stack *stack, const u64 *truth, u32 nr, u32 *at)
{
	u32 i;

	for (i = 0; i < stack->nr && i < nr; i++)
		if (stack->address[i] != truth[i])
			break;
	*at = i;
	if (i < stack->nr)
		return VERDICT_WRONG;
	if (i == VERDICT_MOST)
		return VERDICT_RIGHT;
	if (i < nr)
		return stack->complete ? VERDICT_FALSE : VERDICT_SHORTER;
	return stack->complete ? VERDICT_RIGHT : VERDICT_OPEN;
}

enum verdict verdict_of(const struct verdict_stack *stack, const struct shadow_thread *thread,
			struct memory *memory, u64 ip, u64 sp, u32 *at)
{
	u64 truth[VERDICT_MOST];
	enum verdict best, one;
	u32 had = 0, reading, nr, where;

	nr = shadow_truth(thread, memory, ip, sp, 0, truth, VERDICT_MOST, &had);
	best = compare(stack, truth, nr, at);
	for (reading = 1; best && reading < SHADOW_READINGS; reading++) {
		if (reading & ~had)
			continue;
		nr = shadow_truth(thread, memory, ip, sp, reading, truth, VERDICT_MOST, &had);
		one = compare(stack, truth, nr, &where);
		if (one < best) {
			best = one;
			*at = where;
		}
	}
	return best;
}
