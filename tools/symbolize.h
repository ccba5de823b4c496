/* SPDX-License-Identifier: MIT */
/*
 * symbolize.h - names of functions for addresses in ELF files
 *
 * An address is an ELF virtual address (process address minus the mapping's
 * bias). A file is asked for by path and by the build-id that the trace saw;
 * no name is ever taken from a file that is not that one.
 */
#ifndef KUNWIND_SYMBOLIZE_H
#define KUNWIND_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

struct kunwind_symbolizer;
struct kunwind_symfile;

enum kunwind_symfile_state {
	KUNWIND_SYMFILE_OK = 0,
	KUNWIND_SYMFILE_ABSENT,		/* no such file, nor separate symbols for the build-id */
	KUNWIND_SYMFILE_UNREADABLE,	/* not permitted, or no ELF file */
	KUNWIND_SYMFILE_DIFFERS,	/* the file there has another build-id */
	KUNWIND_SYMFILE_UNSURE,		/* no build-id to compare, and it is not the same inode */
};

struct kunwind_symbol {
	const char *name;	/* demangled; NULL: none. Valid until the next call */
	uint64_t offset;	/* of the address itself in the function, bytes */
	bool trampoline;	/* of a signal: the next frame was interrupted, it did not call */
	bool entry;		/* outermost function of a process or thread */
};

/* NULL when out of memory. */
struct kunwind_symbolizer *kunwind_symbolizer_new(void);
void kunwind_symbolizer_free(struct kunwind_symbolizer *symbolizer);

/**
 * kunwind_symbolizer_file() - the file of one mapping
 * @path: as in /proc/PID/maps; "[vdso]" is this system's own vDSO
 * @build_id: lower-case hex; empty when there is none or it is not known
 * @inode: of the mapped file, 0 unknown; counts only without a build-id
 *
 * Opens nothing yet. The same arguments give the same pointer, which lives as
 * long as the symbolizer. NULL when out of memory.
 */
struct kunwind_symfile *kunwind_symbolizer_file(struct kunwind_symbolizer *symbolizer,
						const char *path, const char *build_id,
						uint64_t inode);

const char *kunwind_symfile_path(const struct kunwind_symfile *file);
const char *kunwind_symfile_build_id(const struct kunwind_symfile *file);

/* Opens it when it was not: what became of that. */
enum kunwind_symfile_state kunwind_symfile_state(struct kunwind_symfile *file);

/*
 * The ELF virtual address of what lies at @offset in the file. False: it could
 * not be opened, or no loaded segment holds @offset.
 */
bool kunwind_symfile_vaddr(struct kunwind_symfile *file, uint64_t offset, uint64_t *vaddr);

/* Why a file in this state gives no names: a few words, NULL for OK. */
const char *kunwind_symfile_why(enum kunwind_symfile_state state);

/**
 * kunwind_symbolize() - the function that holds an address
 * @addr: ELF virtual address
 * @exact: false for a return address, which belongs to the call before it
 * @symbol: out, always filled
 */
void kunwind_symbolize(struct kunwind_symfile *file, uint64_t addr, bool exact,
		       struct kunwind_symbol *symbol);

#endif /* KUNWIND_SYMBOLIZE_H */
