/* SPDX-License-Identifier: MIT */
/*
 * alloc-test.c - each allocation of the builder fails in turn; and the most
 * memory a build takes
 *
 * kunwind_alloc() is calloc() here, and kunwind_free() is free(); the linker
 * redirects both to the functions below. When an allocation fails, the builder
 * must return "nomem" and free what it had (LeakSanitizer checks this); with
 * enough memory, the same bytes must build. Besides the table, a build of a
 * real object (those that are installed) may at no time take more than the
 * table's size and 64 KB. A build of a crafted section (attacks.h) may take no
 * more in total than kmod/object/builder.c charges: twice the section's size
 * and 64 KB.
 */
#include <malloc.h>

#include "attacks.h"
#include "eh.h"
#include "object.h"
#include "parts.h"
#include "tap.h"

static u32 calls, fail_at;
static size_t taken, most;

void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void __real_free(void *p);
void __wrap_free(void *p);

void *__wrap_calloc(size_t nr, size_t size)
{
	void *p;

	if (++calls == fail_at)
		return NULL;
	p = __real_calloc(nr, size);
	taken += malloc_usable_size(p);
	most = taken > most ? taken : most;
	return p;
}

void __wrap_free(void *p)
{
	if (p)
		taken -= malloc_usable_size(p);
	__real_free(p);
}

static void test_most(void)
{
	static const char *const paths[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/bin/gdb", "/usr/bin/node", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/bin/env",
	};
	struct kunwind_table_stats st;
	struct kunwind_table *table;
	struct object o;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		if (object_open(&o, paths[i]))
			continue;
		taken = 0;
		most = 0;
		if (!tap_ok(!kunwind_table_build(&o.section, 0, 1UL << 30, NULL, NULL, &table),
			    "memory: %s builds", paths[i]))
			continue;
		kunwind_table_stats(table, &st);
		tap_ok(most - st.bytes <= st.bytes + (64 << 10) && taken - st.bytes < 64,
		       "memory: %s: %llu bytes beside a table of %llu", paths[i],
		       (unsigned long long)(most - st.bytes), (unsigned long long)st.bytes);
		kunwind_table_free(table);
		taken = 0;
		most = 0;
		if (!tap_ok(!parts_build(&o.section, 0, 1024, 1UL << 30, NULL, NULL, &table),
			    "memory: %s builds in parts", paths[i]))
			continue;
		kunwind_table_stats(table, &st);
		/* the list of FDEs stays; sorting takes as much again */
		tap_ok(most - st.bytes <= st.bytes + (64 << 10) && taken - st.bytes <= 64 * st.nr_parts,
		       "memory: %s: %llu bytes beside a table in parts of %llu", paths[i],
		       (unsigned long long)(most - st.bytes), (unsigned long long)st.bytes);
		kunwind_table_free(table);
		object_close(&o);
	}
}

#define SLACK		(64 << 10)	/* as in kmod/object/builder.c */

/* Returns the most memory that a build (whole or in parts) took at a time. */
static size_t attack_most(const struct kunwind_section *section, u32 keep, size_t limit,
			  u32 part_fdes)
{
	struct kunwind_table *table;
	enum kunwind_build_error err;

	taken = 0;
	most = 0;
	if (part_fdes)
		err = parts_build(section, keep, part_fdes, limit, NULL, NULL, &table);
	else
		err = kunwind_table_build(section, keep, limit, NULL, NULL, &table);
	if (!err)
		kunwind_table_free(table);
	return most;
}

static void test_attacks(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attack_cases); i++) {
		struct kunwind_section section[2];
		size_t whole, parts, limit;
		struct attack a;

		attack_make(&a, &attack_cases[i], 1 << 20);
		attack_section(&a, section);
		limit = a.size + SLACK;
		whole = attack_most(section, a.keep, limit, 0);
		parts = attack_most(section, a.keep, limit, 1024);
		tap_ok(whole <= 2 * limit && parts <= 2 * limit,
		       "memory: build of %s: %zu KB, in parts %zu KB, at most the %zu KB charged",
		       attack_cases[i].name, whole >> 10, parts >> 10, 2 * limit >> 10);
		free(a.data);
	}
}

/* The test of main(), for a build in parts. */
static void test_parts(const struct eh *eh)
{
	struct kunwind_section section = {
		.data = eh->data, .size = eh->size, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
	};
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err = KUNWIND_E_NOMEM;
	u32 failed = 0, wrong = 0;

	for (fail_at = 1; fail_at < 1000; fail_at++) {
		calls = 0;
		err = parts_build(&section, 0, 100, 1 << 24, NULL, NULL, &table);
		if (!err)
			break;
		failed++;
		wrong += err != KUNWIND_E_NOMEM || table;
	}
	if (tap_ok(failed > 20 && fail_at < 1000 && !wrong && !err,
		   "build in parts: nomem when any of %u allocations fails, succeeds when none fails",
		   failed))
		kunwind_table_free(table);
	fail_at = 0;
}

/* Functions in descending order, 1000 rules, full rules, expressions. */
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
	enum kunwind_build_error err;
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
	tap_ok(failed > 10 && fail_at < 1000 && !wrong,
	       "build: nomem when any of %u allocations fails", failed);
	if (!tap_ok(!err, "build: succeeds when no allocation fails"))
		return tap_done();
	kunwind_table_stats(table, &st);
	tap_ok(st.nr_rows == 1500 && st.nr_rules > 500 && st.nr_full > 60,
	       "build: the table has %u rows, %u rules, %u of them full rules", st.nr_rows, st.nr_rules,
	       st.nr_full);
	kunwind_table_free(table);
	test_parts(&eh);
	test_most();
	test_attacks();
	return tap_done();
}
