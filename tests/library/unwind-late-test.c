/* SPDX-License-Identifier: MIT */
/*
 * unwind-late-test.c - objects that a walk meets before a refresh has: slots, what is kept of each,
 * and how one is recognized that has taken the place of another
 *
 * libc's answers and the objects' headers are the test's.
 */
#include <kunwind/unwind.h>

struct answer;
static struct answer *answer_at(unsigned long addr);

#include "../../libkunwind/unwind/loaded.c"
#include "../unit/tap.h"

#define PAGE	4096ULL

/* An object: its code is in the third, fourth and sixth page. */
struct answer {
	struct {
		u64 bias;
		const char *name;
	} link_map;
	u64 start, end, eh;
	u8 build_id[20];
	bool gone, unreadable;
};

#define OBJECTS	80
static struct answer object[OBJECTS];
static u32 searches, parses;

static u64 code_of(u32 n) { return object[n].start + 2 * PAGE; }

static struct answer *answer_at(unsigned long addr)
{
	u32 i;

	for (i = 0; i < OBJECTS; i++)
		if (!object[i].gone && addr - object[i].start < object[i].end - object[i].start)
			return &object[i];
	return NULL;
}

/* In place of libc's. */
int dl_find_object(void *addr, struct found *found)
{
	struct answer *answer = answer_at((u64)addr);

	searches++;
	if (!answer)
		return -1;
	found->start = (void *)answer->start;
	found->end = (void *)answer->end;
	found->link_map = &answer->link_map;
	found->eh_frame = (void *)answer->eh;
	return 0;
}

bool unwind_image_parse(u64 at, struct kunwind_elf *elf, u64 *build_id_at)
{
	struct answer *answer = answer_at(at);

	parses++;
	if (!answer || answer->unreadable || at != answer->start)
		return false;
	memset(elf, 0, sizeof(*elf));
	elf->nr_loads = 4;
	elf->load[0] = (struct kunwind_elf_load){ .vaddr = 0x10000, .memsz = 2 * PAGE, .flags = 4 };
	elf->load[1] = (struct kunwind_elf_load){ .vaddr = 0x10000 + 2 * PAGE, .memsz = 2 * PAGE,
						  .flags = 5 };
	elf->load[2] = (struct kunwind_elf_load){ .vaddr = 0x10000 + 4 * PAGE, .memsz = PAGE, .flags = 6 };
	elf->load[3] = (struct kunwind_elf_load){ .vaddr = 0x10000 + 5 * PAGE, .memsz = PAGE, .flags = 5 };
	elf->build_id_len = 20;
	memcpy(elf->build_id, answer->build_id, 20);
	*build_id_at = (u64)answer->build_id;
	return true;
}

bool unwind_by_fde_init(struct unwind_by_fde *by, const struct kunwind_elf *elf, u64 bias)
{
	by->search_base = bias;
	return elf->build_id[19] != 99;
}

static struct kunwind_unwinder *unwinder;
static struct unwind_snapshot *snapshot;

static void begin(void)
{
	u32 i;

	memset(unwinder, 0, sizeof(*unwinder));
	snapshot->ranges.nr = 0;
	snapshot->ranges.id = unwinder->ids = 1;
	for (i = 0; i < OBJECTS; i++) {
		object[i] = (struct answer){ .start = (i + 10) * 0x100000, .eh = (i + 10) * 0x100000 + 64 };
		object[i].end = object[i].start + 6 * PAGE;
		object[i].link_map.bias = object[i].start - 0x10000;
		object[i].link_map.name = "/lib/some.so";
		memset(object[i].build_id, i, 20);
	}
	searches = parses = 0;
}

static const struct kunwind_range *meet(u64 addr)
{
	return unwind_late_find(snapshot, addr);
}

static struct unwind_late *slot_of(const struct kunwind_range *range)
{
	return (struct unwind_late *)((char *)range - offsetof(struct unwind_late, range));
}

static void test_kept(void)
{
	const struct kunwind_range *range;
	const struct unwind_late *late;
	const struct kunwind_module *module;

	begin();
	range = meet(code_of(3));
	if (!tap_ok(range, "an object that no refresh has met is found"))
		return;
	late = slot_of(range);
	module = &late->module;
	tap_ok(range->start == code_of(3) && range->end == code_of(3) + 2 * PAGE &&
	       range->bias == object[3].link_map.bias && range->table == &late->by_fde.table &&
	       range->reason == KUNWIND_NO_TABLE && !range->dead, "its range is that of its code");
	tap_ok(late->by_fde.search_base == range->bias, "its search table is by its bias");
	tap_ok(module->start == range->start && module->end == range->end && module->bias == range->bias &&
	       module->image == object[3].start && module->build_id_len == 20 &&
	       !memcmp(module->build_id, object[3].build_id, 20) && !strcmp(module->path, "/lib/some.so"),
	       "its module has all of this, its path and its build-id");
	parses = 0;
	tap_ok(meet(code_of(3)) == range && meet(range->end - 1) == range && !parses &&
	       unwinder->nr_late == 1,
	       "it is found again, from the first byte of its code to the last");
	tap_ok(!meet(range->start - 1) && !meet(range->end) && !meet(object[3].start) &&
	       unwinder->nr_late == 1, "what is not its code is not");
	tap_ok(!meet(object[3].end - 1) && unwinder->nr_late == 1,
	       "an object takes one slot, for one segment");
	tap_ok(unwinder->late_lo == range->start && unwinder->late_hi == range->end,
	       "where late code is, is known");
	range = meet(code_of(1));
	tap_ok(range && meet(code_of(7)) && unwinder->late_lo == range->start &&
	       unwinder->late_hi == code_of(7) + 2 * PAGE, "this becomes wider with each one");
	meet(code_of(4));
	tap_ok(unwinder->late_lo == code_of(1) && unwinder->late_hi == code_of(7) + 2 * PAGE,
	       "but not narrower");
	memset(object[5].build_id, 99, 20);
	range = meet(code_of(5));
	tap_ok(range && !range->table && range->reason == KUNWIND_NO_TABLE,
	       "an object without CFI has no table");
}

static const char *path_of(u32 n, const char *name)
{
	const struct kunwind_range *range;

	object[n].link_map.name = name;
	range = meet(code_of(n));
	return range ? slot_of(range)->module.path : "nothing";
}

static void test_paths(void)
{
	static char name[400];
	const char *path;

	begin();
	memset(name, 'x', 254);
	path = path_of(0, name);
	tap_ok(path && !strcmp(path, name), "a path of 254 bytes is kept");
	name[254] = 'y';
	tap_ok(!path_of(1, name), "one of 255 is not known, rather than cut");
	memset(name, 'z', 350);
	tap_ok(!path_of(2, name), "nor one of 350");
	tap_ok(!path_of(3, "") && !path_of(4, NULL), "no path is none");
}

static void test_unknown(void)
{
	begin();
	object[0].unreadable = true;
	tap_ok(!meet(code_of(0)) && !unwinder->nr_late, "an object without headers takes no slot");
	tap_ok(!meet(0x5000) && !unwinder->nr_late, "nor does an address where nothing is loaded");
	tap_ok(!meet(code_of(1) - 1) && !meet(code_of(1) + 2 * PAGE) && !unwinder->nr_late,
	       "nor one that is not code");
	snapshot->ranges.nr = 2;
	snapshot->ranges.range[0] = (struct kunwind_range){ .start = PAGE, .end = 2 * PAGE };
	snapshot->ranges.range[1] = (struct kunwind_range){ .start = code_of(2), .end = code_of(2) + PAGE };
	tap_ok(!meet(code_of(2) + PAGE) && !unwinder->nr_late, "an object of the snapshot takes none");
	tap_ok(meet(code_of(1)) && meet(code_of(3)) && unwinder->nr_late == 2,
	       "objects before and after it do");
	snapshot->ranges.range[1].dead = 1;
	tap_ok(meet(code_of(2)) && unwinder->nr_late == 3, "as one whose range of the snapshot is dead");
}

/* Changes one thing of what libc says. Whether the slot is then dead. */
static void test_replaced(void)
{
	static const char *const what[] = { "link map", "start", "end", ".eh_frame_hdr",
	       "first byte of the build-id",
					    "last byte of the build-id" };
	static struct answer other;
	const struct kunwind_range *old, *now;
	u64 id, code;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(what); i++) {
		struct answer *changed = &object[2];

		begin();
		code = code_of(2);
		old = meet(code);
		id = snapshot->ranges.id;
		if (meet(code) != old || snapshot->ranges.id != id)
			break;
		other = *changed;
		switch (i) {
		case 0:
			changed = &object[3];	/* in the other's place */
			*changed = other;
			object[2].gone = true;
			memcpy(object[2].build_id, other.build_id, 20);
			break;
		case 1:
			changed->start -= PAGE;
			break;
		case 2:
			changed->end += PAGE;
			break;
		case 3:
			changed->eh += 8;
			break;
		case 4:
			changed->build_id[0] ^= 1;
			break;
		default:
			changed->build_id[19] ^= 1;
		}
		now = meet(code);
		tap_ok(old->dead && snapshot->ranges.id != id && now && now != old && !now->dead,
		       "another %s: it is another object", what[i]);
		tap_ok(meet(code) == now && unwinder->nr_late == 2,
		       "another %s: which is found again", what[i]);
	}
	begin();
	old = meet(code_of(2));
	object[2].gone = true;
	tap_ok(!meet(code_of(2)) && old->dead && unwinder->nr_late == 1,
	       "an object that was unloaded is dead");
	object[2].gone = false;
	now = meet(code_of(2));
	tap_ok(now && now != old && old->dead, "loaded again, it takes another slot: the old one stays dead");
}

static void test_slots(void)
{
	u32 i, found = 0, again = 0;

	begin();
	for (i = 0; i < OBJECTS; i++)
		found += !!meet(code_of(i));
	tap_ok(found == UNWIND_LATE, "there are slots for %u objects", found);
	for (i = 0; i < OBJECTS; i++)
		again += !!meet(code_of(i));
	tap_ok(again == UNWIND_LATE && unwinder->nr_late == UNWIND_LATE,
	       "more of them change nothing: the same are found");
	tap_ok(unwinder->late_hi == code_of(UNWIND_LATE - 1) + 2 * PAGE, "late code ends with the last slot");
	/* A thread has taken the slot, and not filled it yet. */
	begin();
	unwinder->nr_late = 1;
	unwinder->late[0].range = (struct kunwind_range){ .start = code_of(2), .end = code_of(2) + PAGE };
	tap_ok(meet(code_of(2)) == &unwinder->late[1].range && unwinder->nr_late == 2 &&
	       !unwinder->late[0].range.dead,
	       "a slot that is not ready is nobody's");
	/* Threads that count at once may count beyond the end. */
	unwinder->nr_late = UNWIND_LATE + 3;
	tap_ok(!meet(code_of(4)), "a count beyond the slots is no slot");
}

static void test_get(void)
{
	struct unwind_loaded loaded;

	begin();
	tap_ok(unwind_loaded_known(), "libc can be asked");
	tap_ok(unwind_loaded_get(code_of(6) + 5, &loaded) && loaded.at == code_of(6) + 5 &&
	       loaded.link_map == (u64)&object[6].link_map && loaded.start == object[6].start &&
	       loaded.end == object[6].end && loaded.eh == object[6].eh && !loaded.build_id_at,
	       "what libc says of an object");
	tap_ok(!unwind_loaded_get(0x5000, &loaded), "and of none");
	tap_ok(unwind_loaded_get(code_of(6), &loaded) && unwind_loaded_same(&loaded),
	       "without a build-id, the rest is enough");
}

int main(void)
{
	unwinder = calloc(1, sizeof(*unwinder));
	snapshot = calloc(1, sizeof(*snapshot) + 2 * sizeof(struct kunwind_range));
	snapshot->unwinder = unwinder;
	test_get();
	test_kept();
	test_paths();
	test_unknown();
	test_replaced();
	test_slots();
	free(unwinder);
	free(snapshot);
	return tap_done();
}
