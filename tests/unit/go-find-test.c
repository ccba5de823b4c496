/* SPDX-License-Identifier: MIT */
/*
 * go-find-test.c - find .gopclntab inside .data.rel.ro
 *
 * The section has SIZE bytes at address ADDR, and is the whole file.
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/rows/go_find.h"
#include "tap.h"

#define SIZE	8192
#define ADDR	0x20010ULL	/* not aligned to 32 bytes */

static u8 section[SIZE];
static u64 fail_at, bytes_read;

static int section_read(void *data, u64 off, void *buf, size_t len)
{
	(void)data;
	if (off + len > fail_at || off > SIZE || len > SIZE - off)
		return -1;
	bytes_read += len;
	memcpy(buf, section + off, len);
	return 0;
}

/* Words of a header: functions, files, text, names, units, files, lists, functions. */
static const u64 good[9] = { 0x08010000fffffff1ULL, 10, 3, 0x1000, 96, 200, 300, 300, 400 };

static void put(u32 at, const u64 *words)
{
	memcpy(section + at, words, sizeof(good));
}

/* Returns the place where a table is found in the section; -1: nowhere; -2: an error. */
static long find(void)
{
	struct kunwind_elf elf = { .go_addr = ADDR, .go_size = SIZE, .go_inside = true };

	if (kunwind_go_find(section_read, NULL, &elf))
		return -2;
	if (!elf.go_size)
		return -1;
	if (elf.go_addr != ADDR + elf.go_offset || elf.go_size != SIZE - elf.go_offset)
		return -3;
	return elf.go_offset;
}

static void test_places(void)
{
	/* The second piece begins at 16 + 2048. */
	static const u32 places[] = { 16, 48, 2032, 2064, 4112, 7664 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		memset(section, 0, SIZE);
		put(places[i], good);
		tap_ok(find() == (long)places[i], "found at %u", places[i]);
	}
	for (i = 1; i < 4; i++) {
		memset(section, 0, SIZE);
		put(16 + 8 * i, good);
		tap_ok(find() == -1, "not found %u bytes after a multiple of 32", 8 * i);
	}
	memset(section, 0, SIZE);
	memcpy(section + SIZE - 16, good, 16);
	tap_ok(find() == -1, "half a header at the end");
	memset(section, 0, SIZE);
	bytes_read = 0;
	tap_ok(find() == -1 && bytes_read <= SIZE, "no header: each byte is read at most once");
}

static void test_headers(void)
{
	static const struct {
		const char *what;
		u32 word;
		u64 value;
		bool is;
	} headers[] = {
		{ "Go 1.18's magic", 0, 0x08010000fffffff0ULL, true },
		{ "Go 1.16's magic", 0, 0x08010000fffffffaULL, false },
		{ "pointers of four bytes", 0, 0x04010000fffffff1ULL, false },
		{ "no functions", 1, 0, false },
		{ "more functions than bytes", 1, SIZE, false },
		{ "names in the header", 4, 71, false },
		{ "names directly after the header", 4, 72, true },
		{ "names far after the header", 4, 129, false },
		{ "units before the names", 5, 95, false },
		{ "lists before the files", 7, 299, false },
		{ "functions outside", 8, SIZE, false },
	};
	unsigned int i;
	u64 words[9];

	for (i = 0; i < ARRAY_SIZE(headers); i++) {
		memset(section, 0, SIZE);
		memcpy(words, good, sizeof(words));
		words[headers[i].word] = headers[i].value;
		put(80, words);
		put(1008, good);
		tap_ok(find() == (headers[i].is ? 80 : 1008), "%s: %s", headers[i].what,
		   headers[i].is ? "a table" : "no table, the next one is found");
	}
}

int main(void)
{
	fail_at = SIZE;
	test_places();
	test_headers();
	memset(section, 0, SIZE);
	put(4112, good);
	fail_at = 3000;
	tap_ok(find() == -2, "a read that fails is an error");
	return tap_done();
}
