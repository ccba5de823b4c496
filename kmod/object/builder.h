/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * builder.h - read ELF files and build their tables, in workers
 */
#ifndef _KUNWIND_BUILDER_H
#define _KUNWIND_BUILDER_H

#include <linux/types.h>

#include "../core/kunwind_core.h"
#include "../uapi/kunwind.h"

struct kunwind_object;
struct seq_file;

int kunwind_builder_init(void);
/* Ends all builds early, also those that wait. Returns when none is left. */
void kunwind_builder_stop(void);
void kunwind_builder_exit(void);

/*
 * Builds a pending object of no file in the caller's context, from the caller's
 * memory at @from. @section: all members except data, which is not valid
 * afterwards. Sets the state, and returns the build error. Sleeps killably, for
 * at most max_build_ms by the clock, except for page faults of that memory.
 */
enum kunwind_build_error kunwind_builder_build_user(struct kunwind_object *object,
						    struct kunwind_section *section,
						    const void __user *from);

/* Adds to table_builds: builds since loading. */
void kunwind_builder_stats(struct kunwind_stats *stats);
void kunwind_builder_show_params(struct seq_file *m);

#endif /* _KUNWIND_BUILDER_H */
