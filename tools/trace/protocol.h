/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - the newest version of babeltrace2's message protocol in this build
 *
 * libbabeltrace2 2.1 adds version 1. Functions of a version that the build lacks
 * are not declared: code that calls one tests MIP_MOST.
 */
#ifndef KUNWIND_TRACE_PROTOCOL_H
#define KUNWIND_TRACE_PROTOCOL_H

#if __has_include(<babeltrace2/trace-ir/field-location.h>)
#define MIP_MOST	1
#else
#define MIP_MOST	0
#endif

#endif /* KUNWIND_TRACE_PROTOCOL_H */
