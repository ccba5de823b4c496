/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frequency.h - how often a CPU is sampled
 */
#ifndef _KUNWIND_FREQUENCY_H
#define _KUNWIND_FREQUENCY_H

#include <linux/types.h>

/*
 * Returns the module parameter sample_frequency: 1 to 10,000 Hz. Any context.
 */
u32 kunwind_sample_hz(void);

#endif /* _KUNWIND_FREQUENCY_H */
