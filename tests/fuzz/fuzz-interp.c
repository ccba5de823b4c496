/* SPDX-License-Identifier: MIT */
/*
 * Property: for any description and any memory, interp_check.c accepts or refuses it in
 * bounded time, and a walk of lists by an accepted one (interp_walk.c):
 *  - reads nothing outside the memory that it was given
 *  - writes no more frames than there is room for, and nothing after them
 *  - ends with a reason; each node costs a unit of the budget, and more nodes than
 *    the budget has are not read
 *  - gives frames whose ids are aligned and not 0, and whose native frames are in the
 *    eval loop, and no further inwards than that of the frame before
 *  - gives the same frames again, and, with an anchor and less room, the first of the
 *    same frames (except after a read that failed: of frames without room, less is read)
 * Bytes of a field (interp_field.c) are no more than the field has at most.
 *
 * Input: a byte that selects the form of the description; a byte with the room;
 * two bytes with the budget; a byte with the number of native frames, and a number for each of
 * them; PATCHES pairs of two bytes of offset and a byte to write there into the description;
 * then numbers for the words of memory. A number has two bytes. Its low three bits select
 * the kind: an address of a word of memory, the same at an odd place, a small number, a
 * number with high bits.
 */
#include "../../kmod/core/interp/interp_field.h"
#include "../../kmod/core/interp/interp_walk.h"
#include "../../kmod/core/walk/mem.h"
#include "fuzz.h"

#define MEM		0x7ffd00000000ULL
#define CODE		0x555500000000ULL
#define ROOM		32
#define NATIVES		16
#define PATCHES		6
#define GUARD		0x5aa55aa55aa55aa5ULL

struct scene {
	struct kunwind_interp interp;
	u64 *words;
	size_t size;
	unsigned long addresses[NATIVES];
	u64 sp[NATIVES];
	u32 nr, left;
	bool complete;
};

static u64 word(u32 number)
{
	u64 n = number >> 3;

	switch (number & 7) {
	case 0:
		return n & 0x1000 ? 0 : n;
	case 1:
		return MEM + n;
	case 2:
		return n << 48 | n << 24 | n;
	}
	return MEM + 8 * (n & 0x3ff);
}

/* The forms of CPython's, PHP's and Ruby's lists, before patches. */
static void describe(u8 form, struct kunwind_interp_desc *desc)
{
	const bool outer = form & 1, array = form & 2, via = form & 4, key = (form & 0x60) == 0x60;
	const bool plain = !array && !via && form & 0x20;
	const struct kunwind_interp_step steps[] = {
		{ .op = KUNWIND_INTERP_FS },
		{ .op = KUNWIND_INTERP_KEY, .width = 1, .limit = 4, .arg = 2 },
		{ .op = KUNWIND_INTERP_INDEX, .arg = 8 },
		{ .op = KUNWIND_INTERP_LOAD, .width = 8, .arg = 16 },
	};

	*desc = (struct kunwind_interp_desc){
		.size = sizeof(*desc), .nr_ranges = 1, .nr_steps = key ? 4 : 2, .nr_tests = 3, .nr_checks = 2,
		.nr_fields = 1,
		.flags = (outer ? KUNWIND_INTERP_HAS_OUTER : 0) | (array ? KUNWIND_INTERP_HAS_ARRAY : 0) |
			 (via ? KUNWIND_INTERP_HAS_VIA : 0) |
			 (outer && !array && form & 8 ? KUNWIND_INTERP_HAS_CHAIN : 0),
		.anchor = form & 0x10 ? KUNWIND_INTERP_NO_ANCHOR :
			  outer ? KUNWIND_INTERP_AT_OUTER : KUNWIND_INTERP_AT_END,
		.outer_next = outer ? 8 : 0,
		.next = array ? 0 : 8, .stride = array ? (form & 0x20 ? -32 : 32) : 0,
		.id = 0, .via = via ? 16 : 0, .id_mask = form & 0x40 ? ~1ULL : ~0ULL,
		.position = { .off = 24, .width = form & 0x80 ? 4 : 8 },
		.range = { { .start = 0x1000, .end = 0x2000 } },
		.step = { steps[0], steps[key ? 1 : 3], key ? steps[2] : (struct kunwind_interp_step){},
			  key ? steps[3] : (struct kunwind_interp_step){} },
		.test = {
			{ .value = { .off = 28, .width = 1 }, .verdict = KUNWIND_INTERP_BEYOND,
			  .mask = 3, .equals = 3 },
			{ .value = { .off = 29, .width = 1, .base = via }, .verdict = KUNWIND_INTERP_LAST,
			  .mask = 1, .equals = 1 },
			{ .value = { .off = 30, .width = 2, .base = KUNWIND_INTERP_ID },
			  .verdict = KUNWIND_INTERP_STOP, .mask = 7, .equals = 5 },
		},
		.check = { { .off = 20, .width = 4, .base = KUNWIND_INTERP_ID }, { .off = 2, .width = 2 } },
		.field = { { .path = { 8 }, .nr_path = 1, .length_width = 4, .unit = 3, .length = 4,
			     .unit_width = 1, .unit_at = 1, .fixed = 8, .most = 64 } },
	};
	if (plain) {
		desc->nr_tests = 1;
		desc->test[0] = desc->test[outer];
		memset(&desc->test[1], 0, sizeof(desc->test) - sizeof(desc->test[0]));
		desc->position.width = 8;
		desc->check[1].base = KUNWIND_INTERP_ID;
	}
}

static bool copy(void *data, u64 addr, void *to, u32 size)
{
	const struct scene *scene = data;

	if (addr < MEM || addr - MEM > scene->size || size > scene->size - (addr - MEM))
		return false;
	memcpy(to, (u8 *)scene->words + (addr - MEM), size);
	return true;
}

static enum kunwind_interp_reason walk(const struct scene *scene, struct kunwind_interp_frame *frames,
				       u32 room, u32 *count, u32 *missing)
{
	struct kunwind_mem mem = {
		.lo = MEM, .hi = MEM + scene->size, .delta = (uintptr_t)scene->words - MEM, .fs = MEM,
		.left = scene->left,
	};
	struct kunwind_interp_walk walk = {
		.interp = &scene->interp, .bias = CODE, .mem = &mem, .addresses = scene->addresses,
		.sp = scene->sp, .nr = scene->nr, .complete = scene->complete, .frames = frames,
		.capacity = room,
	};
	enum kunwind_interp_reason reason;
	u32 i;

	for (i = 0; i <= room; i++)
		frames[i].id = GUARD;
	reason = kunwind_interp_walk(&walk);
	property(reason < KUNWIND_INTERP_NR_REASONS, "reason %u", reason);
	property(!mem.open, "the window is open");
	property(walk.count <= room && frames[walk.count < room ? room : walk.count].id == GUARD,
		 "%u frames, room for %u", walk.count, room);
	property(mem.left <= scene->left, "the budget has grown");
	property(walk.count + walk.missing <= scene->left - mem.left,
		 "%u frames and %u missing, for %u units", walk.count, walk.missing, scene->left - mem.left);
	for (i = 0; i < walk.count; i++) {
		const u32 at = frames[i].native;

		property(frames[i].id && !(frames[i].id & 7), "id %llx", (unsigned long long)frames[i].id);
		property(at < scene->nr &&
			 kunwind_interp_loop(&scene->interp, scene->addresses[at] - !!at - CODE),
			 "native frame %u is not in the eval loop", at);
		property(!i || at >= frames[i - 1].native, "frames are not in order");
	}
	*count = walk.count;
	*missing = walk.missing;
	return reason;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct kunwind_interp_frame all[ROOM + 1], again[ROOM + 1];
	struct fuzz_input in = { data, data + size };
	struct kunwind_interp_desc desc;
	enum kunwind_interp_reason reason;
	u32 room, count, missing, second, second_missing, i, n;
	u8 bytes[KUNWIND_INTERP_BYTES + 1];
	struct scene scene;

	describe(fuzz_number(&in, 1), &desc);
	room = fuzz_number(&in, 1) % (ROOM + 1);
	scene.left = fuzz_number(&in, 2) % (KUNWIND_BUDGET + 1);
	n = fuzz_number(&in, 1);
	scene.complete = n & 0x80;
	scene.nr = n % (NATIVES + 1);
	for (i = 0; i < scene.nr; i++) {
		n = fuzz_number(&in, 2);
		scene.addresses[i] = CODE + (n & 1 ? 0x1001 : 0x8000);
		scene.sp[i] = n & 2 ? word(n >> 1) : MEM + 8 * (n >> 2 & 0x3ff);
	}
	for (i = 0; i < PATCHES; i++) {
		const u32 at = fuzz_number(&in, 2), byte = fuzz_number(&in, 1);

		if (byte)
			((u8 *)&desc)[at % sizeof(desc)] = byte;
	}
	if (kunwind_interp_check(&desc, &scene.interp) != KUNWIND_INTERP_OK)
		return 0;
	scene.size = max(8 * ((size_t)(in.end - in.at) / 2), (size_t)8);
	scene.words = malloc(scene.size);
	for (i = 0; i < scene.size / 8; i++)
		scene.words[i] = word(fuzz_number(&in, 2));
	reason = walk(&scene, all, ROOM, &count, &missing);
	walk(&scene, again, ROOM, &second, &second_missing);
	property(second == count && second_missing == missing && !memcmp(all, again, count * sizeof(all[0])),
		 "a second walk differs");
	walk(&scene, again, room, &second, &second_missing);
	for (i = 0; i < second && desc.anchor && reason != KUNWIND_INTERP_UNREADABLE; i++)
		property(i < count && !memcmp(&all[i], &again[i], sizeof(all[i])),
			 "with less room, frame %u differs", i);
	for (i = 0; i < count && scene.interp.nr_fields; i++) {
		bytes[sizeof(bytes) - 1] = 0x77;
		n = kunwind_interp_field_read(&scene.interp.field[0], all[i].id, copy, &scene, bytes,
					      sizeof(bytes) - 1);
		property(n <= scene.interp.field[0].most && bytes[sizeof(bytes) - 1] == 0x77,
			 "%u bytes of a field", n);
	}
	free(scene.words);
	return 0;
}
