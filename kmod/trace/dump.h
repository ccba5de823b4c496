/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - say again what is known, for a reader that came late
 */
#ifndef _KUNWIND_DUMP_H
#define _KUNWIND_DUMP_H

/*
 * Emits kunwind_map for every mapping of every registered process, the vDSO
 * included, up to a limit for each process and each user. Ends early when nobody
 * has that event. May sleep. Exported to lttng-probe-kunwind.ko, a worker of which
 * calls it at the start of every LTTng session.
 */
void kunwind_space_dump_all(void);

struct seq_file;
void kunwind_dump_show(struct seq_file *m);

#endif /* _KUNWIND_DUMP_H */
