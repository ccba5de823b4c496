/* SPDX-License-Identifier: MIT */
/*
 * read-mappings-test.c - reading an address space's mappings into a snapshot:
 * which are code, which keep their object, which belong to a JIT
 */
#include "mappings-scene.h"

/* ------------------------------------------------------------------- tests */

static void test_mappings(void)
{
	begin();
	map(AT(0), 0x4000, VM_EXEC, &files[0], 3);
	map(AT(1), 0x4000, 0, &files[1], 0);
	map(AT(2), 0x2000, VM_EXEC, NULL, AT(2) >> 12);
	map_vdso();
	tap_ok(!reads(false) && !kunwind_space_dirty(space) && of(space)->nr == 3,
	       "mappings: those of code are known, those of data are not");
	tap_ok(is(0, AT(0), 0x4000, &objects[0], 0x3000) && range(0)->table &&
	       range(0)->bias == AT(0) - 0x3000,
	       "mappings: the offset in the file is in bytes");
	tap_ok(is(1, AT(2), 0x2000, &kunwind_object_anonymous, 0) && range(1)->reason == KUNWIND_NO_OBJECT,
	       "mappings: anonymous memory has no object");
	tap_ok(is(2, AT(9), 0x2000, &vdso_object, 0), "mappings: the vDSO has its own object");
	tap_ok(kunwind_space_maps(space) == of(space)->nr - 1,
	       "mappings: those that have an object are counted");
	tap_ok(space->ranges->entry_sp == 0x7ffe1234,
	       "mappings: the stack pointer at the program's entry is known");
	tap_ok(space->ranges->entry == 0x401000 && space->ranges->interpreter == 0x7f0000000000,
	       "mappings: the entry points of program and interpreter are known");
	tap_ok(told == 2, "mappings: each one with a name emits kunwind_map");
	reads(true);
	tap_ok(told == 2 && looked_up == 1, "mappings: a second read emits nothing and looks no file up");
	/* the program unmaps the vDSO, and makes code of its own there */
	vmas[3].vm_ops = NULL;
	kunwind_space_mapped(space, AT(9), AT(9) + 0x2000, 0, true);
	reads(false);
	tap_ok(is(2, AT(9), 0x2000, &kunwind_object_anonymous, 0) && !range(2)->table,
	       "mappings: memory at the address of the former vDSO has no object");
	/* prctl(PR_SET_MM) */
	mm.saved_auxv[3] += 0x1000;
	reads(true);
	tap_ok(space->ranges->interpreter == 0x7f0000001000,
	       "mappings: a new address of the interpreter is known, though no mapping has changed");
	mm.saved_auxv[5] += 0x1000;
	reads(true);
	tap_ok(space->ranges->entry == 0x402000, "mappings: so is a new entry point");
	mm.start_stack += 0x1000;
	reads(true);
	tap_ok(space->ranges->entry_sp == 0x7ffe2234, "mappings: so is a new stack pointer at the entry");
	/* linked statically; what follows the end is of an earlier program */
	memcpy(mm.saved_auxv, (const unsigned long[]){ 33, 0x7ffe5000, AT_ENTRY, 0x500000, AT_NULL, 0,
						       AT_BASE, 0x7f0000000000, AT_ENTRY, 0x401000 },
	       10 * sizeof(unsigned long));
	reads(true);
	tap_ok(space->ranges->entry == 0x500000 && !space->ranges->interpreter,
	       "mappings of a static program: no interpreter, and nothing after the end of the vector");
	end("mappings");
	/* special mappings that are not the vDSO: its data, a program's hooks */
	begin();
	map(AT(8), 0x2000, VM_EXEC, NULL, 0);
	vmas[0].vm_ops = "special";
	map_vdso();
	tap_ok(!reads(false) && is(0, AT(8), 0x2000, &kunwind_object_anonymous, 0) &&
	       is(1, AT(9), 0x2000, &vdso_object, 0), "mappings: another special mapping is not the vDSO");
	end("special mappings");
}

/* Returns whether the name of range @n is @path; NULL: it has no name. */
static bool called(const struct kunwind_space *by, u32 n, const char *path)
{
	const struct kunwind_name *name = DETAIL(of(by), n).name;

	return path ? name && !strcmp(name->path, path) : !name;
}

static void test_names(void)
{
	static struct mm_struct other_mm;
	struct file elsewhere = files[0];
	static char path[PATH_MAX];
	static struct file several[10];
	unsigned int i;
	struct kunwind_space *other;
	struct kunwind_snapshot *old;

	begin();
	map(AT(0), 0x1000, VM_EXEC, &files[0], 0);
	map(AT(1), 0x1000, VM_EXEC, &files[0], 4);
	map(AT(2), 0x1000, VM_EXEC, &files[1], 0);
	map(AT(3), 0x1000, VM_EXEC, NULL, 0);
	map_vdso();
	files[1].path = "/usr/lib/y";
	reads(false);
	tap_ok(called(space, 0, "/usr/lib/x") && called(space, 2, "/usr/lib/y") && called(space, 3, NULL) &&
	       called(space, 4, NULL), "names: each file has its own name, anonymous memory has none");
	tap_ok(detail(0)->name == detail(1)->name && refcount_read(&detail(0)->name->refs) == 2 && named >= 3,
	       "names: mappings of one file share a name");
	tap_ok(detail(0)->name->quota == &user &&
	       user.bytes == (s64)(kunwind_snapshot_bytes() + detail(0)->name->size +
				   detail(2)->name->size),
	       "names: their memory is charged to the process's user");
	files[0].path = "/renamed";
	old = of(space);
	reads(true);
	tap_ok(of(space) == old && called(space, 0, "/usr/lib/x"),
	       "names: a known mapping keeps its name");

	/* another process maps the same file under another path */
	elsewhere = files[0];
	elsewhere.path = "/opt/v/prog";
	me.mm = &other_mm;
	other_mm.users = 1;
	other = kunwind_space_link(&other_mm, 101, true, false, GFP_KERNEL);
	vmas[0].vm_file = &elsewhere;
	nr_vmas = 1;
	kunwind_space_read_mappings(other, &other_mm, false, 0, false);
	tap_ok(called(other, 0, "/opt/v/prog") && called(space, 0, "/usr/lib/x") &&
	       DETAIL(of(other), 0).object == &objects[0],
	       "names: each process has its own name of an object");
	kunwind_space_unlink(other, 101, true);

	me.mm = &mm;
	kunwind_space_mapped(space, AT(0), AT(0) + 0x1000, 0, true);
	no_room = 1;		/* the name, and then the list */
	reads(false);
	tap_ok(called(space, 0, NULL),
	       "names: without memory a mapping has no name");
	reads(true);
	tap_ok(called(space, 0, "/opt/v/prog"), "names: the next read sets a missing name");
	kunwind_space_mapped(space, AT(0), AT(0) + 0x1000, 0, true);
	no_room = 1;
	reads(false);
	reads(true);
	tap_ok(called(space, 0, "/opt/v/prog"), "names: also if nothing else has changed");
	end("names");

	/* memory of a name: its own size, and a page for a long path */
	begin();
	memset(path, 'x', sizeof(path) - 1);
	map(AT(0), 0x1000, VM_EXEC, &files[0], 0);
	map(AT(1), 0x1000, VM_EXEC, &files[1], 0);
	files[1].path = path;
	paths = 0;
	reads(false);
	tap_ok(called(space, 0, "/usr/lib/x") && called(space, 1, path) && paths == 3,
	       "names: a long path is read twice, and is complete");
	end("long names");

	begin();
	for (i = 0; i < 30; i++)
		map(AT(i), 0x1000, VM_EXEC, &files[i % 3], i);
	for (; i < 40; i++) {
		several[i - 30] = files[3];
		map(AT(i), 0x1000, VM_EXEC, &several[i - 30], i);
	}
	map(AT(i), 0x1000, VM_EXEC, &files[0], i);
	mm.context.vdso = NULL;
	reads(false);
	/* again, with room for all at once */
	kunwind_space_mapped(space, 0, AT(50), 0, true);
	paths = 0;
	reads(false);
	tap_ok(detail(0)->name == detail(27)->name && detail(1)->name == detail(28)->name,
	       "names: files whose mappings alternate have one name each");
	tap_ok(paths == 3 + 10 + 1 && called(space, 40, "/usr/lib/x"),
	       "names: a file gets a second name after the names of many others");
	end("alternating names");
}

static void test_known(void)
{
	const struct kunwind_ranges *before;

	begin();
	map(AT(0), 0x4000, VM_EXEC, &files[0], 0);
	map(AT(1), 0x4000, VM_EXEC, &files[1], 0);
	reads(false);
	before = space->ranges;
	reads(true);
	tap_ok(space->ranges == before && looked_up == 2,
	       "known mappings: an unchanged snapshot stays in use");
	tap_ok(offered == 2, "known mappings: each read adds a build request of the process's user");
	map(AT(2), 0x4000, VM_EXEC, &files[2], 0);
	kunwind_space_mapped(space, AT(2), AT(2) + 0x4000, 0, true);
	reads(false);
	tap_ok(space->ranges != before && of(space)->nr == 3 && looked_up == 3 && told == 3,
	       "known mappings: the others keep their objects after a new mapping");
	/*
	 * the file has changed: mapped again, it is another object of the same
	 * inode
	 */
	objects[3].key.ino = objects[0].key.ino;
	files[0].object = &objects[3];
	kunwind_space_mapped(space, AT(0), AT(0) + 0x4000, 0, true);
	reads(false);
	tap_ok(is(0, AT(0), 0x4000, &objects[3], 0) && !range(0)->dead &&
	       is(1, AT(1), 0x4000, &objects[1], 0),
	       "known mappings: the file of a replaced mapping is looked up again");
	files[1].object = &objects[2];
	reads(true);
	tap_ok(is(1, AT(1), 0x4000, &objects[2], 0), "known mappings: another file is another object");
	vmas[2].vm_pgoff = 1;
	reads(true);
	tap_ok(is(2, AT(2), 0x4000, &objects[2], 0x1000),
	       "known mappings: another part of the file has another offset");
	end("known mappings");
}

static void test_jit(void)
{
	begin();
	map(AT(0), 0x8000, VM_EXEC, NULL, 0);
	map(AT(1), 0x2000, 0, NULL, 0);
	map(AT(2), 0x2000, VM_EXEC, &files[0], 0);
	map(AT(3), 0x2000, VM_EXEC, &memfd, 2);
	map_vdso();
	reads(false);
	tap_ok(!change(AT(0) + 0x100, 0x300, &jits[0]) && is(0, AT(0), 0x100, &kunwind_object_anonymous, 0) &&
	       is(1, AT(0) + 0x100, 0x300, &jits[0], 0) && !range(1)->bias && range(1)->table &&
	       is(2, AT(0) + 0x400, 0x7c00, &kunwind_object_anonymous, 0),
	       "JIT code: accepted for a part of a mapping");
	tap_ok(!change(AT(0) + 0x400, 0x100, &jits[1]) && is(2, AT(0) + 0x400, 0x100, &jits[1], 0),
	       "JIT code: accepted directly after other JIT code");
	tap_ok(change(AT(0) + 0x3ff, 1, &jits[2]) == -EEXIST && change(AT(0), 0x101, &jits[2]) == -EEXIST,
	       "JIT code: refused for code that has unwind information");
	tap_ok(change(AT(1), 0x100, &jits[2]) == -EFAULT, "JIT code: refused for data");
	tap_ok(change(AT(0) + 0x7000, 0x2000, &jits[2]) == -EFAULT && change(AT(5), 1, &jits[2]) == -EFAULT,
	       "JIT code: refused beyond the end of the mapping");
	tap_ok(change(AT(2), 0x100, &jits[2]) == -EEXIST, "JIT code: refused for a file's code");
	tap_ok(change(AT(9), 0x100, &jits[2]) == -EEXIST, "JIT code: refused for the vDSO");
	tap_ok(!change(AT(3) + 0x10, 0x10, &jits[2]) && !change(AT(3) + 0x10, 0x10, NULL),
	       "JIT code: accepted for a memfd");
	reads(true);
	tap_ok(is(1, AT(0) + 0x100, 0x300, &jits[0], 0) && is(2, AT(0) + 0x400, 0x100, &jits[1], 0) &&
	       refcount_read(&jits[0].users) >= 2, "JIT code: kept when the mappings are read again");
	tap_ok(change(AT(0) + 0x100, 0x200, NULL) == -ENOENT &&
	       change(AT(0) + 0x200, 0x200, NULL) == -ENOENT &&
	       change(AT(0) + 0x100, 0x301, NULL) == -ENOENT && change(AT(0) + 0x800, 0x10, NULL) == -ENOENT,
	       "JIT code: removed only for exactly the range that was added");
	tap_ok(!change(AT(0) + 0x100, 0x300, NULL) && is(0, AT(0), 0x400, &kunwind_object_anonymous, 0) &&
	       is(1, AT(0) + 0x400, 0x100, &jits[1], 0), "JIT code: removed on request");
	kunwind_space_mapped(space, AT(0), AT(0) + 0x1000, 0, true);
	reads(false);
	tap_ok(is(0, AT(0), 0x8000, &kunwind_object_anonymous, 0),
	       "JIT code: dropped when another mapping replaces it");
	end("JIT code");
}

static void test_jit_killed(void)
{
	begin();
	map(AT(0), 0x8000, VM_EXEC, NULL, 0);
	reads(false);
	locks_until_killed = 1;
	tap_ok(change(AT(0), 0x300, &jits[0]) == -EINTR && of(space)->nr == 1,
	       "JIT code, error before the change: returned, no range is added");
	locks_until_killed = 2;
	tap_ok(!change(AT(0), 0x300, &jits[0]) && is(0, AT(0), 0x300, &jits[0], 0),
	       "JIT code, error after the change: success, because the range is there");
	locks_until_killed = 0;
	end("JIT code, killed task");
}

static void test_limit(void)
{
	unsigned int i;

	begin();
	max_ranges = 10;
	for (i = 0; i < 30; i++)
		map(AT(20 + i), 0x1000, VM_EXEC, &files[i % 4], 0);
	tap_ok(!reads(false) && of(space)->nr == 10 && is(9, AT(29), 0x1000, &objects[1], 0),
	       "max_ranges: the first mappings are known, the others are not");
	map(AT(60), 0x1000, VM_EXEC, NULL, 0);
	tap_ok(change(AT(60), 0x100, &jits[0]) == -ENOSPC, "max_ranges: JIT code beyond it is refused");
	max_ranges = 1000;
	tap_ok(!reads(true) && of(space)->nr == 31,
	       "max_ranges: all mappings are known after it is raised");
	end("max_ranges");
}

static void test_moves(void)
{
	begin();
	map(AT(0), 0x2000, VM_EXEC, &files[0], 0);
	map(AT(1), 0x2000, VM_EXEC, &files[1], 0);
	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, AT(1), AT(1) + 0x1000);
	reads(false);
	tap_ok(usable(0) && !usable(1),
	       "mremap: a mapping that is read in its destination is doubted");
	kunwind_space_end_move(space);
	reads(true);
	tap_ok(usable(1), "mremap: a read after its end makes the mapping valid");
	end("mremap");
}

/* Two threads move mappings below and above others that stay. */
static void test_moves_around(void)
{
	const struct kunwind_name *name;

	begin();
	map(AT(0), 0x2000, VM_EXEC, &files[0], 0);
	map(AT(1), 0x8000, VM_EXEC, NULL, 0);
	map(AT(2), 0x2000, VM_EXEC, &files[1], 0);
	reads(false);
	change(AT(1) + 0x100, 0x300, &jits[0]);
	name = detail(4)->name;
	looked_up = told = 0;
	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, AT(0), AT(0) + 0x1000);
	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, AT(5), AT(5) + 0x1000);
	map(AT(7), 0x1000, VM_EXEC, &files[2], 0);
	reads(true);
	tap_ok(is(2, AT(1) + 0x100, 0x300, &jits[0], 0) && !usable(2) && !usable(4),
	       "two mremaps: JIT code between their destinations is doubted");
	tap_ok(change(AT(1) + 0x100, 0x10, &jits[1]) == -EEXIST,
	       "two mremaps: doubted JIT code is still known");
	kunwind_space_end_move(space);
	reads(true);
	kunwind_space_end_move(space);
	tap_ok(kunwind_space_dirty(space), "two mremaps: the mappings must be read after both have ended");
	reads(false);
	tap_ok(is(2, AT(1) + 0x100, 0x300, &jits[0], 0) && usable(2),
	       "two mremaps: JIT code between them is valid after both have ended");
	tap_ok(detail(4)->name == name && usable(4) && looked_up == 1 && told == 1,
	       "two mremaps: a file between them is not looked up or announced again");
	end("two mremaps");
}

static unsigned int allocations;
static void moves_over(void)
{
	allocations = allocated.nr;
	kunwind_space_mapped(space, AT(0), AT(0) + 0x1000, 0, true);
	allocations = allocated.nr - allocations;
}

static struct mm_struct child_mm;
static void moves_over_without_memory(void)
{
	no_memory = 1;
	moves_over();
}

static void test_meanwhile(void)
{
	begin();
	map(AT(0), 0x2000, VM_EXEC, NULL, 0);
	map(AT(1), 0x2000, VM_EXEC, NULL, 0);
	reads(false);
	change(AT(0), 0x300, &jits[0]);
	change(AT(1), 0x300, &jits[1]);
	map(AT(2), 0x1000, VM_EXEC, &files[0], 0);
	map(AT(3), 0x1000, VM_EXEC, NULL, 0);
	reads(true);
	kunwind_space_mapped(space, AT(3), AT(3) + 0x1000, 0, true);
	meanwhile = moves_over;
	reads(true);
	tap_ok(range(0)->dead && !range(2)->dead && kunwind_space_dirty(space),
	       "mapping replaced during a read: its range is dead");
	tap_ok(range(5)->start == AT(3) && usable(5),
	       "mapping replaced before a read: its range is not");
	tap_ok(!allocations, "mapping replaced during a read: this needs no memory");
	reads(false);
	tap_ok(is(0, AT(0), 0x2000, &kunwind_object_anonymous, 0) && is(1, AT(1), 0x300, &jits[1], 0),
	       "mapping replaced during a read: its JIT code is dropped");
	/* A child has the same snapshot. */
	under_mmap_lock(&mm, kunwind_space_dup(&mm, &child_mm));
	meanwhile = moves_over_without_memory;
	tap_ok(reads(true) == -ENOMEM && !space->ranges && kunwind_space_dirty(space),
	       "mapping replaced during a read, no memory for a copy: nothing is known");
	tap_ok(!reads(false) && is(0, AT(0), 0x2000, &kunwind_object_anonymous, 0),
	       "mapping replaced during a read, no memory: the next read finds all mappings");
	kunwind_space_forget(&child_mm);
	under_mmap_lock(&mm, kunwind_space_dup(&mm, &child_mm));
	meanwhile = moves_over_without_memory;
	tap_ok(!change(AT(1), 0x300, &jits[2]) && is(1, AT(1), 0x300, &jits[2], 0),
	       "mapping replaced during a read, no memory: JIT code that is being added is kept");
	kunwind_space_forget(&child_mm);
	end("mapping replaced during a read");
}

int main(void)
{
	kunwind_space_init();
	test_mappings();
	test_names();
	test_known();
	test_jit();
	test_jit_killed();
	test_limit();
	test_moves();
	test_moves_around();
	test_meanwhile();
	return tap_done();
}
