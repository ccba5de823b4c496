// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - the result of a build: the object's state, and who learns of it
 *
 * Both stages of a build end here: builder.c and part_builder.c set the state,
 * which readers of mappings and the status read. Walks do not read it: space.c
 * writes the result into published snapshots. It is above this folder, so it
 * registers its functions here. Process context; no sleep.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>

#include "../base/memory_limit.h"
#include "object.h"
#include "result.h"

static atomic64_t nr_refused;
static const struct kunwind_result_listener *listener;	/* set by init, constant */

static enum kunwind_object_state state_of(enum kunwind_build_error build_error)
{
	switch (build_error) {
	case KUNWIND_OK:
		return KUNWIND_OBJECT_READY;
	case KUNWIND_E_NO_CFI:
		return KUNWIND_OBJECT_NO_CFI;
	case KUNWIND_E_NOMEM:
	case KUNWIND_E_IO:
	case KUNWIND_E_ABORTED:
		return KUNWIND_OBJECT_FAILED;
	default:
		return KUNWIND_OBJECT_REFUSED;
	}
}

void kunwind_result_set(struct kunwind_object *object, enum kunwind_build_error build_error)
{
	WRITE_ONCE(object->build_error, build_error);
	WRITE_ONCE(object->done_at, jiffies);
	if (build_error && build_error != KUNWIND_E_NO_CFI)
		atomic64_inc(&nr_refused);
	if (build_error == KUNWIND_E_LIMIT)
		kunwind_memory_refused();
	/* Pairs with kunwind_object_state(). */
	smp_store_release(&object->state, state_of(build_error));
}

void kunwind_result_listen(const struct kunwind_result_listener *to)
{
	listener = to;
}

void kunwind_result_done(struct kunwind_object *object)
{
	complete_all(&object->done);
	listener->done();
}

void kunwind_result_rules_gone(void)
{
	listener->rules_gone();
}

void kunwind_result_stats(struct kunwind_stats *stats)
{
	stats->table_refused += atomic64_read(&nr_refused);
}
