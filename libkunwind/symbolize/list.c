// SPDX-License-Identifier: MIT
/*
 * list.c - symbols from text files: /proc/kallsyms, perf-PID.map
 *
 * A symbol without a size reaches to the next one; the last one of the kernel
 * or of a module at most to the end of the next page, as in perf. In a perf
 * map, the last line that holds an address counts: a JIT compiler that reuses
 * memory appends. So the starts and ends of all lines are sorted, and each has
 * the line that counts from there to the next one.
 *
 * Memory: 24 bytes a symbol and its text, and 24 in a perf map, of which 8 are
 * freed after reading; at most MAX_BYTES of a file are read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "open.h"

#define MAX_BYTES	(256u << 20)

struct list_line {
	uint64_t start;
	union {
		uint64_t end;			/* of a list with sizes */
		struct {
			uint32_t module;	/* offset in text of "[module]"; 0: none */
			uint32_t order;
		};
	};
	uint32_t name;		/* offset in text */
};

struct kunwind_list {
	char *text;
	struct list_line *line;
	size_t nr;
	/* of a list with sizes: where a line starts or ends, and the line from there to the next edge */
	uint64_t *edge;
	uint32_t *edge_line;	/* index + 1; 0: none */
	size_t nr_edges;
	bool sizes;
};

void kunwind_list_free(struct kunwind_list *list)
{
	if (!list)
		return;
	free(list->text);
	free(list->line);
	free(list->edge);
	free(list->edge_line);
	free(list);
}

static char *read_text(int fd)
{
	size_t at = 0, size = 1 << 16;
	char *text, *bigger;
	ssize_t got = 1;

	text = malloc(size + 1);
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
	if (!text || !at) {
		free(text);
		return NULL;
	}
	text[at] = '\0';
	return text;
}

static int compare(const void *a, const void *b)
{
	const struct list_line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The name ends with the line or at "\t[module]"; perf's may hold blanks. */
static bool parse(const struct kunwind_list *list, char *at, struct list_line *line)
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
		if (!rest[1] || !strchr("TtWw", rest[1]) || rest[2] != ' ')
			return false;
		rest += 3;
		at = rest + strcspn(rest, "\t");
		if (*at) {
			*at++ = '\0';
			line->module = *at == '[' ? (uint32_t)(at - list->text) : 0;
		}
	}
	line->name = (uint32_t)(rest - list->text);
	return *rest;
}

static bool parse_all(struct kunwind_list *list)
{
	char *at = list->text, *next;
	uint64_t last = 0;
	size_t most = 1;

	for (next = at; (next = strchr(next, '\n')); next++)
		most++;
	list->line = malloc(most * sizeof(*list->line));
	if (!list->line)
		return false;
	for (; at && *at; at = next) {
		struct list_line line = { 0 };

		if (!list->sizes)
			line.order = (uint32_t)list->nr;
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		if (!parse(list, at, &line))
			continue;
		last |= line.start;
		list->line[list->nr++] = line;
	}
	/* the kernel shows its addresses as zero to users other than root */
	return list->nr && last;
}

static int compare_edges(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns the number of edges up to @addr. */
static size_t edges_to(const struct kunwind_list *list, uint64_t addr)
{
	size_t lo = 0, hi = list->nr_edges;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (list->edge[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Returns the first edge from @i on that has no line, and shortens the way to it. @next: for
 * each edge, itself or a later one that may have no line.
 */
static size_t next_free(uint32_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* Last line first: a line gets the edges that no later line has. */
static bool make_edges(struct kunwind_list *list)
{
	uint64_t *edge = calloc(list->nr, 2 * sizeof(*edge));
	size_t i, j, end;
	uint32_t *next;
	bool ok;

	list->edge = edge;
	if (!edge)
		return false;
	for (i = 0; i < list->nr; i++) {
		edge[2 * i] = list->line[i].start;
		edge[2 * i + 1] = list->line[i].end;
	}
	qsort(edge, 2 * list->nr, sizeof(*edge), compare_edges);
	for (i = 0; i < 2 * list->nr; i++) {
		if (!i || edge[i] != edge[i - 1])
			edge[list->nr_edges++] = edge[i];
	}
	list->edge_line = calloc(list->nr_edges, sizeof(*list->edge_line));
	next = malloc(list->nr_edges * sizeof(*next));
	for (i = 0; next && i < list->nr_edges; i++)
		next[i] = (uint32_t)i;
	ok = next && list->edge_line;
	for (i = ok ? list->nr : 0; i--;) {
		end = edges_to(list, list->line[i].end) - 1;
		j = next_free(next, edges_to(list, list->line[i].start) - 1);
		while (j < end) {
			list->edge_line[j] = (uint32_t)i + 1;
			next[j] = (uint32_t)j + 1;
			j = next_free(next, j);
		}
	}
	free(next);
	return ok;
}

struct kunwind_list *kunwind_list_read(const char *path, bool sizes)
{
	int fd = kunwind_open_regular(path, 0);
	struct kunwind_list *list;

	if (fd < 0)
		return NULL;
	list = kunwind_list_read_fd(fd, sizes);
	close(fd);
	return list;
}

struct kunwind_list *kunwind_list_read_fd(int fd, bool sizes)
{
	return kunwind_list_parse(read_text(fd), sizes);
}

struct kunwind_list *kunwind_list_parse(char *text, bool sizes)
{
	struct kunwind_list *list = calloc(1, sizeof(*list));

	if (!list) {
		free(text);
		return NULL;
	}
	list->sizes = sizes;
	list->text = text;
	if (!list->text || !parse_all(list)) {
		kunwind_list_free(list);
		return NULL;
	}
	if (!sizes) {
		qsort(list->line, list->nr, sizeof(*list->line), compare);
	} else if (!make_edges(list)) {
		kunwind_list_free(list);
		return NULL;
	}
	return list;
}

static const char *module_of(const struct kunwind_list *list, const struct list_line *line)
{
	return line->module ? list->text + line->module : "";
}

/*
 * Returns whether @line is the last symbol of the kernel or of a module, and
 * @addr, which is before @next, is too far away to belong to it.
 */
static bool is_beyond(const struct kunwind_list *list, const struct list_line *line,
		      const struct list_line *next, uint64_t addr)
{
	const uint64_t page = 4096;

	return strcmp(module_of(list, line), module_of(list, next)) &&
	       addr / page > line->start / page + 1;
}

const char *kunwind_list_find(const struct kunwind_list *list, uint64_t addr, uint64_t *start,
			      const char **module)
{
	size_t lo = 0, hi = list->nr;
	const struct list_line *line;

	*module = "";
	if (list->sizes) {
		lo = edges_to(list, addr);
		if (!lo || !list->edge_line[lo - 1])
			return NULL;
		line = &list->line[list->edge_line[lo - 1] - 1];
		*start = line->start;
		return list->text + line->name;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (list->line[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	if (lo == list->nr)
		return NULL;	/* nothing says where the last one ends */
	line = &list->line[lo - 1];
	/* the kernel's own traces use the first name of an address */
	while (line > list->line && line[-1].start == line->start)
		line--;
	if (is_beyond(list, line, &list->line[lo], addr))
		return NULL;
	*start = line->start;
	*module = module_of(list, line);
	return list->text + line->name;
}
