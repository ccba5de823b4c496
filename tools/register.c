// SPDX-License-Identifier: MIT
/*
 * register.c - kunwind register, kunwind unregister: running processes by pid
 *
 * /proc/PID/mem is opened here rather than by the library's
 * kunwind_register_pid(), for the coverage that only the call by descriptor
 * tells. All pids are tried; one that fails makes the status 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <kunwind.h>

#include "tool.h"

static int register_pid(int pid, unsigned int flags)
{
	unsigned int nr_maps, nr_ready;
	char path[32];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == EACCES || errno == EPERM ? -ESRCH : -errno;
	err = kunwind_register_fd(fd, flags, &nr_maps, &nr_ready);
	close(fd);
	if (!err)
		printf("%d\t%u\t%u\n", pid, nr_maps, nr_ready);
	return err;
}

static int for_each_pid(int argc, char **argv, int first, int (*act)(int, unsigned int),
			unsigned int flags)
{
	int status = TOOL_OK, i, err;
	struct kunwind_info info;

	if (first == argc) {
		kunwind_tool_error("no PID given");
		return kunwind_tool_usage(TOOL_FAILED);
	}
	for (i = first; i < argc; i++) {
		if (kunwind_tool_pid(argv[i]) < 0) {
			kunwind_tool_error("not a PID: %s", argv[i]);
			return kunwind_tool_usage(TOOL_FAILED);
		}
	}
	err = kunwind_info(&info);
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_FAILED;
	}
	for (i = first; i < argc; i++) {
		err = act(kunwind_tool_pid(argv[i]), flags);
		if (!err)
			continue;
		kunwind_tool_failure(argv[i], err);
		status = TOOL_FAILED;
	}
	return status;
}

int kunwind_cmd_register(int argc, char **argv)
{
	unsigned int flags = 0;
	int i = kunwind_tool_children(argc, argv, &flags);

	if (i < 0)
		return kunwind_tool_usage(TOOL_FAILED);
	return for_each_pid(argc, argv, i, register_pid, flags);
}

static int unregister_pid(int pid, unsigned int flags)
{
	(void)flags;
	return kunwind_unregister_pid(pid);
}

int kunwind_cmd_unregister(int argc, char **argv)
{
	int i = 1;

	if (i < argc && !strcmp(argv[i], "--")) {
		i++;
	} else if (i < argc && argv[i][0] == '-') {
		kunwind_tool_error("unknown option %s", argv[i]);
		return kunwind_tool_usage(TOOL_FAILED);
	}
	return for_each_pid(argc, argv, i, unregister_pid, 0);
}
