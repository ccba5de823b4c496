/* SPDX-License-Identifier: MIT */
/*
 * till.h - the events of till.cpp
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER till

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./till.h"

#if !defined(_TILL_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define _TILL_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(till, price,
	LTTNG_UST_TP_ARGS(const char *, item, int, cents),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(item, item)
		lttng_ust_field_integer(int, cents, cents)))

#endif /* _TILL_H */

#include <lttng/tracepoint-event.h>
