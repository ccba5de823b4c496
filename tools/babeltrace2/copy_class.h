/* SPDX-License-Identifier: MIT */
/*
 * copy_class.h - copy field classes to another trace class
 */
#ifndef KUNWIND_COPY_CLASS_H
#define KUNWIND_COPY_CLASS_H

#include <babeltrace2/babeltrace.h>

#include "ptrmap.h"

/* The classes at which paths to lengths and selectors begin; NULL: none. */
struct copy_scopes {
	const bt_field_class *packet_context, *common_context, *specific_context, *payload;
};

struct copy_classes {
	bt_trace_class *to;
	struct ptrmap made;		/* from a field class to its copy; holds no references */
};

/*
 * Returns a copy, of which the caller owns a reference. Copy the scopes in the
 * order of struct copy_scopes: a length or selector precedes the field that
 * needs it. NULL: out of memory, or an unknown kind of field class.
 */
bt_field_class *copy_class(struct copy_classes *classes, const struct copy_scopes *scopes,
			   const bt_field_class *from);

#endif /* KUNWIND_COPY_CLASS_H */
