/* SPDX-License-Identifier: MIT */
/*
 * report_histogram.h - how long system calls, or times off the CPU, took: one histogram for each
 */
#ifndef KUNWIND_ANALYZE_REPORT_HISTOGRAM_H
#define KUNWIND_ANALYZE_REPORT_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "samples.h"

/* 1, 2, 5, 10, 20 ... ns, up to 1000 s and more; the first one begins at 0. */
enum { HISTOGRAM_BUCKETS = 38 };

struct histogram {
	uint32_t key;		/* string, or node */
	int64_t ns, longest;
	uint64_t count, bucket[HISTOGRAM_BUCKETS];
};

/* Starts as all zeros, except by_stack. */
struct histograms {
	bool by_stack;
	struct histogram_list {
		struct histogram *item;
		uint32_t nr, cap;
		uint32_t *by_key, cap_by_key;	/* index of item + 1; 0: none */
	} calls, off_cpu;
};

struct report;

void histograms_take(struct histograms *histograms, const struct sample *sample);

/* Print those of a weight: WEIGHT_OFF_CPU, or system calls. Return false after a message if there is none. */
bool histograms_print(struct report *report, enum weight weight);

void histograms_free(struct histograms *histograms);

#endif /* KUNWIND_ANALYZE_REPORT_HISTOGRAM_H */
