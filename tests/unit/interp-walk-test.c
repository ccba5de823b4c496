// SPDX-License-Identifier: MIT
/*
 * interp-walk-test.c - interpreters' frames: lists, arrays, and which native frame they belong to;
 * lists that are spoilt
 */
#include "interp-scene.h"

/* A node of describe(): id, position, next node; the node that ends a group lies in native frame @in. */
static void node(u64 at, u64 id, u64 next)
{
	put(at, id);
	put(at + 8, next);
	put(at + 56, id ? id + 0x100 + (at & 0xff) : 0);
}

static u64 end_node(u32 in, u64 next)
{
	const u64 at = FRAME(in) + 0x40;

	node(at, 0, next);
	put(at + 64, 3ULL << 48);
	return at;
}

/* A node of describe_outer(). */
static void inner(u64 at, u64 id, u64 next, bool last)
{
	put(at + 32, id);
	put(at + 48, next);
	put(at + 56, id + 0x100);
	put(at + 64, (u64)last << 32);
}

static u64 outer(u32 in, u64 head, u64 next)
{
	const u64 at = FRAME(in) + 0x40;

	put(at + 8, head);
	put(at + 16, next);
	return at;
}

/* Whether the frames are those of the codes in the string, "0@1 1@1 2@4": code@native frame. */
static bool frames_are(const char *text)
{
	u32 code, at, i = 0;
	int n;

	for (; sscanf(text, " %u@%u%n", &code, &at, &n) == 2; text += n, i++)
		if (i >= walk.count || found[i].id != CODE(code) || found[i].native != at)
			return false;
	return i == walk.count;
}

static void print_frames(void)
{
	u32 i;

	for (i = 0; i < walk.count; i++)
		printf("# id %llx position %llx native %u\n", (unsigned long long)found[i].id,
		       (unsigned long long)found[i].position, found[i].native);
}

static void is(enum kunwind_interp_reason reason, const char *frames, u32 missing, const char *what)
{
	const enum kunwind_interp_reason got = run();

	if (!tap_ok(got == reason && frames_are(frames) && walk.missing == missing,
		    "%s (reason %u, %u frames, %u missing)", what, got, walk.count, walk.missing))
		print_frames();
}

/* Two groups: codes 0 and 1 in native frame 1, code 2 in native frame 4. */
static void two_groups(void)
{
	const u64 outermost = end_node(4, 0), innermost = end_node(1, NODE(2));

	root(NODE(0));
	node(NODE(0), CODE(0), NODE(1));
	node(NODE(1), CODE(1), innermost);
	node(NODE(2), CODE(2), outermost);
}

static void two_outer_groups(void)
{
	u64 out;

	describe_outer();
	out = outer(4, NODE(2), 0);
	root(outer(1, NODE(0), out));
	inner(NODE(0), CODE(0), NODE(1), false);
	inner(NODE(1), CODE(1), NODE(2), true);
	inner(NODE(2), CODE(2), 0, true);
}

static void test_groups(void)
{
	scene();
	two_groups();
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0,
	   "a list: each group is at the native frame that has its end node");
	tap_ok(found[1].position == CODE(1) + 0x100 + (NODE(1) & 0xff) && KUNWIND_BUDGET - memory.left == 5,
	       "positions are those of the nodes, and each node costs a unit");
	scene();
	two_outer_groups();
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0,
	   "an outer list: each group is at the native frame that has its node");
	scene();
	natives("LL..L.");
	native_sp[1] = FRAME(1);
	two_groups();
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "an eval loop that has only begun has no frames");
	natives(".....L..L.");
	is(KUNWIND_INTERP_NATIVE, "", 3, "groups whose native frames are missing are left out");
	natives("....L.");
	is(KUNWIND_INTERP_NATIVE, "2@4", 2,
	   "the innermost native frame is missing: its group alone is left out");
	natives(".L....");
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1", 0,
	   "after the last native frame of the loop, the list is not read");
	tap_ok(KUNWIND_BUDGET - memory.left <= 20, "nodes beyond it cost nothing");
	walk.complete = false;
	is(KUNWIND_INTERP_NATIVE, "0@1 1@1", 0, "the same, if the native stack is cut");
	natives(".L");
	is(KUNWIND_INTERP_NATIVE, "", 3,
	   "the memory of the last native frame is not known: it gets no group");
	scene();
	two_groups();
	natives("......");
	is(KUNWIND_INTERP_NO_LOOP, "", 0, "no native frame in the eval loop");
	tap_ok(memory.left == KUNWIND_BUDGET, "then nothing is read");
	natives(".L..L.");
	native[4] = BIAS + COLD + 1;
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "the eval loop has code in two places");
	native[4] = BIAS + COLD;
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1", 0, "a return address at its first byte is not in it");
	native[4] = BIAS + LOOP + 0x100;
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "a return address after its last byte is in it");
	native[0] = BIAS + LOOP + 0x100;
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "an exact address there is not");
	scene();
	two_groups();
	native_sp[2] = native_sp[1];
	is(KUNWIND_INTERP_NATIVE, "2@4", 2, "a native frame without memory has no group");
	scene();
	two_groups();
	node(NODE(1), 0, end_node(1, NODE(2)));
	is(KUNWIND_INTERP_COMPLETE, "0@1 2@4", 0, "a node without id is no frame");
	desc.id_mask = ~0x80ULL;
	is(KUNWIND_INTERP_COMPLETE, "0@1 2@4", 0, "bits of the id outside the mask do not count");
}

/* The frames of a thread whose native stack was switched: the outer frame is at lower addresses. */
static void test_switched(void)
{
	scene();
	natives(".L.L.");
	native_sp[0] = FRAME(8);
	native_sp[1] = FRAME(9);
	native_sp[2] = FRAME(10);
	native_sp[3] = FRAME(2);
	native_sp[4] = FRAME(3);
	root(NODE(0));
	node(NODE(1), CODE(1), end_node(2, 0));
	node(NODE(0), CODE(0), end_node(9, NODE(1)));
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@3", 0, "the thread has switched to a stack at higher addresses");
}

static void test_outer_ends(void)
{
	u64 empty;

	scene();
	two_outer_groups();
	put(FRAME(4) + 0x40 + 16, empty = BASE + 0x800);
	put(empty + 8, NODE(3));
	is(KUNWIND_INTERP_TORN, "0@1 1@1", 1,
	   "the group does not go on where the next outer node begins: it is left out");
	inner(NODE(2), CODE(2), NODE(3), true);
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "it does");
	scene();
	two_outer_groups();
	put(FRAME(1) + 0x40 + 8, NODE(7));
	inner(NODE(7), CODE(7), NODE(5), true);
	is(KUNWIND_INTERP_TORN, "2@4", 1,
	   "an outer node that is linked before its list is set: only its group is left out");
	scene();
	two_outer_groups();
	put(FRAME(1) + 0x40 + 8, 0);
	is(KUNWIND_INTERP_COMPLETE, "2@4", 0, "an outer node without a list");
}

/* Nodes of 56 bytes: 0 position, 8 id, 32 the address of flags. They grow downwards. */
static void array_node(u32 n, u64 id, u64 flags)
{
	const u64 at = BASE + 0x1000 + 56 * n;

	put(at, 0x900 + n);
	put(at + 8, id);
	put(at + 32, BASE + 0x4000 + 8 * n);
	put(BASE + 0x4000 + 8 * n, flags);
}

static void describe_array(void)
{
	desc.flags = KUNWIND_INTERP_HAS_ARRAY | KUNWIND_INTERP_HAS_VIA;
	desc.anchor = KUNWIND_INTERP_NO_ANCHOR;
	desc.next = 0;
	desc.stride = 56;
	desc.id = 8;
	desc.via = 32;
	desc.position = (struct kunwind_interp_value){ .off = 0, .width = 4 };
	desc.nr_tests = 3;
	desc.test[0] = (struct kunwind_interp_test){
		.value = { .width = 4, .base = KUNWIND_INTERP_VIA }, .verdict = KUNWIND_INTERP_STOP,
		.mask = 0xf0000, .equals = 0x70000,
	};
	desc.test[1] = (struct kunwind_interp_test){
		.value = { .width = 2, .base = KUNWIND_INTERP_VIA }, .verdict = KUNWIND_INTERP_LAST,
		.mask = 0x20, .equals = 0x20,
	};
	desc.test[2] = (struct kunwind_interp_test){
		.value = { .off = 8, .width = 1, .base = KUNWIND_INTERP_ID },
		.verdict = KUNWIND_INTERP_SKIP, .mask = 0xff, .equals = 2, .differs = 1,
	};
	desc.nr_checks = 0;
	memset(desc.check, 0, sizeof(desc.check));
}

static void array_scene(void)
{
	u32 i;

	scene();
	describe_array();
	root(BASE + 0x1000);
	for (i = 0; i < 8; i++)
		put(CODE(i) + 8, i == 5 ? 1 : 2);
	array_node(0, CODE(0), 0);
	array_node(1, CODE(5), 0);		/* skipped, by its id */
	array_node(2, CODE(1), 0x20);
	array_node(3, 0, 0x20);
	array_node(4, CODE(2), 0);
	array_node(5, CODE(3), 0x20);
	array_node(6, CODE(7), 0x70020);	/* stops */
	array_node(7, CODE(6), 0);
}

static void test_array(void)
{
	u32 i;

	array_scene();
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4 3@4", 0,
	   "an array without anchors: groups and loops from the outer end");
	tap_ok(found[3].position == 0x905 && found[0].position == 0x900, "positions of four bytes");
	natives("LL..L.");
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4 3@4", 0, "one loop more: the innermost has no group");
	natives("....L.");
	is(KUNWIND_INTERP_NATIVE, "2@4 3@4", 2, "one group more: the innermost has no loop");
	natives(".L..L.");
	walk.complete = false;
	is(KUNWIND_INTERP_NATIVE, "", 4, "the native stack is cut: nothing is known");
	walk.complete = true;
	walk.capacity = 3;
	is(KUNWIND_INTERP_FULL, "0@1 1@1 2@4", 1,
	   "room for three: the outermost is left out, the others are placed");
	walk.capacity = MOST;
	array_node(6, CODE(7), 0);
	put(BASE + 0x1000 + 56 * 7 + 32, BASE - 8);
	is(KUNWIND_INTERP_UNREADABLE, "", 5, "the array does not end: nothing is known");
	array_scene();
	desc.stride = -56;
	root(BASE + 0x1000 + 56 * 5);
	array_node(0, 0, 0x70000);
	is(KUNWIND_INTERP_NATIVE, "2@1 1@4", 1, "an array that grows upwards, with a group more than loops");
	array_scene();
	for (i = 0; i < 7; i++)
		put(BASE + 0x4000 + 8 * i, i == 6 ? 0x70000 : 0);
	is(KUNWIND_INTERP_COMPLETE, "0@4 1@4 2@4 3@4", 0, "one group: it belongs to the outermost loop");
}

static void test_widths(void)
{
	static const u8 widths[] = { 1, 2, 4, 8 };
	const u64 value = 0x8182838485868788;
	u32 w, off, good = 0, all = 0, checks = 0, roots = 0, at;

	for (w = 0; w < 4; w++)
		for (off = 0; off < 32; off += widths[w], all++) {
			const u64 mask = widths[w] == 8 ? ~0ULL : (1ULL << 8 * widths[w]) - 1;
			u32 before, same;

			scene();
			two_groups();
			desc.position = (struct kunwind_interp_value){ .off = 16 + off, .width = widths[w] };
			memset((u8 *)words + (NODE(0) + 16 - BASE), 0x99, 40);
			put_bytes(NODE(0) + 16 + off, &value, widths[w]);
			good += run() == KUNWIND_INTERP_COMPLETE && found[0].position == (value & mask);
			/* A check word of this width: only its own bytes decide. */
			desc.nr_checks = 1;
			memset(desc.check, 0, sizeof(desc.check));
			desc.check[0] = (struct kunwind_interp_value){ .off = 64 + off, .width = widths[w],
								       .base = KUNWIND_INTERP_ID };
			memset((u8 *)words + (CODE(0) - BASE), 0x55, 0x80);
			run();
			before = found[0].check;
			put_bytes(CODE(0) + 64 + off, &value, widths[w]);
			run();
			same = found[0].check;
			memset((u8 *)words + (CODE(0) - BASE), 0x66, 64 + off);
			memset((u8 *)words + (CODE(0) - BASE) + 64 + off + widths[w], 0x66,
			       32 - off - widths[w]);
			run();
			checks += before != same && found[0].check == same;
		}
	tap_ok(good == all, "values of 1, 2, 4 and 8 bytes at all places of a word (%u of %u)", good, all);
	tap_ok(checks == all, "check words likewise (%u of %u)", checks, all);
	for (w = all = 0; w < 4; w++)
		for (at = 0; at < 9; at++, all++) {
			u64 first = NODE(0);

			/* A root of this width, at any address. */
			scene();
			desc.nr_steps = 2;
			memset(&desc.step[1], 0, sizeof(desc.step) - sizeof(desc.step[0]));
			desc.step[1] = (struct kunwind_interp_step){ .op = KUNWIND_INTERP_LOAD,
								     .width = widths[w], .arg = at };
			memset((u8 *)words + (OBJECT + 0x20 - BASE), 0xff, 32);
			put_bytes(OBJECT + 0x20 + at, &first, widths[w]);
			two_groups();
			memset((u8 *)words + (OBJECT + 0x20 - BASE), 0xff, 32);
			put_bytes(OBJECT + 0x20 + at, &first, widths[w]);
			/* The low byte of the node's address is 0, its low half is no address. */
			roots += run() == (widths[w] == 1 ? KUNWIND_INTERP_NO_STATE :
					   widths[w] == 2 ? KUNWIND_INTERP_UNREADABLE :
							    KUNWIND_INTERP_COMPLETE) &&
				 walk.count == (widths[w] < 4 ? 0 : 3);
		}
	tap_ok(roots == all, "a root of 1, 2, 4 and 8 bytes at any address (%u of %u)", roots, all);
}

static void test_root(void)
{
	scene();
	two_groups();
	put(OBJECT + 0x20, 31);
	put(ROOT + 0x10 + 16 * 31 + 8, NODE(0));
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "the highest key");
	put(OBJECT + 0x20, 32);
	is(KUNWIND_INTERP_BAD_KEY, "", 0, "a key at its limit");
	put(OBJECT + 0x20, 0xffffffff);
	is(KUNWIND_INTERP_BAD_KEY, "", 0, "a key that is negative");
	scene();
	root(0);
	is(KUNWIND_INTERP_NO_STATE, "", 0, "a thread that is not the interpreter's");
	scene();
	two_groups();
	memory.fs = 0;
	is(KUNWIND_INTERP_UNREADABLE, "", 0, "the base of fs is not known");
	scene();
	two_groups();
	walk.bias = 0xffffffff80000000;
	native[1] = walk.bias + LOOP + 1;
	is(KUNWIND_INTERP_UNREADABLE, "", 0, "a root in the kernel");
	scene();
	two_groups();
	desc.range[1].end = LOOP + 0xf0;
	desc.nr_ranges = 3;
	desc.range[2] = (struct kunwind_interp_range){ .start = LOOP + 0xf0, .end = LOOP + 0x100,
						       .flags = KUNWIND_INTERP_UNSETTLED };
	native[0] = BIAS + LOOP + 0xf0;
	is(KUNWIND_INTERP_UNSETTLED_CODE, "", 0, "the thread changes its lists");
	tap_ok(memory.left == KUNWIND_BUDGET, "then nothing is read");
	native[0] = ELSEWHERE;
	native[1] = BIAS + LOOP + 0xf8;
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "a call from there is no reason");
}

static void spoilt(u64 next, enum kunwind_interp_reason reason, const char *frames, u32 missing,
		   const char *what)
{
	scene();
	two_groups();
	put(NODE(2) + 8, next);
	is(reason, frames, missing, what);
}

static void test_spoilt(void)
{
	u32 length, good = 0, i, used;

	spoilt(0xffffffff81000000, KUNWIND_INTERP_UNREADABLE, "0@1 1@1", 1, "a node in the kernel");
	tap_ok(walk.unread >= 0xffffffff81000000 && walk.unread < 0xffffffff81000080, "the address is known");
	spoilt(~7ULL, KUNWIND_INTERP_UNREADABLE, "0@1 1@1", 1, "the last word of all");
	spoilt(8, KUNWIND_INTERP_UNREADABLE, "0@1 1@1", 1, "a node near address 0");
	spoilt(NODE(1) + 4, KUNWIND_INTERP_SPOILT, "0@1 1@1", 0, "a node that is not aligned");
	spoilt(0, KUNWIND_INTERP_NATIVE, "0@1 1@1", 1, "a list that ends without an end node");
	spoilt(BASE + sizeof(words) - 8, KUNWIND_INTERP_UNREADABLE, "0@1 1@1", 1,
	       "a node at the end of the memory");
	spoilt(NODE(2), KUNWIND_INTERP_SPOILT, "0@1 1@1", 0, "a node that leads to itself");
	scene();
	two_groups();
	put(NODE(2), CODE(2) + 4);
	is(KUNWIND_INTERP_SPOILT, "0@1 1@1", 0, "an id that is not aligned");
	scene();
	two_groups();
	put(NODE(2), 0xffffffff81000000);
	is(KUNWIND_INTERP_UNREADABLE, "0@1 1@1", 1, "an id in the kernel");
	for (length = 1; length <= 16; length++) {
		scene();
		two_groups();
		for (i = 0; i < length; i++)
			node(NODE(8 + i), CODE(3), NODE(8 + (i + 1) % length));
		put(NODE(1) + 8, NODE(8));
		good += run() == KUNWIND_INTERP_SPOILT && !walk.count &&
			KUNWIND_BUDGET - memory.left <= 3 * length + 40;
	}
	tap_ok(good == 16,
	       "lists that lead back: found in three rounds, and no frame is kept (%u of 16)", good);
	scene();
	two_outer_groups();
	put(FRAME(4) + 0x40 + 16, FRAME(4) + 0x40);
	inner(NODE(2), CODE(2), NODE(2), true);
	natives(".L..L.L.");
	good = run();
	used = KUNWIND_BUDGET - memory.left;
	tap_ok(good == KUNWIND_INTERP_SPOILT && frames_are("0@1 1@1 2@4") && used < 60,
	       "an outer list that leads back (reason %u, %u units)", good, used);
	scene();
	two_outer_groups();
	put(FRAME(4) + 0x40 + 8, NODE(9) + 1);
	is(KUNWIND_INTERP_SPOILT, "", 2, "a list that begins at no node: the group before it is torn");
}

static void test_bounds(void)
{
	u32 left, good = 0, room;

	scene();
	two_groups();
	memory.left = 6;
	is(KUNWIND_INTERP_COMPLETE, "0@1 1@1 2@4", 0, "a budget that is just enough");
	scene();
	two_groups();
	memory.left = 5;
	is(KUNWIND_INTERP_BUDGET, "0@1 1@1", 1,
	   "a budget that is spent at the last node: the first group stays");
	tap_ok(!memory.left, "no unit is left");
	for (left = 0; left < 4; left++) {
		scene();
		two_groups();
		memory.left = left;
		good += run() == KUNWIND_INTERP_BUDGET && !walk.count;
	}
	tap_ok(good == 4, "a smaller budget gives no group (%u of 4)", good);
	for (room = good = 0; room < 4; room++) {
		scene();
		two_groups();
		walk.capacity = room;
		good += run() == (room < 3 ? KUNWIND_INTERP_FULL : KUNWIND_INTERP_COMPLETE) &&
			walk.count == room && walk.missing == 3 - room &&
			found[room].id == 0xa5a5a5a5a5a5a5a5 &&
			(!room || found[0].id == CODE(0));
	}
	tap_ok(good == 4,
	       "no more frames than there is room for; the outermost are left out (%u of 4)", good);
	scene();
	two_groups();
	memory.hi = memory.lo;
	is(KUNWIND_INTERP_UNREADABLE, "", 0, "no memory at all");
}

/* Equal ids with other check words are another code. */
static void test_check(void)
{
	u32 first, second;

	scene();
	two_groups();
	put(CODE(0) + 64, 17ULL << 32);
	run();
	first = found[0].check;
	put(CODE(0) + 64, 18ULL << 32);
	run();
	second = found[0].check;
	tap_ok(first != second, "the first check word changes the digest");
	put(CODE(0) + 88, 1ULL << 32);
	run();
	tap_ok(found[0].check != second, "the second one, too");
	put(CODE(0) + 64, 1ULL << 32);
	put(CODE(0) + 88, 18ULL << 32);
	run();
	first = found[0].check;
	put(CODE(0) + 64, 18ULL << 32);
	put(CODE(0) + 88, 1ULL << 32);
	run();
	tap_ok(found[0].check != first, "which word has which value changes it, too");
	put(CODE(0) + 64, 18ULL << 32 | 0x12345678);
	second = found[0].check;
	run();
	tap_ok(found[0].check == second, "bytes beside a check word do not");
}

int main(void)
{
	test_groups();
	test_switched();
	test_outer_ends();
	test_array();
	test_widths();
	test_root();
	test_spoilt();
	test_bounds();
	test_check();
	return tap_done();
}
