/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_builder.h - the last stage of a build: rows from code for a table that is in use
 */
#ifndef _KUNWIND_CODE_BUILDER_H
#define _KUNWIND_CODE_BUILDER_H

#include "../core/rows/code_gaps.h"

struct kunwind_code_builder;
struct kunwind_object;

int kunwind_code_builder_init(void);
/* After kunwind_jobs_stop() and the last second stage: waits for all of these stages. */
void kunwind_code_builder_stop(void);
void kunwind_code_builder_exit(void);

/**
 * kunwind_code_builder_new() - prepare the stage
 * @object: its table may be in use already
 * @gaps: the code was read. Taken over, also on failure
 * @charged: bytes that are charged to the object's user for this stage; the same
 * May sleep. Return: the stage, to be started or cancelled; NULL: no memory.
 */
struct kunwind_code_builder * __must_check
kunwind_code_builder_new(struct kunwind_object *object, struct kunwind_code_gaps *gaps,
			 size_t charged);

/* Frees @builder (or NULL), which was not started. */
void kunwind_code_builder_cancel(struct kunwind_code_builder *builder);

/* Starts the stage, in workers. @left: ns of processor time. object->building_parts is true. */
void kunwind_code_builder_start(struct kunwind_code_builder *builder, u64 left);

#endif /* _KUNWIND_CODE_BUILDER_H */
