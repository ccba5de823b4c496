/* SPDX-License-Identifier: MIT */
/*
 * copy_class.h - field classes again, for another trace class
 */
#ifndef KUNWIND_COPY_CLASS_H
#define KUNWIND_COPY_CLASS_H

#include <babeltrace2/babeltrace.h>

#include "ptrmap.h"

/* Where the paths of a field class's lengths and selectors begin; NULL: there is no such scope. */
struct copy_scopes {
	const bt_field_class *packet_context, *common_context, *specific_context, *payload;
};

struct copy_classes {
	bt_trace_class *to;
	struct ptrmap made;		/* from a field class to its copy */
};

/*
 * A copy that the caller owns one reference of. Scopes are copied in the order
 * of struct copy_scopes: a length or selector stands before what it is for.
 * NULL: out of memory, or a kind that is not known.
 */
bt_field_class *copy_class(struct copy_classes *classes, const struct copy_scopes *scopes,
			   const bt_field_class *from);

#endif /* KUNWIND_COPY_CLASS_H */
