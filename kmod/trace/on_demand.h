/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * on_demand.h - probe tracepoints of the kernel while an event of ours is on
 */
#ifndef _KUNWIND_ON_DEMAND_H
#define _KUNWIND_ON_DEMAND_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct tracepoint;

#define KUNWIND_ON_DEMAND_PROBES	2

/* Name of a tracepoint of the kernel, and the function to attach to it. */
struct kunwind_on_demand_probe {
	const char *tracepoint;
	void *function;
	struct tracepoint *found;	/* private to on_demand.c */
};

/**
 * struct kunwind_on_demand - an event that the module computes from others
 * @event: its name, for messages
 * @prepare: allocates what the probes need, if it is not there; 0 or -ENOMEM.
 *	May be NULL
 * @release: frees what @prepare allocated, when no probe runs any more. May be
 *	NULL
 * @users: tracepoints of the event that are on
 * @open: between kunwind_on_demand_init() and kunwind_on_demand_exit()
 * @closed: after kunwind_on_demand_exit()
 * @attached: only the work item uses it
 *
 * The callbacks may sleep. One of them runs at a time.
 */
struct kunwind_on_demand {
	const char *event;
	int (*prepare)(void);
	void (*release)(void);
	struct work_struct work;
	unsigned int users;
	bool open, closed, attached;
	struct kunwind_on_demand_probe probe[KUNWIND_ON_DEMAND_PROBES];
};

extern struct kunwind_on_demand kunwind_slow_syscall_demand, kunwind_fatal_signal_demand;

/* The events' tracepoints call these when they are turned on and off. */
int kunwind_slow_syscall_begin(void);
void kunwind_slow_syscall_end(void);
int kunwind_fatal_signal_begin(void);
void kunwind_fatal_signal_end(void);

/*
 * Sets the probes, @nr of them, and the callbacks. Call it once, in the module's
 * init. The event may be on before that.
 */
void kunwind_on_demand_init(struct kunwind_on_demand *demand,
			    const struct kunwind_on_demand_probe *probes, unsigned int nr,
			    int (*prepare)(void), void (*release)(void));
/* On return, no probe is attached. May be called without init. May sleep. */
void kunwind_on_demand_exit(struct kunwind_on_demand *demand);

#endif /* _KUNWIND_ON_DEMAND_H */
