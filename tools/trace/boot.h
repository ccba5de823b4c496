/* SPDX-License-Identifier: MIT */
/*
 * boot.h - the id of this host's boot
 */
#ifndef KUNWIND_TRACE_BOOT_H
#define KUNWIND_TRACE_BOOT_H

#include <stdbool.h>

/* A boot id with its NUL: 32 hexadecimal digits in lower case, and 4 dashes. */
#define BOOT_ID	37

/* Reads this host's boot id. False: it is not readable. */
bool boot_own_id(char boot[BOOT_ID]);

#endif /* KUNWIND_TRACE_BOOT_H */
