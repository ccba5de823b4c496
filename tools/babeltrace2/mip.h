/* SPDX-License-Identifier: MIT */
/*
 * mip.h - what differs between the versions of babeltrace2's message protocol
 *
 * A graph has one version (MIP), the greatest that all of its components know.
 * With 1, of babeltrace2 2.1, a length or selector is named by its location, which is
 * text, no more by its class; and what identifies a trace, clock, stream class or event
 * class is a name space and a text, no more a UUID. CTF 2, which LTTng writes
 * since 2.15, cannot be read with 0. Built with babeltrace2 2.0, only 0 is known.
 */
#ifndef KUNWIND_MIP_H
#define KUNWIND_MIP_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#if __has_include(<babeltrace2/trace-ir/field-location.h>)
#define MIP_MOST	1
#else
#define MIP_MOST	0
#endif

/* An array of any length, that no field tells. NULL: out of memory. */
bt_field_class *mip_sequence(bt_trace_class *tc, bt_field_class *element);

/* Identity, and of a clock what it is measured against. False: out of memory. */
bool mip_copy_clock_class(bt_clock_class *to, const bt_clock_class *from);
bool mip_copy_stream_class(bt_stream_class *to, const bt_stream_class *from);
bool mip_copy_event_class(bt_event_class *to, const bt_event_class *from);
bool mip_copy_trace(bt_trace *to, const bt_trace *from);

/*
 * Copies of classes that only version 1 knows: those with a length or selector by its
 * location, BLOBs, and bit arrays with flags. False: another class, or another version;
 * true: *to is the copy, NULL when out of memory. @inner: the copy of
 * what an array or option holds, NULL for the others. A variant has no options yet.
 */
bool mip_copy_class(bt_trace_class *tc, const bt_field_class *from, bt_field_class *inner,
		    bt_field_class **to);

/* The value of a BLOB, again. False: it is none, or out of memory. */
bool mip_copy_blob(bt_field *to, const bt_field *from);

#endif /* KUNWIND_MIP_H */
