/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * kunwind_core.h - the unwinder, as its users (kernel module, library, tests) see it
 *
 * The core is pure: bytes, registers and a memory reader in; tables and frames
 * out. It calls nothing but what kunwind_deps.h names; that header has a kernel
 * twin (kmod/deps/kernel) and a user twin (libkunwind/deps), chosen by include path.
 *
 *   bytes of .eh_frame --cfi.c--> records --program.c--> rows --build.c--> packed table (table.h)
 *   registers + memory + ranges --walk.c, by kunwind_table_lookup()--> addresses and a reason
 *
 * docs/unwinding.md describes the way from the first line to the last.
 * docs/architecture.md follows both ways through the files and explains the words.
 *
 * Registers carry their DWARF numbers of the x86-64 psABI (table 3.36); those of
 * 32-bit code are the low halves of the same, whatever the i386 psABI calls them
 * (i386.h).
 */
#ifndef _KUNWIND_CORE_H
#define _KUNWIND_CORE_H

#include "kunwind_deps.h"
#include "../uapi/kunwind.h"

enum {
	KUNWIND_RAX, KUNWIND_RDX, KUNWIND_RCX, KUNWIND_RBX,
	KUNWIND_RSI, KUNWIND_RDI, KUNWIND_RBP, KUNWIND_RSP,
	KUNWIND_R8, KUNWIND_R9, KUNWIND_R10, KUNWIND_R11,
	KUNWIND_R12, KUNWIND_R13, KUNWIND_R14, KUNWIND_R15,
	KUNWIND_RA,			/* 16: return address, at frame 0 rip */
	KUNWIND_NR_REGS
};
#define KUNWIND_REG(n)		(1U << (n))
#define KUNWIND_ALL_REGS	(KUNWIND_REG(KUNWIND_NR_REGS) - 1)
/* The callee-saved ones besides rbp and rsp. */
#define KUNWIND_SAVED_REGS	(KUNWIND_REG(KUNWIND_RBX) | KUNWIND_REG(KUNWIND_R12) | \
				 KUNWIND_REG(KUNWIND_R13) | KUNWIND_REG(KUNWIND_R14) | \
				 KUNWIND_REG(KUNWIND_R15))

struct kunwind_regs {
	u64 r[KUNWIND_NR_REGS];
	u32 valid;			/* KUNWIND_REG() bits */
};

/*
 * A rule: how to get from one frame to its caller, for one row of CFI. Eight
 * bytes; the lookup returns a copy, so that a cache can hold it without the table.
 */
enum kunwind_rule_kind {
	KUNWIND_RULE_NONE = 0,	/* no CFI covers the address */
	KUNWIND_RULE_END,	/* return address undefined: outermost frame */
	KUNWIND_RULE_CFA,	/* CFA = reg + off;     ra = *(CFA - 8) */
	KUNWIND_RULE_DEREF,	/* CFA = *(reg + off);  ra = *(CFA - 8) */
	KUNWIND_RULE_PLT,	/* CFA = rsp + 8 + ((rip & 15) >= off ? 8 : 0); ra = *(CFA - 8) */
	KUNWIND_RULE_WIDE,	/* all else: off is the index of a struct kunwind_wide */
};

/* What becomes of rbp in a rule that is not WIDE. */
enum kunwind_rbp_how {
	KUNWIND_RBP_SAME = 0,	/* not touched yet, or restored */
	KUNWIND_RBP_SAVED,	/* caller's rbp = *(CFA + rbp) */
	KUNWIND_RBP_UNKNOWN,	/* undefined */
};

struct kunwind_rule {
	s32 off;		/* bytes, threshold or index, by kind */
	s16 rbp;		/* bytes from the CFA, with KUNWIND_RBP_SAVED */
	u8 kind;		/* low 4 bits: enum kunwind_rule_kind; bits 4-5:
				 * enum kunwind_rbp_how; bit 6: KUNWIND_RULE_SIGNAL. Only in
				 * the cache of rules are bits 3 and 7 more: cache.h */
	u8 reg;			/* register of the CFA, 0 to 15; 0 where none is used */
};
#define KUNWIND_RULE_KIND	0x0f
#define KUNWIND_RULE_RBP_SHIFT	4
#define KUNWIND_RULE_SIGNAL	0x40	/* augmentation S: the caller was interrupted */

/*
 * A wide rule: one entry for the CFA, then one for each register whose caller's
 * value is not "the same" (and, for the return address, not "*(CFA - 8)").
 * Registers outside the table's keep mask, rbp and rsp are listed only where
 * the frame is a signal frame; rsp without an entry is the CFA. All in 8-byte
 * units in the table's wide area.
 */
enum kunwind_how {
	KUNWIND_HOW_UNDEFINED = 0,
	KUNWIND_HOW_SAME,
	KUNWIND_HOW_AT_CFA,	/* *(CFA + off) */
	KUNWIND_HOW_CFA,	/* CFA + off */
	KUNWIND_HOW_REG,	/* source + off; off is 0 but for the CFA */
	KUNWIND_HOW_AT_EXPR,	/* *(expression(off)); the CFA is pushed first, except for the CFA itself */
	KUNWIND_HOW_EXPR,	/* expression(off) */
};

struct kunwind_wide {
	u32 nr;			/* entries that follow, the CFA's first (>= 1) */
	u16 signal;		/* augmentation S */
	u16 cost;		/* entries and bytes of expressions: what a step by it may take */
};

struct kunwind_wide_entry {
	u8 reg;			/* register that it is for; ignored in the CFA's */
	u8 how;			/* enum kunwind_how */
	u8 source;		/* register for KUNWIND_HOW_REG */
	u8 pad;
	s32 off;		/* bytes, or offset of an expression (u16 length first) in its area */
};

/*
 * A table: rows of one ELF object, packed (format: table.h), in one allocation,
 * and read-only once built. Addresses are offsets from base (an ELF virtual address).
 * A table in parts (stages.c) is a directory instead: its parts are tables that are
 * built, published and dropped one by one while walks use the directory.
 */
struct kunwind_table;

struct kunwind_table_stats {
	u64 base;		/* lowest covered ELF virtual address */
	u64 span;		/* bytes from there to the end of the last row */
	u32 nr_fdes, nr_rows, nr_rules, nr_wide;	/* rows: after merging, gaps included */
	u64 bytes;		/* all in: header, index, rows, rules, wide, expressions */
	u32 keep;		/* registers besides rsp, rbp, ra that its rules follow */
	u32 needed;		/* callee-saved registers (besides rbp) that some CFA needs */
	u32 nr_parts, parts_built; /* of a table in parts; rows, rules, wide: of those built */
	bool i386;		/* of 32-bit code */
};

/*
 * Where .eh_frame is, and what its encodings are relative to; or .debug_frame,
 * which may also follow an .eh_frame as what it leaves out (kunwind_elf_sections()).
 */
struct kunwind_section {
	const u8 *data;		/* bytes of .eh_frame */
	size_t size;
	u64 addr;		/* ELF virtual address of data[0] */
	u64 text_base, data_base; /* for DW_EH_PE_textrel/datarel; 0 where unknown */
	u64 lo, hi;		/* executable addresses of the object: [lo, hi) */
	u32 min_fdes;		/* a zero length ends the section only behind so many FDEs */
	bool open_end;		/* and so does what is no record: the size is only the most it can be */
	bool strict;		/* all is refused if some of it cannot be read, or leaves the code */
	bool debug;		/* it is .debug_frame: DWARF 5, 6.4.1 */
	bool i386;		/* of 32-bit code: i386.h */
	const struct kunwind_section *more;	/* .debug_frame beside it, or NULL */
};

/* Called now and then while a table is built; true stops it (KUNWIND_E_ABORTED). */
typedef bool kunwind_abort_fn(void *data);

/**
 * kunwind_table_build() - compile .eh_frame into a table
 * @section: where; the bytes are only read during the call
 * @keep: callee-saved registers to follow besides those that the object's own CFAs need
 * @limit: most bytes that the table may take
 * @abort: may be NULL
 * @table: result, to be freed with kunwind_table_free(); untouched on failure
 *
 * May sleep. Time and memory are linear in section->size. What cannot be read (a CIE, an
 * FDE, the rows of one from some instruction on) leaves its addresses without a rule, as it
 * does with elfutils. An object of which nothing can be read is refused with the reason of the
 * first such record.
 * Return: KUNWIND_OK or the refusal.
 */
enum kunwind_refusal __must_check
kunwind_table_build(const struct kunwind_section *section, u32 keep, size_t limit,
		    kunwind_abort_fn *abort, void *data, struct kunwind_table **table);

/*
 * Big objects, in two stages: first where its FDEs are, which is a third of the work,
 * then their rows part by part, in any order; the table is in use meanwhile.
 */
struct kunwind_stages;

/**
 * kunwind_stages_begin() - the first stage
 * @part_fdes: FDEs that make a part; only one that others lie in can have more
 * @limit: most bytes that the table may take, and the list of FDEs
 * @table: result, a table of which no part is built; to be freed after kunwind_stages_end()
 *
 * As kunwind_table_build(), but the section's bytes must stay until
 * kunwind_stages_end(), and @abort is also called by kunwind_stages_build().
 * Refused only if no FDE can be read; whether its instructions can is not asked.
 */
enum kunwind_refusal __must_check
kunwind_stages_begin(const struct kunwind_section *section, u32 keep, u32 part_fdes, size_t limit,
		     kunwind_abort_fn *abort, void *data, struct kunwind_stages **stages,
		     struct kunwind_table **table);

/* The part to be built next: one that a walk wanted, if there is one; ~0: all are built. */
u32 kunwind_stages_next(struct kunwind_stages *stages, bool *wanted);

/* Whether a walk may have met a part that is not built. Any context. */
bool kunwind_stages_wanted(const struct kunwind_stages *stages);

/*
 * Builds one, and publishes it. After a refusal the table is of no use: to be
 * given up (kunwind_table_retire()), but for KUNWIND_E_NOMEM and KUNWIND_E_ABORTED,
 * after which the same part may be tried again.
 */
enum kunwind_refusal __must_check kunwind_stages_build(struct kunwind_stages *stages, u32 part);

/* May be NULL. */
void kunwind_stages_end(struct kunwind_stages *stages);

/* From now on walks end in a table in parts with @reason. */
void kunwind_table_retire(struct kunwind_table *table, enum kunwind_reason reason);

/* Frees the parts of a table that was retired so long ago that no walk has them. */
void kunwind_table_drop(struct kunwind_table *table);

void kunwind_table_free(struct kunwind_table *table);
void kunwind_table_stats(const struct kunwind_table *table, struct kunwind_table_stats *stats);

/**
 * kunwind_table_lookup() - the rule for one ELF virtual address
 * Any context. Bounded: one binary search and at most one block of rows.
 * Never reads outside the table, whatever the address. KUNWIND_RULE_NONE where nothing covers it.
 */
struct kunwind_rule kunwind_table_lookup(const struct kunwind_table *table, u64 addr);

/**
 * kunwind_table_part() - the table to look up @addr in, where *@table has no rule for it
 * Of a table in parts it is the part, which replaces *@table; of any other it
 * is that itself. Any context.
 * Return: KUNWIND_COMPLETE; KUNWIND_NOT_READY: the part is not built, and is the
 * next that will be; or why there will be none.
 */
enum kunwind_reason kunwind_table_part(const struct kunwind_table **table, u64 addr);

/* Its rules are of 32-bit code. */
bool kunwind_table_i386(const struct kunwind_table *table);

/* The registers besides rsp, rbp and ra that the table's rules follow. */
u32 kunwind_table_keep(const struct kunwind_table *table);

/*
 * Access to what a WIDE rule names; NULL when the index is out of range. The
 * entries (nr of them) stand behind it. Any context.
 */
const struct kunwind_wide *kunwind_table_wide(const struct kunwind_table *table, s32 index);

/* Bytes of expression at @off and their number; NULL when out of range. Any context. */
const u8 *kunwind_table_expr(const struct kunwind_table *table, s32 off, u16 *len);

/**
 * kunwind_table_for_each() - every row of a table in ascending order, gaps included
 * For dump and tests. @fn gets the row's first address; non-zero stops and is returned.
 * A table in parts has none; each part does.
 */
int kunwind_table_for_each(const struct kunwind_table *table,
			   int (*fn)(void *data, u64 addr, struct kunwind_rule rule), void *data);

/*
 * Ranges: what is mapped where, in one address space. Sorted by start, disjoint.
 */
struct kunwind_range {
	u64 start, end;		/* addresses in the process: [start, end) */
	u64 bias;		/* address - bias = ELF virtual address */
	const struct kunwind_table *table;	/* NULL: see reason */
	u32 reason;		/* enum kunwind_reason when table is NULL; KUNWIND_NO_OBJECT:
				 * executable, but of no file (a JIT's) */
	u32 dead;		/* not 0: may be replaced since, do not use (WRITE_ONCE) */
};

struct kunwind_ranges {
	u64 id;			/* unique, never 0, of this content: key of the rule cache */
	u64 entry_sp;		/* stack pointer when the program began; 0: not known */
	u64 entry, interpreter;	/* the program's entry point, and where the ELF header of its
				 * interpreter (ld.so) is mapped; 0: not known, or none */
	u32 nr;
	struct kunwind_range range[];
};

/* The range that holds @addr, or NULL. Any context. */
const struct kunwind_range *kunwind_ranges_find(const struct kunwind_ranges *ranges, u64 addr);

/*
 * A cache from address to rule, for one CPU (kernel) or thread (user): two
 * places for an address; each entry guarded by a sequence so that an interrupt of any kind can
 * use it in the midst of an update. Zeroed memory is an empty cache.
 */
#define KUNWIND_CACHE_BITS	9
#define KUNWIND_CACHE_ENTRIES	(1U << KUNWIND_CACHE_BITS)
struct kunwind_cache_entry {
	u64 addr;		/* address as looked up (return address minus one) */
	u64 id;			/* of the ranges */
	struct kunwind_rule rule;	/* never NONE, never WIDE */
	u64 after;		/* other registers, and the sequence: after.h */
};
/* Aligned, so that the two places of an address share a line of the data cache. */
struct kunwind_cache {
	struct kunwind_cache_entry entry[KUNWIND_CACHE_ENTRIES];
} __attribute__((__aligned__(64)));

/*
 * What the last complete walk was made from: recent.c. Zeroed memory notes none.
 */
#define KUNWIND_RECENT_FRAMES	128
struct kunwind_recent {
	u64 id;			/* of the ranges; 0: nothing is noted */
	u64 ip, sp, bp;
	u32 count;		/* addresses, ip the first */
	u32 words;		/* noted; one more than count where a zero ended the walk */
	u32 rbps;		/* noted */
	/*
	 * The order of these arrays matters: a loop over one of the first two that
	 * speculates past its end takes user values for user addresses, not other data
	 * of the kernel. Nothing is read at what "address" holds.
	 */
	struct kunwind_recent_rbp {
		u64 at, value;	/* where an rbp was read, and what */
	} rbp[KUNWIND_RECENT_FRAMES + 1];
	/* By number of the address, from 1 on: 8 bytes behind where it was read (the CFA), and what. */
	u64 cfa[KUNWIND_RECENT_FRAMES + 1];
	u64 address[KUNWIND_RECENT_FRAMES + 1];
};

/* What a function's code tells about one of its instructions, in bytes; -1: nothing. */
struct kunwind_code {
	s32 depth;		/* from rsp up to the return address */
	s32 frame;		/* from rbp up to it, where rbp is the frame pointer */
	s32 rbp_at;		/* from it down to where the function saved rbp; -1: rbp is as it was */
	bool resumes;		/* the function restores the flags and returns, so nothing called it */
	bool unsure;		/* only if a call that nops follow returns */
};

/*
 * Answers to questions about code, for one CPU: answers.c. Used by one walk at a
 * time. Zeroed memory has none.
 */
#define KUNWIND_ANSWERS_BITS	7
#define KUNWIND_ANSWERS_PIECES	4
struct kunwind_answers {
	u64 id, space;		/* of the walk under way: its ranges and address space */
	u64 walk;		/* its number */
	struct kunwind_answer *asked;	/* the question that is being answered */
	struct kunwind_answer {
		u64 id;		/* of the ranges; 0: no answer */
		u64 space;
		u64 from, to;	/* what was asked about */
		u64 walk;	/* the last that found the answer, or the code unchanged */
		u64 hash;	/* of the code that was read */
		struct kunwind_piece {
			s32 start;	/* bytes from "from" */
			u32 words;
		} piece[KUNWIND_ANSWERS_PIECES];	/* that code */
		u32 pieces;	/* 0: not known, the answer holds for one walk */
		u32 question;
		u64 tail;	/* bytes from "from" */
		u32 left;	/* instructions that may still be read to find a tail call */
		struct kunwind_code code;
		bool yes;
	} answer[1U << KUNWIND_ANSWERS_BITS];
};

/**
 * struct kunwind_walk - one walk
 * @ranges: in
 * @cache: in; may be NULL
 * @recent: in, out: the note of the last walk, used by nobody else meanwhile; may be
 *	NULL, and nothing is noted without @cache
 * @mem: in: what the seam's reader needs (kunwind_deps.h); mem.left: out: the rest of the
 *	budget, 0 if the walk ended because it was spent (KUNWIND_DEPTH)
 * @regs: in: registers of the innermost frame, changed by the walk
 * @interrupted: in: true when regs are those at an instruction that did not
 *	run yet or a system call's (nothing to subtract): the usual case
 * @addresses: out: @capacity words, the first is regs.r[KUNWIND_RA]
 * @trust: in: NULL, or @capacity bytes, all KUNWIND_TRUST_CFI but the first; out:
 *	enum kunwind_trust of each address; the walk may also change the byte after the last
 * @guess: in: frames that are guessed are wanted, too (KUNWIND_TRUST_FP, KUNWIND_TRUST_SCAN);
 *	or else the walk ends before the first
 * @budget: in: units that the walk may spend (mem.h), at most KUNWIND_BUDGET; 0: that
 * @i386: in: it is 32-bit code, to be walked by kunwind_walk_i386(): its addresses
 *	and registers are below 2^32
 * @range: the walk's own: where it looked last
 * @count: out
 * @others: in: false; out: some addresses but the first were found otherwise than by CFI
 * @found: out: then these, by enum kunwind_trust
 * @unread: out, with KUNWIND_UNREADABLE, if it is known (else as it was): the stack pointer of
 *	the frame that could not be read, and where the rbp was saved that a CFA last asked for,
 *	which may be the cause
 */
struct kunwind_walk {
	const struct kunwind_ranges *ranges;
	const struct kunwind_range *range;
	struct kunwind_cache *cache;
	struct kunwind_recent *recent;
	struct kunwind_mem mem;
	struct kunwind_regs regs;
	unsigned long *addresses;
	u8 *trust;
	u32 capacity;
	u32 count;
	u16 found[KUNWIND_NR_TRUSTS];
	bool others;
	u64 unread[2];
	u64 code;		/* the walk's own: at the return address, or 0 */
	u64 lower_cfa, lower_ra; /* and the step to a lower frame that it keeps */
	u32 lower_nr;		/* such steps */
	u32 budget;
	bool guess;
	bool i386;
};

/**
 * kunwind_walk() - walk until an entry point or a reason to stop
 * Any context, NMI included: no lock, no allocation, no fault; at most
 * @capacity steps by rules from the cache, all other work by the budget. Return: why it ended.
 */
enum kunwind_reason kunwind_walk(struct kunwind_walk *walk);

/**
 * kunwind_walk_again() - the answer of the walk that walk->recent notes, if it still holds
 * To be tried before kunwind_walk(), which makes the note. Of the registers it needs rip,
 * rsp and rbp; the others need not be there yet. False: it does not hold; the
 * addresses are undefined then, and the walk is to be made.
 */
bool kunwind_walk_again(struct kunwind_walk *walk);

/* kunwind_walk() for 32-bit code (walk->i386). */
enum kunwind_reason kunwind_walk_i386(struct kunwind_walk *walk);

/* Names, lower case, as in the enum; "?" for a number out of range. */
const char *kunwind_reason_name(unsigned int reason);
const char *kunwind_refusal_name(unsigned int refusal);
const char *kunwind_trust_name(unsigned int trust);

/* The walk ended where there is no rule, and no other way was found to go on. */
static __always_inline bool kunwind_reason_without_rule(enum kunwind_reason reason)
{
	return reason == KUNWIND_NO_RULE || reason == KUNWIND_NO_TABLE ||
	       reason == KUNWIND_NO_OBJECT;
}

/* A frame that nothing proves, nor any behind it. */
static __always_inline bool kunwind_trust_is_guess(u8 trust)
{
	return trust == KUNWIND_TRUST_FP || trust == KUNWIND_TRUST_SCAN;
}

/*
 * ELF: where in a file .eh_frame is. The caller reads the file's first bytes
 * and hands in what is asked for; see elf.h.
 */

#endif /* _KUNWIND_CORE_H */
