// SPDX-License-Identifier: MIT
/*
 * metadata.c - find out whether the metadata of a trace are cut off, or have a text
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metadata.h"

/* @swapped: the traced machine has the other byte order. */
static uint32_t word_at(const unsigned char *bytes, bool swapped)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return swapped ? __builtin_bswap32(word) : word;
}

bool kunwind_metadata_is_whole(const char *path)
{
	enum { MAGIC = 0x75d11d57, HEADER = 37, CONTENT_SIZE = 24, PACKET_SIZE = 28 };
	unsigned char header[HEADER];
	bool swapped, whole = true;
	uint32_t bytes;
	FILE *f = fopen(path, "re");
	long at, size = 0;

	if (!f)
		return true;		/* the library will report why */
	if (!fseek(f, 0, SEEK_END))
		size = ftell(f);
	whole = size;
	for (at = 0; whole && at < size; at += bytes) {
		if (fseek(f, at, SEEK_SET) || fread(header, 1, 4, f) != 4)
			break;
		swapped = word_at(header, false) == __builtin_bswap32(MAGIC);
		if (word_at(header, swapped) != MAGIC) {
			whole = !at;	/* plain text has no packets */
			break;
		}
		whole = fread(header + 4, 1, HEADER - 4, f) == HEADER - 4;
		bytes = word_at(header + PACKET_SIZE, swapped) / 8;
		whole = whole && bytes >= HEADER && bytes <= size - at &&
			word_at(header + CONTENT_SIZE, swapped) / 8 <= bytes;
	}
	fclose(f);
	return whole;
}

bool kunwind_metadata_has(const char *path, const char *text)
{
	FILE *f = fopen(path, "re");
	size_t size = 0;
	char *line = NULL;
	bool has = false;

	/* a line of packets is cut at its first NUL byte */
	while (f && !has && getline(&line, &size, f) >= 0)
		has = strstr(line, text);
	free(line);
	if (f)
		fclose(f);
	return has;
}
