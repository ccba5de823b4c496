// SPDX-License-Identifier: MIT
/*
 * waits_text.c - waits, locks and chains as text for a terminal
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock_sums.h"
#include "columns.h"
#include "waits.h"

enum { STACK_SHOWN = 6, KERNEL_SHOWN = 2, PAIRS_SHOWN = 3 };

static uint32_t shown(const struct waits *waits, uint32_t nr)
{
	return waits->top && waits->top < nr ? waits->top : nr;
}

static void print_more(const struct waits *waits, uint32_t nr)
{
	if (shown(waits, nr) < nr)
		printf("  %s... %u more (--top 0 for all)%s\n", waits->colour.dim,
		       nr - shown(waits, nr), waits->colour.plain);
}

static void print_title(const struct waits *waits, const char *title, const char *head)
{
	printf("\n%s%s%s\n%s%s", waits->colour.bold, title, waits->colour.plain, head, *head ? "\n" : "");
}

/* Returns whether the kernel's function is the scheduler's, which every wait has. */
static bool is_scheduler(const char *name)
{
	return !strcmp(name, "__schedule") || !strncmp(name, "schedule", strlen("schedule")) ||
	       !strncmp(name, "try_to_wake_up", strlen("try_to_wake_up"));
}

/*
 * Prints the innermost functions of a stack, and a newline: some of the kernel's,
 * then the program's.
 */
static void print_stack(const struct calls *calls, uint32_t node)
{
	int nr = 0, kernel = 0;

	for (; node != CALLS_ROOT && calls_frame(calls, node)->kind == FRAME_FUNCTION;
	     node = calls->node[node].parent) {
		if (calls_frame(calls, node)->kernel &&
		    (kernel == KERNEL_SHOWN || is_scheduler(calls_name(calls, node))))
			continue;
		kernel += calls_frame(calls, node)->kernel;
		if (nr - kernel == STACK_SHOWN) {
			fputs(" < ...", stdout);
			break;
		}
		printf("%s%s", nr++ ? " < " : "", calls_name(calls, node));
	}
	puts(nr ? "" : "[no stack]");
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
	print_title(waits, "Threads, by time off the CPU",
		    "   blocked   runnable     on CPU      waits  thread");
	for (i = 0; i < shown(waits, nr); i++) {
		const struct sample_thread *thread = &samples->thread[order[i]];

		columns_time(waits->thread[order[i]].blocked);
		putchar(' ');
		columns_time(waits->thread[order[i]].runnable);
		putchar(' ');
		columns_time(thread->on_cpu);
		printf(" %10" PRIu64 "  %s %" PRId64 "\n", waits->thread[order[i]].waits,
		       samples->calls.string[thread->comm], thread->tid);
	}
	print_more(waits, nr);
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

static void print_wakers(const struct waits *waits)
{
	const struct calls *calls = &waits->samples.calls;
	uint32_t i;

	if (!waits->nr_lines)
		return;
	print_title(waits, "Woken by, by cause of waiting and waker",
		    "   blocked    longest    latency      times  thread: cause <- waker");
	for (i = 0; i < shown(waits, waits->nr_lines); i++) {
		const struct wait_line *line = &waits->line[i];

		columns_time(line->blocked);
		putchar(' ');
		columns_time(line->longest);
		putchar(' ');
		columns_time(line->latency);
		printf(" %10" PRIu64 "  %s: %s <- ", line->times, calls->string[line->waiter_comm],
		       calls->string[line->cause]);
		print_waker(waits, line);
		printf("\n%s%44swaits in  ", waits->colour.dim, "");
		print_stack(calls, line->waiter);
		if (line->recorded && !line->interrupt) {
			printf("%44swoken in  ", "");
			print_stack(calls, line->waker);
		}
		fputs(waits->colour.plain, stdout);
	}
	print_more(waits, waits->nr_lines);
}

/* ------------------------------------------------------------ locks */

static void print_place(struct waits *waits, uint32_t node)
{
	const struct calls *calls = &waits->samples.calls;
	struct wrappers_place place = wrappers_place(&waits->samples.wrappers, calls, node);

	if (place.function != CALLS_ROOT)
		printf("%s called by ", calls_name(calls, place.function));
	puts(place.caller != CALLS_ROOT ? calls_name(calls, place.caller) : "[unknown]");
}

static void print_locks(struct waits *waits)
{
	const struct calls *calls = &waits->samples.calls;
	uint32_t nr, i, k;
	struct lock_sum *sums = lock_sums(&waits->samples.locks, &nr);

	if (nr)
		print_title(waits, "Locks (futex), by time blocked",
			    "   blocked    longest      waits     others  lock");
	for (i = 0; i < shown(waits, nr); i++) {
		const struct lock_sum *sum = &sums[i];

		columns_time(sum->lock.time);
		putchar(' ');
		columns_time(sum->lock.longest);
		printf(" %10" PRIu64 " %10" PRIu64 "  %s 0x%" PRIx64 " of process %" PRId64 "\n",
		       sum->lock.waits, sum->lock.others, sum->lock.kind.lock ? "lock" : "futex",
		       sum->lock.address, sum->lock.pid);
		fputs(waits->colour.dim, stdout);
		for (k = 0; k < sum->nr_pairs && k < PAIRS_SHOWN; k++) {
			const struct lock_pair *pair = sum->pair[k];

			printf("%36s%5.1f %%  waits in  ", "", columns_share(pair->time, sum->lock.time));
			print_place(waits, pair->waiter);
			printf("%44s%s %s  ", "", sum->lock.kind.lock ? "held by" : "woken by",
			       calls->string[pair->holder_comm]);
			print_stack(calls, pair->holder);
		}
		fputs(waits->colour.plain, stdout);
	}
	print_more(waits, nr);
	lock_sums_free(sums, nr);
}

/* ------------------------------------------------------------ chains */

struct chain_print {
	const struct waits *waits;
	const struct calls_total *total;
	uint32_t *child, *sibling;	/* of each node; CALLS_ROOT: none. Longest first */
	uint32_t lines;
	bool more;		/* lines were left out */
};

/* Links each node to its parent's children, those with the most time first. */
static void link_children(struct chain_print *print)
{
	const struct calls *chains = &print->waits->chains;
	uint32_t i, *at;

	for (i = 1; i < chains->nr_nodes; i++) {
		at = &print->child[chains->node[i].parent];
		while (*at != CALLS_ROOT &&
		       print->total[*at].weight[WEIGHT_OFF_CPU] >= print->total[i].weight[WEIGHT_OFF_CPU])
			at = &print->sibling[*at];
		print->sibling[i] = *at;
		*at = i;
	}
}

/* Parts below one percent of the wait are left out. */
static void print_chain(struct chain_print *print, uint32_t node, int64_t whole, int depth)
{
	int64_t time = print->total[node].weight[WEIGHT_OFF_CPU];
	uint32_t i;

	if (time * 100 < whole)
		return;
	if (print->waits->top && print->lines >= print->waits->top * 2) {
		print->more = true;
		return;
	}
	print->lines++;
	columns_time(time);
	printf("  %5.1f %%  %*s%s\n", columns_share(time, whole), depth * 2, "",
	       calls_name(&print->waits->chains, node));
	for (i = print->child[node]; i != CALLS_ROOT; i = print->sibling[i])
		print_chain(print, i, whole, depth + 1);
}

static void print_chains(const struct waits *waits)
{
	const struct calls *chains = &waits->chains;
	struct calls_total *total = calls_totals(chains);
	struct chain_print print = { .waits = waits, .total = total };
	uint32_t i;

	if (chains->nr_nodes > 1) {
		print.child = needed(calloc(chains->nr_nodes, sizeof(uint32_t)));
		print.sibling = needed(calloc(chains->nr_nodes, sizeof(uint32_t)));
		link_children(&print);
		print_title(waits, "Chains: what the waits waited for",
			    "      time    share  thread: what it did");
		for (i = print.child[CALLS_ROOT]; i != CALLS_ROOT; i = print.sibling[i])
			print_chain(&print, i, total[i].weight[WEIGHT_OFF_CPU], 0);
		if (print.more)
			printf("  %s... more (--top 0 for all)%s\n", waits->colour.dim, waits->colour.plain);
		free(print.child);
		free(print.sibling);
	}
	free(total);
}

static void print_endless(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;
	uint32_t i, lines = 0;

	if (!waits->endless)
		return;
	print_title(waits, "Still waiting at the end of the trace", "      time  thread: cause");
	for (i = 0; i < waits->nr; i++) {
		const struct wait *wait = &waits->wait[i];

		if (wait->hidden || wait->end != INT64_MAX || (waits->top && lines++ >= waits->top))
			continue;
		columns_time(samples->end - wait->begin);
		printf("  %s %" PRId64 ": %s\n", samples->calls.string[wait->comm],
		       samples->thread[wait->thread].tid, samples->calls.string[wait->cause]);
		printf("%s%12swaits in  ", waits->colour.dim, "");
		print_stack(&samples->calls, wait->node);
		fputs(waits->colour.plain, stdout);
	}
	print_more(waits, (uint32_t)waits->endless);
}

void waits_text(struct waits *waits)
{
	print_head(waits);
	print_threads(waits);
	print_wakers(waits);
	print_locks(waits);
	print_chains(waits);
	print_endless(waits);
}
