/* SPDX-License-Identifier: MIT */
/*
 * original-test.c - the bytes under breakpoints: which are learned from the
 * file's page, which are not, and what the caller gets
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define PAGE_MASK	(~(u64)(PAGE_SIZE - 1))
#define VM_EXEC		4

struct page { u8 *bytes; bool uptodate; int refs; };
struct address_space { struct page *page; };
struct file { struct address_space *f_mapping; };
struct vm_area_struct { u64 vm_start, vm_end, vm_flags; struct file *vm_file; };

static u8 file_bytes[PAGE_SIZE], bytes[2 * PAGE_SIZE] __attribute__((aligned(4096)));
static struct page file_page_0 = { file_bytes, true, 0 };
static struct address_space mapping = { &file_page_0 };
static struct file code_file = { .f_mapping = &mapping };
static struct vm_area_struct area;
static size_t readable;		/* bytes of the process's page */

static struct vm_area_struct *find_vma(struct mm_struct *mm, u64 at)
{
	return at < area.vm_end ? &area : NULL;
}

static bool is_vm_hugetlb_page(struct vm_area_struct *vma) { return false; }
static u64 linear_page_index(struct vm_area_struct *vma, u64 addr) { return 0; }
static struct page *find_get_page(struct address_space *m, u64 index)
{
	if (m->page)
		m->page->refs++;
	return m->page;
}
static bool PageUptodate(struct page *page) { return page->uptodate; }
static void put_page(struct page *page) { page->refs--; }
static const u8 *kmap_local_page(struct page *page) { return page->bytes; }
static void kunmap_local(const u8 *at) { }
static void get_random_bytes(void *to, size_t size) { memset(to, 0x5a, size); }
static long copy_from_user_nofault(void *to, const void *from, size_t size)
{
	if ((u64)from - (u64)bytes + size > readable)
		return -EFAULT;
	memcpy(to, from, size);
	return 0;
}

#include "../../kmod/deps/kernel/original.c"
#include "../../kmod/stack/breakpoint.c"

/* -------------------------------------------------------------------- tests */

#define ID	7
static u64 base;

/* A page of code, equal in file and memory; nothing is known. */
static void begin(void)
{
	size_t i;

	memset(originals, 0, sizeof(originals));
	for (i = 0; i < PAGE_SIZE; i++)
		file_bytes[i] = (u8)(i % 0x60);
	memcpy(bytes, file_bytes, PAGE_SIZE);
	base = (u64)bytes;
	readable = PAGE_SIZE;
	area = (struct vm_area_struct){ base, base + PAGE_SIZE, VM_EXEC, &code_file };
	file_page_0 = (struct page){ file_bytes, true, 0 };
	mapping.page = &file_page_0;
}

static bool learn(size_t at) { return kunwind_breakpoint_learn(NULL, ID, base + at); }

static int found(size_t at)
{
	u8 byte;

	return kunwind_original_find(ID, base + at, &byte) ? byte : -1;
}

static void test_learned(void)
{
	begin();
	bytes[100] = bytes[200] = BREAKPOINT;
	tap_ok(found(100) == -1, "before learning: no byte is known");
	tap_ok(learn(100), "breakpoint in unchanged code: reported as known");
	tap_ok(found(100) == file_bytes[100], "breakpoint in unchanged code: byte of the file");
	tap_ok(found(200) == file_bytes[200], "other breakpoint of the page: byte of the file");
	tap_ok(found(101) == -1, "address without a breakpoint: not known");
	tap_ok(file_page_0.refs == 0, "the file's page: reference is dropped");
}

/*
 * If a failure were not reported, the task could repeat the request, and pay for
 * a comparison of pages, in each jiffy.
 */
static void test_in_vain(void)
{
	begin();
	bytes[100] = BREAKPOINT;
	bytes[104] ^= 1;
	tap_ok(!learn(100), "other code was written around the breakpoint: reported as not known");
	tap_ok(found(100) == -1, "other code was written around the breakpoint: not known");

	begin();
	tap_ok(!learn(100), "the breakpoint has gone: reported as not known");

	begin();
	bytes[100] = BREAKPOINT;
	area.vm_file = NULL;
	tap_ok(!learn(100), "anonymous memory: reported as not known");
	area.vm_file = &code_file;
	area.vm_flags = 0;
	tap_ok(!learn(100), "mapping that is not executable: reported as not known");
	area.vm_flags = VM_EXEC;
	area.vm_start = base + 128;
	tap_ok(!learn(100), "address below the next mapping: reported as not known");
	area.vm_start = base;
	file_page_0.uptodate = false;
	tap_ok(!learn(100), "the file's page is not read yet: reported as not known");
	mapping.page = NULL;
	tap_ok(!learn(100), "the file's page is not in memory: reported as not known");
	tap_ok(file_page_0.refs == 0, "the file's page: reference is dropped after a failure");
}

/* How far from the breakpoint other code matters, and where the bytes looked at end. */
static void test_around(void)
{
	static const struct { size_t at, other; bool known; } of[] = {
		{ 96, 95, false }, { 96, 80, false }, { 96, 79, true },
		{ 96, 97, false }, { 96, 111, false }, { 96, 112, true },
		/* STRETCH bytes are compared with each other: 64 to 127 */
		{ 64, 65, false }, { 64, 63, true }, { 70, 64, false }, { 70, 63, true },
		{ 127, 126, false }, { 127, 128, true }, { 120, 127, false },
		{ PAGE_SIZE - 1, PAGE_SIZE - 2, false }, { 0, 1, false }, { 0, 16, true },
	};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin();
		bytes[of[i].at] = BREAKPOINT;
		bytes[of[i].other] ^= 1;
		tap_ok(learn(of[i].at) == of[i].known &&
		       found(of[i].at) == (of[i].known ? file_bytes[of[i].at] : -1),
		       "breakpoint at %zu, other code at %zu: %sknown", of[i].at, of[i].other,
		       of[i].known ? "" : "not ");
	}
}

static void test_file_has_int3(void)
{
	begin();
	bytes[100] = bytes[200] = file_bytes[100] = file_bytes[200] = BREAKPOINT;
	tap_ok(learn(100), "int3 of the file itself, asked for: reported as known");
	tap_ok(found(100) == BREAKPOINT, "int3 of the file itself, asked for: int3");
	tap_ok(found(200) == -1, "int3 of the file itself, not asked for: not kept");
}

/* The table has one place for both; what is asked for must get it. */
static void test_same_place(void)
{
	size_t i, j;

	begin();
	for (i = 100; i < 2000; i++)
		for (j = i + AROUND + 1; j < PAGE_SIZE; j++)
			if (hash(ID, base + i) >> (64 - BITS) == hash(ID, base + j) >> (64 - BITS))
				goto found;
found:
	bytes[i] = bytes[j] = BREAKPOINT;
	tap_ok(learn(i), "a later breakpoint of the page has the same place: reported as known");
	tap_ok(found(i) == file_bytes[i],
	       "a later breakpoint of the page has the same place: byte of the file");
}

static void test_partly_readable(void)
{
	begin();
	bytes[100] = bytes[2000] = BREAKPOINT;
	readable = 1024;
	tap_ok(learn(100), "later bytes of the page cannot be read: byte before them is known");
	tap_ok(!learn(2000), "byte cannot be read: reported as not known");
}

int main(void)
{
	kunwind_original_init();
	test_learned();
	test_in_vain();
	test_around();
	test_file_has_int3();
	test_partly_readable();
	test_same_place();
	return tap_done();
}
