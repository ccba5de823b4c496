/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.h - address spaces of registered processes, found by mm, read under RCU
 */
#ifndef _KUNWIND_SPACE_H
#define _KUNWIND_SPACE_H

#include <linux/atomic.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "../core/kunwind_core.h"
#include "snapshot.h"

struct seq_file;

/*
 * Calls of mremap() under way. Ranges read meanwhile in [start, end), which contains
 * the destinations that any of them demanded, are doubted. One interval, not a list:
 * threads may have thousands of calls under way.
 */
struct kunwind_moves {
	unsigned int nr;
	u64 start, end;		/* valid if nr is not 0 */
};

/**
 * struct kunwind_space - what is known of one address space
 * @node: in the hash of spaces, by mm
 * @mm: key; a reference (mmgrab) keeps the address from being used again
 * @ranges: the mappings; replaced whole, freed after a grace period. NULL: not
 *	read yet. Written with @lock held
 * @fresh: exec made this space and its program did not run yet
 * @refs: one of the hash, one of each process, one of each task that works on it
 * @tgid: process that it was made for, in the initial namespace
 * @processes: that use it, changed with the hash's lock held
 * @children: of these, whose children are registered
 * @scan: held while the mappings are read; taken before mmap_lock
 * @lock: taken inside mmap_lock; preemption may be off (docs/locking.md)
 * @map_seq: changes of mappings so far that a scan has to see, under @lock
 * @scanned_seq: of these, seen by the last scan, under @lock
 * @moves: under @lock
 * @reader: task whose queued work will read the mappings, or NULL (follow.c)
 */
struct kunwind_space {
	struct hlist_node node;
	struct mm_struct *mm;
	struct kunwind_ranges __rcu *ranges;
	bool fresh;

	bool hashed;
	pid_t tgid;
	refcount_t refs;
	unsigned int processes;
	unsigned int children;
	struct mutex scan;
	spinlock_t lock;
	u32 map_seq;
	u32 scanned_seq;
	struct kunwind_moves moves;
	const struct task_struct *reader;
	struct kunwind_reap reap;
};

/*
 * The space of @mm, or NULL when it is not registered. Any context, NMI
 * included; inside rcu_read_lock() or with preemption off. notrace.
 */
struct kunwind_space *kunwind_space_find(const struct mm_struct *mm);

int kunwind_space_init(void);
/* All spaces must be unlinked, and nothing may call in any more. */
void kunwind_space_exit(void);

/*
 * Another process uses the space of @mm; made when there is none. With a
 * reference. NULL: no memory. Preemption may be off when @gfp allows it.
 */
struct kunwind_space *kunwind_space_link(struct mm_struct *mm, pid_t tgid, bool children,
					 bool fresh, gfp_t gfp);

/* A process that used it does not any more; gives the reference back. Preemption may be off. */
void kunwind_space_unlink(struct kunwind_space *space, bool children);

/* One of its processes does (1), or does not any more (-1), register its children. */
void kunwind_space_add_children(struct kunwind_space *space, int nr);

struct kunwind_space *kunwind_space_get(struct kunwind_space *space);
/* Preemption may be off. */
void kunwind_space_put(struct kunwind_space *space);

/**
 * kunwind_space_scan() - read the mappings, if they changed since the last time
 * @force: even if nothing is known to have changed
 * @timeout: longest wait for tables, jiffies
 * @patient: wait even for those for which others waited in vain many times
 * The caller keeps @mm (the space's) from being freed. May sleep, killably. If @mm is
 * not the current task's, the wait for its mmap_lock counts towards @timeout.
 * Return: 0, -EINTR (fatal signal), -ENOMEM; -EAGAIN: another's mmap_lock was
 * taken all that time; -ESRCH: another's mappings have gone.
 */
int kunwind_space_scan(struct kunwind_space *space, struct mm_struct *mm, bool force,
		       unsigned long timeout, bool patient);

/* What a process changes of its list itself: something handed in, or (no object) withdrawn. */
struct kunwind_change {
	u64 start, end;
	struct kunwind_object *object;
};

/**
 * kunwind_space_change() - read the mappings, with a change
 * @mm: the space's, the current task's
 * May sleep, killably. Return: 0, -EINTR, -ENOMEM; -ENOENT (withdrawn): it is not
 * there; -EFAULT: no code that is known; -EEXIST: there is something;
 * -ENOSPC: more mappings than may be known.
 */
int kunwind_space_change(struct kunwind_space *space, struct mm_struct *mm,
			 const struct kunwind_change *change);

/* Frees lists that no walk can see any more. May sleep. */
void kunwind_space_flush(void);

/*
 * Waits until the tables of all that was read are built, for @timeout jiffies at
 * most. Sleeps killably. 0 or -EINTR.
 */
int kunwind_space_settle(unsigned long timeout);

/* True when a mapping is not read yet. */
bool kunwind_space_dirty(struct kunwind_space *space);

/*
 * [start, end) was mapped anew, or its protection changed: what was known of
 * it is not used any more; but if @added bytes of it are new, and all others known,
 * it was only merged with its neighbours. @read: it must be read again even if nothing
 * was known. Return: a scan is due. No sleep. A scan under way does not take over what
 * dies: kunwind_space_mark().
 */
bool kunwind_space_mapped(struct kunwind_space *space, u64 start, u64 end, u64 added, bool read);

/* A mremap() begins, demands the destination [start, end), and ends. No sleep. */
void kunwind_space_begin_move(struct kunwind_space *space);
void kunwind_space_move_to(struct kunwind_space *space, u64 start, u64 end);
void kunwind_space_end_move(struct kunwind_space *space);

/*
 * Marks in @ranges, which are to be published, what moves under way may replace, and
 * what died since @old was found published. With space->lock held. False: there was
 * no memory to mark that, so @ranges may not be published.
 */
bool kunwind_space_mark(struct kunwind_space *space, const struct kunwind_ranges *old,
			struct kunwind_ranges *ranges);

/* True when something of [start, start + len) is known and not dead. Preemption may be off. */
bool kunwind_space_knows(struct kunwind_space *space, u64 start, u64 len);

/*
 * fork copies @old to @new, under @old's mmap_lock: the new space shares what
 * is known, at no cost that grows with it. Does nothing unless children of
 * @old are registered. No sleep.
 */
void kunwind_space_dup(struct mm_struct *old, struct mm_struct *new);

/* @mm ends (or its owner is not to be registered): its space is not found any more. No sleep. */
void kunwind_space_forget(const struct mm_struct *mm);

/* The same, if no process uses it. */
void kunwind_space_forget_unused(const struct mm_struct *mm);

/* An object is done: what waits for it is filled in soon. No sleep. */
void kunwind_space_object_done(void);

/*
 * A table that walks used is given up: what they keep of its rules is forgotten
 * soon, as are all others'. No sleep.
 */
void kunwind_space_rules_gone(void);

/* Its snapshot with a reference, or NULL. No sleep. */
struct kunwind_snapshot *kunwind_space_snapshot(struct kunwind_space *space);

/*
 * Replaces the snapshot, with space->lock held. Takes over the caller's
 * reference to @snapshot, which may be NULL.
 */
void kunwind_space_publish(struct kunwind_space *space, struct kunwind_snapshot *snapshot);

/* Ranges of the space that have an object. At no cost that grows with them. */
u32 kunwind_space_maps(struct kunwind_space *space);

/* The same, and how many of them have a table. */
void kunwind_space_count(struct kunwind_space *space, u32 *nr_maps, u32 *nr_ready);

/* Its memory, and its part of a list of mappings that others share. Any context. */
size_t kunwind_space_bytes(struct kunwind_space *space);

void kunwind_space_show_params(struct seq_file *m);

#endif /* _KUNWIND_SPACE_H */
