// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * go.c - write the rows of Go's .gopclntab as a section .debug_frame
 *
 * For each function the table has a list (pcsp) of address ranges, each with the
 * distance from rsp up to the return address. Go's assembler computes it by
 * following push, pop and its own instructions. CFA = rsp + distance + 8.
 *
 * Functions that need more:
 *
 *   function				rows
 *   runtime.goexit, the program's start	the outermost frame: return address undefined
 *   runtime.rt0_go that C calls		from its code: C has aligned rsp
 *   assembler, all of releases before 1.18	while the code agrees with the list (go_stack.c)
 *   runtime.mcall, runtime.clone	the same; after the first write of rsp that the list
 *					lacks, the outermost frame (a system stack, a new
 *					thread)
 *   assembler on another stack	from the code that returns to the old one (go_switch.c)
 *   runtime.morestack			the goroutine's saved sp, pc and bp (go_switch.c)
 *   runtime.sigpanic, asyncPreempt	the kernel's signal "called" them, so the caller's
 *					address follows no call (augmentation S)
 *   runtime.sigreturn			none: a signal trampoline
 *   crosscall2				none: it saves C's registers where only its code says
 *
 * Where there are no rows, code_ahead.c and the other methods of nocfi/ try to find
 * the caller.
 *
 * The caller's rbp counts as unchanged while the distance is 0. Compiled functions with
 * a frame save it below the return address: the row begins after push %rbp, or
 * before mov %rbp, n(%rsp), so it holds RBP_SAVED bytes later. Assembler may
 * save it elsewhere: there, and in releases that do not mark assembler (before
 * 1.18), rbp is unknown.
 *
 * Other callee-saved registers: Go saves none, so the rows say nothing about
 * them. Only go_stack.c makes a CFA from one, and the frame before that is
 * C code (the vDSO's, libc's), which keeps it.
 *
 * Formats: magic 0xfffffffb (Go 1.2), ..fa (1.16), ..f0 (1.18), ..f1 (1.20).
 * From ..f0 on, addresses are relative to the start of Go's text, which the
 * header has. In a position-independent program the header's word is relocated:
 * its value is in the section .rela.dyn. Newer linkers leave the word zero. Then
 * the start of .text is tried, and must make the file's entry point that of Go.
 *
 * A section that is malformed anywhere is not used at all.
 *
 * Task context; may sleep. Memory: 40 KB during the call. The section's size bounds the
 * bytes that are read and written; @read, which may fail at any time, bounds the time.
 */
#include "go.h"
#include "go_stack.h"
#include "go_switch.h"

#define WORK_FACTOR   32 /* most bytes to read for each byte of the section, */
#define MOST_BYTES    (256 << 20) /* of a section: a program of 1 GB has some 200 MB */
#define WORK_BASE     (1 << 20) /* and besides */
#define OUT_FACTOR    4 /* most bytes to write for each byte of the section */
#define MOST_DISTANCE 0x7fffff00 /* reflect's largest frame has 0x40000008 */
#define MOST_CODE     32768 /* bytes of a function whose code is read: SHA-256 has 20 KB */
#define RBP_SAVED     3 /* bytes of mov %rsp, %rbp; mov %rbp, n(%rsp) has more */
#define RESCHED	      1024 /* functions */

#define MAGIC_2	 0xfffffffbU
#define MAGIC_16 0xfffffffaU
#define MAGIC_18 0xfffffff0U
#define MAGIC_20 0xfffffff1U

#define FLAG_TOPFRAME 1
#define FLAG_SPWRITE  2
#define FLAG_ASM      4

/* A piece of the file that was read last. */
struct window {
	u64 at;
	u32 len, room;
	u8 *bytes;
};

enum { TABLE, FUNCS, LISTS, NAMES, CODE, NR_WINDOWS };
static const u16 rooms[NR_WINDOWS] = { 2048, 2048, 512, 256, 0 };

/* How the rows of a function are made. */
enum go_kind {
	NORMAL,
	SKIPPED,
	OUTERMOST,
	SIGNAL,
	BY_CODE,
	SWITCHES_TO_END,
	SYSTEMSTACK,
	MORESTACK,
	CALLED_BY_C,
};

struct function {
	u64 start, end;
	u64 list; /* place of pcsp in the file */
	enum go_kind kind;
	bool keeps_rbp; /* compiled: rbp is below the return address */
};

struct go {
	const struct kunwind_elf *elf;
	kunwind_read_fn *read;
	void *file;
	struct window window[NR_WINDOWS];
	u64 work; /* bytes that may still be read */
	/* layout: places in the file */
	u32 magic;
	u64 nr, table, funcs, lists, names;
	u64 text; /* ELF virtual address that function entries are relative to */
	bool starts; /* the file's entry point is Go's */
	struct kunwind_cfi_writer writer;
	struct kunwind_go_switch stacks;
	struct kunwind_go_offsets offsets;
	enum kunwind_build_error err; /* once set, all else does nothing */
};

static void fail(struct go *go, enum kunwind_build_error err)
{
	if (!go->err)
		go->err = err;
}

/* Returns @len bytes at the file's @off, or NULL (go->err). @end: of the section. */
static const u8 *get(struct go *go, int which, u64 off, u32 len, u64 end)
{
	struct window *w = &go->window[which];

	if (go->err)
		return NULL;
	if (off > end || len > end - off) {
		fail(go, KUNWIND_E_TRUNCATED);
		return NULL;
	}
	if (off < w->at || off - w->at > w->len || len > w->len - (off - w->at)) {
		w->at = off;
		w->len = min((u64)w->room, end - off);
		if (w->len > go->work) {
			fail(go, KUNWIND_E_LIMIT);
			return NULL;
		}
		go->work -= w->len;
		if (go->read(go->file, off, w->bytes, w->len)) {
			w->len = 0;
			fail(go, KUNWIND_E_IO);
			return NULL;
		}
	}
	return w->bytes + (off - w->at);
}

static u64 section_end(const struct go *go)
{
	return go->elf->go_offset + go->elf->go_size;
}

static u32 u32_at(struct go *go, int which, u64 off)
{
	const u8 *p = get(go, which, off, 4, section_end(go));
	u32 val = 0;

	if (p)
		memcpy(&val, p, sizeof(val));
	return val;
}

static u64 u64_at(struct go *go, int which, u64 off)
{
	const u8 *p = get(go, which, off, 8, section_end(go));
	u64 val = 0;

	if (p)
		memcpy(&val, p, sizeof(val));
	return val;
}

/* Reads a number of up to 32 bits (Go: encoding/binary, Uvarint). */
static u32 varint(struct go *go, u64 *off)
{
	u32 val = 0, shift;

	for (shift = 0; shift < 35; shift += 7) {
		const u8 *p = get(go, LISTS, *off, 1, section_end(go));

		if (!p)
			return 0;
		++*off;
		if (shift == 28 && *p > 0xf)
			break;
		val |= (u32)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return val;
	}
	fail(go, KUNWIND_E_OPERAND);
	return 0;
}

/* ---------------------------------------------------------------- pcsp */

/* Reads a function's list of distances, range by range. */
struct list {
	u64 at; /* place in the file */
	u64 from, to; /* the current range */
	s64 distance;
	bool begun;
};

/* Goes on to the next range. False: there is none. */
static bool list_next(struct go *go, struct list *l, const struct function *f)
{
	u32 change = varint(go, &l->at), span;

	if (go->err || (!change && l->begun))
		return false;
	span = varint(go, &l->at);
	l->begun = true;
	l->from = l->to;
	l->distance += (s32)(change & 1 ? ~(change >> 1) : change >> 1);
	l->to += span;
	if (go->err || !span || l->to > f->end || l->distance > MOST_DISTANCE ||
	    l->distance < -MOST_DISTANCE) {
		fail(go, KUNWIND_E_RANGE);
		return false;
	}
	return true;
}

static struct list list_of(const struct function *f)
{
	return (struct list){ .at = f->list, .from = f->start, .to = f->start, .distance = -1 };
}

static void end_rows(struct go *go, u64 end)
{
	kunwind_cfi_write_row(&go->writer, end,
			      (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_NONE });
}

static void list_rows(struct go *go, const struct function *f)
{
	struct list l = list_of(f);
	bool framed = false; /* after the prologue */

	while (list_next(go, &l, f)) {
		u8 rbp = KUNWIND_RBP_SAME;

		if (l.distance && !f->keeps_rbp) {
			rbp = KUNWIND_RBP_UNKNOWN;
		} else if (l.distance) {
			rbp = KUNWIND_RBP_SAVED;
			if (!framed) {
				kunwind_cfi_write_row(&go->writer, l.from,
						      kunwind_go_row_by_rsp(l.distance,
									    KUNWIND_RBP_SAME));
				l.from += min(l.to - l.from, (u64)RBP_SAVED);
			}
			framed = true;
		}
		if (l.from < l.to)
			kunwind_cfi_write_row(&go->writer, l.from,
					      kunwind_go_row_by_rsp(l.distance, rbp));
	}
	end_rows(go, l.to);
}

/* ------------------------------------------------- functions that write rsp */

/* Returns the place of an address in the file, and how many bytes follow there. */
static u64 place_of(const struct kunwind_elf *elf, u64 addr, u64 *left)
{
	const struct kunwind_elf_load *load = kunwind_elf_load_find(elf, addr);

	*left = load ? load->filesz - (addr - load->vaddr) : 0;
	return load ? load->offset + (addr - load->vaddr) : 0;
}

#define COST_OF_SWITCH 32 /* bytes of work */

/*
 * Writes the row of an instruction of @length bytes at address @at that runs on another
 * stack. In its expressions, rip is the address of the instruction, or, if it is a call
 * that has not returned, that of the next one. False: there is no such row.
 */
static bool switch_row(struct go *go, const struct function *f, u64 at, u32 length, const u8 *code,
		       u32 len)
{
	const u32 off = at - f->start;
	struct kunwind_written_row row;
	u32 i;

	if (go->work < COST_OF_SWITCH)
		return false;
	go->work -= COST_OF_SWITCH;
	for (i = 0; i < 2; i++) {
		const u32 ahead = i ? length : 0;

		if (f->kind == MORESTACK ?
			    code[off] != 0xe8 ||
				    !kunwind_go_morestack_row(&go->stacks, code, len, off, ahead,
							      &go->offsets, &row) :
			    !kunwind_go_switch_row(&go->stacks, code + off, len - off, ahead, &row))
			return false;
		kunwind_cfi_write_row(&go->writer, at + i, row);
		if (length == 1)
			break;
	}
	if (f->kind == SYSTEMSTACK)
		kunwind_go_switch_offsets(&go->stacks, &go->offsets);
	return true;
}

static void code_rows(struct go *go, const struct function *f)
{
	const bool to_end = f->kind == SWITCHES_TO_END;
	struct kunwind_go_stack s = { .by_rsp = true, .aligned = f->kind == CALLED_BY_C };
	struct list l = list_of(f), next = l;
	u64 left, off = place_of(go->elf, f->start, &left);
	const u32 len = min(min(f->end - f->start, left), (u64)MOST_CODE);
	const u8 *code = get(go, CODE, off, len, off + len);
	bool more = code && list_next(go, &next, f);
	u64 at = f->start;

	while (more) {
		l = next;
		more = list_next(go, &next, f);
		while (at < l.to && !go->err) {
			struct kunwind_written_row row;
			struct kunwind_insn insn;
			u32 length;

			row = kunwind_go_stack_row(&s, l.distance);
			if (row.how == KUNWIND_WRITTEN_NONE && s.written &&
			    kunwind_go_decode(code + (at - f->start), len - (at - f->start), &insn) &&
			    insn.length <= l.to - at && switch_row(go, f, at, insn.length, code, len)) {
				if (f->kind == MORESTACK) {
					end_rows(go, at + insn.length);
					return;
				}
			} else {
				kunwind_cfi_write_row(&go->writer, at, row);
			}
			length = kunwind_go_stack_step(&s, code + (at - f->start),
						       len - (at - f->start), l.distance,
						       &next.distance, l.to - at, to_end);
			/* The list and the instructions must agree where a row begins. */
			if (!length || length > l.to - at) {
				end_rows(go, at);
				return;
			}
			at += length;
		}
	}
	end_rows(go, l.to);
}

/* ---------------------------------------------------------------- functions */

struct name {
	char text[32]; /* cut, and not terminated if it is longer */
};

static struct name name_at(struct go *go, u64 off)
{
	const u64 end = section_end(go);
	struct name name = {};
	const u8 *p;

	p = get(go, NAMES, off, off < end ? min((u64)sizeof(name.text), end - off) : 1, end);
	if (p)
		memcpy(name.text, p, min((u64)sizeof(name.text), end - off));
	return name;
}

static bool is(const struct name *name, const char *want, size_t len)
{
	return !memcmp(name->text, want, len);
}
#define IS(name, want)	   is(name, want, sizeof(want))
#define BEGINS(name, want) is(name, want, sizeof(want) - 1)

/*
 * @flags: Go's, or 0; @old: the release has no flags; @starts: the program starts with Go's code,
 * not with that of C.
 */
static enum go_kind kind_of(const struct name *name, u8 flags, bool old, bool starts)
{
	if (IS(name, "runtime.goexit") || IS(name, "_rt0_amd64_linux") || IS(name, "_rt0_amd64"))
		return OUTERMOST;
	if (IS(name, "runtime.rt0_go"))
		return starts ? OUTERMOST : CALLED_BY_C;
	if (IS(name, "runtime.mcall") || IS(name, "runtime.clone"))
		return SWITCHES_TO_END;
	if (IS(name, "runtime.systemstack"))
		return SYSTEMSTACK;
	if (IS(name, "runtime.morestack"))
		return MORESTACK;
	if (IS(name, "runtime.sigpanic") || IS(name, "runtime.sigpanic0") ||
	    IS(name, "runtime.asyncPreempt"))
		return SIGNAL;
	if (BEGINS(name, "runtime.sigreturn"))
		return SKIPPED;
	if (IS(name, "crosscall2"))
		return SKIPPED;
	/* A goroutine's thread may have C functions above, and a signal handler has. */
	if (flags & FLAG_TOPFRAME && !IS(name, "runtime.mstart") && !IS(name, "runtime.sigtramp"))
		return OUTERMOST;
	/* Releases before 1.18 do not say which functions are assembler. */
	if (old || flags & (FLAG_SPWRITE | FLAG_ASM))
		return BY_CODE;
	return NORMAL;
}

static bool is_newer(const struct go *go)
{
	return go->magic == MAGIC_18 || go->magic == MAGIC_20;
}

/* The address of function @i, and its place after the functions' start. */
static u64 start_of(struct go *go, u64 i, u64 *func)
{
	if (is_newer(go)) {
		*func = u32_at(go, TABLE, go->table + i * 8 + 4);
		return go->text + u32_at(go, TABLE, go->table + i * 8);
	}
	*func = u64_at(go, TABLE, go->table + i * 16 + 8);
	return u64_at(go, TABLE, go->table + i * 16);
}

/* The end of function @i is the start of the next one; the last one's has no function. */
static u64 end_of(struct go *go, u64 i)
{
	if (is_newer(go))
		return go->text + u32_at(go, TABLE, go->table + i * 8 + 8);
	return u64_at(go, TABLE, go->table + i * 16 + 16);
}

/* Reads function number @i. False: it has no list of distances. */
static bool function_get(struct go *go, u64 i, struct function *f)
{
	const bool newer = is_newer(go);
	const u32 word = newer ? 4 : 8;
	u64 func, bytes;
	u32 list, name_off;
	u8 id, flags;
	struct name name;

	f->start = start_of(go, i, &func);
	f->end = end_of(go, i);
	if (go->err)
		return false;
	if (f->end < f->start || f->start < go->elf->text_lo || f->end > go->elf->text_hi) {
		fail(go, KUNWIND_E_RANGE);
		return false;
	}
	if (func > go->elf->go_size) {
		fail(go, KUNWIND_E_TRUNCATED);
		return false;
	}
	/* struct _func: entry, name, args, deferreturn, pcsp, pcfile, pcln, npcdata, ... */
	func += go->funcs + word;
	name_off = u32_at(go, FUNCS, func);
	list = u32_at(go, FUNCS, func + 12);
	/* ... cuOffset (1.16), startLine (1.20), funcID, flag (1.17) */
	bytes = func + 28 + (go->magic != MAGIC_2) * 4 + (go->magic == MAGIC_20) * 4;
	id = newer ? u32_at(go, FUNCS, bytes) & 0xff : 0;
	flags = newer ? u32_at(go, FUNCS, bytes) >> 8 & 0xff : 0;
	if (go->err || !list || f->start == f->end)
		return false;
	f->list = go->lists + list;
	f->kind = NORMAL;
	f->keeps_rbp = newer && !(flags & FLAG_ASM);
	/* Only functions with an id or a flag are special. */
	if (!newer || id || flags) {
		name = name_at(go, go->names + name_off);
		f->kind = kind_of(&name, flags, !newer, go->starts);
	}
	return !go->err;
}

static void function_rows(struct go *go, const struct function *f, const u64 cie[2])
{
	static const struct kunwind_written_row outermost = {
		.how = KUNWIND_WRITTEN_END,
		.reg = KUNWIND_RSP,
		.off = 8,
	};

	go->writer.cie = cie[f->kind == SIGNAL];
	switch (f->kind) {
	case OUTERMOST:
		kunwind_cfi_write_row(&go->writer, f->start, outermost);
		end_rows(go, f->end);
		break;
	case BY_CODE:
	case SWITCHES_TO_END:
	case SYSTEMSTACK:
	case MORESTACK:
	case CALLED_BY_C:
		code_rows(go, f);
		break;
	case SKIPPED:
		break;
	default:
		list_rows(go, f);
	}
}

/* ---------------------------------------------------------------- the header */

/*
 * Returns what a relocation of the word at ELF virtual address @addr adds to the
 * load address, or 0. psABI, table 4.9: R_X86_64_RELATIVE.
 */
static u64 relocated(struct go *go, u64 addr)
{
	const u64 end = go->elf->rela_offset + go->elf->rela_size;
	u64 off;

	for (off = go->elf->rela_offset; off + 24 <= end; off += 24) {
		const u8 *p = get(go, TABLE, off, 24, end);
		u64 rela[3];

		if (!p)
			return 0;
		memcpy(rela, p, sizeof(rela));
		if (rela[0] == addr && rela[1] == 8)
			return rela[2];
	}
	return 0;
}

/* Whether the function at the file's entry point is Go's, if go->text is right. */
static bool starts_there(struct go *go)
{
	u64 low = 0, high = go->nr, func;
	const u64 entry = go->elf->entry;
	struct name name;

	while (high - low > 1) {
		u64 mid = low + (high - low) / 2;

		if (start_of(go, mid, &func) <= entry)
			low = mid;
		else
			high = mid;
	}
	if (start_of(go, low, &func) != entry || go->err || func > go->elf->go_size)
		return false;
	name = name_at(go, go->names + u32_at(go, FUNCS, go->funcs + func + (is_newer(go) ? 4 : 8)));
	return !go->err && BEGINS(&name, "_rt0_amd64");
}

static void find_text(struct go *go, u64 word)
{
	go->text = word;
	if (go->elf->rela_size) {
		u64 value = relocated(go, go->elf->go_addr + 24);

		if (value)
			go->text = value;
	}
	if (go->text || go->err)
		return;
	go->text = go->elf->text_section;
	go->starts = starts_there(go);
	if (!go->starts)
		fail(go, KUNWIND_E_RANGE);
}

static void header_read(struct go *go)
{
	const u64 at = go->elf->go_offset;
	u64 word[8], most;
	u32 i, nr_words;

	go->magic = u32_at(go, TABLE, at);
	/* two zeros, the smallest instruction, the size of a pointer */
	if (u32_at(go, TABLE, at + 4) != 0x08010000 && !go->err)
		fail(go, KUNWIND_E_HEADER);
	if (go->magic != MAGIC_2 && go->magic != MAGIC_16 && go->magic != MAGIC_18 &&
	    go->magic != MAGIC_20)
		fail(go, KUNWIND_E_VERSION);
	if (go->err)
		return;
	nr_words = go->magic == MAGIC_2 ? 1 : go->magic == MAGIC_16 ? 7 : 8;
	for (i = 0; i < nr_words; i++) {
		word[i] = u64_at(go, TABLE, at + 8 + 8 * i);
		/* All but the start of text are counts or offsets in the section. */
		if (word[i] > go->elf->go_size && !(nr_words == 8 && i == 2))
			fail(go, KUNWIND_E_HEADER);
	}
	if (go->err)
		return;
	go->nr = word[0];
	if (nr_words == 1) {
		go->table = at + 16;
		go->funcs = go->lists = go->names = at;
	} else {
		const u64 *offsets = word + (nr_words == 8 ? 3 : 2);

		go->names = at + offsets[0];
		go->lists = at + offsets[3];
		go->table = go->funcs = at + offsets[4];
	}
	/* an entry more than functions: the end of the last one */
	most = (section_end(go) - go->table) / (nr_words == 8 ? 8 : 16);
	if (!go->nr || go->nr >= most)
		fail(go, KUNWIND_E_HEADER);
	else if (nr_words == 8)
		find_text(go, word[2]);
	if (!go->err && !go->starts)
		go->starts = starts_there(go);
}

static enum kunwind_build_error go_rows(struct go *go)
{
	struct function f = {};
	u64 cie[2], i, last = 0;

	header_read(go);
	cie[0] = kunwind_cfi_write_cie(&go->writer, "");
	cie[1] = kunwind_cfi_write_cie(&go->writer, "S");
	for (i = 0; i < go->nr && !go->err; i++) {
		if (function_get(go, i, &f)) {
			if (f.start < last)
				fail(go, KUNWIND_E_RANGE);
			else
				function_rows(go, &f, cie);
			last = f.end;
			if (go->writer.full)
				fail(go, go->writer.out ? KUNWIND_E_IO : KUNWIND_E_LIMIT);
		}
		if (!(i % RESCHED))
			kunwind_resched();
	}
	return go->err;
}

static enum kunwind_build_error go_run(kunwind_read_fn *read, void *file,
				       const struct kunwind_elf *elf, u8 *out, u64 room, u64 *size)
{
	struct go *go = kunwind_alloc(sizeof(*go));
	u32 total = MOST_CODE, i;
	enum kunwind_build_error err = KUNWIND_E_NOMEM;
	u8 *bytes;

	if (elf->go_size > MOST_BYTES || elf->rela_size > MOST_BYTES) {
		kunwind_free(go);
		return KUNWIND_E_LIMIT;
	}
	for (i = 0; i < NR_WINDOWS; i++)
		total += rooms[i];
	bytes = kunwind_alloc(total);
	if (!go || !bytes)
		goto out;
	go->elf = elf;
	go->read = read;
	go->file = file;
	go->work = WORK_FACTOR * elf->go_size + elf->rela_size + WORK_BASE;
	go->writer.out = out;
	go->writer.room = room;
	for (i = 0, total = 0; i < NR_WINDOWS; i++) {
		go->window[i].bytes = bytes + total;
		go->window[i].room = rooms[i] ? rooms[i] : MOST_CODE;
		total += go->window[i].room;
	}
	err = go_rows(go);
	*size = go->writer.size;
out:
	kunwind_free(bytes);
	kunwind_free(go);
	return err;
}

enum kunwind_build_error kunwind_go_measure(kunwind_read_fn *read, void *file,
					    const struct kunwind_elf *elf, u64 *size)
{
	return go_run(read, file, elf, NULL, OUT_FACTOR * elf->go_size, size);
}

enum kunwind_build_error kunwind_go_write(kunwind_read_fn *read, void *file,
					  const struct kunwind_elf *elf, u8 *out, u64 size)
{
	enum kunwind_build_error err;
	u64 written;

	err = go_run(read, file, elf, out, size, &written);
	return err || written != size ? KUNWIND_E_IO : KUNWIND_OK;
}
