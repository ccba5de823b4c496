/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler.h - sample all CPUs while the event kunwind_sample is on
 */
#ifndef _KUNWIND_SAMPLER_H
#define _KUNWIND_SAMPLER_H

struct seq_file;

/* Call it when walks may begin: the event may be on already. May sleep. */
void kunwind_sampler_init(void);
/*
 * On return no CPU is sampled, and the memory is freed. Call it before walks
 * end, also if kunwind_sampler_init() was not called. May sleep.
 */
void kunwind_sampler_exit(void);

void kunwind_sampler_show_params(struct seq_file *m);
void kunwind_sampler_show(struct seq_file *m);

#endif /* _KUNWIND_SAMPLER_H */
