// SPDX-License-Identifier: MIT
/*
 * name-bench.c - measure what it costs to name the frames of a trace
 *
 *   name-bench FRAMES TRACE [DIRECTORY]
 *
 * Reads the stacks of the trace, then names all of them, repeatedly until at
 * least FRAMES frames are named. The first run is cold: only the mappings are
 * known. The second run is warm. Then both runs are repeated without debug
 * information. The times are processor times. All time of the helper process is
 * part of the cold time. The time to read the trace is not counted. The page
 * cache is not dropped. With DIRECTORY, names come only from the objects and
 * debug files below it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "trace/reading.h"

struct stacks {
	struct kunwind_reading reading;
	struct kunwind_history *history;
	struct stack {
		struct kunwind_who who;
		size_t first, nr;
	} *stack;
	uint64_t *address;
	size_t nr, nr_addresses;
};

/*
 * Returns @array with room for one more than @nr elements of @size bytes. Its
 * size doubles at each power of 2. Exits if there is no memory.
 */
static void *more(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	array = realloc(array, (nr ? nr * 2 : 1) * size);
	if (!array)
		exit(1);
	return array;
}

static int take(const bt_event *event, int64_t time, void *data)
{
	struct stacks *stacks = data;
	static uint64_t address[KUNWIND_STACK_MAX];
	size_t i, nr = kunwind_stack_read(event, "callstack_user", address);
	struct kunwind_head head;
	struct stack *stack;

	if (!nr)
		return KUNWIND_TRACE_GO_ON;
	kunwind_head_read(&head, event, time);
	stacks->stack = more(stacks->stack, stacks->nr, sizeof(*stack));
	stack = &stacks->stack[stacks->nr++];
	*stack = (struct stack){ .who = { .pid = (int)head.pid, .own_number = head.own_number,
					  .time = time },
				 .first = stacks->nr_addresses, .nr = nr };
	for (i = 0; i < nr; i++) {
		stacks->address = more(stacks->address, stacks->nr_addresses, sizeof(uint64_t));
		stacks->address[stacks->nr_addresses++] = address[i];
	}
	return KUNWIND_TRACE_GO_ON;
}

static double seconds(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int learn(const bt_event *event, int64_t time, void *data)
{
	struct stacks *stacks = data;

	if (!kunwind_histories_learn(stacks->reading.histories, event, time))
		exit(1);
	stacks->history = kunwind_histories_of(stacks->reading.histories, event);
	return KUNWIND_TRACE_GO_ON;
}

/*
 * Reads the mappings from the trace again, into new histories: the time of
 * questions to one history must not decrease.
 */
static void begin(struct stacks *stacks)
{
	kunwind_histories_free(stacks->reading.histories);
	stacks->reading.histories = kunwind_histories_new(stacks->reading.symbolizer);
	if (!stacks->reading.histories ||
	    !kunwind_reading_events(&stacks->reading, learn, stacks, NULL))
		exit(1);
}

/*
 * Names all stacks once. Adds the number of frames with a name to @named.
 * Returns the processor time in seconds, without that of the helper.
 */
static double name(struct stacks *stacks, uint64_t *named)
{
	static struct kunwind_frame frame[KUNWIND_STACK_MAX];
	double before;
	size_t i, j;

	begin(stacks);
	before = seconds(RUSAGE_SELF);
	for (i = 0; i < stacks->nr; i++) {
		const struct stack *stack = &stacks->stack[i];

		if (!kunwind_history_stack(stacks->history, &stack->who,
					   &stacks->address[stack->first], stack->nr, frame))
			exit(1);
		for (j = 0; j < stack->nr; j++)
			*named += frame[j].nr_functions && kunwind_frame_function(&frame[j])->name;
	}
	return seconds(RUSAGE_SELF) - before;
}

static double name_all(struct stacks *stacks, uint64_t frames, uint64_t *named)
{
	double taken = 0;
	uint64_t done;

	for (done = 0; done < frames; done += stacks->nr_addresses)
		taken += name(stacks, named);
	return taken;
}

static void run(char *path, const char *directory, uint64_t frames, unsigned int flags,
		const char *what)
{
	const char *directories[] = { directory, NULL };
	const struct kunwind_options options = { .symbols = {
		.size = sizeof(options.symbols), .debug_dirs = directories,
		.flags = flags | KUNWIND_NO_DEBUGINFOD | (directory ? KUNWIND_NO_LOCAL : 0),
	} };
	static struct stacks stacks;
	struct kunwind_symbolizer_stats stats;
	double before, cold, warm;
	uint64_t named = 0, ignored = 0;

	memset(&stacks, 0, sizeof(stacks));
	if (!kunwind_reading_open(&stacks.reading, &path, 1, true, &options) ||
	    !kunwind_reading_events(&stacks.reading, take, &stacks, NULL) || !stacks.nr_addresses)
		exit(1);
	frames = (frames + stacks.nr_addresses - 1) / stacks.nr_addresses * stacks.nr_addresses;
	cold = name_all(&stacks, frames, &named);
	warm = name_all(&stacks, frames, &ignored);
	kunwind_symbolizer_stats(stacks.reading.symbolizer, &stats);
	before = seconds(RUSAGE_CHILDREN);
	kunwind_reading_close(&stacks.reading);	/* ends the helper and waits for it */
	cold += seconds(RUSAGE_CHILDREN) - before;
	printf("%s\t%" PRIu64 " frames, %.1f %% named, %" PRIu64 " questions to the helper: "
	       "cold %.2f s, warm %.2f s\n", what, frames, 100.0 * (double)named / (double)frames,
	       stats.asked - stats.cached, cold, warm);
}

int main(int argc, char **argv)
{
	struct rusage usage;

	if (argc != 3 && argc != 4)
		return 1;
	run(argv[2], argv[3], strtoull(argv[1], NULL, 10), 0, "functions, inlined ones, lines");
	run(argv[2], argv[3], strtoull(argv[1], NULL, 10), KUNWIND_NO_DWARF, "functions");
	getrusage(RUSAGE_SELF, &usage);
	printf("largest: %ld MB", usage.ru_maxrss / 1024);
	getrusage(RUSAGE_CHILDREN, &usage);
	printf(", helper %ld MB\n", usage.ru_maxrss / 1024);
	return 0;
}
