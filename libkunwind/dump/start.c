// SPDX-License-Identifier: MIT
/*
 * start.c - where a program began: its auxiliary vector, and its first stack pointer
 *
 * The kernel puts onto the stack of a program, from its first stack pointer on, argc, the
 * pointers of argv and of the environment, each list with a zero at its end, and the auxiliary
 * vector (x86-64 psABI, 3.4.1). The strings follow, and last the program's name, to which
 * AT_EXECFN points. So the vector is searched for below AT_EXECFN, and from there the two
 * lists of pointers lead back to argc.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

#define MOST_STRINGS	(256u << 10)	/* bytes of arguments and environment that are searched */
#define MOST_POINTERS	65536
#define PAGE		4096ULL

static uint64_t word_of(const struct dump_process *dump, const uint8_t *at)
{
	return dump->i386 ? dump_u32(at) : dump_u64(at);
}

void dump_take_auxv(struct dump_process *dump, const uint8_t *auxv, size_t len)
{
	const size_t word = dump->i386 ? 4 : 8;
	size_t at;

	for (at = 0; at + 2 * word <= len; at += 2 * word) {
		const uint64_t value = word_of(dump, auxv + at + word);

		switch (word_of(dump, auxv + at)) {
		case AT_NULL:
			return;
		case AT_ENTRY:
			dump->auxv.entry = value;
			break;
		case AT_BASE:
			dump->auxv.base = value;
			break;
		case AT_PHDR:
			dump->auxv.phdr = value;
			break;
		case AT_PHNUM:
			dump->auxv.phnum = value;
			break;
		case AT_EXECFN:
			dump->auxv.execfn = value;
			break;
		case AT_SYSINFO_EHDR:
			dump->auxv.vdso = value;
			break;
		}
	}
}

/* Returns where the vector is in memory; 0: nowhere. It is aligned as a pointer is. */
static uint64_t find_vector(const struct dump_process *dump, const uint8_t *auxv, size_t len)
{
	const uint64_t word = dump->i386 ? 4 : 8, high = dump->auxv.execfn & ~(word - 1);
	uint64_t low = high > MOST_STRINGS ? (high - MOST_STRINGS) & ~(PAGE - 1) : 0, found = 0;
	uint8_t *bytes = malloc(MOST_STRINGS + PAGE);
	const uint8_t *at;
	size_t got = 0;

	/* the stack may begin later than that */
	while (bytes && low < high && !(got = dump_memory(dump, low, bytes, (size_t)(high - low))))
		low += PAGE;
	for (at = bytes; at && got >= len && at <= bytes + got - len; at++) {
		at = memmem(at, got - (size_t)(at - bytes), auxv, len);
		if (at && !((low + (uint64_t)(at - bytes)) % word))
			found = low + (uint64_t)(at - bytes);
		if (!at)
			break;
	}
	free(bytes);
	return found;
}

/*
 * Goes back from the vector over two lists with a zero at their ends: no pointer is zero. What
 * is before the second one is argc, the number of its pointers.
 */
static uint64_t find_argc(const struct dump_process *dump, uint64_t vector)
{
	const uint64_t word = dump->i386 ? 4 : 8;
	uint64_t at = vector - word, value, nr;

	if (!dump_word(dump, at, &value) || value)
		return 0;
	for (nr = 0; nr < MOST_POINTERS; nr++) {
		at -= word;
		if (!dump_word(dump, at, &value))
			return 0;
		if (!value)
			break;
	}
	for (nr = 0; nr < MOST_POINTERS; nr++) {
		at -= word;
		if (!dump_word(dump, at, &value))
			return 0;
		if (value == nr)
			return at;
	}
	return 0;
}

void dump_find_start(struct dump_process *dump, const void *auxv, size_t len)
{
	uint64_t vector;

	if (!dump->auxv.execfn || len < 64)
		return;
	vector = find_vector(dump, auxv, len);
	if (vector)
		dump->start_sp = find_argc(dump, vector);
}
