/* SPDX-License-Identifier: MIT */
/*
 * columns.h - times and shares in the columns of tables
 */
#ifndef KUNWIND_ANALYZE_COLUMNS_H
#define KUNWIND_ANALYZE_COLUMNS_H

#include <stdint.h>

/* Prints nanoseconds with a unit, ten columns wide; "-" for 0. */
void columns_time(int64_t ns);

/* Returns @part in percent of @whole; 0 if @whole is 0. */
double columns_share(int64_t part, int64_t whole);

#endif /* KUNWIND_ANALYZE_COLUMNS_H */
