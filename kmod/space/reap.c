// SPDX-License-Identifier: GPL-2.0-only
/*
 * reap.c - free spaces and snapshots after a grace period, in a worker
 *
 * Walks read spaces and snapshots under RCU, and freeing a snapshot drops
 * references to objects, which may sleep. So the last put only adds it to a
 * list without a lock.
 */
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "reap.h"

/*
 * One run of a worker frees all queued items after one grace period. A grace
 * period and a wake-up for each item would be a large part of the cost of a
 * short-lived process.
 */
#define REAP_DELAY	(HZ / 20)

static struct workqueue_struct *reaper;
static LLIST_HEAD(reaped);
static void reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap);

void kunwind_reap(struct kunwind_reap *item, void (*free)(struct kunwind_reap *item))
{
	item->free = free;
	if (llist_add(&item->node, &reaped))
		queue_delayed_work(reaper, &reap_work, REAP_DELAY);
}

static void reap(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&reaped);
	struct kunwind_reap *item, *next;

	if (!list)
		return;
	synchronize_rcu();
	llist_for_each_entry_safe(item, next, list, node) {
		item->free(item);
		cond_resched();
	}
}

void kunwind_reap_flush(void)
{
	flush_delayed_work(&reap_work);
}

void kunwind_reap_queue(struct delayed_work *work, unsigned long delay)
{
	queue_delayed_work(reaper, work, delay);
}

int kunwind_reap_init(void)
{
	reaper = alloc_workqueue("kunwind_free", WQ_UNBOUND, 0);
	return reaper ? 0 : -ENOMEM;
}

void kunwind_reap_exit(void)
{
	/* Freeing a space may add its snapshot to the list. */
	do
		flush_delayed_work(&reap_work);
	while (!llist_empty(&reaped));
	destroy_workqueue(reaper);
}
