/* SPDX-License-Identifier: MIT */
/*
 * dump-core-test.c - each field of made cores, of 64 and 32 bits. The layouts are from
 * linux/elfcore.h and fs/binfmt_elf.c
 */
#include <elf.h>
#include <signal.h>

#include "dump-made.h"

static bool wide;

static uint32_t put_word(uint64_t value)
{
	return put(&value, wide ? 8 : 4);
}

/* An ELF header, and @room program headers, of which @nr are counted. */
static void core_begin(uint16_t nr, uint32_t room)
{
	const uint32_t size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

	used = 0;
	put("\177ELF", 4);
	put((const char[]){ wide ? 2 : 1, 1, 1 }, 3);
	put(NULL, wide ? 57 : 45);
	set(16, ET_CORE, 2);
	set(18, wide ? EM_X86_64 : EM_386, 2);
	set(wide ? 32 : 28, used, wide ? 8 : 4);
	set(wide ? 54 : 42, size, 2);
	set(wide ? 56 : 44, nr, 2);
	put(NULL, room * size);
}

static void segment(uint32_t i, uint32_t type, uint32_t flags, uint32_t offset, uint64_t at, uint64_t filesz,
		    uint64_t memsz)
{
	const Elf64_Phdr segment = { .p_type = type,
				     .p_flags = flags,
				     .p_offset = offset,
				     .p_vaddr = at,
				     .p_filesz = filesz,
				     .p_memsz = memsz };
	const Elf32_Phdr narrow = { .p_type = type,
				    .p_flags = flags,
				    .p_offset = offset,
				    .p_vaddr = (uint32_t)at,
				    .p_filesz = (uint32_t)filesz,
				    .p_memsz = (uint32_t)memsz };

	memcpy(file + (wide ? 64 + i * sizeof(segment) : 52 + i * sizeof(narrow)),
	       wide ? (const void *)&segment : &narrow, wide ? sizeof(segment) : sizeof(narrow));
}

static uint32_t note(uint32_t type, uint32_t size)
{
	put32(5), put32(size), put32(type);
	put("CORE\0\0\0", 8);
	return put(NULL, (size + 3) & ~3U);
}

/* Registers of @first, @first + 1, ... in the order of the kernel's. */
static void status(uint32_t tid, uint16_t signal, uint64_t first)
{
	const uint32_t at = note(NT_PRSTATUS, wide ? 336 : 144);
	uint32_t i;

	set(at + 12, signal, 2);
	set(at + (wide ? 32 : 24), tid, 4);
	for (i = 0; i < (wide ? 27U : 17U); i++)
		set(at + (wide ? 112 + 8 * i : 72 + 4 * i), first + i, wide ? 8 : 4);
}

static void siginfo(uint32_t signal, int32_t code, uint32_t address)
{
	const uint32_t at = note(0x53494749, 128);

	set(at, signal, 4);
	set(at + 8, (uint32_t)code, 4);
	set(at + (wide ? 16 : 12), address, 4);
}

static void process(uint32_t pid, const char *name)
{
	const uint32_t at = note(NT_PRPSINFO, wide ? 136 : 124);

	set(at + (wide ? 24 : 12), pid, 4);
	memcpy(file + at + (wide ? 40 : 28), name, strlen(name));
}

/* Three mappings of /bin/b, the second one of code, and two of data files. */
static void files(void)
{
	static const char names[] = "/etc/a\0/bin/b\0/bin/b\0/bin/b\0/etc/c";
	const uint32_t at = note(0x46494c45, (wide ? 17 * 8 : 17 * 4) + sizeof(names)), end = used;
	static const uint16_t list[][3] = { { 1, 2, 0 },
					    { 0x10, 0x11, 0 },
					    { 0x11, 0x13, 1 },
					    { 0x13, 0x14, 3 },
					    { 0x20, 0x21, 0 } };
	uint32_t i;

	used = at;
	put_word(5);
	put_word(4096);
	for (i = 0; i < 5; i++) {
		put_word(list[i][0] * 4096);
		put_word(list[i][1] * 4096);
		put_word(list[i][2]);
	}
	put(names, sizeof(names));
	used = end;
}

static bool has_registers(const struct dump_process *dump, const struct dump_thread *of, uint64_t first)
{
	/* rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 rip; eax edx ecx ebx esi edi ebp esp ... eip */
	static const uint8_t wide_at[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };
	static const uint8_t narrow_at[] = { 6, 2, 1, 0, 3, 4, 5, 15 };
	uint32_t i;

	for (i = 0; i < (dump->i386 ? 8 : 17); i++)
		if (of->regs.r[i] != first + (dump->i386 ? narrow_at[i] : wide_at[i]))
			return false;
	return dump->i386 ? of->regs.valid == 0x100ff && of->regs.r[16] == first + 12 &&
				    of->regs.flags == KUNWIND_REGISTERS_I386 :
			    of->regs.valid == 0x1ffff && of->regs.fs_base == first + 21;
}

static void test_core(void)
{
	struct dump_process *dump;
	const char *const class = wide ? "core" : "32-bit core";
	uint32_t notes, memory;

	core_begin(4, 4);
	notes = used;
	status(21, SIGSEGV, 1000);
	process(20, "a command");
	process(99, "another");
	siginfo(SIGSEGV, SEGV_ACCERR, 0x9876);
	note(NT_AUXV, wide ? 32 : 16);
	used -= wide ? 32 : 16;
	put_word(AT_PHDR), put_word(0x1003), put_word(AT_NULL), put_word(0);
	files();
	/* the kernel writes the signal into all threads; gcore, what each has */
	status(22, SIGABRT, 2000);
	siginfo(SIGSEGV, SEGV_MAPERR, 0x5432);
	segment(0, PT_NOTE, 0, notes, 0, used - notes, 0);
	memory = put("stackcode", 9);
	segment(1, PT_LOAD, PF_R | PF_W, memory, 0x7000, 5, 4096);
	segment(2, PT_LOAD, PF_R | PF_X, memory + 5, 0x11000, 4, 0x2000);
	segment(3, PT_LOAD, PF_R, memory, 0x20000, 1 << 20, 4);
	dump = open_made();
	tap_ok(!*dump->error && dump->format == DUMP_CORE && dump->i386 == !wide && !dump->truncated,
	       "%s: %s", class, dump->error);
	tap_ok(dump->nr_threads == 2 && dump->thread[0].tid == 21 && dump->thread[1].tid == 22 &&
		       has_registers(dump, &dump->thread[0], 1000) &&
		       has_registers(dump, &dump->thread[1], 2000),
	       "%s: two threads, and their registers", class);
	tap_ok(dump->crash.has_thread && dump->crash.thread == 0 && dump->crash.signal == SIGSEGV,
	       "%s: the signal is that of the first thread", class);
	tap_ok(dump->crash.has_code && dump->crash.code == SEGV_ACCERR && dump->crash.has_address &&
		       dump->crash.address == 0x9876,
	       "%s: its first siginfo", class);
	tap_ok(dump->pid == 20 && !strcmp(dump->command, "a command"), "%s: number and name of the process",
	       class);
	tap_ok(dump->auxv.phdr == 0x1003, "%s: the auxiliary vector", class);
	tap_ok(has_bytes(dump, 0x7000, "stack") && has_bytes(dump, 0x11000, "code") &&
		       !has_bytes(dump, 0x7000, "stackc") && has_bytes(dump, 0x20000, "stac") &&
		       !has_bytes(dump, 0x20000, "stack"),
	       "%s: memory, of which the file has a part", class);
	tap_ok(dump->nr_mappings == 1 && dump->mapping->start == 0x11000 && dump->mapping->end == 0x13000 &&
		       dump->mapping->module == 0,
	       "%s: code", class);
	tap_ok(dump->nr_modules == 1 && !strcmp(dump->module->path, "/bin/b") &&
		       dump->module->start == 0x10000 && dump->module->end == 0x14000 &&
		       dump->module->image == 0x10000,
	       "%s: of the files, that with code", class);
	dump_free(dump);
}

static void test_signals(void)
{
	struct dump_process *dump;
	uint32_t notes, i;

	for (i = 0; i < 3; i++) {
		core_begin(1, 1);
		notes = used;
		status(21, i ? SIGSEGV : 0, 1000);
		status(22, SIGSEGV, 2000);
		siginfo(i == 1 ? SIGBUS : SIGSEGV, i == 2 ? SI_KERNEL : SEGV_MAPERR, 0x5432);
		segment(0, PT_NOTE, 0, notes, 0, used - notes, 0);
		dump = open_made();
		if (!i)
			tap_ok(!dump->crash.signal && !dump->crash.has_thread && !dump->crash.has_code,
			       "core: the first thread has no signal: no crash");
		else if (i == 1)
			tap_ok(dump->crash.signal == SIGSEGV && !dump->crash.has_code &&
				       !dump->crash.has_address,
			       "core: siginfo of another signal");
		else
			tap_ok(dump->crash.has_code && dump->crash.code == SI_KERNEL &&
				       !dump->crash.has_address,
			       "core: SI_KERNEL has no address");
		dump_free(dump);
	}
}

/* More program headers than the ELF header can count. */
static void test_many(void)
{
	const uint32_t nr = 70000;
	struct dump_process *dump;
	uint32_t i, notes, section;

	core_begin(PN_XNUM, nr);
	section = put(NULL, wide ? 64 : 40);
	set(wide ? 40 : 32, section, wide ? 8 : 4);
	/* another number in each word */
	for (i = 0; i < (wide ? 16U : 10U); i++)
		set(section + 4 * i, i + 1, 4);
	set(section + (wide ? 44 : 28), nr, 4);
	notes = used;
	status(21, 0, 1000);
	segment(nr - 1, PT_NOTE, 0, notes, 0, used - notes, 0);
	dump = open_made();
	tap_ok(dump->nr_threads == 1 && dump->thread->tid == 21, "core: %u program headers: %s", nr,
	       dump->error);
	dump_free(dump);
}

static void elf_note(uint32_t type, const char *name, const char *desc, uint32_t len)
{
	put32(4), put32(len), put32(type);
	put(name, 4);
	put(desc, len);
	put(NULL, -len & 3);
}

/* A module whose headers and notes are in memory. Its first segment is not the one at the file's begin. */
static void test_image(void)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_offset = 0x2000, .p_vaddr = 0x403000, .p_filesz = 0x1000 },
		{ .p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 0x400000, .p_filesz = 0x2000 },
		{ .p_type = PT_NOTE, .p_offset = 0x200, .p_vaddr = 0x400200, .p_filesz = 0x100 },
	};
	Elf64_Ehdr header = { .e_ident = "\177ELF\2\1\1", .e_type = ET_EXEC, .e_machine = EM_X86_64,
			      .e_phoff = sizeof(header), .e_phentsize = sizeof(*segments), .e_phnum = 3 };
	struct dump_process *dump;
	uint32_t notes, image;

	core_begin(3, 3);
	notes = used;
	status(21, 0, 1000);
	files();
	segment(0, PT_NOTE, 0, notes, 0, used - notes, 0);
	image = put(&header, sizeof(header));
	put(segments, sizeof(segments));
	put(NULL, 0x200 - (used - image));
	elf_note(NT_GNU_BUILD_ID, "FDO", "bad", 3);
	elf_note(NT_GNU_BUILD_ID, "GNU", "first", 5);
	elf_note(NT_GNU_BUILD_ID, "GNU", "second", 6);
	elf_note(0xcafe1a7e, "FDO", "{}", 2);
	elf_note(0xcafe1a7e, "FDO", "{1}", 3);
	put(NULL, 0x300 - (used - image));
	segment(1, PT_LOAD, PF_R, image, 0x10000, used - image, 0x1000);
	segment(2, PT_LOAD, PF_R | PF_X, image, 0x11000, 0, 0x2000);
	dump = open_made();
	if (tap_ok(dump->nr_modules == 1, "core: a module with headers: %s", dump->error))
		tap_ok(dump->module->has_header && dump->module->biased &&
			       dump->module->bias == 0x10000 - 0x400000ULL &&
			       dump->module->build_id_len == 5 &&
			       !memcmp(dump->module->build_id, "first", 5) && dump->module->package &&
			       !strcmp(dump->module->package, "{}"),
		       "core: its bias, and of its notes the first build-id and package");
	dump_free(dump);
}

int main(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		wide = !i;
		test_core();
		test_signals();
		test_many();
	}
	wide = true;
	test_image();
	return tap_done();
}
