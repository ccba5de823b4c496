/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - /dev/kunwind
 */
#ifndef _KUNWIND_DEVICE_H
#define _KUNWIND_DEVICE_H

#include <linux/types.h>

struct seq_file;
struct kunwind_stats;

#define KUNWIND_MODULE_VERSION	"0.1.0"

int kunwind_device_init(void);
void kunwind_device_exit(void);

/* Sets all counters in @stats. May sleep. */
void kunwind_device_stats(struct kunwind_stats *stats);

/* Prints the text that read(2) on the device returns (status.c). May sleep. */
int kunwind_status_show(struct seq_file *m, void *data);

#endif /* _KUNWIND_DEVICE_H */
