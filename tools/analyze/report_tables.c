// SPDX-License-Identifier: MIT
/*
 * report_tables.c - sums of samples by system call, cause of waiting, other event,
 * thread, result and file
 *
 * Memory: some 150 bytes for each line of each table.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report_tables.h"

#define TIME(head, key, member)	{ head, key, COLUMN_TIME, offsetof(struct line, member) }
#define NUMBER(head, key, member) { head, key, COLUMN_NUMBER, offsetof(struct line, member) }

const struct table_kind report_kinds[NR_TABLES] = {
	[TABLE_CALLS] = { "call", "System calls, by time between entry and exit", "system_calls", "name", {
		TIME("time", "ns", time), TIME("longest", "longest_ns", longest),
		TIME("off CPU", "off_cpu_ns", off_cpu), NUMBER("calls", "count", count),
		NUMBER(NULL, "timed", timed), NUMBER("failed", "failed", failed) } },
	[TABLE_CAUSES] = { "cause", "Off the CPU, by system call or cause", "off_cpu", "where", {
		TIME("time", "ns", time), TIME("longest", "longest_ns", longest),
		NUMBER("times", "count", count), NUMBER(NULL, "timed", timed) } },
	[TABLE_EVENTS] = { "event", "Other events", "events", "name", {
		NUMBER("count", "count", count) } },
	[TABLE_THREADS] = { "thread", "Threads, by time in system calls", "threads", "name (pid/tid)", {
		TIME("in calls", "ns", time), TIME("longest", "longest_ns", longest),
		TIME("off CPU", "off_cpu_ns", off_cpu), TIME("on CPU", "on_cpu_ns", on_cpu),
		NUMBER("calls", "count", count), NUMBER("failed", "failed", failed) } },
	[TABLE_RESULTS] = { "result", "Results of system calls, by number", "results", "call: result", {
		NUMBER("calls", "count", count), TIME("time", "ns", time),
		TIME("longest", "longest_ns", longest), NUMBER("smallest", "smallest", smallest),
		NUMBER("largest", "largest", largest) } },
	[TABLE_FILES] = { "file", "Files, by time in system calls", "files", "file", {
		TIME("time", "ns", time), TIME("longest", "longest_ns", longest),
		TIME("off CPU", "off_cpu_ns", off_cpu), NUMBER("calls", "count", count),
		NUMBER("failed", "failed", failed), NUMBER("bytes", "bytes", bytes) } },
#define FUNCTION_COLUMNS \
		TIME("in syscalls", "blocked_ns", time), TIME("off CPU", "off_cpu_ns", off_cpu), \
		TIME("lock", "lock_ns", lock), TIME("CPU", "cpu_ns", cpu), NUMBER("events", "events", count)
	[TABLE_FUNCTIONS] = { "function", "Functions on the stack", "functions", "function (object)", {
		FUNCTION_COLUMNS, NUMBER(NULL, "self", self), NUMBER(NULL, "complete", complete),
		NUMBER(NULL, "guessed", guessed) } },
	[TABLE_CALLERS] = { NULL, "Callers of", "callers", "function (object)", { FUNCTION_COLUMNS } },
	[TABLE_CALLEES] = { NULL, "Callees of", "callees", "function (object)", { FUNCTION_COLUMNS } },
	[TABLE_REASONS] = { "reason", "Ends of stacks", "reasons", "reason", {
		NUMBER("stacks", "stacks", count) } },
};

struct line *report_line(struct table *table, uint32_t key)
{
	uint32_t old = table->cap_by_key;

	if (key >= old) {
		table->cap_by_key = key * 2 + 64;
		table->by_key = needed(realloc(table->by_key,
					       table->cap_by_key * sizeof(uint32_t)));
		memset(table->by_key + old, 0, (table->cap_by_key - old) * sizeof(uint32_t));
	}
	if (table->by_key[key])
		return &table->line[table->by_key[key] - 1];
	if (table->nr == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->line = needed(realloc(table->line, table->cap * sizeof(*table->line)));
	}
	table->line[table->nr] = (struct line){ .name = key };
	table->by_key[key] = table->nr + 1;
	return &table->line[table->nr++];
}

static void add(struct line *line, const struct sample *sample)
{
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

/* The name of what a call returned. Success is one line, because values differ. */
static const char *result_name(const struct sample *sample, char *text, size_t size)
{
	/* the kernel's own, which programs do not see: linux/errno.h */
	static const char *const restart[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND",
					       "ENOIOCTLCMD", "ERESTART_RESTARTBLOCK" };
	const char *name;

	if (!sample->returned)
		return "no result recorded";
	if (!sample->failed)
		return sample->result ? "not 0" : "0";
	if (sample->result <= -512 && sample->result >= -516)
		return restart[-512 - sample->result];
	name = strerrorname_np((int)-sample->result);
	if (name)
		return name;
	snprintf(text, size, "error %d", (int)-sample->result);
	return text;
}

static void add_result(struct report *report, const struct sample *sample)
{
	struct calls *calls = &report->samples.calls;
	char key[400], text[24];
	const char *result = result_name(sample, text, sizeof(text));
	struct line *line;

	snprintf(key, sizeof(key), "%.300s: %s", calls->string[sample->what], result);
	line = report_line(&report->table[TABLE_RESULTS], calls_string(calls, key));
	line->name = sample->what;
	line->object = calls_string(calls, result);
	if (!line->count || sample->result < line->smallest)
		line->smallest = sample->result;
	if (!line->count || sample->result > line->largest)
		line->largest = sample->result;
	add(line, sample);
}

static void add_thread(struct report *report, const struct sample *sample)
{
	const struct sample_thread *thread = &report->samples.thread[sample->thread];
	struct line *line = report_line(&report->table[TABLE_THREADS], sample->thread);

	line->name = thread->comm;
	line->pid = thread->pid;
	line->tid = thread->tid;
	if (sample->kind == SAMPLE_SYSCALL) {
		int64_t off_cpu = line->off_cpu;	/* also outside of calls: see below */

		add(line, sample);
		line->off_cpu = off_cpu;
	} else if (sample->kind == SAMPLE_OFF_CPU && sample->duration >= 0) {
		line->off_cpu += sample->duration;
	}
}

/* No call transfers more (MAX_RW_COUNT of the kernel): a greater result is damaged. */
#define MOST_BYTES	INT32_MAX

static void add_file(struct report *report, const struct sample *sample)
{
	struct line *line = report_line(&report->table[TABLE_FILES], sample->file);

	if (!line->count)
		line->fd = -1;
	if (sample->fd >= 0 && sample->fd != line->fd) {
		line->several |= line->fd >= 0;
		line->fd = line->several ? -1 : sample->fd;
	}
	if (sample->transfers && sample->result > 0 && sample->result <= MOST_BYTES)
		line->bytes += sample->result;
	add(line, sample);
}

void report_take(const struct sample *sample, const bt_event *event, void *data)
{
	struct report *report = data;
	enum report_table table = sample->kind == SAMPLE_SYSCALL ? TABLE_CALLS :
				  sample->kind == SAMPLE_OFF_CPU ? TABLE_CAUSES : TABLE_EVENTS;

	(void)event;
	if (report->histogram) {
		histograms_take(&report->histograms, sample);
		return;
	}
	if (sample->kind == SAMPLE_CPU)
		return;		/* only the table of functions counts it */
	if (sample->kind == SAMPLE_OFF_CPU && sample->duration < 0)
		return;
	add(report_line(&report->table[table], sample->what), sample);
	if (sample->thread != SAMPLE_NO_THREAD)
		add_thread(report, sample);
	if (sample->kind == SAMPLE_SYSCALL)
		add_result(report, sample);
	if (sample->kind == SAMPLE_SYSCALL && sample->file)
		add_file(report, sample);
}

static int by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

void report_sort(struct table *table, bool by_self)
{
	uint32_t i;

	for (i = 0; i < table->nr; i++)
		table->line[i].rank = by_self ? table->line[i].self : table->line[i].key;
	if (table->nr)
		qsort(table->line, table->nr, sizeof(*table->line), by_key);
}

static void add_reason(struct report *report, const char *name, uint64_t stacks)
{
	struct line *line;

	if (!stacks)
		return;
	line = report_line(&report->table[TABLE_REASONS], calls_string(&report->samples.calls, name));
	line->count = (int64_t)stacks;
}

/* Why stacks ended, if the trace has recorded this. */
static void sum_reasons(struct report *report)
{
	const struct samples *samples = &report->samples;
	int i;

	for (i = 0; i < KUNWIND_NR_REASONS; i++)
		add_reason(report, kunwind_reason_name((enum kunwind_reason)i), samples->by_reason[i]);
	add_reason(report, "not recorded", samples->by_reason[KUNWIND_NR_REASONS]);
	add_reason(report, "no stack recorded", samples->without_stack);
}

void report_finish(struct report *report)
{
	enum report_table t;
	uint32_t i;

	sum_reasons(report);
	for (i = 0; i < report->table[TABLE_THREADS].cap_by_key; i++) {
		if (report->table[TABLE_THREADS].by_key[i])
			report_line(&report->table[TABLE_THREADS], i)->on_cpu =
				report->samples.thread[i].on_cpu;
	}
	for (t = 0; t < NR_TABLES; t++) {
		for (i = 0; i < report->table[t].nr; i++)
			report->table[t].line[i].key = t == TABLE_RESULTS ? report->table[t].line[i].count :
							report->table[t].line[i].time;
		report_sort(&report->table[t], false);
	}
}
