// SPDX-License-Identifier: MIT
/*
 * read_all.c - read what a child process writes
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "read_all.h"

void kunwind_read_all(int fd, char *text, size_t size)
{
	char rest[1024];
	size_t used = 0;
	ssize_t n;

	for (;;) {
		bool room = used + 1 < size;

		n = room ? read(fd, text + used, size - 1 - used) : read(fd, rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (room)
			used += (size_t)n;
	}
	text[used] = '\0';
}

int kunwind_read_output(const char *path, char *const *argv, char *text, size_t size)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	int fd[2], status = -1, err;
	pid_t pid;

	*text = '\0';
	if (pipe2(fd, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	kunwind_read_all(fd[0], text, size);
	close(fd[0]);
	if (err)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
