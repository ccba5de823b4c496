// SPDX-License-Identifier: MIT
/*
 * pager.c - show the output of a command in a pager, as git does
 *
 * The pager is $KUNWIND_PAGER, else $PAGER, else less if it is installed; an empty value or "cat"
 * means none. less gets the options FRX if LESS is not set: short output stays on the terminal,
 * and colours are shown. Standard error stays on the terminal.
 *
 * This process waits for the pager and for the command, because a shell would take back the
 * terminal if it ended first. Ctrl-C ends the command; the pager shows what there is.
 */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pager.h"
#include "tool.h"

/* Returns the shell command of the pager; NULL: none. */
static const char *pager_command(void)
{
	const char *term = getenv("TERM"), *pager = getenv("KUNWIND_PAGER");
	char path[PATH_MAX];

	if (!isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
		return NULL;
	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = kunwind_tool_which("less", path, sizeof(path)) ? "less" : "";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static pid_t start_pager(const char *pager, int in, int out)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(in, STDIN_FILENO);
	close(in);
	close(out);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(TOOL_RUN_NOT_FOUND);
}

/* Returns whether the shell could run the pager. */
static bool could_run(int status)
{
	return !WIFEXITED(status) || (WEXITSTATUS(status) != TOOL_RUN_CANNOT &&
				      WEXITSTATUS(status) != TOOL_RUN_NOT_FOUND);
}

/* Waits until both have ended. Returns the exit status of the command. */
static int wait_for(pid_t command, pid_t pager_pid, const char *pager)
{
	int status = 0, shown = 0;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	waitpid(command, &status, 0);
	waitpid(pager_pid, &shown, 0);
	if (!could_run(shown)) {
		kunwind_tool_error("the pager cannot run, so the output is lost: %s (KUNWIND_PAGER names "
				   "another one, --no-pager uses none)", pager);
		return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : TOOL_FAILED;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* the reader wants no more */
	return WTERMSIG(status) == SIGPIPE ? TOOL_OK : 128 + WTERMSIG(status);
}

int kunwind_pager(void)
{
	const char *pager = pager_command();
	pid_t command, pager_pid;
	int pipes[2];

	if (!pager || pipe(pipes))
		return -1;
	/* before standard output is the pipe */
	if (*kunwind_tool_colours(stdout).plain)
		setenv("KUNWIND_COLOR", "always", 1);
	fflush(stdout);
	pager_pid = start_pager(pager, pipes[0], pipes[1]);
	command = pager_pid > 0 ? fork() : -1;
	if (!command)
		dup2(pipes[1], STDOUT_FILENO);
	close(pipes[0]);
	close(pipes[1]);
	if (command > 0)
		return wait_for(command, pager_pid, pager);
	return -1;	/* also if fork() failed: without a pager, which ends */
}
