// SPDX-License-Identifier: MIT
/*
 * input.c - read the file of a dump through windows
 *
 * The file is not mapped: another process may cut it meanwhile, and a load would then raise
 * SIGBUS. A walk reads here and there in a stack, and the headers of several modules, so a
 * few windows are kept, and the one that was used longest ago is read anew.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dump.h"

#define NR_WINDOWS	8
#define WINDOW		65536

struct dump_window {
	uint64_t at, used;
	uint32_t len;		/* 0: empty */
	uint8_t *bytes;
};

struct dump_input {
	int fd;
	uint64_t size, clock;
	struct dump_window window[NR_WINDOWS];
};

struct dump_input *dump_input_new(int fd)
{
	struct dump_input *input = calloc(1, sizeof(*input));
	struct stat st;

	if (!input || fstat(fd, &st)) {
		free(input);
		return NULL;
	}
	input->fd = fd;
	input->size = (uint64_t)st.st_size;
	return input;
}

void dump_input_free(struct dump_input *input)
{
	size_t i;

	for (i = 0; input && i < NR_WINDOWS; i++)
		free(input->window[i].bytes);
	free(input);
}

uint64_t dump_input_size(const struct dump_input *input)
{
	return input->size;
}

/* Returns the window that has the byte at @offset, or NULL. */
static const struct dump_window *window_of(struct dump_input *input, uint64_t offset)
{
	struct dump_window *oldest = &input->window[0];
	ssize_t got;
	size_t i;

	for (i = 0; i < NR_WINDOWS; i++) {
		struct dump_window *window = &input->window[i];

		if (window->len && offset - window->at < window->len) {
			window->used = ++input->clock;
			return window;
		}
		if (window->used < oldest->used)
			oldest = window;
	}
	if (offset >= input->size)
		return NULL;
	oldest->len = 0;
	if (!oldest->bytes)
		oldest->bytes = malloc(WINDOW);
	if (!oldest->bytes)
		return NULL;
	oldest->at = offset - offset % (WINDOW / 2);
	got = pread(input->fd, oldest->bytes, WINDOW, (off_t)oldest->at);
	if (got <= 0 || offset - oldest->at >= (uint64_t)got)
		return NULL;
	oldest->len = (uint32_t)got;
	oldest->used = ++input->clock;
	return oldest;
}

bool dump_read(struct dump_input *input, uint64_t offset, void *buf, size_t len)
{
	const struct dump_window *window;
	uint8_t *to = buf;
	size_t n;

	if (offset > input->size || len > input->size - offset)
		return false;
	for (; len; len -= n, to += n, offset += n) {
		window = window_of(input, offset);
		if (!window)
			return false;
		n = window->len - (size_t)(offset - window->at);
		n = n < len ? n : len;
		memcpy(to, window->bytes + (offset - window->at), n);
	}
	return true;
}
