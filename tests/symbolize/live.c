// SPDX-License-Identifier: MIT
/*
 * live.c - name a function of a deleted file that a process has mapped; run by
 * symbolize-test.sh
 *
 *   live FILE BUILD-ID
 *
 * Maps the code of FILE, deletes FILE, and prints the name that the library
 * finds for the address of inner::twice<long> in the mapping. The first history
 * has the mapping and its build-id, as from a trace. The second history has no
 * events: it reads the mapping from /proc and identifies FILE by its inode.
 * Prints a second line if the second history gives another name.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libkunwind-symbolize.h"

/* Returns the function's ELF virtual address from .symtab; 0: not found. */
static uint64_t find_function(const char *image)
{
	const Elf64_Ehdr *ehdr = (const void *)image;
	const Elf64_Shdr *shdr = (const void *)(image + ehdr->e_shoff);
	unsigned int i;
	size_t j;

	for (i = 0; i < ehdr->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(image + shdr[i].sh_offset);
		const char *names = image + shdr[shdr[i].sh_link].sh_offset;

		if (shdr[i].sh_type != SHT_SYMTAB)
			continue;
		for (j = 0; j < shdr[i].sh_size / sizeof(*sym); j++) {
			if (strstr(names + sym[j].st_name, "twiceIl"))
				return sym[j].st_value;
		}
	}
	return 0;
}

static const Elf64_Phdr *find_code(const char *image)
{
	const Elf64_Ehdr *ehdr = (const void *)image;
	const Elf64_Phdr *phdr = (const void *)(image + ehdr->e_phoff);
	unsigned int i;

	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
			return &phdr[i];
	}
	return NULL;
}

static const char *ask(struct kunwind_history *history, const struct kunwind_who *who,
		       uint64_t address)
{
	const struct kunwind_function *function = NULL;
	struct kunwind_frame frame;

	if (kunwind_history_stack(history, who, &address, 1, &frame))
		function = kunwind_frame_function(&frame);
	if (function && function->name)
		return function->name;
	return frame.why ? frame.why : "nothing";
}

int main(int argc, char **argv)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	struct kunwind_history *told = kunwind_history_new(symbolizer);
	struct kunwind_history *untold = kunwind_history_new(symbolizer);
	struct kunwind_who who = { .pid = getpid(), .live = true };
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	const Elf64_Phdr *code;
	uint64_t function, offset, size, bias;
	struct timespec now;
	struct stat st;
	char *image, *mapped, name[256];

	if (fd < 0 || fstat(fd, &st) || !told || !untold)
		return 1;
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		return 1;
	function = find_function(image);
	code = find_code(image);
	offset = code->p_offset & ~4095ull;
	size = (code->p_filesz + 4095) & ~4095ull;
	mapped = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)offset);
	if (mapped == MAP_FAILED || unlink(argv[1]))
		return 1;
	bias = (uint64_t)mapped - (code->p_vaddr & ~4095ull);
	clock_gettime(CLOCK_REALTIME, &now);
	who.time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	kunwind_history_map(told, who.time, &(struct kunwind_mapping){
		.pid = who.pid, .start = (uint64_t)mapped, .end = (uint64_t)mapped + size,
		.offset = offset, .bias = bias, .path = argv[1], .build_id = argv[2] });
	snprintf(name, sizeof(name), "%s", ask(told, &who, bias + function));
	printf("%s\n", name);
	if (strcmp(name, ask(untold, &who, bias + function)))
		printf("another name from /proc: %s\n", ask(untold, &who, bias + function));
	kunwind_history_free(told);
	kunwind_history_free(untold);
	kunwind_symbolizer_free(symbolizer);
	return 0;
}
