/* SPDX-License-Identifier: MIT */
/*
 * slow.c - a simple and slow CFI interpreter (slow.h). DWARF 5, 6.4; LSB 5.0
 * core 10.5, 10.6.
 */
#include "slow.h"
#include "slow-bytes.h"

#include <stdio.h>
#include <string.h>

enum how { UNSET, SAME, UNDEFINED, UNKNOWN, AT_CFA, IS_CFA, IN_REG, AT_EXPR, IS_EXPR };

/* Limits of the builder in kmod/core, which this interpreter shares. */
#define MOST_STATES	1024
#define MOST_CODE	(1 << 20)
#define CIE_MOST	1280
#define CIE_MOST_CODE	1024

struct value {
	enum how how;
	int64_t num;		/* offset or register */
	const uint8_t *expr;
	uint64_t len;
};

struct state {
	bool cfa_known, cfa_is_expr;
	uint64_t cfa_reg;
	int64_t cfa_off;
	struct value cfa_expr;
	struct value reg[17];
};

struct cie {
	uint64_t caf;
	int64_t daf;
	uint64_t ra;		/* column of the return address */
	uint8_t encoding;
	bool sized, signal;
	bool unknown;		/* invalid: its FDEs are ignored */
	struct state first;
	const uint8_t *code, *end;
};

static const char *const names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

static const char *const names_i386[] = {
	"eax", "edx", "ecx", "ebx", "esi", "edi", "ebp", "esp", "", "", "", "", "", "", "", "", "eip",
};

static const char *name_of(const struct slow_section *s, uint64_t reg)
{
	return s->i386 ? names_i386[reg] : names[reg];
}

/* Returns a register's x86-64 number. Numbers from 17 on are not followed. */
static uint64_t column(const struct slow_section *s, uint64_t number)
{
	static const int of_i386[] = { 0, 2, 1, 3, 7, 6, 4, 5, 16 };

	if (!s->i386)
		return number;
	return number < 9 ? of_i386[number] : 17;
}

/* Whether the encoding is valid, and not indirect (DW_EH_PE_indirect). */
static bool encoding_exists(uint8_t encoding)
{
	static const char formats[] = "\0\1\2\3\4\x8\x9\xa\xb\xc";

	return encoding == 0x50 || (encoding < 0x50 && memchr(formats, encoding % 16, sizeof(formats) - 1));
}

static uint64_t pointer64(const struct slow_section *s, struct in *p, uint8_t encoding)
{
	uint64_t place = s->addr + (uint64_t)(p->p - s->data), val = 0;
	int word = s->i386 ? 4 : 8;

	if (!encoding_exists(encoding)) {
		p->bad = true;
		return 0;
	}
	if (encoding == 0x50) {
		while (place++ % word)
			skip(p, 1);
		return fixed(p, word);
	}
	switch (encoding % 16) {
	case 0: case 8:
		val = fixed(p, word);
		break;
	case 4: case 12:
		val = fixed(p, 8);
		break;
	case 1:
		val = uleb(p);
		break;
	case 9:
		val = (uint64_t)sleb(p);
		break;
	case 2:
		val = fixed(p, 2);
		break;
	case 3:
		val = fixed(p, 4);
		break;
	case 10:
		val = (uint64_t)fixed_signed(p, 2);
		break;
	case 11:
		val = (uint64_t)fixed_signed(p, 4);
		break;
	}
	switch (encoding / 16 % 8) {
	case 1:
		return val + place;
	case 2:
		return val + s->text_base;
	case 3:
		return val + s->data_base;
	}
	return val;
}

static uint64_t pointer(const struct slow_section *s, struct in *p, uint8_t encoding)
{
	uint64_t val = pointer64(s, p, encoding);

	return s->i386 ? (uint32_t)val : val;
}

/*
 * Runs the code until the location would pass @pc. DW_CFA_restore takes the
 * rule from cie->first; in the CIE's own code (@initial) it removes the rule.
 * Returns false if an instruction before @pc is invalid.
 */
static bool run(const struct slow_section *s, const struct cie *cie, const uint8_t *code,
		const uint8_t *end, uint64_t loc, uint64_t pc, bool initial, struct state *st)
{
	static struct state stack[MOST_STATES];
	struct in p = { code, end, false };
	int depth = 0;

	while (p.p < p.end) {
		uint8_t op = fixed(&p, 1), low = op & 63;
		struct value v = { UNSET, 0, NULL, 0 };
		uint64_t number = UINT64_MAX, advance, reg;
		__int128 off = 0;
		bool set = false, restore = false, moves = false, cfa = false;
		unsigned __int128 to = loc;

		if (op >= 0xc0) {
			number = low;
			restore = true;
		} else if (op >= 0x80) {
			number = low;
			v.how = AT_CFA;
			off = (__int128)(int64_t)uleb(&p) * cie->daf;
			set = true;
		} else if (op >= 0x40) {
			to += (unsigned __int128)low * cie->caf;
			moves = true;
		} else switch (op) {
		case 0x00:
			break;
		case 0x01:
			to = pointer(s, &p, cie->encoding);
			moves = true;
			if (to < loc)
				p.bad = true;
			break;
		case 0x02: case 0x03: case 0x04: case 0x1d:
			advance = fixed(&p, op == 0x1d ? 8 : 1 << (op - 2));
			to += (unsigned __int128)advance * cie->caf;
			moves = true;
			break;
		case 0x05:
			number = uleb(&p);
			v.how = AT_CFA;
			off = (__int128)(int64_t)uleb(&p) * cie->daf;
			set = true;
			break;
		case 0x06:
			number = uleb(&p);
			restore = true;
			break;
		case 0x07:
			number = uleb(&p);
			v.how = UNDEFINED;
			set = true;
			break;
		case 0x08:
			number = uleb(&p);
			v.how = SAME;
			set = true;
			break;
		case 0x09:
			number = uleb(&p);
			v.num = (int64_t)column(s, uleb(&p));
			v.how = v.num >= 0 && v.num < 17 ? IN_REG : UNKNOWN;
			set = true;
			break;
		case 0x0a:
			if (depth == MOST_STATES)
				return false;
			stack[depth++] = *st;
			break;
		case 0x0b:
			if (!depth)
				return false;
			*st = stack[--depth];
			break;
		case 0x0c:
		case 0x12:
			reg = column(s, uleb(&p));
			off = op == 0x0c ? (__int128)(int64_t)uleb(&p) : (__int128)sleb(&p) * cie->daf;
			cfa = true;
			st->cfa_reg = reg;
			st->cfa_known = true;
			st->cfa_is_expr = false;
			break;
		case 0x0d:
			reg = column(s, uleb(&p));
			/* Without an earlier CFA it has no effect. */
			if (st->cfa_known) {
				st->cfa_reg = reg;
				st->cfa_is_expr = false;
			}
			break;
		case 0x0e:
			off = (int64_t)uleb(&p);
			cfa = true;
			break;
		case 0x13:
			off = (__int128)sleb(&p) * cie->daf;
			cfa = true;
			break;
		case 0x0f:
			st->cfa_expr.len = uleb(&p);
			st->cfa_expr.expr = p.p;
			skip(&p, st->cfa_expr.len);
			st->cfa_known = true;
			st->cfa_is_expr = true;
			break;
		case 0x10:
		case 0x16:
			number = uleb(&p);
			v.how = op == 0x10 ? AT_EXPR : IS_EXPR;
			v.len = uleb(&p);
			v.expr = p.p;
			skip(&p, v.len);
			set = true;
			break;
		case 0x11:
			number = uleb(&p);
			v.how = AT_CFA;
			off = (__int128)sleb(&p) * cie->daf;
			set = true;
			break;
		case 0x14:
		case 0x15:
			number = uleb(&p);
			v.how = IS_CFA;
			off = (__int128)(op == 0x14 ? (int64_t)uleb(&p) : sleb(&p)) * cie->daf;
			set = true;
			break;
		case 0x2e:
			uleb(&p);
			break;
		case 0x2f:
			number = uleb(&p);
			v.how = AT_CFA;
			off = (__int128)(int64_t)(0 - uleb(&p)) * cie->daf;
			set = true;
			break;
		default:
			return false;
		}
		if (p.bad || (moves && initial))
			return false;
		/* Offsets of a rule have 32 bits. */
		if (cfa) {
			if (off != (int32_t)off)
				return false;
			st->cfa_off = off;
		}
		if (v.how == AT_CFA || v.how == IS_CFA) {
			v.num = off;
			if (off != (int32_t)off)
				v.how = UNKNOWN;
		}
		/*
		 * The return address is number 16, unless its column is also a
		 * register. No other column is number 16.
		 */
		reg = column(s, number);
		if (number == cie->ra)
			reg = reg < 16 ? reg : 16;
		else if (reg == 16)
			reg = 17;
		if (restore)
			v = initial || reg > 16 ? v : cie->first.reg[reg];
		if ((set || restore) && reg < 17)
			st->reg[reg] = v;
		if (to > pc)
			return true;
		loc = to;
	}
	return true;
}

/* Reads the CIE at offset @at of the section; cie->unknown if it is invalid. */
static void cie_parse(const struct slow_section *s, uint64_t at, struct cie *cie)
{
	struct in p = { s->data, s->data + s->size, false }, data;
	const char *letters;
	uint64_t len;
	bool eh, lost = false;
	int version, word = s->i386 ? 4 : 8;

	memset(cie, 0, sizeof(*cie));
	cie->unknown = true;
	skip(&p, at);
	len = fixed(&p, 4);
	if (len == 0xffffffff) {
		len = fixed(&p, 8);
		if (!has(&p, len))
			return;
		p.end = p.p + len;
		if (fixed(&p, 8) != (s->debug ? UINT64_MAX : 0))
			return;
	} else {
		if (!len || len >= 0xfffffff0 || !has(&p, len))
			return;
		p.end = p.p + len;
		if (fixed(&p, 4) != (s->debug ? 0xffffffff : 0))
			return;
	}
	if (p.bad || p.end - p.p > CIE_MOST)
		return;
	cie->end = p.end;
	version = fixed(&p, 1);
	letters = (const char *)p.p;
	while (fixed(&p, 1) && !p.bad)
		;
	if (p.bad || (version != 1 && version != 3 && version != 4))
		return;
	eh = !strncmp(letters, "eh", 2);
	letters += eh ? 2 : 0;
	/* Without 'z', the size of a letter's data is not known. */
	if (*letters != 'z' && letters[strspn(letters, "SB")])
		return;
	if (version == 4 && (fixed(&p, 1) != (uint64_t)word || fixed(&p, 1)))
		return;
	if (eh)
		skip(&p, word);
	cie->caf = uleb(&p);
	cie->daf = sleb(&p);
	cie->ra = version == 1 ? fixed(&p, 1) : uleb(&p);
	cie->signal = strchr(letters, 'S') != NULL;
	if (*letters == 'z') {
		cie->sized = true;
		len = uleb(&p);
		data = p;
		skip(&p, len);
		if (p.bad)
			return;
		data.end = p.p;
		for (letters++; *letters; letters++) {
			if (lost) {
				if (*letters == 'R')
					return;
			} else if (*letters == 'R') {
				cie->encoding = fixed(&data, 1);
			} else if (*letters == 'L') {
				fixed(&data, 1);
			} else if (*letters == 'P') {
				uint8_t encoding = fixed(&data, 1);

				if (encoding != 0xff)
					pointer(s, &data, encoding & 0x7f);
			} else {
				lost = !strchr("SB", *letters);
			}
		}
		if (data.bad)
			return;
	}
	if (p.bad || p.end - p.p > CIE_MOST_CODE)
		return;
	cie->code = p.p;
	cie->unknown = !run(s, cie, cie->code, cie->end, 0, UINT64_MAX, true, &cie->first);
}

/*
 * Returns false for an FDE that is ignored: it is empty, or outside the
 * object's code, or of a function that the linker dropped (the bytes of its
 * start are zero, or in .debug_frame all ones).
 */
static bool counts(const struct slow_section *s, const uint8_t *start_at, uint8_t encoding,
		   uint64_t start, uint64_t size)
{
	uint64_t zero = 0;

	switch (encoding / 16 % 8) {
	case 1:
		zero = s->addr + (uint64_t)(start_at - s->data);
		break;
	case 2:
		zero = s->text_base;
		break;
	case 3:
		zero = s->data_base;
		break;
	}
	if (s->debug && start == (s->i386 ? UINT32_MAX : UINT64_MAX))
		return false;
	return size && start != zero && start < s->hi && start + size > s->lo;
}

/* The FDE that is used for an address. */
struct found {
	uint64_t start, from;	/* its first address in the object's code; its own start */
	struct cie cie;
	const uint8_t *code, *code_end;
	bool any;
	const struct slow_section *beside;	/* FDEs that overlap any FDE of it are ignored */
};

struct meets {
	uint64_t start, end;
	bool any;
};

static void meets_check(void *data, uint64_t start, uint64_t end)
{
	struct meets *meets = data;

	if (start < meets->end && end > meets->start)
		meets->any = true;
}

static bool meets_any(const struct slow_section *s, uint64_t start, uint64_t end)
{
	struct meets meets = { start, end, false };

	if (s)
		slow_fdes(s, meets_check, &meets);
	return meets.any;
}

/*
 * Calls @fn, if not NULL, for each valid FDE. Sets *@best, if not NULL, to the
 * FDE of @pc; if several cover @pc, selects as kmod/core/table/build.c does.
 */
static void scan(const struct slow_section *s, uint64_t pc, struct found *best,
		 void (*fn)(void *data, uint64_t start, uint64_t end), void *data)
{
	const uint8_t *at = s->data, *end = s->data + s->size;

	while (end - at >= 4) {
		struct in p = { at, end, false };
		const uint8_t *id_at, *start_at;
		uint64_t len = fixed(&p, 4), id, start, size, low;
		bool wide = len == 0xffffffff;
		struct cie cie;

		if (!len) {
			if (!s->whole)
				return;
			at += 4;
			continue;
		}
		if (wide)
			len = fixed(&p, 8);
		if (!has(&p, len))
			return;
		id_at = p.p;
		at = p.end = p.p + len;
		id = fixed(&p, wide ? 8 : 4);
		if (p.bad)
			return;
		if (id == (!s->debug ? 0 : wide ? UINT64_MAX : 0xffffffff))
			continue;
		if (s->debug ? id > s->size : id > (uint64_t)(id_at - s->data))
			continue;
		cie_parse(s, s->debug ? id : id_at - s->data - id, &cie);
		if (cie.unknown || cie.encoding / 16 == 4)
			continue;
		start_at = p.p;
		start = pointer(s, &p, cie.encoding);
		size = pointer(s, &p, cie.encoding & 15);
		if (cie.sized)
			skip(&p, uleb(&p));
		if (p.bad || !counts(s, start_at, cie.encoding, start, size))
			continue;
		low = start > s->lo ? start : s->lo;
		if (size > ~start || at - p.p > MOST_CODE ||
		    (start + size < s->hi ? start + size : s->hi) - s->lo > 0xffffffff)
			continue;
		if (fn)
			fn(data, start, start + size);
		if (best && pc >= low && pc < s->hi && pc - start < size &&
		    (!best->any || low >= best->start) &&
		    !meets_any(best->beside, start, start + size)) {
			best->any = true;
			best->start = low;
			best->from = start;
			best->cie = cie;
			best->code = p.p;
			best->code_end = at;
		}
	}
}

void slow_fdes(const struct slow_section *s,
	       void (*fn)(void *data, uint64_t start, uint64_t end), void *data)
{
	scan(s, 0, NULL, fn, data);
}

/*
 * Writes "breg N, off; deref" in its shortest form, because a rule stores it as
 * numbers. Returns its size, or 0 if the expression has another form.
 */
static uint64_t deref_shorten(const uint8_t *expr, uint64_t len, uint8_t *out)
{
	struct in p = { expr, expr + len, false };
	uint64_t n = 0;
	int64_t off;

	if (len < 3 || *expr < 0x70 || *expr > 0x80)
		return 0;
	out[n++] = fixed(&p, 1);
	off = sleb(&p);
	if (p.bad || p.p != p.end - 1 || *p.p != 0x06 || off != (int32_t)off)
		return 0;
	for (;;) {
		uint8_t byte = off & 127;

		off >>= 7;
		if ((off == 0 && !(byte & 64)) || (off == -1 && (byte & 64))) {
			out[n++] = byte;
			break;
		}
		out[n++] = byte | 128;
	}
	out[n++] = 0x06;
	return n;
}

static char *hex(char *p, const uint8_t *bytes, uint64_t len)
{
	while (len--)
		p += sprintf(p, "%02x", *bytes++);
	return p;
}

static char *value_text(const struct slow_section *s, char *p, const struct value *v)
{
	switch (v->how) {
	case UNSET:
	case SAME:
		return p + sprintf(p, "s");
	case UNDEFINED:
	case UNKNOWN:
		return p + sprintf(p, "u");
	case AT_CFA:
		return p + sprintf(p, "c%+d", (int)v->num);
	case IS_CFA:
		return p + sprintf(p, "v%+d", (int)v->num);
	case IN_REG:
		return p + sprintf(p, "%s", name_of(s, v->num));
	case AT_EXPR:
		return hex(p + sprintf(p, "exp:"), v->expr, v->len);
	case IS_EXPR:
		return hex(p + sprintf(p, "vexp:"), v->expr, v->len);
	}
	return p;
}

/*
 * Returns the rule of the return address. If its column is a register without a
 * rule, the return address is in that register.
 */
static const struct value *return_of(const struct slow_section *s, const struct cie *cie,
				     const struct state *st)
{
	static struct value value;
	uint64_t reg = column(s, cie->ra);
	const struct value *v = &st->reg[reg < 16 ? reg : 16];

	if (cie->ra == (s->i386 ? 8 : 16) || (v->how != UNSET && v->how != SAME))
		return v;
	value = (struct value){ .how = reg < 16 && reg != 7 ? IN_REG : UNKNOWN, .num = reg };
	return &value;
}

void slow_rule_text(const struct slow_section *s, uint64_t pc, uint32_t keep, char *buf)
{
	struct state st;
	struct found f = { .any = false };
	const struct value *ra;
	uint8_t expr[32];
	uint64_t len;
	char *p = buf;
	unsigned int i;

	scan(s, pc, &f, NULL, NULL);
	if (!f.any && s->more) {
		f.beside = s;
		s = s->more;
		scan(s, pc, &f, NULL, NULL);
	}
	if (!f.any) {
		strcpy(buf, "none - -");
		return;
	}
	st = f.cie.first;
	if (!run(s, &f.cie, f.code, f.code_end, f.from, pc, false, &st)) {
		strcpy(buf, "none - -");
		return;
	}
	ra = return_of(s, &f.cie, &st);
	if (ra->how == UNDEFINED) {
		strcpy(buf, "end - -");
		return;
	}
	if (ra->how == UNKNOWN || !st.cfa_known || (!st.cfa_is_expr && st.cfa_reg > 16)) {
		strcpy(buf, "none - -");
		return;
	}
	if (!st.cfa_is_expr) {
		p += sprintf(p, "%s%+d", name_of(s, st.cfa_reg), (int)st.cfa_off);
	} else {
		p += sprintf(p, "exp:");
		len = deref_shorten(st.cfa_expr.expr, st.cfa_expr.len, expr);
		p = len ? hex(p, expr, len) : hex(p, st.cfa_expr.expr, st.cfa_expr.len);
	}
	*p++ = ' ';
	p = value_text(s, p, &st.reg[6]);
	*p++ = ' ';
	p = value_text(s, p, ra);
	if (f.cie.signal)
		p += sprintf(p, " signal");
	for (i = 0; i < 16; i++) {
		const struct value *v = &st.reg[i];
		bool followed = f.cie.signal || i == 7 || (keep >> i & 1) || i == column(s, f.cie.ra);

		if (i == 6 || v->how == UNSET || !followed ||
		    (v->how == SAME && !f.cie.signal && i != 7))
			continue;
		p += sprintf(p, " %s:", name_of(s, i));
		p = value_text(s, p, v);
	}
	*p = 0;
}
