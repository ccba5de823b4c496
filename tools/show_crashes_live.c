// SPDX-License-Identifier: MIT
/*
 * show_crashes_live.c - print each deadly signal of the system when it occurs
 *
 * A flight recorder (kunwind-record) records only deadly signals, and takes a
 * snapshot of its small buffers at each. This program reads the snapshot, prints
 * the crashes that are later than those before, and removes it. The module
 * reports the mappings of a process before its crash, so that a snapshot is
 * complete. If many processes crash at once, one snapshot has several crashes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dir.h"
#include "show_crashes.h"
#include "tool.h"

#define LEVELS		8	/* of directories in a snapshot */
#define LEAST_KB	4032	/* of a processor: the least that --memory takes */
#define SYSTEM_WIDE	"/sys/module/kunwind/parameters/system_wide"

static void warn(void)
{
	FILE *f = fopen(SYSTEM_WIDE, "re");

	if (f && fgetc(f) == 'N')
		kunwind_tool_error("stacks of processes that are not registered are the kernel's guess: "
				   "sudo kunwind system-wide on");
	if (f)
		fclose(f);
}

/*
 * Runs the recorder with the signal mask @mask; returns its PID, and a stream of
 * its standard error. If this program is killed, the recorder ends, too.
 */
static pid_t begin(const char *dir, const sigset_t *mask, FILE **messages)
{
	/* the recorder's messages begin with this name */
	char path[4096], memory[32], name[] = "kunwind crashes";
	char *argv[] = { name, (char *)"--flight", (char *)"--json", (char *)"-a", (char *)"-e",
			 (char *)"kunwind_fatal_signal", (char *)"--trigger", (char *)"signal",
			 (char *)"--interval", (char *)"0", (char *)"--snapshots", (char *)"0",
			 (char *)"--memory", memory, (char *)"-o", (char *)dir, NULL };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const pid_t self = getpid();
	int fds[2];
	pid_t pid;

	snprintf(memory, sizeof(memory), "%ldK", LEAST_KB * (processors > 0 ? processors : 1));
	if (!kunwind_tool_helper("kunwind-record", path, sizeof(path))) {
		kunwind_tool_error("kunwind-record: %s (is kunwind installed as a whole?)", strerror(errno));
		return -1;
	}
	if (pipe2(fds, O_CLOEXEC)) {
		kunwind_tool_error("pipe: %s", strerror(errno));
		return -1;
	}
	pid = fork();
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, mask, NULL);
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != self)
			_exit(127);
		dup2(fds[1], STDERR_FILENO);
		execv(path, argv);
		_exit(127);
	}
	close(fds[1]);
	*messages = fdopen(fds[0], "r");
	if (pid < 0 || !*messages) {
		kunwind_tool_error("%s: %s", path, strerror(errno));
		return -1;
	}
	return pid;
}

static volatile sig_atomic_t recorder;

static void pass_on(int sig)
{
	(void)sig;
	if (recorder > 0)
		kill(recorder, SIGINT);
}

static void on_write_error(int sig)
{
	(void)sig;		/* write() returns an error, and this program then cleans up */
}

/*
 * Handles the signals that end this program, and blocks them until the recorder
 * runs. Signals that were ignored stay ignored, as SIGHUP under nohup(1). A
 * terminal sends Ctrl-C to the recorder, too; a second one does not change
 * anything there.
 */
static void take_signals(sigset_t *mask)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_write_error, .sa_flags = SA_RESTART }, old;
	sigset_t set;
	size_t i;

	sigaction(SIGPIPE, &action, NULL);
	action.sa_handler = pass_on;
	sigemptyset(&set);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sigaddset(&set, ends[i]);
		if (i < 2 || (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN))
			sigaction(ends[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &set, mask);
}

/*
 * Writes the name of the snapshot's directory that a message names. The recorder may be
 * writing the next one beside it.
 */
static bool snapshot_of(const char *message, char *base, size_t size)
{
	/* the rest of the message has the name of the process that crashed */
	const char *name = NULL, *next = message, *end = strstr(message, "\", \"why\": ");
	size_t length;

	while ((next = strstr(next, "/snapshot-")) && next < end)
		name = ++next;
	length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
	if (!length)
		return false;
	snprintf(base, size, "%.*s", (int)length, name);
	return true;
}

/* Handles the recorder's messages until it ends. Returns false after an error. */
static bool watch(struct kunwind_crashes *crashes, const struct kunwind_dir_temporary *dir,
		  FILE *messages)
{
	char base[256], path[PATH_MAX + 257], *paths[] = { path, NULL }, *line = NULL;
	size_t size = 0;
	bool ok = true;

	while (getline(&line, &size, messages) > 0) {
		if (!strncmp(line, "{\"flight\"", 9)) {
			kunwind_tool_error("waiting for crashes; Ctrl-C ends");
		} else if (*line != '{') {
			fputs(line, stderr);
		} else if (!strncmp(line, "{\"snapshot\"", 11) && ok &&
			   (!crashes->limit || crashes->found < crashes->limit) &&
			   snapshot_of(line, base, sizeof(base))) {
			snprintf(path, sizeof(path), "%s/%s", dir->path, base);
			ok = kunwind_crashes_read(crashes, paths, 1);
			kunwind_dir_remove(dir->fd, base, LEVELS);
			if (!ok || crashes->found == crashes->limit)
				pass_on(0);
		}
	}
	free(line);
	return ok;
}

int kunwind_crashes_live(struct kunwind_crashes *crashes)
{
	struct kunwind_dir_temporary dir;
	FILE *messages = NULL;
	sigset_t mask;
	int status = 0;
	bool ok;

	if (!kunwind_dir_temporary_make(&dir, "kunwind-crashes.")) {
		kunwind_tool_error("%s: %s", dir.path, strerror(errno));
		return TOOL_FAILED;
	}
	warn();
	take_signals(&mask);
	recorder = (sig_atomic_t)begin(dir.path, &mask, &messages);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	ok = recorder > 0 && watch(crashes, &dir, messages);
	if (recorder > 0)
		ok = waitpid(recorder, &status, 0) == recorder && ok && WIFEXITED(status) &&
		     !WEXITSTATUS(status);
	if (messages)
		fclose(messages);
	kunwind_dir_temporary_remove(&dir);
	return kunwind_tool_finish(ok || ferror(stdout) ? TOOL_OK : TOOL_FAILED);
}
