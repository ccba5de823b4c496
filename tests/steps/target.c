// SPDX-License-Identifier: MIT
/*
 * target.c - read executable mappings of the stopped process and build their
 * tables, as read_mappings.c and object.c of the module do
 *
 * Tables are whole, not in parts, without a limit on their size. The vDSO is
 * read from the process; the module has the kernel's image of it.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows/unwind_info.h"
#include "target.h"

static struct target_object *objects;

static int file_read(void *file, u64 off, void *buf, size_t len)
{
	return pread(*(int *)file, buf, len, off) == (ssize_t)len ? 0 : -1;
}

static void read_table(struct target_object *object)
{
	struct kunwind_section sections[2];
	struct kunwind_code_gaps *gaps;
	struct kunwind_elf *elf;
	struct stat st;
	u8 *data;

	elf = object->elf = calloc(1, sizeof(*elf));
	if (fstat(object->fd, &st))
		err(1, "%s", object->path);
	object->build_error = kunwind_unwind_info_find(file_read, &object->fd, st.st_size, elf);
	if (object->build_error)
		return;
	data = malloc(elf->eh_size + elf->debug_size + 1);
	if (!data)
		err(1, "%s", object->path);
	object->build_error = kunwind_unwind_info_read(file_read, &object->fd, elf, data);
	if (!object->build_error)
		object->build_error = kunwind_unwind_info_read_code(file_read, &object->fd, elf, data,
								    NULL, NULL, NULL, &gaps);
	if (!object->build_error)
		object->build_error = kunwind_unwind_info_add_rows(elf, gaps, NULL, NULL, NULL, &data);
	kunwind_elf_sections(elf, data, data + elf->eh_size, sections);
	if (!object->build_error)	/* the vDSO follows all registers: builder.c */
		object->build_error = kunwind_table_build(&sections[0],
							  *object->path == '[' ? KUNWIND_SAVED_REGS : 0,
							  1UL << 30, NULL, NULL, &object->table);
	free(data);
}

/* Copies the vDSO to a file. Returns its descriptor. */
static int copy_of(pid_t pid, u64 start, u64 end)
{
	u8 *bytes = malloc(end - start);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (!bytes || fd < 0 || memory_raw(pid, start, bytes, end - start) != end - start ||
	    write(fd, bytes, end - start) != (ssize_t)(end - start))
		errx(1, "the vDSO cannot be read");
	free(bytes);
	return fd;
}

static struct target_object *object_of(const struct target *target, const char *path, u64 start,
				       u64 end)
{
	struct target_object *object;

	for (object = objects; object; object = object->next)
		if (!strcmp(object->path, path))
			return object;
	object = calloc(1, sizeof(*object));
	object->path = strdup(path);
	object->fd = *path == '[' ? copy_of(target->pid, start, end) :
				    open(path, O_RDONLY | O_CLOEXEC);
	if (object->fd < 0) {
		free(object->path);
		free(object);
		return NULL;
	}
	read_table(object);
	object->next = objects;
	objects = object;
	return object;
}

static u64 start_stack(pid_t pid)
{
	char path[64], line[2048], *at;
	u64 start = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (file && fgets(line, sizeof(line), file) && (at = strrchr(line, ')'))) {
		int field;

		for (field = 2; at && field < 28; field++)
			at = strchr(at + 1, ' ');
		if (at)
			start = strtoull(at, NULL, 10);
	}
	if (file)
		fclose(file);
	return start;
}

/* Returns a value of the auxiliary vector, or 0. */
static u64 auxiliary(pid_t pid, u64 type)
{
	u64 entry[2], value = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "r");
	while (file && fread(entry, sizeof(entry), 1, file) == 1 && entry[0] != AT_NULL)
		if (entry[0] == type)
			value = entry[1];
	if (file)
		fclose(file);
	return value;
}

static void add(struct target *target, const char *path, u64 start, u64 end, u64 offset)
{
	struct target_mapping *mapping;
	struct kunwind_range *range;
	const u32 nr = target->nr++;

	/* Room grows by 64. */
	if (nr % 64 == 0) {
		target->mapping = realloc(target->mapping, (nr + 64) * sizeof(*mapping));
		target->ranges = realloc(target->ranges, sizeof(*target->ranges) +
							 (nr + 64) * sizeof(*range));
	}
	mapping = &target->mapping[nr];
	range = &target->ranges->range[nr];
	*mapping = (struct target_mapping){ .start = start, .end = end };
	*range = (struct kunwind_range){ .start = start, .end = end, .reason = KUNWIND_NO_OBJECT };
	if (*path != '/' && strcmp(path, "[vdso]"))
		return;
	mapping->object = object_of(target, path, start, end);
	range->reason = KUNWIND_NO_TABLE;
	if (!mapping->object || (mapping->object->build_error == KUNWIND_E_NOMEM ||
				 mapping->object->build_error == KUNWIND_E_LIMIT)) {
		range->reason = KUNWIND_MEMORY_LIMIT;
		return;
	}
	mapping->offset = offset;
}

/* Gives a mapping its bias and table. Without a known bias, it has no table. */
static void settle(struct target *target, u32 nr)
{
	struct target_mapping *mapping = &target->mapping[nr];
	struct kunwind_range *range = &target->ranges->range[nr];
	struct kunwind_elf_biases biases;
	u32 i;

	if (!mapping->object || range->reason != KUNWIND_NO_TABLE)
		return;
	kunwind_elf_biases(mapping->object->elf, mapping->start, mapping->end - mapping->start,
			   mapping->offset, &biases);
	for (i = 0; i < target->nr; i++)
		if (i != nr && target->mapping[i].object == mapping->object)
			kunwind_elf_biases_narrow(mapping->object->elf, &biases,
						  target->mapping[i].start,
						  target->mapping[i].end - target->mapping[i].start,
						  target->mapping[i].offset);
	if (biases.nr != 1)
		return;
	mapping->bias = biases.bias[0];
	range->bias = mapping->bias;
	range->table = mapping->object->table;
}

void target_read(struct target *target)
{
	static u64 id;
	char path[64], line[4500], name[4097], mode[5];
	unsigned long start, end, offset;
	FILE *maps;
	u32 nr;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)target->pid);
	maps = fopen(path, "r");
	if (!maps)
		return;
	target->nr = 0;
	target->epoch++;
	while (fgets(line, sizeof(line), maps)) {
		*name = 0;
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4096[^\n]", &start, &end, mode, &offset,
			   name) < 4 || mode[2] != 'x' || !strcmp(name, "[vsyscall]"))
			continue;
		add(target, name, start, end, offset);
	}
	fclose(maps);
	if (!target->nr)
		return;
	for (nr = 0; nr < target->nr; nr++)
		settle(target, nr);
	target->ranges->id = ++id;
	target->ranges->entry_sp = start_stack(target->pid);
	target->ranges->entry = auxiliary(target->pid, AT_ENTRY);
	target->ranges->interpreter = auxiliary(target->pid, AT_BASE);
	target->ranges->nr = target->nr;
}

const struct target_mapping *target_find(const struct target *target, u64 addr)
{
	u32 lo = 0, hi = target->nr;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (addr < target->mapping[mid].start)
			hi = mid;
		else if (addr >= target->mapping[mid].end)
			lo = mid + 1;
		else
			return &target->mapping[mid];
	}
	return NULL;
}
