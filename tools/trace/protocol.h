/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - the newest version of babeltrace2's message protocol in this build
 *
 * libbabeltrace2 2.1 adds version 1. Functions of a version that the build lacks
 * are not declared: code that calls one tests MIP_MOST.
 */
#ifndef KUNWIND_TRACE_PROTOCOL_H
#define KUNWIND_TRACE_PROTOCOL_H

#include <babeltrace2/babeltrace.h>

#if __has_include(<babeltrace2/trace-ir/field-location.h>)
#define MIP_MOST	1
#else
#define MIP_MOST	0
#endif

/* Method of a filter: it supports all versions up to MIP_MOST. */
static inline bt_component_class_get_supported_mip_versions_method_status
kunwind_protocol_versions(bt_self_component_class_filter *self, const bt_value *params, void *data,
			  bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	(void)self, (void)params, (void)data, (void)level;
	if (bt_integer_range_set_unsigned_add_range(versions, 0, MIP_MOST))
		return BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK;
}

#endif /* KUNWIND_TRACE_PROTOCOL_H */
