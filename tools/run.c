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
	int i, err;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		} else if (!strcmp(argv[i], "--children")) {
			flags |= KUNWIND_REGISTER_CHILDREN;
		} else if (!strcmp(argv[i], "--no-children")) {
			flags &= ~KUNWIND_REGISTER_CHILDREN;
		} else {
			kunwind_tool_error("unknown option %s", argv[i]);
			return kunwind_tool_usage(TOOL_RUN_FAILED);
		}
	}
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
