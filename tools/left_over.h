/* SPDX-License-Identifier: MIT */
/*
 * left_over.h - ask kunwind-record for sessions that killed recorders have left
 */
#ifndef KUNWIND_LEFT_OVER_H
#define KUNWIND_LEFT_OVER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sets @fix to the command that ends these LTTng sessions. Returns false if there
 * is none, also if no session daemon runs.
 */
bool kunwind_left_over(char *fix, size_t size);

/* Returns whether LTTng's consumer daemon for the kernel has ended, and is not started again. */
bool kunwind_consumer_ended(void);

#endif /* KUNWIND_LEFT_OVER_H */
