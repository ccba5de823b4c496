// SPDX-License-Identifier: MIT
/*
 * run.c - kunwind run: registers this process, then becomes the command
 *
 * No fork: process id, terminal, signals and exit status are the command's by
 * nature. The library opens the device for the call only and close-on-exec, so
 * the command inherits nothing but the registration.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <kunwind.h>

#include "tool.h"

int kunwind_cmd_run(int argc, char **argv)
{
	unsigned int flags = KUNWIND_REGISTER_CHILDREN;
	int i = kunwind_tool_children(argc, argv, &flags, NULL), err;

	if (i < 0)
		return kunwind_tool_usage(TOOL_RUN_FAILED);
	if (i == argc) {
		kunwind_tool_error("no command given");
		return kunwind_tool_usage(TOOL_RUN_FAILED);
	}
	err = kunwind_register_self(flags);
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_RUN_FAILED;
	}
	execvp(argv[i], argv + i);
	err = errno;
	kunwind_tool_error("%s: %s", argv[i], strerror(err));
	return err == ENOENT ? TOOL_RUN_NOT_FOUND : TOOL_RUN_CANNOT;
}
