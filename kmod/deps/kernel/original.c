// SPDX-License-Identifier: GPL-2.0-only
/*
 * original.c - the bytes of code that breakpoints hide
 *
 * Without unwind information, the walk reads code. uprobes and debuggers write
 * an int3 over the first byte of an instruction, in a copy of the page that
 * belongs to the process. The file's own page still has the byte, but a walk
 * cannot look it up, because a walk takes no references. Therefore a walk that
 * ends at such a byte leaves a request (touch.c). Before the task returns to
 * user mode, it compares its copy with the file's page and stores the bytes in
 * a table. The next walk finds them there.
 *
 * There is one table for all processes. An entry is one word, the byte and a
 * hash of its address, so readers need no lock and run in any context. The hash
 * has a random part, so that nobody can choose addresses with the same hash as
 * those of another process. When mappings change, the ranges get a new id, and
 * the old entries are overwritten in time. An int3 that the file itself
 * contains is kept only if a walk asked for it.
 *
 * Memory: 32 KB.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/random.h>
#include <linux/uaccess.h>

#include "original.h"

#define BITS		12
#define BREAKPOINT	0xcc
#define STRETCH		64	/* bytes that are compared at a time */
#define BESIDES		16
#define FACTOR		0x9e3779b97f4a7c15ULL

static u64 originals[1 << BITS];	/* bits 8-63: of the hash; 0-7: the byte */
static u64 salt[2];

void kunwind_original_init(void)
{
	get_random_bytes(salt, sizeof(salt));
}

static __always_inline u64 hash(u64 id, u64 addr)
{
	u64 h = (id ^ salt[0]) * FACTOR;

	h = ((h << 29 | h >> 35) ^ addr) * FACTOR;
	return (h ^ h >> 32 ^ salt[1]) * FACTOR;
}

bool notrace kunwind_original_find(u64 id, u64 addr, u8 *byte)
{
	const u64 h = hash(id, addr);
	const u64 word = READ_ONCE(originals[h >> (64 - BITS)]);

	*byte = word;
	return !((word ^ h) >> 8);
}

static void keep(u64 id, u64 addr, u8 byte)
{
	const u64 h = hash(id, addr);

	WRITE_ONCE(originals[h >> (64 - BITS)], (h & ~0xffULL) | byte);
}

/*
 * Returns the page of the file that is mapped at @addr, with a reference. NULL:
 * the page is not in memory, or no code of a file is mapped there.
 */
static struct page *file_page(struct mm_struct *mm, u64 addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);
	struct page *page;

	if (!vma || addr < vma->vm_start || !vma->vm_file || !(vma->vm_flags & VM_EXEC) ||
	    is_vm_hugetlb_page(vma))
		return NULL;
	page = find_get_page(vma->vm_file->f_mapping, linear_page_index(vma, addr));
	if (page && !PageUptodate(page)) {
		put_page(page);
		return NULL;
	}
	return page;
}

/*
 * Returns whether the bytes around @at equal the file's, except for
 * breakpoints: a program may have written other code there.
 */
static bool same_besides(const u8 *here, const u8 *file, u32 at)
{
	u32 i, end = min(at + BESIDES, (u32)STRETCH);

	for (i = at > BESIDES ? at - BESIDES : 0; i < end; i++)
		if (here[i] != file[i] && here[i] != BREAKPOINT)
			return false;
	return true;
}

bool kunwind_original_learn(struct mm_struct *mm, u64 id, u64 addr)
{
	const u64 start = addr & PAGE_MASK;
	struct page *page = file_page(mm, addr);
	const u8 *file;
	bool known = false;
	u8 here[STRETCH];
	u32 i, j;

	if (!page)
		return false;
	file = kmap_local_page(page);
	for (i = 0; i < PAGE_SIZE; i += sizeof(here)) {
		if (copy_from_user_nofault(here, (const void __user *)start + i, sizeof(here)))
			break;
		for (j = 0; j < sizeof(here); j++)
			if (here[j] == BREAKPOINT && same_besides(here, file + i, j) &&
			    (file[i + j] != BREAKPOINT || start + i + j == addr)) {
				keep(id, start + i + j, file[i + j]);
				known |= start + i + j == addr;
			}
	}
	/* Last: a later breakpoint of the page may use the same entry. */
	if (known)
		keep(id, addr, file[addr - start]);
	kunmap_local(file);
	put_page(page);
	return known;
}
