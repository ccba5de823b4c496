// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bias.c - find the bias of a mapping of an ELF file; see elf.h
 *
 * Mappings begin at page boundaries, segments anywhere. If two executable
 * segments share a page of the file (gold's -z text-unlikely-segment, lld, linker
 * scripts), both of their mappings hold that page, and one mapping does not say
 * which segment it is of. All mappings of one load of a file have the same bias,
 * so the others of the process decide.
 */
#include "elf.h"

#define FLAG_X	1

void kunwind_elf_biases(const struct kunwind_elf *elf, u64 start, u64 len, u64 offset,
			struct kunwind_elf_biases *biases)
{
	unsigned int i, j;

	biases->nr = 0;
	for (i = 0; i < elf->nr_loads; i++) {
		const struct kunwind_elf_load *l = &elf->load[i];
		u64 its = start - offset + l->offset - l->vaddr;

		if (!(l->flags & FLAG_X) || !l->filesz || offset >= l->offset + l->filesz ||
		    (offset < l->offset && l->offset - offset >= len) || (elf->fixed && its))
			continue;
		for (j = 0; j < biases->nr && biases->bias[j] != its; j++)
			;
		if (j == biases->nr)
			biases->bias[biases->nr++] = its;
	}
}

void kunwind_elf_biases_narrow(const struct kunwind_elf *elf, struct kunwind_elf_biases *biases,
			       u64 start, u64 len, u64 offset)
{
	struct kunwind_elf_biases other;
	u32 i, j, both = 0;

	kunwind_elf_biases(elf, start, len, offset, &other);
	for (i = 0; i < biases->nr; i++)
		for (j = 0; j < other.nr; j++)
			if (biases->bias[i] == other.bias[j]) {
				biases->bias[both++] = other.bias[j];
				break;
			}
	if (both)
		biases->nr = both;
}
