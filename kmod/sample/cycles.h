/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cycles.h - sample each CPU by its counter of cycles
 */
#ifndef _KUNWIND_CYCLES_H
#define _KUNWIND_CYCLES_H

/*
 * Callbacks of CPU hotplug. Online returns -errno if the CPU has no such
 * counter, or if all its counters are in use. May sleep.
 */
int kunwind_cycles_online(unsigned int cpu);
int kunwind_cycles_offline(unsigned int cpu);

#endif /* _KUNWIND_CYCLES_H */
