// SPDX-License-Identifier: GPL-2.0-only
/*
 * jit.c - unwind information that a process hands in for code that it made
 *
 * The call copies, checks and compiles the bytes of an .eh_frame in the memory
 * of the process. The limits are those for files, except that the caller builds
 * the table, in one stage, and max_build_ms counts by the clock. The table is
 * charged to the user of the process. The processor time is the caller's own.
 *
 * The table's object belongs to one range of the process's snapshot, and no
 * lookup finds it (read_mappings.c). A new snapshot takes the object over if
 * nothing was mapped over any byte of the range and its protection did not
 * change. A forked child shares the snapshot. exec and exit drop it.
 *
 * System call context; sleeps killably. Memory: 2 KB for the object, its table,
 * and 72 bytes in the snapshot. Each call makes a new snapshot. A process can
 * hand in nothing for another process.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "../object/builder.h"
#include "jit.h"
#include "../base/memory_limit.h"
#include "../object/object.h"
#include "../object/object_cache.h"
#include "space.h"

static bool valid_range(u64 start, u64 len)
{
	u64 end;

	return len && !check_add_overflow(start, len, &end) && end <= TASK_SIZE_MAX;
}

static int error_of(enum kunwind_build_error build_error)
{
	switch (build_error) {
	case KUNWIND_OK:
		return 0;
	case KUNWIND_E_NOMEM:
		return -ENOMEM;
	case KUNWIND_E_IO:
		return -EFAULT;
	case KUNWIND_E_LIMIT:
		return -ENOSPC;
	case KUNWIND_E_ABORTED:
		return fatal_signal_pending(current) ? -EINTR : -ETIME;
	default:
		return -ENOEXEC;
	}
}

static int add(struct kunwind_space *space, struct kunwind_jit *jit, struct kunwind_quota *quota)
{
	struct kunwind_section section = {
		.size = jit->eh_frame_len, .addr = jit->eh_frame,
		.lo = jit->start, .hi = jit->start + jit->len, .strict = true,
	};
	struct kunwind_change change = { .start = section.lo, .end = section.hi };
	struct kunwind_object *object = kunwind_object_new_jit(quota);
	int err;

	if (IS_ERR(object))
		return PTR_ERR(object);
	jit->build_error = kunwind_builder_build_user(object, &section,
						  u64_to_user_ptr(jit->eh_frame));
	err = error_of(jit->build_error);
	if (!err) {
		jit->nr_fdes = object->stats.nr_fdes;
		change.object = object;
		err = kunwind_space_change(space, current->mm, &change);
	}
	kunwind_object_put(object);
	return err;
}

int kunwind_jit_add(struct kunwind_jit *jit)
{
	struct kunwind_quota *quota;
	struct kunwind_space *space;
	int err;

	if (!valid_range(jit->start, jit->len) || !valid_range(jit->eh_frame, jit->eh_frame_len))
		return -EINVAL;
	space = kunwind_space_find_get(current->mm);
	if (!space)
		return -ENOENT;
	quota = kunwind_quota_of(current->mm);
	err = add(space, jit, quota);
	kunwind_quota_put(quota);
	kunwind_space_put(space);
	return err;
}

int kunwind_jit_remove(const struct kunwind_jit *jit)
{
	struct kunwind_change change = { .start = jit->start, .end = jit->start + jit->len };
	struct kunwind_space *space;
	int err;

	if (!valid_range(jit->start, jit->len) || jit->eh_frame || jit->eh_frame_len)
		return -EINVAL;
	space = kunwind_space_find_get(current->mm);
	if (!space)
		return -ENOENT;
	err = kunwind_space_change(space, current->mm, &change);
	kunwind_space_put(space);
	return err;
}
