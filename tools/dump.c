// SPDX-License-Identifier: MIT
/*
 * dump.c - kunwind dump: print the unwind table of an ELF file, row by row
 *
 * The module's own code does the work: the core finds .eh_frame and
 * .debug_frame, compiles them, and looks each row up as the walk does. This
 * file only prints. Memory: the sections and the table, some 1.2 times the
 * sections' size.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfi/elf.h"
#include "rows/unwind_info.h"
#include "x86/i386.h"
#include "kunwind_core.h"

#include "dwarf_op.h"
#include "tool.h"

/* The columns of a row; the text before each of them, and after the last. */
enum dump_column { COLUMN_ADDRESS, COLUMN_CFA, COLUMN_RBP, COLUMN_RA, COLUMN_MORE, COLUMN_END };

static const char *const as_text[] = { "", "\t", "\t", "\t", "\t", "\n" };
static const char *const as_json[] = { "{\"address\": \"0x", "\", \"cfa\": \"", "\", \"rbp\": \"",
	"\", \"ra\": \"", "\", \"more\": \"", "\"}" };

struct dump {
	const struct kunwind_table *table;
	enum { TEXT, TSV, JSON } format;
	const char *const *before;	/* as_text or as_json */
	u64 nr_printed;
	int status;
};

static void column(const struct dump *dump, enum dump_column column)
{
	fputs(dump->before[column], stdout);
}

/* Prints the three rules of a row as given. */
static void print_rules(const struct dump *dump, const char *cfa, const char *rbp, const char *ra)
{
	column(dump, COLUMN_CFA);
	fputs(cfa, stdout);
	column(dump, COLUMN_RBP);
	fputs(rbp, stdout);
	column(dump, COLUMN_RA);
	fputs(ra, stdout);
}

/* The kunwind_read_fn of a file descriptor, to which @file points. */
static int read_at(void *file, u64 off, void *buf, size_t len)
{
	char *at = buf;
	ssize_t n;

	while (len) {
		if (off > INT64_MAX)
			return -EINVAL;
		n = pread(*(int *)file, at, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		at += n;
		off += (u64)n;
		len -= (size_t)n;
	}
	return 0;
}

static const char *reg_name(const struct dump *dump, u8 reg)
{
	return kunwind_dwarf_reg(kunwind_table_i386(dump->table), reg);
}

/* Where a call puts the return address. */
static const char *ra_place(const struct dump *dump)
{
	return kunwind_table_i386(dump->table) ? "c-4" : "c-8";
}

static void print_expr(const struct dump *dump, s32 off, const char *name)
{
	u16 len;
	const u8 *expr = kunwind_table_expr(dump->table, off, &len);

	printf("%s(", name);
	if (expr)
		kunwind_dwarf_print(stdout, kunwind_table_i386(dump->table), expr, len);
	else
		putchar('?');
	putchar(')');
}

/* Prints a register's rule: where the caller's value of the register is. */
static void print_register(const struct dump *dump, const struct kunwind_full_rule_entry *entry)
{
	switch (entry->how) {
	case KUNWIND_HOW_UNDEFINED:
		putchar('u');
		break;
	case KUNWIND_HOW_SAME:
		putchar('s');
		break;
	case KUNWIND_HOW_AT_CFA:
		printf("c%+d", entry->off);
		break;
	case KUNWIND_HOW_CFA:
		printf("v%+d", entry->off);
		break;
	case KUNWIND_HOW_REG:
		fputs(reg_name(dump, entry->source), stdout);
		if (entry->off)
			printf("%+d", entry->off);
		break;
	case KUNWIND_HOW_AT_EXPR:
		print_expr(dump, entry->off, "exp");
		break;
	case KUNWIND_HOW_EXPR:
		print_expr(dump, entry->off, "vexp");
		break;
	default:
		putchar('?');
	}
}

/* Prints the CFA's rule. "exp" is an expression whose value is the CFA. */
static void print_cfa(const struct dump *dump, const struct kunwind_full_rule_entry *entry)
{
	switch (entry->how) {
	case KUNWIND_HOW_REG:
		printf("%s%+d", reg_name(dump, entry->source), entry->off);
		break;
	case KUNWIND_HOW_AT_EXPR:
		fputs("*(", stdout);
		print_expr(dump, entry->off, "vexp");
		putchar(')');
		break;
	case KUNWIND_HOW_EXPR:
		print_expr(dump, entry->off, "exp");
		break;
	default:
		putchar('?');
	}
}

/* Returns the entry of a register; NULL if the rule has none. */
static const struct kunwind_full_rule_entry *wide_find(const struct kunwind_full_rule *wide, u8 reg)
{
	const struct kunwind_full_rule_entry *entry = (const void *)(wide + 1);
	u32 i;

	for (i = 1; i < wide->nr; i++)
		if (entry[i].reg == reg)
			return &entry[i];
	return NULL;
}

static void print_wide(struct dump *dump, struct kunwind_rule rule)
{
	const struct kunwind_full_rule *wide = kunwind_table_full_rule(dump->table, rule.off);
	const struct kunwind_full_rule_entry *entry, *rbp, *ra;
	const char *space = dump->before[COLUMN_MORE];
	u32 i;

	if (!wide) {
		print_rules(dump, "?", "?", "?");
		dump->status = TOOL_FAILED;
		return;
	}
	entry = (const void *)(wide + 1);
	rbp = wide_find(wide, KUNWIND_RBP);
	ra = wide_find(wide, KUNWIND_RA);
	column(dump, COLUMN_CFA);
	print_cfa(dump, entry);
	column(dump, COLUMN_RBP);
	if (rbp)
		print_register(dump, rbp);
	else
		putchar('s');
	column(dump, COLUMN_RA);
	if (ra)
		print_register(dump, ra);
	else
		fputs(ra_place(dump), stdout);
	if (wide->signal) {
		printf("%ssignal", space);
		space = " ";
	}
	for (i = 1; i < wide->nr; i++) {
		if (&entry[i] == rbp || &entry[i] == ra)
			continue;
		printf("%s%s=", space, reg_name(dump, entry[i].reg));
		print_register(dump, &entry[i]);
		space = " ";
	}
}

static void print_narrow(const struct dump *dump, struct kunwind_rule rule, u8 kind)
{
	const char *reg = reg_name(dump, rule.reg & ~KUNWIND_RULE_FLAGS);

	column(dump, COLUMN_CFA);
	if (kind == KUNWIND_RULE_DEREF)
		printf(kunwind_deref_add(rule) ? "*(%s%+d)+%u" : "*(%s%+d)", reg,
		       kunwind_deref_off(rule), kunwind_deref_add(rule));
	else if (kind == KUNWIND_RULE_PLT)
		printf("rsp+8+8*((rip&15)>=%d)", rule.off);
	else
		printf("%s%+d", reg, rule.off);
	column(dump, COLUMN_RBP);
	switch ((rule.kind >> KUNWIND_RULE_RBP_SHIFT) & 3) {
	case KUNWIND_RBP_SAME:
		putchar('s');
		break;
	case KUNWIND_RBP_SAVED:
		printf("c%+d", rule.rbp);
		break;
	default:
		putchar('u');
	}
	column(dump, COLUMN_RA);
	fputs(ra_place(dump), stdout);
	if (rule.kind & KUNWIND_RULE_SIGNAL) {
		column(dump, COLUMN_MORE);
		fputs("signal", stdout);
	}
}

/* Prints a row. Returns not 0 if writing failed. */
static int print_row(void *data, u64 addr, struct kunwind_rule rule)
{
	struct dump *dump = data;
	u8 kind = rule.kind & KUNWIND_RULE_KIND;

	if (dump->format == JSON)
		fputs(dump->nr_printed++ ? ",\n    " : "\n    ", stdout);
	column(dump, COLUMN_ADDRESS);
	printf("%016" PRIx64, addr);
	switch (kind) {
	case KUNWIND_RULE_NONE:
		print_rules(dump, "-", "-", "-");
		break;
	case KUNWIND_RULE_END:
		print_rules(dump, "-", "-", "u");
		break;
	case KUNWIND_RULE_FULL:
		print_wide(dump, rule);
		break;
	case KUNWIND_RULE_CFA:
	case KUNWIND_RULE_DEREF:
	case KUNWIND_RULE_PLT:
		print_narrow(dump, rule, kind);
		break;
	default:
		print_rules(dump, "?", "?", "?");
		dump->status = TOOL_FAILED;
	}
	column(dump, COLUMN_END);
	return ferror(stdout);
}

static int refuse(const char *path, enum kunwind_build_error build_error)
{
	kunwind_tool_error("%s: refused: %s", path, kunwind_build_error_name(build_error));
	return TOOL_FAILED;
}

static void print_head(const struct dump *dump, const char *path)
{
	struct kunwind_table_stats stats;

	kunwind_table_stats(dump->table, &stats);
	if (dump->format == TEXT) {
		fputs("# ", stdout);
		kunwind_tool_text(stdout, path, "");
		printf(": %u FDEs, %u rows, %u rules, %" PRIu64 " bytes (%.2f a row)\n"
		       "# address\tCFA\t%s\tra\n", stats.nr_fdes, stats.nr_rows, stats.nr_rules,
		       stats.bytes, stats.nr_rows ? (double)stats.bytes / stats.nr_rows : 0.0,
		       reg_name(dump, KUNWIND_RBP));
	} else if (dump->format == JSON) {
		fputs("{\n  \"file\": ", stdout);
		kunwind_tool_json_string(path);
		printf(",\n  \"fdes\": %u, \"rows\": %u, \"rules\": %u, \"bytes\": %" PRIu64
		       ",\n  \"table\": [", stats.nr_fdes, stats.nr_rows, stats.nr_rules, stats.bytes);
	}
}

static int dump_table(struct dump *dump, const char *path, const struct kunwind_section *section,
		      u32 keep)
{
	struct kunwind_table_stats stats;
	struct kunwind_table *table;
	enum kunwind_build_error build_error;

	build_error = kunwind_table_build(section, keep, SIZE_MAX / 2, NULL, NULL, &table);
	if (build_error)
		return refuse(path, build_error);
	kunwind_table_stats(table, &stats);
	dump->table = table;
	print_head(dump, path);
	kunwind_table_for_each(table, print_row, dump);
	/* where the last row ends; no row begins there */
	print_row(dump, stats.base + stats.span, kunwind_table_lookup(table, stats.base + stats.span));
	if (dump->format == JSON)
		fputs("\n  ]\n}\n", stdout);
	kunwind_table_free(table);
	return dump->status;
}

static int dump_file(struct dump *dump, const char *path, int fd, u32 keep)
{
	struct kunwind_section section[2];
	enum kunwind_build_error build_error;
	struct kunwind_code_gaps *gaps;
	struct kunwind_elf elf;
	struct stat st;
	u64 size;
	u8 *data;
	int status;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		kunwind_tool_error("%s: not a regular file; name an ELF file", path);
		return TOOL_FAILED;
	}
	build_error = kunwind_unwind_info_find(read_at, &fd, (u64)st.st_size, &elf);
	if (build_error)
		return refuse(path, build_error);
	size = elf.eh_size + elf.debug_size;
	data = malloc(size ? size : 1);
	if (!data)
		return refuse(path, KUNWIND_E_NOMEM);
	build_error = kunwind_unwind_info_read(read_at, &fd, &elf, data);
	if (!build_error)
		build_error = kunwind_unwind_info_read_code(read_at, &fd, &elf, data, NULL, NULL,
							    NULL, &gaps);
	if (!build_error)
		build_error = kunwind_unwind_info_add_rows(&elf, gaps, NULL, NULL, NULL, &data);
	if (build_error) {
		free(data);
		return refuse(path, build_error);
	}
	kunwind_elf_sections(&elf, data, data + elf.eh_size, section);
	status = dump_table(dump, path, section, keep);
	free(data);
	return status;
}

int kunwind_cmd_dump(int argc, char **argv)
{
	struct dump dump = { .status = TOOL_OK };
	const char *path = NULL;
	u32 keep = 0;
	int i, fd, status;

	for (i = 1; i < argc; i++) {
		if (kunwind_tool_is(argv[i], "--tsv")) {
			dump.format = TSV;
		} else if (kunwind_tool_is(argv[i], "--json")) {
			dump.format = JSON;
		} else if (!strcmp(argv[i], "--saved")) {
			keep = KUNWIND_SAVED_REGS | KUNWIND_I386_SAVED;
		} else if (!strcmp(argv[i], "--") && i + 2 == argc && !path) {
			path = argv[++i];
		} else if (argv[i][0] == '-' || path) {
			kunwind_tool_error("unknown argument %s", argv[i]);
			return kunwind_tool_usage(TOOL_USAGE);
		} else {
			path = argv[i];
		}
	}
	if (!path) {
		kunwind_tool_error("no file given: name an ELF file");
		return kunwind_tool_usage(TOOL_USAGE);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		kunwind_tool_error("%s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	dump.before = dump.format == JSON ? as_json : as_text;
	status = dump_file(&dump, path, fd, keep);
	close(fd);
	return status;
}
