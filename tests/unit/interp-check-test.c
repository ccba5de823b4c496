// SPDX-License-Identifier: MIT
/*
 * interp-check-test.c - descriptions of interpreters' lists: what is accepted, what is refused,
 * and bytes that name an id
 */
#include "interp-scene.h"
#include "../../kmod/core/interp/interp_field.h"

static enum kunwind_interp_error check(void)
{
	memset(&interp, 0xa5, sizeof(interp));
	return kunwind_interp_check(&desc, &interp);
}

/* One change of a good description, and the answer. */
#define IS(error, change, ...) do {						\
	scene();								\
	change;									\
	tap_ok(check() == KUNWIND_INTERP_ ## error, __VA_ARGS__);		\
} while (0)

static void array(void)
{
	desc.flags |= KUNWIND_INTERP_HAS_ARRAY | KUNWIND_INTERP_HAS_VIA;
	desc.next = 0;
	desc.stride = -56;
	desc.via = 32;
	desc.anchor = KUNWIND_INTERP_NO_ANCHOR;
	desc.test[0].verdict = KUNWIND_INTERP_STOP;
	desc.test[0].value.base = KUNWIND_INTERP_VIA;
}

static struct kunwind_interp_field *field(void)
{
	desc.nr_fields = 1;
	desc.field[0] = (struct kunwind_interp_field){
		.path = { 8, 16 }, .nr_path = 2, .length_width = 4, .unit = 7, .length = 12,
		.unit_width = 1, .unit_at = 3, .unit_shift = 2, .start = 24, .fixed = 16, .most = 64,
	};
	return &desc.field[0];
}

static void test_form(void)
{
	IS(OK, (void)0, "a list is accepted");
	IS(OK, describe_outer(), "a list in an outer list is accepted");
	IS(OK, array(), "an array is accepted");
	IS(OK, field(), "a field is accepted");
	IS(E_FORM, desc.size--, "another size is refused");
	IS(E_FORM, desc.size++, "a longer size is refused");
	IS(E_FORM, desc.flags = 1U << 4, "an unknown flag is refused");
	IS(E_FORM, desc.pad = 1, "padding that is not zero is refused");
	IS(E_FORM, desc.pad2 = 1, "padding after the position is refused");
	IS(E_FORM, desc.range[0].pad = 1, "padding of a range is refused");
	IS(E_FORM, desc.range[0].flags = 2, "an unknown flag of a range is refused");
	IS(E_FORM, desc.range[7].end = 1, "a range that is not counted is refused");
	IS(E_FORM, desc.step[5].op = 1, "a step that is not counted is refused");
	IS(E_FORM, desc.test[1].pad = 1, "a test that is not counted is refused");
	IS(E_FORM, desc.check[3].off = 8, "a check word that is not counted is refused");
	IS(E_FORM, desc.field[0].most = 8, "a field that is not counted is refused");
	IS(E_FORM, desc.test[0].pad = 1, "padding of a test is refused");
	IS(E_FORM, desc.test[0].differs = 2, "a test differs or not");
	IS(E_COUNT, desc.nr_ranges = 0, "no range is refused");
	IS(E_COUNT, desc.nr_ranges = 9, "nine ranges are refused");
	IS(E_COUNT, desc.nr_steps = 0, "no step is refused");
	IS(E_COUNT, desc.nr_steps = 9, "nine steps are refused");
	IS(E_COUNT, desc.nr_tests = 5, "five tests are refused");
	IS(E_COUNT, desc.nr_checks = 5, "five check words are refused");
	IS(E_COUNT, desc.nr_fields = 255, "many fields are refused");
}

static void test_ranges(void)
{
	IS(E_RANGE, desc.range[1].end = desc.range[1].start, "an empty range is refused");
	IS(E_RANGE, desc.range[1].end = 0, "a range that ends before it begins is refused");
	IS(E_RANGE, desc.range[1].start = COLD + 0x3f, "ranges that overlap are refused");
	IS(OK, desc.range[1].start = COLD + 0x40, "ranges that touch are accepted");
	IS(E_RANGE, desc.range[0].end = 0x3001; desc.range[0].start = 0x3000,
	   "ranges that are not sorted are refused");
	IS(OK, desc.range[1].end = KUNWIND_INTERP_ADDRESSES, "a range up to the highest address is accepted");
	IS(E_RANGE, desc.range[1].end = KUNWIND_INTERP_ADDRESSES + 1, "a range above is refused");
	IS(OK, desc.range[1].flags = KUNWIND_INTERP_UNSETTLED, "an unsettled range is accepted");
	tap_ok(interp.lo == COLD && interp.hi == LOOP + 0x100 &&
	       interp.range[1].flags == KUNWIND_INTERP_UNSETTLED,
	       "its flag, and the bounds of all ranges, are kept");
}

static void test_steps(void)
{
	static const u8 widths[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 255 };
	u32 i, good = 0;

	for (i = 0; i < sizeof(widths); i++) {
		scene();
		desc.step[4].width = widths[i];
		good += (check() == KUNWIND_INTERP_OK) ==
			(widths[i] == 1 || widths[i] == 2 || widths[i] == 4 || widths[i] == 8);
	}
	tap_ok(good == sizeof(widths), "a step loads 1, 2, 4 or 8 bytes (%u of %zu)", good, sizeof(widths));
	IS(E_STEP, desc.step[0].op = 0, "step 0 is refused");
	IS(E_STEP, desc.step[0].op = 6, "an unknown step is refused");
	IS(E_STEP, desc.step[0].pad = 1, "padding of a step is refused");
	IS(E_STEP, desc.step[0].width = 8, "a step that loads nothing has no width");
	IS(E_STEP, desc.step[4].limit = 1, "a step that is no key has no limit");
	IS(E_STEP, desc.step[1].limit = 0, "a key without a limit is refused");
	IS(OK, desc.step[1].limit = KUNWIND_INTERP_KEYS, "the highest limit is accepted");
	IS(E_STEP, desc.step[1].limit = KUNWIND_INTERP_KEYS + 1, "a higher limit is refused");
	IS(E_STEP, desc.step[0].arg = -1, "an object's byte before its first is refused");
	IS(E_STEP, desc.step[0].arg = KUNWIND_INTERP_ADDRESSES,
	   "an object's byte that is too high is refused");
	IS(OK, desc.step[2].arg = -0xffff, "thread-local data may lie below the base of fs");
	IS(E_STEP, desc.step[2].arg = -0x10000, "not 64 KiB below");
	IS(E_STEP, desc.step[2].arg = 0x10000, "not 64 KiB above");
	IS(OK, desc.step[4].arg = 0xffff, "a load may be 64 KiB less one above");
	IS(E_STEP, desc.step[4].arg = 0x10000, "not 64 KiB above");
	IS(E_STEP, desc.step[4].arg = INT64_MIN, "not the lowest number");
	IS(E_STEP, desc.step[3].arg = 0, "an index of no bytes is refused");
	IS(E_STEP, desc.step[3].arg = 0x10000, "an index of 64 KiB is refused");
	IS(E_STEP, desc.step[1] = desc.step[0], "an index without a key is refused");
	IS(E_STEP, desc.step[0] = desc.step[4], "a load from nowhere is refused");
	IS(E_STEP, desc.step[0] = desc.step[1], "a key from nowhere is refused");
}

static void test_values(void)
{
	u32 width, off, good = 0, all = 0;

	for (width = 0; width < 256; width++)
		for (off = 0; off < 24; off++, all++) {
			const bool is_width = width == 1 || width == 2 || width == 4 || width == 8;

			scene();
			desc.position = (struct kunwind_interp_value){ .off = off, .width = width };
			good += (check() == KUNWIND_INTERP_OK) == (is_width && off % width == 0);
		}
	tap_ok(good == all,
	       "a value has 1, 2, 4 or 8 bytes, and does not cross its width (%u of %u)", good, all);
	IS(E_VALUE, desc.id = 4, "the place of an id is aligned");
	IS(E_VALUE, desc.id_mask = 0, "an id has bits");
	IS(E_VALUE, desc.via = 8, "without its flag, there is no second address");
	IS(E_VALUE, desc.position.base = KUNWIND_INTERP_ID, "a position is in the node");
	IS(E_VALUE, desc.check[0].base = KUNWIND_INTERP_VIA,
	   "a check word by a second address needs its flag");
	IS(E_VALUE, desc.check[0].base = 3, "an unknown base is refused");
	IS(E_VALUE, desc.check[1].width = 3, "a check word of 3 bytes is refused");
	IS(E_VALUE, desc.test[0].value.off = 0xffff; desc.test[0].value.width = 2,
	   "a test at an odd place is refused");
	IS(OK, desc.test[0].value.off = 0xffff, "a test of the last byte is accepted");
	IS(E_VALUE, desc.test[0].mask = 0, "a test without a mask is refused");
	IS(E_VALUE, desc.test[0].mask = 0x100, "a mask wider than the value is refused");
	IS(E_VALUE, desc.test[0].mask = 1, "a test that can never hold is refused");
	IS(E_VALUE, desc.test[0].verdict = 0, "a test without a verdict is refused");
	IS(E_VALUE, desc.test[0].verdict = 5, "an unknown verdict is refused");
}

static void test_lists(void)
{
	IS(E_LIST, desc.next = 12, "the place of the next node is aligned");
	IS(E_LIST, desc.outer_head = 8, "without an outer list, it has no place");
	IS(E_LIST, describe_outer(); desc.outer_next = 8, "next and head of an outer node differ");
	IS(E_LIST, describe_outer(); desc.outer_next = 12, "the place of the next outer node is aligned");
	IS(E_LIST, desc.flags |= KUNWIND_INTERP_HAS_CHAIN, "without an outer list, nothing is chained");
	IS(E_LIST, desc.anchor = 3, "an unknown anchor is refused");
	IS(E_LIST, desc.anchor = KUNWIND_INTERP_AT_OUTER, "an anchor in an outer node needs one");
	IS(E_LIST, desc.test[0].verdict = KUNWIND_INTERP_SKIP, "an anchor at the end needs a test for it");
	IS(E_LIST, desc.stride = 8, "a list has no stride");
	IS(E_LIST, array(); desc.stride = 0, "an array has a stride");
	IS(E_LIST, array(); desc.stride = 20, "a stride is a multiple of 8");
	IS(E_LIST, array(); desc.stride = 0x10000, "a stride of 64 KiB is refused");
	IS(E_LIST, array(); desc.stride = INT32_MIN, "the lowest stride is refused");
	IS(E_LIST, array(); desc.next = 8, "an array has no next node");
	IS(E_LIST, array(); desc.test[0].verdict = KUNWIND_INTERP_LAST,
	   "an array needs a test that stops it");
}

static void test_fields(void)
{
	IS(E_FIELD, field()->nr_path = 5, "a path of five is refused");
	IS(E_FIELD, field()->path[2] = 8, "a path longer than it says is refused");
	IS(E_FIELD, field()->path[1] = 4, "a path is aligned");
	IS(E_FIELD, field()->pad = 1, "padding of a field is refused");
	IS(E_FIELD, field()->length_width = 3, "a length of 3 bytes is refused");
	IS(E_FIELD, field()->length_width = 0, "without a length, it has no place");
	IS(E_FIELD, field()->unit = 0, "a unit of no bytes is refused");
	IS(E_FIELD, field()->unit = 17, "a unit of 17 bytes is refused");
	IS(E_FIELD, field()->unit_width = 16, "a unit's number has at most 8 bytes");
	IS(E_FIELD, field()->unit_shift = 8, "a shift beyond the number is refused");
	IS(E_FIELD, field()->unit_width = 0, "without a number, it has no place");
	IS(E_FIELD, field()->most = 0, "a field of no bytes is refused");
	IS(E_FIELD, field()->most = 15, "a field shorter than its fixed part is refused");
	IS(OK, field()->most = KUNWIND_INTERP_BYTES, "a field of 64 KiB is accepted");
	IS(E_FIELD, field()->most = KUNWIND_INTERP_BYTES + 1, "a longer field is refused");
}

static u32 copies;

static bool copy_words(void *data, u64 addr, void *to, u32 size)
{
	(void)data;
	copies++;
	if (addr < BASE || addr > BASE + sizeof(words) || size > BASE + sizeof(words) - addr)
		return false;
	memcpy(to, (u8 *)words + (addr - BASE), size);
	return true;
}

static u8 bytes[80];

static u32 read_field(u32 room)
{
	return kunwind_interp_field_read(&interp.field[0], CODE(0), copy_words, NULL, bytes, room);
}

static void test_bytes(void)
{
	u32 n;

	scene();
	field();
	if (check())
		abort();
	put(CODE(0) + 8, CODE(1));
	put(CODE(1) + 16, CODE(2));
	put(CODE(2) + 12, 5);
	put_bytes(CODE(2) + 3, "\x08", 1);
	put_bytes(CODE(2) + 24, "0123456789abcdefghijklmnopqrstuvwxyz", 37);
	n = read_field(sizeof(bytes));
	tap_ok(n == 16 + 2 * 5 && !memcmp(bytes, "0123456789abcdefghijklmnopqrstuvwxyz", n) && copies == 5,
	       "a field: by two addresses, five units of two bytes (%u bytes, %u copies)", n, copies);
	n = read_field(20);
	tap_ok(n == 20, "no more bytes than there is room for");
	put(CODE(2) + 12, 0xffffffff);
	n = read_field(sizeof(bytes));
	tap_ok(n == 64, "no more bytes than the field has at most, whatever the length");
	put(CODE(1) + 16, 0);
	tap_ok(!read_field(sizeof(bytes)),
	       "an address that is 0: no bytes");
	put(CODE(1) + 16, 0xffffffff81000000);
	tap_ok(!read_field(sizeof(bytes)),
	       "an address that cannot be read: no bytes");
	put(CODE(1) + 16, BASE + sizeof(words) - 24);
	put(BASE + sizeof(words) - 12, 0);
	tap_ok(!read_field(sizeof(bytes)),
	       "bytes that end beyond what can be read: none");
}

int main(void)
{
	test_form();
	test_ranges();
	test_steps();
	test_values();
	test_lists();
	test_fields();
	test_bytes();
	return tap_done();
}
