// SPDX-License-Identifier: MIT
/*
 * stacks.c - run real programs, and print the cost of walks of their stacks
 *
 *	stacks PROCESSES FILE	starts PROCESSES at once, with the commands of FILE
 *				(one a line) in turn; 1: one command after another. All
 *				are registered with kunwind
 *
 * kunwind_bench.ko counts at each system call (kmod/record.c). Address spaces
 * are not randomized, so that equal stacks have one hash in all processes. Each
 * distinct stack counts once, with the median of its costs. Prints
 * tab-separated lines:
 *
 *	real  PROGRAM  PROCESSES  STACKS  FRAMES  CACHE  INSTRUCTIONS  PER_FRAME  SLOPE
 *
 * FRAMES, INSTRUCTIONS (whole call) and PER_FRAME (whole call divided by
 * frames) are medians over the STACKS. SLOPE is the slope of the least-squares
 * line through (frames, instructions), without the fixed cost of a walk. CACHE
 * (of rules): found (as the programs left it), cold, warm, again (with the note
 * of this walk). The last program is "all".
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kmod/uapi/kunwind.h"
#include "kmod/record.h"
#include "median.h"

#define MOST_COMMANDS	16
#define FEWEST		100	/* distinct stacks */

enum { FOUND, COLD, WARM, AGAIN, NR_STATES };
static const char *const states[] = { "found", "cold", "warm", "again" };

static struct bench_record *records;
static size_t nr_records;

static void start(const char *command)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1,
					   .flags = KUNWIND_REGISTER_CHILDREN };
	int fd = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	int null = open("/dev/null", O_RDWR);
	char line[1024];

	if (fd < 0 || ioctl(fd, KUNWIND_IOC_REGISTER, &process))
		err(1, KUNWIND_DEVICE);
	if (personality(ADDR_NO_RANDOMIZE) < 0)
		err(1, "personality");
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	snprintf(line, sizeof(line), "exec %s", command);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

static void wait_for_all(void)
{
	int status;

	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
			errx(1, "a program did not run: status %#x", status);
}

static void run(int processes, const char *path)
{
	static char text[MOST_COMMANDS][512];
	FILE *file = fopen(path, "r");
	int fd, nr = 0, i;

	if (!file)
		err(1, "%s", path);
	while (nr < MOST_COMMANDS && fgets(text[nr], sizeof(text[0]), file))
		if (text[nr][0] != '#')
			nr++;
	fclose(file);
	setsid();
	fd = open("/dev/kunwind-record", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "/dev/kunwind-record");
	for (i = 0; i < (processes == 1 ? nr : processes); i++) {
		pid_t pid = fork();

		if (!pid)
			start(text[i % nr]);
		if (pid < 0)
			err(1, "fork");
		if (processes == 1)
			wait_for_all();
	}
	wait_for_all();
	for (;;) {
		ssize_t got;

		records = realloc(records, (nr_records + 4096) * sizeof(*records));
		if (!records)
			err(1, "records");
		got = read(fd, records + nr_records, 4096 * sizeof(*records));
		if (got < 0)
			err(1, "/dev/kunwind-record");
		if (!got)
			break;
		nr_records += got / sizeof(*records);
	}
	close(fd);
}

static int by_stack(const void *a, const void *b)
{
	const struct bench_record *x = a, *y = b;
	int order = strncmp(x->program, y->program, sizeof(x->program));

	return order ? order : (x->hash > y->hash) - (x->hash < y->hash);
}

/*
 * Merges the records of each stack into one, with medians. Returns the number
 * of stacks.
 */
static size_t merge(void)
{
	double *v = calloc(nr_records, sizeof(*v));
	size_t from, to, nr = 0, i;

	qsort(records, nr_records, sizeof(*records), by_stack);
	for (from = 0; from < nr_records; from = to) {
		struct bench_record one = records[from];

		for (to = from; to < nr_records && !by_stack(&records[to], &one); to++)
			;
#define MERGE(field)								\
do {										\
	for (i = from; i < to; i++)						\
		v[i - from] = records[i].field;					\
	one.field = median(v, to - from);					\
} while (0)
		MERGE(found);
		MERGE(cold);
		MERGE(warm);
		MERGE(again);
		records[nr++] = one;
	}
	free(v);
	return nr;
}

static void print(const char *program, int processes, const struct bench_record *r, size_t n)
{
	double *whole = calloc(n, sizeof(*whole)), *each = calloc(n, sizeof(*each));
	double *frames = calloc(n, sizeof(*frames));
	int state;
	size_t i;

	for (state = 0; state < NR_STATES; state++) {
		double sx = 0, sy = 0, sxx = 0, sxy = 0, slope;

		for (i = 0; i < n; i++) {
			double x = r[i].frames;
			double y = state == FOUND ? r[i].found : state == COLD ? r[i].cold :
				   state == WARM ? r[i].warm : r[i].again;

			frames[i] = x;
			whole[i] = y;
			each[i] = y / x;
			sx += x;
			sy += y;
			sxx += x * x;
			sxy += x * y;
		}
		slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
		printf("real\t%s\t%d\t%zu\t%.0f\t%s\t%.0f\t%.1f\t%.1f\n", program, processes, n,
		       median(frames, n), states[state], median(whole, n), median(each, n), slope);
	}
	free(whole);
	free(each);
	free(frames);
}

int main(int argc, char **argv)
{
	size_t from, to, nr;
	int processes = argc == 3 ? atoi(argv[1]) : 0;

	if (processes < 1)
		errx(2, "usage: stacks PROCESSES FILE");
	run(processes, argv[2]);
	nr = merge();
	if (nr < FEWEST)
		errx(1, "%zu distinct stacks are too few", nr);
	for (from = 0; from < nr; from = to) {
		for (to = from; to < nr && !strncmp(records[to].program, records[from].program,
						    sizeof(records[0].program)); to++)
			;
		/*
		 * Few stacks: a shell before its exec, or a child of a program.
		 */
		if (to - from >= FEWEST)
			print(records[from].program, processes, records + from, to - from);
	}
	print("all", processes, records, nr);
	return 0;
}
