// SPDX-License-Identifier: MIT
/*
 * exec_show.c - kunwind show: becomes kunwind-show (see show_main.c)
 *
 * It lies beside this program in the build tree, in ../libexec/kunwind when
 * installed.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

int kunwind_cmd_show(int argc, char **argv)
{
	static const char *const place[] = { "../libexec/kunwind/kunwind-show", "kunwind-show" };
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *base;
	size_t i;

	(void)argc;
	if (n <= 0) {
		kunwind_tool_error("/proc/self/exe: %s", strerror(errno));
		return TOOL_FAILED;
	}
	path[n] = '\0';
	base = strrchr(path, '/') + 1;
	for (i = 0; i < 2; i++) {
		strcpy(base, place[i]);
		execv(path, argv);
		if (errno != ENOENT)
			break;
	}
	kunwind_tool_error("%s: %s", path, strerror(errno));
	return TOOL_FAILED;
}
