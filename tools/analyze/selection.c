// SPDX-License-Identifier: MIT
/*
 * selection.c - which samples the options --from, --to and --duration select
 *
 * With --from or --duration, whether a system call counts depends on its end.
 * Formats that are written while the trace is read need to know at its
 * beginning. So the events are first read once without their stacks.
 *
 * Memory: a bit for each event; twice that after the array has grown.
 */
#include <stdlib.h>
#include <string.h>

#include "selection.h"

bool selection_needs_ends(const struct kunwind_filter *filter)
{
	return filter->from.kind != WHEN_NONE || !kunwind_filter_any_duration(filter);
}

static void set(struct selection *selection, uint64_t number)
{
	uint64_t old = selection->nr_words;

	if (number / 64 >= old) {
		selection->nr_words = number / 32 + 1024;
		selection->word = needed(realloc(selection->word,
						 selection->nr_words * sizeof(*selection->word)));
		memset(selection->word + old, 0,
		       (selection->nr_words - old) * sizeof(*selection->word));
	}
	selection->word[number / 64] |= UINT64_C(1) << number % 64;
}

void selection_measure(const struct samples *samples, const struct sample *sample,
		       const bt_event *event)
{
	const struct kunwind_filter *filter = &samples->options.filter;
	/* without an event, the sample lasts beyond the last event of the trace */
	int64_t ns = sample->duration, end = ns >= 0 ? sample->begin + ns : samples->end + !event;
	bool fits = kunwind_filter_any_duration(filter);

	if (ns >= 0)
		fits = kunwind_filter_duration(filter, ns);
	else if (!event && filter->longest < 0)	/* it takes at least so long */
		fits = kunwind_filter_duration(filter, samples->end - sample->begin);
	if (fits && kunwind_filter_span(filter, sample->begin, end))
		set(samples->selection, sample->number);
}

bool selection_has(const struct samples *samples, uint64_t number, int64_t begin)
{
	const struct selection *selection = samples->selection;

	if (samples->measuring)
		return true;
	if (!selection)
		return begin < samples->options.filter.end;
	return number / 64 < selection->nr_words && selection->word[number / 64] >> number % 64 & 1;
}

bool selection_has_event(struct samples *samples, const char *name, int64_t time)
{
	return !samples->measuring && kunwind_filter_any_duration(&samples->options.filter) &&
	       kunwind_filter_time(&samples->options.filter, time) &&
	       kunwind_options_event(&samples->options, name);
}
