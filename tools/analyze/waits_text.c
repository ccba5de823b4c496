// SPDX-License-Identifier: MIT
/*
 * waits_text.c - waits and chains as text for a terminal
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "stack_text.h"
#include "tree_text.h"
#include "waits.h"

uint32_t waits_text_lines(const struct waits *waits, uint32_t nr)
{
	return waits->top && waits->top < nr ? waits->top : nr;
}

void waits_text_more(const struct waits *waits, uint32_t nr)
{
	if (waits_text_lines(waits, nr) < nr)
		printf("  %s... %u more (--top 0 for all)%s\n", waits->colour.dim,
		       nr - waits_text_lines(waits, nr), waits->colour.plain);
}

void waits_text_title(const struct waits *waits, const char *title, const char *head)
{
	printf("\n%s%s%s\n%s%s", waits->colour.bold, title, waits->colour.plain, head, *head ? "\n" : "");
}

/* Prints a stack, and a newline. */
static void print_stack(struct waits *waits, uint32_t node)
{
	stack_text(stdout, &waits->samples.wrappers, &waits->samples.calls, node, waits->depth);
	putchar('\n');
}

static void print_head(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;

	printf("Trace%s%s, %.3f s: %u waits of %u threads, %" PRIu64 " events lost\n",
	       *samples->hostname ? " of " : "", samples->hostname,
	       (double)(samples->end - samples->begin) / 1e9,
	       waits->nr - waits->nr_hidden - (uint32_t)waits->endless, waits_threads(waits),
	       samples->lost);
	printf("Ended by a thread: %" PRIu64 ", by an interrupt: %" PRIu64 ", waker not recorded: %"
	       PRIu64 "; preempted: %" PRIu64 "\n", waits->by_thread, waits->by_interrupt,
	       waits->unrecorded, waits->preempted);
	if (waits->lost)
		printf("%" PRIu64 " waits have no end in the trace, because events are missing\n",
		       waits->lost);
	if (samples->in_call)
		printf("%" PRIu64 " threads were in a system call when the trace began; that wait does "
		       "not count\n", samples->in_call);
	if (waits->endless)
		printf("%" PRIu64 " threads wait until the end of the trace; that wait does not count\n",
		       waits->endless);
}

/* ------------------------------------------------------------ threads */

static const struct waits *sorted;

static int64_t off_cpu(const struct waits *waits, uint32_t thread)
{
	return waits->thread[thread].blocked + waits->thread[thread].runnable;
}

static int by_off_cpu(const void *a, const void *b)
{
	int64_t x = off_cpu(sorted, *(const uint32_t *)a), y = off_cpu(sorted, *(const uint32_t *)b);

	return x < y ? 1 : -(x > y);
}

static void print_threads(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;
	uint32_t *order = needed(calloc(samples->nr_threads + 1, sizeof(*order))), i, nr = 0;

	for (i = 0; i < samples->nr_threads; i++) {
		if (samples->thread[i].selected)
			order[nr++] = i;
	}
	sorted = waits;
	qsort(order, nr, sizeof(*order), by_off_cpu);
	waits_text_title(waits, "Threads, by time off the CPU",
		    "   blocked   runnable     on CPU      waits  thread");
	for (i = 0; i < waits_text_lines(waits, nr); i++) {
		const struct sample_thread *thread = &samples->thread[order[i]];

		columns_time(waits->thread[order[i]].blocked);
		putchar(' ');
		columns_time(waits->thread[order[i]].runnable);
		putchar(' ');
		columns_time(thread->on_cpu);
		printf(" %10" PRIu64 "  %s %" PRId64 "\n", waits->thread[order[i]].waits,
		       samples->calls.string[thread->comm], thread->tid);
	}
	waits_text_more(waits, nr);
	free(order);
}

/* ------------------------------------------------------------ wakers */

static void print_waker(const struct waits *waits, const struct wait_line *line)
{
	char *const *string = waits->samples.calls.string;

	if (line->preempted)
		printf("%s%s", line->comm ? string[line->comm] : "[not recorded]",
		       line->comm && line->comm != waits->samples.cpus.idle ? " had the processor" : "");
	else if (!line->recorded)
		fputs("[not recorded]", stdout);
	else if (line->interrupt)
		fputs(string[line->interrupt], stdout);
	else
		printf("%s%s%s", *string[line->comm] ? string[line->comm] : "?", line->call ? " in " : "",
		       line->call ? string[line->call] : "");
}

static void print_wakers(struct waits *waits)
{
	const struct calls *calls = &waits->samples.calls;
	uint32_t i;

	if (!waits->nr_lines)
		return;
	waits_text_title(waits, "Woken by, by cause of waiting and waker",
		    "   blocked    longest    latency      times  thread: cause <- waker");
	for (i = 0; i < waits_text_lines(waits, waits->nr_lines); i++) {
		const struct wait_line *line = &waits->line[i];

		columns_time(line->blocked);
		putchar(' ');
		columns_time(line->longest);
		putchar(' ');
		columns_time(line->latency);
		printf(" %10" PRIu64 "  %s ", line->times, calls->string[line->waiter_comm]);
		if (line->pid >= 0)
			printf("%" PRId64, line->pid);
		else
			fputs("(several processes)", stdout);
		printf(": %s <- ", calls->string[line->cause]);
		print_waker(waits, line);
		printf("\n%s%44swaits in  ", waits->colour.dim, "");
		print_stack(waits, line->waiter);
		if (line->recorded && !line->interrupt) {
			printf("%44swoken in  ", "");
			print_stack(waits, line->waker);
		}
		fputs(waits->colour.plain, stdout);
	}
	waits_text_more(waits, waits->nr_lines);
}

/* ------------------------------------------------------------ chains */

static void print_chains(const struct waits *waits)
{
	/* parts below one percent of the wait are left out */
	const struct tree_text chains = { .tree = &waits->chains, .weight = WEIGHT_OFF_CPU,
					  .lines = waits->top * 2, .least = 1, .each = true };

	if (waits->chains.nr_nodes == 1)
		return;
	waits_text_title(waits, "Chains: what the waits waited for",
			 "      time    share  thread: what it did");
	if (tree_text(&chains))
		printf("  %s... more (--top 0 for all)%s\n", waits->colour.dim, waits->colour.plain);
}

static void print_endless(struct waits *waits)
{
	const struct samples *samples = &waits->samples;
	uint32_t i, lines = 0;

	if (!waits->endless)
		return;
	waits_text_title(waits, "Still waiting at the end of the trace", "      time  thread: cause");
	for (i = 0; i < waits->nr; i++) {
		const struct wait *wait = &waits->wait[i];

		if (wait->hidden || wait->end != INT64_MAX || (waits->top && lines++ >= waits->top))
			continue;
		columns_time(samples->end - wait->begin);
		printf("  %s %" PRId64 ": %s\n", samples->calls.string[wait->comm],
		       samples->thread[wait->thread].tid, samples->calls.string[wait->cause]);
		printf("%s%12swaits in  ", waits->colour.dim, "");
		print_stack(waits, wait->node);
		fputs(waits->colour.plain, stdout);
	}
	waits_text_more(waits, (uint32_t)waits->endless);
}

void waits_text(struct waits *waits)
{
	print_head(waits);
	blocked_print(&waits->samples, &(struct blocked_style){ waits->top, waits->depth, waits->colour });
	print_threads(waits);
	print_wakers(waits);
	waits_text_locks(waits);
	print_chains(waits);
	print_endless(waits);
}
