/* SPDX-License-Identifier: MIT */
/*
 * go-scene.h - made files with .gopclntab, for tests
 *
 * A file is made of: code at offset CODE, address TEXT; the section at offset
 * TABLE. Each function has 64 bytes of code.
 */
#ifndef _TEST_GO_SCENE_H
#define _TEST_GO_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/core/rows/go.h"
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
		set(f, first + 8, f->lists, 8);
		set(f, first + 16, f->lists, 8);
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
	case KUNWIND_RULE_FULL:
		return "full";
	}
	return "another kind";
}

struct expected {
	int function, at;
	const char *newer, *older;	/* older: from releases before 1.18 */
};
#define SAME(function, at, rule)	{ function, at, rule, rule }

#endif /* _TEST_GO_SCENE_H */
