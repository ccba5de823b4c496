/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.h - address spaces of registered processes, found by mm, read under RCU
 *
 * Process context, except kunwind_space_find(). A function sleeps only if its
 * comment says so; all others allow that preemption is off (not on PREEMPT_RT).
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
#include "changed.h"
#include "snapshot.h"

struct seq_file;

/*
 * The mremap() calls that are under way in a space. [start, end) contains all
 * destinations that these calls demand; it is empty if none does. If mappings
 * are read meanwhile, the ranges in [start, end) are doubted: walks do not use
 * them, but the next read takes over their objects if they are still there. One
 * interval is kept and not a list, because threads may have thousands of calls
 * under way.
 */
struct kunwind_moves {
	unsigned int nr;	/* calls */
	u64 start, end;		/* valid if nr is not 0 */
};

#define KUNWIND_NO_TGID	(-1)

/**
 * struct kunwind_space - what is known of one address space
 * @node: in the hash of spaces, by mm
 * @mm: key; the reference (mmgrab) keeps the address from being used again
 * @ranges: the mappings; replaced as a whole, freed after a grace period. NULL:
 *	not read yet, or there was no memory for a copy. Written under @lock
 * @fresh: exec made this space, and its program has not run yet
 * @hashed: it is in the hash; under the hash's lock
 * @tgid: process that kunwind_map names, in the initial namespace: the first
 *	that used the space; 0: fork made it, and its process is not known yet;
 *	KUNWIND_NO_TGID: that process does not use it any more, and no other
 *	process was linked since
 * @refs: one for the hash, each process, and each task that works on it
 * @processes: number of processes that use it; under the hash's lock
 * @children: number of these whose children are registered; under the hash's
 *	lock, also read without it
 * @read_mutex: held while the mappings are read; taken before mmap_lock
 * @lock: taken inside mmap_lock; preemption may be off (docs/locking.md)
 * @changed: what has changed since the mappings were last read; under @lock. A
 *	reader takes it out, and puts it back if it fails
 * @map_seq: number of changes so far that require a read of the mappings; under
 *	@lock
 * @read_seq: value of @map_seq at the last read of the mappings; under @lock
 * @moves: under @lock
 * @borrowed: fork made the space with its parent's snapshot, which was not all
 *	announced: the child announces nothing until it has read all mappings;
 *	under @lock
 * @deaths: ranges of @ranges died since the last read began; under @lock
 * @reading: number of the last read that began, which no other space has; under
 *	@lock
 * @reads: number of reads of changed intervals since all mappings were read;
 *	under @read_mutex
 * @retried: when a reader last looked for builds to repeat, jiffies; under
 *	@read_mutex
 * @swept: number of the last sweep that looked at it; only the sweeper uses it
 * @reader: task whose queued task work will read the mappings, or NULL
 *	(mm_hooks.c)
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
	struct mutex read_mutex;
	spinlock_t lock;
	u32 map_seq;
	u32 read_seq;
	u32 swept;
	struct kunwind_changed changed;
	struct kunwind_moves moves;
	bool borrowed;
	bool deaths;
	u32 reading;
	u32 reads;
	unsigned long retried;
	const struct task_struct *reader;
	struct kunwind_reap reap;
};

/*
 * Returns the space of @mm, without a reference, or NULL. Any context, NMI
 * included; inside rcu_read_lock() or with preemption off. notrace.
 */
struct kunwind_space *kunwind_space_find(const struct mm_struct *mm);

/* 0 or -ENOMEM. May sleep. */
int kunwind_space_init(void);
/* No process may be linked. Nothing may call in any more. May sleep. */
void kunwind_space_exit(void);

/*
 * Counts one more process that uses the space of @mm, and makes the space if
 * there is none. @tgid: the process, or 0: kunwind_space_name() follows;
 * @children: the children of the process are registered; @fresh: of a new space.
 * Returns the space with a reference, which is for kunwind_space_unlink(), or
 * NULL: no memory. May sleep if @gfp allows it.
 */
struct kunwind_space *kunwind_space_link(struct mm_struct *mm, pid_t tgid, bool children,
					 bool fresh, gfp_t gfp);

/* From now on kunwind_map names process @tgid, unless it names another one. */
void kunwind_space_name(struct kunwind_space *space, pid_t tgid);

/*
 * Undoes kunwind_space_link(). Takes over the reference. @tgid: process that
 * does not use the space any more, so that kunwind_map must not name it: the
 * kernel may give its number to another process. 0: another link of the process
 * remains.
 */
void kunwind_space_unlink(struct kunwind_space *space, pid_t tgid, bool children);

/* Adds @nr (1 or -1) to the processes whose children are registered. */
void kunwind_space_add_children(struct kunwind_space *space, int nr);

/* Returns the space of @mm with a reference, or NULL. */
struct kunwind_space *kunwind_space_find_get(const struct mm_struct *mm);
struct kunwind_space *kunwind_space_get(struct kunwind_space *space);
void kunwind_space_put(struct kunwind_space *space);

/**
 * kunwind_space_read_mappings() - read the mappings if they changed, and wait
 * for tables
 * @mm: the space's; the caller has a reference (mmgrab)
 * @force: read all mappings, even if no change is known. Otherwise reads those
 *	that changed, and from time to time all, because no hook sees munmap()
 * @timeout: longest wait for tables, jiffies. If @mm is not the current task's,
 *	this includes the wait for its locks
 * @patient: also wait for objects for which many waits have timed out, and for
 *	the second stage of builds
 * May sleep, killably. Return: 0, also if tables are not ready in time; -EINTR
 * (fatal signal); -ENOMEM. If @mm is not the current task's: -EAGAIN, its
 * mmap_lock or @read_mutex was taken at each try; -ESRCH, its mappings are
 * gone.
 */
int kunwind_space_read_mappings(struct kunwind_space *space, struct mm_struct *mm, bool force,
				unsigned long timeout, bool patient);

/* A change that a process makes to its own list of mappings (jit.c). */
struct kunwind_change {
	u64 start, end;
	struct kunwind_object *object;	/* to add; NULL: remove the object there */
};

/**
 * kunwind_space_change() - read the mappings, and apply @change
 * @mm: of the space and of the current task
 * May sleep, killably. The new snapshot has a reference to @change->object.
 * Return: 0, -EINTR, -ENOMEM. To remove: -ENOENT, no object was handed in for
 * exactly this range. To add: -EFAULT, the range is not inside one executable
 * mapping; -EEXIST, it overlaps an object that was handed in, or it maps the
 * vDSO or a file that has a name or is not on tmpfs; -ENOSPC, the process has
 * more mappings than max_ranges.
 */
int kunwind_space_change(struct kunwind_space *space, struct mm_struct *mm,
			 const struct kunwind_change *change);

/*
 * Waits until no range of any space waits for its object, at most @timeout
 * jiffies. Sleeps killably. Returns 0, also if the time is over, or -EINTR.
 */
int kunwind_space_settle(unsigned long timeout);

/* Returns whether mappings have changed since they were last read. */
bool kunwind_space_dirty(struct kunwind_space *space);

/* A worker soon settles and announces what waits for it. */
void kunwind_space_sweep_soon(void);

/*
 * Settles the published snapshot, and announces it unless the process to be
 * named is not known, or has to read all mappings first. The caller has a
 * reference, and holds neither a lock nor an RCU read section. If the snapshot is
 * replaced meanwhile, goes on with the new one. May sleep (cond_resched() only).
 */
void kunwind_space_announce(struct kunwind_space *space);

/*
 * [start, end) was mapped, or its protection changed. Marks the known ranges
 * there as dead, unless @added bytes are new and all others are known: then the
 * mapping was only merged with its neighbours. @added: 0 if it is not known.
 * @exec: the mapping is executable, so it must be read even if nothing was known
 * there. Returns whether the mappings must be read. A read that is under way
 * takes the dead ranges into account in kunwind_space_mark().
 */
bool kunwind_space_mapped(struct kunwind_space *space, u64 start, u64 end, u64 added, bool exec);

/* The mappings of [start, end) must be read again. Walks use the ranges there until then. */
void kunwind_space_changed(struct kunwind_space *space, u64 start, u64 end);

/*
 * Report an mremap() call: its begin; its destination [start, end), if its
 * caller chose the address; its end.
 */
void kunwind_space_begin_move(struct kunwind_space *space);
void kunwind_space_move_to(struct kunwind_space *space, u64 start, u64 end);
void kunwind_space_end_move(struct kunwind_space *space);

/*
 * Prepares @new to be published in place of the snapshot from which it was made.
 * Doubts the ranges that moves under way may replace. Marks as dead the ranges
 * that have died since the read of @new began, which set @space->reading and
 * cleared @space->deaths. space->lock is held. Returns false if these are not
 * known, or cannot be marked, because there was no memory for a copy: then @new
 * must not be published.
 */
bool kunwind_space_mark(struct kunwind_space *space, struct kunwind_snapshot *new);

/* Returns whether a range that is not dead overlaps [start, start + len). */
bool kunwind_space_knows(struct kunwind_space *space, u64 start, u64 len);

/*
 * fork copies @old to @new, and holds @old's mmap_lock. If children of @old are
 * registered, makes a space for @new that shares the snapshot. The cost does not
 * grow with it. If it is not all announced yet, for example because some of its
 * objects are pending, the child reads its own mappings and announces them. If
 * there is no memory, or during an mremap(), it reads its own mappings, too.
 */
void kunwind_space_dup(struct mm_struct *old, struct mm_struct *new);

/* Takes the space of @mm out of the hash: no walk finds it any more. */
void kunwind_space_forget(const struct mm_struct *mm);

/* Does the same, unless a process uses the space. */
void kunwind_space_forget_unused(const struct mm_struct *mm);

/* Returns the published snapshot without a reference, or NULL. space->lock is held. */
static inline struct kunwind_snapshot *kunwind_space_locked_snapshot(struct kunwind_space *space)
{
	return kunwind_snapshot_of(rcu_dereference_protected(space->ranges,
							     lockdep_is_held(&space->lock)));
}

/* Returns the published snapshot with a reference, or NULL. */
struct kunwind_snapshot *kunwind_space_snapshot(struct kunwind_space *space);

/*
 * Replaces the published snapshot, with space->lock held. Takes over the
 * caller's reference to @snapshot, which may be NULL.
 */
void kunwind_space_publish(struct kunwind_space *space, struct kunwind_snapshot *snapshot);

/* Returns how many ranges have an object. The cost does not grow with them. */
u32 kunwind_space_maps(struct kunwind_space *space);

/* Counts the ranges with an object, and those with a table that are alive. */
void kunwind_space_count(struct kunwind_space *space, u32 *nr_maps, u32 *nr_ready);

/*
 * Returns bytes: the space's, and its part of a snapshot that others share. A chunk that
 * several snapshots share counts in each. The cost does not grow with the mappings.
 */
size_t kunwind_space_bytes(struct kunwind_space *space);

void kunwind_space_show_params(struct seq_file *m);

#endif /* _KUNWIND_SPACE_H */
