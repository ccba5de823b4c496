/* SPDX-License-Identifier: MIT */
/*
 * pages-scene.h - for tests of partial reads of the mappings: mappings-scene.h, with
 * a process that is an array of pages
 *
 * A test changes pages, and reports it as the hooks do. Neighbours merge, as in
 * the kernel. The random numbers are the same in each run.
 */
#ifndef _TEST_PAGES_SCENE_H
#define _TEST_PAGES_SCENE_H

#define MOST	2048
#include "mappings-scene.h"

#define PAGES	1500
#define PAGE(n)	(0x7f0000000000UL + (n) * PAGE_SIZE)

/* A page of code of a file, of anonymous memory, of data, or none. */
static struct page { bool mapped, exec; struct file *file; unsigned long pgoff; } pages[PAGES];
static u32 seed;

static u32 any(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static bool merges(unsigned int i)
{
	const struct page *a = &pages[i - 1], *b = &pages[i];

	return a->mapped && b->mapped && a->exec == b->exec && a->file == b->file &&
	       (!a->file || a->pgoff + 1 == b->pgoff);
}

/* Makes the mappings from the pages. */
static void set_vmas(void)
{
	unsigned int i, from;

	nr_vmas = 0;
	for (i = 0; i < PAGES; i = from) {
		from = i + 1;
		if (!pages[i].mapped)
			continue;
		while (from < PAGES && merges(from))
			from++;
		if (nr_vmas == MOST)
			abort();
		map(PAGE(i), (from - i) * PAGE_SIZE, pages[i].exec ? VM_EXEC : 0, pages[i].file,
		    pages[i].file ? pages[i].pgoff : PAGE(i) >> PAGE_SHIFT);
	}
}

static void set(u32 first, u32 nr, bool exec, struct file *file, unsigned long pgoff)
{
	u32 i;

	for (i = first; i < first + nr; i++)
		pages[i] = (struct page){ true, exec, file, pgoff + i - first };
	set_vmas();
}

/* The mapping that has the page. */
static const struct vm_area_struct *around(u32 page)
{
	const struct vm_area_struct *vma = find_vma(&mm, PAGE(page));

	if (!vma || vma->vm_start > PAGE(page))
		abort();
	return vma;
}

/*
 * mmap() at a fixed address, or mprotect(): the hook knows the pages of the call.
 * It asks for a read here also if they become data, which it does not for memory
 * of no file, whose ranges stay dead.
 */
static void call_at(u32 first, u32 nr)
{
	kunwind_space_mapped(space, PAGE(first), PAGE(first + nr), 0, true);
}

/* mmap() at an address that the kernel chose: the hook knows the merged mapping. */
static void call_anywhere(u32 first, u32 nr)
{
	const struct vm_area_struct *vma = around(first);

	kunwind_space_mapped(space, vma->vm_start, vma->vm_end, nr * PAGE_SIZE, pages[first].exec);
}

/* mremap() to a fixed address. At most 8 pages. */
static void move_pages(u32 from, u32 to, u32 nr)
{
	struct page moved[8];

	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, PAGE(to), PAGE(to + nr));
	kunwind_space_mapped(space, PAGE(to), PAGE(to + nr), 0, true);
	if (any(2))
		reads(false);		/* another thread, meanwhile */
	memcpy(moved, &pages[from], nr * sizeof(*moved));
	memset(&pages[from], 0, nr * sizeof(*moved));
	memcpy(&pages[to], moved, nr * sizeof(*moved));
	set_vmas();
	kunwind_space_changed(space, PAGE(from), PAGE(from + nr));
	kunwind_space_mapped(space, PAGE(to), PAGE(to + nr), 0, true);
	kunwind_space_end_move(space);
}

static struct file *any_file(void)
{
	return any(2) ? &files[any(3)] : NULL;
}

/* Returns whether a read of all mappings changes nothing. */
static bool is_whole(void)
{
	const struct kunwind_ranges *before = space->ranges;
	bool same_ranges;

	reads(true);
	same_ranges = space->ranges == before;
	return same_ranges;
}

/* Returns whether the snapshot is sorted, and its counts and marks are right. */
static bool is_sound(void)
{
	const struct kunwind_snapshot *snapshot = of(space);
	u32 i, j, nr = 0, nr_maps = 0;
	u64 end = 0;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		const struct kunwind_chunk *chunk = kunwind_snapshot_chunk(snapshot, i);
		bool solid = true;

		if (!chunk->nr || chunk->nr > KUNWIND_CHUNK_MAX ||
		    chunk->nr != snapshot->ranges.chunk[i].nr ||
		    chunk->range[0].start != snapshot->ranges.chunk[i].start)
			return false;
		for (j = 0; j < chunk->nr; j++) {
			const struct kunwind_range *one = &chunk->range[j];

			if (one->start < end || one->end <= one->start ||
			    kunwind_ranges_find(&snapshot->ranges, one->start) != one ||
			    kunwind_ranges_find(&snapshot->ranges, one->end - 1) != one)
				return false;
			solid &= !one->dead && (!j || one->start == end);
			end = one->end;
			nr_maps += chunk->detail[j].object != &kunwind_object_anonymous;
		}
		if (solid != chunk->solid && chunk->solid)
			return false;
		nr += chunk->nr;
	}
	return nr == snapshot->nr && nr_maps == snapshot->nr_maps && snapshot->settled;
}

static void forget_process(void)
{
	memset(pages, 0, sizeof(pages));
	set_vmas();
}

/* Every second page is code of a file, at another offset. */
static void fill(u32 nr)
{
	u32 i;

	begin();
	mm.context.vdso = NULL;
	memset(pages, 0, sizeof(pages));
	for (i = 0; i < nr; i++)
		pages[2 * i] = (struct page){ true, true, &files[0], 1000 - i };
	set_vmas();
	reads(false);
}

#endif /* _TEST_PAGES_SCENE_H */
