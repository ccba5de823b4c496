// SPDX-License-Identifier: MIT
/*
 * guard.c - run a piece of a report on a stack of its own, and end it if it crashes
 *
 * The alternate stack of a thread may be small, and the kernel begins it anew for a signal that
 * arrives while another stack is in use. So signals have a stack of their own while a piece runs.
 * Only one thread reports at a time (handler.c).
 */
#include <sys/syscall.h>

#include "internal.h"
#include "../unwind/syscall.h"

/* call_on.S knows the layout. */
struct crash_return {
	u64 sp, ip;			/* sp 0: no call is under way */
};
bool crash_call_on(void *top, void (*function)(void *), void *data, struct crash_return *back);

static struct crash_return back;

struct guarded {
	void (*piece)(void *data);
	void *data;
	stack_t before;
	bool changed;
};

static void set_stack(const stack_t *stack, stack_t *old, bool *done)
{
	*done = !unwind_syscall(SYS_sigaltstack, (long)stack, (long)old, 0, 0, 0, 0);
}

/* On the report's stack: the kernel refuses to change the alternate stack in use. */
static void run(void *data)
{
	const stack_t nested = { .ss_sp = crash_state.nested, .ss_size = crash_state.nested_size };
	struct guarded *guarded = data;

	set_stack(&nested, &guarded->before, &guarded->changed);
	guarded->piece(guarded->data);
}

bool crash_guard(void (*piece)(void *data), void *data)
{
	struct guarded guarded = { .piece = piece, .data = data };
	bool done = crash_call_on(crash_state.stack_top, run, &guarded, &back), ignored;

	if (guarded.changed) {
		guarded.before.ss_flags &= ~SS_ONSTACK;
		set_stack(&guarded.before, NULL, &ignored);
	}
	return done;
}

bool crash_guard_leave(ucontext_t *context)
{
	if (!back.sp)
		return false;
	context->uc_mcontext.gregs[REG_RSP] = (s64)back.sp;
	context->uc_mcontext.gregs[REG_RIP] = (s64)back.ip;
	back.sp = 0;
	return true;
}
