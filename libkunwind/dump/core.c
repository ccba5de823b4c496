// SPDX-License-Identifier: MIT
/*
 * core.c - ELF cores of x86-64 and i386 Linux
 *
 * The program headers say which memory the file has (PT_LOAD), and where the notes are. The
 * notes have each thread's registers (NT_PRSTATUS), the process (NT_PRPSINFO), the signal
 * (NT_SIGINFO), the auxiliary vector (NT_AUXV), and what was mapped of which file (NT_FILE,
 * since Linux 3.7). The kernel writes the thread that was killed first, and its signal into the
 * status of all threads. Layouts: struct elf_prstatus and elf_prpsinfo of linux/elfcore.h, and
 * fs/binfmt_elf.c for the rest.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "report_names.h"

#define MOST_AUXV	4096		/* bytes */
#define MOST_FILES	(64u << 20)	/* bytes of NT_FILE */
#define NO_REGISTER	255

/* Where the fields of a structure are, for one class of ELF files. */
struct core_layout {
	uint32_t status_size, signal, tid, registers, word;
	uint8_t place[KUNWIND_NR_REGISTERS];	/* of each register in pr_reg, words */
	uint8_t fs_base;			/* the same; NO_REGISTER: none */
	uint32_t info_size, info_pid, info_name, siginfo_address;
};

static const struct core_layout layout_64 = {
	.status_size = 336, .signal = 12, .tid = 32, .registers = 112, .word = 8,
	/* rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 rip, in struct user_regs_struct */
	.place = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 }, .fs_base = 21,
	.info_size = 136, .info_pid = 24, .info_name = 40, .siginfo_address = 16,
};

static const struct core_layout layout_32 = {
	.status_size = 144, .signal = 12, .tid = 24, .registers = 72, .word = 4,
	/* eax edx ecx ebx esi edi ebp esp, and eip */
	.place = { 6, 2, 1, 0, 3, 4, 5, 15, NO_REGISTER, NO_REGISTER, NO_REGISTER, NO_REGISTER,
		   NO_REGISTER, NO_REGISTER, NO_REGISTER, NO_REGISTER, 12 }, .fs_base = NO_REGISTER,
	.info_size = 124, .info_pid = 12, .info_name = 28, .siginfo_address = 12,
};

struct core {
	struct dump_process *dump;
	const struct core_layout *layout;
	uint64_t phoff;
	uint32_t phnum;
	bool has_files, has_info, has_status;
	uint8_t auxv[MOST_AUXV];
	size_t auxv_len;
};

static uint64_t word_at(const struct core *core, const uint8_t *at)
{
	return core->layout->word == 8 ? dump_u64(at) : dump_u32(at);
}

static bool take_status(struct core *core, uint64_t at, uint32_t len)
{
	const struct core_layout *layout = core->layout;
	struct dump_process *dump = core->dump;
	struct dump_thread *thread;
	uint8_t status[336];
	uint32_t i, signal;

	if (len < layout->status_size || !dump_read(dump->input, at, status, layout->status_size))
		return true;
	thread = dump_add_thread(dump);
	if (!thread)
		return false;
	thread->tid = dump_u32(status + layout->tid);
	for (i = 0; i < KUNWIND_NR_REGISTERS; i++) {
		if (layout->place[i] == NO_REGISTER)
			continue;
		thread->regs.r[i] = word_at(core, status + layout->registers +
						  layout->place[i] * layout->word);
		thread->regs.valid |= 1u << i;
	}
	if (layout->fs_base != NO_REGISTER)
		thread->regs.fs_base = dump_u64(status + layout->registers + layout->fs_base * 8);
	else
		thread->regs.flags = KUNWIND_REGISTERS_I386;
	thread->known = true;
	signal = dump_u16(status + layout->signal);
	if (!core->has_status && signal) {
		dump->crash.signal = signal;
		dump->crash.thread = dump->nr_threads - 1;
		dump->crash.has_thread = true;
	}
	core->has_status = true;
	return true;
}

static void take_info(struct core *core, uint64_t at, uint32_t len)
{
	uint8_t info[136];

	if (core->has_info || len < core->layout->info_size ||
	    !dump_read(core->dump->input, at, info, core->layout->info_size))
		return;
	core->has_info = true;
	core->dump->pid = (int32_t)dump_u32(info + core->layout->info_pid);
	memcpy(core->dump->command, info + core->layout->info_name, 16);
}

static void take_siginfo(struct core *core, uint64_t at, uint32_t len)
{
	struct dump_crash *crash = &core->dump->crash;
	uint8_t info[32];

	/* gcore writes one for each thread: that of the thread with the signal is the first */
	if (crash->has_code || len < sizeof(info) || !dump_read(core->dump->input, at, info, sizeof(info)) ||
	    dump_u32(info) != crash->signal || !crash->signal)
		return;
	crash->code = (int32_t)dump_u32(info + 8);
	crash->has_code = true;
	crash->address = word_at(core, info + core->layout->siginfo_address);
	crash->has_address = kunwind_signal_has_address(crash->signal, crash->code);
}

/*
 * The list has, for each mapping of a file, its start, end and page of the file, sorted by
 * address; then the names.
 */
static bool take_list(struct core *core, const uint8_t *bytes, size_t len)
{
	const size_t word = core->layout->word;
	const char *name, *last = NULL, *end;
	uint64_t nr, page, i;

	if (len < 2 * word)
		return true;
	nr = word_at(core, bytes);
	page = word_at(core, bytes + word);
	if (nr > (len - 2 * word) / (3 * word))
		return true;
	name = (const char *)bytes + (2 + 3 * nr) * word;
	end = (const char *)bytes + len;
	for (i = 0; i < nr && name < end && memchr(name, 0, (size_t)(end - name)); i++) {
		const uint8_t *entry = bytes + (2 + 3 * i) * word;
		const uint64_t start = word_at(core, entry), stop = word_at(core, entry + word);
		const uint64_t offset = word_at(core, entry + 2 * word) * page;

		if (!dump_add_file(core->dump, last, name, start, stop, offset))
			return false;
		last = name;
		name += strlen(name) + 1;
	}
	return dump_end_file(core->dump, last);
}

static bool take_files(struct core *core, uint64_t at, uint32_t len)
{
	uint8_t *bytes;
	bool ok = true;

	if (core->has_files || len > MOST_FILES)
		return true;
	bytes = malloc(len + 1);
	if (!bytes)
		return dump_fail(core->dump, "out of memory");
	if (dump_read(core->dump->input, at, bytes, len)) {
		core->has_files = true;
		ok = take_list(core, bytes, len);
	}
	free(bytes);
	return ok;
}

static void take_auxv(struct core *core, uint64_t at, uint32_t len)
{
	if (core->auxv_len || len > sizeof(core->auxv) || !dump_read(core->dump->input, at, core->auxv, len))
		return;
	core->auxv_len = len;
	dump_take_auxv(core->dump, core->auxv, len);
}

static bool take_note(struct core *core, uint32_t type, uint64_t at, uint32_t len)
{
	switch (type) {
	case NT_PRSTATUS:
		return take_status(core, at, len);
	case NT_PRPSINFO:
		take_info(core, at, len);
		return true;
	case NT_SIGINFO:
		take_siginfo(core, at, len);
		return true;
	case NT_AUXV:
		take_auxv(core, at, len);
		return true;
	case NT_FILE:
		return take_files(core, at, len);
	default:
		return true;
	}
}

static bool read_notes(struct core *core, uint64_t offset, uint64_t size)
{
	struct dump_process *dump = core->dump;
	uint8_t head[20];

	while (size >= 12) {
		uint64_t name, desc, len;

		if (!dump_read(dump->input, offset, head, size < sizeof(head) ? 12 : sizeof(head)))
			break;
		name = ((uint64_t)dump_u32(head) + 3) & ~3ULL;
		desc = dump_u32(head + 4);
		len = 12 + name + ((desc + 3) & ~3ULL);
		if (len > size && 12 + name + desc > size)
			break;
		if (dump_u32(head) == 5 && !memcmp(head + 12, "CORE", 5) &&
		    !take_note(core, dump_u32(head + 8), offset + 12 + name, (uint32_t)desc))
			return false;
		if (len >= size)
			return true;
		offset += len;
		size -= len;
	}
	if (size && offset + size > dump_input_size(dump->input))
		dump->truncated = true;
	return true;
}

/* Calls @fn for each program header of a type. */
static bool each_segment(struct core *core, uint32_t type,
			 bool (*fn)(struct core *core, const Elf64_Phdr *segment))
{
	const bool wide = core->layout->word == 8;
	const uint32_t size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	Elf64_Phdr segment;
	Elf32_Phdr narrow;
	uint32_t i;

	for (i = 0; i < core->phnum; i++) {
		if (!dump_read(core->dump->input, core->phoff + (uint64_t)i * size,
			       wide ? (void *)&segment : (void *)&narrow, size)) {
			core->dump->truncated = true;
			return true;
		}
		if (!wide)
			segment = (Elf64_Phdr){ .p_type = narrow.p_type, .p_flags = narrow.p_flags,
						.p_offset = narrow.p_offset, .p_vaddr = narrow.p_vaddr,
						.p_filesz = narrow.p_filesz, .p_memsz = narrow.p_memsz };
		if (segment.p_type == type && !fn(core, &segment))
			return false;
	}
	return true;
}

static bool take_memory(struct core *core, const Elf64_Phdr *segment)
{
	if (segment->p_flags & PF_X &&
	    !dump_add_mapping(core->dump, segment->p_vaddr, segment->p_vaddr + segment->p_memsz))
		return false;
	return dump_add_region(core->dump, segment->p_vaddr,
			       segment->p_filesz < segment->p_memsz ? segment->p_filesz : segment->p_memsz,
			       segment->p_offset);
}

static bool take_notes(struct core *core, const Elf64_Phdr *segment)
{
	return read_notes(core, segment->p_offset, segment->p_filesz);
}

static bool read_header(struct core *core)
{
	struct dump_process *dump = core->dump;
	uint8_t header[64], section[64];
	bool wide;

	if (!dump_read(dump->input, 0, header, 52))
		return dump_fail(dump, "its ELF header is truncated");
	wide = header[EI_CLASS] == ELFCLASS64;
	if (wide && !dump_read(dump->input, 0, header, sizeof(header)))
		return dump_fail(dump, "its ELF header is truncated");
	if (header[EI_DATA] != ELFDATA2LSB || (!wide && header[EI_CLASS] != ELFCLASS32) ||
	    dump_u16(header + 18) != (wide ? EM_X86_64 : EM_386))
		return dump_fail(dump, "it is of another processor than x86");
	if (dump_u16(header + 16) != ET_CORE)
		return dump_fail(dump, "it is an ELF file, but no core");
	core->layout = wide ? &layout_64 : &layout_32;
	dump->i386 = !wide;
	core->phoff = wide ? dump_u64(header + 32) : dump_u32(header + 28);
	core->phnum = dump_u16(header + (wide ? 56 : 44));
	if (dump_u16(header + (wide ? 54 : 42)) != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return dump_fail(dump, "its program headers have another size");
	if (core->phnum == PN_XNUM) {
		const uint64_t at = wide ? dump_u64(header + 40) : dump_u32(header + 32);

		if (!dump_read(dump->input, at, section, wide ? 64 : 40))
			return dump_fail(dump, "the number of its program headers is truncated");
		core->phnum = dump_u32(section + (wide ? 44 : 28));	/* sh_info */
	}
	if (core->phnum > DUMP_MOST_REGIONS)
		return dump_fail(dump, "it has more than %u program headers", DUMP_MOST_REGIONS);
	return true;
}

bool dump_read_core(struct dump_process *dump)
{
	struct core *core = calloc(1, sizeof(*core));
	bool ok;

	if (!core)
		return dump_fail(dump, "out of memory");
	core->dump = dump;
	ok = read_header(core) && each_segment(core, PT_LOAD, take_memory);
	dump_sort_regions(dump);
	ok = ok && each_segment(core, PT_NOTE, take_notes);
	if (ok) {
		dump_find_start(dump, core->auxv, core->auxv_len);
		ok = core->has_files || dump_read_links(dump);
	}
	free(core);
	return ok;
}
