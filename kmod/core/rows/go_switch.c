// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * go_switch.c - rows of Go's assembler while it runs on another stack, from the code
 * that returns to the old one
 *
 * runtime.systemstack calls a function on the thread's own stack. After the call, its
 * code finds the goroutine's stack by thread-local storage, asmcgocall() by words
 * on the thread's stack:
 *
 *	call *%rdi;  mov %fs:-8, %rax;  mov 48(%rax), %rbx;  mov 192(%rbx), %rax;
 *	mov 56(%rax), %rsp;  ret
 *
 * The code from an instruction to the ret is followed once, with values as DWARF
 * expressions. The result is a row: CFA = rsp at the ret + 8.
 *
 *	bregx 58 -8; deref; plus_uconst 48; deref; plus_uconst 192; deref; plus_uconst 56; deref;
 *	plus_uconst 8
 *
 * An instruction is followed if it is a mov, lea, pop, add, sub, and, a store, a call or
 * the ret. After a call, only rsp and rbp have known values. A word that was stored on the
 * way has no known value. Between two stores and loads, different offsets from
 * the same value are different words, and so are words in thread-local storage and others.
 * Anything else, a branch too, means: no row. So does code that does not set rsp by
 * a mov: it may never reach the ret (runtime.morestack).
 *
 * runtime.morestack calls runtime.newstack(), which continues the goroutine elsewhere. So
 * its row uses what Go's own traceback uses: the goroutine's saved sp, pc
 * and bp. The thread may have left the goroutine (m->curg is 0): then nothing called
 * runtime.morestack any more, and the stack is complete. It may just have taken another
 * goroutine (runtime.execute). So pc must follow a call of runtime.morestack, or
 * of runtime.morestack_noctxt, which lies directly after it. Not found: a goroutine
 * that was itself saved in runtime.morestack, during some 50 instructions. Go's traceback shows
 * that one, too.
 *
 * Task context. Stack: 400 bytes. Sources: Go, src/runtime/asm_amd64.s, traceback.go
 * (_TraceJumpStack); DWARF 5, 2.5.1; psABI, table 3.36 (58: the base of fs).
 */
#include "../cfi/expr.h"
#include "../x86/insn_decode.h"
#include "go_stack.h"
#include "go_switch.h"

#define MOST_INSNS 24
#define RSP	   4 /* ModRM's register numbers */
#define RBP	   5
#define FS	   0x64 /* prefix */
#define CALL	   0xe8
#define CALL_BYTES 5
#define MOST_MORESTACK 512 /* bytes of runtime.morestack and _noctxt; a power of 2 */

/* ModRM's numbers to DWARF's, of the registers that Go's functions do not keep. */
static const s8 dwarf[16] = { KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, -1, KUNWIND_RSP, KUNWIND_RBP,
			      KUNWIND_RSI, KUNWIND_RDI, 8, 9, 10, 11, -1, -1, -1, -1 };

/* ---------------------------------------------------------------- values */

static void put(struct kunwind_go_value *v, u8 byte)
{
	if (!v->len)
		return;
	if (v->len == sizeof(v->expr))
		v->len = 0;
	else
		v->expr[v->len++] = byte;
}

static void put_uleb(struct kunwind_go_value *v, u64 val)
{
	do {
		put(v, (val & 0x7f) | (val > 0x7f) << 7);
		val >>= 7;
	} while (val);
}

static void put_sleb(struct kunwind_go_value *v, s64 val)
{
	bool more;

	do {
		const u8 low = val & 0x7f;

		val >>= 7;
		more = !(low & 0x40 ? val == -1 : !val);
		put(v, low | more << 7);
	} while (more);
}

/* Begins with the sum of register @number (DWARF's) and @off. */
static void set_reg(struct kunwind_go_value *v, u32 number, s64 off)
{
	v->len = 1;
	v->loads = 0;
	v->add = 0;
	v->expr[0] = number < 32 ? KUNWIND_OP_BREG0 + number : KUNWIND_OP_BREGX;
	if (number >= 32)
		put_uleb(v, number);
	put_sleb(v, off);
}

static void set_constant(struct kunwind_go_value *v, s64 value)
{
	v->len = 1;
	v->loads = 0;
	v->add = 0;
	v->expr[0] = KUNWIND_OP_CONSTS;
	put_sleb(v, value);
}

static void put_value(struct kunwind_go_value *v, const struct kunwind_go_value *other)
{
	u32 i;

	if (!other->len)
		v->len = 0;
	for (i = 0; i < other->len; i++)
		put(v, other->expr[i]);
}

/* Puts the sum into the expression. */
static void settle(struct kunwind_go_value *v)
{
	if (v->add > 0) {
		put(v, KUNWIND_OP_PLUS_UCONST);
		put_uleb(v, v->add);
	} else if (v->add) {
		put(v, KUNWIND_OP_CONSTS);
		put_sleb(v, v->add);
		put(v, KUNWIND_OP_PLUS);
	}
	v->add = 0;
}

static void load(struct kunwind_go_value *v, s32 step)
{
	settle(v);
	put(v, KUNWIND_OP_DEREF);
	if (v->loads < KUNWIND_GO_STEPS)
		v->step[v->loads] = step;
	v->loads += v->loads <= KUNWIND_GO_STEPS;
}

static bool same(const struct kunwind_go_value *a, const struct kunwind_go_value *b)
{
	return a->len && a->len == b->len && !memcmp(a->expr, b->expr, a->len);
}

/* ---------------------------------------------------------------- instructions */

/* A memory operand. */
struct operand {
	bool rip, fs, known;
	u8 base; /* register; 16: none */
	s64 off;
};

static struct operand operand_of(const struct kunwind_insn *insn, u32 next)
{
	const u8 mod = insn->modrm >> 6, low = insn->modrm & 7;
	struct operand o = { .fs = insn->segment == FS, .known = true, .base = 16, .off = insn->disp };

	if (low == RSP && !insn->on_rsp && !insn->absolute)
		o.known = false; /* an index */
	else if (low == RBP && !mod)
		o.rip = true, o.off += next;
	else if (!insn->absolute)
		o.base = low == RSP ? RSP : low | insn->rm_high << 3;
	o.known &= !insn->segment || o.fs;
	/* The absolute address of a word that is not thread-local is that of an image without bias. */
	o.known &= o.fs || o.rip || o.base < 16;
	return o;
}

/* Sets s->value to the operand's address. False: it is not known. */
static bool address(struct kunwind_go_switch *s, const struct operand *o, u32 ahead)
{
	struct kunwind_go_value *v = &s->value;

	if (!o->known)
		return false;
	if (o->rip) {
		set_reg(v, KUNWIND_RA, o->off - (s64)ahead);
	} else if (o->base == 16) {
		set_reg(v, KUNWIND_FS_BASE, o->off);
	} else {
		*v = s->r[o->base];
		v->add += o->off;
		if (o->fs && v->len) {
			settle(v);
			put(v, KUNWIND_OP_BREGX);
			put_uleb(v, KUNWIND_FS_BASE);
			put_sleb(v, 0);
			put(v, KUNWIND_OP_PLUS);
		}
	}
	return v->len;
}

/* Whether the word at this address was stored on the way. */
static bool stored(const struct kunwind_go_switch *s, const struct kunwind_go_value *at)
{
	u32 i;

	for (i = 0; i < s->stores; i++)
		if (same(&s->store[i], at) && s->store[i].add - at->add < 8 &&
		    at->add - s->store[i].add < 8)
			return true;
	return false;
}

/* Replaces the address in s->value by the word there. False: it is not known. */
static bool word(struct kunwind_go_switch *s, const struct operand *o)
{
	struct kunwind_go_value *v = &s->value;

	if (stored(s, v))
		return false;
	/* The offset of a thread-local variable, in the global offset table, is no step. */
	load(v, o->off);
	if (o->rip)
		v->loads = 0;
	return v->len;
}

static void pop(struct kunwind_go_switch *s, u32 reg)
{
	const struct operand top = { .base = RSP, .known = true };
	const bool known = address(s, &top, 0) && word(s, &top);

	s->r[RSP].add += 8;
	if (!known)
		s->value.len = 0;
	s->r[reg] = s->value;
}

static bool store(struct kunwind_go_switch *s, const struct operand *o, u32 ahead)
{
	if (o->fs && o->known)
		return true; /* the thread's g: only read before */
	if (s->stores == KUNWIND_GO_STORES || !address(s, o, ahead))
		return false;
	s->store[s->stores++] = s->value;
	return true;
}

static void call(struct kunwind_go_switch *s)
{
	u32 i;

	for (i = 0; i < 16; i++)
		if (i != RSP && i != RBP)
			s->r[i].len = 0;
}

/*
 * Applies an instruction other than ret. @next: the place of the following one, and @ahead: of
 * rip, from the first instruction on. False: it is not followed.
 */
static bool follow(struct kunwind_go_switch *s, const struct kunwind_insn *insn, u32 next,
		   u32 ahead)
{
	const u32 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u32 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const bool memory = insn->modrm >> 6 != 3;
	const struct operand o = operand_of(insn, next);
	struct kunwind_go_value *v = &s->value;

	/* APX has more registers than s->r. */
	if (insn->map || insn->vex || (reg | rm) > 15 || insn->short_address)
		return false;
	switch (insn->op) {
	case 0x89: /* mov reg, r/m */
		if (memory)
			return store(s, &o, ahead);
		s->r[rm] = s->r[reg];
		if (!insn->wide)
			s->r[rm].len = 0;
		s->switched |= rm == RSP;
		return true;
	case 0x8b: /* mov r/m, reg */
		if (!memory)
			s->r[reg] = s->r[rm];
		else if (!address(s, &o, ahead) || !word(s, &o))
			s->r[reg].len = 0;
		else
			s->r[reg] = *v;
		if (!insn->wide)
			s->r[reg].len = 0;
		s->switched |= reg == RSP;
		return true;
	case 0x8d: /* lea */
		if (o.fs || !insn->wide || !address(s, &o, ahead))
			v->len = 0;
		s->r[reg] = *v;
		s->switched |= reg == RSP && o.base != RSP;
		return true;
	case 0x2b: /* sub r/m, reg */
		if (!memory || !insn->wide || !address(s, &o, ahead) || !word(s, &o)) {
			s->r[reg].len = 0;
			return true;
		}
		settle(&s->r[reg]);
		put_value(&s->r[reg], v);
		put(&s->r[reg], KUNWIND_OP_MINUS);
		return true;
	case 0x81:
	case 0x83:
		if (memory || !insn->wide)
			return false;
		switch (insn->modrm >> 3 & 7) {
		case 0:
			s->r[rm].add += (s64)insn->imm;
			return true;
		case 4:
			settle(&s->r[rm]);
			put(&s->r[rm], KUNWIND_OP_CONSTS);
			put_sleb(&s->r[rm], insn->imm);
			put(&s->r[rm], KUNWIND_OP_AND);
			return true;
		case 5:
			s->r[rm].add -= (s64)insn->imm;
			return true;
		case 7: /* cmp */
			return true;
		}
		return false;
	case 0xc7: /* mov imm, r/m */
		if (memory)
			return store(s, &o, ahead);
		/* the offset of g, which the C linker has put into the instruction */
		if (insn->wide)
			set_constant(&s->r[rm], insn->imm);
		else
			s->r[rm].len = 0;
		return rm != RSP;
	case 0x58 ... 0x5f:
		pop(s, (insn->op & 7) | insn->rm_high << 3);
		return true;
	case CALL:
		call(s);
		return true;
	case 0xff:
		if ((insn->modrm >> 3 & 7) != 2)
			return false;
		call(s);
		return true;
	}
	return false;
}

static void begin(struct kunwind_go_switch *s)
{
	u32 i;

	memset(s, 0, offsetof(struct kunwind_go_switch, exprs));
	for (i = 0; i < 16; i++)
		if (dwarf[i] >= 0)
			set_reg(&s->r[i], dwarf[i], 0);
}

static void expr_copy(struct kunwind_written_expr *e, struct kunwind_go_value *v)
{
	settle(v);
	e->len = v->len;
	memcpy(e->bytes, v->expr, v->len);
}

/* ---------------------------------------------------------------- rows */

bool kunwind_go_switch_row(struct kunwind_go_switch *s, const u8 *code, u32 len, u32 ahead,
			   struct kunwind_written_row *row)
{
	struct kunwind_go_value same_rbp;
	struct kunwind_insn insn;
	u32 at = 0, i;

	begin(s);
	same_rbp = s->r[RBP];
	for (i = 0; i < MOST_INSNS; i++) {
		if (!kunwind_go_decode(code + at, len - at, &insn) || !s->r[RSP].len)
			return false;
		at += insn.length;
		if (!insn.map && insn.op == 0xc3)
			break;
		if (!follow(s, &insn, at, ahead))
			return false;
	}
	if (i == MOST_INSNS || !s->switched || stored(s, &s->r[RSP]))
		return false;
	*row = (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_EXPR, .exprs = &s->exprs };
	memset(&s->exprs, 0, sizeof(s->exprs));
	if (!s->r[RBP].len)
		row->rbp = KUNWIND_RBP_UNKNOWN;
	else if (!s->r[RBP].add && same(&s->r[RBP], &same_rbp))
		row->rbp = KUNWIND_RBP_SAME;
	else
		expr_copy(&s->exprs.rbp, &s->r[RBP]);
	s->value = s->r[RSP];
	s->value.add += 8;
	expr_copy(&s->exprs.cfa, &s->value);
	return s->value.len;
}

void kunwind_go_switch_offsets(const struct kunwind_go_switch *s,
			       struct kunwind_go_offsets *offsets)
{
	const struct kunwind_go_value *sp = &s->r[RSP];

	if (sp->loads != KUNWIND_GO_STEPS || sp->add)
		return;
	*offsets = (struct kunwind_go_offsets){
		.known = true, .m = sp->step[1], .curg = sp->step[2], .sp = sp->step[3],
	};
}

/* Puts a branch; the place of its distance is returned. */
static u32 branch(struct kunwind_written_expr *e, u8 op)
{
	e->bytes[e->len++] = op;
	e->len += 2;
	return e->len;
}

/* The branch goes to what is put next. */
static void target(struct kunwind_written_expr *e, u32 from)
{
	e->bytes[from - 2] = e->len - from;
	e->bytes[from - 1] = 0;
}

/* Replaces the address on the stack by the word @off bytes after it. */
static void put_load(struct kunwind_go_value *v, s32 off)
{
	v->add = off;
	settle(v);
	put(v, KUNWIND_OP_DEREF);
}

static void append(struct kunwind_written_expr *e, const u8 *bytes, u32 len)
{
	memcpy(e->bytes + e->len, bytes, len);
	e->len += len;
}

static void append_value(struct kunwind_written_expr *e, struct kunwind_go_value *v)
{
	append(e, v->expr, v->len);
	v->len = 0;
}

/* A value whose expression takes numbers from the stack. */
static void fragment(struct kunwind_go_value *v)
{
	v->len = 1;
	v->add = 0;
	v->expr[0] = KUNWIND_OP_NOP;
}

/* Where the code stores rbp, from the goroutine's address on; 0: nowhere. */
static s32 saved_rbp(const u8 *code, u32 len)
{
	struct kunwind_insn insn;
	u32 at;

	for (at = 0; kunwind_go_decode(code + at, len - at, &insn); at += insn.length)
		if (!insn.map && insn.op == 0x89 && insn.wide && insn.modrm >> 6 == 1 &&
		    (insn.modrm >> 3 & 7) == RBP && !insn.reg_high && !insn.on_rsp)
			return insn.disp;
	return 0;
}

/* Sets s->value to the goroutine that the thread runs: g->m->curg. False: the code is unexpected. */
static bool curg(struct kunwind_go_switch *s, const u8 *code, u32 len, u32 ahead,
		 const struct kunwind_go_offsets *offsets)
{
	struct kunwind_insn insn;
	u32 at = 0, i, r;

	begin(s);
	for (i = 0; i < 4; i++) {
		if (!kunwind_go_decode(code + at, len - at, &insn))
			return false;
		at += insn.length;
		if (!follow(s, &insn, at, ahead))
			return false;
		for (r = 0; r < 16; r++) {
			if (!s->r[r].len || s->r[r].loads != 1)
				continue;
			s->value = s->r[r];
			put_load(&s->value, offsets->m);
			put_load(&s->value, offsets->curg);
			return s->value.len;
		}
	}
	return false;
}

bool kunwind_go_morestack_row(struct kunwind_go_switch *s, const u8 *code, u32 len, u32 at,
			      u32 ahead, const struct kunwind_go_offsets *offsets,
			      struct kunwind_written_row *row)
{
	/* pc: the word before it has the call; its target */
	static const u8 called[] = {
		KUNWIND_OP_DUP, KUNWIND_OP_LIT0 + 4, KUNWIND_OP_MINUS, KUNWIND_OP_DEREF_SIZE, 4,
		KUNWIND_OP_CONST1U, 32, KUNWIND_OP_SHL, KUNWIND_OP_CONST1U, 32, KUNWIND_OP_SHRA,
		KUNWIND_OP_OVER, KUNWIND_OP_PLUS,
	};
	/* from runtime.morestack on: not negative, and less than MOST_MORESTACK */
	static const u8 inside[] = {
		KUNWIND_OP_MINUS, KUNWIND_OP_CONST2S, -MOST_MORESTACK & 0xff,
		-MOST_MORESTACK >> 8 & 0xff, KUNWIND_OP_AND, KUNWIND_OP_LIT0, KUNWIND_OP_EQ,
	};
	/* and the instruction is a call */
	static const u8 opcode[] = {
		KUNWIND_OP_OVER, KUNWIND_OP_LIT0 + CALL_BYTES, KUNWIND_OP_MINUS,
		KUNWIND_OP_DEREF_SIZE, 1, KUNWIND_OP_CONST1U, CALL, KUNWIND_OP_EQ, KUNWIND_OP_AND,
	};
	static const u8 unreadable[] = { KUNWIND_OP_DROP, KUNWIND_OP_LIT0, KUNWIND_OP_DEREF };
	struct kunwind_written_exprs *e = &s->exprs;
	struct kunwind_go_value *v = &s->value;
	const s32 bp = saved_rbp(code, at);
	u32 some, none;

	if (!offsets->known || !curg(s, code, len, at + ahead, offsets))
		return false;
	memset(e, 0, sizeof(*e));
	append(&e->cfa, v->expr, v->len);
	append(&e->ra, v->expr, v->len);
	append(&e->rbp, v->expr, v->len);

	/* CFA: the goroutine's rsp; without a goroutine, this frame's */
	append(&e->cfa, (const u8[]){ KUNWIND_OP_DUP }, 1);
	some = branch(&e->cfa, KUNWIND_OP_BRA);
	append(&e->cfa, (const u8[]){ KUNWIND_OP_DROP, KUNWIND_OP_BREG0 + KUNWIND_RSP, 8 }, 3);
	none = branch(&e->cfa, KUNWIND_OP_SKIP);
	target(&e->cfa, some);
	fragment(v);
	put_load(v, offsets->sp);
	append_value(&e->cfa, v);
	target(&e->cfa, none);

	/* the return address: the goroutine's pc; without a goroutine, 0 */
	append(&e->ra, (const u8[]){ KUNWIND_OP_DUP }, 1);
	some = branch(&e->ra, KUNWIND_OP_BRA);
	none = branch(&e->ra, KUNWIND_OP_SKIP);
	target(&e->ra, some);
	fragment(v);
	put_load(v, offsets->sp + 8);
	append_value(&e->ra, v);
	append(&e->ra, called, sizeof(called));
	set_reg(v, KUNWIND_RA, -(s64)(at + ahead));
	append_value(&e->ra, v);
	append(&e->ra, inside, sizeof(inside));
	append(&e->ra, opcode, sizeof(opcode));
	some = branch(&e->ra, KUNWIND_OP_BRA);
	append(&e->ra, unreadable, sizeof(unreadable));
	target(&e->ra, some);
	target(&e->ra, none);

	*row = (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_EXPR, .exprs = e };
	if (!bp) {
		row->rbp = KUNWIND_RBP_UNKNOWN;
		e->rbp.len = 0;
		return true;
	}
	/* rbp: without a goroutine, any value */
	append(&e->rbp, (const u8[]){ KUNWIND_OP_DUP }, 1);
	some = branch(&e->rbp, KUNWIND_OP_BRA);
	none = branch(&e->rbp, KUNWIND_OP_SKIP);
	target(&e->rbp, some);
	fragment(v);
	put_load(v, bp);
	append_value(&e->rbp, v);
	target(&e->rbp, none);
	return true;
}
