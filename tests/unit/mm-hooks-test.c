/* SPDX-License-Identifier: MIT */
/*
 * mm-hooks-test.c - mmap, mprotect and mremap over known code: which ranges the
 * hooks mark as dead, and when the task reads its mappings
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define PF_EXITING		4
#define KUNWIND_PF_WORKERS	0x10
#define _KUNWIND_COMPAT_SCHED_H
#define TASK_SIZE_MAX		0x7ffffffff000ULL
#define MAX_RT_PRIO		100
#define VM_EXEC			4
#define VM_HUGETLB		0x400000
#define MREMAP_MAYMOVE		1
#define MREMAP_FIXED		2
#define MAP_FIXED		0x10
#define MAP_FIXED_NOREPLACE	0x100000
#define __NR_mmap		9
#define __NR_mprotect		10
#define __NR_pkey_mprotect	329
#define offset_in_page(x)	((x) & (PAGE_SIZE - 1))
#ifndef fallthrough
#define fallthrough		__attribute__((__fallthrough__))
#endif
#define IS_ERR_VALUE(x)		((unsigned long)(x) >= -4095UL)
#define TWA_RESUME		1
#define THIS_MODULE		NULL
#define CONFIG_IA32_EMULATION	1
#define msecs_to_jiffies(ms)	((ms) / 4)
#define new_encode_dev(dev)	(dev)
struct callback_head { void (*func)(struct callback_head *head); };
#define init_task_work(head, fn)	((head)->func = (fn))
struct pt_regs { unsigned long di, si, dx, r10, r8, bx, cx, ax, orig_ax; };
struct vm_area_struct { unsigned long vm_start, vm_end, vm_flags; struct mm_struct *vm_mm; };
struct super_block { u32 s_dev; };
static struct pt_regs user_regs;
static bool ia32, no_work;
#define task_pt_regs(task)	((void)(task), &user_regs)
#define in_ia32_syscall()	ia32

static struct callback_head *queued[8];
static unsigned int nr_queued;
static int module_refs;
static bool try_module_get(void *module) { (void)module; module_refs++; return true; }
static void module_put(void *module) { (void)module; module_refs--; }
static int task_work_add(struct task_struct *task, struct callback_head *head, int how)
{
	(void)task, (void)how;
	if (no_work)
		return -ESRCH;
	queued[nr_queued++] = head;
	return 0;
}

/* Each hook is a function named after the function that it hooks. */
#define _KUNWIND_HOOK_H
struct kunwind_hook { const char *function; };
#define KUNWIND_HOOK1(name, type, arg)				static void hook_##name(type arg)
#define KUNWIND_HOOK2(name, type1, arg1, type2, arg2)						\
	static void hook_##name(type1 arg1, type2 arg2)
#define KUNWIND_HOOK_SYSCALL(name, regs)							\
	static void hook_##name(const struct pt_regs *regs)
#define KUNWIND_HOOK_ENTRY(name)				{ #name }
#define kunwind_hooks_require(hooks, nr)			((void)(hooks))
#define kunwind_hooks_disable(hooks, nr)			((void)(hooks), true)
#define kunwind_hooks_show(m, hooks, nr, why)			((void)(hooks))
#define kunwind_hook_missing()					NULL
#define _KUNWIND_EVENTS_H
static u64 told_start, told_end;
static int told[2];		/* processes that the last events named */
static unsigned int nr_told;
static bool listening;
#define trace_kunwind_unmap_enabled()	listening
#define _KUNWIND_EMIT_H
#define KUNWIND_EMIT(event, ...)	(emits(), trace_##event(__VA_ARGS__))
static void trace_kunwind_unmap(int tgid, u64 start, u64 end)
{
	told[nr_told++ % 2] = tgid;
	told_start = start;
	told_end = end;
}

#define _KUNWIND_MAP_EVENT_H
#include "../../kmod/object/object.h"
#include "../../kmod/base/memory_limit.h"
#include "../../kmod/space/snapshot.h"
static void kunwind_trace_map(int number, const struct kunwind_range *range,
			      const struct kunwind_detail *detail)
{
	(void)number, (void)range, (void)detail;
}
#include "../../kmod/space/snapshot.c"
#include "../../kmod/space/reap.c"
#include "../../kmod/space/changed.c"
#include "../../kmod/space/invalidate.c"
#include "../../kmod/space/space.c"
#include "snapshot.h"
#define kunwind_space_find(mm)	in_rcu((kunwind_space_find)(mm))
#include "../../kmod/space/mm_hooks.c"

/* ----------------------------------------- what these files need of others */

struct kunwind_quota { int unused; };
static struct kunwind_quota user;
static struct kunwind_object object;
static unsigned int reads, forced;
static struct kunwind_changed was;	/* what the last read was to read */

struct kunwind_object kunwind_object_anonymous = { .users = REFCOUNT_INIT(1) };
void kunwind_object_put(struct kunwind_object *of) { refcount_dec_and_test(&of->users); }
int kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes) { (void)quota, (void)bytes; return 0; }
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes) { (void)quota, (void)bytes; }
void kunwind_memory_refused(void) { }
int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	return kunwind_memory_charge(quota, bytes);
}
#include "memory.h"
struct kunwind_quota *kunwind_quota_get(struct kunwind_quota *quota) { return quota; }
void kunwind_quota_put(struct kunwind_quota *quota) { (void)quota; }
void kunwind_name_put(struct kunwind_name *name) { (void)name; }
void kunwind_result_listen(const struct kunwind_result_listener *listener) { (void)listener; }
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *of)
{
	(void)of;
	return KUNWIND_NO_TABLE;
}
static bool no_slot;			/* for the task's limit */
static int own_works;
bool kunwind_request_limit_own_begin(void)
{
	own_works += !no_slot;
	return !no_slot;
}
void kunwind_request_limit_own_end(void)
{
	if (!own_works--)
		wrong("own work ends that has not begun");
}
void kunwind_filesystem_ends(u32 dev) { (void)dev; }
int kunwind_space_read_mappings(struct kunwind_space *what, struct mm_struct *mm, bool force,
				unsigned long timeout, bool patient)
{
	(void)mm, (void)timeout, (void)patient;
	reads++;
	forced += force;
	was = what->changed;
	what->changed.nr = 0;
	what->read_seq = what->map_seq;
	return 0;
}

/* --------------------------------------------------------------- the scene */

#define AT(n)	(0x100000UL * ((n) + 1))	/* range n, of four pages */
#define NR	3

static struct mm_struct mm;
static struct task_struct me = { .mm = &mm, .pid = 100, .tgid = 100, .prio = 120 };
static struct kunwind_space *space;

static void begin(void)
{
	struct kunwind_range ranges[NR];
	struct kunwind_detail details[NR];
	struct kunwind_snapshot *snapshot;
	unsigned int i;

	current = &me;
	me.mm = &mm;
	memset(&user_regs, 0, sizeof(user_regs));
	ia32 = no_work = listening = false;
	nr_queued = reads = forced = nr_told = 0;
	refcount_set(&object.users, 1);
	object.state = KUNWIND_OBJECT_PENDING;
	space = kunwind_space_link(&mm, 100, true, false, GFP_KERNEL);
	for (i = 0; i < NR; i++) {
		ranges[i] = (struct kunwind_range){ .start = AT(i), .end = AT(i) + 0x4000 };
		details[i] = (struct kunwind_detail){ .object = kunwind_object_get(&object) };
	}
	snapshot = snapshot_from(ranges, details, NR, 2, &user);
	spin_lock(&space->lock);
	kunwind_space_publish(space, snapshot);
	space->read_seq = space->map_seq;
	space->changed.nr = 0;
	spin_unlock(&space->lock);
}

static u32 dead(void)
{
	u32 i, bits = 0;

	for (i = 0; i < NR; i++)
		bits |= !!RANGE(of(space), i).dead << i;
	return bits;
}

/* The task returns to user mode. */
static void returns(void)
{
	unsigned int i, nr = nr_queued;

	nr_queued = 0;
	for (i = 0; i < nr; i++)
		queued[i]->func(queued[i]);
}

static void end(const char *what)
{
	bool good = !space->moves.nr;
	unsigned int i;

	returns();
	kunwind_space_unlink(space, 0, true);
	for (i = 0; i < 10 && !llist_empty(&reaped); i++)
		flush_delayed_work(&reap_work);
	tap_ok(good && !module_refs && !mm.grabbed && refcount_read(&object.users) == 1,
	       "%s: all references and snapshots are released", what);
}

static void maps(unsigned long nr, unsigned long from, unsigned long len, unsigned long start,
		 unsigned long size, unsigned long flags)
{
	struct vm_area_struct vma = { start, start + size, flags, &mm };

	user_regs.orig_ax = nr;
	user_regs.di = from;
	user_regs.si = len;
	hook_perf_event_mmap(&vma);
}

/* ------------------------------------------------------------------- tests */

static void test_mprotect(void)
{
	static const struct {
		const char *what;
		unsigned long nr, from, len;
		u32 dead;
	} cases[] = {
		{ "mprotect of three mappings that merged", __NR_mprotect, AT(0), AT(2) + 0x4000 - AT(0), 7 },
		{ "mprotect of one mapping", __NR_mprotect, AT(1), 0x1000, 2 },
		{ "mprotect of a byte", __NR_mprotect, AT(0) + 0x3000, 1, 1 },
		{ "mprotect of part of the page before a mapping", __NR_mprotect, AT(1) - 0x1000, 0xfff, 0 },
		{ "mprotect of the page before a mapping and one byte more",
		  __NR_mprotect, AT(1) - 0x1000, 0x1001, 2 },
		{ "pkey_mprotect of one mapping", __NR_pkey_mprotect, AT(2) + 0x3000, 0x1000, 4 },
		{ "another system call", 1, AT(1), 0x1000, 7 },
		{ "mprotect of an address that wraps", __NR_mprotect, AT(1), ~0UL, 7 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		maps(cases[i].nr, cases[i].from, cases[i].len, AT(0), AT(2) + 0x4000 - AT(0), 0);
		tap_ok(dead() == cases[i].dead, "%s: the dead ranges are %x", cases[i].what, cases[i].dead);
		tap_ok(nr_queued == !!cases[i].dead,
		       "%s: the task work to read changed mappings is queued", cases[i].what);
		end(cases[i].what);
	}
	/* mmap: only the length in its arguments is new */
	begin();
	maps(__NR_mmap, 0, 0x1001, AT(0), 0x6000, VM_EXEC);
	tap_ok(!dead() && nr_queued == 1, "mmap that merges: the known ranges stay valid");
	end("mmap that merges");
	begin();
	maps(__NR_mmap, AT(0), 0x1000, AT(0), 0x4000, VM_EXEC);
	tap_ok(dead() == 1, "mmap over a page of a mapping: the whole range is dead");
	end("mmap over a page");
	/* another thread's mapping, which merged and is not read yet, as long as the page */
	begin();
	maps(__NR_mmap, AT(0) + 0x4000, 0x1000, AT(0), 0x5000, VM_EXEC);
	user_regs.r10 = MAP_FIXED;
	maps(__NR_mmap, AT(0), 0x1000, AT(0), 0x5000, VM_EXEC);
	tap_ok(dead() == 1, "mmap over a page, while another thread maps as much: the range is dead");
	end("mmap over a page, while another thread maps as much");
	begin();
	user_regs.r10 = MAP_FIXED;
	maps(__NR_mmap, AT(0) + 0x4000, 0x1000, AT(0), 0x5000, VM_EXEC);
	tap_ok(!dead() && nr_queued == 1,
	       "mmap at a fixed address that merges: the known range stays valid");
	end("mmap at a fixed address that merges");
	begin();
	maps(__NR_mmap, AT(5), 0x1000, AT(5), 0x1000, VM_EXEC);
	user_regs.r10 = MAP_FIXED_NOREPLACE;
	maps(__NR_mmap, AT(0) + 0x4000, 0x1000, AT(0), 0x5000, VM_EXEC);
	tap_ok(!dead(),
	       "mmap at a fixed address that must be free, which merges: the known range stays valid");
	end("mmap at a fixed address that must be free");
	begin();
	user_regs.r10 = MAP_FIXED;
	maps(__NR_mmap, AT(0) - 0x2000, 0x1000, AT(0) - 0x2000, 0x6000, VM_EXEC | VM_HUGETLB);
	tap_ok(dead() == 1, "mmap of huge pages at a fixed address: ranges in the whole mapping are dead");
	end("mmap of huge pages at a fixed address");
	begin();
	listening = true;
	maps(__NR_mprotect, AT(1), 0x1000, AT(1), 0x4000, 0);
	tap_ok(told_start == AT(1) && told_end == AT(1) + 0x1000,
	       "event kunwind_unmap: it has the changed addresses");
	tap_ok(nr_told == 1 && told[0] == 100, "event kunwind_unmap: it names the process once");
	end("event kunwind_unmap");
	begin();
	listening = true;
	me.tgid = 200;
	maps(__NR_mprotect, AT(1), 0x1000, AT(1), 0x4000, 0);
	tap_ok(nr_told == 2 && told[0] == 200 && told[1] == 100,
	       "event kunwind_unmap of a process that shares memory: it names both processes");
	me.tgid = 100;
	end("event kunwind_unmap of a process that shares memory");
	begin();
	me.mm = NULL;
	maps(__NR_mprotect, AT(1), 0x1000, AT(1), 0x4000, 0);
	tap_ok(dead() == 2 && !nr_queued && kunwind_space_dirty(space),
	       "mapping in another process's mm: its range is dead, the caller does not read it");
	me.mm = &mm;
	end("mapping in another process's mm");
	begin();
	returns();
	tap_ok(!reads, "unchanged mappings: they are not read");
	maps(__NR_mmap, AT(5), 0x1000, AT(5), 0x1000, VM_EXEC);
	me.prio = 50;
	tap_ok(!kunwind_mm_hooks_max_wait(), "real-time task: it does not wait for tables");
	me.prio = 120;
	returns();
	tap_ok(reads == 1 && !forced && kunwind_mm_hooks_max_wait(),
	       "new code: its mapping is read before the task returns to user mode");
	end("new code");
}

/* The task work, and who reads. */
static void test_work(void)
{
	static struct task_struct other;

	begin();
	no_slot = true;
	maps(__NR_mmap, AT(5), 0x1000, AT(5), 0x1000, VM_EXEC);
	returns();
	tap_ok(reads == 1 && !own_works, "no slot for the task's limit: the mappings are read all the same");
	no_slot = false;
	maps(__NR_mmap, AT(6), 0x1000, AT(6), 0x1000, VM_EXEC);
	returns();
	tap_ok(reads == 2 && !own_works, "slot for the task's limit: it is given back");
	maps(__NR_mmap, AT(7), 0x1000, AT(7), 0x1000, VM_EXEC);
	WRITE_ONCE(space->reader, &other);
	returns();
	tap_ok(reads == 3 && space->reader == &other,
	       "task work, another thread's is queued, too: that thread still reads");
	WRITE_ONCE(space->reader, NULL);
	maps(__NR_mmap, AT(8), 0x1000, AT(8), 0x1000, VM_EXEC);
	maps(__NR_mmap, AT(9), 0x1000, AT(9), 0x1000, VM_EXEC);
	tap_ok(nr_queued == 1 && space->reader == &me, "two mappings in one system call: one task work");
	returns();
	tap_ok(!space->reader, "task work: the next mapping needs another one");
	end("task work");
	begin();
	no_work = true;
	maps(__NR_mmap, AT(5), 0x1000, AT(5), 0x1000, VM_EXEC);
	tap_ok(!nr_queued && !space->reader && refcount_read(&space->refs) == 2,
	       "task that exits: nobody is to read the mappings, the space is given back");
	end("task that exits");
	/* A 32-bit call has its arguments in other registers. */
	begin();
	ia32 = true;
	maps(__NR_mprotect, AT(1), 0x1000, AT(0), AT(2) + 0x4000 - AT(0), 0);
	tap_ok(dead() == 7, "32-bit system call: the registers of 64-bit calls do not count");
	end("32-bit system call");
}

/* Returns whether the last read was to read the mapping at @addr. */
static bool is_read(u64 addr)
{
	u32 i;

	for (i = 0; i < was.nr; i++)
		if (was.interval[i].start <= addr && was.interval[i].end > addr)
			return true;
	return false;
}

/* One mremap, as 64-bit and as 32-bit call; it returns @ret. */
static void moves(unsigned long addr, unsigned long old, unsigned long len, unsigned long flags,
		  unsigned long to, unsigned long ret, u32 at_entry, u32 after, const char *what)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		bool at, later;

		begin();
		/* other registers hold an address */
		user_regs = (struct pt_regs){ AT(2), AT(2), AT(2), AT(2), AT(2), AT(2), AT(2), 0, 0 };
		if (i) {
			user_regs.bx = addr;
			user_regs.cx = old;
			user_regs.dx = len;
			user_regs.si = flags;
			user_regs.di = to;
			hook___ia32_sys_mremap(&user_regs);
		} else {
			user_regs.di = addr;
			user_regs.si = old;
			user_regs.dx = len;
			user_regs.r10 = flags;
			user_regs.r8 = to;
			hook___x64_sys_mremap(&user_regs);
		}
		at = dead() == at_entry && nr_queued == 1 && space->moves.nr == 1;
		user_regs.ax = i ? (u32)ret : ret;
		returns();
		later = dead() == after && reads == 1 && !forced && is_read(addr) &&
			/* An error is no address, not even as one of 32 bits. */
			!(IS_ERR_VALUE(ret) && is_read(user_regs.ax));
		tap_ok(at, "%s%s: at its entry, the dead ranges are %x", i ? "32-bit " : "", what, at_entry);
		tap_ok(later,
		       "%s%s: at its end, the dead ranges are %x, and source and destination are read",
		       i ? "32-bit " : "", what, after);
		end(what);
	}
}

static void test_mremap(void)
{
	moves(AT(0), 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1), AT(1), 2, 2,
	       "mremap over another mapping");
	moves(AT(0), 0x1000, 0x1001, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1) - 0x1000, AT(1) - 0x1000, 2, 2,
	      "mremap of a page and one byte");
	moves(AT(0), 0x4000, 0x4000, MREMAP_MAYMOVE, 0, AT(1) + 0x3000, 0, 2,
	       "mremap to an address that the kernel chose");
	moves(AT(0), 0x4000, AT(1) + 0x1000 - AT(0), 0, 0, AT(0), 0, 2, "mremap that grows in place");
	moves(AT(0), 0x4000, 0x1000, 0, 0, AT(0), 0, 0, "mremap that shrinks");
	moves(AT(0), 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1), -ENOMEM, 2, 2,
	       "mremap that fails");
	moves(AT(5), 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1) + 0x3000, AT(1) + 0x3000, 2, 2,
	      "mremap of data over code");
	moves(AT(0) + 0x1000, 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED,
	      AT(0) + 0x2000, AT(0) + 0x2000, 1, 1,
	      "mremap to the page after");
	moves(AT(0) + 0x1000, 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED, AT(0), AT(0), 1, 1,
	      "mremap to the page before");

	begin();
	user_regs = (struct pt_regs){
		.di = AT(0) | 0x5aUL << 56, .si = 0x1000, .dx = 0x1000, .r10 = MREMAP_MAYMOVE, .ax = AT(1),
	};
	hook___x64_sys_mremap(&user_regs);
	tap_ok(nr_queued == 1, "mremap of an address with a tag: the kernel ignores the tag");
	user_regs.ax = AT(1);
	returns();
	tap_ok(dead() == 2 && is_read(AT(0)),
	       "mremap of an address with a tag: source and destination are read");
	end("mremap of an address with a tag");

	begin();
	user_regs = (struct pt_regs){ .bx = AT(0), .cx = 0x1000, .dx = 0x1000, .si = MREMAP_MAYMOVE };
	hook___ia32_sys_mremap(&user_regs);
	user_regs.ax = 0xf0000000;
	returns();
	tap_ok(is_read(0xf0000000) && !is_read(0xfffffffff0000000),
	       "32-bit mremap to above 2 GB: the address is not negative");
	end("32-bit mremap to above 2 GB");

	begin();
	user_regs = (struct pt_regs){ .di = AT(5), .si = 0x1000, .dx = 0x1000, .r10 = MREMAP_MAYMOVE };
	hook___x64_sys_mremap(&user_regs);
	tap_ok(!nr_queued && !space->moves.nr, "mremap of data: the mappings are not read");
	end("mremap of data");
	begin();
	no_memory = 1;
	user_regs = (struct pt_regs){ .di = AT(0), .si = 0x1000, .dx = 0x1000, .r10 = MREMAP_MAYMOVE };
	hook___x64_sys_mremap(&user_regs);
	tap_ok(!kunwind_space_find(&mm) && !module_refs,
	       "mremap without memory for the task work: the space is dropped");
	end("mremap without memory");
	begin();
	no_work = true;
	hook___x64_sys_mremap(&user_regs);
	user_regs = (struct pt_regs){ .di = AT(0), .si = 0x1000, .dx = 0x1000, .r10 = MREMAP_MAYMOVE };
	hook___x64_sys_mremap(&user_regs);
	tap_ok(!kunwind_space_find(&mm) && !space->moves.nr,
	       "mremap whose task work cannot be queued: the space is dropped");
	end("mremap without task work");
}

/* The interval that a read gets is never empty or inverted. */
static void test_overflow(void)
{
	static const struct {
		const char *what;
		unsigned long addr, old, len, ret;
		u64 start, end;		/* an interval that is to be read */
	} cases[] = {
		{ "from an address to the end of all", AT(1), -AT(1), 0x1000, -EFAULT, AT(1), U64_MAX },
		{ "from an address to 0", AT(1), -AT(1) + 0x1000, 0x1000, -EFAULT, AT(1), U64_MAX },
		{ "of the largest length", AT(1), -0x1000UL, 0x1000, -EFAULT, AT(1), U64_MAX },
		{ "of a length that is rounded up to 0", AT(1), ~0UL, 0x1000, -EFAULT, AT(1), AT(1) + 1 },
		{ "whose return value a tracer has set to the last page", AT(1), 0x1000, 0x4000,
		  -0x2000UL, -0x2000UL, U64_MAX },
		{ "from an address to the end of all, whose return value a tracer has set", AT(1), -AT(1),
		  0x1000, AT(1), AT(1), U64_MAX },
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool valid = true, found = false;

		begin();
		user_regs = (struct pt_regs){ .di = cases[i].addr, .si = cases[i].old,
					      .dx = cases[i].len, .r10 = MREMAP_MAYMOVE };
		hook___x64_sys_mremap(&user_regs);
		user_regs.ax = cases[i].ret;
		returns();
		for (j = 0; j < was.nr; j++) {
			valid &= was.interval[j].start < was.interval[j].end;
			found |= was.interval[j].start == cases[i].start &&
				 was.interval[j].end == cases[i].end;
		}
		tap_ok(reads == 1 && valid && found && !dead(), "mremap %s: only its source is read",
		       cases[i].what);
		end(cases[i].what);
	}
}

/* Each of these calls fails in every kernel, whatever is mapped. */
static void test_refused(void)
{
	static const struct { const char *what; unsigned long addr, old, len, flags, to; } cases[] = {
		{ "to no bytes", AT(0), 0x1000, 0, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1) },
		{ "from within a page", AT(0) + 1, 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1) },
		{ "to within a page", AT(0), 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1) + 1 },
		{ "that is fixed and may not move", AT(0), 0x1000, 0x1000, MREMAP_FIXED, AT(1) },
		{ "beyond user memory", AT(0), 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED,
		  TASK_SIZE_MAX },
		{ "around the end", AT(0), 0x1000, ~0xfffUL, MREMAP_MAYMOVE | MREMAP_FIXED, AT(1) },
		{ "over its own source", AT(1), 0x2000, 0x2000, MREMAP_MAYMOVE | MREMAP_FIXED,
		  AT(1) + 0x1000 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		user_regs = (struct pt_regs){ .di = cases[i].addr, .si = cases[i].old, .dx = cases[i].len,
					      .r10 = cases[i].flags, .r8 = cases[i].to };
		hook___x64_sys_mremap(&user_regs);
		tap_ok(!nr_queued && !space->moves.nr && !dead(),
		       "refused mremap %s: no range is dead, no task work is queued",
		       cases[i].what);
		end(cases[i].what);
	}
}

static void test_hooks(void)
{
	static const char *const names[] = {
		"perf_event_mmap", "uprobe_dup_mmap", "uprobe_clear_state", "generic_shutdown_super",
		"__x64_sys_mremap", "__ia32_sys_mremap",
	};
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		for (n = 0; n < ARRAY_SIZE(hooks) && strcmp(hooks[n].function, names[i]); n++)
			;
		tap_ok(n < ARRAY_SIZE(hooks), "hook on %s: it is in the list of hooks", names[i]);
	}
	begin();
	kunwind_mm_hooks_queue(&me, READ_EXEC);
	space->fresh = true;
	returns();
	tap_ok(!space->fresh && reads == 1, "exec: the space is not fresh after its mappings are read");
	end("exec");
}

int main(void)
{
	kunwind_space_init();
	test_mprotect();
	test_work();
	test_mremap();
	test_overflow();
	test_refused();
	test_hooks();
	return tap_done();
}
