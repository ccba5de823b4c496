// SPDX-License-Identifier: MIT
/*
 * mappings.c - list the mappings of code of this process; see mappings.h
 *
 * dl_iterate_phdr() gives the objects that the program and dlopen() have loaded; it takes
 * libc's lock, which no dlopen() or dlclose() of another thread gets meanwhile.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "mappings.h"

#define PAGE	4096ULL

extern const char *gnu_libc_version(void) __asm__("gnu_get_libc_version")
	__attribute__((__weak__));

bool unwind_mappings_add(struct unwind_mappings *mappings, const struct unwind_mapping *mapping,
			 const char *path, u32 most)
{
	struct unwind_mapping *more;
	u32 i, room;

	for (i = 0; i < min(mappings->nr, most); i++)
		if (mapping->start < mappings->mapping[i].end &&
		    mappings->mapping[i].start < mapping->end)
			return true;
	if (mappings->nr == mappings->room) {
		room = 2 * mappings->room + 64;
		more = realloc(mappings->mapping, room * sizeof(*more));
		if (!more)
			return false;
		mappings->mapping = more;
		mappings->room = room;
	}
	more = &mappings->mapping[mappings->nr];
	*more = *mapping;
	more->path = path && *path ? strdup(path) : NULL;
	if (path && *path && !more->path)
		return false;
	mappings->nr++;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct unwind_mapping *one = a, *two = b;

	return one->start < two->start ? -1 : one->start > two->start;
}

void unwind_mappings_sort(struct unwind_mappings *mappings)
{
	if (mappings->nr)
		qsort(mappings->mapping, mappings->nr, sizeof(*mappings->mapping), compare);
}

void unwind_mappings_free(struct unwind_mappings *mappings)
{
	u32 i;

	for (i = 0; i < mappings->nr; i++)
		free(mappings->mapping[i].path);
	free(mappings->mapping);
}

/* Adds the executable segments of an object. */
static bool add_segments(struct unwind_mappings *mappings, u64 bias, const Elf64_Phdr *phdr,
			 u32 nr, const char *path, bool loose)
{
	struct unwind_mapping mapping = { .bias = bias, .loose = loose };
	u32 i;

	for (i = 0; i < nr; i++)
		if (phdr[i].p_type == PT_LOAD && !phdr[i].p_offset)
			mapping.image = bias + phdr[i].p_vaddr;
	for (i = 0; i < nr; i++) {
		const u64 start = bias + phdr[i].p_vaddr;

		if (phdr[i].p_type != PT_LOAD || !(phdr[i].p_flags & PF_X) || !phdr[i].p_memsz)
			continue;
		mapping.start = start & -PAGE;
		mapping.end = (start + phdr[i].p_memsz + PAGE - 1) & -PAGE;
		mapping.offset = phdr[i].p_offset - (start - mapping.start);
		if (!unwind_mappings_add(mappings, &mapping, path, 0))
			return false;
	}
	return true;
}

struct loaded {
	struct unwind_mappings *mappings;
	char program[4097];
	u32 nr;
	bool failed;
};

static bool holds(const struct dl_phdr_info *info, u64 addr)
{
	u32 i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    addr - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/*
 * The program, libc, ld.so and the vDSO are never unloaded. musl unloads nothing. An older
 * glibc may, but cannot be asked.
 */
static bool is_loose(const struct dl_phdr_info *info, u32 nr)
{
	return nr && (unwind_loaded_known() || gnu_libc_version) &&
	       !holds(info, (u64)getauxval) && !holds(info, getauxval(AT_BASE)) &&
	       !holds(info, getauxval(AT_SYSINFO_EHDR));
}

static int on_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const u64 vdso = getauxval(AT_SYSINFO_EHDR);
	struct loaded *loaded = data;
	const char *path = info->dlpi_name;

	(void)size;
	if (!loaded->nr)
		path = loaded->program;
	else if (vdso && holds(info, vdso))
		path = NULL;
	if (!add_segments(loaded->mappings, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, path,
			  is_loose(info, loaded->nr)))
		loaded->failed = true;
	loaded->nr++;
	return loaded->failed;
}

/* The vDSO, where dl_iterate_phdr() does not report it. */
static bool add_vdso(struct unwind_mappings *mappings)
{
	const u64 at = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)at;
	const Elf64_Phdr *phdr;
	u64 bias = at;
	u32 i;

	if (!at)
		return true;
	for (i = 0; i < mappings->nr; i++)
		if (mappings->mapping[i].image == at)
			return true;
	phdr = (const Elf64_Phdr *)(at + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD)
			bias = at + phdr[i].p_offset - phdr[i].p_vaddr;
	return add_segments(mappings, bias, phdr, header->e_phnum, NULL, false);
}

bool unwind_mappings_loaded(struct unwind_mappings *mappings)
{
	struct loaded loaded = { .mappings = mappings };
	ssize_t len = readlink("/proc/self/exe", loaded.program, sizeof(loaded.program) - 1);

	loaded.program[max(len, (ssize_t)0)] = 0;
	dl_iterate_phdr(on_object, &loaded);
	return !loaded.failed && add_vdso(mappings);
}

/*
 * Code of no file, of a file without a name, or of a file that libc has not loaded. The
 * path of a file that was deleted may be another file's by now.
 */
static bool add_line(struct unwind_mappings *mappings, const char *line, u32 most)
{
	struct unwind_mapping mapping = { 0 };
	unsigned long start, end, offset;
	char mode[5], path[4097];

	*path = 0;
	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4096[^\n]", &start, &end, mode, &offset, path) < 4 ||
	    mode[2] != 'x' || (long)start < 0)
		return true;
	mapping.start = start;
	mapping.end = end;
	mapping.offset = offset;
	return unwind_mappings_add(mappings, &mapping,
				   *path == '/' && !strstr(path, " (deleted)") &&
				   strncmp(path, "/memfd:", 7) && strncmp(path, "/dev/", 5) ? path : NULL,
				   most);
}

bool unwind_mappings_other(struct unwind_mappings *mappings)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	const u32 most = mappings->nr;
	bool done = true;
	char line[4400];

	while (done && maps && fgets(line, sizeof(line), maps))
		done = add_line(mappings, line, most);
	if (maps)
		fclose(maps);
	return done;
}
