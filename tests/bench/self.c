// SPDX-License-Identifier: MIT
/*
 * self.c - make tables and ranges of the running process, from /proc/self/maps
 * and the files named there. The vDSO is left out, because no walk here begins
 * in it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfi/elf.h"
#include "self.h"

/* ld.so stores the stack pointer at the program's entry here. */
extern void *__libc_stack_end;

struct image {
	const u8 *data;
	u64 size;
};

static int image_read(void *file, u64 off, void *buf, size_t len)
{
	const struct image *image = file;

	if (off > image->size || len > image->size - off)
		return -1;
	memcpy(buf, image->data + off, len);
	return 0;
}

static const struct kunwind_table *file_table(const char *path, struct kunwind_elf *elf)
{
	struct kunwind_section section = { 0 };
	struct kunwind_table *table = NULL;
	enum kunwind_build_error build_error;
	struct image image;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	image.size = st.st_size;
	image.data = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image.data == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	if (kunwind_elf_parse(image_read, &image, image.size, elf) == KUNWIND_OK) {
		section.data = image.data + elf->eh_offset;
		section.size = elf->eh_size;
		section.addr = elf->eh_addr;
		section.text_base = elf->text_base;
		section.data_base = elf->data_base;
		section.lo = elf->text_lo;
		section.hi = elf->text_hi;
		build_error = kunwind_table_build(&section, 0, 1UL << 30, NULL, NULL, &table);
		if (build_error != KUNWIND_OK && build_error != KUNWIND_E_NO_CFI)
			errx(1, "%s: %s", path, kunwind_build_error_name(build_error));
	}
	munmap((void *)image.data, image.size);
	return table;
}

struct kunwind_ranges *self_ranges(void)
{
	struct kunwind_ranges *ranges;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4500], path[4097], mode[5];
	unsigned long start, end, offset;
	const u32 most = 256;

	ranges = calloc(1, sizeof(*ranges) + most * sizeof(ranges->range[0]));
	if (!maps || !ranges)
		err(1, "/proc/self/maps");
	ranges->id = 1;
	ranges->entry_sp = (u64)__libc_stack_end;
	while (fgets(line, sizeof(line), maps) && ranges->nr < most) {
		struct kunwind_range *range = &ranges->range[ranges->nr];
		struct kunwind_elf elf;

		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4096s", &start, &end, mode, &offset,
			   path) != 5 || mode[2] != 'x' || path[0] != '/')
			continue;
		range->start = start;
		range->end = end;
		range->table = file_table(path, &elf);
		range->reason = KUNWIND_NO_TABLE;
		if (!kunwind_elf_bias(&elf, start, end - start, offset, &range->bias))
			errx(1, "%s: no bias", path);
		ranges->nr++;
	}
	fclose(maps);
	return ranges;
}

void self_stack(u64 *lo, u64 *hi)
{
	pthread_attr_t attr;
	void *base;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getstack(&attr, &base, &size))
		errx(1, "no stack bounds");
	pthread_attr_destroy(&attr);
	*lo = (u64)base;
	*hi = (u64)base + size;
}
