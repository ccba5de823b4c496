/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - say again what is known, for a reader that came late
 */
#ifndef _KUNWIND_DUMP_H
#define _KUNWIND_DUMP_H

/*
 * Emits kunwind_map for every mapping of every registered process, the vDSO
 * included. May sleep. Exported to lttng-probe-kunwind.ko, which calls it at
 * the start of every LTTng session.
 */
void kunwind_space_dump_all(void);

#endif /* _KUNWIND_DUMP_H */
