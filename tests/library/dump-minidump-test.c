/* SPDX-License-Identifier: MIT */
/*
 * dump-minidump-test.c - each field of made minidumps. The layouts are from
 * minidump_format.h of Breakpad
 */
#include <elf.h>
#include <signal.h>

#include "dump-made.h"

enum { STREAMS = 16 };

static uint32_t nr_streams;

static void minidump_begin(void)
{
	memset(file, 0, 4096);
	used = nr_streams = 0;
	put("MDMP\x93\xa7\0", 8);
	put32(STREAMS);
	put32(32);
	used = 32;
	put(NULL, STREAMS * 12);
}

/* What was written from @at on. */
static void stream(uint32_t type, uint32_t at)
{
	const uint32_t entry = 32 + 12 * nr_streams++;

	set(entry, type, 4);
	set(entry + 4, used - at, 4);
	set(entry + 8, at, 4);
}

static uint32_t string(const char *text)
{
	const uint32_t at = put32((uint32_t)strlen(text) * 2);

	for (; *text; text++)
		put((const char[]){ *text, 0 }, 2);
	put(NULL, 2);
	return at;
}

/* Registers of @first, @first + 1, ... in the order of a CONTEXT: rax rcx rdx rbx rsp rbp rsi rdi r8. */
static uint32_t context(uint64_t first)
{
	const uint32_t at = put(NULL, 1232);
	uint32_t i;

	for (i = 0; i < 17; i++)
		set(at + 120 + 8 * i, first + i, 8);
	return at;
}

/* @gap: bytes after the number of entries. */
static uint32_t list(uint32_t nr, uint32_t gap)
{
	const uint32_t at = put32(nr);

	put(NULL, gap);
	return at;
}

static void thread(uint32_t tid, uint64_t stack, uint32_t size, uint32_t at, uint32_t registers)
{
	const uint32_t entry = put(NULL, 48);

	set(entry, tid, 4);
	set(entry + 24, stack, 8);
	set(entry + 32, size, 4);
	set(entry + 36, at, 4);
	set(entry + 40, 1232, 4);
	set(entry + 44, registers, 4);
}

static void module(uint64_t at, uint32_t size, uint32_t name, uint32_t view, uint32_t view_size)
{
	const uint32_t entry = put(NULL, 108);

	set(entry, at, 8);
	set(entry + 8, size, 4);
	set(entry + 20, name, 4);
	set(entry + 76, view_size, 4);
	set(entry + 80, view, 4);
}

static void exception(uint32_t tid, uint32_t signal, int32_t code, uint32_t registers)
{
	const uint32_t at = put(NULL, 168);

	set(at, tid, 4);
	set(at + 8, signal, 4);
	set(at + 12, (uint32_t)code, 4);
	set(at + 24, 0xabc0, 8);
	set(at + 160, 1232, 4);
	set(at + 164, registers, 4);
	stream(6, at);
}

static void system_info(uint16_t cpu, uint32_t os)
{
	const uint32_t at = put(NULL, 56);

	set(at, cpu, 2);
	set(at + 20, os, 4);
	stream(7, at);
}

/* Two threads, whose stacks "inner" and "outer" are at 0x7000 and 0x8000. @gap: of all lists. */
static void threads(uint32_t gap)
{
	const uint32_t first = context(100), second = context(200), stack = put("innerouter", 10);
	uint32_t at = list(2, gap);

	thread(11, 0x7000, 5, stack, first);
	thread(12, 0x8000, 5, stack + 5, second);
	stream(3, at);
}

static void test_lists(uint32_t gap)
{
	const struct dump_module *module_b, *vdso, *gone;
	struct dump_process *dump;
	uint32_t at, memory, names[2], paths[3], view;

	minidump_begin();
	system_info(9, 0x8201);
	threads(gap);
	names[0] = string("first");
	names[1] = string("second");
	at = list(2, gap);
	/* in another order than the threads */
	put32(12), put32(names[1]), put32(0);
	put32(11), put32(names[0]), put32(0);
	stream(24, at);
	paths[0] = string("/lib/b.so");
	paths[1] = string("linux-gate.so");
	paths[2] = string("/lib/a.so (deleted)");
	view = put("LEpB\x01\x02\x03", 7);
	at = list(3, gap);
	module(0x30000, 0x3000, paths[0], view, 7);
	module(0x50000, 0x1000, paths[1], 0, 0);
	module(0x10000, 0x2000, paths[2], view, 3);
	stream(4, at);
	memory = put("onetwothree", 11);
	at = list(1, gap);
	put64(0x9000), put32(3), put32(memory);
	stream(5, at);
	at = put64(2);
	put64(memory + 3);
	put64(0xa000), put64(3);
	put64(0xb000), put64(5);
	stream(9, at);
	dump = open_made();
	tap_ok(!*dump->error && dump->format == DUMP_MINIDUMP && !dump->truncated && !dump->i386,
	       "minidump, %u bytes before a list: %s", gap, dump->error);
	tap_ok(dump->nr_threads == 2 && dump->thread[0].tid == 11 && dump->thread[1].tid == 12 &&
		       dump->thread[0].known && dump->thread[1].known,
	       "minidump: two threads");
	/* DWARF: rax rdx rcx rbx rsi rdi rbp rsp r8 ... rip */
	tap_ok(dump->nr_threads == 2 && dump->thread[0].regs.r[0] == 100 &&
		       dump->thread[0].regs.r[1] == 102 && dump->thread[0].regs.r[2] == 101 &&
		       dump->thread[0].regs.r[3] == 103 && dump->thread[0].regs.r[4] == 106 &&
		       dump->thread[0].regs.r[5] == 107 && dump->thread[0].regs.r[6] == 105 &&
		       dump->thread[0].regs.r[7] == 104 && dump->thread[1].regs.r[8] == 208 &&
		       dump->thread[1].regs.r[15] == 215 && dump->thread[1].regs.r[16] == 216 &&
		       dump->thread[1].regs.valid == 0x1ffff,
	       "minidump: their registers");
	tap_ok(dump->nr_threads == 2 && !strcmp(dump->thread[0].name, "first") &&
		       !strcmp(dump->thread[1].name, "second"),
	       "minidump: their names");
	tap_ok(has_bytes(dump, 0x7000, "inner") && has_bytes(dump, 0x8000, "outer") &&
		       has_bytes(dump, 0x9000, "one") && has_bytes(dump, 0xa000, "two") &&
		       has_bytes(dump, 0xb000, "three") && !has_bytes(dump, 0x7000, "innero"),
	       "minidump: memory of the stacks and of both lists");
	module_b = module_of(dump, "/lib/b.so");
	vdso = module_of(dump, DUMP_VDSO);
	gone = module_of(dump, "/lib/a.so");
	tap_ok(dump->nr_modules == 3 && module_b && module_b->start == 0x30000 &&
		       module_b->image == 0x30000 && module_b->end == 0x33000 &&
		       module_b->build_id_len == 3 && !memcmp(module_b->build_id, "\1\2\3", 3) &&
		       !module_b->deleted,
	       "minidump: a module");
	tap_ok(vdso && vdso->start == 0x50000 && !vdso->build_id_len,
	       "minidump: Breakpad's name of the vDSO");
	tap_ok(gone && gone->deleted && gone == dump->module && !gone->build_id_len,
	       "minidump: a deleted file, by address the first");
	tap_ok(dump->nr_mappings == 3 && dump->mapping[1].start == 0x30000 &&
		       dump->mapping[1].end == 0x33000 && dump->mapping[1].module == 1,
	       "minidump: without a list of mappings, modules are code");
	tap_ok(!dump->crash.signal && !dump->crash.has_thread && !dump->pid, "minidump: no crash, no number");
	dump_free(dump);
}

static void test_process(void)
{
	static const char maps[] =
		"30000-31000 r--p 0 00:00 1 /lib/b.so\n31000-32000 r-xp 0 00:00 1 /lib/b.so\n"
		"32000-33000 rw-p 0 00:00 1 /lib/b.so\n40000-41000 --xp 0 00:00 0\n";
	struct dump_process *dump;
	uint32_t at;

	minidump_begin();
	threads(0);
	at = put32(24);
	put32(1), put32(4321);
	put(NULL, 12);
	stream(15, at);
	at = put("Name:\ta name\nTgid:\t7\nPid:\t1234\n", 32);
	stream(0x47670004, at);
	at = put64(AT_ENTRY);
	put64(0x1001), put64(AT_BASE), put64(0x1002), put64(AT_PHDR), put64(0x1003);
	put64(AT_PHNUM), put64(0x1004), put64(AT_SYSINFO_EHDR), put64(0x40000), put64(AT_NULL), put64(0);
	put64(AT_ENTRY), put64(9);
	stream(0x47670008, at);
	at = put(maps, sizeof(maps) - 1);
	stream(0x47670009, at);
	dump = open_made();
	tap_ok(dump->pid == 1234 && !strcmp(dump->command, "a name"),
	       "minidump: number and name of /proc/PID/status");
	tap_ok(dump->auxv.entry == 0x1001 && dump->auxv.base == 0x1002 && dump->auxv.phdr == 0x1003 &&
		       dump->auxv.phnum == 0x1004 && dump->auxv.vdso == 0x40000,
	       "minidump: the auxiliary vector to its end");
	tap_ok(dump->nr_mappings == 2 && dump->mapping[0].start == 0x31000 &&
		       dump->mapping[0].end == 0x32000 && dump->mapping[1].start == 0x40000,
	       "minidump: mappings of code by /proc/PID/maps");
	tap_ok(dump->nr_modules == 1 && module_of(dump, DUMP_VDSO) && dump->module->end == 0x41000,
	       "minidump: the vDSO by the vector");
	dump_free(dump);
	minidump_begin();
	threads(0);
	at = put32(24);
	put32(1), put32(4321);
	stream(15, at);
	dump = open_made();
	tap_ok(dump->pid == 4321, "minidump: the number of MINIDUMP_MISC_INFO");
	dump_free(dump);
	set(at + 4, 2, 4);
	dump = open_made();
	tap_ok(!dump->pid, "minidump: which may not be valid");
	dump_free(dump);
}

static void test_exceptions(void)
{
	static const struct {
		const char *what;
		uint32_t signal;
		int32_t code;
		bool is, address;
	} cases[] = {
		{ "SEGV_MAPERR", SIGSEGV, 1, true, true },
		{ "a general protection fault: SI_KERNEL", SIGSEGV, 0x80, true, false },
		{ "SIGSEGV by kill(2)", SIGSEGV, 0, true, false },
		{ "abort(): SI_TKILL", SIGABRT, -6, true, false },
		{ "SIGSYS: the address of a call is no address of a fault", SIGSYS, 1, true, false },
		{ "SIGPOLL: POLL_IN", SIGPOLL, 1, true, false },
		{ "BUS_ADRERR", SIGBUS, 2, true, true },
		{ "the last signal", 64, 0, true, false },
		{ "no signal", 65, 1, false, false },
		{ "the program asked for it", 0xffffffff, 1, false, false },
	};
	struct dump_process *dump;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		minidump_begin();
		threads(0);
		exception(12, cases[i].signal, cases[i].code, context(300));
		dump = open_made();
		tap_ok(dump->crash.has_thread && dump->crash.thread == 1 &&
			       dump->thread[1].regs.r[16] == 316 && dump->thread[0].regs.r[16] == 116,
		       "exception: %s: the thread, and its registers then", cases[i].what);
		tap_ok(dump->crash.signal == (cases[i].is ? cases[i].signal : 0) &&
			       dump->crash.has_code == cases[i].is &&
			       (!cases[i].is || dump->crash.code == cases[i].code),
		       "exception: %s: signal %u, code %d", cases[i].what, dump->crash.signal,
		       dump->crash.code);
		tap_ok(dump->crash.has_address == cases[i].address &&
			       (!cases[i].address || dump->crash.address == 0xabc0),
		       "exception: %s: %s address", cases[i].what, cases[i].address ? "an" : "no");
		dump_free(dump);
	}
}

static void test_damaged(void)
{
	struct dump_process *dump;
	uint32_t at;

	minidump_begin();
	system_info(0, 0x8201);
	threads(0);
	tap_ok(fails_with("another processor"), "minidump: of another processor");
	minidump_begin();
	system_info(9, 2);
	threads(0);
	tap_ok(fails_with("another system"), "minidump: of Windows");
	minidump_begin();
	system_info(9, 0x8203);
	threads(0);
	tap_ok(fails_with(""), "minidump: of Android");
	set(4, 0xa792, 2);
	tap_ok(fails_with("version"), "minidump: of another version");
	minidump_begin();
	threads(0);
	at = list(1, 0);
	put64(0x9000), put32(10), put32(used + 4);
	stream(5, at);
	put("1234", 4);
	dump = open_made();
	tap_ok(dump->truncated && dump->missing == 6, "minidump: 6 of 10 bytes are missing: %u",
	       (unsigned int)dump->missing);
	dump_free(dump);
	minidump_begin();
	at = list(3, 0);
	thread(11, 0x7000, 0, 0, used + 48);
	stream(3, at);
	dump = open_made();
	tap_ok(dump->nr_threads == 1 && dump->truncated && !dump->thread->known,
	       "minidump: as many threads as the list has room for, and one without registers");
	dump_free(dump);
}

static size_t read_made(void *data, uint64_t offset, void *buf, size_t len)
{
	(void)data;
	if (offset > used || len > used - offset)
		return 0;
	memcpy(buf, file + offset, len);
	return len;
}

/* Breakpad takes whole steps of 16 bytes, also beyond the end of .text. */
static void test_text_hash(void)
{
	Elf64_Shdr sections[] = { { 0 }, { .sh_name = 1 }, { .sh_name = 7, .sh_size = 20 } };
	Elf64_Ehdr header = { .e_ident = "\177ELF\2\1\1", .e_shnum = 3, .e_shstrndx = 1 };
	uint8_t hash[DUMP_TEXT_HASH];
	uint32_t i, wrong = 0;

	used = 0;
	put(&header, sizeof(header));
	sections[1].sh_offset = put("\0names\0.text", 13);
	sections[1].sh_size = 13;
	sections[2].sh_offset = used;
	for (i = 0; i < 48; i++)
		put((const uint8_t[]){ (uint8_t)(3 * i + i / 16) }, 1);
	header.e_shoff = put(sections, sizeof(sections));
	memcpy(file, &header, sizeof(header));
	tap_ok(dump_text_hash(read_made, NULL, hash), "a file with .text");
	for (i = 0; i < DUMP_TEXT_HASH; i++)
		wrong += hash[i] != ((uint8_t)(3 * i) ^ (uint8_t)(3 * (i + 16) + 1));
	tap_ok(!wrong, "the hash of 20 bytes of code takes 32");
}

/* A text has memory as digits; of what two regions have, the first one counts. */
static void test_regions(void)
{
	struct dump_process *dump;
	uint32_t at, memory;

	minidump_begin();
	threads(0);
	memory = put("abcdefgh", 8);
	at = list(2, 0);
	put64(0x9000), put32(4), put32(memory);
	put64(0x9002), put32(6), put32(memory);
	stream(5, at);
	dump = open_made();
	tap_ok(has_bytes(dump, 0x9000, "abcdcdef"), "minidump: two pieces that overlap");
	dump_free(dump);
	used = 0;
	at = put("kunwind-stack 1\nthread 5 n\nrip 1000\nstack 9002 6162\nstack 9000 616a6b6c\n", 72);
	dump = open_made();
	tap_ok(dump->nr_threads == 1 && !dump->thread->known && has_bytes(dump, 0x9000, "ajkl"),
	       "text: a thread without rsp has no stack: %s", dump->error);
	dump_free(dump);
	put("rsp 9000\n", 9);
	dump = open_made();
	tap_ok(dump->nr_threads == 1 && dump->thread->known && dump->thread->regs.r[7] == 0x9000,
	       "text: with rsp, it has one");
	dump_free(dump);
}

int main(void)
{
	test_lists(0);
	test_lists(4);
	test_process();
	test_exceptions();
	test_damaged();
	test_text_hash();
	test_regions();
	return tap_done();
}
