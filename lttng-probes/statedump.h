/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * statedump.h - report the known mappings to each new LTTng session
 */
#ifndef _KUNWIND_STATEDUMP_H
#define _KUNWIND_STATEDUMP_H

int kunwind_statedump_init(void);	/* may sleep; 0 or negative errno */
void kunwind_statedump_exit(void);	/* may sleep; on return no dump runs */

#endif /* _KUNWIND_STATEDUMP_H */
