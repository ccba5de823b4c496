// SPDX-License-Identifier: MIT
/*
 * plugin.c - filter.kunwind.symbolize, a component class for babeltrace2(1)
 *
 *   babeltrace2 TRACE -c filter.kunwind.symbolize
 *
 * It has one input port "in" and one output port "out". It is written for
 * babeltrace2 2.0; built with 2.1 or later, it supports also the message
 * protocol that 2.1 added (mip.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "mip.h"

static void free_filter(struct filter *filter)
{
	if (!filter)
		return;
	bt_value_put_ref(filter->params);
	free(filter->debug_dirs);
	free(filter);
}

/* Records an error for babeltrace2 to print. Returns false. */
static bool refuse(bt_self_component *self, const char *what)
{
	bt_current_thread_error_append_cause_from_component(self, __FILE__, __LINE__,
		"filter.kunwind.symbolize: %s", what);
	return false;
}

static bool read_dirs(struct filter *filter, bt_self_component *self, const bt_value *dirs)
{
	uint64_t i, nr;

	if (!bt_value_is_array(dirs))
		return refuse(self, "parameter \"debug-dirs\" is not an array of strings");
	nr = bt_value_array_get_length(dirs);
	filter->debug_dirs = calloc(nr + 1, sizeof(*filter->debug_dirs));
	if (!filter->debug_dirs)
		return refuse(self, "out of memory");
	for (i = 0; i < nr; i++) {
		const bt_value *dir = bt_value_array_borrow_element_by_index_const(dirs, i);

		if (!bt_value_is_string(dir))
			return refuse(self, "parameter \"debug-dirs\" is not an array of strings");
		filter->debug_dirs[i] = bt_value_string_get(dir);
		if (access(filter->debug_dirs[i], R_OK | X_OK)) {
			bt_current_thread_error_append_cause_from_component(self, __FILE__, __LINE__,
				"filter.kunwind.symbolize: parameter \"debug-dirs\": %s: %s",
				filter->debug_dirs[i], strerror(errno));
			return false;
		}
	}
	filter->options.debug_dirs = filter->debug_dirs;
	return true;
}

/* Reads a boolean parameter; sets @flag if it is false. */
static bool read_flag(struct filter *filter, bt_self_component *self, const bt_value *value,
		      unsigned int flag, const char *what)
{
	if (!bt_value_is_bool(value))
		return refuse(self, what);
	if (!bt_value_bool_get(value))
		filter->options.flags |= flag;
	return true;
}

static bool read_text(bt_self_component *self, const bt_value *value, const char **text,
		      const char *what)
{
	if (!bt_value_is_string(value))
		return refuse(self, what);
	*text = bt_value_string_get(value);
	return true;
}

struct reader {
	struct filter *filter;
	bt_self_component *self;
};

static bt_value_map_foreach_entry_const_func_status
read_param(const char *key, const bt_value *value, void *data)
{
	struct filter *filter = ((struct reader *)data)->filter;
	bt_self_component *self = ((struct reader *)data)->self;
	const char *format = "structure";
	bool ok;

	if (!strcmp(key, "debug-dirs")) {
		ok = read_dirs(filter, self, value);
	} else if (!strcmp(key, "lines")) {
		ok = read_flag(filter, self, value, KUNWIND_NO_DWARF,
			       "parameter \"lines\" is not a boolean");
	} else if (!strcmp(key, "local")) {
		ok = read_flag(filter, self, value, KUNWIND_NO_LOCAL,
			       "parameter \"local\" is not a boolean");
		filter->live = !(filter->options.flags & KUNWIND_NO_LOCAL);
	} else if (!strcmp(key, "kallsyms")) {
		ok = read_text(self, value, &filter->options.kallsyms,
			       "parameter \"kallsyms\" is not a string");
	} else if (!strcmp(key, "perf-map-dir")) {
		ok = read_text(self, value, &filter->options.perf_map_dir,
			       "parameter \"perf-map-dir\" is not a string");
	} else if (!strcmp(key, "format")) {
		ok = read_text(self, value, &format, "parameter \"format\" is not a string");
		filter->text = !strcmp(format, "text");
		if (ok && !filter->text && strcmp(format, "structure"))
			ok = refuse(self, "parameter \"format\" is neither \"structure\" nor \"text\"");
	} else {
		ok = refuse(self, "unknown parameter; see babeltrace2 help filter.kunwind.symbolize");
	}
	return ok ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK :
		    BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
}

static bt_component_class_initialize_method_status
init(bt_self_component_filter *self_filter, bt_self_component_filter_configuration *config,
     const bt_value *params, void *data)
{
	bt_self_component *self = bt_self_component_filter_as_self_component(self_filter);
	struct filter *filter = calloc(1, sizeof(*filter));
	struct reader reader = { filter, self };

	(void)config, (void)data;
	if (!filter)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	filter->live = true;
	filter->options.size = sizeof(filter->options);
	/* options point to strings in this copy */
	if (bt_value_copy(params, &filter->params) ||
	    bt_value_map_foreach_entry_const(filter->params, read_param, &reader) ||
	    bt_self_component_filter_add_input_port(self_filter, "in", NULL, &filter->input) ||
	    bt_self_component_filter_add_output_port(self_filter, "out", NULL, NULL)) {
		free_filter(filter);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(self, filter);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_filter *self)
{
	free_filter(bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self)));
}

BT_PLUGIN_MODULE();
BT_PLUGIN(kunwind);
BT_PLUGIN_DESCRIPTION("Call stacks of user programs, by kunwind");
BT_PLUGIN_AUTHOR("the kunwind authors");
BT_PLUGIN_LICENSE("MIT");
BT_PLUGIN_VERSION(0, 1, 0, NULL);
BT_PLUGIN_FILTER_COMPONENT_CLASS(symbolize, filter_iterator_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(symbolize,
	"Name the functions of the call stacks in events");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(symbolize,
	"Adds to each event with a context callstack_user or callstack_kernel, or with the\n"
	"id of a stack, a field\n"
	"callstack_user_frames or callstack_kernel_frames to its payload: an array of the\n"
	"functions on the stack, innermost first. A function that is inlined comes\n"
	"before the one that it is part of, with the same address.\n"
	"\n"
	"What was mapped where is learned from the trace's events kunwind_*; of a trace that\n"
	"can be read from its beginning again, before its first event is passed on. Names are\n"
	"taken from an object only when its build-id is the one in the trace; other frames say\n"
	"why they have no name.\n"
	"\n"
	"Parameters:\n"
	"\n"
	"  debug-dirs=ARRAY OF STRINGS  directories with objects and debug files, by build-id\n"
	"                               (.build-id/xx/yyy[.debug]) or at their full path\n"
	"  local=BOOL                   this host's own files and processes too (yes)\n"
	"  lines=BOOL                   inlined functions and source lines (yes)\n"
	"  format=STRING                \"structure\", or \"text\": one string for each function\n"
	"  kallsyms=STRING              file with the traced kernel's symbols, such as the file\n"
	"                               kallsyms.gz that kunwind record --kernel saves; default:\n"
	"                               for a trace of this boot, /proc/kallsyms\n"
	"  perf-map-dir=STRING          where the traced host's perf-PID.map files are\n"
	"\n"
	"Servers that DEBUGINFOD_URLS names are asked for what is not found.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(symbolize, init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(symbolize, finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(symbolize, kunwind_protocol_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(symbolize,
									  filter_iterator_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(symbolize,
									filter_iterator_finalize);
