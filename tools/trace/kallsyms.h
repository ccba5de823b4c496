/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.h - the file with a kernel's symbols that is saved with a trace
 *
 * The file is text, compressed as by gzip(1): first the lines KALLSYMS_HEAD, then
 * the lines of /proc/kallsyms that name code. Its addresses are of one boot.
 */
#ifndef KUNWIND_TRACE_KALLSYMS_H
#define KUNWIND_TRACE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "believed.h"
#include "boot.h"

#define KALLSYMS_NAME	"kallsyms.gz"
/* uname -r, and boot_own_id(), that is /proc/sys/kernel/random/boot_id, for fprintf(3) */
#define KALLSYMS_HEAD	"# kunwind kernel symbols 1\n# release %s\n# boot %s\n"

/* Returns whether the file begins with KALLSYMS_HEAD. @boot, @foreign: out. */
bool kallsyms_boot(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *believed,
		   char boot[BOOT_ID], bool *foreign);

/*
 * Returns the whole text of a file, compressed or not, which the caller frees.
 * NULL: it is not readable, not believed, damaged, or too large.
 */
char *kallsyms_read(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *believed);

struct kallsyms_files {
	char **path;
	size_t nr;
	uid_t owner;		/* whose files are believed besides root's and the caller's */
};

/*
 * Finds the files in and below @dirs, and in the three directories above each,
 * because @dirs may be DIR/kernel or DIR/archives/CHUNK/kernel. False: out of memory.
 */
bool kallsyms_find(struct kallsyms_files *files, char *const *dirs, int nr_dirs);
void kallsyms_files_free(struct kallsyms_files *files);

#endif /* KUNWIND_TRACE_KALLSYMS_H */
