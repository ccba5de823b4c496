/* SPDX-License-Identifier: MIT */
/*
 * mip.h - hide the differences between versions of babeltrace2's protocol
 *
 * A graph has one version of the message interchange protocol (MIP): the
 * greatest that all of its components support. Version 1, of babeltrace2 2.1,
 * names a length or selector by its location, which is text; version 0 by its
 * class. Version 1 identifies a trace, clock, stream class or event class by a
 * namespace and a text; version 0 by a UUID. Reading CTF 2, which LTTng writes
 * since 2.15, needs version 1. Built with babeltrace2 2.0, the plug-in supports
 * only version 0.
 */
#ifndef KUNWIND_MIP_H
#define KUNWIND_MIP_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "trace/protocol.h"

/* Creates an array class of dynamic length without a length field; or NULL. */
bt_field_class *mip_sequence(bt_trace_class *tc, bt_field_class *element);

/*
 * Copy the identity; of a clock also its precision, accuracy and origin.
 * False: out of memory.
 */
bool mip_copy_clock_class(bt_clock_class *to, const bt_clock_class *from);
bool mip_copy_stream_class(bt_stream_class *to, const bt_stream_class *from);
bool mip_copy_event_class(bt_event_class *to, const bt_event_class *from);
bool mip_copy_trace(bt_trace *to, const bt_trace *from);

/*
 * Copies a class that version 1 creates in another way than version 0: dynamic
 * arrays, options, variants (without their options), BLOBs and bit arrays.
 * @inner: the copy of the class inside an array or option, else NULL.
 * Returns false, and does nothing, for other classes and in version 0. Returns
 * true otherwise: *to is the copy, or NULL if out of memory.
 */
bool mip_copy_class(bt_trace_class *tc, const bt_field_class *from, bt_field_class *inner,
		    bt_field_class **to);

/* Copies the value of a BLOB. False: @from is no BLOB, or out of memory. */
bool mip_copy_blob(bt_field *to, const bt_field *from);

#endif /* KUNWIND_MIP_H */
