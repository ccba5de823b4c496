// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * interp_check.c - check a description of an interpreter's call stack, and compile it
 *
 * Everything in the description may be hostile. What is accepted bounds each step of
 * a walk and each copy of bytes; it cannot make a walk read what is not user memory,
 * because the walk's reader checks each address (kunwind_mem_read()). A description
 * that makes no sense gives no frames or senseless ones, only in the processes for
 * which its giver may register it.
 */
#include "interp.h"

#define FLAGS	(KUNWIND_INTERP_HAS_OUTER | KUNWIND_INTERP_HAS_ARRAY | KUNWIND_INTERP_HAS_VIA | \
		 KUNWIND_INTERP_HAS_CHAIN)

static bool all_zero(const void *from, size_t size)
{
	const u8 *at = from;

	while (size && !*at)
		at++, size--;
	return !size;
}

/* Returns whether all elements of an array from the one at @nr on are zero. */
#define rest_is_zero(array, nr)							\
	all_zero(&(array)[nr], sizeof(array) - (nr) * sizeof((array)[0]))

static bool width_ok(u8 width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

static u64 mask_of(u8 width)
{
	return width == 8 ? ~0ULL : (1ULL << 8 * width) - 1;
}

static bool address_at_ok(u16 off)
{
	return !(off & 7);
}

static enum kunwind_interp_error check_counts(const struct kunwind_interp_desc *desc)
{
	if (desc->size != sizeof(*desc) || desc->flags & ~FLAGS || desc->pad || desc->pad2)
		return KUNWIND_INTERP_E_FORM;
	if (!desc->nr_ranges || desc->nr_ranges > KUNWIND_INTERP_RANGES ||
	    !desc->nr_steps || desc->nr_steps > KUNWIND_INTERP_STEPS ||
	    desc->nr_tests > KUNWIND_INTERP_TESTS || desc->nr_checks > KUNWIND_INTERP_CHECKS ||
	    desc->nr_fields > KUNWIND_INTERP_FIELDS)
		return KUNWIND_INTERP_E_COUNT;
	if (!rest_is_zero(desc->range, desc->nr_ranges) || !rest_is_zero(desc->step, desc->nr_steps) ||
	    !rest_is_zero(desc->test, desc->nr_tests) || !rest_is_zero(desc->check, desc->nr_checks) ||
	    !rest_is_zero(desc->field, desc->nr_fields))
		return KUNWIND_INTERP_E_FORM;
	return KUNWIND_INTERP_OK;
}

static enum kunwind_interp_error check_ranges(const struct kunwind_interp_desc *desc,
					      struct kunwind_interp *interp)
{
	u64 end = 0;
	u32 i;

	for (i = 0; i < desc->nr_ranges; i++) {
		const struct kunwind_interp_range *range = &desc->range[i];

		if (range->flags & ~KUNWIND_INTERP_UNSETTLED || range->pad)
			return KUNWIND_INTERP_E_FORM;
		if (range->start < end || range->end <= range->start ||
		    range->end > KUNWIND_INTERP_ADDRESSES)
			return KUNWIND_INTERP_E_RANGE;
		end = range->end;
		interp->range[i] = *range;
	}
	interp->nr_ranges = desc->nr_ranges;
	interp->lo = desc->range[0].start;
	interp->hi = end;
	return KUNWIND_INTERP_OK;
}

static bool step_ok(const struct kunwind_interp_step *step, bool first, bool has_key)
{
	const bool reads = step->op == KUNWIND_INTERP_LOAD || step->op == KUNWIND_INTERP_KEY;
	const s64 arg = step->arg;

	if (step->pad || (reads ? !width_ok(step->width) : step->width) ||
	    (step->op == KUNWIND_INTERP_KEY ? !step->limit || step->limit > KUNWIND_INTERP_KEYS :
					      step->limit))
		return false;
	switch (step->op) {
	case KUNWIND_INTERP_OBJECT:
		return arg >= 0 && arg < (s64)KUNWIND_INTERP_ADDRESSES;
	case KUNWIND_INTERP_FS:
		return arg > -KUNWIND_INTERP_OFFSETS && arg < KUNWIND_INTERP_OFFSETS;
	case KUNWIND_INTERP_LOAD:
	case KUNWIND_INTERP_KEY:
		return !first && arg > -KUNWIND_INTERP_OFFSETS && arg < KUNWIND_INTERP_OFFSETS;
	case KUNWIND_INTERP_INDEX:
		return has_key && arg > 0 && arg < KUNWIND_INTERP_OFFSETS;
	}
	return false;
}

static enum kunwind_interp_error check_steps(const struct kunwind_interp_desc *desc,
					     struct kunwind_interp *interp)
{
	bool has_key = false;
	u32 i;

	for (i = 0; i < desc->nr_steps; i++) {
		if (!step_ok(&desc->step[i], !i, has_key))
			return KUNWIND_INTERP_E_STEP;
		has_key |= desc->step[i].op == KUNWIND_INTERP_KEY;
		interp->step[i] = desc->step[i];
	}
	interp->nr_steps = desc->nr_steps;
	return KUNWIND_INTERP_OK;
}

/* Compiles a value. Its bases, besides the node, are those that @desc has. */
static bool place_of(const struct kunwind_interp_desc *desc, const struct kunwind_interp_value *value,
		     struct kunwind_interp_place *place)
{
	if (!width_ok(value->width) || value->off & (value->width - 1) ||
	    value->base > KUNWIND_INTERP_ID ||
	    (value->base == KUNWIND_INTERP_VIA && !(desc->flags & KUNWIND_INTERP_HAS_VIA)))
		return false;
	place->word = value->off & ~7;
	place->shift = 8 * (value->off & 7);
	place->mask = mask_of(value->width) << place->shift;
	place->base = value->base;
	return true;
}

static enum kunwind_interp_error check_values(const struct kunwind_interp_desc *desc,
					      struct kunwind_interp *interp)
{
	u32 i;

	if (!address_at_ok(desc->id) || !address_at_ok(desc->via) || !desc->id_mask ||
	    (desc->via && !(desc->flags & KUNWIND_INTERP_HAS_VIA)) ||
	    !place_of(desc, &desc->position, &interp->position) ||
	    desc->position.base != KUNWIND_INTERP_NODE)
		return KUNWIND_INTERP_E_VALUE;
	for (i = 0; i < desc->nr_tests; i++) {
		const struct kunwind_interp_test *test = &desc->test[i];

		if (test->pad || test->differs > 1)
			return KUNWIND_INTERP_E_FORM;
		if (!place_of(desc, &test->value, &interp->test[i].place) ||
		    !test->mask || test->mask & ~mask_of(test->value.width) ||
		    test->equals & ~test->mask ||
		    test->verdict < KUNWIND_INTERP_LAST || test->verdict > KUNWIND_INTERP_STOP)
			return KUNWIND_INTERP_E_VALUE;
		interp->test[i].place.mask = test->mask << interp->test[i].place.shift;
		interp->test[i].equals = test->equals << interp->test[i].place.shift;
		interp->test[i].verdict = test->verdict;
		interp->test[i].differs = test->differs;
	}
	for (i = 0; i < desc->nr_checks; i++)
		if (!place_of(desc, &desc->check[i], &interp->check[i]))
			return KUNWIND_INTERP_E_VALUE;
	interp->nr_tests = desc->nr_tests;
	interp->nr_checks = desc->nr_checks;
	interp->id_at = desc->id;
	interp->via_at = desc->via;
	interp->via = desc->flags & KUNWIND_INTERP_HAS_VIA;
	interp->id_mask = desc->id_mask;
	return KUNWIND_INTERP_OK;
}

/* What the walk has a shorter way for. */
static bool is_plain(const struct kunwind_interp *interp)
{
	u32 i;

	for (i = 0; i < interp->nr_checks; i++)
		if (interp->check[i].base != KUNWIND_INTERP_ID)
			return false;
	return interp->nr_checks <= KUNWIND_INTERP_PLAIN_CHECKS && interp->nr_tests == 1 &&
	       !interp->test[0].differs && interp->test[0].place.base == KUNWIND_INTERP_NODE &&
	       interp->position.mask == ~0ULL && !interp->via && !interp->stride;
}

static bool has_test(const struct kunwind_interp_desc *desc, u8 from, u8 to)
{
	u32 i;

	for (i = 0; i < desc->nr_tests; i++)
		if (desc->test[i].verdict >= from && desc->test[i].verdict <= to)
			return true;
	return false;
}

static enum kunwind_interp_error check_list(const struct kunwind_interp_desc *desc,
					    struct kunwind_interp *interp)
{
	const bool outer = desc->flags & KUNWIND_INTERP_HAS_OUTER;
	const bool array = desc->flags & KUNWIND_INTERP_HAS_ARRAY;
	const bool chain = desc->flags & KUNWIND_INTERP_HAS_CHAIN;
	const bool ends = has_test(desc, KUNWIND_INTERP_LAST, KUNWIND_INTERP_BEYOND);

	if (!address_at_ok(desc->outer_head) || !address_at_ok(desc->outer_next) ||
	    !address_at_ok(desc->next) || (!outer && (desc->outer_head || desc->outer_next)) ||
	    (outer && desc->outer_head == desc->outer_next) || (chain && (!outer || array)))
		return KUNWIND_INTERP_E_LIST;
	/* Nothing but a test ends an array. */
	if (array ? !desc->stride || desc->stride % 8 || desc->stride >= KUNWIND_INTERP_OFFSETS ||
		    desc->stride <= -KUNWIND_INTERP_OFFSETS || desc->next ||
		    !has_test(desc, KUNWIND_INTERP_STOP, KUNWIND_INTERP_STOP) :
		    desc->stride != 0)
		return KUNWIND_INTERP_E_LIST;
	if (desc->anchor > KUNWIND_INTERP_AT_END ||
	    (desc->anchor == KUNWIND_INTERP_AT_OUTER && !outer) ||
	    (desc->anchor == KUNWIND_INTERP_AT_END && !ends))
		return KUNWIND_INTERP_E_LIST;
	interp->anchor = desc->anchor;
	interp->outer = outer;
	interp->chain = chain;
	interp->outer_head = desc->outer_head;
	interp->outer_next = desc->outer_next;
	interp->next = desc->next;
	interp->stride = desc->stride;
	return KUNWIND_INTERP_OK;
}

static bool field_ok(const struct kunwind_interp_field *field)
{
	u32 i;

	if (field->nr_path > KUNWIND_INTERP_PATH || field->pad ||
	    !rest_is_zero(field->path, field->nr_path))
		return false;
	for (i = 0; i < field->nr_path; i++)
		if (!address_at_ok(field->path[i]))
			return false;
	if (field->length_width ? !width_ok(field->length_width) || !field->unit || field->unit > 16 :
				  field->length || field->unit || field->unit_width || !field->fixed)
		return false;
	if (field->unit_width ? !width_ok(field->unit_width) || field->unit_shift >= 8 * field->unit_width :
				field->unit_at || field->unit_shift)
		return false;
	return field->most && field->most <= KUNWIND_INTERP_BYTES && field->fixed <= field->most;
}

static enum kunwind_interp_error check_fields(const struct kunwind_interp_desc *desc,
					      struct kunwind_interp *interp)
{
	u32 i;

	for (i = 0; i < desc->nr_fields; i++) {
		if (!field_ok(&desc->field[i]))
			return KUNWIND_INTERP_E_FIELD;
		interp->field[i] = desc->field[i];
	}
	interp->nr_fields = desc->nr_fields;
	return KUNWIND_INTERP_OK;
}

enum kunwind_interp_error kunwind_interp_check(const struct kunwind_interp_desc *desc,
					       struct kunwind_interp *interp)
{
	enum kunwind_interp_error error;

	memset(interp, 0, sizeof(*interp));
	error = check_counts(desc);
	if (!error)
		error = check_ranges(desc, interp);
	if (!error)
		error = check_steps(desc, interp);
	if (!error)
		error = check_values(desc, interp);
	if (!error)
		error = check_list(desc, interp);
	if (!error)
		error = check_fields(desc, interp);
	if (!error)
		interp->plain = is_plain(interp);
	return error;
}
