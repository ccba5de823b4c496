/* SPDX-License-Identifier: MIT */
/*
 * go-test.c - rows of Go's functions: made tables of all formats, functions that
 * write rsp, and damaged tables under AddressSanitizer
 *
 * A file is made of: code at offset CODE, address TEXT; the section at offset
 * TABLE. Each function has 64 bytes of code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/core/rows/go.h"
#include "../../kmod/core/rows/unwind_info.h"
#include "tap.h"

#define TEXT	0x401000ULL
#define CODE	0x1000
#define TABLE	0x4000
#define RELA	0x8000
#define SIZE	0x9000
#define STEP	64		/* from function to function */

static const u32 magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

struct function {
	const char *name;
	u8 id, flags;
	const char *code;	/* hexadecimal */
	int list[14];		/* distance, bytes; 0 bytes end it */
};

struct file {
	u8 data[SIZE];
	struct kunwind_elf elf;
	u64 used;		/* of the section */
	u64 funcs[24];		/* places of struct _func in the section */
	u64 table, lists;	/* the same */
	int fail_at, reads;
};

static int file_read(void *data, u64 off, void *buf, size_t len)
{
	struct file *f = data;

	if (++f->reads == f->fail_at)
		return -1;
	if (off > SIZE || len > SIZE - off) {
		puts("Bail out! a read outside the file");
		exit(1);
	}
	memcpy(buf, f->data + off, len);
	return 0;
}

static u64 append(struct file *f, const void *bytes, size_t len)
{
	u64 at = f->used;

	memcpy(f->data + TABLE + at, bytes, len);
	f->used += len;
	return at;
}

static u64 append_number(struct file *f, u64 val, size_t len)
{
	return append(f, &val, len);
}

static void set(struct file *f, u64 at, u64 val, size_t len)
{
	memcpy(f->data + TABLE + at, &val, len);
}

static void append_varint(struct file *f, u32 val)
{
	for (; val > 0x7f; val >>= 7)
		append_number(f, val | 0x80, 1);
	append_number(f, val, 1);
}

static void append_list(struct file *f, const int *list)
{
	int distance = -1, i;

	for (i = 0; list[i + 1]; i += 2) {
		int change = list[i] - distance;

		append_varint(f, (u32)change << 1 ^ (u32)(change >> 31));
		append_varint(f, list[i + 1]);
		distance = list[i];
	}
	append_number(f, 0, 1);
}

/* Makes the section for @nr functions in the format of @magic. @start: in the header. */
static void make(struct file *f, u32 magic, const struct function *functions, int nr, u64 start)
{
	const bool newer = magic == magics[2] || magic == magics[3];
	const int word = newer ? 4 : 8;
	u64 names[24], lists[24], header, base;
	int i;

	memset(f, 0, sizeof(*f));
	append_number(f, magic, 4);
	append_number(f, 0x08010000, 4);
	append_number(f, nr, 8);
	header = f->used;
	if (magic != magics[0]) {
		for (i = 0; i < (newer ? 7 : 6); i++)
			append_number(f, 0, 8);
		for (i = 0; i < nr; i++)
			names[i] = append(f, functions[i].name, strlen(functions[i].name) + 1);
		f->lists = append_number(f, 0, 1);	/* offset 0 means: no list */
		for (i = 0; i < nr; i++) {
			lists[i] = f->used - f->lists;
			append_list(f, functions[i].list);
		}
		while (f->used % 8)
			append_number(f, 0, 1);
	}
	base = f->table = f->used;
	f->used += (2 * nr + 1) * word;
	for (i = 0; i < nr; i++) {
		f->funcs[i] = f->used;
		f->used += 64;
	}
	if (magic == magics[0]) {
		for (i = 0; i < nr; i++) {
			names[i] = append(f, functions[i].name, strlen(functions[i].name) + 1);
			lists[i] = f->used;
			append_list(f, functions[i].list);
		}
		base = 0;
	} else {
		u64 first = header + (newer ? 16 : 8);

		if (newer)
			set(f, header + 8, start, 8);
		set(f, first, header + (newer ? 56 : 48), 8);	/* names */
		set(f, first + 24, f->lists, 8);
		set(f, first + 32, f->table, 8);
		for (i = 0; i < nr; i++)
			names[i] -= header + (newer ? 56 : 48);
	}
	for (i = 0; i <= nr; i++) {
		u64 entry = (newer ? 0 : TEXT) + i * STEP;

		set(f, f->table + 2 * i * word, entry, word);
		if (i == nr)
			break;
		set(f, f->table + (2 * i + 1) * word, f->funcs[i] - base, word);
		set(f, f->funcs[i], entry, word);
		set(f, f->funcs[i] + word, names[i], 4);
		set(f, f->funcs[i] + word + 12, functions[i].list[1] ? lists[i] : 0, 4);
		if (newer) {
			u64 at = f->funcs[i] + (magic == magics[3] ? 40 : 36);

			set(f, at, functions[i].id, 1);
			set(f, at + 1, functions[i].flags, 1);
		}
	}
	for (i = 0; i < nr; i++) {
		const char *hex = functions[i].code;
		u8 *code = f->data + CODE + i * STEP;
		unsigned int byte;

		memset(code, 0x90, STEP);
		for (; hex && sscanf(hex, "%2x", &byte) == 1; hex += 2)
			*code++ = byte;
	}
	f->elf = (struct kunwind_elf){
		.go_addr = TEXT + 0x10000, .go_offset = TABLE, .go_size = f->used,
		.text_lo = TEXT, .text_hi = TEXT + nr * STEP, .text_section = TEXT,
		.entry = TEXT, .nr_loads = 1,
		.load[0] = { .vaddr = TEXT, .offset = CODE, .filesz = nr * STEP,
			     .memsz = nr * STEP, .flags = 5 },
	};
}

/* Measures, writes and builds. */
static enum kunwind_build_error build(struct file *f, struct kunwind_table **table)
{
	enum kunwind_build_error err;
	struct kunwind_section section;
	u64 size;
	u8 *out;

	err = kunwind_go_measure(file_read, f, &f->elf, &size);
	if (err)
		return err;
	out = malloc(size);
	err = kunwind_go_write(file_read, f, &f->elf, out, size);
	if (!err) {
		section = (struct kunwind_section){
			.data = out, .size = size, .debug = true, .min_fdes = ~0U, .strict = true,
			.lo = f->elf.text_lo, .hi = f->elf.text_hi,
		};
		err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, table);
	}
	free(out);
	return err;
}

/* A rule in words: "rsp+16", "rsp+16 saved", "r12+8 unknown", "end", "none". */
static const char *words_of(struct kunwind_rule rule)
{
	static const char *const regs[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
	static const char *const rbps[] = { "", " saved", " unknown" };
	static char text[64];

	switch (rule.kind & KUNWIND_RULE_KIND) {
	case KUNWIND_RULE_NONE:
		return "none";
	case KUNWIND_RULE_END:
		return "end";
	case KUNWIND_RULE_CFA:
		snprintf(text, sizeof(text), "%s%s+%d%s",
			 rule.kind & KUNWIND_RULE_SIGNAL ? "signal " : "", regs[rule.reg & 15],
			 rule.off, rbps[rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3]);
		if ((rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == KUNWIND_RBP_SAVED && rule.rbp != -16)
			return "rbp is saved at another place";
		return text;
	}
	return "another kind";
}

#define NOP13	"90909090909090909090909090"

/* The functions of most tests. */
static const struct function program[] = {
	{ "_rt0_amd64_linux", .flags = 4, .list = { 0, 5 } },
	{ "main.leaf", .list = { 0, 20 } },
	/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; ...; add; pop; ret; more behind the return */
	{ "main.framed", .code = "554889e54883ec109090909090904883c4105dc3",
	  .list = { 0, 1, 8, 7, 24, 10, 8, 1, 0, 1, 24, 20 } },
	/* sub $24,%rsp; mov %rbp,16(%rsp); ... */
	{ "main.older", .code = "4883ec18" NOP13 NOP13 "4883c418c3", .list = { 0, 4, 24, 30, 0, 1 } },
	{ "runtime.memmove", .flags = 4, .code = "4883ec10909090904883c410c390",
	  .list = { 0, 4, 16, 8, 0, 2 } },
	{ "runtime.goexit", .id = 7, .flags = 5, .list = { 0, 8 } },
	{ "runtime.sigpanic", .id = 18, .list = { 0, 1, 8, 20 } },
	{ "runtime.mstart", .id = 13, .flags = 5, .list = { 0, 8 } },
	{ "syscall.rawVforkSyscall", .flags = 4, .code = "909090909090415c9090909090904154",
	  .list = { 0, 8, -8, 8, 0, 8 } },
	{ "main.odd", .code = "4883ec0c4883c40c", .list = { 0, 4, 12, 4, 0, 4 } },
	{ .name = "main.foreign" },
	{ "runtime.goexit1", .id = 1, .list = { 0, 4 } },
	/* assembler: where it saves rbp, only its code says */
	{ "runtime.asyncPreempt", .id = 3, .flags = 4, .list = { 0, 1, 8, 8 } },
};
#define NR_FUNCTIONS	((int)(sizeof(program) / sizeof(program[0])))

struct expected {
	int function, at;
	const char *newer, *older;	/* older: from releases before 1.18 */
};
#define SAME(function, at, rule)	{ function, at, rule, rule }

static const struct expected rows[] = {
	SAME(0, 0, "end"), SAME(0, 4, "end"),
	SAME(1, 0, "rsp+8"), SAME(1, 19, "rsp+8"), SAME(1, 20, "none"), SAME(1, 63, "none"),
	SAME(2, 0, "rsp+8"), { 2, 1, "rsp+16", "rsp+16 unknown" }, { 2, 3, "rsp+16", "rsp+16 unknown" },
	{ 2, 4, "rsp+16 saved", "rsp+16 unknown" }, { 2, 8, "rsp+32 saved", "rsp+32 unknown" },
	{ 2, 17, "rsp+32 saved", "rsp+32 unknown" }, { 2, 18, "rsp+16 saved", "rsp+16 unknown" },
	SAME(2, 19, "rsp+8"), { 2, 20, "rsp+32 saved", "rsp+32 unknown" },
	{ 2, 39, "rsp+32 saved", "rsp+32 unknown" }, SAME(2, 40, "none"),
	{ 3, 4, "rsp+32", "rsp+32 unknown" }, { 3, 6, "rsp+32", "rsp+32 unknown" },
	{ 3, 7, "rsp+32 saved", "rsp+32 unknown" }, SAME(3, 34, "rsp+8"), SAME(3, 35, "none"),
	SAME(4, 3, "rsp+8"), SAME(4, 4, "rsp+24 unknown"), SAME(4, 12, "rsp+8"),
	SAME(5, 0, "end"), SAME(5, 1, "end"),
	SAME(6, 0, "signal rsp+8"), { 6, 1, "signal rsp+16", "signal rsp+16 unknown" },
	SAME(7, 0, "rsp+8"), SAME(7, 7, "rsp+8"),
	SAME(8, 7, "rsp+8"), SAME(8, 8, "none"), SAME(8, 15, "none"), SAME(8, 16, "rsp+8"),
	SAME(9, 4, "none"), SAME(9, 8, "rsp+8"),
	SAME(10, 0, "none"),
	SAME(11, 0, "rsp+8"), SAME(11, 3, "rsp+8"),
	SAME(12, 0, "signal rsp+8"), SAME(12, 8, "signal rsp+16 unknown"),
};

static void test_formats(void)
{
	static struct file f;
	unsigned int m, i;

	for (m = 0; m < 4; m++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const bool newer = m >= 2;

		make(&f, magics[m], program, NR_FUNCTIONS, TEXT);
		err = build(&f, &table);
		tap_ok(!err, "magic %x: a table is built", magics[m]);
		if (err)
			continue;
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const struct expected *e = &rows[i];
			const char *want = newer ? e->newer : e->older;
			const char *is = words_of(kunwind_table_lookup(table, TEXT + e->function * STEP +
									      e->at));

			tap_ok(!strcmp(is, want), "magic %x: %s+%d: %s", magics[m],
			   program[e->function].name, e->at, want);
			if (strcmp(is, want))
				printf("# it is %s\n", is);
		}
		kunwind_table_free(table);
	}
}

/* Functions that write rsp. The code is what Go 1.19 and 1.22 have, shortened. */
static const struct function switches[] = {
	{ "_rt0_amd64_linux", .flags = 4, .list = { 0, 5 } },
	/*
	 * sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; mov %rsp,%r12 (14); je;
	 * mov 56(%rdx),%rsp (19); nop; and $~15,%rsp; call *%rax (28); mov %r12,%rsp (30);
	 * mov 16(%rsp),%rbp; add $24,%rsp; ret (42); syscall (43), where je leads; jmp
	 */
	{ "runtime.nanotime1", .flags = 6,
	  .code = "4883ec1848896c2410488d6c24104989e47404488b623890"
		  "4883e4f0ffd04c89e4488b6c24104883c418c30f05ebe3",
	  .list = { 0, 4, 24, 38, 0, 1, 24, 4 } },
	/* mov 8(%rsp),%rdi; syscall (5); mov %rsi,%rsp (7); call *%r12; jmp */
	{ "runtime.clone", .flags = 6, .code = "488b7c24080f054889f441ffd4ebf8", .list = { 0, 15 } },
	/* mov %rax,%rdx; jne +5; jmp; (10) mov 56(%r14),%rsp; push %rax (15); call; pop */
	{ "runtime.mcall", .id = 11, .flags = 6,
	  .code = "4889c27505e900000000498b66385041ffd458", .list = { 0, 15, 8, 3, 0, 1 } },
	/* mov 56(%rbx),%rsp; mov (%rbx),%rbx; jmp *%rbx */
	{ "gogo", .flags = 6, .code = "488b6338488b1bffe3", .list = { 0, 9 } },
	/* push %rbp; mov %rsp,%rbp (4); and $~15,%rsp; call *%rax; mov %rbp,%rsp; pop %rbp (14); ret */
	{ "runtime.sigfwd", .flags = 6, .code = "554889e54883e4f0ffd04889ec5dc3",
	  .list = { 0, 1, 8, 13, 0, 1 } },
	/* je +3; mov %rsp,%rbp; mov %rsi,%rsp; call *%rax: the branch skips the save */
	{ "runtime.skips", .flags = 6, .code = "74034889e54889f4ffd0", .list = { 0, 10 } },
	/* mov %rsp,%rbp; mov %rsi,%rsp; mov %rsi,%rbp (6..9): the register is lost */
	{ "runtime.loses", .flags = 6, .code = "4889e54889f44889f590", .list = { 0, 10 } },
	/* mov %rsp,%rdx; mov %rsi,%rsp: a callee may change rdx */
	{ "runtime.scratch", .flags = 6, .code = "4889e24889f4ffd0", .list = { 0, 8 } },
	/* an instruction that is not known */
	{ "runtime.unknown", .flags = 6, .code = "90900f04", .list = { 0, 20 } },
	{ "runtime.sigreturn__sigaction", .flags = 6, .list = { 0, 10 } },
	{ "crosscall2", .flags = 4, .list = { 0, 10 } },
	/* mov %rsp,%rbx; and $~15,%rsp; call *%rax: libc's table does not follow rbx */
	{ "runtime.callCgoMmap", .flags = 6, .code = "4889e34883e4f0ffd0", .list = { 0, 9 } },
	/* mov %rsp,%rdx; sub $32,%rsp; and $~15,%rsp; call *%rax: the list lacks the sub */
	{ "runtime.asmcgocall_no_g", .flags = 6, .code = "4889e24883ec204883e4f0ffd0",
	  .list = { 0, 13 } },
	/* push %rbp; mov %rsp,%rbp; nop; pop %rbp; ret: written as data, so the list lacks it */
	{ "main.data", .flags = 4, .code = "554889e5905dc3", .list = { 0, 7 } },
	/* mov %rsp,%r12; mov %rsi,%rsp; xchg %rax,%r12 */
	{ "runtime.swaps", .flags = 6, .code = "4989e44889f4499490", .list = { 0, 9 } },
	/* mov %rsp,%r12; mov %rsi,%rsp; pop %r12 */
	{ "runtime.pops", .flags = 6, .code = "4989e44889f4415c90", .list = { 0, 9 } },
	/* the list moves, the code does not */
	{ "main.lies", .flags = 4, .code = "90909090", .list = { 0, 2, 8, 2 } },
};

static const struct expected switched[] = {
	SAME(1, 0, "rsp+8"), SAME(1, 4, "rsp+32 unknown"), SAME(1, 9, "rsp+32 unknown"),
	SAME(1, 14, "rsp+32 unknown"), SAME(1, 17, "rsp+32 unknown"), SAME(1, 19, "rsp+32 unknown"),
	SAME(1, 23, "r12+32 unknown"), SAME(1, 28, "r12+32 unknown"), SAME(1, 30, "r12+32 unknown"),
	SAME(1, 33, "rsp+32 unknown"), SAME(1, 42, "rsp+8"), SAME(1, 43, "r12+32 unknown"),
	SAME(1, 45, "r12+32 unknown"),
	SAME(2, 0, "rsp+8"), SAME(2, 5, "rsp+8"), SAME(2, 7, "none"), SAME(2, 10, "end"), SAME(2, 13, "end"),
	SAME(3, 0, "rsp+8"), SAME(3, 10, "rsp+8"), SAME(3, 14, "end"), SAME(3, 15, "end"), SAME(3, 18, "end"),
	SAME(4, 0, "rsp+8"), SAME(4, 4, "none"), SAME(4, 7, "none"),
	SAME(5, 1, "rsp+16 unknown"), SAME(5, 4, "rsp+16 unknown"), SAME(5, 8, "rbp+16 unknown"),
	SAME(5, 13, "rsp+16 unknown"), SAME(5, 14, "rsp+8"),
	SAME(6, 0, "rsp+8"), SAME(6, 5, "rsp+8"), SAME(6, 8, "none"),
	SAME(7, 3, "rsp+8"), SAME(7, 6, "rbp+8 unknown"), SAME(7, 9, "none"),
	SAME(8, 3, "rsp+8"), SAME(8, 6, "none"),
	SAME(9, 0, "rsp+8"), SAME(9, 1, "rsp+8"), SAME(9, 2, "none"), SAME(9, 4, "none"),
	SAME(10, 0, "none"), SAME(11, 0, "none"), SAME(12, 3, "rsp+8"), SAME(12, 8, "none"),
	SAME(13, 3, "rsp+8"), SAME(13, 7, "none"), SAME(13, 11, "none"),
	SAME(14, 0, "rsp+8"), SAME(14, 1, "none"), SAME(14, 6, "none"),
	SAME(15, 6, "r12+8 unknown"), SAME(15, 8, "none"),
	SAME(16, 6, "r12+8 unknown"), SAME(16, 8, "none"),
	SAME(17, 0, "rsp+8"), SAME(17, 1, "rsp+8"), SAME(17, 2, "none"), SAME(17, 3, "none"),
};

static void test_switches(void)
{
	const int nr = sizeof(switches) / sizeof(switches[0]);
	struct kunwind_table *table = NULL;
	static struct file f;
	unsigned int i;

	make(&f, magics[2], switches, nr, TEXT);
	tap_ok(!build(&f, &table), "functions that write rsp: a table is built");
	if (!table)
		return;
	for (i = 0; i < sizeof(switched) / sizeof(switched[0]); i++) {
		const struct expected *e = &switched[i];
		const char *is = words_of(kunwind_table_lookup(table, TEXT + e->function * STEP + e->at));

		tap_ok(!strcmp(is, e->newer), "%s+%d: %s", switches[e->function].name, e->at, e->newer);
		if (strcmp(is, e->newer))
			printf("# it is %s\n", is);
	}
	kunwind_table_free(table);
}

/* The start of Go's text: in the header, in a relocation, or by the entry point. */
static void test_text(void)
{
	static struct file f;
	u64 rela[3] = { TEXT + 0x10000 + 24, 8, TEXT }, size;

	make(&f, magics[3], program, NR_FUNCTIONS, 0);
	tap_ok(!kunwind_go_measure(file_read, &f, &f.elf, &size), "text: found by the entry point");
	f.elf.entry++;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: refused if the entry point is no function's");
	f.elf.entry = TEXT + STEP;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: refused if the entry point is another function's");
	f.elf.entry = 0;
	memcpy(f.data + RELA + 24, rela, sizeof(rela));
	f.elf.rela_offset = RELA;
	f.elf.rela_size = 48;
	tap_ok(!kunwind_go_measure(file_read, &f, &f.elf, &size), "text: found by a relocation");
	f.elf.rela_size = 47;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: half a relocation is not read");
	f.elf.rela_size = 48;
	f.data[RELA + 24 + 8] = 1;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: a relocation of another type is not used");
}

/* One thing is wrong; nothing of the section is used. */
static void test_refused(void)
{
	static const struct {
		const char *what;
		int at, len;		/* from the section's start; -1: the list, -2: the table */
		u64 val;
		enum kunwind_build_error err;
	} wrong[] = {
		{ "another magic", 0, 4, 0xfffffffc, KUNWIND_E_VERSION },
		{ "big-endian magic", 0, 4, 0xf0ffffff, KUNWIND_E_VERSION },
		{ "a padding byte", 4, 1, 1, KUNWIND_E_HEADER },
		{ "instructions of 4 bytes", 6, 1, 4, KUNWIND_E_HEADER },
		{ "pointers of 4 bytes", 7, 1, 4, KUNWIND_E_HEADER },
		{ "no function", 8, 8, 0, KUNWIND_E_HEADER },
		{ "more functions than bytes", 8, 8, 0x400, KUNWIND_E_HEADER },
		{ "functions beyond all bounds", 8, 8, ~0ULL, KUNWIND_E_HEADER },
		{ "names outside", 32, 8, 0x10000, KUNWIND_E_HEADER },
		{ "lists outside", 56, 8, ~0ULL, KUNWIND_E_HEADER },
		{ "functions outside", 64, 8, 0x10000, KUNWIND_E_HEADER },
		{ "text before the code", 24, 8, TEXT - 1, KUNWIND_E_RANGE },
		{ "text after the code", 24, 8, TEXT + 1, KUNWIND_E_RANGE },
		{ "text that wraps", 24, 8, ~0ULL - 8, KUNWIND_E_RANGE },
		{ "a function outside the section", -2 - 4, 4, 0xffffff00, KUNWIND_E_TRUNCATED },
		{ "a function that ends before it starts", -2 - 16, 4, 0, KUNWIND_E_RANGE },
		{ "a list longer than its function", -1, 2, 0x4102, KUNWIND_E_RANGE },
		{ "a list with an empty range", -1, 2, 0x0002, KUNWIND_E_RANGE },
		{ "a number of 33 bits", -1, 5, 0x1fffffffffULL, KUNWIND_E_OPERAND },
	};
	static struct file f;
	unsigned int i;
	u64 size;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		enum kunwind_build_error err;
		u64 at = wrong[i].at;

		make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
		if (wrong[i].at == -1)
			at = f.lists + 4;	/* the first function has rows without its list */
		else if (wrong[i].at < -1)
			at = f.table - wrong[i].at - 2;
		set(&f, at, wrong[i].val, wrong[i].len);
		err = kunwind_go_measure(file_read, &f, &f.elf, &size);
		tap_ok(err == wrong[i].err, "refused: %s", wrong[i].what);
		if (err != wrong[i].err)
			printf("# it is %d\n", err);
	}
}

static void test_reads(void)
{
	static struct file f;
	int i, nr;
	u64 size, again;
	u8 *out;

	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	tap_ok(!kunwind_go_measure(file_read, &f, &f.elf, &size), "reads: all succeed");
	nr = f.reads;
	for (i = 1; i <= nr; i++) {
		f.reads = 0;
		f.fail_at = i;
		if (kunwind_go_measure(file_read, &f, &f.elf, &again) != KUNWIND_E_IO)
			break;
	}
	tap_ok(i > nr, "reads: an error of any of %d is returned", nr);
	f.fail_at = 0;
	out = malloc(size);
	tap_ok(!kunwind_go_write(file_read, &f, &f.elf, out, size), "written: as many bytes as measured");
	/* The file changed between the two passes. */
	f.data[TABLE + f.lists + 4] = 4;
	tap_ok(kunwind_go_write(file_read, &f, &f.elf, out, size) == KUNWIND_E_IO ||
	   kunwind_go_write(file_read, &f, &f.elf, out, size - 1) == KUNWIND_E_IO,
	   "written: a file that changed is refused");
	tap_ok(kunwind_go_write(file_read, &f, &f.elf, out, size - 1) == KUNWIND_E_IO,
	   "written: nothing after the room");
	free(out);
}

static void put(struct file *f, u64 at, u64 val, int size)
{
	memcpy(f->data + at, &val, size);
}

/* Makes an ELF file of it: one segment, and sections. @name: of the Go table's section. */
static void make_elf(struct file *f, const char *name)
{
	static const char strings[] = "\0.text\0.debug_frame\0.shstrtab";
	const u64 headers = RELA + 0x200, names = RELA + 0x100;
	struct { u32 name, type; u64 flags, addr, offset, size; } sections[] = {
		{ 0, 0, 0, 0, 0, 0 },
		{ 1, 1, 6, TEXT, CODE, f->elf.text_hi - TEXT },
		{ 7, 1, 0, 0, TABLE, 64 },	/* as Go's linker writes, too */
		{ sizeof(strings), 1, 2, f->elf.go_addr, TABLE, f->elf.go_size },
		{ 20, 3, 0, 0, names, sizeof(strings) + strlen(name) + 1 },
	};
	unsigned int i;

	memcpy(f->data, "\x7f" "ELF\2\1\1", 7);
	put(f, 16, 2, 2);
	put(f, 18, 62, 2);
	put(f, 20, 1, 4);
	put(f, 24, f->elf.entry, 8);
	put(f, 32, 64, 8);
	put(f, 40, headers, 8);
	put(f, 54, 56, 2);
	put(f, 56, 1, 2);
	put(f, 58, 64, 2);
	put(f, 60, 5, 2);
	put(f, 62, 4, 2);
	put(f, 64, 1, 4);
	put(f, 68, 5, 4);
	put(f, 72, CODE, 8);
	put(f, 80, TEXT, 8);
	put(f, 96, f->elf.load[0].filesz, 8);
	put(f, 104, f->elf.load[0].memsz, 8);
	memcpy(f->data + names, strings, sizeof(strings));
	strcpy((char *)f->data + names + sizeof(strings), name);
	for (i = 0; i < 5; i++)
		memcpy(f->data + headers + 64 * i, &sections[i], sizeof(sections[i]));
}

static void test_elf(void)
{
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	static struct file f;
	struct kunwind_elf elf;
	unsigned int i;
	u8 *data;
	u64 size;

	for (i = 0; i < 2; i++) {
		make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
		(void)!kunwind_go_measure(file_read, &f, &f.elf, &size);
		make_elf(&f, sections[i]);
		tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && elf.go && !elf.eh_size &&
		       elf.debug_size == size, "%s: its rows take the place of .debug_frame", sections[i]);
		data = malloc(elf.debug_size);
		tap_ok(!kunwind_unwind_info_read(file_read, &f, &elf, data) && data[4] == 0xff,
		       "%s: the rows are written", sections[i]);
		free(data);
	}
	f.data[TABLE] = 0;
	tap_ok(kunwind_unwind_info_find(file_read, &f, SIZE, &elf) == KUNWIND_E_NO_CFI && !elf.go &&
	       !elf.debug_size, "a malformed table: the file has no unwind information");
	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	make_elf(&f, ".gopclntabx");
	tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && !elf.go && elf.debug_size == 64,
	       "a section with a longer name is not Go's");
}

/* Each byte of the section damaged: an answer or an error, no read outside. */
static void test_damage(void)
{
	static struct file f;
	static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
	unsigned int m, v, tables = 0, errors = 0;
	u64 i;

	for (m = 0; m < 4; m++) {
		make(&f, magics[m], program, NR_FUNCTIONS, TEXT);
		for (i = 0; i < f.elf.go_size; i++) {
			const u8 old = f.data[TABLE + i];

			for (v = 0; v < sizeof(values); v++) {
				struct kunwind_table *table = NULL;

				f.data[TABLE + i] = values[v];
				if (build(&f, &table))
					errors++;
				else
					tables++;
				kunwind_table_free(table);
			}
			f.data[TABLE + i] = old;
		}
		for (i = f.elf.go_size; i; i--) {
			u64 size;

			f.elf.go_size = i - 1;
			errors += !!kunwind_go_measure(file_read, &f, &f.elf, &size);
		}
	}
	tap_ok(tables && errors, "damaged: %u tables, %u errors", tables, errors);
}

int main(void)
{
	test_formats();
	test_switches();
	test_text();
	test_refused();
	test_reads();
	test_elf();
	test_damage();
	return tap_done();
}
