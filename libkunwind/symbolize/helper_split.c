// SPDX-License-Identifier: MIT
/*
 * helper_split.c - give libdw the .dwo file that the library has found
 *
 * libdw looks for the other part of a split unit by opening paths, which this
 * process may not do, and no function of libdw takes the file instead.
 * Therefore this file defines open(2): a program's own function is used instead
 * of that of a shared object. While a file is being given, every path opens
 * that file; libdw uses it only if it contains the unit's id (DW_AT_dwo_id,
 * DWARF 5 section 7.5.1.2). At all other times open() works as usual.
 *
 * If the directory in which the unit was compiled (DW_AT_comp_dir) is relative, libdw opens nothing
 * unless it knows the directory of the object. It asks realpath(3) for the path of the open file,
 * which has none for this process, so any path is the answer.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper_split.h"

static int given = -1;

/* Declared here, because <fcntl.h> has others for other file size widths. */
int kunwind_open(const char *path, int flags, ...);
int kunwind_open(const char *path, int flags, ...)
{
	unsigned int mode = 0;
	va_list args;

	if (given >= 0)
		return fcntl(given, F_DUPFD_CLOEXEC, 0);
	if (flags & (O_CREAT | __O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, unsigned int);
		va_end(args);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__asm__(".globl open, open64\n"
	".set open, kunwind_open\n"
	".set open64, kunwind_open\n"
	".type open, @function\n"
	".type open64, @function\n");

char *kunwind_realpath(const char *path, char *resolved);
char *kunwind_realpath(const char *path, char *resolved)
{
	static char *(*next)(const char *path, char *resolved);

	if (!resolved && !strncmp(path, "/proc/self/fd/", strlen("/proc/self/fd/")))
		return strdup("/object");
	if (!next)
		next = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");
	return next ? next(path, resolved) : NULL;
}

__asm__(".globl realpath\n"
	".set realpath, kunwind_realpath\n"
	".type realpath, @function\n");

bool kunwind_split_link(Dwarf_CU *skeleton, int fd, Dwarf_Die *die)
{
	int failed;

	given = fd;
	failed = dwarf_cu_info(skeleton, NULL, NULL, NULL, die, NULL, NULL, NULL);
	given = -1;
	return !failed && die->cu;
}
