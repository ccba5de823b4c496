/* SPDX-License-Identifier: MIT */
/*
 * build-cost-test.c - a build costs at most a small constant for each byte,
 * whatever the bytes
 *
 * Builds sections that are crafted to be expensive (attacks.h), as a whole and
 * in parts, and counts the work (cost.h): basic blocks of the core and words
 * that it copies or compares. No build may cost more than MOST_COST a byte.
 * Real objects that are installed must build, for at most REAL_COST a byte.
 *
 * Usage: build-cost-test [FILE...]: with files, prints the cost of each.
 *        build-cost-test --write SIZE DIRECTORY: writes the attacks as inputs
 *        of fuzzers
 */
#include "attacks.h"
#include "cost.h"
#include "object.h"
#include "parts.h"
#include "tap.h"

#define SIZE		(256 << 10)
#define MOST_COST	100
#define REAL_COST	40
#define SLACK		(64 << 10)	/* as in kmod/object/builder.c */
#define PART_FDES	1024		/* as in kmod/object/part_builder.c */

unsigned long cost_spent;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	cost_spent++;
}

struct result {
	enum kunwind_build_error err;
	unsigned long cost;
	u64 bytes;
};

static struct result build(const struct kunwind_section *section, u32 keep, u32 part_fdes)
{
	size_t limit = section->size + (section->more ? section->more->size : 0) + SLACK;
	struct kunwind_table_stats st = { 0 };
	struct kunwind_table *table;
	struct result r;

	cost_spent = 0;
	if (part_fdes)
		r.err = parts_build(section, keep, part_fdes, limit, NULL, NULL, &table);
	else
		r.err = kunwind_table_build(section, keep, limit, NULL, NULL, &table);
	r.cost = cost_spent;
	if (!r.err) {
		kunwind_table_stats(table, &st);
		kunwind_table_free(table);
	}
	r.bytes = st.bytes;
	return r;
}

static void test_attack(const struct attack_case *c)
{
	struct kunwind_section section[2];
	struct result whole, parts;
	double most, each;
	struct attack a;

	attack_make(&a, c, SIZE);
	attack_section(&a, section);
	whole = build(section, a.keep, 0);
	parts = build(section, a.keep, PART_FDES);
	most = (double)whole.cost / a.size;
	each = (double)parts.cost / a.size;
	tap_ok(most <= MOST_COST && each <= MOST_COST,
	       "cost of %s: %.1f a byte, in parts %.1f", c->name, most, each);
	printf("# %s, table of %llu bytes\n", kunwind_build_error_name(whole.err),
	       (unsigned long long)whole.bytes);
	free(a.data);
}

static void object_cost(const char *path, bool test)
{
	struct result r[3];
	struct object o;
	double size;

	if (object_open(&o, path))
		return;
	size = o.section.size + (o.section.more ? o.section.more->size : 0);
	r[0] = build(&o.section, 0, 0);
	r[1] = build(&o.section, 0, PART_FDES);
	r[2] = build(&o.section, KUNWIND_SAVED_REGS, 0);
	if (test)
		tap_ok(!r[0].err && !r[1].err && !r[2].err && r[0].cost / size <= REAL_COST,
		       "cost of %s: %.1f a byte, in parts %.1f, with all registers followed %.1f",
		       path, r[0].cost / size, r[1].cost / size, r[2].cost / size);
	else
		printf("%.2f\t%.2f\t%.2f\t%s\t%s\n", r[0].cost / size, r[1].cost / size,
		       r[2].cost / size, kunwind_build_error_name(r[0].err), path);
	object_close(&o);
}

/* Writes each attack to a file in the format of ../fuzz/fuzz.h. */
static int attacks_write(size_t size, const char *directory)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attack_cases); i++) {
		struct attack a;
		char path[4096];
		u8 how = 0x20;
		FILE *f;

		attack_make(&a, &attack_cases[i], size);
		/* in that format, .debug_frame is the second half */
		if (a.debug)
			how = 0x80;
		if (a.keep)
			how |= 0x1f;
		snprintf(path, sizeof(path), "%s/attack-%02u", directory, i);
		f = fopen(path, "wb");
		if (!f || fwrite(&how, 1, 1, f) != 1 || fwrite(a.data, 1, a.size, f) != a.size ||
		    fclose(f)) {
			perror(path);
			return 1;
		}
		free(a.data);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const paths[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/gdb", "/usr/bin/node",
		"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	};
	unsigned int i;

	if (argc == 4 && !strcmp(argv[1], "--write"))
		return attacks_write(strtoul(argv[2], NULL, 0), argv[3]);
	if (argc > 1) {
		for (i = 1; i < (unsigned int)argc; i++)
			object_cost(argv[i], false);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(attack_cases); i++)
		test_attack(&attack_cases[i]);
	for (i = 0; i < ARRAY_SIZE(paths); i++)
		object_cost(paths[i], true);
	return tap_done();
}
