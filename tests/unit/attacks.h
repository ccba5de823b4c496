/* SPDX-License-Identifier: MIT */
/*
 * attacks.h - crafted .eh_frame that is meant to be expensive to build, for
 * tests
 *
 * Each attack fills a section with one pattern that makes a loop of the builder
 * do as much work as possible for each byte. Most sections are valid; their
 * table is small, or refused.
 */
#ifndef _TEST_ATTACKS_H
#define _TEST_ATTACKS_H

#include "../../kmod/core/kunwind_core.h"

#define ATTACK_ADDR	0x1000ULL
#define ATTACK_LO	0x10000ULL
#define ATTACK_HI	0x40000000ULL

struct attack {
	u8 *data;
	size_t size, room;
	size_t debug;		/* where .debug_frame begins; 0: there is none */
	size_t cie;		/* the CIE of the FDEs that follow */
	u64 at;			/* start of the next FDE */
	u32 keep;
};

static inline bool attack_room(const struct attack *a, size_t len)
{
	return a->room - a->size >= len;
}

static inline void attack_put(struct attack *a, const void *bytes, size_t len)
{
	if (!attack_room(a, len))
		abort();
	memcpy(a->data + a->size, bytes, len);
	a->size += len;
}

static inline void attack_num(struct attack *a, u64 val, size_t len)
{
	attack_put(a, &val, len);
}

static inline u8 *attack_uleb(u8 *p, u64 val)
{
	for (; val > 0x7f; val >>= 7)
		*p++ = 0x80 | (val & 0x7f);
	*p++ = val;
	return p;
}

/* CIE "zR" (@signal: "zRS"), udata4 addresses: CFA = rsp + 8, then @code. */
static inline size_t attack_cie(struct attack *a, bool signal, const void *code, size_t len)
{
	static const u8 usual[] = { 0x0c, 7, 8, 0x90, 1 };
	size_t cie = a->size, letters = signal ? 4 : 3;

	attack_num(a, 4 + 1 + letters + 3 + 2 + sizeof(usual) + len, 4);
	attack_num(a, a->debug ? 0xffffffff : 0, 4);
	attack_num(a, 1, 1);
	attack_put(a, signal ? "zRS" : "zR", letters);
	attack_put(a, "\x01\x78\x10\x01\x03", 5);
	attack_put(a, usual, sizeof(usual));
	attack_put(a, code, len);
	a->cie = cie;
	return cie;
}

/* Writes an FDE of the CIE at a->cie. */
static inline void attack_fde_at(struct attack *a, u64 start, u32 span, const void *code, size_t len)
{
	attack_num(a, 4 + 4 + 4 + 1 + len, 4);
	attack_num(a, a->debug ? a->cie - a->debug : a->size - a->cie, 4);
	attack_num(a, start, 4);
	attack_num(a, span, 4);
	attack_num(a, 0, 1);
	attack_put(a, code, len);
}

static inline void attack_fde(struct attack *a, u32 span, const void *code, size_t len)
{
	attack_fde_at(a, a->at, span, code, len);
	a->at += span;
}

/* Fills the section with FDEs of instructions @head, then @code repeated. */
static inline void attack_run(struct attack *a, const void *head, size_t head_len,
			      const void *code, size_t len)
{
	static u8 program[32 << 10];
	size_t most = a->room / 4 < sizeof(program) ? a->room / 4 : sizeof(program);

	while (attack_room(a, most + 64)) {
		size_t n = head_len;

		memcpy(program, head, head_len);
		while (n + len <= most) {
			memcpy(program + n, code, len);
			n += len;
		}
		attack_fde(a, 2 * n, program, n);
	}
}

/* A CIE that saves each register. */
static inline size_t attack_full_cie(struct attack *a, bool signal)
{
	u8 code[2 * KUNWIND_NR_REGS];
	unsigned int i;

	for (i = 0; i < KUNWIND_NR_REGS; i++) {
		code[2 * i] = 0x80 | i;
		code[2 * i + 1] = 1 + i;
	}
	return attack_cie(a, signal, code, sizeof(code));
}

static inline void attack_nops(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_run(a, "", 0, "\0\0\0\0", 4);
}

static inline void attack_zero_advance(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_run(a, "", 0, "\x40\x40\x40\x02\0", 5);
}

static inline void attack_same_rows(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x41", 1);
}

static inline void attack_same_rows_again(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x41\xc3", 2);
}

static inline void attack_plain_rows(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_run(a, "", 0, "\x41\xc6", 2);
}

static inline void attack_two_rows(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x41\x0e\x10\x41\x0e\x08", 6);
}

static inline void attack_two_rows_kept(struct attack *a)
{
	attack_full_cie(a, false);
	a->keep = KUNWIND_SAVED_REGS;
	attack_run(a, "", 0, "\x41\x0e\x10\x41\x0e\x08", 6);
}

static inline void attack_remember(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x0a\x0b", 2);
}

static inline void attack_remember_deep(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", 16);
}

static inline void attack_remember_changed(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x0a\x83\x01\x0b", 4);
}

static inline void attack_remember_rows(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "\x0a", 1, "\x0b\x41\x0a\xc3\x41", 5);
}

static inline void attack_def_cfa(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_run(a, "", 0, "\x0d\x07\x0e\x08", 4);
}

static inline void attack_lebs(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_run(a, "", 0, "\x2e\x80\x80\x80\x80\x80\x80\x80\x80\x80\0"
		   "\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\0", 22);
}

static inline void attack_columns(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_run(a, "", 0, "\x08\x50\x07\x51\x06\x52\x08\x03", 8);
}

static inline void attack_set_loc(struct attack *a)
{
	static u8 code[5 * 128];

	attack_full_cie(a, true);
	while (attack_room(a, sizeof(code) + 64)) {
		size_t n;

		for (n = 0; n < sizeof(code); n += 5) {
			u32 to = a->at + n / 5;

			code[n] = 1;
			memcpy(code + n + 1, &to, 4);
		}
		attack_fde(a, sizeof(code), code, sizeof(code));
	}
}

/* Expressions of nops below eight branches that are still open. */
static inline void attack_branches(struct attack *a)
{
	u8 code[3 + 256] = { 0x16, 3, 0x80 | (256 & 0x7f) };
	unsigned int i, n = 4;
	u8 *expr = code + 4;

	attack_full_cie(a, true);
	code[3] = 253 >> 7;
	code[2] = 0x80 | (253 & 0x7f);
	for (i = 0; i < 253; i++)
		expr[i] = 0x96;
	for (i = 0; i < 8; i++) {
		u16 distance = 253 - (4 * i + 4);

		expr[4 * i] = 0x12;
		expr[4 * i + 1] = 0x28;
		memcpy(expr + 4 * i + 2, &distance, 2);
	}
	n = 4 + 253;
	attack_run(a, "", 0, code, n);
}

static inline void attack_short_expressions(struct attack *a)
{
	attack_full_cie(a, true);
	attack_run(a, "", 0, "\x16\x03\x01\x30\x41\x16\x03\x01\x31\x41", 10);
}

/* Expressions of one length with equal hashes; they differ in the middle. */
static inline void attack_expression_hashes(struct attack *a)
{
	static u8 programs[40][3 + 40];
	static u8 all[40 * 43];
	unsigned int i;

	attack_full_cie(a, true);
	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		const u64 golden = 0x9e3779b97f4a7c15ULL;
		u8 *expr = programs[i] + 3, entry[40];
		u64 hash, word, want = 0x1234567, low;
		u16 len = 38;

		memcpy(programs[i], "\x16\x03\x26", 3);
		memset(expr, 0x96, len);
		expr[5] = 0x0e;			/* const8u: its operand is a word of the entry */
		word = i;
		memcpy(expr + 6, &word, 8);
		expr[14] = 0x13;		/* drop */
		expr[21] = 0x0e;
		memset(expr + 22, 0, 8);
		memcpy(entry, &len, 2);
		memcpy(entry + 2, expr, len);
		hash = sizeof(entry);
		for (unsigned int w = 0; w < 3; w++) {
			memcpy(&low, entry + 8 * w, 8);
			hash = (hash ^ low) * golden;
			hash ^= hash >> 29;
		}
		hash ^= want;			/* the word that leads to one state */
		memcpy(expr + 22, &hash, 8);
		memcpy(all + i * 41, programs[i], 41);
	}
	attack_run(a, "", 0, all, 40 * 41);
}

/* Rules in one bucket of the builder's hash table. */
static inline void attack_rule_hashes(struct attack *a)
{
	static u8 head[64 << 10];
	u8 *p = head, tail[32], *t = tail;
	u32 off = 0, nr = 0;

	attack_cie(a, false, "", 0);
	for (off = 1; nr < 80; off++) {
		struct kunwind_rule rule = { .off = off, .kind = KUNWIND_RULE_CFA, .reg = 7 };
		u64 key;

		memcpy(&key, &rule, sizeof(key));
		key ^= key >> 32;
		if ((key * 0x9e3779b97f4a7c15ULL) >> (64 - 14) != 77)
			continue;
		nr++;
		*p++ = 0x0e;
		p = attack_uleb(p, off);
		*p++ = 0x41;
		if (nr == 63 || nr == 64) {
			*t++ = 0x0e;
			t = attack_uleb(t, off);
			*t++ = 0x41;
		}
	}
	/* then two of them for ever, by remember and restore */
	*p++ = 0x0a;
	attack_fde(a, 4096, head, p - head);
	memcpy(head, tail, t - tail);
	{
		u8 first[16];
		size_t n = (t - tail) / 2;

		memcpy(first, tail, n);		/* 0e .. 41 */
		first[n - 1] = 0x0a;
		memcpy(first + n, tail + n, 0);
		attack_run(a, first, n, (const u8[]){
			0x0b, 0x41, 0x0a, 0x0e, tail[n + 1], tail[n + 2], tail[n + 3], 0x41 }, 8);
	}
}

/* As many rules as a table has room for; they are sorted by frequency. */
static inline void attack_many_rules(struct attack *a)
{
	static u8 code[900];
	u32 off = 0x4000, end = off + a->room / 40;

	attack_cie(a, false, "", 0);
	while (attack_room(a, sizeof(code) + 64) && off < end) {
		u8 *p = code;

		while (p - code < (int)sizeof(code) - 8 && off < end) {
			*p++ = 0x0e;
			p = attack_uleb(p, off++);
			*p++ = 0x41;
		}
		attack_fde(a, p - code, code, p - code);
	}
}

static inline void attack_small_fdes(struct attack *a)
{
	attack_full_cie(a, true);
	while (attack_room(a, 64))
		attack_fde(a, 1, "", 0);
}

static inline void attack_empty_fdes(struct attack *a)
{
	attack_full_cie(a, true);
	attack_fde(a, 1, "", 0);
	while (attack_room(a, 64))
		attack_fde(a, 0, "", 0);
}

/* FDEs that alternate between @nr CIEs with programs of @len bytes. */
static inline void attack_cies(struct attack *a, u32 nr, u32 len, u8 byte)
{
	static u8 code[1000];
	static size_t cies[100000];
	u32 i;

	memset(code, byte, sizeof(code));
	for (i = 0; i < nr && attack_room(a, len + 64); i++)
		cies[i] = attack_cie(a, false, code, len);
	nr = i;
	for (i = 0; attack_room(a, 64); i++) {
		a->cie = cies[i % nr];
		attack_fde(a, 1, "", 0);
	}
}

static inline void attack_long_cie(struct attack *a)
{
	attack_cies(a, 1, 1000, 0);
}

static inline void attack_200_long_cies(struct attack *a)
{
	attack_cies(a, 200, 1000, 0);
}

static inline void attack_200_remembering_cies(struct attack *a)
{
	static u8 code[960];
	static size_t cies[200];
	u32 i;

	for (i = 0; i < sizeof(code); i++)
		code[i] = i < 34 ? (i & 1 ? 1 : 0x80 | i / 2) : i & 1 ? 0x0b : 0x0a;
	for (i = 0; i < ARRAY_SIZE(cies) && attack_room(a, 1100); i++)
		cies[i] = attack_cie(a, true, code, sizeof(code));
	for (i = 0; attack_room(a, 64); i++) {
		a->cie = cies[i % ARRAY_SIZE(cies)];
		attack_fde(a, 1, "", 0);
	}
}

static inline void attack_many_cies(struct attack *a)
{
	attack_cies(a, a->room / 60, 0, 0);
}

static inline void attack_cie_each(struct attack *a)
{
	static const u8 code[100];

	while (attack_room(a, 256)) {
		attack_cie(a, false, code, sizeof(code));
		attack_fde(a, 1, "", 0);
	}
}

/*
 * CIEs that overlap: each is hidden in the instructions of those before it, in
 * the block of an expression that is not evaluated.
 */
static inline void attack_overlapping_cies(struct attack *a)
{
	static const u8 head[] = { 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 3 };
	static size_t cies[40];
	u32 i;

	while (attack_room(a, 2048)) {
		size_t end = a->size + 22 * ARRAY_SIZE(cies);

		for (i = 0; i < ARRAY_SIZE(cies); i++) {
			cies[i] = a->size;
			attack_num(a, end - a->size - 4, 4);
			attack_put(a, head, sizeof(head));
			/* a 19-byte expression for column 0x60 */
			if (i + 1 < ARRAY_SIZE(cies))
				attack_put(a, "\x16\x60\x13\x9b", 4);
			else
				attack_num(a, 0, 4);
			/* the block ends after the head of the next one */
			attack_num(a, 0, 1);
		}
		for (i = 0; attack_room(a, 64) && i < ARRAY_SIZE(cies); i++) {
			a->cie = cies[i];
			attack_fde(a, 1, "", 0);
		}
	}
}

/* One long FDE around many short ones: its program is run again after each. */
static inline void attack_nested(struct attack *a)
{
	static u8 code[512];
	u64 start = a->at;

	attack_full_cie(a, true);
	memset(code, 0x41, sizeof(code));
	attack_fde_at(a, start, a->room, code, sizeof(code));
	for (start += 16; attack_room(a, 64); start += 2)
		attack_fde_at(a, start, 1, "", 0);
}

/* Seven FDEs around many; the innermost ends many times. */
static inline void attack_nested_deep(struct attack *a)
{
	static u8 code[64];
	unsigned int i;

	attack_full_cie(a, true);
	memset(code, 0x41, sizeof(code));
	while (attack_room(a, 2048)) {
		for (i = 0; i < 7; i++)
			attack_fde_at(a, a->at + i, 4096 - 2 * i, code, sizeof(code));
		for (i = 0; i < 20; i++)
			attack_fde_at(a, a->at + 100 + 8 * i, 1, "", 0);
		a->at += 4096;
	}
}

/* One FDE many times, alternately of two long, equal CIEs. */
static inline void attack_duplicates(struct attack *a)
{
	static const u8 code[1000];
	size_t cies[2];
	u32 i;

	cies[0] = attack_cie(a, false, code, sizeof(code));
	cies[1] = attack_cie(a, false, code, sizeof(code));
	for (i = 0; attack_room(a, 64); i++) {
		a->cie = cies[i % 2];
		attack_fde_at(a, a->at, 1, "", 0);
	}
}

/* One long FDE, and many with the same start, each longer than the previous. */
static inline void attack_same_start(struct attack *a)
{
	static u8 code[16000];
	u32 i;

	memset(code, 0x41, sizeof(code));
	attack_cie(a, false, "", 0);
	attack_fde_at(a, a->at, 0x1000000, code, sizeof(code));
	for (i = 1; attack_room(a, 64); i++)
		attack_fde_at(a, a->at, i, "", 0);
}

/* Each FDE ends within the next. */
static inline void attack_staggered(struct attack *a)
{
	static u8 code[24];

	memset(code, 0x41, sizeof(code));
	attack_full_cie(a, true);
	for (; attack_room(a, 64); a->at += 8)
		attack_fde_at(a, a->at, 12, code, sizeof(code));
}

/* 128 nested states, many times. */
static inline void attack_remember_128(struct attack *a)
{
	static u8 code[4 * 128];
	u32 i;

	for (i = 0; i < 128; i++)
		memcpy(code + 3 * i, "\x0a\x83\x01", 3);
	memset(code + 3 * 128, 0x0b, 128);
	attack_full_cie(a, true);
	while (attack_room(a, sizeof(code) + 64))
		attack_fde(a, 16, code, sizeof(code));
}

/* FDEs whose CIE is invalid or unreadable. */
static inline void attack_unreadable(struct attack *a)
{
	static u8 code[1000];
	u32 i;

	for (i = 0; i < 100; i++)
		attack_cie(a, false, "\x17", 1);
	memset(code + 996, 0x17, 4);
	for (; i < 200 && attack_room(a, 1100); i++)
		attack_cie(a, false, code, sizeof(code));
	for (i = 0; attack_room(a, 64); i++) {
		a->cie = i * 4 % a->size;
		attack_fde(a, 1, "", 0);
	}
}

static inline void attack_zeroes(struct attack *a)
{
	attack_cie(a, false, "", 0);
	attack_fde(a, 16, "", 0);
	while (attack_room(a, 64))
		attack_num(a, 0, 4);
	attack_fde(a, 16, "", 0);
}

static inline void attack_backwards(struct attack *a)
{
	u64 start = ATTACK_LO + a->room;

	attack_cie(a, false, "", 0);
	for (; attack_room(a, 64); start -= 2)
		attack_fde_at(a, start, 1, "", 0);
}

static inline void attack_debug_frame(struct attack *a)
{
	size_t room = a->room;
	u64 start = ATTACK_LO;

	a->room = room / 2;
	attack_cie(a, true, "", 0);
	for (; attack_room(a, 64); start += 32)
		attack_fde_at(a, start, 1, "", 0);
	a->room = room;
	a->debug = a->size;
	attack_cie(a, true, "", 0);
	for (start = ATTACK_LO + 16; attack_room(a, 64); start += 32)
		attack_fde_at(a, start, 1, "", 0);
}

/* A different full rule in each row: pools, hash tables and draft all grow. */
static inline void attack_full_rules(struct attack *a)
{
	static u8 code[900];
	u32 off = 64;

	attack_full_cie(a, false);
	a->keep = KUNWIND_SAVED_REGS;
	while (attack_room(a, sizeof(code) + 64)) {
		u8 *p = code;

		while (p - code < (int)sizeof(code) - 8) {
			*p++ = 0x83;
			p = attack_uleb(p, off++);
			*p++ = 0x41;
		}
		attack_fde(a, p - code, code, p - code);
	}
}

/* Only the last FDEs show that each callee-saved register is needed. */
static inline void attack_late_registers(struct attack *a)
{
	size_t room = a->room;

	attack_full_cie(a, false);
	a->room = room - room / 8;
	attack_run(a, "", 0, "\x41\x0e\x10\x41\x0e\x08", 6);
	a->room = room - room / 16;
	while (attack_room(a, 64))
		attack_fde(a, 1, "", 0);
	a->room = room;
	attack_fde(a, 16, "\x09\x0f\x0e\x41", 4);	/* r15 is in r14, */
	attack_fde(a, 16, "\x09\x0e\x0d\x41", 4);	/* that in r13, */
	attack_fde(a, 16, "\x09\x0d\x0c\x41", 4);
	attack_fde(a, 16, "\x09\x0c\x03\x41", 4);
	attack_fde(a, 16, "\x0d\x0f\x41", 3);		/* and the CFA is r15's */
}

struct attack_case {
	const char *name;
	void (*make)(struct attack *a);
};

static const struct attack_case attack_cases[] = {
	{ "nops", attack_nops },
	{ "advances by nothing", attack_zero_advance },
	{ "equal rows with a full rule", attack_same_rows },
	{ "equal rows with a full rule, a register restored in each", attack_same_rows_again },
	{ "equal rows with a short rule", attack_plain_rows },
	{ "two rows with full rules in turn", attack_two_rows },
	{ "two rows in turn, all callee-saved registers followed", attack_two_rows_kept },
	{ "remember and restore", attack_remember },
	{ "remember 8 times, restore 8 times", attack_remember_deep },
	{ "remember, change, restore", attack_remember_changed },
	{ "remember, restore and a row", attack_remember_rows },
	{ "def_cfa without change", attack_def_cfa },
	{ "padded LEB128 numbers", attack_lebs },
	{ "rules of registers that are not followed", attack_columns },
	{ "set_loc", attack_set_loc },
	{ "expressions with eight open branches", attack_branches },
	{ "two short expressions in turn", attack_short_expressions },
	{ "expressions with equal hashes", attack_expression_hashes },
	{ "rules with equal hashes", attack_rule_hashes },
	{ "as many rules as there is room for", attack_many_rules },
	{ "a full rule for each row", attack_full_rules },
	{ "FDEs without instructions", attack_small_fdes },
	{ "FDEs that cover nothing", attack_empty_fdes },
	{ "one long CIE", attack_long_cie },
	{ "200 long CIEs in turn", attack_200_long_cies },
	{ "200 long CIEs that remember and restore", attack_200_remembering_cies },
	{ "many short CIEs in turn", attack_many_cies },
	{ "a CIE for each FDE", attack_cie_each },
	{ "CIEs within CIEs", attack_overlapping_cies },
	{ "one FDE around many", attack_nested },
	{ "seven FDEs around many", attack_nested_deep },
	{ "one FDE many times, with two CIEs", attack_duplicates },
	{ "FDEs of one start, one of them long", attack_same_start },
	{ "FDEs that end within the next", attack_staggered },
	{ "128 states remembered", attack_remember_128 },
	{ "FDEs that cannot be read", attack_unreadable },
	{ "zero lengths", attack_zeroes },
	{ "FDEs in descending order", attack_backwards },
	{ "FDEs of .debug_frame between those of .eh_frame", attack_debug_frame },
	{ "registers found to be needed at the end", attack_late_registers },
};

static inline void attack_make(struct attack *a, const struct attack_case *c, size_t room)
{
	*a = (struct attack){ .data = calloc(1, room), .room = room, .at = ATTACK_LO };
	if (!a->data)
		abort();
	c->make(a);
}

/* Fills section[0], and section[1] if there is a .debug_frame. */
static inline void attack_section(const struct attack *a, struct kunwind_section section[2])
{
	section[0] = (struct kunwind_section){
		.data = a->data, .size = a->debug ? a->debug : a->size, .addr = ATTACK_ADDR,
		.lo = ATTACK_LO, .hi = ATTACK_HI, .min_fdes = ~0U,
		.more = a->debug ? &section[1] : NULL,
	};
	section[1] = (struct kunwind_section){
		.data = a->data + a->debug, .size = a->size - a->debug, .debug = true,
		.lo = ATTACK_LO, .hi = ATTACK_HI, .min_fdes = ~0U,
	};
}

#endif /* _TEST_ATTACKS_H */
