/* SPDX-License-Identifier: MIT */
/*
 * python.h - CPython's own call stack: which numbers describe it, and what names its functions
 *
 *   interp_file.c   symbols, bytes and FDEs of the file
 *   python_find.c   the numbers, by version, compared with the file
 *   python_loop.c   which code is the eval loop
 *   python_name.c   name, file and line of a frame
 *
 * CPython 3.11 to 3.13 with the GIL, 64-bit, with glibc. Other builds are refused.
 */
#ifndef KUNWIND_PYTHON_H
#define KUNWIND_PYTHON_H

#include "interp/interp_field.h"
#include "interp_file.h"

struct python {
	uint32_t minor;			/* 11: CPython 3.11 */
	uint32_t code_size;		/* bytes of a code object before its instructions */
	struct kunwind_interp_desc desc;
};

enum python_result { PYTHON_NONE, PYTHON_FOUND, PYTHON_REFUSED };

/*
 * Describes the interpreter that the file holds. @read: its argument addr is an offset in the
 * file. Sets *@why if it is refused.
 */
enum python_result python_find(kunwind_read_memory *read, void *data, struct python *python,
			       const char **why);

/* python_loop.c: adds the ranges of the eval loop. Returns NULL, or why the file is refused. */
const char *python_loop(const struct interp_file *file, const struct interp_symbol *loop,
			struct python *python);

#define PYTHON_NAME	512		/* bytes, with a zero */
#define PYTHON_FILE	1024

struct python_frame {
	uint32_t line;			/* 0: not known */
	char name[PYTHON_NAME], file[PYTHON_FILE];	/* UTF-8; co_qualname, co_filename */
};

/*
 * Reads name, file and line of the frame of code object @id at @position. @copy: as that of
 * kunwind_interp_field_read(). False: the name cannot be read.
 */
bool python_name(const struct python *python, u64 id, u64 position, kunwind_interp_copy_fn *copy,
		 void *data, struct python_frame *frame);

#endif /* KUNWIND_PYTHON_H */
