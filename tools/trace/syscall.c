// SPDX-License-Identifier: MIT
/*
 * syscall.c - names of system calls that LTTng does not name
 *
 * LTTng's kernel tracer has a list of system calls and their arguments from
 * some kernel. It records the others (vfork, getrandom, rseq) as "unknown",
 * with the number in the field "id". The event says by the prefix "compat_"
 * that the number is one of i386. LTTng records no system calls of x32.
 *
 * The names come from the kernel's headers, at build time: the makefile writes
 * build/syscalls.h. A trace of a newer kernel can have numbers without a name.
 *
 * Names of fields that both the entry and the exit of a call have.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syscall.h"

#define COMPAT	"compat_"
#define ENTRY	"syscall_entry_"
#define EXIT	"syscall_exit_"

/* by number; NULL: no such system call */
#define SYSCALL_64(number, name) [number] = #name,
#define SYSCALL_32(number, name)
static const char *const names_64[] = {
#include "build/syscalls.h"
};
#undef SYSCALL_64
#undef SYSCALL_32
#define SYSCALL_64(number, name)
#define SYSCALL_32(number, name) [number] = #name,
static const char *const names_32[] = {
#include "build/syscalls.h"
};

/* Returns what follows @prefix in @text; NULL if @text begins otherwise. */
static const char *after(const char *text, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(text, prefix, size) ? NULL : text + size;
}

static const char *without_compat(const char *name)
{
	const char *rest = after(name, COMPAT);

	return rest ? rest : name;
}

const char *kunwind_syscall_entered(const char *event_name)
{
	return after(without_compat(event_name), ENTRY);
}

const char *kunwind_syscall_left(const char *event_name)
{
	return after(without_compat(event_name), EXIT);
}

static const char *name_of(bool compat, int64_t number)
{
	if (number < 0)
		return NULL;
	if (compat)
		return number < (int64_t)(sizeof(names_32) / sizeof(*names_32)) ? names_32[number] : NULL;
	return number < (int64_t)(sizeof(names_64) / sizeof(*names_64)) ? names_64[number] : NULL;
}

const char *kunwind_syscall_number(bool compat, int64_t number, char *text, size_t size)
{
	const char *name = name_of(compat, number);

	if (name)
		return name;
	snprintf(text, size, "syscall_%lld", (long long)number);
	return text;
}

void kunwind_syscall_name(struct kunwind_head *head, const bt_event *event)
{
	const char *call = kunwind_syscall_entered(head->name), *name;
	int64_t number;

	if (!call)
		call = kunwind_syscall_left(head->name);
	if (!call || strcmp(call, "unknown") ||
	    !kunwind_field_integer(kunwind_event_field(event, "id"), &number))
		return;
	name = name_of(after(head->name, COMPAT), number);
	if (name)
		snprintf(head->call, sizeof(head->call), "%.*s%s", (int)(call - head->name),
			 head->name, name);
	else
		snprintf(head->call, sizeof(head->call), "%.*ssyscall_%lld",
			 (int)(call - head->name), head->name, (long long)number);
	head->name = head->call;
}

/* Searches the class of the entry that belongs to an exit; NULL: there is none. */
static const bt_event_class *search_entry(const bt_event_class *class, const char *name, const char *call)
{
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(class);
	uint64_t i, nr = bt_stream_class_get_event_class_count(stream);

	for (i = 0; i < nr; i++) {
		const bt_event_class *other =
			bt_stream_class_borrow_event_class_by_index_const(stream, i);
		const char *text = bt_event_class_get_name(other);
		const char *entered = text ? kunwind_syscall_entered(text) : NULL;

		if (entered && !strcmp(entered, call) && !after(text, COMPAT) == !after(name, COMPAT))
			return other;
	}
	return NULL;
}

/* The class of an exit, and that of its entry. */
struct pair {
	const bt_event_class *exit, *entry;
};

static void *pairs;		/* for tsearch() */

static int compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->exit == y->exit ? 0 : x->exit < y->exit ? -1 : 1;
}

/* As search_entry(), which is called once for each class. */
static const bt_event_class *entry_of(const bt_event_class *class, const char *name, const char *call)
{
	struct pair key = { .exit = class }, *pair, **found = tfind(&key, &pairs, compare);

	if (found)
		return (*found)->entry;
	key.entry = search_entry(class, name, call);
	pair = malloc(sizeof(*pair));
	if (!pair)
		return key.entry;
	*pair = key;
	if (!tsearch(pair, &pairs, compare))
		free(pair);
	return key.entry;
}

void kunwind_syscall_forget(void)
{
	tdestroy(pairs, free);
	pairs = NULL;
}

const char *kunwind_syscall_field(const bt_event *event, const char *field, char *text, size_t size)
{
	const bt_event_class *entry;
	const char *name = kunwind_event_name(event), *call = kunwind_syscall_left(name);
	const bt_field_class *payload;

	/* "unknown" repeats the arguments, which the call does not change */
	if (!call || !strcmp(field, "ret") || !strcmp(call, "unknown"))
		return field;
	entry = entry_of(bt_event_borrow_class_const(event), name, call);
	payload = entry ? bt_event_class_borrow_payload_field_class_const(entry) : NULL;
	if (!payload || !bt_field_class_structure_borrow_member_by_name_const(payload, field))
		return field;
	snprintf(text, size, "%s_exit", field);
	return text;
}
