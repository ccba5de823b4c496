// SPDX-License-Identifier: MIT
/*
 * mutants.c - read damaged files of interpreters, and names in memory of any bytes, with sanitizers
 *
 *	mutants NUMBER FILE
 *
 * Damages NUMBER copies of FILE where libkunwind/interp reads it: headers, symbols, the code
 * and the data that the symbols name.
 * Then reads names of any ids, by the description of FILE, from memory of any
 * bytes. Any answer is right if it is a string that ends, and a description that the core
 * accepts; the sanitizers end the process at an error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp_memory.h"
#include "python.h"

#define MOST	256		/* places that were read */

static uint8_t *bytes;
static size_t size;

/* Where the file was read the last time. */
static struct { uint64_t at, len; } place[MOST];
static uint32_t places;

static uint64_t state = 0x9e3779b97f4a7c15ULL;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t read_file(void *data, uint64_t at, void *buf, size_t len)
{
	(void)data;
	if (at >= size)
		return 0;
	len = len < size - at ? len : size - at;
	memcpy(buf, bytes + at, len);
	place[any() % MOST].at = at;
	place[any() % MOST].len = len;
	places++;
	return len;
}

static uint64_t any_number(void)
{
	static const uint64_t numbers[] = { 0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
					    1ULL << 47, 1ULL << 63, -1ULL };

	return any() % 3 ? numbers[any() % (sizeof(numbers) / sizeof(numbers[0]))] : any();
}

static void damage_and_find(uint32_t *found)
{
	static struct kunwind_interp interp;
	struct { uint64_t at, was; } kept[4];
	struct python python;
	const char *why = NULL;
	enum python_result result;
	int i, n = 1 + any() % 4;

	for (i = 0; i < n; i++) {
		const uint64_t number = any_number(), from = place[any() % MOST].at;
		const size_t width = any() % 2 ? 1 : 8;

		kept[i].at = (from + any() % (any() % 4 ? 512 : 65536)) % (size - 8);
		memcpy(&kept[i].was, bytes + kept[i].at, 8);
		memcpy(bytes + kept[i].at, &number, width);
	}
	result = python_find(read_file, NULL, &python, &why);
	if (result == PYTHON_REFUSED ? !why : result == PYTHON_FOUND &&
					      kunwind_interp_check(&python.desc, &interp))
		abort();
	*found += result == PYTHON_FOUND;
	while (n--)
		memcpy(bytes + kept[n].at, &kept[n].was, 8);
}

/* Memory in which small numbers and flags of str objects are frequent. */
static size_t read_any(void *data, uint64_t addr, void *buf, size_t len)
{
	uint8_t *to = buf;
	size_t i;

	(void)data;
	(void)addr;
	if (any() % 64 == 0)
		return 0;
	for (i = 0; i < len; i++)
		to[i] = len > 64 || any() % 2 ? (uint8_t)any() : 0;
	if (len <= 8 && any() % 2)
		memset(to + (len + 1) / 2, 0, len / 2);
	if (len > 40) {		/* a str or a bytes object */
		to[18] &= any() % 2 ? 0 : 255;
		memset(to + 19, any() % 4 ? 0 : 255, 5);
		to[32] = (uint8_t)(any() % 8 << 2 | any() % 2 << 6);
	}
	return any() % 64 ? len : any() % (len + 1);
}

static void read_name(const struct python *python, uint32_t *named)
{
	struct interp_memory memory = { read_any, NULL };
	struct python_frame frame;

	memset(&frame, 0xff, sizeof(frame));
	*named += python_name(python, any() & ~7ULL, any() % 2 ? any() : 0, interp_copy, &memory, &frame);
	if (strnlen(frame.name, sizeof(frame.name)) == sizeof(frame.name) ||
	    strnlen(frame.file, sizeof(frame.file)) == sizeof(frame.file))
		abort();
}

int main(int argc, char **argv)
{
	uint32_t i, times, found = 0, named = 0;
	struct python python;
	const char *why = "it is no interpreter";
	struct stat st;
	int fd;

	if (argc != 3)
		return 2;
	times = (uint32_t)atoi(argv[1]);
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return 2;
	size = st.st_size;
	bytes = malloc(size);
	if (!bytes || read(fd, bytes, size) != (ssize_t)size)
		return 2;
	if (python_find(read_file, NULL, &python, &why) != PYTHON_FOUND) {
		fprintf(stderr, "%s: %s\n", argv[2], why);
		return 1;
	}
	for (i = 0; i < times; i++)
		damage_and_find(&found);
	for (i = 0; i < 10 * times; i++)
		read_name(&python, &named);
	printf("%sok - %u damaged files, %u of them described; %u names of any bytes, %u read\n",
	       found && named ? "" : "not ", times, found, 10 * times, named);
	free(bytes);
	return !found || !named;
}
