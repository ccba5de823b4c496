// SPDX-License-Identifier: MIT
/*
 * register.c - kunwind register, kunwind unregister: running processes by pid
 *
 * This file opens /proc/PID/mem itself, because only kunwind_register_fd(), and
 * not kunwind_register_pid(), reports how many mappings have a table. All pids
 * are tried; if one fails, the exit status is 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <kunwind.h>

#include "tool.h"

/* Executable mappings of a process, and how many of them have a table. */
struct outcome {
	unsigned int nr_maps, nr_ready;
};

/* One of the two commands. run() returns 0 or a negative errno. */
struct action {
	int (*run)(int pid, unsigned int flags, struct outcome *outcome);
	unsigned int flags;
	bool json, tells_maps;
};

static int register_pid(int pid, unsigned int flags, struct outcome *outcome)
{
	char path[32];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == EACCES || errno == EPERM ? -ESRCH : -errno;
	err = kunwind_register_fd(fd, flags, &outcome->nr_maps, &outcome->nr_ready);
	close(fd);
	return err;
}

static int unregister_pid(int pid, unsigned int flags, struct outcome *outcome)
{
	(void)flags, (void)outcome;
	return kunwind_unregister_pid(pid);
}

static void print_json(const struct action *action, int pid, const struct outcome *outcome, int err,
		       bool first)
{
	printf("%s\n  {\"pid\": %d, \"ok\": %s", first ? "[" : ",", pid, err ? "false" : "true");
	if (action->tells_maps && !err)
		printf(", \"maps\": %u, \"tables\": %u", outcome->nr_maps, outcome->nr_ready);
	if (err) {
		fputs(", \"error\": ", stdout);
		kunwind_tool_json_string(kunwind_tool_advice(err));
	}
	putchar('}');
}

static int for_each_pid(int argc, char **argv, int first, const struct action *action)
{
	int status = TOOL_OK, i, err;
	struct kunwind_info info;

	if (first == argc) {
		kunwind_tool_error("no PID given");
		return kunwind_tool_usage(TOOL_USAGE);
	}
	for (i = first; i < argc; i++) {
		if (kunwind_tool_pid(argv[i]) < 0) {
			kunwind_tool_error("not the number of a process: %s", argv[i]);
			return kunwind_tool_usage(TOOL_USAGE);
		}
	}
	err = kunwind_info(&info);
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_FAILED;
	}
	for (i = first; i < argc; i++) {
		int pid = kunwind_tool_pid(argv[i]);
		struct outcome outcome = { 0 };

		err = action->run(pid, action->flags, &outcome);
		if (action->json)
			print_json(action, pid, &outcome, err, i == first);
		else if (err)
			kunwind_tool_failure(argv[i], err);
		else if (action->tells_maps)
			printf("%d\t%u\t%u\n", pid, outcome.nr_maps, outcome.nr_ready);
		if (err)
			status = TOOL_FAILED;
	}
	if (action->json)
		puts("\n]");
	return status;
}

int kunwind_cmd_register(int argc, char **argv)
{
	struct action action = { .run = register_pid, .tells_maps = true };
	const struct tool_more json = { "-j", "--json", &action.json };
	int i = kunwind_tool_children(argc, argv, &action.flags, &json);

	if (i < 0)
		return kunwind_tool_usage(TOOL_USAGE);
	return for_each_pid(argc, argv, i, &action);
}

int kunwind_cmd_unregister(int argc, char **argv)
{
	struct action action = { .run = unregister_pid };
	int i = 1;

	if (i < argc && kunwind_tool_is(argv[i], "--json")) {
		action.json = true;
		i++;
	}
	if (i < argc && !strcmp(argv[i], "--")) {
		i++;
	} else if (i < argc && argv[i][0] == '-') {
		kunwind_tool_error("unknown option %s", argv[i]);
		return kunwind_tool_usage(TOOL_USAGE);
	}
	return for_each_pid(argc, argv, i, &action);
}
