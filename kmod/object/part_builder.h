/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part_builder.h - the second stage of a build: the parts of a table that is in
 * use
 */
#ifndef _KUNWIND_PART_BUILDER_H
#define _KUNWIND_PART_BUILDER_H

#include "../core/kunwind_core.h"

struct kunwind_part_builder;
struct kunwind_code_builder;
struct kunwind_job;

int kunwind_part_builder_init(void);
/* After kunwind_jobs_stop() and the last build: waits for all second stages. */
void kunwind_part_builder_stop(void);
void kunwind_part_builder_exit(void);

/**
 * kunwind_part_builder_begin() - run the first stage, in the caller's context
 * @job: of the build; the second stage has the rest of its time
 * @section: its bytes must stay until the second stage ends
 * @limit: most bytes of the table
 * @result: out: the second stage, to be started or cancelled
 * Makes the object's table. May sleep. If it fails, there is nothing to free.
 */
enum kunwind_build_error __must_check
kunwind_part_builder_begin(struct kunwind_job *job, const struct kunwind_section *section,
			   size_t limit, struct kunwind_part_builder **result);

/* Frees @builder, which was not started. The table is left to the caller. */
void kunwind_part_builder_cancel(struct kunwind_part_builder *builder);

/*
 * Starts the second stage, in workers. It takes over the sections' bytes @data
 * (kvfree()) and the @charged bytes of the build. At its end, it starts @code (or
 * NULL), or cancels it if the table is given up.
 */
void kunwind_part_builder_start(struct kunwind_part_builder *builder, void *data, size_t charged,
				struct kunwind_code_builder *code);

/**
 * kunwind_part_builder_wait() - wait for parts of tables
 * @met: returns whether to wait no longer; called again after each part that is
 *	built, and each table that is given up
 * @timeout: jiffies
 * Sleeps, killably. Return: positive: @met has returned true; 0: a timeout;
 * negative: a fatal signal.
 */
long kunwind_part_builder_wait(bool (*met)(void *data), void *data, unsigned long timeout);

#endif /* _KUNWIND_PART_BUILDER_H */
