// SPDX-License-Identifier: MIT
/*
 * exec_helper.c - subcommands that execute a program of their own
 *
 * These programs need libraries that kunwind(1) should not load. They are in
 * ../libexec/kunwind when installed, and beside this program in the build tree.
 * Their argv[0] is "kunwind COMMAND": getopt_long(3) prints it in messages, and
 * kunwind-analyze and kunwind-record find their subcommand by it.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tool.h"

#define LEAST_FILES	64

/*
 * Raises the limit of open files: to what is needed, or, with @most, as far as it may be, because
 * a reader opens a file for each stream. Returns false after a message.
 */
static bool allow_files(bool most)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return true;
	if (files.rlim_max < LEAST_FILES) {
		kunwind_tool_error("needs %d open files, and the limit is %llu: raise it (ulimit -n)",
				   LEAST_FILES, (unsigned long long)files.rlim_max);
		return false;
	}
	if (most)
		files.rlim_cur = files.rlim_max;
	else if (files.rlim_cur < LEAST_FILES)
		files.rlim_cur = LEAST_FILES;
	setrlimit(RLIMIT_NOFILE, &files);
	return true;
}

/* Executes @program. Returns only on failure, after a message: @failed. */
static int become(const char *program, char **argv, int failed)
{
	char path[4096] = "", name[64];

	snprintf(name, sizeof(name), "kunwind %s", kunwind_tool_name);
	argv[0] = name;
	/* what "record" runs inherits the limit */
	if (!allow_files(failed != TOOL_RUN_FAILED))
		return failed;
	if (access("/proc/self", F_OK)) {
		kunwind_tool_error(KUNWIND_NO_PROC);
		return failed;
	}
	if (kunwind_tool_helper(program, path, sizeof(path)))
		execv(path, argv);
	kunwind_tool_error("%s: %s (is kunwind installed as a whole?)", *path ? path : program,
			   strerror(errno));
	return failed;
}

int kunwind_cmd_show(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-show", argv, TOOL_FAILED);
}

int kunwind_cmd_crashes(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-show", argv, TOOL_FAILED);
}

int kunwind_cmd_stackwalk(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-stackwalk", argv, TOOL_FAILED);
}

int kunwind_cmd_symbolize(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-symbolize", argv, TOOL_FAILED);
}

int kunwind_cmd_record(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-record", argv, TOOL_RUN_FAILED);
}

int kunwind_cmd_snapshot(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-record", argv, TOOL_FAILED);
}

int kunwind_cmd_analyze(int argc, char **argv)
{
	(void)argc;
	return become("kunwind-analyze", argv, TOOL_FAILED);
}
