// SPDX-License-Identifier: MIT
/*
 * json_out.c - write JSON front to back
 */
#include <inttypes.h>

#include "json_out.h"

static void quote(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		if (*text == '<') {	/* in a page, it could end the script that holds the text */
			fputs("\\u003c", file);
			continue;
		}
		if (*text == '"' || *text == '\\')
			putc('\\', file);
		putc(*text, file);
	}
	putc('"', file);
}

static FILE *begin(struct json_out *out, const char *key)
{
	if (out->comma)
		putc(',', out->file);
	out->comma = true;
	if (key) {
		quote(out->file, key);
		putc(':', out->file);
	}
	return out->file;
}

void json_open(struct json_out *out, const char *key, char bracket)
{
	putc(bracket, begin(out, key));
	out->comma = false;
}

void json_close(struct json_out *out, char bracket)
{
	putc(bracket, out->file);
	out->comma = true;
}

void json_text(struct json_out *out, const char *key, const char *text)
{
	quote(begin(out, key), text);
}

void json_int(struct json_out *out, const char *key, int64_t value)
{
	fprintf(begin(out, key), "%" PRId64, value);
}

void json_bool(struct json_out *out, const char *key, bool value)
{
	fputs(value ? "true" : "false", begin(out, key));
}

void json_none(struct json_out *out, const char *key)
{
	fputs("null", begin(out, key));
}

void json_ms(struct json_out *out, const char *key, int64_t ns)
{
	FILE *file = begin(out, key);

	if (ns < 0)
		putc('-', file);
	ns = ns < 0 ? -ns : ns;
	fprintf(file, "%" PRId64, ns / 1000000);
	if (ns % 1000000)
		fprintf(file, ".%06" PRId64, ns % 1000000);
}

void json_part(struct json_out *out, const char *part)
{
	if (*part)
		fputs(part, begin(out, NULL));
}
