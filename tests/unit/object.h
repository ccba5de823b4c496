/* SPDX-License-Identifier: MIT */
/*
 * object.h - for test tools: map an ELF file and find its unwind sections
 */
#ifndef _TEST_OBJECT_H
#define _TEST_OBJECT_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kmod/core/cfi/elf.h"
#include "../../kmod/core/walk/mem.h"

struct object {
	const u8 *data;
	size_t size;
	struct kunwind_elf elf;
	struct kunwind_section sections[2], section;	/* section: what a build reads */
};

static inline int object_read(void *file, u64 off, void *buf, size_t len)
{
	const struct object *o = file;

	memcpy(buf, o->data + off, len);
	return 0;
}

/* Returns 0, a build error, or -1 if the file cannot be opened. */
static inline int object_open(struct object *o, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) || !st.st_size) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	o->size = st.st_size;
	o->data = mmap(NULL, o->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (o->data == MAP_FAILED)
		return -1;
	err = kunwind_elf_parse(object_read, o, o->size, &o->elf);
	kunwind_elf_sections(&o->elf, o->data + o->elf.eh_offset, o->data + o->elf.debug_offset,
			     o->sections);
	o->section = o->sections[0];
	return err;
}

/* Sets *@mem to the last executable segment. */
static inline void object_code(const struct object *o, struct kunwind_mem *mem)
{
	u32 i;

	for (i = 0; i < o->elf.nr_loads; i++)
		if (o->elf.load[i].flags & 1) {	/* PF_X */
			mem->lo = o->elf.load[i].vaddr;
			mem->hi = o->elf.load[i].vaddr + o->elf.load[i].filesz;
			mem->delta = (u64)(uintptr_t)o->data + o->elf.load[i].offset - mem->lo;
		}
}

static inline void object_close(struct object *o)
{
	munmap((void *)o->data, o->size);
}

#endif /* _TEST_OBJECT_H */
