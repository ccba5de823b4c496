/* SPDX-License-Identifier: MIT */
/*
 * dump-made.h - made dumps, for tests of the parsers
 *
 * The files that programs write (tests/stackwalk) have few of the forms that the formats allow.
 * In the tests each value is another one, so that two fields cannot be exchanged.
 */
#ifndef _TEST_DUMP_MADE_H
#define _TEST_DUMP_MADE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dump.h"
#include "../unit/tap.h"

static uint8_t file[4 << 20];
static uint32_t used;

static inline uint32_t put(const void *bytes, size_t len)
{
	const uint32_t at = used;

	if (bytes)
		memcpy(file + at, bytes, len);
	else
		memset(file + at, 0, len);
	used += (uint32_t)len;
	return at;
}

static inline void set(uint32_t at, uint64_t value, size_t len)
{
	memcpy(file + at, &value, len);
}

static inline uint32_t put32(uint32_t value) { return put(&value, 4); }
static inline uint32_t put64(uint64_t value) { return put(&value, 8); }

static inline struct dump_process *open_made(void)
{
	const int fd = memfd_create("dump", 0);
	struct dump_process *dump;

	if (fd < 0 || write(fd, file, used) != (ssize_t)used)
		abort();
	dump = dump_open(fd);
	close(fd);
	return dump;
}

static inline bool fails_with(const char *why)
{
	struct dump_process *dump = open_made();
	const bool good = strstr(dump->error, why);

	if (!good)
		printf("# %s\n", dump->error);
	dump_free(dump);
	return good;
}

static inline bool has_bytes(const struct dump_process *dump, uint64_t addr, const char *want)
{
	char got[64];

	return dump_memory(dump, addr, got, strlen(want)) == strlen(want) && !memcmp(got, want, strlen(want));
}

static inline const struct dump_module *module_of(const struct dump_process *dump, const char *path)
{
	uint32_t i;

	for (i = 0; i < dump->nr_modules; i++)
		if (!strcmp(dump->module[i].path, path))
			return &dump->module[i];
	return NULL;
}

#endif /* _TEST_DUMP_MADE_H */
