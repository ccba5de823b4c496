/* SPDX-License-Identifier: MIT */
/*
 * code-test.c - depths of the stack that are read from code, against the CFI of
 * real objects: where an object's own rule says CFA = rsp + n, the code from the
 * function's start to there must say n - 8, or that it does not know.
 */
#include "../../kmod/core/cfi.h"
#include "../../kmod/core/walk.h"
#include "object.h"
#include "tap.h"

struct function {
	u64 start, end;
};

struct counts {
	const struct function *functions;
	u32 nr, at;
	struct kunwind_mem mem;
	bool entry;		/* the function begins with nothing on its stack */
	u64 right, wrong, unknown;
};

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static u32 functions_list(const struct object *o, struct function *functions, u32 most)
{
	struct kunwind_record record;
	struct kunwind_cie cie;
	struct kunwind_fde fde;
	size_t offset;
	u32 nr = 0;

	for (offset = 0; nr < most; offset = record.end) {
		if (kunwind_record_read(&o->section, offset, &record) ||
		    record.kind == KUNWIND_RECORD_END)
			break;
		if (record.kind != KUNWIND_RECORD_FDE ||
		    kunwind_cie_read(&o->section, record.cie, &cie) || cie.signal ||
		    kunwind_fde_read(&o->section, &record, &cie, &fde) || !fde.len)
			continue;
		functions[nr++] = (struct function){ fde.start, fde.start + fde.len };
	}
	qsort(functions, nr, sizeof(functions[0]), by_start);
	return nr;
}

static int row(void *data, u64 addr, struct kunwind_rule rule)
{
	struct counts *c = data;
	s32 depth, rbp_at;

	while (c->at < c->nr && c->functions[c->at].end <= addr) {
		c->at++;
		c->entry = false;
	}
	/* The cold part of a function, and a PLT, are entered with something on the stack. */
	if (c->at < c->nr && addr == c->functions[c->at].start)
		c->entry = rule.off == 8 && rule.reg == KUNWIND_RSP;
	if (!c->entry || c->at == c->nr || addr < c->functions[c->at].start || rule.reg != KUNWIND_RSP ||
	    (rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA)
		return 0;
	depth = kunwind_code_depth(&c->mem, c->functions[c->at].start, addr, &rbp_at);
	if (depth < 0)
		c->unknown++;
	else if (depth == rule.off - 8)
		c->right++;
	else if (c->wrong++ < 5)
		printf("# %#lx in %#lx: %d, CFI %d\n", (unsigned long)addr,
		       (unsigned long)c->functions[c->at].start, depth, rule.off - 8);
	return 0;
}

static void test_object(const char *path)
{
	const u32 most = 200000;
	struct kunwind_table *table;
	struct function *functions;
	struct counts c = { };
	struct object o;
	u64 all;
	u32 i;

	if (object_open(&o, path))
		return;
	functions = calloc(most, sizeof(*functions));
	if (kunwind_table_build(&o.section, 0, 1UL << 30, NULL, NULL, &table))
		return;
	for (i = 0; i < o.elf.nr_loads; i++)
		if (o.elf.load[i].flags & 1) {	/* PF_X */
			c.mem.lo = o.elf.load[i].vaddr;
			c.mem.hi = o.elf.load[i].vaddr + o.elf.load[i].filesz;
			c.mem.delta = (u64)(uintptr_t)o.data + o.elf.load[i].offset - c.mem.lo;
		}
	c.functions = functions;
	c.nr = functions_list(&o, functions, most);
	kunwind_table_for_each(table, row, &c);
	all = c.right + c.wrong + c.unknown;
	printf("# %lu rows: %lu right, %lu wrong, %lu not known\n", (unsigned long)all,
	       (unsigned long)c.right, (unsigned long)c.wrong, (unsigned long)c.unknown);
	/* a few are wrong: behind calls that do not return */
	tap_ok(all > 1000 && c.wrong * 500 < all && c.right * 100 > all * 80,
	       "code: depths in %s", path);
	kunwind_table_free(table);
	free(functions);
	object_close(&o);
}

int main(void)
{
	test_object("/usr/lib/x86_64-linux-gnu/libc.so.6");
	test_object("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	test_object("/usr/bin/python3.11");
	return tap_done();
}
