// SPDX-License-Identifier: MIT
/*
 * python_name.c - name, file and line of a frame of CPython
 *
 * The bytes are those of the process, any bytes. Source of the formats: Objects/unicodeobject.c,
 * Objects/bytesobject.c and Objects/locations.md of CPython.
 */
#include "python.h"

#define MOST_TABLE	KUNWIND_INTERP_BYTES
#define TEXT_LENGTH	16		/* offsets in a str object */
#define TEXT_STATE	32

enum { FILE_NAME, QUALIFIED_NAME, LINE_TABLE, CODE_OBJECT };

static u32 number(const u8 *at, u32 size)
{
	u32 value = 0;

	memcpy(&value, at, size);
	return value;
}

/* Writes a character as UTF-8. Returns the bytes; 0: there is no room. */
static u32 put_character(char *to, u32 room, u32 c)
{
	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		if (room < 1)
			return 0;
		to[0] = (char)(c ? c : '?');
		return 1;
	}
	if (c < 0x800) {
		if (room < 2)
			return 0;
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		if (room < 3)
			return 0;
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	if (room < 4)
		return 0;
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Decodes a str object of which @size bytes are there. False: it is none, or is empty. */
static bool take_text(const struct python *python, const u8 *bytes, u32 size, char *to, u32 room)
{
	u32 state, kind, at, i, n, done = 0;
	u64 length;

	if (size < TEXT_STATE + 8)
		return false;
	memcpy(&length, bytes + TEXT_LENGTH, sizeof(length));
	state = number(bytes + TEXT_STATE, 4);
	kind = state >> 2 & 7;
	if (kind != 1 && kind != 2 && kind != 4)
		return false;
	/* the header of a string of ASCII characters is shorter */
	at = python->minor == 11 ? 72 : 56;
	if (state >> 6 & 1)
		at = python->minor == 11 ? 48 : 40;
	for (i = 0; i < length && at + kind <= size; i++, at += kind) {
		n = put_character(to + done, room - 1 - done, number(bytes + at, kind));
		if (!n)
			break;
		done += n;
	}
	to[done] = 0;
	return done;
}

struct line_table {
	const u8 *at, *end;
};

static u32 take_varint(struct line_table *table)
{
	u32 value = 0, shift = 0, byte;

	do {
		if (table->at >= table->end)
			return 0;
		byte = *table->at++;
		if (shift < 32)
			value |= (byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return value;
}

/* The line of the instruction at @offset, bytes from the first one; 0: it has none. */
static u32 line_of(struct line_table table, u32 first, u64 offset)
{
	u32 line = first, code, value;
	u64 at = 0;

	while (table.at < table.end) {
		const u8 byte = *table.at++;

		code = byte >> 3 & 15;
		if (code == 13 || code == 14) {
			value = take_varint(&table);
			line += value & 1 ? -(value >> 1) : value >> 1;
		} else if (code >= 10 && code <= 12) {
			line += code - 10;
		}
		while (table.at < table.end && !(*table.at & 128))
			table.at++;
		at += 2 * ((byte & 7) + 1);
		if (offset < at)
			return code == 15 ? 0 : line;
	}
	return 0;
}

static u32 take_line(const struct python *python, const u8 *object, const u8 *bytes, u32 size, u64 id,
		     u64 position)
{
	const u32 first = number(object + (python->minor == 11 ? 72 : 68), 4);
	const u64 offset = position - id - python->code_size;
	struct line_table table;
	u64 length;

	/* it has not begun */
	if ((s64)offset < 0)
		return first;
	if (size < 32)
		return 0;
	memcpy(&length, bytes + 16, sizeof(length));
	table.at = bytes + 32;
	table.end = table.at + min(length, (u64)size - 32);
	return line_of(table, first, offset & ~1ULL);
}

bool python_name(const struct python *python, u64 id, u64 position, kunwind_interp_copy_fn *copy, void *data,
		 struct python_frame *frame)
{
	const struct kunwind_interp_field *field = python->desc.field;
	u8 *bytes = malloc(MOST_TABLE), object[96];
	u32 size;
	bool ok;

	memset(frame, 0, offsetof(struct python_frame, name));
	*frame->name = *frame->file = 0;
	if (!bytes)
		return false;
	size = kunwind_interp_field_read(&field[QUALIFIED_NAME], id, copy, data, bytes, MOST_TABLE);
	ok = take_text(python, bytes, size, frame->name, sizeof(frame->name));
	size = kunwind_interp_field_read(&field[FILE_NAME], id, copy, data, bytes, MOST_TABLE);
	take_text(python, bytes, size, frame->file, sizeof(frame->file));
	size = kunwind_interp_field_read(&field[LINE_TABLE], id, copy, data, bytes, MOST_TABLE);
	if (kunwind_interp_field_read(&field[CODE_OBJECT], id, copy, data, object, sizeof(object)) ==
	    sizeof(object))
		frame->line = take_line(python, object, bytes, size, id, position);
	free(bytes);
	return ok;
}
