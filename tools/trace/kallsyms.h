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

#define KALLSYMS_NAME	"kallsyms.gz"
/* uname -r, and /proc/sys/kernel/random/boot_id, for fprintf(3) */
#define KALLSYMS_HEAD	"# kunwind kernel symbols 1\n# release %s\n# boot %s\n"

/* A boot id with its NUL: 32 hexadecimal digits in lower case, and 4 dashes. */
#define KALLSYMS_BOOT	37

/* Reads this host's boot id. False: it is not readable. */
bool kallsyms_own_boot(char boot[KALLSYMS_BOOT]);

/* Returns whether the file at @path begins with KALLSYMS_HEAD. @boot: out. */
bool kallsyms_boot(const char *path, char boot[KALLSYMS_BOOT]);

/*
 * Returns the whole text of a file, compressed or not, which the caller frees.
 * NULL: it is not readable, damaged, or too large.
 */
char *kallsyms_read(const char *path);

struct kallsyms_files {
	char **path;
	size_t nr;
};

/*
 * Finds the files in and below @dirs, and in the three directories above each,
 * because @dirs may be DIR/kernel or DIR/archives/CHUNK/kernel. False: out of memory.
 */
bool kallsyms_find(struct kallsyms_files *files, char *const *dirs, int nr_dirs);
void kallsyms_files_free(struct kallsyms_files *files);

#endif /* KUNWIND_TRACE_KALLSYMS_H */
