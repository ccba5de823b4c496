// SPDX-License-Identifier: MIT
/*
 * loaded.c - ask libc what is loaded at an address, and unwind objects that were loaded
 * after the last refresh
 *
 * _dl_find_object() of glibc (2.35 and later) takes no lock. Another object may have the
 * same addresses and the same link map as one that was unloaded, so the build-id in
 * memory is compared, too. The memory is that of an object that is loaded now; a thread
 * that unloads it at this very moment would unload code that is on the stack of this one.
 *
 * Without _dl_find_object(), nothing is known about changes: musl unloads nothing, and
 * with an older glibc the program has to call kunwind_unwinder_refresh().
 *
 * Any context. An object that a walk meets first takes a slot for good, because frames
 * point to its module. If all are taken, its code is in no known mapping.
 */
#include "internal.h"

/* struct dl_find_object of glibc's dlfcn.h, which other C libraries do not have. */
struct found {
	unsigned long long flags;
	void *start, *end;
	void *link_map;			/* begins with l_addr, l_name (link.h) */
	void *eh_frame;			/* .eh_frame_hdr */
	unsigned long long reserved[7];
};

extern int dl_find_object(void *addr, struct found *found) __asm__("_dl_find_object")
	__attribute__((__weak__));

bool unwind_loaded_known(void)
{
	return dl_find_object;
}

static bool find(u64 at, struct found *found)
{
	return dl_find_object && !dl_find_object((void *)at, found);
}

bool unwind_loaded_get(u64 at, struct unwind_loaded *loaded)
{
	struct found found;

	if (!find(at, &found))
		return false;
	*loaded = (struct unwind_loaded){
		.at = at, .link_map = (u64)found.link_map, .start = (u64)found.start,
		.end = (u64)found.end, .eh = (u64)found.eh_frame,
	};
	return true;
}

bool unwind_loaded_same(const struct unwind_loaded *loaded)
{
	struct found found;

	/* The program has to say so; see above. */
	if (!dl_find_object)
		return true;
	return find(loaded->at, &found) && (u64)found.link_map == loaded->link_map &&
	       (u64)found.start == loaded->start && (u64)found.end == loaded->end &&
	       (u64)found.eh_frame == loaded->eh &&
	       (!loaded->build_id_at ||
		!memcmp((const void *)loaded->build_id_at, loaded->build_id, loaded->build_id_len));
}

/* The executable segment that holds @addr. */
static bool segment_of(const struct kunwind_elf *elf, u64 bias, u64 addr, u64 *start, u64 *end)
{
	u32 i;

	for (i = 0; i < elf->nr_loads; i++) {
		const struct kunwind_elf_load *load = &elf->load[i];

		if (load->flags & 1 && addr - bias - load->vaddr < load->memsz) {
			*start = bias + load->vaddr;
			*end = *start + load->memsz;
			return true;
		}
	}
	return false;
}

/* What the slot will have, before it is taken. False: the address is in no code. */
static bool read_late(u64 addr, struct unwind_loaded *loaded, struct kunwind_elf *elf,
		      struct kunwind_range *range)
{
	if (!unwind_loaded_get(addr, loaded) ||
	    !unwind_image_parse(loaded->start, elf, &loaded->build_id_at))
		return false;
	range->bias = *(const u64 *)loaded->link_map;
	loaded->build_id_len = elf->build_id_len;
	memcpy(loaded->build_id, elf->build_id, sizeof(elf->build_id));
	return segment_of(elf, range->bias, addr, &range->start, &range->end);
}

static void fill_late(struct unwind_late *late, const struct unwind_loaded *loaded,
		      const struct kunwind_elf *elf, const struct kunwind_range *range)
{
	const char *name = ((const char *const *)loaded->link_map)[1];
	u32 i;

	late->loaded = *loaded;
	late->range = *range;
	late->range.reason = KUNWIND_NO_TABLE;
	if (unwind_by_fde_init(&late->by_fde, elf, range->bias))
		late->range.table = &late->by_fde.table;
	for (i = 0; name && name[i] && i < sizeof(late->path) - 1; i++)
		late->path[i] = name[i];
	late->module = (struct kunwind_module){
		.start = range->start, .end = range->end, .bias = range->bias, .image = loaded->start,
		.path = i && i < sizeof(late->path) - 1 ? late->path : NULL,
		.build_id_len = elf->build_id_len,
	};
	memcpy(late->module.build_id, elf->build_id, sizeof(elf->build_id));
}

/* Whether the snapshot, or a slot, has code of the object. */
static bool known(const struct unwind_snapshot *snapshot, const struct found *found, u32 nr)
{
	const struct kunwind_range *range = snapshot->ranges.range;
	u32 n = snapshot->ranges.nr, i;

	for (; n > 1; n -= n / 2)
		range = range[n / 2].start < (u64)found->end ? range + n / 2 : range;
	if (n && range->start >= (u64)found->start && range->start < (u64)found->end &&
	    !READ_ONCE(range->dead))
		return true;
	for (i = 0; i < nr; i++) {
		const struct unwind_late *late = &snapshot->unwinder->late[i];

		if (__atomic_load_n(&late->ready, __ATOMIC_ACQUIRE) &&
		    !READ_ONCE(late->range.dead) && late->loaded.start == (u64)found->start)
			return true;
	}
	return false;
}

/* Makes *@bound the lower (or higher) one of itself and @value; 0: it is not set. */
static void widen(u64 *bound, u64 value, bool lower)
{
	u64 old = READ_ONCE(*bound);

	while ((!old || (lower ? value < old : value > old)) &&
	       !__atomic_compare_exchange_n(bound, &old, value, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
}

const struct kunwind_range *unwind_late_find(struct unwind_snapshot *snapshot, u64 addr)
{
	struct kunwind_unwinder *unwinder = snapshot->unwinder;
	struct kunwind_range range = { 0 };
	struct unwind_loaded loaded;
	struct unwind_late *late;
	struct kunwind_elf elf;
	struct found found;
	u32 i, nr;

	if (!dl_find_object)
		return NULL;
	nr = min(READ_ONCE(unwinder->nr_late), (u32)UNWIND_LATE);
	for (i = 0; i < nr; i++) {
		late = &unwinder->late[i];
		if (!__atomic_load_n(&late->ready, __ATOMIC_ACQUIRE) || READ_ONCE(late->range.dead) ||
		    addr - late->range.start >= late->range.end - late->range.start)
			continue;
		if (unwind_loaded_same(&late->loaded))
			return &late->range;
		WRITE_ONCE(late->range.dead, 1);
		unwind_snapshot_changed(snapshot);
	}
	if (nr == UNWIND_LATE || !find(addr, &found) || known(snapshot, &found, nr) ||
	    !read_late(addr, &loaded, &elf, &range))
		return NULL;
	i = __atomic_fetch_add(&unwinder->nr_late, 1, __ATOMIC_SEQ_CST);
	if (i >= UNWIND_LATE)
		return NULL;
	late = &unwinder->late[i];
	fill_late(late, &loaded, &elf, &range);
	widen(&unwinder->late_lo, range.start, true);
	widen(&unwinder->late_hi, range.end, false);
	__atomic_store_n(&late->ready, 1, __ATOMIC_RELEASE);
	return &late->range;
}
