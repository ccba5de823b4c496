/* SPDX-License-Identifier: MIT */
/*
 * outermost-test.c - is a frame the first one of its program? Hand-written code
 * at an entry point
 *
 * The interpreter's ELF header is at INTERP, its code from INTERP + ENTRY on,
 * the program's own entry point at PROG. Bytes that a case does not set are no
 * valid instruction.
 */
#include "../../kmod/core/nocfi/outermost.h"
#include "../../kmod/core/table/table.h"
#include "../../kmod/core/walk/mem.h"
#include "eh.h"
#include "tap.h"

#define INTERP	0x10000ULL
#define ENTRY	0x100		/* e_entry */
#define PROG	0x11000ULL
#define SIZE	0x2000
#define SP	0x7000ULL

static u8 code[SIZE + 8];
static struct kunwind_ranges ranges;
static struct kunwind_walk walk;

static void begin(void)
{
	memset(code, 0x06, sizeof(code));
	memset(&ranges, 0, sizeof(ranges));
	ranges.entry_sp = SP;
	walk = (struct kunwind_walk){
		.ranges = &ranges,
		.mem = { .left = KUNWIND_BUDGET, .lo = INTERP, .hi = INTERP + sizeof(code),
			 .delta = (u64)(uintptr_t)code - INTERP },
	};
}

static void put(u64 at, const char *hex)
{
	static struct eh bytes;

	bytes.size = 0;
	eh_hex(&bytes, hex);
	memcpy(code + (at - INTERP), bytes.data, bytes.size);
}

static bool at(u64 ip, s64 sp)
{
	walk.mem.left = KUNWIND_BUDGET;
	return kunwind_at_start(&walk, ip, SP + sp);
}

/* A frame @offset after the entry point, @sp from the first rsp. */
static const struct outermost_case {
	const char *name, *hex;
	u32 offset;
	s32 sp;
	bool begins;
} cases[] = {
	{ "the first instruction", "90", 0, 0, true },
	{ "the first instruction with another stack pointer", "90", 0, -8, false },
	{ "the byte before the entry point", "90", -1U, 0, false },
	{ "inside an instruction", "48 89 e7", 1, 0, false },
	{ "after a call", "48 89 e7 ff d0", 5, 0, true },
	{ "after a call, stack pointer one word lower", "48 89 e7 ff d0", 5, -8, false },
	{ "push", "50 ff d0", 3, -8, true },
	{ "push of an immediate (1 and 4 bytes), of memory, of flags",
	  "6a 01 68 00 00 00 00 ff 33 9c ff d0", 12, -32, true },
	{ "pop", "50 50 5f ff d0", 5, -8, true },
	{ "pop of flags and to memory", "50 50 50 9d 8f 00 ff d0", 8, -8, true },
	{ "sub", "48 83 ec 28 ff d0", 6, -40, true },
	{ "sub of four bytes", "48 81 ec 28 00 00 00 ff d0", 9, -40, true },
	{ "add", "50 48 83 c4 08 ff d0", 7, 0, true },
	{ "and $-16, %rsp", "50 48 83 e4 f0 ff d0", 7, -16, true },
	{ "and $-16, %rsp of an aligned stack", "48 83 e4 f0 ff d0", 6, 0, true },
	{ "and $-16, %rsp with another stack pointer", "50 48 83 e4 f0 ff d0", 7, -8, false },
	{ "cmp with %rsp", "48 83 fc 08 ff d0", 6, 0, true },
	{ "lea", "48 8d 64 24 f0 ff d0", 7, -16, true },
	{ "lea to another register", "48 8d 7c 24 f0 ff d0", 7, 0, true },
	/* an old ld.so: pop %rdx; lea (%rsp,%rax,8), %rsp */
	{ "unknown stack pointer", "ff d0 5a 48 8d 24 c4 52 ff d0", 10, -16, true },
	{ "unknown stack pointer, a value far below the first frame",
	  "ff d0 5a 48 8d 24 c4 52 ff d0", 10, -104, false },
	{ "unknown stack pointer, a value above the first frame",
	  "ff d0 5a 48 8d 24 c4 52 ff d0", 10, 8, false },
	{ "unknown stack pointer after pop %rsp", "5c ff d0", 3, -16, true },
	{ "unknown stack pointer after pop %rsp by 8f /0", "8f c4 ff d0", 4, -16, true },
	{ "unknown stack pointer after lea 8(%rsp), %esp", "8d 64 24 08 ff d0", 6, -16, true },
	{ "unknown stack pointer after sub $8, %esp", "83 ec 08 ff d0", 5, -16, true },
	{ "the stack pointer after lea 8(%rsp), %rax", "48 8d 44 24 08 ff d0", 7, -16, false },
	{ "push2", "62 f4 64 18 ff f1 ff d0", 8, -16, true },
	{ "push2 with another stack pointer", "62 f4 64 18 ff f1 ff d0", 8, -8, false },
	{ "a call, and a nop with the opcode of endbr64", "ff d0 0f 1e fa ff d0", 7, 0, true },

	/* musl's _start, and _start_c after it */
	{ "a call of the next function: return address",
	  "e8 00 00 00 00 55 48 89 e5 48 83 e4 f0 ff d0", 5, 0, true },
	{ "a call of the next function: its first instruction",
	  "e8 00 00 00 00 55 48 89 e5 48 83 e4 f0 ff d0", 5, -8, false },
	{ "a call of the next function: a call in that function",
	  "e8 00 00 00 00 55 48 89 e5 48 83 e4 f0 ff d0", 15, -16, false },
	/* call 1f; 1: push %rbp; mov %rsp, %rbp; and $-16, %rsp; call */
	{ "a function directly after a call of it",
	  "e8 02 00 00 00 31 c0 55 48 89 e5 48 83 e4 f0 ff d0", 17, -16, false },
	{ "the first instruction of a function after a call of it", "e8 02 00 00 00 31 c0 55", 7, -8, false },
	{ "a function after a call and a nop", "ff d0 90 55 ff d0", 6, -8, false },
	{ "a function after a call and an endbr64", "ff d0 f3 0f 1e fa 55 ff d0", 9, -8, false },
	{ "a function after a call and hlt", "ff d0 f4 55 ff d0", 6, -8, false },
	{ "a function after a call and ud2", "ff d0 0f 0b 55 ff d0", 7, -8, false },
	{ "a function after a call and ud1", "ff d0 0f b9 00 55 ff d0", 8, -8, false },
	{ "a function after a jump by register", "ff e0 55 ff d0", 5, -8, false },
	{ "a function after a return", "c3 55 ff d0", 4, -8, false },
	{ "a nop that does not follow a call", "90 90 ff d0", 4, 0, true },
	{ "a jump to another function", "eb 02 06 06 50 ff d0", 7, -8, true },
	{ "a jump backwards to code before a call", "eb 05 50 ff d0 31 c0 eb f9", 5, -8, true },
	{ "a jump backwards after a call", "eb 04 ff d0 31 c0 ff d0 eb f8", 4, 0, false },
	/* je 1f; call; hlt; 1: push; call */
	{ "the target of a conditional jump", "74 03 ff d0 f4 50 ff d0", 8, -8, true },
	{ "the target of a long conditional jump", "0f 84 03 00 00 00 ff d0 f4 50 ff d0", 12, -8, true },
	{ "the target of a conditional jump has the jump's stack pointer",
	  "74 04 50 ff d0 f4 ff d0", 8, 0, true },
	{ "the target of a conditional jump with another stack pointer",
	  "74 04 50 ff d0 f4 ff d0", 8, -8, false },
	{ "the nearer target of two conditional jumps", "74 05 74 02 f4 f4 ff d0 f4 ff d0", 8, 0, true },
	{ "invalid instruction", "06 ff d0", 3, 0, false },
	{ "a jump to itself", "eb fe ff d0", 4, 0, false },
};

static void test_cases(void)
{
	const u64 header = ENTRY;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct outermost_case *c = &cases[i];
		const s32 offset = c->offset;
		bool own, interpreted;

		begin();
		put(PROG, c->hex);
		ranges.entry = PROG;
		own = at(PROG + offset, c->sp);
		begin();
		put(INTERP + ENTRY, c->hex);
		memcpy(code + 24, &header, sizeof(header));
		ranges.interpreter = INTERP;
		interpreted = at(INTERP + ENTRY + offset, c->sp);
		tap_ok(own == c->begins && interpreted == c->begins, "%s: %s",
		       c->begins ? "outermost" : "not outermost", c->name);
	}
}

static void test_points(void)
{
	struct kunwind_table table = { };
	struct kunwind_range range = { .start = INTERP, .end = INTERP + SIZE, .table = &table };
	const u64 header = ENTRY;
	u32 i;

	begin();
	put(PROG, "ff d0");
	put(INTERP + ENTRY, "ff d0");
	memcpy(code + 24, &header, sizeof(header));
	ranges.entry = PROG;
	tap_ok(at(PROG + 2, 0) && !at(INTERP + ENTRY + 2, 0),
	       "outermost: the entry point of a program without an interpreter");
	ranges.interpreter = INTERP;
	tap_ok(at(PROG + 2, 0) && at(INTERP + ENTRY + 2, 0),
	       "outermost: the entry points of a program and of its interpreter");
	ranges.entry = 0;
	tap_ok(!at(PROG + 2, 0) && at(INTERP + ENTRY + 2, 0),
	       "outermost: the entry point of the interpreter alone is known");
	ranges.entry = PROG;
	ranges.interpreter = INTERP + SIZE;
	tap_ok(at(PROG + 2, 0), "outermost: the interpreter's ELF header cannot be read");
	table = (struct kunwind_table){ .entry = SIZE + ENTRY };
	range.bias = INTERP + SIZE;
	walk.range = &range;
	tap_ok(!at(INTERP + SIZE + ENTRY, 0) && at(INTERP + SIZE + SIZE + ENTRY, 0),
	       "outermost: the interpreter's first instruction, by its table; no memory is read");
	ranges.interpreter = INTERP;
	tap_ok(!at(INTERP + SIZE + SIZE + ENTRY, 0) && at(INTERP + ENTRY + 2, 0),
	       "outermost: the table of another object does not give the interpreter's entry point");
	range.bias = INTERP;
	table.entry = 0;
	tap_ok(at(INTERP + ENTRY + 2, 0), "outermost: the table has no entry point, the header is read");
	range.table = NULL;
	tap_ok(at(INTERP + ENTRY + 2, 0), "outermost: without a table, the header is read");
	ranges.entry_sp = 0;
	tap_ok(!at(PROG + 2, 0), "not outermost: the first stack pointer is not known");

	/* 32-bit code: the first 96 bytes after an entry point count */
	begin();
	walk.i386 = true;
	ranges.entry = PROG;
	ranges.interpreter = INTERP;
	memcpy(code + 24, &header, 4);
	tap_ok(at(PROG, 0) && at(PROG + 96, -96) && !at(PROG + 97, 0) && !at(PROG - 1, 0),
	       "outermost: 32-bit code up to 96 bytes after the program's entry point");
	tap_ok(at(INTERP + ENTRY, 0) && at(INTERP + ENTRY + 96, 0) && !at(INTERP + ENTRY + 97, 0),
	       "outermost: 32-bit code up to 96 bytes after the interpreter's entry point");
	range = (struct kunwind_range){ .bias = INTERP, .table = &table };
	table.entry = 2 * ENTRY;
	walk.range = &range;
	tap_ok(!at(INTERP + ENTRY, 0) && at(INTERP + 2 * ENTRY, 0),
	       "outermost: 32-bit code after the interpreter's entry point, by its table");
	walk.range = NULL;
	tap_ok(!at(PROG, 8) && !at(PROG, -97), "not outermost: 32-bit code with another stack pointer");

	/* at most 512 instructions are read; the budget pays for each */
	begin();
	ranges.entry = PROG;
	for (i = 0; i < 600; i++)
		put(PROG + 2 * i, "31 c0");
	tap_ok(at(PROG + 2 * 512, 0) && !at(PROG + 2 * 513, 0),
	       "outermost: at most 512 instructions are read");
	tap_ok(KUNWIND_BUDGET - walk.mem.left > 512 && KUNWIND_BUDGET - walk.mem.left < 1024,
	       "outermost: the budget pays for each instruction");
	walk.mem.left = 20;
	tap_ok(!kunwind_at_start(&walk, PROG + 200, SP) && !walk.mem.left,
	       "outermost: a spent budget ends the search");
}

/* Padding and a function like runtime.goexit(); @ra counts from the padding. */
static void test_goroutine(void)
{
	static const struct {
		const char *name, *hex;
		u32 offset, ra;
		bool begins;
	} cases[] = {
		{ "second byte of goexit", "cc 90 e8 7b 00 00 00 90", 15, 2, true },
		{ "after goexit's call", "cc 90 e8 7b 00 00 00 90", 15, 7, true },
		{ "first byte of goexit", "cc 90 e8 7b 00 00 00 90", 15, 1, false },
		{ "second byte of goexit with a breakpoint at its entry",
		  "cc cc e8 7b 00 00 00 90", 15, 2, true },
		{ "second byte of goexit without padding before it",
		  "c3 90 e8 7b 00 00 00 90", 15, 2, false },
		{ "second byte of a goexit that is not aligned", "cc 90 e8 7b 00 00 00 90", 7, 2, false },
		{ "second byte of a function without a call", "cc 90 e9 7b 00 00 00 90", 15, 2, false },
		{ "second byte of a function with other code after the call",
		  "cc 90 e8 7b 00 00 00 58", 15, 2, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		put(PROG + cases[i].offset, cases[i].hex);
		tap_ok(kunwind_code_begins_goroutine(&walk.mem, PROG + cases[i].offset + cases[i].ra) ==
		       cases[i].begins, "goroutine %s: %s",
		       cases[i].begins ? "begins" : "does not begin", cases[i].name);
	}
	begin();
	tap_ok(!kunwind_code_begins_goroutine(&walk.mem, 1) &&
	       !kunwind_code_begins_goroutine(&walk.mem, INTERP + 1),
	       "goroutine does not begin: code that cannot be read");
}

/* A thread begins with xor %ebp, %ebp; call *%rcx. The code after that ends the thread. */
static void test_thread(void)
{
	static const struct {
		const char *name, *hex;		/* after the call */
		bool ends;
	} cases[] = {
		{ "xor %eax, %eax; mov $60, %al", "31 c0 b0 3c 0f 05 f4", true },
		{ "mov $60, %eax", "b8 3c 00 00 00 0f 05 f4", true },
		{ "mov $60, %eax; xor %edi, %edi", "b8 3c 00 00 00 31 ff 0f 05 f4", true },
		{ "mov $231, %eax; mov %ebx, %edi", "b8 e7 00 00 00 89 df 0f 05 f4", true },
		{ "mov $60, %eax; mov %ebx, %eax", "b8 3c 00 00 00 89 d8 0f 05 f4", false },
		{ "mov $0x100, %eax; mov $60, %al", "b8 00 01 00 00 b0 3c 0f 05 f4", false },
		{ "mov $0x13c, %eax; mov $231, %al", "b8 3c 01 00 00 b0 e7 0f 05 f4", false },
		{ "mov $60, %eax; xor %ecx, %eax", "b8 3c 00 00 00 31 c8 0f 05 f4", false },
		{ "mov $60, %al", "b0 3c 0f 05 f4", false },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		put(PROG, "31 ed ff d1");
		put(PROG + 4, cases[i].hex);
		tap_ok(kunwind_code_outermost(&walk.mem, PROG + 4) == cases[i].ends, "thread %s: %s",
		       cases[i].ends ? "begins" : "does not begin", cases[i].name);
	}
}

/*
 * make_fcontext() ends with a return, push %rbp and jmp *%rbx, or neither; then this code. Or
 * __start_context() begins, after any code.
 */
static void test_fiber(void)
{
	static const struct {
		const char *name, *before, *hex;
		bool ends;
	} cases[] = {
		{ "after a return", "c3", "48 31 ff e8 00 01 00 00 f4", true },
		{ "after jmp *%rbx", "55 ff e3", "48 31 ff e8 00 01 00 00 f4", true },
		{ "after jmp *%rbx, with endbr64", "55 ff e3",
		  "f3 0f 1e fa 48 31 ff e8 00 01 00 00 f4", true },
		{ "after a call", "ff d3", "48 31 ff e8 00 01 00 00 f4", false },
		{ "no hlt", "c3", "48 31 ff e8 00 01 00 00 c3", false },
		{ "xor %rsi, %rsi", "c3", "48 31 f6 e8 00 01 00 00 f4", false },
		{ "a jump instead of the call", "c3", "48 31 ff e9 00 01 00 00 f4", false },
		{ "of makecontext()", "00", "48 89 dc 48 8b 3c 24 48 85 ff 74 08 e8 00 01 00 00", true },
		{ "of makecontext(), with endbr64", "00",
		  "f3 0f 1e fa 48 89 dc 48 8b 3c 24 48 85 ff 74 08 e8 00 01 00 00", true },
		{ "of makecontext(), with a breakpoint", "00",
		  "cc 89 dc 48 8b 3c 24 48 85 ff 74 08 e8 00 01 00 00", true },
		{ "of makecontext(), but it reads another word", "00",
		  "48 89 dc 48 8b 7c 24 08 48 85 ff 74 08 e8 00 01 00 00", false },
		{ "of makecontext(), but it tests another register", "00",
		  "48 89 dc 48 8b 3c 24 48 85 c0 74 08 e8 00 01 00 00", false },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		put(PROG, cases[i].hex);
		put(PROG - (strlen(cases[i].before) + 1) / 3, cases[i].before);
		tap_ok(kunwind_code_ends_fiber(&walk.mem, PROG) == cases[i].ends, "fiber %s: %s",
		       cases[i].ends ? "ends" : "does not end", cases[i].name);
	}
	walk.mem.hi = PROG;
	tap_ok(!kunwind_code_ends_fiber(&walk.mem, PROG), "fiber does not end: unreadable code");
}

int main(void)
{
	test_cases();
	test_points();
	test_goroutine();
	test_thread();
	test_fiber();
	return tap_done();
}
