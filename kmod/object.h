/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object.h - ELF objects and their tables, one for each state of a file
 */
#ifndef _KUNWIND_OBJECT_H
#define _KUNWIND_OBJECT_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/elf.h"

struct file;
struct seq_file;
struct vdso_image;

/* What tells one state of one file from another. Compared as bytes: no holes. */
struct kunwind_object_key {
	u64 ino;		/* the vDSO: address of its image */
	u64 size;		/* bytes */
	s64 ctime_sec;
	u32 ctime_nsec;
	u32 generation;
	u32 dev;		/* new_encode_dev(); 0: the vDSO */
	u32 pad;
};

/**
 * struct kunwind_object - one ELF file, in one state
 * @users: ranges that refer to it, and its build; 0: kept for reuse only
 * @state: enum kunwind_object_state; what follows it here is valid, and does
 *	not change any more, once it was seen (acquire) to be another than PENDING
 */
struct kunwind_object {
	struct hlist_node node;
	struct list_head idle;
	refcount_t users;
	struct kunwind_object_key key;
	char *path;		/* as first seen; never NULL */

	u32 state;
	u32 refusal;		/* enum kunwind_refusal */
	struct kunwind_table *table;
	struct kunwind_table_stats stats;
	struct kunwind_elf elf;
	bool has_elf;		/* elf is valid */
	unsigned long done_at;	/* jiffies */
	u32 stalls;		/* how often somebody waited for it in vain */

	struct completion done;
	struct work_struct work;
	struct file *file;		/* while it is read */
	const struct vdso_image *vdso;
};

int kunwind_object_init(void);
/* Makes all builds end soon; new objects fail. */
void kunwind_object_stop(void);
/* No users may be left. */
void kunwind_object_exit(void);

void kunwind_object_key_init(struct kunwind_object_key *key, struct file *file);

/*
 * The object of a mapped file, in the state in which it is now, with a
 * reference; a new one is being built. @path is copied. May sleep. Never NULL:
 * what there is no room for becomes one object that failed.
 */
struct kunwind_object *kunwind_object_get_file(struct file *file, const char *path);
struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image);

/* One more reference. Any context. */
static inline struct kunwind_object *kunwind_object_get(struct kunwind_object *object)
{
	refcount_inc(&object->users);
	return object;
}

/* May sleep. */
void kunwind_object_put(struct kunwind_object *object);

static inline enum kunwind_object_state kunwind_object_state(const struct kunwind_object *object)
{
	return smp_load_acquire(&object->state);
}

/*
 * Memory beside the tables, under the same limit. False: over it (nothing was
 * charged). Any context but NMI.
 */
bool kunwind_object_charge(size_t bytes);
void kunwind_object_uncharge(size_t bytes);

/* True when building it once more may end otherwise. */
bool kunwind_object_stale(const struct kunwind_object *object);

/* Why a walk ends in an object without a table. Only of one that is not pending. */
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object);

/* Adds to @stats: objects, table_bytes, table_rows, table_builds, table_refused. */
void kunwind_object_stats(struct kunwind_stats *stats);
void kunwind_object_show_params(struct seq_file *m);
void kunwind_object_show(struct seq_file *m);

#endif /* _KUNWIND_OBJECT_H */
