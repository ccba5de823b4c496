/* SPDX-License-Identifier: MIT */
/*
 * unwind-modules-test.c - the module of a frame: each of its members, for loaded objects as
 * dl_iterate_phdr(3) describes them, and for code that the program has mapped itself, one file
 * after another at the same place
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind-stack.h"

#define PAGE	4096UL

static struct kunwind_unwinder *unwinder;
static const char *kind;

/* The module of code at @addr. */
static const struct kunwind_module *module_at(uint64_t addr)
{
	struct kunwind_registers regs = { .valid = 1 << 7 | 1 << 16 };
	static struct kunwind_stack_walk walk;
	struct kunwind_stack_frame frame;

	regs.r[7] = 8;
	regs.r[16] = addr;
	kunwind_walk_begin_regs(&walk, unwinder, &regs, NULL, NULL);
	return kunwind_walk_next(&walk, &frame) && frame.ip == addr && frame.exact ? frame.module : NULL;
}

struct counts {
	int objects, wrong, vdso;
};

static bool has_build_id(const struct dl_phdr_info *info, const struct kunwind_module *module)
{
	const ElfW(Nhdr) *note;
	uint64_t at, end;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		end = at + info->dlpi_phdr[i].p_memsz;
		for (; info->dlpi_phdr[i].p_type == PT_NOTE && at < end;
		     at += sizeof(*note) + ((note->n_namesz + 3) & -4U) + ((note->n_descsz + 3) & -4U)) {
			note = (const void *)at;
			if (note->n_type == NT_GNU_BUILD_ID)
				return module->build_id_len == note->n_descsz &&
				       !memcmp(module->build_id, (char *)note + sizeof(*note) + 4,
					       note->n_descsz);
		}
	}
	return !module->build_id_len;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	struct counts *counts = data;
	char path[PATH_MAX];
	ssize_t len;
	int i;

	(void)size;
	snprintf(path, sizeof(path), "%s", info->dlpi_name);
	if (!counts->objects) {
		len = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[len] = 0;
	}
	counts->objects++;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		const uint64_t start = info->dlpi_addr + phdr->p_vaddr;
		const uint64_t end = (start + phdr->p_memsz + PAGE - 1) & -PAGE;
		const struct kunwind_module *module;
		bool is_vdso, good;

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		module = module_at(start + 1);
		is_vdso = vdso - start < phdr->p_memsz;
		counts->vdso += is_vdso;
		good = module && module == module_at(start & -PAGE) && module == module_at(end - 1) &&
		       module != module_at((start & -PAGE) - 1) && module != module_at(end) &&
		       module->start == (start & -PAGE) && module->end == end &&
		       module->bias == info->dlpi_addr && has_build_id(info, module) &&
		       module->image && !memcmp((void *)module->image, ELFMAG, SELFMAG) &&
		       ((ElfW(Ehdr) *)module->image)->e_phoff == (uint64_t)info->dlpi_phdr - module->image &&
		       (is_vdso ? !module->path : module->path && !strcmp(module->path, path));
		counts->wrong += !good;
		if (!good)
			printf("# %s: %#lx, module %p %s\n", path, start, (void *)module,
			       module && module->path ? module->path : "-");
	}
	return 0;
}

static void test_loaded(void)
{
	struct counts counts = { 0, 0, 0 };

	dl_iterate_phdr(on_object, &counts);
	tap_ok(counts.objects > 3 && counts.vdso == 1 && !counts.wrong,
	       "%s: each of %d objects has its module, whole: %d wrong", kind, counts.objects, counts.wrong);
}

/* A loaded object at the place of an unloaded one, in a file of the same name. */
static char path_plugin[2][PATH_MAX], own[PATH_MAX];

static void find_files(void)
{
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *name;
	int i;

	own[len] = 0;
	name = strrchr(own, '/') + 1;
	for (i = 0; i < 2; i++)
		snprintf(path_plugin[i], PATH_MAX, "%.*s%s", (int)(name - own), own,
			 i ? "unwind-plugin-40.so" : "unwind-plugin-24.so");
}

/* Maps a file, or no file, at the same place each time. */
static uint64_t place;

static void map_place(int fd, off_t offset)
{
	if (mmap((void *)place, PAGE, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, offset) == MAP_FAILED)
		abort();
	if (kunwind_unwinder_refresh(unwinder))
		abort();
}

static bool is(const struct kunwind_module *module, const char *path)
{
	static const unsigned char none[20];

	return module && module->start == place && module->end == place + PAGE && !module->bias &&
	       !module->image && !module->build_id_len && !memcmp(module->build_id, none, sizeof(none)) &&
	       (path ? module->path && !strcmp(module->path, path) : !module->path);
}

static void test_places(void)
{
	char one[] = "/tmp/kunwind-module-one-XXXXXX", two[] = "/tmp/kunwind-module-two-XXXXXX";
	const int fd[2] = { mkstemp(one), mkstemp(two) };
	const struct kunwind_module *first, *second, *third;
	int memory = memfd_create("unwind-modules", 0);

	if (ftruncate(fd[0], 2 * PAGE) || ftruncate(fd[1], 2 * PAGE) || ftruncate(memory, PAGE))
		abort();
	/* Not beside another mapping. */
	place = (uint64_t)mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + PAGE;
	map_place(fd[0], 0);
	first = module_at(place);
	tap_ok(is(first, one), "%s: code of a file that is not ELF has its path, and no more", kind);
	map_place(-1, 0);
	second = module_at(place);
	tap_ok(is(second, NULL) && second != first, "%s: code of no file at the same place has none", kind);
	map_place(fd[1], 0);
	third = module_at(place + PAGE - 1);
	tap_ok(is(third, two), "%s: another file at the same place has its own", kind);
	map_place(fd[0], PAGE);
	tap_ok(module_at(place) == first && is(first, one),
	       "%s: the first file again has the first module", kind);
	map_place(memory, 0);
	tap_ok(module_at(place) == second && is(second, NULL), "%s: a file without a name has none", kind);
	map_place(fd[1], 0);
	unlink(two);
	tap_ok(!kunwind_unwinder_refresh(unwinder) && module_at(place) == second && is(second, NULL),
	       "%s: nor has a file that was deleted", kind);
	tap_ok(is(third, two), "%s: the old modules stay as they were", kind);
	mprotect((void *)place, PAGE, PROT_READ);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(!module_at(place), "%s: data of a file has no module", kind);
	munmap((void *)place, PAGE);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(!module_at(place), "%s: nor has what is not mapped", kind);
	unlink(one);
	close(fd[0]);
	close(fd[1]);
	close(memory);
}

/* Copies a plug-in to @path, as another file. */
static void put(const char *plugin, const char *path)
{
	char bytes[1 << 16], other[PATH_MAX];
	int from = open(plugin, O_RDONLY), to;
	ssize_t len = read(from, bytes, sizeof(bytes));

	snprintf(other, sizeof(other), "%s-new", path);
	to = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (len <= 0 || len == sizeof(bytes) || write(to, bytes, len) != len || rename(other, path))
		abort();
	close(from);
	close(to);
}

/*
 * Objects that the program has mapped itself, one after the other, from files with the same path:
 * their code at its offset in the file.
 */
static void test_elf(void)
{
	char path[] = "/tmp/kunwind-module-elf-XXXXXX";
	const struct kunwind_module *module[2];
	unsigned char build_id[2][20];
	uint64_t bias[2];
	int i, fd;

	for (i = 0; i < 2; i++) {
		void *handle = dlopen(path_plugin[i], RTLD_NOW);
		struct link_map *map;

		kunwind_unwinder_refresh(unwinder);
		module[0] = module_at((uint64_t)dlsym(handle, "plugin"));
		memcpy(build_id[i], module[0]->build_id, 20);
		dlinfo(handle, RTLD_DI_LINKMAP, &map);
		bias[i] = module[0]->start - map->l_addr;	/* of the code in the file */
		dlclose(handle);
	}
	close(mkstemp(path));
	for (i = 0; i < 2; i++) {
		put(path_plugin[i], path);
		fd = open(path, O_RDONLY);
		map_place(fd, bias[i]);
		module[i] = module_at(place + 5);
		close(fd);
		tap_ok(module[i] && module[i]->path && !strcmp(module[i]->path, path) &&
		       module[i]->build_id_len == 20 && !memcmp(module[i]->build_id, build_id[i], 20) &&
		       module[i]->bias == place - bias[i] && module[i]->image == module[i]->bias,
		       "%s: object %d that the program has mapped has its path, bias, image and build-id",
		       kind, i + 1);
	}
	tap_ok(memcmp(build_id[0], build_id[1], 20) && module[0] != module[1], "%s: they are two", kind);
	munmap((void *)place, PAGE);
	kunwind_unwinder_refresh(unwinder);
	unlink(path);
}

int main(void)
{
	unsigned int i;

	setvbuf(stdout, NULL, _IONBF, 0);
	find_files();
	for (i = 0; i < 3; i++) {
		kind = unwinders[i].kind;
		unwinder = kunwind_unwinder_new(unwinders[i].flags, 0);
		test_loaded();
		test_places();
		test_elf();
		kunwind_unwinder_free(unwinder);
	}
	return tap_done();
}
