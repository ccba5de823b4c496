// SPDX-License-Identifier: MIT
/*
 * image.c - the ELF headers of a module, as the memory of the process has them
 *
 * The kernel writes the first page of each mapped ELF file into a core. It has the program
 * headers, and mostly the notes: the build-id, which identifies the file, and the package
 * that the file is from (note of type FDO, https://systemd.io/ELF_PACKAGE_METADATA).
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

#define MOST_HEADERS	128
#define PAGE		4096ULL
#define MOST_NOTES	4096		/* bytes of one segment */
#define NOTE_PACKAGE	0xcafe1a7e

static void take_note(struct dump_module *module, uint32_t type, const char *name, const uint8_t *desc,
		      uint32_t len)
{
	if (type == NT_GNU_BUILD_ID && !strcmp(name, "GNU") && !module->build_id_len && len &&
	    len <= DUMP_BUILD_ID) {
		module->build_id_len = len;
		memcpy(module->build_id, desc, len);
	}
	if (type == NOTE_PACKAGE && !strcmp(name, "FDO") && !module->package && len && len <= DUMP_PACKAGE)
		module->package = strndup((const char *)desc, len);
}

static void read_notes(const struct dump_process *dump, struct dump_module *module, uint64_t addr,
		       uint64_t size)
{
	uint8_t bytes[MOST_NOTES];
	size_t len = dump_memory(dump, addr, bytes, size < sizeof(bytes) ? size : sizeof(bytes));
	size_t at = 0;

	while (len - at >= 12) {
		const uint32_t name = dump_u32(bytes + at), desc = dump_u32(bytes + at + 4);
		const size_t names = ((size_t)name + 3) & ~(size_t)3, descs = ((size_t)desc + 3) & ~(size_t)3;

		if (names > len - at - 12 || desc > len - at - 12 - names)
			return;
		if (name == 4 && !bytes[at + 12 + 3])
			take_note(module, dump_u32(bytes + at + 8), (const char *)bytes + at + 12,
				  bytes + at + 12 + names, desc);
		if (descs > len - at - 12 - names)
			return;
		at += 12 + names + descs;
	}
}

static void take_segment(struct dump_image *image, const uint8_t *bytes)
{
	const bool wide = image->wide;
	const struct dump_load load = {
		.offset = wide ? dump_u64(bytes + 8) : dump_u32(bytes + 4),
		.vaddr = wide ? dump_u64(bytes + 16) : dump_u32(bytes + 8),
		.filesz = wide ? dump_u64(bytes + 32) : dump_u32(bytes + 16),
		.flags = dump_u32(bytes + (wide ? 4 : 24)),
	};

	if (dump_u32(bytes) == PT_LOAD && image->nr < DUMP_MOST_LOADS)
		image->load[image->nr++] = load;
	if (dump_u32(bytes) == PT_NOTE && image->nr_notes < sizeof(image->note) / sizeof(image->note[0]))
		image->note[image->nr_notes++] = load;
}

bool dump_image_parse(kunwind_read_memory *read, void *data, struct dump_image *image)
{
	uint8_t header[64] = { 0 }, table[MOST_HEADERS * sizeof(Elf64_Phdr)];
	size_t nr, size, i;
	uint64_t phoff;

	memset(image, 0, sizeof(*image));
	if (read(data, 0, header, sizeof(header)) < sizeof(Elf32_Ehdr) || memcmp(header, ELFMAG, SELFMAG))
		return false;
	image->wide = header[EI_CLASS] == ELFCLASS64;
	phoff = image->wide ? dump_u64(header + 32) : dump_u32(header + 28);
	size = image->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	nr = dump_u16(header + (image->wide ? 56 : 44));
	nr = nr < MOST_HEADERS ? nr : MOST_HEADERS;
	if (dump_u16(header + (image->wide ? 54 : 42)) != size ||
	    read(data, phoff, table, nr * size) != nr * size)
		return false;
	for (i = 0; i < nr; i++)
		take_segment(image, table + i * size);
	return image->nr;
}

const struct dump_load *dump_image_at_offset(const struct dump_image *image, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < image->nr; i++)
		if (offset - image->load[i].offset < image->load[i].filesz)
			return &image->load[i];
	return NULL;
}

const struct dump_load *dump_image_at_vaddr(const struct dump_image *image, uint64_t vaddr)
{
	uint32_t i;

	for (i = 0; i < image->nr; i++)
		if (vaddr - image->load[i].vaddr < image->load[i].filesz)
			return &image->load[i];
	return NULL;
}

uint64_t dump_image_bias(const struct dump_image *image, uint64_t at)
{
	const struct dump_load *lowest = &image->load[0];
	uint32_t i;

	for (i = 1; i < image->nr; i++)
		if (image->load[i].offset < lowest->offset)
			lowest = &image->load[i];
	return at + lowest->offset - lowest->vaddr;
}

struct in_memory {
	const struct dump_process *dump;
	uint64_t at;
};

static size_t read_in_memory(void *data, uint64_t offset, void *buf, size_t len)
{
	const struct in_memory *in = data;

	return dump_memory(in->dump, in->at + offset, buf, len);
}

bool dump_add_code(struct dump_process *dump, const struct dump_module *module)
{
	struct in_memory in = { dump, module->image };
	struct dump_image image;
	uint64_t bias, start, end;
	uint32_t i;

	if (!dump_image_parse(read_in_memory, &in, &image))
		return true;
	bias = dump_image_bias(&image, module->image);
	for (i = 0; i < image.nr; i++) {
		start = (bias + image.load[i].vaddr) & ~(PAGE - 1);
		end = (bias + image.load[i].vaddr + image.load[i].filesz + PAGE - 1) & ~(PAGE - 1);
		if (image.load[i].flags & PF_X && start >= module->start && end <= module->end &&
		    !dump_add_mapping(dump, start, end))
			return false;
	}
	return true;
}

void dump_read_image(const struct dump_process *dump, struct dump_module *module)
{
	struct in_memory in = { dump, module->image };
	struct dump_image image;
	uint32_t i;

	if (!dump_image_parse(read_in_memory, &in, &image))
		return;
	module->has_header = true;
	module->bias = dump_image_bias(&image, module->image);
	module->biased = true;
	for (i = 0; i < image.nr_notes; i++)
		read_notes(dump, module, module->bias + image.note[i].vaddr, image.note[i].filesz);
}
