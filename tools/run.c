// SPDX-License-Identifier: MIT
/*
 * run.c - kunwind run: register this process, then execute the command
 *
 * There is no fork, so the command has this process's id, terminal and signals,
 * and the caller gets its exit status. The library opens the device only for
 * the call, and with O_CLOEXEC, so the command inherits only the registration.
 *
 * With --ust, COMMAND's events of LTTng-UST get stacks. They need no module, so COMMAND also
 * runs if it cannot be registered because there is none, or because this user may not use it.
 *
 * A tool that begins to record at the first execve(2), as "perf record" does,
 * records this program, too, if it starts it. The program is short and linked
 * statically; "kunwind run -- perf record COMMAND" has nothing of it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <kunwind.h>

#include "tool.h"
#include "ust_environment.h"

int kunwind_cmd_run(int argc, char **argv)
{
	unsigned int flags = KUNWIND_REGISTER_CHILDREN;
	bool ust = false;
	const struct tool_more more = { "-U", "--ust", &ust };
	int i = kunwind_tool_children(argc, argv, &flags, &more), err;

	if (i < 0)
		return kunwind_tool_usage(TOOL_RUN_FAILED);
	if (i == argc) {
		kunwind_tool_error("no command given");
		return kunwind_tool_usage(TOOL_RUN_FAILED);
	}
	if (ust && !kunwind_ust_environment())
		return TOOL_RUN_FAILED;
	err = kunwind_register_self(flags);
	if (err && !(ust && (err == -ENODEV || err == -EACCES))) {
		kunwind_tool_failure(NULL, err);
		return TOOL_RUN_FAILED;
	}
	execvp(argv[i], argv + i);
	err = errno;
	kunwind_tool_error("%s: %s", argv[i], strerror(err));
	return err == ENOENT ? TOOL_RUN_NOT_FOUND : TOOL_RUN_CANNOT;
}
