// SPDX-License-Identifier: MIT
/*
 * left_over.c - ask kunwind-record for sessions that killed recorders have left
 *
 * Only that program uses liblttng-ctl. If it cannot run, no session is found.
 */
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "left_over.h"
#include "read_all.h"
#include "tool.h"

bool kunwind_left_over(char *fix, size_t size)
{
	extern char **environ;
	char path[4096], text[4096], *argv[] = { path, (char *)"--left-over", NULL };
	static const char next[] = "; sudo lttng destroy ";
	posix_spawn_file_actions_t actions;
	size_t used;
	char *line, *at = text;
	int fd[2], err;
	pid_t pid;

	*fix = '\0';
	if (!kunwind_tool_helper("kunwind-record", path, sizeof(path)) || pipe2(fd, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	kunwind_read_all(fd[0], text, sizeof(text));
	close(fd[0]);
	if (err)
		return false;
	waitpid(pid, NULL, 0);
	while ((line = strsep(&at, "\n"))) {
		line[strcspn(line, "\t")] = '\0';
		used = strlen(fix);
		if (*line && used + strlen(line) + sizeof(next) < size)
			sprintf(fix + used, "%s%s", next + (used ? 0 : 2), line);
	}
	return *fix;
}
