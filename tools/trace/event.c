// SPDX-License-Identifier: MIT
/*
 * event.c - read fields, contexts, process and CPU of an event
 */
#include <string.h>

#include "event.h"
#include "interrupt_events.h"
#include "own_events.h"
#include "ust.h"

const char *kunwind_event_name(const bt_event *event)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));

	return name ? name : "";
}

bool kunwind_event_is_own(const char *name)
{
	/*
	 * These two are about all processes, and have a stack as LTTng's events do. An event of
	 * LTTng-UST has a colon in its name.
	 */
	return !strncmp(name, "kunwind_", 8) && !strchr(name, ':') && strcmp(name, "kunwind_slow_syscall") &&
	       strcmp(name, "kunwind_fatal_signal");
}

bool kunwind_event_is_background(const bt_event *event)
{
	static const char *const prefix[] = { INTERRUPT_HANDLER, INTERRUPT_SOFT, INTERRUPT_VECTOR,
					      STATE_DUMP_EVENTS };
	const char *name = kunwind_event_name(event);
	size_t i;

	if (kunwind_ust_is_mapping(name))
		return true;
	/* nearly all events have contexts */
	if (bt_event_borrow_common_context_field_const(event))
		return false;
	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++) {
		if (!strncmp(name, prefix[i], strlen(prefix[i])))
			return true;
	}
	return false;
}

bool kunwind_event_is_sample(const char *name)
{
	return !strcmp(name, "kunwind_sample");
}

bool kunwind_event_is_blocked(const char *name)
{
	return !strcmp(name, KUNWIND_BLOCKED_EVENT);
}

int64_t kunwind_event_time(const bt_message *message)
{
	const bt_clock_snapshot *clock = NULL;
	int64_t time = -1;

	if (bt_message_event_borrow_stream_class_default_clock_class_const(message))
		clock = bt_message_event_borrow_default_clock_snapshot_const(message);
	if (clock && bt_clock_snapshot_get_ns_from_origin(clock, &time))
		bt_current_thread_clear_error();
	return time;
}

const char *kunwind_trace_environment(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

const bt_field *kunwind_event_field(const bt_event *event, const char *name)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	return payload ? bt_field_structure_borrow_member_field_by_name_const(payload, name) :
			 NULL;
}

/*
 * The specific context comes first. LTTng's kernel tracer writes only the
 * common one.
 */
const bt_field *kunwind_event_context(const bt_event *event, const char *name)
{
	const bt_field *context = bt_event_borrow_specific_context_field_const(event);
	const bt_field *field = NULL;

	if (context)
		field = bt_field_structure_borrow_member_field_by_name_const(context, name);
	context = bt_event_borrow_common_context_field_const(event);
	if (!field && context)
		field = bt_field_structure_borrow_member_field_by_name_const(context, name);
	return field;
}

bool kunwind_field_integer(const bt_field *field, int64_t *value)
{
	bt_field_class_type type;

	if (!field)
		return false;
	type = bt_field_get_class_type(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*value = (int64_t)bt_field_integer_unsigned_get_value(field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*value = bt_field_integer_signed_get_value(field);
	else
		return false;
	return true;
}

int64_t kunwind_event_integer(const bt_event *event, const char *name, int64_t none)
{
	kunwind_field_integer(kunwind_event_field(event, name), &none);
	return none;
}

const char *kunwind_field_string(const bt_field *field)
{
	if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
		return NULL;
	/* the text of an empty string may be stale */
	return bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

/* Returns the context @name, else @other, else -1. */
static int64_t first_context(const bt_event *event, const char *name, const char *other)
{
	int64_t value = -1;

	if (!kunwind_field_integer(kunwind_event_context(event, name), &value))
		kunwind_field_integer(kunwind_event_context(event, other), &value);
	return value;
}

static int64_t event_cpu(const bt_event *event)
{
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_field *context = packet ? bt_packet_borrow_context_field_const(packet) : NULL;
	int64_t cpu = -1;

	if (context)
		kunwind_field_integer(bt_field_structure_borrow_member_field_by_name_const(
					      context, "cpu_id"), &cpu);
	return cpu;
}

/* Reads the context that has a thread and the id of its stack. */
static void read_stack_id(struct kunwind_head *head, const bt_event *event)
{
	struct kunwind_ust_value ust;
	int64_t value;
	uint64_t upper;

	head->stack = head->kernel_stack = 0;
	head->called = head->by_id = kunwind_ust_value(event, &ust);
	if (head->called) {
		head->stack = ust.id;
		return;
	}
	if (kunwind_field_integer(kunwind_event_context(event, KUNWIND_KERNEL_STACK_ID), &value))
		head->kernel_stack = (uint64_t)value;
	head->by_id = kunwind_field_integer(kunwind_event_context(event, KUNWIND_STACK_ID), &value);
	if (!head->by_id)
		return;
	head->own_number = false;
	head->tid = value & ((1 << KUNWIND_STACK_TID_BITS) - 1);
	upper = ((uint64_t)value & ~KUNWIND_STACK_NONE) >> KUNWIND_STACK_TID_BITS;
	if ((uint64_t)value & KUNWIND_STACK_NONE)
		head->pid = (int64_t)upper;
	else
		head->stack = (uint64_t)head->cpu << KUNWIND_STACK_ID_BITS | upper;
}

void kunwind_head_read(struct kunwind_head *head, const bt_event *event, int64_t time)
{
	const char *comm = kunwind_field_string(kunwind_event_context(event, "procname"));

	head->name = kunwind_event_name(event);
	head->comm = comm ? comm : "";
	head->time = time;
	head->own_number = !kunwind_event_context(event, "pid");
	head->pid = first_context(event, "pid", "vpid");
	head->tid = first_context(event, "tid", "vtid");
	head->cpu = event_cpu(event);
	read_stack_id(head, event);
	if (kunwind_event_is_sample(head->name) || kunwind_event_is_blocked(head->name) ||
	    !strcmp(head->name, "kunwind_callstack")) {
		comm = kunwind_field_string(kunwind_event_field(event, "comm"));
		head->comm = comm ? comm : head->comm;
	}
	/* their payloads have the numbers in the initial pid namespace */
	if ((!strcmp(head->name, "kunwind_callstack") || kunwind_event_is_sample(head->name) ||
	     kunwind_event_is_blocked(head->name)) &&
	    kunwind_field_integer(kunwind_event_field(event, "tgid"), &head->pid) &&
	    kunwind_field_integer(kunwind_event_field(event, "tid"), &head->tid))
		head->own_number = false;
}
