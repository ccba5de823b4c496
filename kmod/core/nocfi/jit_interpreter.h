/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * jit_interpreter.h - where compiled code of OpenJDK left rsp when it called the
 * interpreter
 *
 * A stub between the two moves the return address down, to make room for the arguments on
 * the stack. So the caller's rsp does not follow from the place of that return address. The
 * interpreter's frame has it:
 *
 *	rbp - 8		the caller's rsp
 *	rbp - 64, -72	where the frame's list of locks begins (72 from JDK 9 on): the word's own
 *			address, and 16 bytes less for each lock; or its distance from rbp, in
 *			words (from JDK 22 on)
 *
 * The second word decides that the frame is the interpreter's. Any context, NMI included.
 */
#ifndef _KUNWIND_JIT_INTERPRETER_H
#define _KUNWIND_JIT_INTERPRETER_H

#include "../kunwind_core.h"

#define KUNWIND_MOST_MOVED	4096	/* bytes */
#define KUNWIND_MOST_LOCKS	4096	/* bytes */

/* Whether @word, which lies @below rbp, says where the locks of the frame at @bp begin. */
static __always_inline bool kunwind_begins_locks(u64 word, u64 bp, u32 below)
{
	const u64 absolute = bp - below - word, relative = -(u64)below - 8 * word;

	return (absolute <= KUNWIND_MOST_LOCKS && !(absolute & 7)) ||
	       ((s64)word < 0 && relative <= KUNWIND_MOST_LOCKS);
}

/*
 * rsp of a frame after its call has returned. @sp: the address above the return address;
 * @bp: the frame's rbp. Returns @sp unless the callee is a frame of the interpreter that
 * saved another rsp. Inside the window.
 */
static __always_inline u64 kunwind_jit_sender_sp(struct kunwind_mem *mem, u64 sp, u64 bp)
{
	const u64 callee = sp - 16;	/* its rbp */
	u64 word, sender;

	kunwind_mem_read(mem, word, callee, moved_not);
	if (word != bp)
		return sp;
	kunwind_mem_read(mem, sender, callee - 8, moved_not);
	if (sender & 7 || sender <= sp || sender - sp > KUNWIND_MOST_MOVED)
		return sp;
	kunwind_mem_read(mem, word, callee - 72, moved_not);
	if (kunwind_begins_locks(word, callee, 72))
		return sender;
	kunwind_mem_read(mem, word, callee - 64, moved_not);
	if (kunwind_begins_locks(word, callee, 64))
		return sender;
moved_not:
	return sp;
}

#endif /* _KUNWIND_JIT_INTERPRETER_H */
