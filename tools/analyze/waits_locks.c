// SPDX-License-Identifier: MIT
/*
 * waits_locks.c - locks as text for a terminal
 *
 * Pairs of stacks that look alike are one row. Below it is what the holder did while
 * the waiter was blocked.
 *
 * Memory: some 20 bytes for each pair of stacks of a lock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "activity.h"
#include "columns.h"
#include "lock_sums.h"
#include "stack_text.h"
#include "waits.h"

enum { ROWS_SHOWN = 3 };

/* What is printed alike. */
struct row {
	uint32_t text[2];	/* strings */
	uint32_t pair;		/* index of locks->pair; of a row of several: of the first one in the array */
	uint32_t nr;		/* of these */
	int64_t ns;
};

static int by_text(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int i = x->text[0] == y->text[0];

	if (x->text[i] != y->text[i])
		return x->text[i] < y->text[i] ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/*
 * Makes one row of all that look alike, those with the most time first. Returns how
 * many. Their pair is the index of the first one in the array sorted by text.
 */
static uint32_t merge(struct row *row, uint32_t nr)
{
	uint32_t i, n = 0;

	if (nr)
		qsort(row, nr, sizeof(*row), by_text);
	for (i = 0; i < nr; i++) {
		if (n && row[n - 1].text[0] == row[i].text[0] && row[n - 1].text[1] == row[i].text[1]) {
			row[n - 1].ns += row[i].ns;
			row[n - 1].nr++;
			continue;
		}
		row[n] = row[i];
		row[n].nr = 1;
		row[n++].pair = i;
	}
	if (n)
		qsort(row, n, sizeof(*row), by_time);
	return n;
}

/* Prints what the holder did. @pair: the pairs of the row. */
static void print_meanwhile(struct waits *waits, const uint32_t *pair, uint32_t nr)
{
	const struct wait_pairs *meanwhile = &waits->meanwhile;
	struct calls *calls = &waits->samples.calls;
	struct row *row = NULL;
	uint32_t nr_rows = 0, cap = 0, i, k;
	int64_t whole = 0;

	for (i = 0; i < nr; i++) {
		for (k = activity_of_pair(waits, pair[i]);
		     k < meanwhile->nr && meanwhile->pair[k].line == pair[i]; k++) {
			const struct wait_pair *part = &meanwhile->pair[k];

			row = grown(row, nr_rows, &cap, sizeof(*row));
			row[nr_rows++] = (struct row){
				.text = { part->what, part->waiter == CALLS_ROOT ? 0 :
					  stack_string(&waits->samples.wrappers, calls, part->waiter,
						       waits->depth) },
				.ns = part->time,
			};
			whole += part->time;
		}
	}
	nr_rows = merge(row, nr_rows);
	for (i = 0; i < nr_rows && i < ROWS_SHOWN && row[i].ns * 100 >= whole; i++)
		printf("%46s%5.1f %%  %s%s%s\n", "", columns_share(row[i].ns, whole),
		       calls->string[row[i].text[0]], row[i].text[1] ? " in " : "",
		       calls->string[row[i].text[1]]);
	free(row);
}

static void print_lock(struct waits *waits, const struct lock_sum *sum)
{
	struct calls *calls = &waits->samples.calls;
	struct row *row = needed(calloc(sum->nr_pairs + 1, sizeof(*row)));
	uint32_t *pair = needed(calloc(sum->nr_pairs + 1, sizeof(*pair))), i, nr;

	for (i = 0; i < sum->nr_pairs; i++) {
		const struct lock_pair *one = sum->pair[i];
		struct wrappers *wrappers = &waits->samples.wrappers;
		char *holder = NULL;
		size_t size;
		FILE *file = needed(open_memstream(&holder, &size));

		fprintf(file, "%s  ", calls->string[one->holder_comm]);
		stack_text(file, wrappers, calls, one->holder, waits->depth);
		needed(fclose(file) ? NULL : holder);
		row[i] = (struct row){
			.text = { stack_string(wrappers, calls, one->waiter, waits->depth),
				  calls_string(calls, holder) },
			.pair = (uint32_t)(one - waits->samples.locks.pair), .ns = one->time,
		};
		free(holder);
	}
	if (sum->nr_pairs)
		qsort(row, sum->nr_pairs, sizeof(*row), by_text);
	for (i = 0; i < sum->nr_pairs; i++)
		pair[i] = row[i].pair;
	nr = merge(row, sum->nr_pairs);
	for (i = 0; i < nr && i < ROWS_SHOWN; i++) {
		printf("%36s%5.1f %%  waits in  %s\n%44s%s %s\n", "",
		       columns_share(row[i].ns, sum->lock.time), calls->string[row[i].text[0]], "",
		       sum->lock.kind.lock ? "held by" : "woken by", calls->string[row[i].text[1]]);
		print_meanwhile(waits, &pair[row[i].pair], row[i].nr);
	}
	free(row);
	free(pair);
}

void waits_text_locks(struct waits *waits)
{
	uint32_t nr, i;
	struct lock_sum *sums = lock_sums(&waits->samples.locks, &nr);

	if (nr)
		waits_text_title(waits, "Locks (futex), by time blocked",
				 "   blocked    longest      waits     others  lock");
	for (i = 0; i < waits_text_lines(waits, nr); i++) {
		const struct lock *lock = &sums[i].lock;

		columns_time(lock->time);
		putchar(' ');
		columns_time(lock->longest);
		printf(" %10" PRIu64 " %10" PRIu64 "  %s 0x%" PRIx64 " of process %" PRId64 "\n", lock->waits,
		       lock->others, lock->kind.lock ? "lock" : "futex", lock->address, lock->pid);
		fputs(waits->colour.dim, stdout);
		print_lock(waits, &sums[i]);
		fputs(waits->colour.plain, stdout);
	}
	waits_text_more(waits, nr);
	lock_sums_free(sums, nr);
}
