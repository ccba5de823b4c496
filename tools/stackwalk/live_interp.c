// SPDX-License-Identifier: MIT
/*
 * live_interp.c - copy what an interpreter keeps about a thread's stack, together
 * with the stack
 *
 * These lists are in the heap, and change with each call. So they are followed while the
 * thread does not run (core/interp), and each page that is read on the way is kept. The
 * walker then finds the same again in these pages, in its sandbox. The native frames are not
 * known yet, so all lists are followed.
 *
 * The process may be hostile: a walk has NODES nodes and a thread PAGES pages at most.
 */
#include <stdlib.h>
#include <string.h>

#include "interp_memory.h"
#include "live.h"
#include "walk/mem.h"

#define NODES		65536
#define FRAMES		16384
#define LOOPS		1024		/* native frames that are assumed */
#define PAGES		2048		/* of a thread */
#define SLOTS		(2 * PAGES)	/* a power of two */
#define PAGE		4096u

struct live_page {
	uint64_t at;
	uint8_t bytes[PAGE];
};

struct live_pages {
	const struct live_process *live;
	struct live_page *page[SLOTS];	/* by number of the page; after sort(): by address */
	uint32_t nr;
};

static struct live_page *find(struct live_pages *pages, uint64_t at)
{
	uint32_t slot = (uint32_t)(at / PAGE * 0x9e3779b97f4a7c15ULL >> 32) % SLOTS;
	struct live_page *page;

	for (; pages->page[slot]; slot = (slot + 1) % SLOTS)
		if (pages->page[slot]->at == at)
			return pages->page[slot];
	page = pages->nr < PAGES ? malloc(sizeof(*page)) : NULL;
	if (!page)
		return NULL;
	page->at = at;
	if (live_read(pages->live, at, page->bytes, PAGE) != PAGE) {
		free(page);
		return NULL;
	}
	pages->page[slot] = page;
	pages->nr++;
	return page;
}

static size_t read_kept(void *data, uint64_t addr, void *buf, size_t len)
{
	const struct live_page *page;
	size_t done, part;

	for (done = 0; done < len; done += part) {
		const uint32_t in = (uint32_t)((addr + done) % PAGE);

		page = find(data, addr + done - in);
		if (!page)
			break;
		part = PAGE - in < len - done ? PAGE - in : len - done;
		memcpy((uint8_t *)buf + done, page->bytes + in, part);
	}
	return done;
}

static void follow(const struct live_process *live, struct live_pages *pages, uint64_t fs_base,
		   struct kunwind_interp_frame *frames)
{
	unsigned long addresses[LOOPS];
	u64 sp[LOOPS] = { 0 };
	struct interp_memory memory = { read_kept, pages };
	struct kunwind_mem mem = { .memory = (void *)&memory, .left = NODES, .fs = fs_base };
	struct kunwind_interp interp = live->interp->interp;
	struct kunwind_interp_walk of = {
		.interp = &interp, .bias = live->interp->bias, .mem = &mem, .addresses = addresses, .sp = sp,
		.nr = LOOPS, .complete = true, .frames = frames, .capacity = FRAMES,
	};
	static const uint32_t most = KUNWIND_INTERP_BYTES;
	uint8_t *bytes = malloc(most);
	uint32_t i, k;

	for (i = 0; i < LOOPS; i++)
		addresses[i] = (unsigned long)(interp.lo + of.bias + 1);
	interp.anchor = KUNWIND_INTERP_NO_ANCHOR;
	kunwind_interp_walk(&of);
	for (i = 0; bytes && i < of.count; i++)
		for (k = 0; k < interp.nr_fields && (!i || frames[i].id != frames[i - 1].id); k++)
			kunwind_interp_field_read(&interp.field[k], frames[i].id, interp_copy, &memory, bytes,
						  most);
	free(bytes);
}

static int by_address(const void *a, const void *b)
{
	const struct live_page *const *x = a, *const *y = b;

	return (*x)->at < (*y)->at ? -1 : (*x)->at > (*y)->at;
}

/* Moves the pages to the front, by address. */
static void sort(struct live_pages *pages)
{
	uint32_t i, nr = 0;

	for (i = 0; i < SLOTS; i++)
		if (pages->page[i])
			pages->page[nr++] = pages->page[i];
	qsort(pages->page, nr, sizeof(pages->page[0]), by_address);
}

struct live_pages *live_follow(const struct live_process *live, uint64_t fs_base)
{
	struct kunwind_interp_frame *frames = malloc(FRAMES * sizeof(*frames));
	struct live_pages *pages = calloc(1, sizeof(*pages));

	if (frames && pages) {
		pages->live = live;
		follow(live, pages, fs_base, frames);
		sort(pages);
	}
	free(frames);
	return pages;
}

uint32_t live_nr_pages(const struct live_pages *pages)
{
	return pages ? pages->nr : 0;
}

const void *live_page(const struct live_pages *pages, uint32_t number, struct running_region *region)
{
	region->start = pages->page[number]->at;
	region->len = PAGE;
	return pages->page[number]->bytes;
}

void live_free_pages(struct live_pages *pages)
{
	uint32_t i;

	for (i = 0; pages && i < pages->nr; i++)
		free(pages->page[i]);
	free(pages);
}
