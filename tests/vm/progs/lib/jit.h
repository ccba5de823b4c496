/* SPDX-License-Identifier: MIT */
/*
 * jit.h - a small JIT for jit.c and jit-storm.c, which compares stacks with
 * libgcc's
 *
 * It makes functions without frame pointers at run time. Each function saves
 * rbp and uses it for something else, makes a frame of its own size, writes
 * words into it that look like return addresses, calls through a register, and
 * frees its frame by adding a register. Therefore only its CFI (CIE "zR",
 * absolute pointers), which the JIT makes too, leads to the caller.
 *
 * The oracle is libgcc's unwinder, which gets the same bytes by
 * __register_frame(). One function calls _Unwind_Backtrace() and
 * kunwind_callstack(); from its caller on, both must return the same addresses.
 */
#ifndef JIT_H
#define JIT_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>
#include <fcntl.h>
#include <kunwind.h>

#include "verdict.h"

#define MOST		512
#define NOINLINE	__attribute__((__noinline__))
#define PAGE		4096UL
#define FUNCTION	64UL		/* bytes of code of one function */

void __register_frame(void *begin);
void __deregister_frame(void *begin);

typedef void callback(void *data);
/* A function that the JIT makes: calls its first argument with its second. */
typedef void made(callback *call, void *data);

struct unit {
	uint8_t *code;			/* nr functions of FUNCTION bytes */
	unsigned int nr;
	size_t len;			/* of the code */
	uint8_t *eh;
	size_t eh_len;			/* with the terminator */
};

/* ------------------------------------------------------------- the "JIT" */

static uint8_t *bytes(uint8_t *at, const char *hex)
{
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 3) {
		*at++ = (uint8_t)byte;
		if (!hex[2])
			break;
	}
	return at;
}

static uint8_t *word(uint8_t *at, uint64_t value, size_t size)
{
	memcpy(at, &value, size);
	return at + size;
}

/* Added to a function's number, to make another one at the same address. */
static unsigned int variety;

/* Bytes of function @n's frame: at most 127, for an immediate of one byte. */
static unsigned int frame_of(unsigned int n)
{
	return 32 + 16 * ((n + variety) % 6);
}

/*
 * push %rbp; mov $0x1234567, %ebp; sub $frame, %rsp; lea (after the call),
 * %rax; mov %rax, 8(%rsp); mov %rdi, %rax; mov %rsi, %rdi; call *%rax; mov
 * $frame, %ecx; add %rcx, %rsp; pop %rbp; ret
 */
static void emit_code(uint8_t *at, unsigned int n)
{
	const uint8_t *const end = at + FUNCTION;

	at = bytes(at, "55 bd 67 45 23 01 48 83 ec");
	*at++ = (uint8_t)frame_of(n);
	at = bytes(at, "48 8d 05 0d 00 00 00 48 89 44 24 08");
	at = bytes(at, "48 89 f8 48 89 f7 ff d0 b9");
	at = word(at, frame_of(n), 4);
	at = bytes(at, "48 01 cc 5d c3");
	while (at < end)
		*at++ = 0xcc;
}

/* Offsets after the push, the sub, the add, and the pop above. */
enum { PUSHED = 1, SUBBED = 10, ADDED = 38, POPPED = 39 };

static uint8_t *record(uint8_t *begin, uint8_t *at)
{
	while ((at - begin - 4) % 8 != 4)
		*at++ = 0;		/* DW_CFA_nop */
	word(begin, (uint64_t)(at - begin - 4), 4);
	return at;
}

static uint8_t *emit_cie(uint8_t *begin)
{
	uint8_t *at = begin + 4;

	at = word(at, 0, 4);
	/*
	 * 1, "zR", code 1, data -8, ra 16, absolute; CFA rsp + 8, ra at CFA - 8
	 */
	at = bytes(at, "01 7a 52 00 01 78 10 01 00 0c 07 08 90 01");
	return record(begin, at);
}

static uint8_t *emit_fde(uint8_t *begin, const uint8_t *cie, const uint8_t *code, unsigned int n)
{
	uint8_t *at = begin + 4;

	at = word(at, (uint64_t)(at - cie), 4);
	at = word(at, (uintptr_t)code, 8);
	at = word(at, FUNCTION, 8);
	*at++ = 0;
	*at++ = 0x40 | PUSHED;				/* advance */
	at = bytes(at, "0e 10 86 02");			/* CFA rsp + 16, rbp at CFA - 16 */
	*at++ = 0x40 | (SUBBED - PUSHED);
	*at++ = 0x0e;
	at = word(at, 0x80 | ((16 + frame_of(n)) & 0x7f), 1);
	at = word(at, (16 + frame_of(n)) >> 7, 1);
	*at++ = 0x40 | (ADDED - SUBBED);
	at = bytes(at, "0e 10");
	*at++ = 0x40 | (POPPED - ADDED);
	at = bytes(at, "0e 08 c6");
	return record(begin, at);
}

/* Makes @nr functions at @where (NULL: anywhere), in executable memory. */
static struct unit *make(unsigned int nr, void *where, int fd)
{
	struct unit *unit = calloc(1, sizeof(*unit));
	size_t size = (nr * FUNCTION + PAGE - 1) & -PAGE;
	uint8_t *at, *cie;
	unsigned int n;

	unit->nr = nr;
	unit->len = nr * FUNCTION;
	unit->code = mmap(where, size, PROT_READ | PROT_WRITE,
			  (fd < 0 ? MAP_ANONYMOUS | MAP_PRIVATE : MAP_SHARED) |
			  (where ? MAP_FIXED : 0), fd, 0);
	unit->eh = malloc(64 * (nr + 2));
	if (unit->code == MAP_FAILED || !unit->eh)
		exit(2);
	cie = unit->eh;
	at = emit_cie(cie);
	for (n = 0; n < nr; n++) {
		emit_code(unit->code + n * FUNCTION, n);
		at = emit_fde(at, cie, unit->code + n * FUNCTION, n);
	}
	at = word(at, 0, 4);
	unit->eh_len = (size_t)(at - unit->eh);
	if (mprotect(unit->code, size, PROT_READ | PROT_EXEC))
		exit(2);
	return unit;
}

static int hand_in(const struct unit *unit, unsigned int *build_error)
{
	return kunwind_jit_register(unit->code, unit->len, unit->eh, unit->eh_len, build_error);
}

/* ------------------------------------------------------------ the stacks */

struct look {
	struct unit *const *units;	/* whose functions call each other in order */
	unsigned int nr_units, unit, function;
	uint64_t ours[MOST];
	void *theirs[MOST];
	uint8_t trust[MOST];
	int nr_ours, nr_theirs;
	unsigned int reason;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *data)
{
	struct look *look = data;

	if (look->nr_theirs < MOST && _Unwind_GetIP(context))
		look->theirs[look->nr_theirs++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static NOINLINE void take(struct look *look)
{
	look->nr_theirs = 0;
	_Unwind_Backtrace(on_frame, look);
	look->nr_ours = kunwind_callstack(look->ours, MOST, &look->reason);
}

/* Made functions call this: it calls the next one, at last takes the stack. */
static void descend(void *data)
{
	struct look *look = data;
	struct unit *unit;
	made *next;

	if (look->unit == look->nr_units) {
		take(look);
	} else {
		unit = look->units[look->unit];
		next = (made *)(uintptr_t)(unit->code + look->function * FUNCTION);
		if (++look->function == unit->nr) {
			look->function = 0;
			look->unit++;
		}
		next(descend, look);
	}
	__asm__ __volatile__("" : : : "memory");
}

static void look_through(struct look *look, struct unit *const *units, unsigned int nr)
{
	look->units = units;
	look->nr_units = nr;
	look->unit = 0;
	look->function = 0;
	descend(look);
}

static int equal(const struct look *look)
{
	int i;

	if (look->nr_ours != look->nr_theirs || look->reason != KUNWIND_COMPLETE)
		return 0;
	for (i = 1; i < look->nr_ours; i++)
		if (look->ours[i] != (uintptr_t)look->theirs[i])
			return 0;
	return 1;
}

static void show(const struct look *look)
{
	int i;

	printf("# %d addresses, %s; libgcc %d\n", look->nr_ours,
	       kunwind_reason_name(look->reason), look->nr_theirs);
	for (i = 0; i < look->nr_ours || i < look->nr_theirs; i++)
		printf("#  %d %#llx %p\n", i,
		       (unsigned long long)(i < look->nr_ours ? look->ours[i] : 0),
		       i < look->nr_theirs ? look->theirs[i] : NULL);
}

static struct look look;

static void same(struct unit *const *units, unsigned int nr, const char *what)
{
	look_through(&look, units, nr);
	verdict(equal(&look), "%s: %d addresses, equal to libgcc's", what, look.nr_ours);
	if (!equal(&look))
		show(&look);
}

#endif /* JIT_H */
