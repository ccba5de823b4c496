/* SPDX-License-Identifier: MIT */
/*
 * last.h - remember the last recording, so that the commands that read traces need no name
 */
#ifndef KUNWIND_LAST_H
#define KUNWIND_LAST_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the absolute path of a recording for this user. A failure is not reported. */
void kunwind_last_set(const char *path);

/* Writes the path to @path. Returns false if none is remembered. */
bool kunwind_last_get(char *path, size_t size);

#endif /* KUNWIND_LAST_H */
