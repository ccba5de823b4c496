// SPDX-License-Identifier: MIT
/*
 * symbolize.c - names of functions for addresses in ELF files
 *
 * Files are opened when a first address in them is asked for, and the least
 * recently used one is closed when many are open. Answers are kept in a
 * direct-mapped cache by (file, address): a trace repeats few addresses often.
 *
 * C++ names are demangled by __cxa_demangle() of libstdc++, which is opened at
 * run time: no C++ at build time, and mangled names where it is not installed.
 *
 * Memory: the cache, 2 MB at most with its names about 8 MB, and what up to
 * MAX_OPEN files cost (symbolize_file.c).
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize.h"
#include "symbolize_file.h"

#define MAX_OPEN	256
#define NR_BUCKETS	1024
#define NR_CACHED	(1 << 15)	/* power of 2 */

struct kunwind_symfile {
	struct kunwind_symfile *next;	/* in its bucket */
	struct kunwind_symbolizer *symbolizer;
	char *path, *build_id;
	uint64_t inode;
	bool tried;
	enum kunwind_symfile_state state;
	struct kunwind_elf *elf;	/* NULL: not open */
	uint64_t used;			/* when, on the symbolizer's clock */
};

struct cached {
	struct kunwind_symfile *file;	/* NULL: empty */
	uint64_t addr;
	bool exact;
	struct kunwind_symbol symbol;
	char *name;			/* owner of symbol.name */
};

struct kunwind_symbolizer {
	struct kunwind_symfile *bucket[NR_BUCKETS];
	struct cached *cache;
	unsigned int nr_open;
	uint64_t clock;
	void *libstdcxx;
	char *(*demangle)(const char *name, char *buf, size_t *len, int *status);
};

struct kunwind_symbolizer *kunwind_symbolizer_new(void)
{
	struct kunwind_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->cache = calloc(NR_CACHED, sizeof(*symbolizer->cache));
	if (!symbolizer->cache) {
		free(symbolizer);
		return NULL;
	}
	symbolizer->libstdcxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (symbolizer->libstdcxx)
		symbolizer->demangle = (char *(*)(const char *, char *, size_t *, int *))
			dlsym(symbolizer->libstdcxx, "__cxa_demangle");
	return symbolizer;
}

void kunwind_symbolizer_free(struct kunwind_symbolizer *symbolizer)
{
	size_t i;

	if (!symbolizer)
		return;
	for (i = 0; i < NR_CACHED; i++)
		free(symbolizer->cache[i].name);
	for (i = 0; i < NR_BUCKETS; i++) {
		struct kunwind_symfile *file = symbolizer->bucket[i], *next;

		for (; file; file = next) {
			next = file->next;
			kunwind_elf_close(file->elf);
			free(file->path);
			free(file->build_id);
			free(file);
		}
	}
	if (symbolizer->libstdcxx)
		dlclose(symbolizer->libstdcxx);
	free(symbolizer->cache);
	free(symbolizer);
}

/* FNV-1a */
static uint64_t hash_string(uint64_t hash, const char *s)
{
	while (*s)
		hash = (hash ^ (unsigned char)*s++) * 0x100000001b3;
	return hash;
}

struct kunwind_symfile *kunwind_symbolizer_file(struct kunwind_symbolizer *symbolizer,
						const char *path, const char *build_id,
						uint64_t inode)
{
	uint64_t hash = hash_string(hash_string(0xcbf29ce484222325 ^ inode, path), build_id);
	struct kunwind_symfile **bucket = &symbolizer->bucket[hash % NR_BUCKETS], *file;

	for (file = *bucket; file; file = file->next) {
		if (file->inode == inode && !strcmp(file->path, path) &&
		    !strcmp(file->build_id, build_id))
			return file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	file->build_id = strdup(build_id);
	if (!file->path || !file->build_id) {
		free(file->path);
		free(file->build_id);
		free(file);
		return NULL;
	}
	file->inode = inode;
	file->symbolizer = symbolizer;
	file->next = *bucket;
	*bucket = file;
	return file;
}

const char *kunwind_symfile_path(const struct kunwind_symfile *file)
{
	return file->path;
}

const char *kunwind_symfile_build_id(const struct kunwind_symfile *file)
{
	return file->build_id;
}

static void close_oldest(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_symfile *oldest = NULL, *file;
	size_t i;

	for (i = 0; i < NR_BUCKETS; i++) {
		for (file = symbolizer->bucket[i]; file; file = file->next) {
			if (file->elf && (!oldest || file->used < oldest->used))
				oldest = file;
		}
	}
	kunwind_elf_close(oldest->elf);
	oldest->elf = NULL;
	symbolizer->nr_open--;
}

/* A file that was closed for want of room is opened again, and proved again. */
static bool open_file(struct kunwind_symfile *file)
{
	struct kunwind_symbolizer *symbolizer = file->symbolizer;

	file->used = ++symbolizer->clock;
	if (file->elf)
		return true;
	if (file->tried && file->state != KUNWIND_SYMFILE_OK)
		return false;
	if (symbolizer->nr_open == MAX_OPEN)
		close_oldest(symbolizer);
	file->tried = true;
	file->elf = kunwind_elf_open(file->path, file->build_id, file->inode, &file->state);
	if (file->elf)
		symbolizer->nr_open++;
	return file->elf;
}

enum kunwind_symfile_state kunwind_symfile_state(struct kunwind_symfile *file)
{
	if (!file->tried)
		open_file(file);
	return file->state;
}

bool kunwind_symfile_vaddr(struct kunwind_symfile *file, uint64_t offset, uint64_t *vaddr)
{
	return open_file(file) && kunwind_elf_vaddr(file->elf, offset, vaddr);
}

const char *kunwind_symfile_why(enum kunwind_symfile_state state)
{
	switch (state) {
	case KUNWIND_SYMFILE_OK:
		return NULL;
	case KUNWIND_SYMFILE_ABSENT:
		return "no such file";
	case KUNWIND_SYMFILE_UNREADABLE:
		return "file not readable";
	case KUNWIND_SYMFILE_DIFFERS:
		return "build-id differs";
	case KUNWIND_SYMFILE_UNSURE:
		return "no build-id, and not the same inode";
	}
	return "?";
}

/*
 * A copy that the caller owns: without the version that a static symbol table
 * appends ("open@@GLIBC_2.2.5"), demangled where that is possible.
 */
static char *readable_name(const struct kunwind_symbolizer *symbolizer, const char *raw)
{
	const char *version = strchr(raw + 1, '@');
	char *plain = version ? strndup(raw, (size_t)(version - raw)) : strdup(raw);
	char *name = NULL;
	int status;

	if (plain && symbolizer->demangle && plain[0] == '_' && plain[1] == 'Z')
		name = symbolizer->demangle(plain, NULL, NULL, &status);
	if (!name)
		return plain;
	free(plain);
	return name;
}

/* Functions that the kernel or libc starts a thread of control with, where no CFI says so. */
static bool entry_by_name(const char *name)
{
	static const char *const names[] = {
		"_start", "_dl_start_user", "clone", "__clone", "clone3", "__clone3", };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

static void look_up(struct kunwind_symfile *file, uint64_t addr, bool exact, struct cached *out)
{
	struct kunwind_symbol *symbol = &out->symbol;
	const char *raw;
	uint64_t start, at;

	/* a handler "returns" to the trampoline's first byte, which no call precedes */
	symbol->trampoline = kunwind_elf_is_trampoline(file->elf, addr);
	at = exact || symbol->trampoline ? addr : addr - 1;
	raw = kunwind_elf_symbol(file->elf, at, &start);
	if (raw) {
		out->name = readable_name(file->symbolizer, raw);
		symbol->name = out->name;
		symbol->offset = addr - start;
	}
	symbol->entry = (raw && entry_by_name(raw)) || kunwind_elf_is_entry(file->elf, at);
}

void kunwind_symbolize(struct kunwind_symfile *file, uint64_t addr, bool exact,
		       struct kunwind_symbol *symbol)
{
	uint64_t hash = (addr * 2 + exact) * 0x9e3779b97f4a7c15 ^ (uintptr_t)file / 64;
	struct cached *cached = &file->symbolizer->cache[(hash >> 20) % NR_CACHED];

	if (cached->file != file || cached->addr != addr || cached->exact != exact) {
		free(cached->name);
		memset(cached, 0, sizeof(*cached));
		if (open_file(file))
			look_up(file, addr, exact, cached);
		cached->file = file;
		cached->addr = addr;
		cached->exact = exact;
	}
	*symbol = cached->symbol;
}
