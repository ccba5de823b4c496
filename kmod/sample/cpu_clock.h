/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_clock.h - sample each CPU by a timer of its own
 */
#ifndef _KUNWIND_CPU_CLOCK_H
#define _KUNWIND_CPU_CLOCK_H

struct seq_file;

/* Call these before the first and after the last CPU. 0 or -errno. May sleep. */
int kunwind_cpu_clock_begin(void);
void kunwind_cpu_clock_end(void);

/* Callbacks of CPU hotplug, on @cpu. Return 0. */
int kunwind_cpu_clock_online(unsigned int cpu);
int kunwind_cpu_clock_offline(unsigned int cpu);

void kunwind_cpu_clock_show(struct seq_file *m);

#endif /* _KUNWIND_CPU_CLOCK_H */
