/* SPDX-License-Identifier: MIT */
/*
 * jit-test.c - code that a process adds: which ranges are valid, which user is
 * charged, and that a failure leaves no reference
 */
#include "kernel.h"
#include "tap.h"

#define TASK_SIZE_MAX		0x7ffffffff000ULL
#define u64_to_user_ptr(p)	((void *)(uintptr_t)(p))

#include "../../kmod/space/jit.c"

static struct mm_struct mm;
static struct task_struct me = { .mm = &mm };
static struct kunwind_space space;
static struct kunwind_object object;
static struct kunwind_quota { int refs; } user;
static bool registered, over;
static enum kunwind_build_error build_error;
static int change_error;
static unsigned int built;
static struct kunwind_change changed;
static struct kunwind_section section;
static struct kunwind_quota *charged;

struct kunwind_space *kunwind_space_find_get(const struct mm_struct *of)
{
	if (!registered || of != &mm)
		return NULL;
	refcount_inc(&space.refs);
	return &space;
}
void kunwind_space_put(struct kunwind_space *of) { refcount_dec_and_test(&of->refs); }
struct kunwind_quota *kunwind_quota_of(struct mm_struct *of) { (void)of; user.refs++; return &user; }
void kunwind_quota_put(struct kunwind_quota *quota) { quota->refs--; }
struct kunwind_object *kunwind_object_new_jit(struct kunwind_quota *quota)
{
	charged = quota;
	if (over)
		return ERR_PTR(-ENOSPC);
	refcount_set(&object.users, 1);
	return &object;
}
void kunwind_object_put(struct kunwind_object *of) { refcount_dec_and_test(&of->users); }
enum kunwind_build_error kunwind_builder_build_user(struct kunwind_object *of, struct kunwind_section *s,
						const void __user *from)
{
	built += from == (void *)(uintptr_t)s->addr;
	section = *s;
	of->stats.nr_fdes = 3;
	return build_error;
}
int kunwind_space_change(struct kunwind_space *of, struct mm_struct *its, const struct kunwind_change *change)
{
	(void)of, (void)its;
	changed = *change;
	if (!change_error && change->object)
		refcount_inc(&change->object->users);
	return change_error;
}

static int add_at(u64 start, u64 len, u64 eh_frame, u64 eh_len, struct kunwind_jit *jit)
{
	*jit = (struct kunwind_jit){
		.start = start, .len = len, .eh_frame = eh_frame, .eh_frame_len = eh_len,
	};
	refcount_set(&object.users, 0);
	refcount_set(&space.refs, 1);
	change_error = 0;
	return kunwind_jit_add(jit);
}

static void test_ranges(void)
{
	static const struct { u64 start, len; bool good; } cases[] = {
		{ 0x1000, 0x100, true }, { 0x1000, 0, false }, { TASK_SIZE_MAX - 1, 1, true },
		{ TASK_SIZE_MAX - 1, 2, false }, { TASK_SIZE_MAX, 1, false }, { ~0ULL, 1, false },
		{ ~0ULL, 2, false }, { 0x1000, ~0ULL - 0xfff, false }, { 1ULL << 63, 1ULL << 63, false },
		{ 0x1000, ~0ULL, false },
	};
	bool code = true, frame = true, back = true;
	struct kunwind_jit jit;
	unsigned int i;

	registered = true;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		int want = cases[i].good ? 0 : -EINVAL;

		code &= add_at(cases[i].start, cases[i].len, 0x5000, 0x100, &jit) == want;
		frame &= add_at(0x1000, 0x100, cases[i].start, cases[i].len, &jit) == want;
		jit = (struct kunwind_jit){ .start = cases[i].start, .len = cases[i].len };
		back &= kunwind_jit_remove(&jit) == want;
	}
	tap_ok(code, "add: empty, too high and wrapping code ranges are refused");
	tap_ok(frame, "add: empty, too high and wrapping .eh_frame ranges are refused");
	tap_ok(back, "remove: empty, too high and wrapping ranges are refused");
	jit = (struct kunwind_jit){ .start = 0x1000, .len = 0x100, .eh_frame = 1 };
	tap_ok(kunwind_jit_remove(&jit) == -EINVAL, "remove: an .eh_frame address is refused");
	jit = (struct kunwind_jit){ .start = 0x1000, .len = 0x100, .eh_frame_len = 1 };
	tap_ok(kunwind_jit_remove(&jit) == -EINVAL, "remove: an .eh_frame length is refused");
}

static void test_add(void)
{
	struct kunwind_jit jit;

	registered = false;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ENOENT && kunwind_jit_remove(&jit) == -EINVAL,
	       "a process that is not registered: add returns ENOENT, remove EINVAL");
	registered = true;
	built = 0;
	tap_ok(!add_at(0x1000, 0x100, 0x5000, 0x80, &jit) && built == 1 && section.lo == 0x1000 &&
	       section.hi == 0x1100 && section.addr == 0x5000 && section.size == 0x80 &&
	       changed.start == 0x1000 && changed.end == 0x1100 && changed.object == &object &&
	       jit.nr_fdes == 3 && jit.build_error == KUNWIND_OK,
	       "add: the table is built from the given bytes for the given code");
	tap_ok(charged == &user && !user.refs, "add: the process's user is charged");
	tap_ok(refcount_read(&object.users) == 1 && refcount_read(&space.refs) == 1,
	       "add: only the list keeps a reference");
	build_error = KUNWIND_E_CIE;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ENOEXEC && jit.build_error == KUNWIND_E_CIE &&
	       !refcount_read(&object.users) && !jit.nr_fdes,
	       "add: a refused section returns ENOEXEC and the reason, and is not kept");
	build_error = KUNWIND_E_LIMIT;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ENOSPC,
	       "add: a table over a limit returns ENOSPC");
	build_error = KUNWIND_E_NOMEM;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ENOMEM, "add: no memory returns ENOMEM");
	build_error = KUNWIND_E_IO;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -EFAULT,
	       "add: unreadable bytes return EFAULT");
	build_error = KUNWIND_E_ABORTED;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ETIME,
	       "add: a build over its time returns ETIME");
	dying_task = current;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -EINTR, "add: a fatal signal returns EINTR");
	dying_task = NULL;
	build_error = KUNWIND_OK;
	over = true;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ENOSPC && !user.refs,
	       "add: too many objects return ENOSPC");
	over = false;
	me.mm = NULL;
	tap_ok(add_at(0x1000, 0x100, 0x5000, 0x80, &jit) == -ENOENT,
	       "add: a task without an mm returns ENOENT");
	me.mm = &mm;
	jit = (struct kunwind_jit){ .start = 0x1000, .len = 0x100 };
	tap_ok(!kunwind_jit_remove(&jit) && changed.start == 0x1000 && changed.end == 0x1100 &&
	       !changed.object && refcount_read(&space.refs) == 1,
	       "remove: the object at this range is removed");
}

int main(void)
{
	current = &me;
	test_ranges();
	test_add();
	return tap_done();
}
