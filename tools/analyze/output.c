// SPDX-License-Identifier: MIT
/*
 * output.c - what "kunwind report", "export" and "flamegraph" share: weights by
 * name, remarks, and JSON
 *
 * JSON is written by libjansson.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze.h"
#include "near.h"
#include "tool.h"

static const struct {
	const char *name, *title;
} weights[NR_WEIGHTS] = {
	[WEIGHT_EVENTS] = { "events", "number of events" },
	[WEIGHT_BLOCKED] = { "blocked", "time between entry and exit of system calls" },
	[WEIGHT_OFF_CPU] = { "off-cpu", "time off the CPU (sched_switch)" },
	[WEIGHT_LOCK] = { "lock", "time blocked by locks, below the holder's stack" },
	[WEIGHT_CPU] = { "cpu", "CPU time (samples)" },
};

int analyze_weight(const char *name)
{
	struct near near = { .wanted = name };
	char text[64];
	int i;

	for (i = 0; i < NR_WEIGHTS; i++) {
		if (!strcmp(name, weights[i].name))
			return i;
		near_try(&near, weights[i].name);
	}
	kunwind_tool_error("a weight is events, blocked, off-cpu, lock or cpu, not: %s%s", name,
			   near_text(&near, text, sizeof(text)));
	return -1;
}

bool analyze_percent(const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	if (end > text && !*end && *percent >= 0 && *percent <= 100)
		return true;
	kunwind_tool_error("--least takes a number of percent, not: %s", text);
	return false;
}

const char *analyze_weight_name(enum weight weight)
{
	return weights[weight].name;
}

const char *analyze_weight_title(enum weight weight)
{
	return weights[weight].title;
}

/* Returns whether the options select only some threads, times or durations. */
static bool is_filtered(const struct samples *samples)
{
	const struct kunwind_filter *filter = &samples->options.filter;

	return filter->from.kind != WHEN_NONE || filter->to.kind != WHEN_NONE || filter->tids.nr ||
	       filter->comms.nr || !kunwind_filter_any_duration(filter);
}

bool analyze_selects(const struct samples *samples)
{
	return is_filtered(samples) || samples->options.events.nr || samples->options.pids.nr;
}

bool analyze_has_weight(const struct samples *samples, int weight)
{
	if (weight < 0 || calls_weight(&samples->calls, (enum weight)weight))
		return true;
	kunwind_tool_error("%sno stack that is selected has the weight %s (%s): choose another weight",
			   samples->which, analyze_weight_name((enum weight)weight),
			   analyze_weight_title((enum weight)weight));
	return false;
}

static void remark_unnamed(const struct samples *samples, const struct samples_unnamed *unnamed)
{
	unsigned long long frames = unnamed->frames, all = samples->frames;

	if (!unnamed->why)
		return;
	if (!strcmp(unnamed->why, KUNWIND_WHY_NO_HELPER))
		kunwind_tool_error("%s%llu of %llu user frames have no name: %s (is kunwind installed "
				   "completely?)", samples->which, frames, all, unnamed->why);
	else
		kunwind_tool_error("%s%llu of %llu user frames have no name: %s: %s%s", samples->which,
				   frames, all, samples->calls.string[unnamed->object],
				   unnamed->why, unnamed->others ? " (as of other files)" : "");
}

bool analyze_remarks(const struct samples *samples)
{
	size_t i;

	if (samples->lost)
		kunwind_tool_error("%sthe tracer lost %llu events: counts and times are too low",
				   samples->which, (unsigned long long)samples->lost);
	if (samples->cycles)
		kunwind_tool_error("%sthe samples are by the clock \"cycles\": of their times, 1 ns "
				   "means 1 cycle (pprof profiles and flame graphs have the unit cycles)",
				   samples->which);
	if (samples->events && samples->no_threads)
		kunwind_tool_error("%sevents do not tell their thread (contexts tid or vtid): no times",
				   samples->which);
	if (samples->why_no_kernel)
		kunwind_tool_error("%skernel functions have no names: %s", samples->which,
				   samples->why_no_kernel);
	for (i = 0; i < NR_HELPER_FAILURES; i++)
		remark_unnamed(samples, &samples->unnamed[i]);
	if (samples->nr_selected) {
		kunwind_options_unmatched(&samples->options, samples->which);
		return true;
	}
	if (analyze_selects(samples))
		kunwind_tool_error("%sno events%s that the options select%s", samples->which,
				   is_filtered(samples) ? " of the threads and times" : "",
				   samples->options.all ? "" :
				   ", of processes that kunwind walked (--all: of all processes)");
	else
		kunwind_tool_error("%sno events%s", samples->which,
				   samples->events || samples->begin < 0 ? "" :
				   " of processes that kunwind walked (--all: of all processes)");
	return false;
}

json_t *analyze_text(const struct samples *samples, uint32_t string)
{
	return needed(json_string(samples->calls.string[string]));
}

void analyze_set(json_t *object, const char *key, json_t *value)
{
	needed(json_object_set_new(object, key, needed(value)) ? NULL : object);
}

void analyze_append(json_t *array, json_t *value)
{
	needed(json_array_append_new(array, needed(value)) ? NULL : array);
}

bool analyze_dump(json_t *json, FILE *file, size_t flags)
{
	bool ok = !json_dumpf(json, file, JSON_COMPACT | flags);

	json_decref(json);
	if (!ok && !ferror(file))
		kunwind_tool_error("out of memory");
	return ok || ferror(file);
}
