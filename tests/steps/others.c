// SPDX-License-Identifier: MIT
/*
 * others.c - ask libdwfl and libunwind for the stack of the stopped thread
 *
 * libdwfl gets the objects of the target with their own CFI, without separate
 * debug files. Both start again after the executable mappings changed.
 */
#include <elfutils/libdwfl.h>
#include <err.h>
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <unistd.h>

#include "entries.h"
#include "others.h"

struct dw {
	Dwfl *dwfl;
	u64 epoch;
	pid_t pid;
	struct target *target;
	const struct kunwind_regs *regs;
	pid_t tid;
	u64 *addresses;
	u32 nr, most;
};

static struct dw dw;

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *debuglink, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)debuglink, (void)crc;
	(void)found;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl, (void)arg;
	if (*thread_arg)
		return 0;
	*thread_arg = &dw;
	return dw.tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl, (void)arg;
	*thread_arg = &dw;
	return tid == dw.tid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	u64 value;

	(void)dwfl, (void)arg;
	if (!memory_word(dw.target->memory, addr, &value))
		return false;
	*word = value;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word words[KUNWIND_NR_REGS];
	u32 i;

	(void)arg;
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		words[i] = dw.regs->r[i];
	return dwfl_thread_state_registers(thread, 0, KUNWIND_NR_REGS, words);
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static bool dw_begin(struct target *target)
{
	static const Dwfl_Callbacks files = { .find_debuginfo = no_debuginfo };
	u32 i;

	dw.target = target;
	if (dw.dwfl && dw.epoch == target->epoch && dw.pid == target->pid)
		return true;
	dwfl_end(dw.dwfl);
	dw.dwfl = dwfl_begin(&files);
	dw.epoch = target->epoch;
	dw.pid = target->pid;
	dwfl_report_begin(dw.dwfl);
	for (i = 0; i < target->nr; i++) {
		const struct target_mapping *mapping = &target->mapping[i];

		if (!mapping->object || (i && target->mapping[i - 1].object == mapping->object))
			continue;
		/* dwfl_report_elf() closes the descriptor. */
		if (!dwfl_report_elf(dw.dwfl, mapping->object->path, mapping->object->path,
				     dup(mapping->object->fd), mapping->bias, true))
			continue;
	}
	dwfl_report_end(dw.dwfl, NULL, NULL);
	return dwfl_attach_state(dw.dwfl, NULL, target->pid, &callbacks, &dw);
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Addr pc;

	(void)arg;
	if (!dwfl_frame_pc(frame, &pc, NULL) || dw.nr == dw.most)
		return DWARF_CB_ABORT;
	dw.addresses[dw.nr++] = pc;
	return DWARF_CB_OK;
}

u32 others_libdw(struct target *target, pid_t tid, const struct kunwind_regs *regs,
		 u64 *addresses, u32 most)
{
	dw.regs = regs;
	dw.tid = tid;
	dw.addresses = addresses;
	dw.most = most;
	dw.nr = 0;
	if (dw_begin(target))
		dwfl_getthread_frames(dw.dwfl, tid, on_frame, NULL);
	/* A last frame with the address zero is not a frame. */
	while (dw.nr > 1 && !addresses[dw.nr - 1])
		dw.nr--;
	return dw.nr;
}

static struct memory *unwound;

static int access_memory(unw_addr_space_t space, unw_word_t addr, unw_word_t *word, int write,
			 void *arg)
{
	u64 value;

	(void)space, (void)arg;
	if (write || !memory_word(unwound, addr, &value))
		return -UNW_EINVAL;
	*word = value;
	return 0;
}

u32 others_libunwind(struct target *target, pid_t tid, u64 *addresses, u32 most)
{
	static unw_addr_space_t space;
	static u64 epoch;
	unw_accessors_t accessors = _UPT_accessors;
	unw_cursor_t cursor;
	unw_word_t ip;
	u32 nr = 0;
	void *state;

	unwound = target->memory;
	accessors.access_mem = access_memory;
	if (!space) {
		space = unw_create_addr_space(&accessors, 0);
		unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	}
	if (epoch != target->epoch)
		unw_flush_cache(space, 0, 0);
	epoch = target->epoch;
	state = _UPT_create(tid);
	if (!unw_init_remote(&cursor, space, state)) {
		do {
			if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || (nr && !ip))
				break;
			addresses[nr++] = ip;
		} while (nr < most && unw_step(&cursor) > 0);
	}
	_UPT_destroy(state);
	return nr;
}

void others_name(struct target *target, u64 addr, char *text, size_t size)
{
	const struct target_mapping *mapping = target_find(target, addr);
	const char *path = mapping && mapping->object ? mapping->object->path : "[code of no file]";
	Dwfl_Module *module = NULL;
	const char *name = NULL;
	GElf_Sym symbol;
	GElf_Off offset = 0;
	u64 start;

	if (!mapping)
		path = "[no code]";
	if (dw_begin(target))
		module = dwfl_addrmodule(dw.dwfl, addr);
	if (module)
		name = dwfl_module_addrinfo(module, addr, &offset, &symbol, NULL, NULL, NULL);
	/* A stripped function: the symbol found is another function's. */
	if (name && symbol.st_size && offset >= symbol.st_size)
		name = NULL;
	if (name)
		snprintf(text, size, "%s+0x%lx\t%s", name, (unsigned long)offset, path);
	else if (mapping && mapping->object &&
		 entries_before(mapping->object, addr - mapping->bias, &start))
		snprintf(text, size, "0x%lx+0x%lx\t%s", (unsigned long)start,
			 (unsigned long)(addr - mapping->bias - start), path);
	else
		snprintf(text, size, "0x%lx\t%s",
			 (unsigned long)(addr - (mapping && mapping->object ? mapping->bias : 0)), path);
}
