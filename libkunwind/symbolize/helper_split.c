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
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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

bool kunwind_split_link(Dwarf_CU *skeleton, int fd, Dwarf_Die *die)
{
	int failed;

	given = fd;
	failed = dwarf_cu_info(skeleton, NULL, NULL, NULL, die, NULL, NULL, NULL);
	given = -1;
	return !failed && die->cu;
}
