/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * builder.h - read ELF files and build their tables, in workers
 */
#ifndef _KUNWIND_BUILDER_H
#define _KUNWIND_BUILDER_H

#include <linux/types.h>

#include "../core/kunwind_core.h"

struct file;
struct kunwind_object;
struct seq_file;

int kunwind_builder_init(void);
/* Makes what is being built end, and all that waits fail; returns when nothing is left. */
void kunwind_builder_stop(void);
void kunwind_builder_exit(void);

/* A new object is to be built from @file. False: the module is being unloaded. */
bool __must_check kunwind_builder_attach(struct kunwind_object *object, struct file *file,
					 bool remote);
/* Undoes it, of an object that was never queued, while somebody else has the file open. */
void kunwind_builder_detach(struct kunwind_object *object);
/* Closes the file. Only for a worker of a lane; may wait for the file system. */
void kunwind_builder_close(struct kunwind_object *object);

/* Builds an attached, pending object: its state changes, and object->done is completed. */
void kunwind_builder_run(struct kunwind_object *object);

/*
 * Builds a pending object of no file here and now, from the caller's own memory at
 * @from; @section: all but data. May sleep, killably, for at most max_build_ms.
 */
enum kunwind_refusal kunwind_builder_build_user(struct kunwind_object *object,
						struct kunwind_section *section,
						const void __user *from);

/*
 * Whether so many tasks waited in vain for the object's file system that nobody
 * is to wait for it. kunwind_builder_stalled(): a task waited for the object in vain.
 */
bool kunwind_builder_stalls(const struct kunwind_object *object);
void kunwind_builder_stalled(struct kunwind_object *object);

/* What became of an object: its state, to those who do not wait. fill.c's besides. */
void kunwind_builder_conclude(struct kunwind_object *object, enum kunwind_refusal refusal);

/* Gives what was charged for a build back, but for what is kept of it. fill.c's besides. */
void kunwind_builder_uncharge(struct kunwind_object *object, size_t charged, size_t kept);

/* Builds and refusals so far. */
void kunwind_builder_counts(u64 *builds, u64 *refused);
void kunwind_builder_show_params(struct seq_file *m);

#endif /* _KUNWIND_BUILDER_H */
