/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - the trace events of this module, for the module's init
 */
#ifndef _KUNWIND_TRACE_EVENTS_H
#define _KUNWIND_TRACE_EVENTS_H

/* Makes perf turn the events on only for users who may observe the whole system. */
void kunwind_events_init(void);

#endif /* _KUNWIND_TRACE_EVENTS_H */
