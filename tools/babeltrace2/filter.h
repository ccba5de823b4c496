/* SPDX-License-Identifier: MIT */
/*
 * filter.h - the data and methods of filter.kunwind.symbolize
 */
#ifndef KUNWIND_FILTER_H
#define KUNWIND_FILTER_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "libkunwind-symbolize.h"

/* The component's data, read from its parameters. */
struct filter {
	struct kunwind_symbolizer_options options;
	const char **debug_dirs;	/* options.debug_dirs; the strings belong to params */
	bt_value *params;
	bt_self_component_port_input *input;
	bool text;			/* frames are strings */
	bool live;			/* use /proc of this host for processes that still run */
};

bt_message_iterator_class_initialize_method_status
filter_iterator_init(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		     bt_self_component_port_output *port);
void filter_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status
filter_iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
		     uint64_t capacity, uint64_t *count);

#endif /* KUNWIND_FILTER_H */
