/* SPDX-License-Identifier: MIT */
/*
 * median.h - the median of measured values
 */
#ifndef _KUNWIND_BENCH_MEDIAN_H
#define _KUNWIND_BENCH_MEDIAN_H

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the @n values at @v. */
static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

#endif /* _KUNWIND_BENCH_MEDIAN_H */
