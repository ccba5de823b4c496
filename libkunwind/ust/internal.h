/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of libkunwind-ust share
 *
 *   register.c   set-up: memory, unwinder, registration
 *   provider.c   what LTTng-UST calls at each event
 *   stack_ids.c  a number for each stack
 *   defined.c    which numbers an event of a buffer has explained lately
 *   ust_preload.c   only in the library for LD_PRELOAD
 *
 * The value of the context is a 64-bit integer, the identifier of a stack, or a string that
 * also has its addresses:
 *
 *	IDENTIFIER ADDRESS,ADDRESS,...[ REASON]
 *
 * in hexadecimal digits, the identifier with all 16. REASON is the name of the reason for which
 * the stack is not complete. The same identifier never means another stack: the upper bits are
 * random bits of the process (defined.c), the lower ones the number of the stack in it.
 */
#ifndef _UST_INTERNAL_H
#define _UST_INTERNAL_H

#include "kunwind_base.h"
#include "ust_abi.h"
#include "kunwind.h"
#include "kunwind/unwind.h"
#include "kunwind/ust.h"

/* The version script and -fvisibility=hidden keep all other symbols inside. */
#define UST_EXPORT	__attribute__((__visibility__("default")))

#define UST_FRAMES	1024		/* most in a stack */
#define UST_ID_BITS	17		/* of the number of a stack */
#define UST_DIGITS	16		/* of an identifier in a string */

/* register.c. Set before the first event. */
extern struct kunwind_unwinder *ust_unwinder;

/* provider.c */
extern struct ust_provider ust_provider;

/* stack_ids.c: any context, except ust_ids_init() */
struct ust_stack {
	u32 nr;
	u32 text;			/* characters of its string, without the identifier */
	u64 reason;			/* enum kunwind_reason */
	u64 address[];			/* the innermost first */
};
int ust_ids_init(void);
/* The same number for the same stack, from 1 on. 0: there is no room for another stack. */
u32 ust_ids_get(const u64 *address, u32 nr, u64 reason);
const struct ust_stack *ust_ids_stack(u32 id);

/* defined.c: any context, except ust_defined_init() */
int ust_defined_init(void);
/* The upper bits of identifiers of this process. */
u64 ust_defined_key(void);
/* Whether the buffer into which an event would be written now has had a string for @id lately. */
bool ust_defined(struct ust_context *context, u32 id);
/* An event of @bytes was recorded, with a string for @id; 0: without a string. */
void ust_defined_add(struct ust_context *context, u32 id, size_t bytes);

#endif /* _UST_INTERNAL_H */
