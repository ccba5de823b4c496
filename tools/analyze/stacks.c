// SPDX-License-Identifier: MIT
/*
 * stacks.c - the stacks of events as paths in the tree of calls, and their numbers
 */
#include <string.h>

#include "kunwind_core.h"
#include "samples.h"
#include "unnamed_code.h"

/*
 * Adds a frame's functions: first the function itself, then those inlined into
 * it. Returns the innermost node.
 */
static uint32_t add_functions(struct samples *samples, uint32_t node, bool kernel, bool guess,
			      const struct kunwind_frame *frame)
{
	struct calls *calls = &samples->calls;
	const char *object = frame->object ? kunwind_object_path(frame->object) : "";
	struct calls_frame new = { .kind = FRAME_FUNCTION, .kernel = kernel,
				   .guess = guess && samples->guesses,
				   .object = calls_string(calls, object) };
	unsigned int i = frame->nr_functions;
	bool named = false;
	char name[280];

	if (samples->places) {
		new.address = frame->object ? frame->object_address : frame->address;
		if (frame->object)
			new.build_id = calls_string(calls, kunwind_object_build_id(frame->object));
	}
	while (i-- > 0) {
		const struct kunwind_function *function = &frame->function[i];

		if (!function->name)
			continue;
		new.name = calls_string(calls, function->name);
		if (samples->places) {
			new.file = calls_string(calls, function->file ? function->file : "");
			new.line = function->line;
			new.inlined = named;
		}
		node = calls_child(calls, node, &new);
		named = true;
	}
	if (named)
		return node;
	unnamed_code(frame, object, samples->options.offsets, name, sizeof(name));
	new.name = calls_string(calls, name);
	return calls_child(calls, node, &new);
}

uint32_t samples_functions(struct samples *samples, const struct kunwind_event_stack *stack,
			   uint32_t node)
{
	size_t i;

	for (i = stack->nr; i-- > 0;) {
		unsigned int trust = stack->trust ? stack->trust[i] : KUNWIND_NR_TRUSTS;

		node = add_functions(samples, node, false, kunwind_trust_is_guess(trust),
				     &stack->frame[i]);
	}
	for (i = stack->nr_kernel; i-- > 0;)
		node = add_functions(samples, node, true, false, &stack->kernel[i]);
	return node;
}

/* Counts a frame without a name if the helper process is the cause, or a file that was not read. */
static void count_unnamed(struct samples *samples, const struct kunwind_frame *frame)
{
	static const char *const failure[NR_HELPER_FAILURES] = {
		KUNWIND_WHY_NO_HELPER, KUNWIND_WHY_CRASHED, KUNWIND_WHY_SLOW, KUNWIND_WHY_LARGE,
		KUNWIND_WHY_FOREIGN, KUNWIND_WHY_HANGS,
	};
	struct samples_unnamed *unnamed;
	uint32_t object;
	size_t i;

	if (!frame->why || !frame->object)
		return;
	for (i = 0; i < NR_HELPER_FAILURES && strcmp(frame->why, failure[i]); i++)
		;
	if (i == NR_HELPER_FAILURES)
		return;
	unnamed = &samples->unnamed[i];
	object = calls_string(&samples->calls, kunwind_object_path(frame->object));
	if (!unnamed->why)
		unnamed->object = object;
	unnamed->why = failure[i];
	unnamed->others |= object != unnamed->object;
	unnamed->frames++;
}

uint32_t samples_waker_stack(struct samples *samples, const struct kunwind_event_stack *stack,
			     const char *comm)
{
	struct calls *calls = &samples->calls;
	uint32_t node;

	if (samples->measuring)
		return CALLS_ROOT;
	node = calls_node(calls, CALLS_ROOT, FRAME_PROCESS, *comm ? comm : "?", "");
	if (!stack->complete)
		node = calls_node(calls, node, FRAME_NOTE,
				  stack->nr ? "[stack ends here]" :
				  stack->nr_kernel ? "[no user stack]" : "[no stack]",
				  stack->nr && stack->reason > 0 ?
				  kunwind_reason_name((enum kunwind_reason)stack->reason) : "");
	return samples_functions(samples, stack, node);
}

static void count(struct samples *samples, const struct kunwind_event_stack *stack)
{
	const struct kunwind_function *function;
	uint8_t trust;
	size_t i;

	samples->frames += stack->nr;
	samples->with_stack += stack->nr > 0;
	samples->without_stack += !stack->nr;
	if (stack->nr)
		samples->by_reason[(unsigned int)stack->reason < KUNWIND_NR_REASONS ?
				   stack->reason : KUNWIND_NR_REASONS]++;
	samples->complete += stack->complete && stack->nr > 0;
	for (i = 0; i < stack->nr; i++) {
		function = kunwind_frame_function(&stack->frame[i]);
		if (function && function->name)
			samples->named++;
		else
			count_unnamed(samples, &stack->frame[i]);
		trust = stack->trust ? stack->trust[i] : KUNWIND_NR_TRUSTS;
		samples->by_trust[trust < KUNWIND_NR_TRUSTS ? trust : KUNWIND_NR_TRUSTS]++;
	}
}

uint32_t samples_stack(struct samples *samples, const struct kunwind_event_stack *stack, const char *comm)
{
	if (!samples->measuring)
		count(samples, stack);
	return samples_waker_stack(samples, stack, comm);
}
