// SPDX-License-Identifier: MIT
/*
 * report_tables.c - sums of samples by the name of what happened: by system
 * call, cause of waiting, other event
 *
 * Memory: some 80 bytes for each system call, event and cause.
 */
#include <stdlib.h>
#include <string.h>

#include "report_tables.h"

/* Returns the line of a string, made if needed. Valid until the next call. */
static struct line *line_of(struct table *table, uint32_t name)
{
	uint32_t old = table->cap_by_name;

	if (name >= old) {
		table->cap_by_name = name * 2 + 64;
		table->by_name = needed(realloc(table->by_name,
						table->cap_by_name * sizeof(uint32_t)));
		memset(table->by_name + old, 0, (table->cap_by_name - old) * sizeof(uint32_t));
	}
	if (table->by_name[name])
		return &table->line[table->by_name[name] - 1];
	if (table->nr == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->line = needed(realloc(table->line, table->cap * sizeof(*table->line)));
	}
	table->line[table->nr] = (struct line){ .name = name };
	table->by_name[name] = table->nr + 1;
	return &table->line[table->nr++];
}

void report_take(const struct sample *sample, const bt_event *event, void *data)
{
	struct report *report = data;
	struct line *line = line_of(sample->kind == SAMPLE_SYSCALL ? &report->calls :
				    sample->kind == SAMPLE_EVENT ? &report->events :
				    &report->causes, sample->what);

	(void)event;
	if (sample->kind == SAMPLE_OFF_CPU && sample->duration < 0)
		return;
	line->count++;
	line->failed += sample->failed;
	line->off_cpu += sample->off_cpu;
	if (sample->duration < 0)
		return;
	line->timed++;
	line->time += sample->duration;
	if (sample->duration > line->longest)
		line->longest = sample->duration;
}

int report_by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

void report_sort(struct table *table)
{
	uint32_t i;

	for (i = 0; i < table->nr; i++)
		table->line[i].key = table->line[i].time;
	if (table->nr)
		qsort(table->line, table->nr, sizeof(*table->line), report_by_key);
}
