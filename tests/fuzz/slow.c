/* SPDX-License-Identifier: MIT */
/*
 * slow.c - CFI the slow way; see slow.h. DWARF 5, 6.4; LSB 5.0 core 10.5, 10.6.
 */
#include "slow.h"

#include <stdio.h>
#include <string.h>

enum how { UNSET, SAME, UNDEFINED, AT_CFA, IS_CFA, IN_REG, AT_EXPR, IS_EXPR };

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
	uint8_t encoding;
	bool sized, signal, unknown;
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

/* Registers have the numbers of x86-64 here; 17 and more: not followed. */
static uint64_t column(const struct slow_section *s, uint64_t number)
{
	static const int of_i386[] = { 0, 2, 1, 3, 7, 6, 4, 5, 16 };

	if (!s->i386)
		return number;
	return number < 9 ? of_i386[number] : 17;
}

static uint64_t fixed(const uint8_t **p, int size)
{
	uint64_t val = 0;
	int i;

	for (i = 0; i < size; i++)
		val += (uint64_t)(*p)[i] << (8 * i);
	*p += size;
	return val;
}

static int64_t fixed_signed(const uint8_t **p, int size)
{
	uint64_t val = fixed(p, size), sign = (uint64_t)1 << (8 * size - 1);

	return (int64_t)((val ^ sign) - sign);
}

static uint64_t uleb(const uint8_t **p)
{
	uint64_t val = 0;
	int shift = 0;
	uint8_t byte;

	do {
		byte = *(*p)++;
		if (shift < 64)
			val |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return val;
}

static int64_t sleb(const uint8_t **p)
{
	uint64_t val = 0;
	int shift = 0;
	uint8_t byte;

	do {
		byte = *(*p)++;
		if (shift < 64)
			val |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if ((byte & 64) && shift < 64)
		val |= -((uint64_t)1 << shift);
	return (int64_t)val;
}

static uint64_t pointer64(const struct slow_section *s, const uint8_t **p, uint8_t encoding)
{
	uint64_t place = s->addr + (uint64_t)(*p - s->data), val = 0;
	int word = s->i386 ? 4 : 8;

	if (encoding == 0x50) {
		while (place++ % word)
			++*p;
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

static uint64_t pointer(const struct slow_section *s, const uint8_t **p, uint8_t encoding)
{
	uint64_t val = pointer64(s, p, encoding);

	return s->i386 ? (uint32_t)val : val;
}

static void cie_parse(const struct slow_section *s, const uint8_t *p, struct cie *cie)
{
	const char *letters;
	uint64_t len = fixed(&p, 4);
	int version;

	memset(cie, 0, sizeof(*cie));
	if (len == 0xffffffff) {
		len = fixed(&p, 8);
		cie->end = p + len;
		p += 8;
	} else {
		cie->end = p + len;
		p += 4;
	}
	version = *p++;
	letters = (const char *)p;
	p += strlen(letters) + 1;
	/* without 'z' there may be anything behind the letters */
	cie->unknown = *letters == 'z' ? letters[1 + strspn(letters + 1, "RPLSB")] != 0 :
					 letters[strspn(letters, "SB")] != 0;
	if (cie->unknown)
		return;
	if (version == 4)
		p += 2;
	cie->caf = uleb(&p);
	cie->daf = sleb(&p);
	if (version == 1)
		p++;
	else
		uleb(&p);
	cie->signal = strchr(letters, 'S') != NULL;
	if (*letters == 'z') {
		const uint8_t *data;

		cie->sized = true;
		len = uleb(&p);
		data = p;
		p += len;
		for (letters++; *letters; letters++) {
			if (*letters == 'R') {
				cie->encoding = *data++;
			} else if (*letters == 'L') {
				data++;
			} else if (*letters == 'P') {
				uint8_t encoding = *data++;

				if (encoding != 0xff)
					pointer(s, &data, encoding & 0x7f);
			}
		}
	}
	cie->code = p;
}

/*
 * Runs the code until the location would pass @pc. @first: the state that
 * DW_CFA_restore goes back to; NULL in a CIE, where that is "not said".
 */
static void run(const struct slow_section *s, const struct cie *cie, const uint8_t *p,
		const uint8_t *end, uint64_t loc, uint64_t pc, const struct state *first,
		struct state *st)
{
	struct state stack[64];
	int depth = 0;

	while (p < end) {
		uint8_t op = *p++, low = op & 63;
		struct value v = { UNSET, 0, NULL, 0 };
		uint64_t reg = 0, to = loc;
		bool set = false;

		if (op >= 0xc0) {
			reg = column(s, low);
			if (reg < 17)
				st->reg[reg] = first ? first->reg[reg] : v;
			continue;
		}
		if (op >= 0x80) {
			reg = column(s, low);
			v.how = AT_CFA;
			v.num = (int64_t)uleb(&p) * cie->daf;
			set = true;
		} else if (op >= 0x40) {
			to = loc + low * cie->caf;
		} else switch (op) {
		case 0x01:
			to = pointer(s, &p, cie->encoding);
			break;
		case 0x02:
			to = loc + fixed(&p, 1) * cie->caf;
			break;
		case 0x03:
			to = loc + fixed(&p, 2) * cie->caf;
			break;
		case 0x04:
			to = loc + fixed(&p, 4) * cie->caf;
			break;
		case 0x05:
			reg = column(s, uleb(&p));
			v.how = AT_CFA;
			v.num = (int64_t)uleb(&p) * cie->daf;
			set = true;
			break;
		case 0x06:
			reg = column(s, uleb(&p));
			if (reg < 17)
				st->reg[reg] = first ? first->reg[reg] : v;
			break;
		case 0x07:
			reg = column(s, uleb(&p));
			v.how = UNDEFINED;
			set = true;
			break;
		case 0x08:
			reg = column(s, uleb(&p));
			v.how = SAME;
			set = true;
			break;
		case 0x09:
			reg = column(s, uleb(&p));
			v.num = (int64_t)column(s, uleb(&p));
			v.how = v.num < 17 ? IN_REG : UNDEFINED;
			set = true;
			break;
		case 0x0a:
			stack[depth++] = *st;
			break;
		case 0x0b:
			*st = stack[--depth];
			break;
		case 0x0c:
		case 0x12:
			st->cfa_reg = column(s, uleb(&p));
			st->cfa_off = op == 0x0c ? (int64_t)uleb(&p) : sleb(&p) * cie->daf;
			st->cfa_known = true;
			st->cfa_is_expr = false;
			break;
		case 0x0d:
			st->cfa_reg = column(s, uleb(&p));
			st->cfa_is_expr = false;
			break;
		case 0x0e:
			st->cfa_off = (int64_t)uleb(&p);
			break;
		case 0x13:
			st->cfa_off = sleb(&p) * cie->daf;
			break;
		case 0x0f:
			st->cfa_expr.len = uleb(&p);
			st->cfa_expr.expr = p;
			p += st->cfa_expr.len;
			st->cfa_known = true;
			st->cfa_is_expr = true;
			break;
		case 0x10:
		case 0x16:
			reg = column(s, uleb(&p));
			v.how = op == 0x10 ? AT_EXPR : IS_EXPR;
			v.len = uleb(&p);
			v.expr = p;
			p += v.len;
			set = true;
			break;
		case 0x11:
			reg = column(s, uleb(&p));
			v.how = AT_CFA;
			v.num = sleb(&p) * cie->daf;
			set = true;
			break;
		case 0x14:
		case 0x15:
			reg = column(s, uleb(&p));
			v.how = IS_CFA;
			v.num = (op == 0x14 ? (int64_t)uleb(&p) : sleb(&p)) * cie->daf;
			set = true;
			break;
		case 0x2e:
			uleb(&p);
			break;
		case 0x2f:
			reg = column(s, uleb(&p));
			v.how = AT_CFA;
			v.num = -((int64_t)uleb(&p) * cie->daf);
			set = true;
			break;
		}
		if (set && reg < 17)
			st->reg[reg] = v;
		if (to > pc)
			return;
		loc = to;
	}
}

/*
 * FDEs that do not count: empty ones, those of functions that the linker
 * dropped (a start of zero bytes), those that lie outside the object's code.
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

/* All FDEs; those that hold @pc set *best by the rule of kmod/core/build.c. */
struct found {
	uint64_t start, end;
	struct cie cie;
	const uint8_t *code, *code_end;
	bool any;
	const struct slow_section *beside;	/* FDEs that meet one of its do not count */
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

static void scan(const struct slow_section *s, uint64_t pc, struct found *best,
		 void (*fn)(void *data, uint64_t start, uint64_t end), void *data)
{
	const uint8_t *at = s->data, *end = s->data + s->size;

	while (end - at >= 4) {
		const uint8_t *p = at, *id_at, *start_at;
		uint64_t len = fixed(&p, 4), id, start, size;
		struct cie cie;

		if (!len) {
			if (!s->whole)
				return;
			at += 4;
			continue;
		}
		if (len == 0xffffffff) {
			len = fixed(&p, 8);
			id_at = p;
			at = p + len;
			id = fixed(&p, 8);
		} else {
			id_at = p;
			at = p + len;
			id = fixed(&p, 4);
		}
		if (id == (!s->debug ? 0 : p - id_at == 8 ? UINT64_MAX : 0xffffffff))
			continue;
		cie_parse(s, s->debug ? s->data + id : id_at - id, &cie);
		if (cie.unknown)
			continue;
		start_at = p;
		start = pointer(s, &p, cie.encoding);
		size = pointer(s, &p, cie.encoding & 15);
		if (cie.sized) {
			uint64_t skip = uleb(&p);

			p += skip;
		}
		if (!counts(s, start_at, cie.encoding, start, size))
			continue;
		if (fn)
			fn(data, start, start + size);
		if (best && pc >= start && pc - start < size &&
		    (!best->any || start >= best->start) &&
		    !meets_any(best->beside, start, start + size)) {
			best->any = true;
			best->start = start;
			best->end = start + size;
			best->cie = cie;
			best->code = p;
			best->code_end = at;
		}
	}
}

void slow_fdes(const struct slow_section *s,
	       void (*fn)(void *data, uint64_t start, uint64_t end), void *data)
{
	scan(s, 0, NULL, fn, data);
}

/* Shortest form of "breg N, off; deref", which a rule keeps as numbers. */
static uint64_t deref_shorten(const uint8_t *expr, uint64_t len, uint8_t *out)
{
	const uint8_t *p = expr;
	uint64_t n = 0;
	int64_t off;

	if (len < 3 || *p < 0x70 || *p > 0x80)
		return 0;
	out[n++] = *p++;
	off = sleb(&p);
	if (p != expr + len - 1 || *p != 0x06 || off != (int32_t)off)
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

void slow_rule_text(const struct slow_section *s, uint64_t pc, uint32_t keep, char *buf)
{
	struct state first, st;
	struct found f = { .any = false };
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
	memset(&first, 0, sizeof(first));
	run(s, &f.cie, f.cie.code, f.cie.end, 0, 0, NULL, &first);
	st = first;
	run(s, &f.cie, f.code, f.code_end, f.start, pc, &first, &st);

	if (st.reg[16].how == UNDEFINED) {
		strcpy(buf, "end - -");
		return;
	}
	if (!st.cfa_known) {
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
	p = value_text(s, p, &st.reg[16]);
	if (f.cie.signal)
		p += sprintf(p, " signal");
	for (i = 0; i < 16; i++) {
		const struct value *v = &st.reg[i];
		bool followed = f.cie.signal || i == 7 || (keep >> i & 1);

		if (i == 6 || v->how == UNSET || !followed ||
		    (v->how == SAME && !f.cie.signal && i != 7))
			continue;
		p += sprintf(p, " %s:", name_of(s, i));
		p = value_text(s, p, v);
	}
	*p = 0;
}
