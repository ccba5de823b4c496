/* SPDX-License-Identifier: MIT */
/*
 * calls.h - events that have the program's own record of its calls
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kunwind_test

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./calls.h"

#if !defined(_CALLS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define _CALLS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/*
 * at: the function with the tracepoint; own: return addresses of the program's functions, the
 * innermost first; all: what backtrace() says, from the same function on
 */
LTTNG_UST_TRACEPOINT_EVENT(kunwind_test, call,
	LTTNG_UST_TP_ARGS(uint64_t, serial, const void *, at, const uint64_t *, own, unsigned int, own_nr,
			  const uint64_t *, all, unsigned int, all_nr),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, serial, serial)
		lttng_ust_field_integer_hex(uint64_t, at, (uint64_t)at)
		lttng_ust_field_sequence_hex(uint64_t, own, own, unsigned int, own_nr)
		lttng_ust_field_sequence_hex(uint64_t, all, all, unsigned int, all_nr)))

/* As small as an event can be with something to check. */
LTTNG_UST_TRACEPOINT_EVENT(kunwind_test, tick,
	LTTNG_UST_TP_ARGS(uint32_t, path),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, path, path)))

#endif /* _CALLS_H */

#include <lttng/tracepoint-event.h>
