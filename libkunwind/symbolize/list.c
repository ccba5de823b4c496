// SPDX-License-Identifier: MIT
/*
 * list.c - symbols from text files: /proc/kallsyms, perf-PID.map
 *
 * Sorted by address. A line without a size reaches to the next one. In a perf
 * map, the last line of an address counts: a JIT compiler that reuses memory
 * appends.
 *
 * Memory: 24 bytes a symbol and its text; at most MAX_BYTES of a file are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define MAX_BYTES	(256u << 20)

struct line {
	uint64_t start, end;	/* end 0: the next one's start */
	uint32_t name;		/* offset in text */
	uint32_t order;
};

struct kunwind_list {
	char *text;
	struct line *line;
	size_t nr, cap;
	bool sizes;
};

void kunwind_list_free(struct kunwind_list *list)
{
	if (!list)
		return;
	free(list->text);
	free(list->line);
	free(list);
}

static char *read_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t at = 0, size = 1 << 16;
	struct stat st;
	char *text, *bigger;
	ssize_t got = 1;

	if (fd < 0)
		return NULL;
	text = malloc(size + 1);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		got = -1;
	while (text && got > 0 && at < MAX_BYTES) {
		if (at == size) {
			bigger = realloc(text, size * 2 + 1);
			if (!bigger)
				break;
			text = bigger;
			size *= 2;
		}
		got = read(fd, text + at, size - at);
		if (got > 0)
			at += (size_t)got;
	}
	close(fd);
	if (!text || !at) {
		free(text);
		return NULL;
	}
	text[at] = '\0';
	return text;
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The name ends with the line or at "\t[module]"; perf's may hold blanks. */
static bool parse(const struct kunwind_list *list, char *at, struct line *line)
{
	char *rest;

	line->start = strtoull(at, &rest, 16);
	if (rest == at || *rest != ' ')
		return false;
	if (list->sizes) {
		at = rest + 1;
		line->end = line->start + strtoull(at, &rest, 16);
		if (rest == at || *rest != ' ' || line->end <= line->start)
			return false;
		rest++;
	} else {
		/* T, t, W, w: code; the rest: data, or not the kernel's (A) */
		if (!strchr("TtWw", rest[1]) || rest[2] != ' ')
			return false;
		rest += 3;
		rest[strcspn(rest, "\t")] = '\0';
	}
	line->name = (uint32_t)(rest - list->text);
	return *rest;
}

static bool parse_all(struct kunwind_list *list)
{
	char *at = list->text, *next;
	uint64_t last = 0;

	for (; at && *at; at = next) {
		struct line line = { .order = (uint32_t)list->nr };

		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		if (!parse(list, at, &line))
			continue;
		if (list->nr == list->cap) {
			size_t cap = list->cap ? list->cap * 2 : 4096;
			struct line *bigger = realloc(list->line, cap * sizeof(*bigger));

			if (!bigger)
				return false;
			list->line = bigger;
			list->cap = cap;
		}
		last |= line.start;
		list->line[list->nr++] = line;
	}
	/* the kernel shows its addresses as zero to users other than root */
	return list->nr && last;
}

struct kunwind_list *kunwind_list_read(const char *path, bool sizes)
{
	struct kunwind_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->sizes = sizes;
	list->text = read_text(path);
	if (!list->text || !parse_all(list)) {
		kunwind_list_free(list);
		return NULL;
	}
	qsort(list->line, list->nr, sizeof(*list->line), compare);
	return list;
}

const char *kunwind_list_find(const struct kunwind_list *list, uint64_t addr, uint64_t *start)
{
	size_t lo = 0, hi = list->nr;
	const struct line *line;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (list->line[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	line = &list->line[lo - 1];
	if (list->sizes) {
		if (addr >= line->end)
			return NULL;
	} else if (lo == list->nr) {
		return NULL;	/* nothing says where the last one ends */
	} else {
		/* the kernel's own traces use the first name of an address */
		while (line > list->line && line[-1].start == line->start)
			line--;
	}
	*start = line->start;
	return list->text + line->name;
}
