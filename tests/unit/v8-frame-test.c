/* SPDX-License-Identifier: MIT */
/*
 * v8-frame-test.c - frames of V8's functions that have words of older calls below rbp
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/walk/mem.h"
#include "nocfi-scene.h"

#define LEAF	(JIT + 0x1e00)
#define FRAME	(JIT + 0x1180)			/* the return address in the frame under test */
#define ENTRY	(JIT + 0x1000)			/* its function */
#define CALLER	(JIT + 0x13)
#define OLDER	(JIT + 0x305)			/* follows a call that another frame has made */
#define RBP	AT(9)				/* of the frame under test */
#define OBJECT	0x10000001

#define CODE_OF(entry, prologue)							\
	{ { LEAF, "c3", 0 }, { FRAME - 5, NULL, LEAF }, { FRAME, "ff e0", 0 },		\
	  { JIT + 0x10, "41 ff d2", 0 }, { OLDER - 5, NULL, JIT + 0x20 }, { entry, prologue, 0 } }
#define PROLOGUE "55 48 89 e5 56 57 50"
/* The first frame returns to FRAME. Below the frame's rbp: two objects and a number. */
#define STACK_OF(number, function, context, saved)					\
	{ { 0, FRAME }, { 3, OLDER }, { 6, number }, { 7, function }, { 8, context },	\
	  { 9, saved }, { 10, CALLER } }
#define FOUND	.no_guess = true, .found = { LEAF, FRAME, CALLER }, .trust = { REGS, CODE, CODE }, \
		.reason = KUNWIND_NO_OBJECT
#define ENDS	.no_guess = true, .found = { LEAF, FRAME }, .trust = { REGS, CODE }, \
		.reason = KUNWIND_NO_OBJECT

static const struct nocfi_case cases[] = {
	{ "the function begins as V8's functions do", LEAF, RBP, CODE_OF(ENTRY, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT, 0), FOUND },
	{ "the function begins within the word of the return address", LEAF, RBP,
	  CODE_OF(FRAME - 12, PROLOGUE), STACK_OF(2, OBJECT, OBJECT, 0), FOUND },
	{ "the function begins at the end of 64 bytes", LEAF, RBP, CODE_OF(FRAME - 0x100 - 4, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT, 0), FOUND },
	{ "the function begins 4,096 bytes before", LEAF, RBP, CODE_OF(FRAME - 4096, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT, 0), FOUND },
	{ "the function begins 4,097 bytes before", LEAF, RBP, CODE_OF(FRAME - 4097, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT, 0), ENDS },
	{ "another instruction is last", LEAF, RBP, CODE_OF(ENTRY, "55 48 89 e5 56 57 51"),
	  STACK_OF(2, OBJECT, OBJECT, 0), ENDS },
	{ "another instruction is first", LEAF, RBP, CODE_OF(ENTRY, "54 48 89 e5 56 57 50"),
	  STACK_OF(2, OBJECT, OBJECT, 0), ENDS },
	{ "the code after the frame's address does not count", LEAF, RBP, CODE_OF(FRAME + 2, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT, 0), ENDS },
	{ "the context is no object", LEAF, RBP, CODE_OF(ENTRY, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT + 1, 0), ENDS },
	{ "the function is no object", LEAF, RBP, CODE_OF(ENTRY, PROLOGUE),
	  STACK_OF(2, OBJECT - 1, OBJECT, 0), ENDS },
	{ "the function is no address of user space", LEAF, RBP, CODE_OF(ENTRY, PROLOGUE),
	  STACK_OF(2, 1ULL << 47 | 1, OBJECT, 0), ENDS },
	{ "the number of arguments is too large", LEAF, RBP, CODE_OF(ENTRY, PROLOGUE),
	  STACK_OF(0x10000, OBJECT, OBJECT, 0), ENDS },
	{ "the saved rbp is below rbp", LEAF, RBP, CODE_OF(ENTRY, PROLOGUE),
	  STACK_OF(2, OBJECT, OBJECT, AT(2)), ENDS },
	{ "the code has not called", FRAME, RBP,
	  { { FRAME, "ff e0", 0 }, { JIT + 0x10, "41 ff d2", 0 }, { OLDER - 5, NULL, JIT + 0x20 },
	    { ENTRY, PROLOGUE, 0 } },
	  STACK_OF(2, OBJECT, OBJECT, 0), .no_guess = true,
	  .found = { FRAME }, .trust = { REGS }, .reason = KUNWIND_NO_OBJECT },
};

static void test_method(void)
{
	tap_ok(decided[KUNWIND_BY_JIT_FRAME] == 4, "the method has decided four cases");
}

int main(void)
{
	return nocfi_test(cases, ARRAY_SIZE(cases), test_method);
}
