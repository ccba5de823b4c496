/* SPDX-License-Identifier: MIT */
/*
 * moving.h - interface between moving.c and its library moving-plugin.c
 */
#ifndef MOVING_H
#define MOVING_H

typedef void moving_fn(int depth);

/* A function of the library: calls @next from frames of its own. */
typedef void moving_plugin_fn(int depth, moving_fn *next);

extern moving_plugin_fn *const moving_plugin_table[];
extern const int moving_plugin_nr;

#endif
