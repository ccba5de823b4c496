/* SPDX-License-Identifier: MIT */
/*
 * selection.h - which samples the options --from, --to and --duration select
 *
 * For samples.c only.
 */
#ifndef KUNWIND_ANALYZE_SELECTION_H
#define KUNWIND_ANALYZE_SELECTION_H

#include "samples.h"

/* A bit for each event that begins a selected sample. Starts as all zeros; free(word). */
struct selection {
	uint64_t *word, nr_words;
};

/* Returns whether samples are selected by their end, too. */
bool selection_needs_ends(const struct kunwind_filter *filter);

/* Takes a sample of the first pass that has ended. @event: NULL: the trace has ended. */
void selection_measure(const struct samples *samples, const struct sample *sample,
		       const bt_event *event);

/*
 * Returns whether a sample counts that takes time. True in the first pass.
 * @number: of the event that begins it.
 */
bool selection_has(const struct samples *samples, uint64_t number, int64_t begin);

/* Returns whether an event counts that takes no time. */
bool selection_has_event(struct samples *samples, const char *name, int64_t time);

#endif /* KUNWIND_ANALYZE_SELECTION_H */
