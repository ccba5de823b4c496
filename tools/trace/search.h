/* SPDX-License-Identifier: MIT */
/*
 * search.h - find the traces in and below some directories
 */
#ifndef KUNWIND_TRACE_SEARCH_H
#define KUNWIND_TRACE_SEARCH_H

#include <stdbool.h>

/*
 * Calls @add for the directory of each trace in and below @paths; not for copies by
 * "kunwind export ctf", which it names on stderr, if there are other traces. Returns
 * false after a message on stderr (for example, if there is no trace at or below one of
 * @paths), or if @add returned false.
 */
bool kunwind_search(char *const *paths, int nr_paths, bool (*add)(const char *dir, void *data),
		    void *data);

#endif /* KUNWIND_TRACE_SEARCH_H */
