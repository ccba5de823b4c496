// SPDX-License-Identifier: GPL-2.0-only
/*
 * breakpoint.c - find the bytes of code that breakpoints hide
 *
 * Without unwind information, the walk reads code. uprobes and debuggers write
 * an int3 over the first byte of an instruction, in a copy of the page that
 * belongs to the process. The file's own page still has the original byte, but
 * a walk cannot look it up, because a walk takes no references. Therefore a
 * walk that ends at such a byte leaves a request (fault_in.c). Before the task
 * returns to user mode, it compares its copy with the file's page, and stores
 * the original bytes in the table of original.c, where the next walk finds
 * them. An int3 that the file itself contains is stored only if a walk asked
 * for it.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/uaccess.h>

#include "breakpoint.h"
#include "../deps/kernel/original.h"

#define BREAKPOINT	0xcc
#define STRETCH		64	/* bytes that are compared at a time */
#define AROUND		16	/* bytes on each side that must be the file's */

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
 * breakpoints. Otherwise the program has written other code there.
 */
static bool same_around(const u8 *here, const u8 *file, u32 at)
{
	u32 i, end = min(at + AROUND, (u32)STRETCH);

	for (i = at > AROUND ? at - AROUND : 0; i < end; i++)
		if (here[i] != file[i] && here[i] != BREAKPOINT)
			return false;
	return true;
}

bool kunwind_breakpoint_learn(struct mm_struct *mm, u64 id, u64 addr)
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
			if (here[j] == BREAKPOINT && same_around(here, file + i, j) &&
			    (file[i + j] != BREAKPOINT || start + i + j == addr)) {
				kunwind_original_keep(id, start + i + j, file[i + j]);
				known |= start + i + j == addr;
			}
	}
	/* Last: a later breakpoint of the page may use the same entry. */
	if (known)
		kunwind_original_keep(id, addr, file[addr - start]);
	kunmap_local(file);
	put_page(page);
	return known;
}
