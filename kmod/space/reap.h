/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reap.h - free spaces and snapshots after a grace period, in a worker
 */
#ifndef _KUNWIND_REAP_H
#define _KUNWIND_REAP_H

#include <linux/llist.h>
#include <linux/workqueue.h>

/* An item to be freed after a grace period, by a function that may sleep. */
struct kunwind_reap {
	struct llist_node node;
	void (*free)(struct kunwind_reap *reap);
};

/* 0 or -ENOMEM. May sleep. */
int kunwind_reap_init(void);
/* Frees all items; nothing may add one any more, except @free. May sleep. */
void kunwind_reap_exit(void);

/* A worker soon calls @free. Any context except NMI. */
void kunwind_reap(struct kunwind_reap *reap, void (*free)(struct kunwind_reap *reap));

/* Frees what has been queued so far. May sleep. */
void kunwind_reap_flush(void);

/*
 * Queues @work on the same workqueue, after @delay jiffies. Its owner cancels
 * it before kunwind_reap_exit(). Any context except NMI.
 */
void kunwind_reap_queue(struct delayed_work *work, unsigned long delay);

#endif /* _KUNWIND_REAP_H */
