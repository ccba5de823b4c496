/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - all samples, by thread and time, for formats that need the end of
 * a thread before the beginning of the next one
 */
#ifndef KUNWIND_ANALYZE_TIMELINE_H
#define KUNWIND_ANALYZE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "samples.h"

/* Starts as all zeros; free(entry). */
struct timeline {
	struct timeline_entry {
		struct sample sample;
		size_t note[2];		/* of the format */
	} *entry;
	size_t nr, cap;
};

/*
 * Adds a sample, and a SAMPLE_LOCK for each of its holds. Ends the program if out
 * of memory. Returns the sample's entry, valid until the next call.
 */
struct timeline_entry *timeline_add(struct timeline *timeline, const struct sample *sample);

/* Sorts by thread, then by begin, then longest first. */
void timeline_sort(struct timeline *timeline);

/* Returns the index after the last entry of the thread of entry @from. */
size_t timeline_thread_end(const struct timeline *timeline, size_t from);

/* Does a sample count for this weight? */
bool sample_weighs(const struct sample *sample, enum weight weight);

/* Returns how much, if so. */
int64_t sample_weight(const struct sample *sample, enum weight weight);

#endif /* KUNWIND_ANALYZE_TIMELINE_H */
