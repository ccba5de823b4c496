/* SPDX-License-Identifier: MIT */
/*
 * mappings-scene.h - for tests of read_mappings.c: includes it, and has a process
 * with mappings, files and JIT code
 */
#ifndef _TEST_MAPPINGS_SCENE_H
#define _TEST_MAPPINGS_SCENE_H

#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

/* Runs once while mappings are read. */
static void (*meanwhile)(void);
static void happens(void)
{
	void (*what)(void) = meanwhile;

	meanwhile = NULL;
	if (what)
		what();
}
#undef cond_resched
#define cond_resched()		happens()

#define VM_EXEC		4
struct super_block { unsigned long s_magic; };
struct inode { struct super_block *i_sb; unsigned int i_nlink; };
struct file { struct inode *inode; struct kunwind_object *object; const char *path; };
#define file_inode(file)	((file)->inode)
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
	struct mm_struct *vm_mm;
	const char *vm_ops;		/* of a file, or of a mapping of the kernel, like the vDSO */
};

#ifndef MOST
#define MOST	64
#endif
static struct vm_area_struct vmas[MOST];
static unsigned int nr_vmas;
static bool mmap_taken, killed;
static unsigned long waited;
static const unsigned long auxv[] = { 33, 0x7ffe5000, 7, 0x7f0000000000, 9, 0x401000, 0, 0 };
static struct mm_struct mm;	/* one user, if nobody keeps its mappings alive */
static bool kept;		/* somebody did while it waited */

static unsigned int first_vma(unsigned long addr)
{
	unsigned int i = 0;

	while (i < nr_vmas && vmas[i].vm_end <= addr)
		i++;
	return i;
}
#define VMA_ITERATOR(name, mm, addr)	unsigned int name = first_vma(addr)
static unsigned int seen;		/* by reads of mappings */
#define for_each_vma(vmi, vma)		for (; (vmi) < nr_vmas && ((vma) = &vmas[vmi], ++seen); (vmi)++)
static struct vm_area_struct *find_vma(struct mm_struct *mm, u64 at)
{
	unsigned int i;

	(void)mm;
	for (i = 0; i < nr_vmas; i++)
		if (at < vmas[i].vm_end)
			return &vmas[i];
	return NULL;
}
static int mmap_read_lock_killable(struct mm_struct *mm)
{
	might_sleep();
	hold(&mm->mmap_lock, "mmap_lock", false);
	mm->mmap_lock++;
	return 0;
}
static bool mmap_read_trylock(struct mm_struct *mm)
{
	if (mmap_taken)
		return false;
	hold(&mm->mmap_lock, "mmap_lock", true);
	return ++mm->mmap_lock;
}
static void mmap_read_unlock(struct mm_struct *mm)
{
	unhold(&mm->mmap_lock, "mmap_lock");
	mm->mmap_lock--;
}
static unsigned int locks_until_killed;	/* 0: no end */
static int lock_or_be_killed(struct mutex *mutex)
{
	might_sleep();
	if (locks_until_killed && !--locks_until_killed)
		return -EINTR;
	return mutex_trylock(mutex) ? 0 : -EINTR;
}
#define mutex_lock_killable	lock_or_be_killed
static void (*during_wait)(void);	/* runs once */
static long wait_for_completion_killable_timeout(struct completion *done, long timeout)
{
	void (*what)(void) = during_wait;

	during_wait = NULL;
	if (what)
		what();
	if (killed)
		return -EINTR;
	if (done->done)
		return timeout;
	kept |= mm.users > 1;
	waited += timeout;
	return 0;
}

static void sleeps(unsigned long time)
{
	kept |= mm.users > 1;
	schedule_timeout_killable(time);
}
#define schedule_timeout_killable	sleeps

#define _KUNWIND_COMPAT_MM_H
#define kunwind_file_path(file)		(file)
static unsigned int paths;		/* asked for */
static char *d_path(const struct file *file, char *buf, int size)
{
	int len = strlen(file->path) + 1;

	paths++;
	return len > size ? ERR_PTR(-ENAMETOOLONG) : memcpy(buf + size - len, file->path, len);
}

#define _KUNWIND_EVENTS_H
#define _KUNWIND_MAP_EVENT_H
#include "../../kmod/object/object.h"
#include "../../kmod/base/memory_limit.h"
#include "../../kmod/space/snapshot.h"

static unsigned int told;
static u64 told_start, told_bias;
static void kunwind_trace_map(pid_t tgid, const struct kunwind_range *range,
			      const struct kunwind_detail *detail)
{
	(void)tgid, (void)detail;
	emits();
	told++;
	told_start = range->start;
	told_bias = range->bias;
}

#define _KUNWIND_ENABLED_H
static bool kunwind_enabled = true;

#include "../../kmod/object/name.c"
#include "../../kmod/space/snapshot.c"
#include "../../kmod/space/reap.c"
#include "../../kmod/space/invalidate.c"
#include "../../kmod/space/space.c"
#include "../../kmod/space/changed.c"
#include "../../kmod/space/splice.c"
#include "../../kmod/space/read_mappings.c"
#include "../../kmod/space/update.c"
#include "snapshot.h"

/* ----------------------------------------- what these files need of others */

struct kunwind_quota { int refs; s64 bytes; };
static struct kunwind_quota user = { .refs = 1 };
static bool hangs;
static unsigned int looked_up, offered, stalled, named;
static unsigned int no_room;		/* this charge is refused, counted from 1 */
static struct kunwind_object vdso_object, stale_object, *also_stale;

struct kunwind_object kunwind_object_anonymous = {
	.users = REFCOUNT_INIT(1), .state = KUNWIND_OBJECT_NO_CFI, .build_error = KUNWIND_E_NO_CFI,
};

void kunwind_object_put(struct kunwind_object *object)
{
	if (refcount_dec_and_test(&object->users))
		abort();
}
struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_quota *quota,
					       struct mm_struct *of)
{
	(void)quota;
	looked_up++;
	return kunwind_object_get(file->object);
}
struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image)
{
	(void)image;
	return kunwind_object_get(&vdso_object);
}
void kunwind_object_set_name(struct kunwind_object *object, struct kunwind_name *name)
{
	(void)object;
	named += name->quota == &user;
}
bool kunwind_object_key_matches(const struct kunwind_object *object, const struct file *file)
{
	return object->key.ino == file->object->key.ino;
}
void kunwind_object_offer(struct kunwind_object *object, struct kunwind_quota *quota,
			  struct file *file)
{
	offered += file && object == file->object && quota == &user;
}
bool kunwind_object_cache_stale(const struct kunwind_object *object,
				const struct kunwind_quota *quota)
{
	(void)quota;
	return object == &stale_object || (also_stale && object == also_stale);
}
void kunwind_result_listen(const struct kunwind_result_listener *listener) { (void)listener; }
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	(void)object;
	return KUNWIND_NO_TABLE;
}
int kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes) { quota->bytes += bytes; return 0; }
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes) { quota->bytes -= bytes; }
void kunwind_memory_refused(void) { }
int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	return no_room && !--no_room ? -EDQUOT : kunwind_memory_charge(quota, bytes);
}
#include "memory.h"
struct kunwind_quota *kunwind_quota_get(struct kunwind_quota *quota) { quota->refs++; return quota; }
static bool mappings_locked(void);
static unsigned int freed_locked;	/* snapshots, chunks and names, while mmap_lock was held */
void kunwind_quota_put(struct kunwind_quota *quota) { freed_locked += mappings_locked(); quota->refs--; }
struct kunwind_quota *kunwind_quota_of(struct mm_struct *mm) { (void)mm; return kunwind_quota_get(&user); }
bool kunwind_source_stalls(const struct kunwind_object *object) { (void)object; return hangs; }
void kunwind_source_stalled(struct kunwind_object *object) { (void)object; stalled++; }

/* --------------------------------------------------------------- the scene */

#define AT(n)	(0x100000UL * ((n) + 1))

static struct super_block disk = { 0xef53 }, memory = { TMPFS_MAGIC };
static struct inode inode = { &disk, 1 }, memfd_inode = { &memory, 0 };
static struct kunwind_object objects[4], jits[3];
static struct file files[4], memfd;
static struct task_struct me = { .mm = &mm };
static struct kunwind_space *space;

static bool mappings_locked(void) { return mm.mmap_lock; }

static void object_init(struct kunwind_object *object, u64 ino)
{
	memset(object, 0, sizeof(*object));
	refcount_set(&object->users, 1);
	object->state = KUNWIND_OBJECT_READY;
	object->table = (struct kunwind_table *)object;
	object->key.ino = ino;
	object->key.dev = 1;
	object->has_elf = true;
	object->elf.nr_loads = 1;
	object->elf.load[0] = (struct kunwind_elf_load){ .filesz = 1UL << 40, .flags = 1 };
}

static void map(unsigned long start, unsigned long len, unsigned long flags, struct file *file,
		unsigned long pgoff)
{
	vmas[nr_vmas++] = (struct vm_area_struct){ start, start + len, flags, pgoff, file, &mm, false };
}

static void map_vdso(void)
{
	map(AT(9), 0x2000, VM_EXEC, NULL, 0);
	vmas[nr_vmas - 1].vm_ops = "special";
}

static void begin(void)
{
	unsigned int i;

	current = &me;
	me.mm = &mm;
	for (i = 0; i < 4; i++) {
		object_init(&objects[i], 10 + i);
		files[i] = (struct file){ &inode, &objects[i], "/usr/lib/x" };
	}
	memfd = (struct file){ &memfd_inode, &objects[3], "/memfd:x (deleted)" };
	object_init(&vdso_object, 1);
	vdso_object.key.dev = 0;
	for (i = 0; i < 3; i++) {
		object_init(&jits[i], 0);
		jits[i].key.dev = 0;
		jits[i].has_elf = false;
		jits[i].jit = true;
	}
	nr_vmas = 0;
	looked_up = offered = stalled = told = named = 0;
	waited = 0;
	mmap_taken = killed = hangs = kept = false;
	mm.users = 1;
	kunwind_enabled = true;
	max_ranges = 16384;
	mm.start_stack = 0x7ffe1234;
	memcpy(mm.saved_auxv, auxv, sizeof(auxv));
	mm.context.vdso = (void *)AT(9);
	mm.context.vdso_image = (const struct vdso_image *)&mm;
	space = kunwind_space_link(&mm, 100, true, false, GFP_KERNEL);
}

static void end(const char *what)
{
	bool good = true;
	unsigned int i;

	kunwind_space_unlink(space, 100, true);
	for (i = 0; i < 10 && !llist_empty(&reaped); i++)
		flush_delayed_work(&reap_work);
	for (i = 0; i < 4; i++)
		good &= refcount_read(&objects[i].users) == 1;
	for (i = 0; i < 3; i++)
		good &= refcount_read(&jits[i].users) == 1;
	good &= !nr_of_kvmalloc;
	tap_ok(good && user.refs == 1 && !user.bytes && !mm.mmap_lock && !mm.grabbed && mm.users < 2 &&
	       refcount_read(&vdso_object.users) == 1 &&
	       refcount_read(&kunwind_object_anonymous.users) == 1,
	       "%s: all references, locks and memory are released", what);
}

static int reads(bool force) { return kunwind_space_read_mappings(space, &mm, force, 100, false); }
static struct kunwind_range *range(u32 n) { return range_at(of(space), n, NULL); }
static struct kunwind_detail *detail(u32 n) { return detail_at(of(space), n); }
static bool is(u32 n, u64 start, u64 len, struct kunwind_object *object, u64 offset)
{
	return of(space)->nr > n && range(n)->start == start && range(n)->end == start + len &&
	       detail(n)->object == object && detail(n)->offset == offset;
}
static int change(u64 start, u64 len, struct kunwind_object *object)
{
	return kunwind_space_change(space, &mm, &(struct kunwind_change){ start, start + len, object });
}

/* Returns whether walks use the range. */
static bool usable(u32 n) { return kunwind_range_is_usable(space->ranges, range(n)); }

#endif /* _TEST_MAPPINGS_SCENE_H */
