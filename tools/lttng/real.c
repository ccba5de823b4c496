// SPDX-License-Identifier: MIT
/*
 * real.c - find the real lttng in PATH and run it
 *
 * The real lttng is the first executable "lttng" in PATH after this program's
 * own place; if there is none, the first one before it. Files are compared by
 * device and inode, so links to this program do not count. Each front end adds
 * itself to a list in the environment and never runs a program on that list.
 * Otherwise two copies of the front end in PATH could run each other forever.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../read_all.h"
#include "real.h"

#define SEEN	"KUNWIND_LTTNG_SEEN"	/* " DEVICE:INODE ..." of the front ends that ran */

static char real[4096];
static char seen[512];

static bool is_seen(const struct stat *st)
{
	char name[64];

	snprintf(name, sizeof(name), " %llx:%llx ", (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino);
	return strstr(seen, name);
}

/*
 * Finds the first lttng in PATH that is not a front end in "seen"; with
 * @behind, only after the place of this program (@self). Sets "real".
 */
static bool search(const char *path, const struct stat *self, bool behind)
{
	bool passed = !behind;
	struct stat st;
	size_t len;

	for (;; path += len + 1) {
		len = strcspn(path, ":");
		snprintf(real, sizeof(real), "%.*s/lttng", len ? (int)len : 1, len ? path : ".");
		if (!stat(real, &st) && S_ISREG(st.st_mode) && !access(real, X_OK)) {
			if (st.st_dev == self->st_dev && st.st_ino == self->st_ino)
				passed = true;
			else if (passed && !is_seen(&st))
				return true;
		}
		if (!path[len])
			return false;
	}
}

void real_find(void)
{
	const char *path = getenv("PATH"), *before = getenv(SEEN);
	struct stat self;

	if (!path)
		path = "/usr/bin:/bin";
	if (!stat("/proc/self/exe", &self)) {
		snprintf(seen, sizeof(seen), "%s", before ? before : " ");
		if (!is_seen(&self))
			snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%llx:%llx ",
				 (unsigned long long)self.st_dev, (unsigned long long)self.st_ino);
		if (search(path, &self, true) || search(path, &self, false)) {
			setenv(SEEN, seen, 1);
			return;
		}
	}
	fputs("lttng: this is kunwind's front end, and there is no other lttng in PATH: "
	      "sudo apt install --no-install-recommends lttng-tools\n", stderr);
	exit(127);
}

void real_exec(char **argv)
{
	execv(real, argv);
	fprintf(stderr, "lttng: %s: %s\n", real, strerror(errno));
	exit(errno == ENOENT ? 127 : 126);
}

/*
 * While the child runs, this process ignores SIGINT and SIGQUIT, as system(3)
 * does: the child decides what Ctrl-C means. If SIGCHLD was ignored, waitpid(2)
 * would report no child.
 */
struct kept {
	struct sigaction interrupt, quit, child;
};

static void signals_leave(struct kept *kept)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };

	sigaction(SIGINT, &ignore, &kept->interrupt);
	sigaction(SIGQUIT, &ignore, &kept->quit);
	sigaction(SIGCHLD, &usual, &kept->child);
}

static void signals_take(const struct kept *kept)
{
	sigaction(SIGINT, &kept->interrupt, NULL);
	sigaction(SIGQUIT, &kept->quit, NULL);
	sigaction(SIGCHLD, &kept->child, NULL);
}

/* Returns the exit status. A signal that killed the child kills us, too. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int run(const char *file, bool by_path, char **argv, enum real_output output,
	       char *errors, size_t size)
{
	struct kept kept;
	int fd[2] = { -1, -1 }, status;
	pid_t pid;

	if (errors && pipe2(fd, O_CLOEXEC)) {
		perror("lttng: pipe");
		return 1;
	}
	fflush(NULL);
	signals_leave(&kept);
	pid = fork();
	if (pid < 0) {
		perror("lttng: fork");
		exit(1);
	}
	if (!pid) {
		int null = output == REAL_HIDDEN ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

		signals_take(&kept);
		if (null >= 0)
			dup2(null, 1);
		if (null >= 0 && !errors)
			dup2(null, 2);
		if (errors)
			dup2(fd[1], 2);
		if (by_path)
			execvp(file, argv);
		else
			execv(file, argv);
		fprintf(stderr, "lttng: %s: %s\n", file, strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (errors) {
		close(fd[1]);
		kunwind_read_all(fd[0], errors, size);
		close(fd[0]);
	}
	status = wait_for(pid);
	signals_take(&kept);
	return status;
}

int real_run(char **argv, enum real_output output, char *errors, size_t size)
{
	return run(real, false, argv, output, errors, size);
}

int real_run_other(char **argv)
{
	return run(argv[0], true, argv, REAL_HIDDEN, NULL, 0);
}
