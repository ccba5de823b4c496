/* SPDX-License-Identifier: MIT */
/*
 * view.h - a directory that shows a trace without packets that are cut off, and without
 * files that do not belong to the trace
 */
#ifndef KUNWIND_TRACE_VIEW_H
#define KUNWIND_TRACE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/**
 * kunwind_view_new() - make a view of the trace in @dir, if it needs one
 * @view: out: path of the view, for kunwind_view_free(); NULL: read @dir itself
 * @files, @bytes: the numbers of files that are cut off, and of bytes left out, are added
 * Prints on stderr what is left out. Return: false after a message on stderr.
 */
bool kunwind_view_new(const char *dir, char **view, uint64_t *files, uint64_t *bytes);

/* Removes the view's directory. */
void kunwind_view_free(char *view);

#endif /* KUNWIND_TRACE_VIEW_H */
