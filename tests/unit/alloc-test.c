/* SPDX-License-Identifier: MIT */
/*
 * alloc-test.c - every allocation of the builder fails in its turn
 *
 * The seam's kunwind_alloc() is calloc() here, and the linker sends that to
 * __wrap_calloc(). The builder must answer "nomem" and give back what it had
 * (LeakSanitizer watches); with enough memory the same bytes build.
 */
#include "eh.h"
#include "tap.h"

static u32 calls, fail_at;

void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

void *__wrap_calloc(size_t nr, size_t size)
{
	if (++calls == fail_at)
		return NULL;
	return __real_calloc(nr, size);
}

/* Functions in falling order (to be sorted), 1000 rules, wide rules, expressions. */
static void section_make(struct eh *eh)
{
	size_t cie = eh_plain_cie(eh, "0c 07 08 90 01");
	u32 i;

	for (i = 500; i--;) {
		char code[64];

		sprintf(code, "0e %02x %02x 41 0f 05 77 %02x 06 23 08 41 10 03 03 77 80 00",
			0x80 | (i & 0x7f), 1 + (i >> 7), i & 0x3f);
		eh_plain_fde(eh, cie, TEXT_LO + 16 * i, 16, code);
	}
}

int main(void)
{
	static struct eh eh;
	struct kunwind_table_stats st;
	struct kunwind_table *table;
	enum kunwind_refusal err;
	u32 failed = 0, wrong = 0;

	section_make(&eh);
	for (fail_at = 1; fail_at < 1000; fail_at++) {
		table = NULL;
		calls = 0;
		err = eh_build(&eh, KUNWIND_REG(KUNWIND_RBX), &table);
		if (!err)
			break;
		failed++;
		wrong += err != KUNWIND_E_NOMEM || table;
	}
	tap_ok(failed > 10 && fail_at < 1000 && !wrong, "each of %u allocations fails: nomem", failed);
	if (!tap_ok(!err, "then it builds"))
		return tap_done();
	kunwind_table_stats(table, &st);
	tap_ok(st.nr_rows == 1500 && st.nr_rules > 500 && st.nr_wide > 60,
	       "%u rows, %u rules, %u of them wide", st.nr_rows, st.nr_rules, st.nr_wide);
	kunwind_table_free(table);
	return tap_done();
}
