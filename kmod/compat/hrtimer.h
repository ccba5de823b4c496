/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hrtimer.h - differences of timers between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_HRTIMER_H
#define _KUNWIND_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>
#include <linux/version.h>

/*
 * 6.13 added hrtimer_setup(), and 6.15 removed hrtimer_init(). Drop this when
 * 6.12 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _KUNWIND_COMPAT_HRTIMER_H */
