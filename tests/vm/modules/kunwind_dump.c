// SPDX-License-Identifier: GPL-2.0-only
/*
 * kunwind_dump.c - make kunwind dump all known mappings, as at the start of an
 * LTTng session
 *
 * The dump is complete when modprobe returns.
 */
#include <linux/module.h>

#include "../../../kmod/trace/dump.h"

static int __init dump_init(void)
{
	kunwind_dump_all();
	return 0;
}

static void __exit dump_exit(void)
{
}

module_init(dump_init);
module_exit(dump_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("asks kunwind for a dump of its state");
