/* SPDX-License-Identifier: MIT */
/*
 * json_out.h - write JSON front to back
 *
 * For lists with an entry for each event, of which libjansson would keep a tree.
 */
#ifndef KUNWIND_ANALYZE_JSON_OUT_H
#define KUNWIND_ANALYZE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
	FILE *file;
	bool comma;		/* private: the next value is not the first one */
};

/* @key: NULL in a list. @text: UTF-8 without control characters, as calls_string() returns. */
void json_open(struct json_out *out, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json_out *out, char bracket);	/* '}' or ']' */
void json_text(struct json_out *out, const char *key, const char *text);
void json_int(struct json_out *out, const char *key, int64_t value);
void json_bool(struct json_out *out, const char *key, bool value);
void json_none(struct json_out *out, const char *key);
/* Writes nanoseconds as milliseconds, exactly. */
void json_ms(struct json_out *out, const char *key, int64_t ns);
/* Writes a part that is JSON already: members or values with commas between them. */
void json_part(struct json_out *out, const char *part);

#endif /* KUNWIND_ANALYZE_JSON_OUT_H */
