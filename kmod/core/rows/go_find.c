// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * go_find.c - find .gopclntab inside .data.rel.ro
 *
 * In a position-independent program, shared library or plugin that the C linker has
 * linked, .gopclntab is a part of .data.rel.ro, and its symbols may be stripped.
 * Its header has constants at the first 8 bytes and a number of functions. Of its five
 * offsets, the first one is directly after the header, and none is less than the one before.
 * Go aligns the table to 32 bytes. go.c checks all the rest, as in a section of its own.
 *
 * Releases before 1.18 are not looked for, because their addresses are relocated one by one.
 *
 * Task context; may sleep. Reads each byte of the section at most once, 2 KB at a
 * time, and at most 64 MB. Memory: 2 KB during the call.
 */
#include "go_find.h"

#define ALIGNMENT  32
#define MOST_BYTES (64 << 20)
#define PIECE	   2048 /* bytes; a multiple of ALIGNMENT */
#define WORDS	   9 /* of a header */
#define MOST_HEADER 128 /* bytes, with alignment */
#define MAGIC_18   0xfffffff0U
#define MAGIC_20   0xfffffff1U
#define CONSTANTS  0x08010000ULL /* two zeros, the smallest instruction, the size of a pointer */

/* @size: of what follows the header's first byte. */
static bool is_header(const u64 *word, u64 size)
{
	u32 i;

	if ((word[0] != (CONSTANTS << 32 | MAGIC_18) && word[0] != (CONSTANTS << 32 | MAGIC_20)) ||
	    !word[1] || word[1] > size || word[4] < WORDS * sizeof(*word) || word[4] > MOST_HEADER)
		return false;
	for (i = 5; i < WORDS; i++)
		if (word[i] < word[i - 1] || word[i] > size)
			return false;
	return true;
}

enum kunwind_build_error kunwind_go_find(kunwind_read_fn *read, void *file, struct kunwind_elf *elf)
{
	const u64 size = min(elf->go_size, (u64)MOST_BYTES);
	const u64 first = -elf->go_addr & (ALIGNMENT - 1);
	enum kunwind_build_error err = KUNWIND_OK;
	u8 *bytes = kunwind_alloc(PIECE);
	u64 word[WORDS], off, at;

	if (!bytes)
		return KUNWIND_E_NOMEM;
	for (off = first; off < size; off += PIECE) {
		const u32 len = min((u64)PIECE, size - off);

		if (read(file, elf->go_offset + off, bytes, len)) {
			err = KUNWIND_E_IO;
			break;
		}
		for (at = 0; at + sizeof(word[0]) <= len; at += ALIGNMENT) {
			memcpy(word, bytes + at, sizeof(word[0]));
			if (word[0] >> 32 != CONSTANTS || size - off - at < sizeof(word))
				continue;
			/* The header may go on in the next piece. */
			if (read(file, elf->go_offset + off + at, word, sizeof(word))) {
				err = KUNWIND_E_IO;
				goto out;
			}
			if (!is_header(word, elf->go_size - off - at))
				continue;
			elf->go_addr += off + at;
			elf->go_offset += off + at;
			elf->go_size -= off + at;
			goto out;
		}
		kunwind_resched();
	}
	elf->go_size = 0;
out:
	kunwind_free(bytes);
	return err;
}
