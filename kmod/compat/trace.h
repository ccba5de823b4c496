/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - what differs between kernels in the definition of trace events
 */
#ifndef _KUNWIND_COMPAT_TRACE_H
#define _KUNWIND_COMPAT_TRACE_H

#include <linux/version.h>

/*
 * Since 6.10 __string() remembers its source, and __assign_str() takes the
 * field alone. May go when 6.9 is no longer supported.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define kunwind_assign_str(field, src)	__assign_str(field)
#else
#define kunwind_assign_str(field, src)	__assign_str(field, src)
#endif

#endif /* _KUNWIND_COMPAT_TRACE_H */
