/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object.h - ELF objects and their tables, one for each state of a file
 */
#ifndef _KUNWIND_OBJECT_H
#define _KUNWIND_OBJECT_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/stddef.h>

#include "../core/cfi/elf.h"
#include "job.h"
#include "name.h"

struct file;
struct kunwind_lane;
struct kunwind_payer;
struct seq_file;
struct vdso_image;

/*
 * What tells one state of one file from another: first the file, then its
 * state. Compared as bytes: no holes.
 */
struct kunwind_object_key {
	u64 ino;		/* the vDSO: address of its image */
	u32 generation;
	u32 dev;		/* new_encode_dev(); 0: the vDSO */
	u32 epoch;		/* of the device number: see filesystem.h */
	u32 handle[5];		/* where inode numbers repeat inside one file system */
	u64 size;		/* bytes */
	s64 ctime_sec;
	u32 ctime_nsec;
	u32 pad;
};
#define KUNWIND_KEY_FILE	offsetof(struct kunwind_object_key, size)

/**
 * struct kunwind_object - one ELF file, in one state
 * @users: ranges that refer to it, and its build; 0: kept for reuse only
 * @state: enum kunwind_object_state; what follows it here is valid, and does
 *	not change any more, once it was seen (acquire) to be another than PENDING;
 *	but while it is filling, stats do, and the state may still turn out to be
 *	REFUSED or FAILED, which the table then says itself
 * @payer: to whom the table is charged; NULL: nobody
 * @time_payer: to whom the processor time of its build is charged; NULL: nobody
 * @places: all users who map the file and could pay, until the build is over
 * @queued: it waits in a lane of each of them
 * @gone: the file has no name any more, or has another state by now: nobody
 *	will come for this one
 * @over_share: refused because of what its payer already has
 * @filling: its table is in use, and in its second stage (fill.c); @filled: which is over
 * @late_until: jiffy up to which no task waits for a part of its table; 0: none did
 *	in vain
 * @jit: of no file: handed in by a process, for one range of its own (jit.c)
 */
struct kunwind_object {
	struct hlist_node node;
	struct list_head idle;		/* of all users */
	struct list_head payer_idle;	/* of its payer's */
	refcount_t users;
	struct kunwind_object_key key;
	struct kunwind_name *name;	/* for the status, under kunwind_objects_lock; may be NULL */
	/*
	 * name->payer, to be compared only; ERR_PTR(): no name yet. Written under
	 * kunwind_objects_lock.
	 */
	const struct kunwind_payer *name_payer;

	u32 state;
	u32 refusal;		/* enum kunwind_refusal */
	struct kunwind_table *table;
	struct kunwind_table_stats stats;
	struct kunwind_elf elf;
	bool has_elf;		/* elf is valid */
	unsigned long done_at;	/* jiffies */
	u32 stalls;		/* how often somebody waited for it in vain */
	struct kunwind_payer *payer;
	struct kunwind_payer *time_payer;
	bool gone;
	bool over_share;
	bool filling;
	bool jit;
	unsigned long late_until;

	struct completion done;
	struct completion filled;
	/* The builder's. */
	struct list_head places;
	bool queued;
	struct file *file;		/* until it was read */
	bool remote;			/* its file is on a remote file system */
	bool reading;			/* the same, and its last read is not over */
	/* From its queueing (remote) or first read until its close (remote) or last read. */
	bool module_held;
	const struct vdso_image *vdso;
};

int kunwind_object_init(void);
/* No users may be left. */
void kunwind_object_exit(void);

void kunwind_object_key_init(struct kunwind_object_key *key, struct file *file);

/* Whether the object is of this file, in whichever state. */
bool kunwind_object_of(const struct kunwind_object *object, const struct file *file);

/*
 * The object of a mapped file, in the state in which it is now, with a
 * reference; a new one is being built, for @payer. May sleep.
 * Never NULL: what there is no room for becomes one object that failed.
 */
struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_payer *payer);
struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image);

/*
 * Stands for code that comes from no file (a JIT's): the walk has to know that
 * it is executable. Its ranges have no table, and the reason KUNWIND_NO_OBJECT.
 */
extern struct kunwind_object kunwind_object_anonymous;

/* What a process hands in: pending, with a reference. -ENOMEM; -ENOSPC: over its share. */
struct kunwind_object *kunwind_object_new_jit(struct kunwind_payer *payer);

/* A process that maps the file of @object calls it @name: for the status. No sleep. */
void kunwind_object_set_name(struct kunwind_object *object, struct kunwind_name *name);

/* What a process that has @name (may be NULL) calls @object; never NULL. */
static inline const char *kunwind_object_path(const struct kunwind_object *object,
					      const struct kunwind_name *name)
{
	if (name)
		return name->path;
	return object->vdso ? "[vdso]" : "?";
}

/* Code of no file, about which trace events tell nothing. */
static inline bool kunwind_object_is_nameless(const struct kunwind_object *object)
{
	return object == &kunwind_object_anonymous || object->jit;
}

/* One more reference. Any context. */
static inline struct kunwind_object *kunwind_object_get(struct kunwind_object *object)
{
	refcount_inc(&object->users);
	return object;
}

/* May sleep. */
void kunwind_object_put(struct kunwind_object *object);

/*
 * Whether the work on the object is to end: the caller has the only reference, and
 * the file has gone or the user who pays is over the budget. Then nobody finds it
 * any more.
 */
bool kunwind_object_unwanted(struct kunwind_object *object);

/*
 * The object that a lane of @payer builds next and pays for, or NULL. *wanted: false if
 * no process uses it any more; then nobody finds it. No sleep.
 */
struct kunwind_object *kunwind_object_next(struct kunwind_lane *lane, struct kunwind_payer *payer,
					   bool *wanted);

/*
 * @payer's process maps the object's @file, too: its build does not wait for another
 * user's. For an object that the process has already; a new one is offered by itself.
 * May sleep.
 */
void kunwind_object_offer(struct kunwind_object *object, struct kunwind_payer *payer,
			  struct file *file);

/*
 * Who pays for the time of a build from now on: while one of the users who map the
 * file is within the budget, or CAP_SYS_ADMIN, no other. With a reference; NULL: nobody.
 */
struct kunwind_payer *kunwind_object_time_payer(struct kunwind_object *object);

/*
 * Takes a turn of the user who pays for the time, or of another who maps the file,
 * is within the budget, and pays from now on. False: each has another job.
 * @payer: whose turn it is, with a reference; NULL: nobody's.
 */
bool __must_check kunwind_object_take_turn(struct kunwind_object *object, enum kunwind_turn turn,
					   struct kunwind_payer **payer);

/*
 * The share of object->payer has no room for the table: it is charged to another user
 * who maps the file. Only before anything is charged. False: there is no other.
 */
bool __must_check kunwind_object_next_payer(struct kunwind_object *object);

/* The build is over, with its second stage: nobody can pay for it any more. */
void kunwind_object_build_over(struct kunwind_object *object);

static inline enum kunwind_object_state kunwind_object_state(const struct kunwind_object *object)
{
	return smp_load_acquire(&object->state);
}

/*
 * kunwind_memory_charge(), with objects that nobody uses given up for it: the
 * payer's own for his share. May sleep.
 */
int __must_check kunwind_object_make_room(struct kunwind_payer *payer, size_t bytes);

/* @object has a table now, for which its payer was charged. The builder's. */
void kunwind_object_built(struct kunwind_object *object);

/* True when building it once more, for @payer, may end otherwise. */
bool kunwind_object_stale(const struct kunwind_object *object, const struct kunwind_payer *payer);

/* Why a walk ends in an object without a table. Only of one that is not pending. */
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object);

/* Adds to @stats: objects, table_bytes, table_rows, table_builds, table_refused. */
void kunwind_object_stats(struct kunwind_stats *stats);
void kunwind_object_show_params(struct seq_file *m);
void kunwind_object_show(struct seq_file *m);

#endif /* _KUNWIND_OBJECT_H */
