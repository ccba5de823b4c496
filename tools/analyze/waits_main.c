// SPDX-License-Identifier: MIT
/*
 * waits_main.c - kunwind waits: why threads waited, who woke them, which locks
 */
#include <inttypes.h>
#include <stdlib.h>

#include "activity.h"
#include "analyze.h"
#include "waits.h"

static const char usage[] =
	"Usage: kunwind waits [OPTION]... [TRACE]...\n"
	"\n"
	"Explains the times off the CPU in LTTng traces: the cause, who ended each (a thread\n"
	"with its stack, or an interrupt), and how long the thread could run but did not;\n"
	"locks with their holders; chains of threads that waited for each other.\n"
	"TRACE is a directory that holds a trace, or one above several; default: the last\n"
	"recording.\n"
	"\n"
	"  -n, --top N          lines of each table (20); 0 for all\n"
	"      --depth N        functions of each stack (6); 0 for all\n"
	"      --skip PATTERN   functions, or all of a file, that are no place where the\n"
	"                       program waits: in addition to those of run-time libraries\n"
	ANALYZE_USAGE
	"  -j, --json           one object with everything, times in nanoseconds\n"
	"  -h, --help\n"
	"\n"
	"The trace needs sched_switch, and for the wakers sched_waking with the events of\n"
	"interrupts; for locks, the system call futex. kunwind record records them all.\n"
	"\n"
	"Exit status: 0; 1 after an error, or when there are no waits; 2 after wrong usage.\n";

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct waits *waits, int argc, char **argv)
{
	static const struct help_id ids[] = { { "depth", 'd' }, { "skip", 's' }, { NULL, 0 } };
	uint64_t number;
	int c;

	while ((c = help_option(argc, argv, usage, ids, kunwind_option_ids)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'j':
			waits->json = true;
			break;
		case 's':
			if (!kunwind_patterns_add(&waits->samples.wrappers.more, "--skip", optarg))
				return -1;
			break;
		case 'd':
		case 'n':
			if (!kunwind_tool_number(optarg, 1000000, &number)) {
				kunwind_tool_error("--%s takes a number up to 1000000, not: %s",
						   c == 'd' ? "depth" : "top", optarg);
				return -1;
			}
			*(c == 'd' ? &waits->depth : &waits->top) = (uint32_t)number;
			break;
		default:
			if (!kunwind_options_take(&waits->samples.options, c, optarg))
				return -1;
		}
	}
	return kunwind_options_traces(&waits->samples.options, argv + optind, argc - optind) ? 0 : -1;
}

/* Prints what the trace lacks. Returns false if there is nothing to show. */
static bool remarks(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;

	if (!analyze_remarks(samples))
		return false;
	if (waits->nr == waits->nr_hidden && !waits->lost) {
		if (analyze_selects(samples))
			kunwind_tool_error("no times off the CPU that the options select");
		else
			kunwind_tool_error("no times off the CPU: the trace has no sched_switch of these "
					   "threads (kunwind record -e syscalls,sched_switch,sched_waking)");
		return false;
	}
	if (!samples->nr_wakings)
		kunwind_tool_error("the trace has no sched_waking, so no wakers are known (kunwind record "
				   "-e syscalls,sched_switch,sched_waking)");
	else if (!samples->cpus.interrupts)
		kunwind_tool_error("the trace has no events of interrupts: a thread named as waker may be "
				   "one that an interrupt stopped");
	return true;
}

static bool print(struct waits *waits)
{
	waits_sort(waits);
	waits_follow(waits);
	activity_of_holders(waits);
	if (!waits->json) {
		waits_text(waits);
		return true;
	}
	if (!analyze_dump(waits_json(waits), stdout, 0))
		return false;
	putchar('\n');
	return true;
}

int analyze_waits(int argc, char **argv)
{
	static const struct samples_calls calls = { .end = waits_take };
	static struct files files;
	static struct waits waits = { .top = 20, .depth = 6 };
	int parsed;
	bool ok;

	samples_init(&waits.samples);
	calls_init(&waits.chains);
	files_init(&files, &waits.samples.calls);
	waits.samples.files = &files;
	waits.samples.wakers = waits.samples.hidden_waits = waits.samples.places = true;
	cpus_keep_runs(&waits.samples.cpus, &waits.samples.calls);
	parsed = parse(&waits, argc, argv);
	if (parsed)
		return kunwind_tool_parsed(parsed);
	waits.colour = kunwind_tool_colours(stdout);
	ok = samples_read(&waits.samples, waits.samples.options.traces,
			  waits.samples.options.nr_traces, &calls, &waits) &&
	     remarks(&waits) && print(&waits);
	files_free(&files);
	waits_free(&waits);
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
