// SPDX-License-Identifier: MIT
/*
 * dump_mutants.c - read damaged dumps, with sanitizers
 *
 *   dump-mutants NUMBER FILE...
 *
 * Damages NUMBER copies of the files, reads each by libkunwind/dump, and all of its memory that
 * threads and modules point to. Any answer is right; the sanitizers end the process at an error.
 * kunwind stackwalk itself gets far fewer files (mutants.py), because it starts processes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dump.h"

#define MOST	(8u << 20)	/* bytes of a file */

static uint64_t state = 0x9e3779b97f4a7c15ULL;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* What is read as a size, a count or an address. */
static uint64_t any_number(void)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 0x7f, 0xff, 0xfff, 0x1000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32,
		1ULL << 47, (1ULL << 63) - 1, 1ULL << 63, -4096ULL, -1ULL,
	};

	return any() % 4 ? numbers[any() % (sizeof(numbers) / sizeof(numbers[0]))] : any();
}

static size_t damage(uint8_t *bytes, size_t size)
{
	static const size_t reach[] = { 64, 1024, 8192, MOST };
	size_t times, at, len, from;

	for (times = 1 + any() % 8; times && size > 16; times--) {
		at = any() % reach[any() % 4];
		at %= size - 8;
		switch (any() % 5) {
		case 0:
			bytes[at] = (uint8_t)any();
			break;
		case 1:
		case 2: {
			uint64_t number = any_number();

			memcpy(bytes + at, &number, any() % 2 ? 4 : 8);
			break;
		}
		case 3:
			from = any() % size;
			len = any() % 256;
			len = len < size - at ? len : size - at;
			len = len < size - from ? len : size - from;
			memmove(bytes + at, bytes + from, len);
			break;
		default:
			if (any() % 8 == 0)
				size = at;
			break;
		}
	}
	return size;
}

static size_t read_fd(void *data, uint64_t offset, void *buf, size_t len)
{
	ssize_t got = (int64_t)offset < 0 ? -1 : pread(*(int *)data, buf, len, (off_t)offset);

	return got < 0 ? 0 : (size_t)got;
}

/* Returns whether the file is a dump. */
static bool use(int fd)
{
	struct dump_process *dump = dump_open(fd);
	uint8_t bytes[256], hash[DUMP_TEXT_HASH];
	struct dump_image image;
	uint32_t i;
	bool good;

	if (!dump)
		return false;
	good = !*dump->error;
	for (i = 0; i < dump->nr_threads; i++)
		dump_memory(dump, dump->thread[i].regs.r[7], bytes, sizeof(bytes));
	for (i = 0; i < dump->nr_modules; i++) {
		/* after an error, modules are in no order */
		if (good && dump_find_module(dump, dump->module[i].start) > dump->nr_modules &&
		    dump->module[i].start < dump->module[i].end && i + 1 == dump->nr_modules)
			abort();
		dump_memory(dump, dump->module[i].end - 128, bytes, sizeof(bytes));
	}
	for (i = 0; i < dump->nr_mappings; i++)
		if (dump_find_mapping(dump, dump->mapping[i].start) != &dump->mapping[i] && good)
			abort();
	for (i = 1; i < dump->nr_regions && good; i++)
		if (dump->region[i].start < dump->region[i - 1].end)
			abort();
	dump_image_parse(read_fd, &fd, &image);
	dump_text_hash(read_fd, &fd, hash);
	dump_free(dump);
	return good;
}

int main(int argc, char **argv)
{
	const long number = argc > 2 ? atol(argv[1]) : 0;
	uint8_t *original = malloc(MOST), *bytes = malloc(MOST);
	unsigned long good = 0;
	long i;

	for (i = 0; i < number; i++) {
		int from = open(argv[2 + i % (argc - 2)], O_RDONLY), fd = memfd_create("mutant", 0);
		ssize_t size = read(from, original, MOST);

		memcpy(bytes, original, (size_t)size);
		size = (ssize_t)damage(bytes, (size_t)size);
		if (from < 0 || fd < 0 || size < 0 || write(fd, bytes, (size_t)size) != size)
			return 1;
		good += use(fd);
		close(fd);
		close(from);
	}
	printf("%lu of %ld are dumps\n", good, number);
	free(original);
	free(bytes);
	return 0;
}
