/* SPDX-License-Identifier: MIT */
/*
 * table-dump - print the packed table of an ELF file as text, for tests
 *
 * Usage: table-dump [-k MASK] FILE             every row
 *        table-dump [-k MASK] FILE -l QUERIES  the rule for each address
 * QUERIES holds ELF virtual addresses of 8 bytes each. With -l, a line has CFA,
 * rbp and ra, separated by tabs (rule-text.h). Without -l, the row's address
 * stands before these, and the rest of a full rule after them.
 */
#include "object.h"
#include "rule-text.h"

static int row_print(void *data, u64 addr, struct kunwind_rule rule)
{
	static char buf[4096], rest[8192];
	const struct kunwind_table *table = data;

	rule_text(table, rule, '\t', buf);
	rule_rest(table, rule, rest);
	printf("%llx\t%s%s\n", (unsigned long long)addr, buf, rest);
	return 0;
}

static int queries_answer(const struct kunwind_table *table, const char *path)
{
	static char buf[4096];
	static u64 addrs[8192];
	struct kunwind_rule last = { 0 };
	size_t n, i;
	FILE *f = fopen(path, "rb");

	if (!f)
		return 1;
	rule_text(table, last, '\t', buf);
	while ((n = fread(addrs, 8, ARRAY_SIZE(addrs), f)) > 0) {
		for (i = 0; i < n; i++) {
			struct kunwind_rule rule = kunwind_table_lookup(table, addrs[i]);

			if (memcmp(&rule, &last, sizeof(rule)))
				rule_text(table, rule, '\t', buf);
			last = rule;
			puts(buf);
		}
	}
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	struct kunwind_table *table;
	struct object o;
	u32 keep = 0;
	int err;

	if (argc > 2 && !strcmp(argv[1], "-k")) {
		keep = strtoul(argv[2], NULL, 0);
		argv += 2;
		argc -= 2;
	}
	if (argc != 2 && (argc != 4 || strcmp(argv[2], "-l"))) {
		fprintf(stderr, "usage: table-dump [-k MASK] FILE [-l QUERIES]\n");
		return 2;
	}
	err = object_open(&o, argv[1]);
	if (!err)
		err = kunwind_table_build(&o.section, keep, 1UL << 30, NULL, NULL, &table);
	if (err) {
		fprintf(stderr, "table-dump: %s: %s\n", argv[1],
			err < 0 ? "cannot open" : kunwind_build_error_name(err));
		return 1;
	}
	err = argc == 4 ? queries_answer(table, argv[3]) :
			  kunwind_table_for_each(table, row_print, table);
	kunwind_table_free(table);
	object_close(&o);
	return err || fflush(stdout) ? 1 : 0;
}
