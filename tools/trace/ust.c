// SPDX-License-Identifier: MIT
/*
 * ust.c - stacks and mappings of programs with LTTng-UST
 *
 * An event has the identifier of its stack, and now and then a string with the addresses
 * (kunwind_ust_register(3)). LTTng-UST's state dump, and its events of dlopen() and dlclose(),
 * say where objects are; an event of its own has the build-id.
 */
#include <inttypes.h>
#include <libkunwind-symbolize.h>
#include <kunwind.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "ust.h"

/* A loaded object of a process. */
struct ust_object {
	struct ust_object *next;
	int pid;
	uint64_t start, end, bias;
	char path[];
};

#define BUCKETS	4096
struct kunwind_ust_objects {
	struct ust_object *bucket[BUCKETS];
};

size_t kunwind_ust_addresses(const struct kunwind_ust_value *value, uint64_t *address, size_t most,
			     int *reason)
{
	const char *text = value->text;
	size_t nr = 0;
	char *end;

	*reason = KUNWIND_COMPLETE;
	do {
		if (nr == most || !strspn(text, "0123456789abcdef"))
			return 0;
		address[nr++] = strtoull(text, &end, 16);
		text = end + 1;
	} while (*end == ',');
	if (!*end)
		return nr;
	if (*end != ' ')
		return 0;
	*reason = 0;
	while (*reason < KUNWIND_NR_REASONS && strcmp(text, kunwind_reason_name((unsigned int)*reason)))
		++*reason;
	/* of a newer version */
	if (*reason == KUNWIND_NR_REASONS)
		*reason = -1;
	return nr;
}

bool kunwind_ust_class(const bt_stream_class *class)
{
	const bt_field_class *context =
		bt_stream_class_borrow_event_common_context_field_class_const(class);
	uint64_t i, nr = bt_stream_class_get_event_class_count(class);
	const char *name;

	if (context &&
	    (bt_field_class_structure_borrow_member_by_name_const(context, KUNWIND_UST_CONTEXT) ||
	     bt_field_class_structure_borrow_member_by_name_const(context, KUNWIND_UST_CONTEXT_2)))
		return true;
	for (i = 0; i < nr; i++) {
		name = bt_event_class_get_name(
			bt_stream_class_borrow_event_class_by_index_const(class, i));
		if (name && kunwind_ust_is_mapping(name))
			return true;
	}
	return false;
}

void kunwind_ust_objects_free(struct kunwind_ust_objects *objects)
{
	struct ust_object *object;
	size_t i;

	for (i = 0; objects && i < BUCKETS; i++) {
		while ((object = objects->bucket[i])) {
			objects->bucket[i] = object->next;
			free(object);
		}
	}
	free(objects);
}

static struct ust_object **find(struct kunwind_ust_objects *objects, int pid, uint64_t start)
{
	const uint64_t hash = (start >> 12) + (uint64_t)pid * 0x9e3779b97f4a7c15ULL;
	struct ust_object **object = &objects->bucket[hash >> 7 & (BUCKETS - 1)];

	while (*object && ((*object)->pid != pid || (*object)->start != start))
		object = &(*object)->next;
	return object;
}

static void forget(struct kunwind_ust_objects *objects, int pid, uint64_t start)
{
	struct ust_object **place = find(objects, pid, start), *object = *place;

	if (!object)
		return;
	*place = object->next;
	free(object);
}

static bool map(struct kunwind_history *history, int64_t time, const struct ust_object *object,
		const char *build_id)
{
	struct kunwind_mapping mapping = {
		.pid = object->pid, .own_pid = object->pid, .start = object->start, .end = object->end,
		.bias = object->bias, .path = object->path, .build_id = build_id,
	};

	return kunwind_history_map(history, time, &mapping);
}

static bool learn_object(struct kunwind_ust_objects *objects, struct kunwind_history *history,
			 const bt_event *event, int64_t time, int pid)
{
	const char *path = kunwind_field_string(kunwind_event_field(event, "path"));
	const uint64_t start = (uint64_t)kunwind_event_integer(event, "baddr", 0);
	const uint64_t size = (uint64_t)kunwind_event_integer(event, "memsz", 0);
	/* lttng_ust_lib:load does not say it: an object that is loaded later is movable */
	const bool movable = kunwind_event_integer(event, "is_pic", 1);
	struct ust_object *object, **place;

	if (!path || !size || start + size < start)
		return true;
	forget(objects, pid, start);
	object = malloc(sizeof(*object) + strlen(path) + 1);
	if (!object)
		return false;
	place = find(objects, pid, start);
	*object = (struct ust_object){ NULL, pid, start, start + size, movable ? start : 0 };
	strcpy(object->path, path);
	*place = object;
	/* else the build-id comes next */
	return kunwind_event_integer(event, "has_build_id", 0) || map(history, time, object, "");
}

static bool learn_build_id(struct kunwind_ust_objects *objects, struct kunwind_history *history,
			   const bt_event *event, int64_t time, int pid)
{
	const struct ust_object *object =
		*find(objects, pid, (uint64_t)kunwind_event_integer(event, "baddr", 0));
	const bt_field *bytes = kunwind_event_field(event, "build_id");
	char text[2 * 64 + 1] = "";
	const bt_field *element;
	uint64_t i, nr;
	int64_t byte;

	if (!object || !bytes ||
	    !bt_field_class_type_is(bt_field_get_class_type(bytes), BT_FIELD_CLASS_TYPE_ARRAY))
		return true;
	nr = bt_field_array_get_length(bytes);
	for (i = 0; i < nr && i < 64; i++) {
		element = bt_field_array_borrow_element_field_by_index_const(bytes, i);
		if (!kunwind_field_integer(element, &byte))
			return true;
		text[2 * i] = "0123456789abcdef"[byte >> 4 & 15];
		text[2 * i + 1] = "0123456789abcdef"[byte & 15];
	}
	return map(history, time, object, text);
}

static bool unload(struct kunwind_ust_objects *objects, struct kunwind_history *history,
		   const bt_event *event, int64_t time, int pid)
{
	const uint64_t start = (uint64_t)kunwind_event_integer(event, "baddr", 0);
	const struct ust_object *object = *find(objects, pid, start);
	bool ok = !object || kunwind_history_unmap(history, time, pid, start, object->end);

	forget(objects, pid, start);
	return ok;
}

bool kunwind_ust_learn(struct kunwind_ust_objects **objects, struct kunwind_history *history,
		       const bt_event *event, int64_t time)
{
	const char *name = kunwind_event_name(event);
	int64_t pid;

	if (!kunwind_ust_is_mapping(name) ||
	    !kunwind_field_integer(kunwind_event_context(event, "vpid"), &pid))
		return true;
	if (!*objects)
		*objects = calloc(1, sizeof(**objects));
	if (!*objects)
		return false;
	name = strchr(name, ':') + 1;
	if (!strcmp(name, "bin_info") || !strcmp(name, "load"))
		return learn_object(*objects, history, event, time, (int)pid);
	if (!strcmp(name, "build_id"))
		return learn_build_id(*objects, history, event, time, (int)pid);
	if (!strcmp(name, "unload"))
		return unload(*objects, history, event, time, (int)pid);
	return true;
}
