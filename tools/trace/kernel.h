/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - names for the kernel stacks of traces
 */
#ifndef KUNWIND_TRACE_KERNEL_H
#define KUNWIND_TRACE_KERNEL_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libkunwind-symbolize.h"

struct kunwind_kernels;

/**
 * kunwind_kernels_new() - find the symbols of the kernels of traces
 * @dirs: the traces, which may have files of symbols; must outlive the result
 * @local: also use /proc/kallsyms, for a trace of this boot
 * @forced: file with the symbols of all traces, whatever their boot; or NULL
 * Reads no file before the first kernel stack. Return: NULL: out of memory.
 */
struct kunwind_kernels *kunwind_kernels_new(struct kunwind_symbolizer *symbolizer, char *const *dirs,
					    int nr_dirs, bool local, const char *forced);
void kunwind_kernels_free(struct kunwind_kernels *kernels);

/**
 * kunwind_kernels_stack() - names for the kernel stack of an event
 * @address: innermost first
 * @frames: out, @nr of them; valid until the next call
 * Return: false: out of memory.
 */
bool kunwind_kernels_stack(struct kunwind_kernels *kernels, const bt_event *event,
			   const uint64_t *address, size_t nr, struct kunwind_frame *frames);

/* Returns why frames of a trace had no names, and what to do; NULL: none of them. */
const char *kunwind_kernels_why(const struct kunwind_kernels *kernels);

/* Returns how many of the innermost frames are those of the tracer itself. */
size_t kunwind_kernel_tracer(const struct kunwind_frame *frames, size_t nr);

#endif /* KUNWIND_TRACE_KERNEL_H */
