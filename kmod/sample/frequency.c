// SPDX-License-Identifier: GPL-2.0-only
/*
 * frequency.c - how often a CPU is sampled: the module parameter
 * sample_frequency
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "../base/param.h"
#include "frequency.h"

#define MOST_HZ		10000

static unsigned int hz = 997;		/* no multiple of what programs and the kernel use */

u32 notrace kunwind_sample_hz(void)
{
	return READ_ONCE(hz);
}

static int hz_set(const char *text)
{
	unsigned int value;
	int err = kstrtouint(text, 0, &value);

	if (err)
		return err;
	if (value < 1 || value > MOST_HZ)
		return -EINVAL;
	WRITE_ONCE(hz, value);
	return 0;
}

static int hz_get(char *to)
{
	return sysfs_emit(to, "%u\n", READ_ONCE(hz));
}

KUNWIND_PARAM(sample_frequency, hz_set, hz_get);
MODULE_PARM_DESC(sample_frequency,
		 "samples of kunwind_sample a second of each busy CPU: 1 to 10000 (default 997)");
