// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample.c - tell the sampler whether the tracepoint kunwind_sample is on
 *
 * The kernel can turn the tracepoint on before the module's init, and turns it
 * off after the module's exit. Therefore these functions need nothing of the
 * sampler, which passes its function to kunwind_sample_serve().
 */
#include <linux/errno.h>
#include <linux/mutex.h>

#include "sample.h"

/* Taken inside the tracepoints' lock. Protects the three below. */
static DEFINE_MUTEX(change_lock);
static int (*change)(bool on);
static bool on;
static bool closed;

/* Called with the tracepoints' lock held, before the first probe registers. */
int kunwind_sample_begin(void)
{
	int err = 0;

	mutex_lock(&change_lock);
	if (closed)
		err = -ENODEV;
	else if (change)
		err = change(true);
	on = !err;
	mutex_unlock(&change_lock);
	return err;
}

void kunwind_sample_end(void)
{
	mutex_lock(&change_lock);
	if (on && change)
		change(false);
	on = false;
	mutex_unlock(&change_lock);
}

void kunwind_sample_serve(int (*function)(bool on))
{
	mutex_lock(&change_lock);
	change = function;
	closed = !function;
	/* Without memory, nothing samples until the event is turned on again. */
	if (function && on)
		on = !function(true);
	mutex_unlock(&change_lock);
}
