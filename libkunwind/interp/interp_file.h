/* SPDX-License-Identifier: MIT */
/*
 * interp_file.h - symbols, bytes and FDEs of an ELF file that may have an interpreter
 *
 * The file may be hostile: each place and size is checked. 64-bit x86 files only.
 */
#ifndef KUNWIND_INTERP_FILE_H
#define KUNWIND_INTERP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <kunwind/unwind.h>

#define INTERP_FILE_LOADS	32

struct interp_file {
	kunwind_read_memory *read;	/* its argument addr is an offset in the file */
	void *data;
	uint32_t nr_loads;
	struct { uint64_t vaddr, offset, size; } load[INTERP_FILE_LOADS];
	uint64_t eh_frame_hdr;		/* ELF virtual address; 0: none */
	struct { uint64_t offset, size; } symbols, strings;	/* .dynsym, .dynstr */
};

/* False: no such file, or it has no dynamic symbols. */
bool interp_file_open(struct interp_file *file, kunwind_read_memory *read, void *data);

struct interp_symbol {
	const char *name;
	uint64_t addr, size;		/* out; addr 0: there is no such symbol */
};

/* Sets the symbols that the file defines. @symbol: up to one with the name NULL. */
bool interp_file_symbols(const struct interp_file *file, struct interp_symbol *symbol);

/* Reads exactly @len bytes of the file at an ELF virtual address. */
bool interp_file_bytes(const struct interp_file *file, uint64_t vaddr, void *buf, size_t len);

/* Finds the FDE that covers @vaddr: [*start, *end). */
bool interp_file_fde(const struct interp_file *file, uint64_t vaddr, uint64_t *start, uint64_t *end);

#endif /* KUNWIND_INTERP_FILE_H */
