/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * kunwind_core.h - interface of the unwinder for the kernel module, the library
 * and the tests
 *
 * The core is pure. Its input is bytes, registers and a memory reader; its
 * output is tables and frames. It calls only what kunwind_deps.h declares. That
 * header has a version for the kernel (kmod/deps/kernel) and one for user space
 * (libkunwind/deps); the include path selects one.
 *
 *   bytes of .eh_frame --cfi.c--> records --cfi_program.c--> rows
 *	--build.c--> packed table (table.h)
 *   registers + memory + ranges --walk.c, by kunwind_table_lookup()-->
 *	addresses and a reason
 *
 * docs/unwinding.md explains both lines. docs/architecture.md says which files
 * take part, and has the glossary.
 *
 * Registers have the DWARF numbers of the x86-64 psABI (table 3.36). A register
 * of 32-bit code is the low half of the 64-bit register, and has the same
 * number here; i386.h converts the numbers of the i386 psABI.
 */
#ifndef _KUNWIND_CORE_H
#define _KUNWIND_CORE_H

#include "kunwind_deps.h"
#include "../uapi/kunwind_reasons.h"
#include "nocfi/method.h"

enum {
	KUNWIND_RAX, KUNWIND_RDX, KUNWIND_RCX, KUNWIND_RBX,
	KUNWIND_RSI, KUNWIND_RDI, KUNWIND_RBP, KUNWIND_RSP,
	KUNWIND_R8, KUNWIND_R9, KUNWIND_R10, KUNWIND_R11,
	KUNWIND_R12, KUNWIND_R13, KUNWIND_R14, KUNWIND_R15,
	KUNWIND_RA,			/* 16: return address, at frame 0 rip */
	KUNWIND_NR_REGS
};
#define KUNWIND_FS_BASE		58	/* psABI: the base of the segment fs; in expressions only */
#define KUNWIND_REG(n)		(1U << (n))
#define KUNWIND_ALL_REGS	(KUNWIND_REG(KUNWIND_NR_REGS) - 1)
/* In the walk's registers: rsp may be wrong. */
#define KUNWIND_RSP_DOUBTED	KUNWIND_REG(KUNWIND_NR_REGS)
/* The callee-saved registers of 64-bit code, without rbp and rsp. */
#define KUNWIND_SAVED_REGS	(KUNWIND_REG(KUNWIND_RBX) | KUNWIND_REG(KUNWIND_R12) | \
				 KUNWIND_REG(KUNWIND_R13) | KUNWIND_REG(KUNWIND_R14) | \
				 KUNWIND_REG(KUNWIND_R15))

#define KUNWIND_PAGE_MASK	0xfffULL	/* place of an address in its page */

struct kunwind_regs {
	u64 r[KUNWIND_NR_REGS];
	u32 valid;			/* KUNWIND_REG() bits; KUNWIND_RSP_DOUBTED */
};

/*
 * A rule says how to get from a frame to its caller. Each row of CFI has one. A
 * rule has eight bytes. A lookup returns a copy, so a cache needs no reference
 * to the table. KUNWIND_RULE_CFA, _DEREF and _PLT are short rules: the eight
 * bytes express all of the step.
 */
enum kunwind_rule_kind {
	KUNWIND_RULE_NONE = 0,	/* no CFI covers the address */
	KUNWIND_RULE_END,	/* return address undefined: outermost frame */
	KUNWIND_RULE_CFA,	/* CFA = reg + off;     ra = *(CFA - 8) */
	KUNWIND_RULE_DEREF,	/* CFA = *(reg + kunwind_deref_off()) + kunwind_deref_add(); the same */
	KUNWIND_RULE_PLT,	/* CFA = rsp + 8 + ((rip & 15) >= off ? 8 : 0); ra = *(CFA - 8) */
	KUNWIND_RULE_FULL,	/* all other rows: off is the index of a struct kunwind_full_rule */
};

/* The caller's rbp in a rule that is not KUNWIND_RULE_FULL. */
enum kunwind_rbp_how {
	KUNWIND_RBP_SAME = 0,	/* rbp of this frame: not changed yet, or restored */
	KUNWIND_RBP_SAVED,	/* caller's rbp = *(CFA + rbp) */
	KUNWIND_RBP_UNKNOWN,	/* undefined */
};

struct kunwind_rule {
	s32 off;		/* bytes, threshold or index, by kind; KUNWIND_RULE_DEREF: see below */
	s16 rbp;		/* bytes from the CFA, with KUNWIND_RBP_SAVED */
	u8 kind;		/* low 4 bits: enum kunwind_rule_kind; bits 4-5:
				 * enum kunwind_rbp_how; bit 6: KUNWIND_RULE_SIGNAL. Only
				 * the walk and its cache use bits 3 and 7: rule_cache.h */
	u8 reg;			/* register of the CFA, 0 to 15; 0 where none is used; bits 4 and 5:
				 * KUNWIND_RULE_CODE, KUNWIND_RULE_MOVED */
};
#define KUNWIND_RULE_KIND	0x0f
#define KUNWIND_RULE_RBP_SHIFT	4
#define KUNWIND_RULE_SIGNAL	0x40	/* augmentation S: a signal interrupted the caller */
#define KUNWIND_RULE_CODE	0x10	/* with _CFA and _DEREF: the row was made from code (augmentation
					 * K). The return address must follow a call. Callee-saved
					 * registers other than rbp are unknown in the caller */
#define KUNWIND_RULE_MOVED	0x20	/* with _CODE: the function may have moved its return address, so
					 * the caller's rsp may be another than the CFA (augmentation M) */
#define KUNWIND_RULE_FLAGS	(KUNWIND_RULE_CODE | KUNWIND_RULE_MOVED)

/* KUNWIND_RULE_DEREF: bits 8-31 of off are bytes from the register, bits 0-7 words that are added. */
#define KUNWIND_DEREF_OFFS	(1 << 23)	/* bytes in either direction */
#define KUNWIND_DEREF_ADDS	(8 << 8)	/* bytes */

static inline s32 kunwind_deref_off(struct kunwind_rule rule)
{
	return rule.off >> 8;
}

static inline u32 kunwind_deref_add(struct kunwind_rule rule)
{
	return 8 * (u8)rule.off;
}

/*
 * A full rule is the rule of a row that eight bytes cannot express. It is a
 * list of entries: one for the CFA, then one for each register whose value in
 * the caller is not the default. By default, the return address is at CFA - 8,
 * or at CFA - 4 in 32-bit code; rsp is the CFA; rbp and the registers of the
 * table's keep mask keep their values. All other registers are unknown by
 * default; only a signal frame has entries for them. A full rule lies in the
 * table's area of full rules, in units of 8 bytes.
 */
enum kunwind_how {
	KUNWIND_HOW_UNDEFINED = 0,
	KUNWIND_HOW_SAME,
	KUNWIND_HOW_AT_CFA,	/* *(CFA + off) */
	KUNWIND_HOW_CFA,	/* CFA + off */
	KUNWIND_HOW_REG,	/* source + off; off is 0 except in the CFA's entry */
	KUNWIND_HOW_AT_EXPR,	/* *(expression(off)); the CFA is pushed first, except for the CFA itself */
	KUNWIND_HOW_EXPR,	/* expression(off); the same */
};

struct kunwind_full_rule {
	u32 nr;			/* entries that follow, the CFA's first (>= 1) */
	u16 signal;		/* augmentation S */
	u16 cost;		/* units of the walk's budget: entries plus bytes of expressions */
};

struct kunwind_full_rule_entry {
	u8 reg;			/* the register; ignored in the CFA's entry */
	u8 how;			/* enum kunwind_how */
	u8 source;		/* register for KUNWIND_HOW_REG */
	u8 pad;
	s32 off;		/* bytes; or offset of an expression (a u16 length, then its bytes)
				 * in the table's expressions */
};

/*
 * A table holds the packed rows of one ELF object (format: table.h) in one
 * allocation. It is read-only after it is built. Its addresses are offsets from
 * base, an ELF virtual address. A table in parts (build_parts.c) is a directory
 * of parts. Each part is a table. The parts are built and published one by one,
 * while walks use the directory.
 */
struct kunwind_table;

struct kunwind_table_stats {
	u64 base;		/* lowest covered ELF virtual address */
	u64 span;		/* bytes from there to the end of the last row */
	u32 nr_fdes, nr_rows, nr_rules, nr_full;	/* rows: after merging, gaps included */
	u64 bytes;		/* total: header, index, rows, rules, full rules, expressions */
	u32 keep;		/* registers besides rsp, rbp, ra that its rules follow */
	u32 needed;		/* callee-saved registers (besides rbp) that some CFA needs */
	u32 nr_parts, parts_built; /* of a table in parts. Its nr_rows, nr_rules and nr_full
				 * count the built parts only; bytes also counts the directory */
	u64 entry;		/* e_entry of the ELF file; 0: none */
	bool i386;		/* its rules are of 32-bit code */
};

/*
 * Input of a build: the bytes of .eh_frame or .debug_frame, and what their
 * pointer encodings are relative to. A .debug_frame may complete an .eh_frame
 * ("more"; kunwind_elf_sections()).
 */
struct kunwind_section {
	const u8 *data;		/* bytes of the section */
	size_t size;
	u64 addr;		/* ELF virtual address of data[0] */
	u64 text_base, data_base; /* for DW_EH_PE_textrel/datarel; 0 if unknown */
	u64 lo, hi;		/* executable addresses of the object: [lo, hi) */
	u64 entry;		/* e_entry of the ELF file; 0: none */
	u32 min_fdes;		/* a zero length ends the section only after this many FDEs */
	bool open_end;		/* size is an upper bound: bytes that are no record end the section,
				 * too, after min_fdes FDEs */
	bool strict;		/* refuse the section if a record cannot be read (except for an
				 * unknown augmentation), or if the code of an FDE is partly
				 * outside [lo, hi) */
	bool debug;		/* the section is .debug_frame: DWARF 5, 6.4.1 */
	bool i386;		/* the section is of 32-bit code: i386.h */
	const struct kunwind_section *more;	/* .debug_frame of the same object, or NULL */
};

/* Called repeatedly while a table is built. True stops the build (KUNWIND_E_ABORTED). */
typedef bool kunwind_abort_fn(void *data);

/**
 * kunwind_table_build() - compile .eh_frame into a table
 * @section: input; the bytes are not needed after the call
 * @keep: callee-saved registers to follow besides those that the object's own
 *	CFAs need
 * @limit: size limit of the table, in bytes
 * @abort: may be NULL
 * @data: argument of @abort
 * @table: result, to be freed with kunwind_table_free(); unchanged on failure
 *
 * May sleep. Time and memory are linear in section->size. A CIE or an FDE that
 * cannot be read leaves its addresses without a rule. If an instruction of an
 * FDE cannot be read, the rest of that FDE has no rule. elfutils does the same.
 * If nothing in the object can be read, the object is refused with the build
 * error of the first unreadable record.
 * Return: KUNWIND_OK or the build error.
 */
enum kunwind_build_error __must_check
kunwind_table_build(const struct kunwind_section *section, u32 keep, size_t limit,
		    kunwind_abort_fn *abort, void *data, struct kunwind_table **table);

/*
 * Tables of big objects are built in two stages. The first stage finds the
 * FDEs, which is a third of the work. The second makes their rows, part by part
 * in any order. Walks use the table during the second stage.
 */
struct kunwind_build_parts;

/**
 * kunwind_build_parts_begin() - do the first stage
 * @part_fdes: FDEs in a part; a part has more only where FDEs overlap
 * @limit: size limit of the table plus the list of FDEs, in bytes
 * @build: result, to be freed with kunwind_build_parts_end()
 * @table: result, a table of which no part is built; to be freed after
 *	kunwind_build_parts_end()
 *
 * As kunwind_table_build(), except that the section's bytes must stay until
 * kunwind_build_parts_end(), and that kunwind_build_parts_one() also calls
 * @abort. An object is not refused if some FDE can be read, even if the
 * instructions of all FDEs are unreadable.
 */
enum kunwind_build_error __must_check
kunwind_build_parts_begin(const struct kunwind_section *section, u32 keep, u32 part_fdes,
			  size_t limit, kunwind_abort_fn *abort, void *data,
			  struct kunwind_build_parts **build, struct kunwind_table **table);

/*
 * Returns the part to build next, or ~0 if all are built. Parts that a walk has
 * missed come first; *@wanted is true for these.
 */
u32 kunwind_build_parts_next(struct kunwind_build_parts *build, bool *wanted);

/* Returns whether a walk may have missed a part that is not built. Any context. */
bool kunwind_build_parts_wanted(const struct kunwind_build_parts *build);

/*
 * Builds and publishes one part. May sleep. After KUNWIND_E_NOMEM and
 * KUNWIND_E_ABORTED the caller may try the same part again. After any other
 * error the caller must give up the table (kunwind_table_retire()).
 */
enum kunwind_build_error __must_check kunwind_build_parts_one(struct kunwind_build_parts *build,
							      u32 part);

/* Ends the second stage. The table remains. @build may be NULL. */
void kunwind_build_parts_end(struct kunwind_build_parts *build);

/* From now on, kunwind_table_part() returns @reason for this table in parts. */
void kunwind_table_retire(struct kunwind_table *table, enum kunwind_reason reason);

/* Frees the parts of a retired table. The caller makes sure that no walk uses them any more. */
void kunwind_table_drop(struct kunwind_table *table);

void kunwind_table_free(struct kunwind_table *table);
void kunwind_table_stats(const struct kunwind_table *table, struct kunwind_table_stats *stats);

/**
 * kunwind_table_lookup() - find the rule for an ELF virtual address
 *
 * Any context. Bounded: a binary search for the block, at most one block of
 * rows, and a second binary search if the row's rule is in the list of far
 * rules (table.h). Never reads outside the table, whatever the address.
 * Return: the rule; KUNWIND_RULE_NONE if no row covers the address.
 */
struct kunwind_rule kunwind_table_lookup(const struct kunwind_table *table, u64 addr);

/**
 * kunwind_table_part() - find the part for an address that *@table has no rule
 * for
 * @table: in, out: a table in parts is replaced by its part; other tables are
 *	kept
 *
 * Any context. If @addr is in no part, *@table is kept.
 * Return: KUNWIND_COMPLETE; KUNWIND_NOT_READY: the part is not built yet, and
 * is now marked as wanted; or the reason with which the table was retired.
 */
enum kunwind_reason kunwind_table_part(const struct kunwind_table **table, u64 addr);

/* The rest of kunwind_table_find(), if *@table itself has no rule. */
enum kunwind_reason kunwind_table_find_elsewhere(const struct kunwind_table **table, u64 addr,
						 struct kunwind_rule *rule);

/**
 * kunwind_table_find() - find the rule for an address in a table, its parts and its rows
 * from code
 * @table: in, out: the table that has the rule
 * @rule: out; of kind KUNWIND_RULE_NONE if no row covers the address
 *
 * Any context. Return: as kunwind_table_part().
 */
static __always_inline enum kunwind_reason
kunwind_table_find(const struct kunwind_table **table, u64 addr, struct kunwind_rule *rule)
{
	*rule = kunwind_table_lookup(*table, addr);
	if (likely((rule->kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_NONE))
		return KUNWIND_COMPLETE;
	return kunwind_table_find_elsewhere(table, addr, rule);
}

/*
 * Adds rows from code to a table that walks may use already. @code is freed with @table. Call
 * this once.
 */
void kunwind_table_add_code(struct kunwind_table *table, struct kunwind_table *code);

/* Returns whether the table's rules are of 32-bit code. */
bool kunwind_table_i386(const struct kunwind_table *table);

/* The registers besides rsp, rbp and ra that the table's rules follow. */
u32 kunwind_table_keep(const struct kunwind_table *table);

/*
 * Returns the full rule at @index (off of a KUNWIND_RULE_FULL), or NULL if it
 * is out of range. Its nr entries (struct kunwind_full_rule_entry) follow it.
 * Any context.
 */
const struct kunwind_full_rule *kunwind_table_full_rule(const struct kunwind_table *table,
							s32 index);

/* Returns the expression at @off, and its bytes in *@len; NULL if out of range. Any context. */
const u8 *kunwind_table_expr(const struct kunwind_table *table, s32 off, u16 *len);

/**
 * kunwind_table_for_each() - call @fn for each row in ascending order, gaps
 * included
 * @fn: gets the row's first ELF virtual address; if it does not return 0, the
 *	loop ends
 *
 * For the dump and tests. May sleep. A table in parts has no rows; its parts
 * have.
 * Return: 0, or the last result of @fn.
 */
int kunwind_table_for_each(const struct kunwind_table *table,
			   int (*fn)(void *data, u64 addr, struct kunwind_rule rule), void *data);

/*
 * Ranges: the executable mappings of one address space, sorted by start,
 * disjoint. A long list is cut into chunks, so that a change copies one chunk and
 * not the list.
 */
struct kunwind_range {
	u64 start, end;		/* addresses in the process: [start, end) */
	u64 bias;		/* address - bias = ELF virtual address */
	const struct kunwind_table *table;	/* NULL: see reason */
	u32 reason;		/* enum kunwind_reason if table is NULL; KUNWIND_NO_OBJECT:
				 * executable memory of no file, or of a memfd (a JIT's) */
	u32 dead;		/* not 0: something else may be mapped there; do not use the range
				 * (WRITE_ONCE) */
};

struct kunwind_range_chunk {
	u64 start;		/* of its first range */
	const struct kunwind_range *range;	/* [nr] */
	u32 nr;			/* never 0 */
};

struct kunwind_ranges {
	u64 id;			/* unique, never 0, of this content: key of the rule cache */
	u64 entry_sp;		/* stack pointer at the start of the program; 0: not known */
	u64 entry, interpreter;	/* the program's entry point, and the address of the ELF header
				 * of its interpreter (ld.so); 0: not known, or none */
	u64 doubt_start, doubt_end;	/* ranges that overlap this interval are not to be used,
				 * like dead ones; empty: none */
	const struct kunwind_range_chunk *chunk;	/* [nr]; NULL: range[] has all ranges */
	u32 nr;			/* of chunk[], or of range[] */
	struct kunwind_range range[];
};

/* Returns whether a walk may use the range, which is one of @ranges. Any context. */
static __always_inline bool kunwind_range_is_usable(const struct kunwind_ranges *ranges,
						    const struct kunwind_range *range)
{
	return !READ_ONCE(range->dead) &&
	       (range->start >= ranges->doubt_end || range->end <= ranges->doubt_start);
}

/* Returns the range that holds @addr, also if the range is dead, or NULL. Any context. */
const struct kunwind_range *kunwind_ranges_find(const struct kunwind_ranges *ranges, u64 addr);

/*
 * A cache from address to rule, for one CPU (kernel) or one thread (user
 * space). An address has two places. A sequence number guards each entry, so
 * that an interrupt or NMI can use the cache in the middle of an update. Zeroed
 * memory is an empty cache.
 */
#define KUNWIND_RULE_CACHE_BITS	9
#define KUNWIND_RULE_CACHE_ENTRIES	(1U << KUNWIND_RULE_CACHE_BITS)
struct kunwind_rule_cache_entry {
	u64 addr;		/* address as looked up (return address minus one) */
	u64 id;			/* of the ranges */
	struct kunwind_rule rule;	/* never NONE, never FULL */
	u64 after;		/* other registers, and the sequence number: regs_after.h */
};
/* The alignment puts the two places of an address into one line of the data cache. */
struct kunwind_rule_cache {
	struct kunwind_rule_cache_entry entry[KUNWIND_RULE_CACHE_ENTRIES];
} __attribute__((__aligned__(64)));

/*
 * The note of the last complete walk: its inputs and its result (replay.c).
 * Zeroed memory notes no walk.
 */
#define KUNWIND_REPLAY_FRAMES	128
struct kunwind_replay {
	u64 id;			/* of the ranges; 0: nothing is noted */
	u64 ip, sp, bp;
	u32 count;		/* addresses; the first is ip */
	u32 words;		/* count, or count + 1 if a return address of zero ended the walk */
	u32 rbps;		/* entries of rbp[] */
	/*
	 * The order of these arrays matters. A loop over rbp[] or cfa[] may
	 * speculate past the array's end. The next array holds user values,
	 * too, so the loop never uses other kernel data as an address. Nothing
	 * is read at the addresses in address[].
	 */
	struct kunwind_replay_rbp {
		u64 at, value;	/* where a saved rbp was read, and its value */
	} rbp[KUNWIND_REPLAY_FRAMES + 1];
	/* Indexed by the number of the address, from 1: address[i] was read at cfa[i] - 8. */
	u64 cfa[KUNWIND_REPLAY_FRAMES + 1];
	u64 address[KUNWIND_REPLAY_FRAMES + 1];
};

/* The stack at one instruction of a function, as its code shows it. Bytes; -1: not known. */
struct kunwind_code {
	s32 depth;		/* from rsp up to the return address */
	s32 frame;		/* from rbp up to the return address, if rbp is the frame pointer */
	s32 rbp_at;		/* from the return address down to the saved rbp; -1: unchanged */
	bool realigned;		/* depth or frame: up to a word that has the caller's rsp; rbp_at: from
				 * there up to the saved rbp (code_ahead.c) */
	bool resumes;		/* the function restores the flags and returns: nothing called it */
	bool unsure;		/* the result holds only if a call that nops follow returns */
	bool calls;		/* a call is on the path */
	bool jumps;		/* a jmp with a 32-bit displacement is on the path to the return */
	bool jumps_later;	/* such a jump follows a call on the path */
	bool removes;		/* the return removes words above the return address, or moves it */
	s32 end;		/* from the first instruction to the end of the return that the path
				 * leads to */
	s8 pushed;		/* the return takes a word that the path pushed on an empty frame: the
				 * register's number in instructions, or KUNWIND_CODE_OTHER; -1: no */
};
#define KUNWIND_CODE_OTHER	16	/* a pushed word that is no register */

/*
 * How to step from a return address in code of a JIT (jit_rule.c): the place of the
 * frame's return address, and a hash of the code that decides it.
 */
#define KUNWIND_JIT_RULES_BITS	9
struct kunwind_jit_rules {
	struct kunwind_jit_rule {
		u64 ip;
		u64 id, space;	/* of the ranges, of the address space */
		u64 hash;
		u64 caller;	/* the last return address that was found */
		s32 ra_at;	/* from rsp or rbp up to the return address */
		s32 rbp_at;	/* from there down to the saved rbp, as in struct kunwind_code */
		s32 end;	/* as in struct kunwind_code; 0: no return decides */
		bool from_rsp;	/* the place is counted from rsp, not from rbp */
		bool own_rbp;	/* the saved rbp may have any value */
		u8 method;	/* enum kunwind_method */
		bool confirmed;	/* two walks have found the same */
	} rule[1U << KUNWIND_JIT_RULES_BITS];
};

/*
 * A cache of what code_analysis.c and code_ahead.c found in code, for one CPU
 * (analysis_cache.c). An entry holds a question and its answer. Only one walk
 * at a time may use the cache. Zeroed memory is an empty cache.
 */
#define KUNWIND_ANALYSIS_CACHE_BITS	7
#define KUNWIND_ANALYSIS_CACHE_PIECES	4
struct kunwind_analysis_cache {
	u64 id, space;		/* of the current walk: its ranges and address space */
	u64 walk;		/* number of the current walk */
	struct kunwind_jit_rules *jit;	/* NULL: none are kept */
	struct kunwind_analysis *asked;	/* of the question that is being answered, or NULL */
	/* The routine that makes the frames of a JIT's code, and aligns rsp (jit_entry.c). */
	struct kunwind_jit_routine {
		u64 id, space;	/* of the walk that found it */
		u64 start;	/* of the range */
		u32 at;		/* bytes from there to the routine's words */
	} routine;
	struct kunwind_analysis {
		u64 id;		/* of the ranges; 0: no answer */
		u64 space;
		u64 from, to;	/* addresses in the question */
		u64 walk;	/* the last walk that found the answer or checked the code */
		u64 hash;	/* of the code that was read */
		struct kunwind_piece {
			s32 start;	/* bytes from "from" */
			u32 words;
		} piece[KUNWIND_ANALYSIS_CACHE_PIECES];	/* the code that was read */
		u32 pieces;	/* 0: the code is not recorded, the answer holds for one walk */
		u32 question;
		u64 tail;	/* target of a tail call: bytes from "from" */
		u32 left;	/* instructions that may still be read to find a tail call */
		struct kunwind_code code;
		bool yes;
	} entry[1U << KUNWIND_ANALYSIS_CACHE_BITS];
};

/* How the first frame was left, if that is known. */
enum kunwind_entry {
	KUNWIND_ENTRY_UNKNOWN,
	KUNWIND_ENTRY_SYSCALL,
	KUNWIND_ENTRY_OTHER,		/* an interrupt or exception */
};

/**
 * struct kunwind_walk - one walk
 * @ranges: in
 * @cache: in; may be NULL
 * @replay: in, out: the note of the last walk; may be NULL. No other walk may
 *	use it at the same time. Without @cache, nothing is noted
 * @mem: in: state of the memory reader (kunwind_deps.h); mem.left: out: the
 *	rest of the budget; 0 if the walk ended because the budget was spent
 *	(KUNWIND_BUDGET_SPENT)
 * @regs: in: registers of the innermost frame, at an instruction that has not
 *	run yet or after a system call (the address is looked up without minus
 *	1); changed by the walk
 * @addresses: out: @capacity words; the first is regs.r[KUNWIND_RA]
 * @trust: in: NULL, or @capacity bytes, all KUNWIND_TRUST_CFI except the first;
 *	out: enum kunwind_trust of each address; the walk may also change the
 *	byte after the last address that it returns
 * @capacity: in: size of @addresses
 * @count: out: addresses found
 * @found: out, if @others is true: the number of addresses found without CFI,
 *	for each enum kunwind_method. KUNWIND_BY_BEGIN counts the steps that
 *	found that there is no caller
 * @others: in: false; out: true if @found counts anything
 * @unread: out, after KUNWIND_UNREADABLE: the stack pointer of the frame that
 *	could not be read, and the address of the last saved rbp that a CFA
 *	needed, which may be the cause. An element that is not known keeps its
 *	value
 * @budget: in: units that the walk may spend (mem.h), at most KUNWIND_BUDGET; 0
 *	means KUNWIND_BUDGET
 * @guess: in: go on by guesses (KUNWIND_TRUST_FP, KUNWIND_TRUST_SCAN); if
 *	false, the walk ends before the first guess
 * @i386: in: the code is 32-bit code, to be walked by kunwind_walk_i386(): its
 *	addresses and registers are below 2^32
 * @entry: in: how the first frame was left (enum kunwind_entry)
 *
 * The other members are private to the walk.
 */
struct kunwind_walk {
	const struct kunwind_ranges *ranges;
	const struct kunwind_range *range;	/* private: the range of the last lookup */
	struct kunwind_rule_cache *cache;
	struct kunwind_replay *replay;
	struct kunwind_mem mem;
	struct kunwind_regs regs;
	unsigned long *addresses;
	u8 *trust;
	u32 capacity;
	u32 count;
	u16 found[KUNWIND_NR_METHODS];
	u8 found_by;		/* private: the method that was counted last */
	bool others;
	u32 found_at;		/* private: the index of the address that it found */
	u64 unread[2];
	u64 code;		/* private: 8 bytes of code, see give_registers() (walk.c); or 0 */
	bool distrust;		/* private: the frame's KUNWIND_RULE_CODE has given no return address */
	u64 lower_cfa, lower_ra; /* private: a step that did not raise the stack pointer */
	u32 lower_nr;		/* private: number of such steps */
	u32 budget;
	bool guess;
	bool i386;
	u8 entry;		/* enum kunwind_entry */
};

/**
 * kunwind_walk() - walk a stack until an entry point or a reason to stop
 *
 * Any context, NMI included: takes no lock, allocates nothing, causes no page
 * fault. Bounds: one step for each address of walk->capacity; the budget pays
 * for all work except steps by rules from the cache.
 * Return: why the walk ended.
 */
enum kunwind_reason kunwind_walk(struct kunwind_walk *walk);

/**
 * kunwind_replay_walk() - return the stack that walk->replay notes, if it still
 * holds
 *
 * Call this before kunwind_walk(), which makes the note. walk->replay must not
 * be NULL. Of walk->regs, only rip, rsp and rbp must be set.
 * Return: true: walk->addresses and walk->count are a complete stack. False:
 * nothing is noted, an input of the noted walk has changed or cannot be read,
 * or the capacity is too small; walk->addresses are undefined, and
 * kunwind_walk() must be called.
 */
bool kunwind_replay_walk(struct kunwind_walk *walk);

/* kunwind_walk() for 32-bit code (walk->i386). */
enum kunwind_reason kunwind_walk_i386(struct kunwind_walk *walk);

/* The name in the enum, without its prefix, in lower case; "?" for any other number. */
const char *kunwind_reason_name(unsigned int reason);
const char *kunwind_build_error_name(unsigned int err);
const char *kunwind_trust_name(unsigned int trust);
const char *kunwind_method_name(unsigned int method);

/* The walk ended at an address without a rule, and no other method found the caller. */
static __always_inline bool kunwind_reason_without_rule(enum kunwind_reason reason)
{
	return reason == KUNWIND_NO_RULE || reason == KUNWIND_NO_TABLE ||
	       reason == KUNWIND_NO_OBJECT;
}

/* The frame is a guess. So all frames after it may be wrong. */
static __always_inline bool kunwind_trust_is_guess(u8 trust)
{
	return trust == KUNWIND_TRUST_FP || trust == KUNWIND_TRUST_SCAN;
}

#endif /* _KUNWIND_CORE_H */
