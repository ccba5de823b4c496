// SPDX-License-Identifier: MIT
/*
 * protobuf.c - write messages in protobuf's wire format
 *
 * The length of a message stands before its content, in as many bytes as it
 * needs. One byte is reserved for it; if a message is longer than 127 bytes, its
 * content is moved when it ends.
 *
 * Why not protobuf-c: it packs a whole message from a tree of structures, one
 * allocation a node, and the two schemas would become some 8,000 lines of
 * generated code and two more packages to build with. This file has all that
 * two exports need.
 *
 * Wire format: https://protobuf.dev/programming-guides/encoding/
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "kunwind_utf8.h"
#include "protobuf.h"

enum protobuf_type { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

#define MAX_VARINT	10	/* bytes of a 64-bit number, 7 bits each */

static void make_room(struct protobuf *out, size_t size)
{
	if (out->cap - out->nr >= size)
		return;
	while (out->cap - out->nr < size)
		out->cap = out->cap ? out->cap * 2 : 4096;
	out->data = needed(realloc(out->data, out->cap));
}

static size_t encode(uint8_t *to, uint64_t value)
{
	size_t nr = 0;

	for (; value > 0x7f; value >>= 7)
		to[nr++] = (uint8_t)(value | 0x80);
	to[nr++] = (uint8_t)value;
	return nr;
}

void protobuf_element(struct protobuf *out, uint64_t value)
{
	make_room(out, MAX_VARINT);
	out->nr += encode(out->data + out->nr, value);
}

static void tag(struct protobuf *out, unsigned int field, enum protobuf_type type)
{
	protobuf_element(out, field << 3 | type);
}

void protobuf_uint(struct protobuf *out, unsigned int field, uint64_t value)
{
	tag(out, field, VARINT);
	protobuf_element(out, value);
}

void protobuf_fixed64(struct protobuf *out, unsigned int field, uint64_t value)
{
	int i;

	tag(out, field, FIXED64);
	make_room(out, sizeof(value));
	for (i = 0; i < 8; i++)
		out->data[out->nr++] = (uint8_t)(value >> (8 * i));
}

void protobuf_double(struct protobuf *out, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_fixed64(out, field, bits);
}

static void append(struct protobuf *out, const void *data, size_t size)
{
	make_room(out, size);
	memcpy(out->data + out->nr, data, size);
	out->nr += size;
}

void protobuf_bytes(struct protobuf *out, unsigned int field, const void *data, size_t size)
{
	tag(out, field, LENGTH);
	protobuf_element(out, size);
	append(out, data, size);
}

void protobuf_text(struct protobuf *out, unsigned int field, const char *text)
{
	size_t at = protobuf_begin(out, field);
	unsigned int n;

	for (; *text; text += n ? n : 1) {
		n = kunwind_utf8_length(text);
		append(out, n ? text : "\xef\xbf\xbd", n ? n : 3);
	}
	protobuf_end(out, at);
}

size_t protobuf_begin(struct protobuf *out, unsigned int field)
{
	tag(out, field, LENGTH);
	make_room(out, 1);
	return ++out->nr;
}

void protobuf_end(struct protobuf *out, size_t at)
{
	size_t size = out->nr - at, nr;
	uint8_t length[MAX_VARINT];

	nr = encode(length, size);
	make_room(out, nr);
	if (nr > 1)
		memmove(out->data + at + nr - 1, out->data + at, size);
	memcpy(out->data + at - 1, length, nr);
	out->nr += nr - 1;
}
