/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - differences in the definition of trace events between kernels
 */
#ifndef _KUNWIND_COMPAT_TRACE_H
#define _KUNWIND_COMPAT_TRACE_H

#include <linux/tracepoint.h>
#include <linux/version.h>

/*
 * Since 6.10 __string() remembers its source, and __assign_str() takes only the
 * field. Drop this when 6.9 is no longer supported.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define kunwind_assign_str(field, src)	__assign_str(field)
#else
#define kunwind_assign_str(field, src)	__assign_str(field, src)
#endif

/*
 * Since 6.16 DECLARE_TRACE() adds "_tp" to the name, and DEFINE_TRACE_FN() does
 * not. Drop this when 6.15 is no longer supported.
 */
#ifdef DECLARE_TRACE_EVENT
#define KUNWIND_DECLARE_TRACE	DECLARE_TRACE_EVENT
#else
#define KUNWIND_DECLARE_TRACE	DECLARE_TRACE
#endif

#endif /* _KUNWIND_COMPAT_TRACE_H */
