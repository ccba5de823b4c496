// SPDX-License-Identifier: MIT
/*
 * firefox_fields.c - the fields of events as data of markers, with their schema
 *
 * The schema of a marker lists the keys of its data, each with one format:
 * integer or string. Integers that the trace prefers in hexadecimal are strings,
 * because a number of JavaScript has 53 bits; so are lists and structures.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "firefox_fields.h"
#include "trace/event.h"
#include "trace/field.h"
#include "trace/syscall.h"

void firefox_fields_exit(struct firefox_fields *fields)
{
	uint32_t i;

	if (fields->file)
		fclose(fields->file);
	for (i = 0; i < fields->nr_types; i++)
		free(fields->type[i].key);
	free(fields->type);
	free(fields->text);
}

/* ------------------------------------------------------------ schema */

static struct firefox_type *type_of(struct firefox_fields *fields, uint32_t what)
{
	uint32_t old = fields->nr_types;

	if (what >= old) {
		fields->nr_types = what * 2 + 64;
		fields->type = needed(realloc(fields->type,
					      fields->nr_types * sizeof(*fields->type)));
		memset(fields->type + old, 0, (fields->nr_types - old) * sizeof(*fields->type));
	}
	return &fields->type[what];
}

/* Enters a key. Returns whether its values are numbers. The first value decides. */
static bool key_is_number(struct firefox_fields *fields, uint32_t what, const char *name,
			  bool number)
{
	uint32_t string = calls_string(fields->calls, name), i;
	struct firefox_type *type = type_of(fields, what);

	for (i = 0; i < type->nr; i++) {
		if (type->key[i].name == string)
			return type->key[i].number;
	}
	if (type->nr == type->cap) {
		type->cap = type->cap ? type->cap * 2 : 8;
		type->key = needed(realloc(type->key, type->cap * sizeof(*type->key)));
	}
	type->key[type->nr++] = (struct firefox_key){ .name = string, .number = number };
	return number;
}

/* The keys "type" and "cause" have a meaning for the profiler. */
static const char *key_of(const char *name)
{
	return !strcmp(name, "type") ? "type_" : !strcmp(name, "cause") ? "cause_" : name;
}

static void put_key(const struct firefox_fields *fields, struct json_out *out,
		    const struct firefox_key *key)
{
	const char *name = fields->calls->string[key->name];

	json_open(out, NULL, '{');
	json_text(out, "key", key_of(name));
	json_text(out, "label", name);
	json_text(out, "format", key->number ? "integer" : "string");
	json_close(out, '}');
}

/* "fd: {marker.data.fd}, ..." */
static void put_label(const struct firefox_fields *fields, struct json_out *out,
		      const struct firefox_type *type)
{
	char text[1024];
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < type->nr; i++) {
		const char *name = fields->calls->string[type->key[i].name];
		int size = snprintf(text + at, sizeof(text) - at, "%s%s: {marker.data.%s}",
				    i ? ", " : "", name, key_of(name));

		if ((size_t)size >= sizeof(text) - at) {
			text[at] = '\0';
			break;
		}
		at += (size_t)size;
	}
	if (at)
		json_text(out, "tableLabel", text);
}

void firefox_fields_schema(struct firefox_fields *fields, struct json_out *out)
{
	uint32_t i, k;

	json_open(out, "markerSchema", '[');
	for (i = 0; i < fields->nr_types; i++) {
		const struct firefox_type *type = &fields->type[i];

		if (!type->nr)
			continue;
		json_open(out, NULL, '{');
		json_text(out, "name", fields->calls->string[i]);
		put_label(fields, out, type);
		json_open(out, "display", '[');
		json_text(out, NULL, "marker-chart");
		json_text(out, NULL, "marker-table");
		json_close(out, ']');
		json_open(out, "fields", '[');
		for (k = 0; k < type->nr; k++)
			put_key(fields, out, &type->key[k]);
		json_close(out, ']');
		json_close(out, '}');
	}
	json_close(out, ']');
}

/* ------------------------------------------------------------ values */

/* Prints a value as text. */
static void print(FILE *file, const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	const bt_field *inner = kunwind_field_inner(field);
	const bt_field_class *class = bt_field_borrow_class_const(field);
	const char *comma = "";
	uint64_t i, nr;
	char text[256];

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION)) {
		kunwind_field_labels(field, text, sizeof(text));
		fputs(text, file);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		fprintf(file, kunwind_field_is_hexadecimal(field) ? "0x%" PRIx64 : "%" PRIu64,
			bt_field_integer_unsigned_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
		fprintf(file, "%" PRId64, bt_field_integer_signed_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		fputs(kunwind_field_string(field), file);
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		fputs(bt_field_bool_get_value(field) ? "true" : "false", file);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		fprintf(file, "0x%" PRIx64, bt_field_bit_array_get_value_as_integer(field));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL)) {
		fprintf(file, "%g", kunwind_field_real(field));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		nr = bt_field_array_get_length(field);
		for (i = 0; i < nr; i++, comma = ", ") {
			fputs(comma, file);
			print(file, bt_field_array_borrow_element_field_by_index_const(field, i));
		}
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		nr = bt_field_class_structure_get_member_count(class);
		for (i = 0; i < nr; i++) {
			const char *name = bt_field_class_structure_member_get_name(
				bt_field_class_structure_borrow_member_by_index_const(class, i));

			if (kunwind_field_is_length(name))
				continue;
			fprintf(file, "%s%s=", comma, name);
			print(file, bt_field_structure_borrow_member_field_by_index_const(field, i));
			comma = " ";
		}
	} else if (inner) {
		print(file, inner);
	}
}

/* Writes a value as text, clean for JSON. */
static void keep_text(struct json_out *out, const char *key, const bt_field *field)
{
	char *text = NULL, *clean;
	size_t size;
	FILE *file;

	if (bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRING) {
		clean = calls_clean(kunwind_field_string(field));
	} else {
		file = needed(open_memstream(&text, &size));
		print(file, field);
		fclose(file);
		clean = calls_clean(needed(text));
		free(text);
	}
	json_text(out, key, clean);
	free(clean);
}

static bool is_number(const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		return true;
	/* the profiler reads numbers as doubles, which have 53 bits */
	return type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER && !kunwind_field_is_hexadecimal(field) &&
	       bt_field_class_integer_get_field_value_range(bt_field_borrow_class_const(field)) <= 53;
}

/* Begins a part. Each ends with a NUL. Part 0 is empty. */
static size_t begin_part(struct firefox_fields *fields, struct json_out *out)
{
	if (!fields->file) {
		fields->file = needed(open_memstream(&fields->text, &fields->size));
		putc('\0', fields->file);
	}
	*out = (struct json_out){ .file = fields->file };
	return (size_t)ftell(fields->file);
}

size_t firefox_fields_keep(struct firefox_fields *fields, uint32_t what, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field_class *class;
	struct json_out out;
	size_t at = begin_part(fields, &out);
	uint64_t i, nr;

	if (!payload)
		return 0;
	class = bt_field_borrow_class_const(payload);
	nr = bt_field_class_structure_get_member_count(class);
	for (i = 0; i < nr; i++) {
		const bt_field *field =
			bt_field_structure_borrow_member_field_by_index_const(payload, i);
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));
		char text[280];
		int64_t value;

		if (kunwind_field_is_length(name))
			continue;
		name = kunwind_syscall_field(event, name, text, sizeof(text));
		if (key_is_number(fields, what, name, is_number(field)) &&
		    kunwind_field_integer(field, &value))
			json_int(&out, key_of(name), value);
		else
			keep_text(&out, key_of(name), field);
	}
	putc('\0', fields->file);
	return at;
}

size_t firefox_fields_keep_text(struct firefox_fields *fields, uint32_t what, const char *key,
				const char *text)
{
	struct json_out out;
	size_t at = begin_part(fields, &out);

	key_is_number(fields, what, key, false);
	json_text(&out, key, text);
	putc('\0', fields->file);
	return at;
}

void firefox_fields_put(struct firefox_fields *fields, struct json_out *out, size_t number)
{
	if (!number)
		return;
	fflush(fields->file);
	json_part(out, fields->text + number);
}
