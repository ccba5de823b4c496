/* SPDX-License-Identifier: MIT */
/*
 * inputs.h - find out whether an output would damage the traces that are read
 */
#ifndef KUNWIND_TRACE_INPUTS_H
#define KUNWIND_TRACE_INPUTS_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Returns whether @file is a file of a trace in or below @paths or has symbols of the
 * kernel for one, or whether @dir, where a file is to be made, is the directory of a
 * trace or below it. @file and @dir may be NULL.
 */
bool kunwind_inputs_have(char *const *paths, int nr, const struct stat *file, const struct stat *dir);

#endif /* KUNWIND_TRACE_INPUTS_H */
