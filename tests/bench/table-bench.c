/* SPDX-License-Identifier: MIT */
/*
 * table-bench.c - measure the size of tables, and the time of builds and
 * lookups
 *
 * Usage: table-bench [-k MASK] FILE... MASK: registers to keep. Prints a
 * tab-separated line for each object: table, name, bytes of .eh_frame +
 * .eh_frame_hdr, FDEs, rows (gaps included), rules, full rules, bytes of the
 * table, bytes a row (of the whole table), table as a share of the sections,
 * million rows built a second, nanoseconds a lookup (pseudo-random addresses;
 * then 16 addresses repeatedly). Then milliseconds of a build as a whole, of
 * the first stage of a build in parts (build_parts.c) and of its longest part,
 * and the bytes of all parts. Times of builds are the best of RUNS.
 */
#include <stdlib.h>
#include <time.h>

#include "../unit/object.h"

#define RUNS	7
#define PART_FDES	1024	/* as in kmod/object/part_builder.c */

/* CPU time of this process, because other processes may be running. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Returns the size of the PT_GNU_EH_FRAME segment, or 0 if there is none. */
static u64 hdr_size(const struct object *o)
{
	u64 phoff;
	u16 phnum, i;

	memcpy(&phoff, o->data + 32, 8);
	memcpy(&phnum, o->data + 56, 2);
	for (i = 0; i < phnum; i++) {
		const u8 *p = o->data + phoff + 56 * i;
		u32 type;
		u64 size;

		memcpy(&type, p, 4);
		memcpy(&size, p + 32, 8);
		if (type == 0x6474e550)
			return size;
	}
	return 0;
}

static volatile u64 sink;

static double lookup_ns(const struct kunwind_table *table, u64 base, u64 span, u64 mask)
{
	double t0 = now();
	u64 x = 1, sum = 0;
	int i, n = 2000000;

	for (i = 0; i < n; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		sum += kunwind_table_lookup(table, base + ((x >> 32 & mask) * span >> 32)).off;
	}
	sink = sum;
	return (now() - t0) / n * 1e9;
}

static double less(double a, double b)
{
	return a < b ? a : b;
}

/*
 * Builds a table in parts. Lowers *@first and *@part to the seconds of the
 * first stage and of the longest part, if these are less. Sets *@bytes to the
 * size of all parts. Returns whether all parts were built.
 */
static bool stages(const struct object *o, u32 keep, double *first, double *part, u64 *bytes)
{
	struct kunwind_table_stats st;
	struct kunwind_build_parts *s;
	struct kunwind_table *table;
	double t0 = now(), longest = 0;
	bool wanted;
	u32 n;

	if (kunwind_build_parts_begin(&o->section, keep, PART_FDES, 1UL << 30, NULL, NULL, &s,
				      &table))
		return false;
	*first = less(*first, now() - t0);
	while ((n = kunwind_build_parts_next(s, &wanted)) != ~0U) {
		t0 = now();
		if (kunwind_build_parts_one(s, n))
			break;
		if (now() - t0 > longest)
			longest = now() - t0;
	}
	*part = less(*part, longest);
	kunwind_build_parts_end(s);
	kunwind_table_stats(table, &st);
	*bytes = st.bytes;
	kunwind_table_free(table);
	return st.parts_built == st.nr_parts;
}

static int bench(const char *path, u32 keep)
{
	struct kunwind_table_stats st;
	struct kunwind_table *table;
	double best = 1e9, first = 1e9, part = 1e9;
	struct object o;
	u64 sections, bytes = 0;
	int i, err = object_open(&o, path);

	if (err) {
		fprintf(stderr, "%s: %s\n", path, err < 0 ? "cannot open" : kunwind_build_error_name(err));
		return 1;
	}
	for (i = 0; i < RUNS; i++) {
		double t0 = now();

		err = kunwind_table_build(&o.section, keep, 1UL << 30, NULL, NULL, &table);
		best = less(best, now() - t0);
		if (!err && !stages(&o, keep, &first, &part, &bytes))
			err = KUNWIND_E_ABORTED;
		if (err) {
			fprintf(stderr, "%s: %s\n", path, kunwind_build_error_name(err));
			return 1;
		}
		if (i < RUNS - 1)
			kunwind_table_free(table);
	}
	kunwind_table_stats(table, &st);
	sections = o.section.size + hdr_size(&o);
	printf("table\t%s\t%llu\t%u\t%u\t%u\t%u\t%llu\t%.2f\t%.1f%%\t%.1f\t%.0f\t%.0f\t"
	       "%.2f\t%.2f\t%.2f\t%llu\n",
	       strrchr(path, '/') ? strrchr(path, '/') + 1 : path, (unsigned long long)sections,
	       st.nr_fdes, st.nr_rows, st.nr_rules, st.nr_full, (unsigned long long)st.bytes,
	       (double)st.bytes / st.nr_rows, 100.0 * st.bytes / sections,
	       st.nr_rows / best * 1e-6, lookup_ns(table, st.base, st.span, 0xffffffff),
	       lookup_ns(table, st.base, st.span, 0xf0000000),
	       best * 1e3, first * 1e3, part * 1e3, (unsigned long long)bytes);
	kunwind_table_free(table);
	object_close(&o);
	return 0;
}

int main(int argc, char **argv)
{
	int i = 1, status = 0;
	u32 keep = 0;

	if (argc > 2 && !strcmp(argv[1], "-k")) {
		keep = strtoul(argv[2], NULL, 0);
		i = 3;
	}
	puts("#table\tobject\teh_frame+hdr\tFDEs\trows\trules\twide\tbytes\tbytes/row\tshare\tMrows/s\t"
	     "ns/lookup\tns/lookup of 16\tms\tms of stage 1\tms of a part\tbytes in parts");
	for (; i < argc; i++)
		status |= bench(argv[i], keep);
	return status;
}
