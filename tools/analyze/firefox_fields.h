/* SPDX-License-Identifier: MIT */
/*
 * firefox_fields.h - the fields of events as data of markers, with their schema
 */
#ifndef KUNWIND_ANALYZE_FIREFOX_FIELDS_H
#define KUNWIND_ANALYZE_FIREFOX_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "calls.h"
#include "json_out.h"

/* Starts as all zeros, except for calls. Memory: the text of all fields. */
struct firefox_fields {
	struct calls *calls;
	/* private to firefox_fields.c */
	char *text;
	size_t size;
	FILE *file;			/* writes to text */
	struct firefox_type {		/* of markers, by string: the name */
		struct firefox_key {
			uint32_t name;	/* string */
			bool number;
		} *key;
		uint32_t nr, cap;
	} *type;
	uint32_t nr_types;
};

void firefox_fields_exit(struct firefox_fields *fields);

/*
 * Keeps the fields of an event of type @what. Returns the number of the result
 * for firefox_fields_put().
 */
size_t firefox_fields_keep(struct firefox_fields *fields, uint32_t what, const bt_event *event);

/* Keeps one field that is a text. */
size_t firefox_fields_keep_text(struct firefox_fields *fields, uint32_t what, const char *key,
				const char *text);

/* Writes members of the data of a marker. @number 0: none. */
void firefox_fields_put(struct firefox_fields *fields, struct json_out *out, size_t number);

/* Writes the schema of all types. */
void firefox_fields_schema(struct firefox_fields *fields, struct json_out *out);

#endif /* KUNWIND_ANALYZE_FIREFOX_FIELDS_H */
