// SPDX-License-Identifier: MIT
/*
 * helper_split.c - libdw gets the .dwo file that the library has found
 *
 * libdw itself looks for the other part of a split unit, by opening paths, which
 * this process may not; and it has no call by which to hand the file over. So its
 * open(2) comes here, by the rule that a program's own function goes before that
 * of a shared object. While a file is being given, each path is that file; libdw
 * takes it only if the unit's id (DW_AT_dwo_id, DWARF 5 section 7.5.1.2) is in it.
 * At all other times open is what it always was.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper_split.h"

static int given = -1;

/* Declared here, for the header has others for other widths of a file's size. */
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
