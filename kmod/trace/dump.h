/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - report all known mappings again, for a tracer that starts later, and
 * the threads that are blocked
 */
#ifndef _KUNWIND_DUMP_H
#define _KUNWIND_DUMP_H

/*
 * Emits kunwind_map for each known mapping of each registered process,
 * including the vDSO, and kunwind_blocked for each of its threads that is blocked, up
 * to a limit for each process and each user. An event that is off is left out. May
 * sleep. Exported to lttng-probe-kunwind.ko, whose
 * work item calls it when an LTTng session starts. One call at a time: a second
 * one returns at once.
 */
void kunwind_dump_all(void);

struct seq_file;
void kunwind_dump_show(struct seq_file *m);

#endif /* _KUNWIND_DUMP_H */
