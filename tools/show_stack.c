// SPDX-License-Identifier: MIT
/*
 * show_stack.c - the frames of an event's user stack, one after the other
 *
 * The first address is where the program stood. Each further one is a return
 * address, and belongs to the call before it; but the frame that a signal
 * interrupted, behind a trampoline, is exact again.
 */
#include <string.h>

#include "show_stack.h"
#include "show_trace.h"

uint64_t kunwind_stack_address(const struct kunwind_stack *stack, uint64_t i)
{
	return bt_field_integer_unsigned_get_value(
		bt_field_array_borrow_element_field_by_index_const(stack->array, i));
}

static bool holds_addresses(const bt_field *array)
{
	const bt_field_class *element;

	if (!array || !bt_field_class_type_is(bt_field_get_class_type(array),
					      BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	element = bt_field_class_array_borrow_element_field_class_const(
		bt_field_borrow_class_const(array));
	return bt_field_class_type_is(bt_field_class_get_type(element),
				      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

void kunwind_stack_begin(struct kunwind_stack *stack, const bt_event *event, int64_t time)
{
	const bt_field *array = kunwind_event_context(event, "callstack_user");

	memset(stack, 0, sizeof(*stack));
	if (!holds_addresses(array))
		return;
	stack->array = array;
	stack->nr = bt_field_array_get_length(array);
	/* LTTng ends a user stack with ULONG_MAX, which is no frame */
	if (stack->nr && kunwind_stack_address(stack, stack->nr - 1) == UINT64_MAX)
		stack->nr--;
	stack->pid = -1;
	stack->time = time;
	stack->exact = true;
}

static void name_frame(struct kunwind_stack *stack, struct kunwind_frame *frame)
{
	const struct kunwind_mapping *map;
	bool exact = stack->exact;

	stack->exact = false;
	if (stack->pid < 0) {
		frame->why = "process not known";
		return;
	}
	map = kunwind_maps_find(stack->maps, stack->pid, exact ? frame->addr : frame->addr - 1,
				stack->time);
	if (!map && !exact)	/* a trampoline at the very beginning of a mapping */
		map = kunwind_maps_find(stack->maps, stack->pid, frame->addr, stack->time);
	if (!map) {
		frame->why = kunwind_maps_knows(stack->maps, stack->pid) ?
			"no mapping known" : "process not known";
		return;
	}
	frame->file = map->file;
	frame->vaddr = frame->addr - map->bias;
	kunwind_symbolize(frame->file, frame->vaddr, exact, &frame->symbol);
	stack->exact = frame->symbol.trampoline;
	if (!frame->symbol.name)
		frame->why = kunwind_symfile_why(kunwind_symfile_state(frame->file));
	if (!frame->symbol.name && !frame->why)
		frame->why = frame->symbol.trampoline ? "signal trampoline" :
			     frame->symbol.entry ? "entry point, no symbol" : "no symbol";
}

bool kunwind_stack_next(struct kunwind_stack *stack, struct kunwind_frame *frame)
{
	if (stack->next == stack->nr)
		return false;
	memset(frame, 0, sizeof(*frame));
	frame->addr = kunwind_stack_address(stack, stack->next++);
	if (stack->maps)
		name_frame(stack, frame);
	return true;
}
