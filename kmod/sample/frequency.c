// SPDX-License-Identifier: GPL-2.0-only
/*
 * frequency.c - how often a CPU is sampled: the module parameter
 * sample_frequency
 */
#include <linux/moduleparam.h>

#include "frequency.h"

#define MOST_HZ		10000

static unsigned int hz = 997;		/* no multiple of what programs and the kernel use */

u32 notrace kunwind_sample_hz(void)
{
	return READ_ONCE(hz);
}

static int hz_set(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, MOST_HZ);
}

static const struct kernel_param_ops hz_ops = { .set = hz_set, .get = param_get_uint };
module_param_cb(sample_frequency, &hz_ops, &hz, 0644);
MODULE_PARM_DESC(sample_frequency,
		 "samples of kunwind_sample a second of each busy CPU: 1 to 10000 (default 997)");
