// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * mem.c - read words of the user's memory in a window of their own
 *
 * Any context, NMI included. No window may be open.
 */
#include "mem.h"

bool kunwind_walk_attr kunwind_read_word(struct kunwind_mem *mem, u64 addr, u64 *value)
{
	u64 word;

	if (!kunwind_pay(mem, 1))
		return false;
	if (!kunwind_mem_begin(mem, addr))
		return false;
	kunwind_mem_read(mem, word, addr, fault);
	kunwind_mem_end(mem);
	*value = word;
	return true;
fault:
	kunwind_mem_end(mem);
	kunwind_pay(mem, KUNWIND_COST_FAULT);
	return false;
}

u32 kunwind_walk_attr kunwind_read_words(struct kunwind_mem *mem, u64 addr, u64 *words, u32 most)
{
	u32 n;

	if (!kunwind_mem_begin(mem, addr))
		return 0;
	for (n = 0; n < most; n++)
		kunwind_mem_read(mem, words[kunwind_index(n, (u32)KUNWIND_CHUNK)], addr + 8 * n, fault);
fault:
	kunwind_mem_end(mem);
	return n;
}

bool kunwind_walk_attr kunwind_read_word32(struct kunwind_mem *mem, u64 addr, u64 *value)
{
	return kunwind_read_size(mem, (u32)addr, sizeof(u32), value);
}
