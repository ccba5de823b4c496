// SPDX-License-Identifier: MIT
/*
 * process.c - the helper process, from the library's side
 *
 * posix_spawn() starts it with one end of a socket pair, and no other
 * descriptor of the caller's except standard error. A question has a limit on
 * CPU time, which other jobs on the machine do not use up, and a far longer
 * limit on elapsed time, for a file on a file system that hangs. Beyond either,
 * the process is killed. This file checks the length of an answer; the readers
 * of the answer check the rest.
 *
 * The program is searched for in this order: the caller's option; the variable
 * KUNWIND_SYMBOLIZE_HELPER; beside the running program (a build tree), and in
 * ../libexec/kunwind from there; the same for the shared object that this is
 * part of (a plug-in's directory); where "make install" put it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#ifndef KUNWIND_LIBEXEC
#define KUNWIND_LIBEXEC	"/usr/local/libexec/kunwind"
#endif
#define PROGRAM		"kunwind-symbolize-helper"
#define CLOCK_FACTOR	10		/* limit on elapsed time / limit on CPU time */
#define FETCH_LIMIT_MS	(5 * 60 * 1000)
#define MAX_FAILED	3

extern char **environ;

static bool beside(char *path, size_t size, const char *file, const char *relative)
{
	const char *slash = strrchr(file, '/');

	return slash && snprintf(path, size, "%.*s/%s" PROGRAM, (int)(slash - file), file,
				 relative) < (int)size && !access(path, X_OK);
}

static bool find_program(const struct kunwind_helper *helper, char *path, size_t size)
{
	const char *given = helper->program ? helper->program :
					      secure_getenv("KUNWIND_SYMBOLIZE_HELPER");
	char exe[4096];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	static const char here;
	Dl_info self;

	if (given)
		return snprintf(path, size, "%s", given) < (int)size;
	exe[len > 0 ? len : 0] = '\0';
	if (beside(path, size, exe, "") || beside(path, size, exe, "../libexec/kunwind/"))
		return true;
	if (dladdr(&here, &self) && self.dli_fname &&
	    (beside(path, size, self.dli_fname, "") ||
	     beside(path, size, self.dli_fname, "../libexec/kunwind/")))
		return true;
	return snprintf(path, size, "%s", KUNWIND_LIBEXEC "/" PROGRAM) < (int)size;
}

static bool spawn(const struct kunwind_helper *helper, int fd, int as, char *const *args,
		  pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	char path[4200];
	bool ok = find_program(helper, path, sizeof(path));

	if (!ok || posix_spawn_file_actions_init(&actions))
		return false;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&actions);
		return false;
	}
	sigemptyset(&none);
	/* the helper gets no other descriptor except standard error */
	ok = !posix_spawn_file_actions_adddup2(&actions, fd, as) &&
	     !posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) &&
	     (as == STDOUT_FILENO || !posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
								       "/dev/null", O_WRONLY, 0)) &&
	     !posix_spawn_file_actions_addclosefrom_np(&actions, as > STDERR_FILENO ? as + 1 :
								 STDERR_FILENO + 1) &&
	     !posix_spawnattr_setsigmask(&attr, &none) &&
	     !posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK) &&
	     !posix_spawn(pid, path, &actions, &attr, args, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return ok;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void kunwind_helper_stop(struct kunwind_helper *helper)
{
	if (!helper->pid)
		return;
	close(helper->socket);
	kill(helper->pid, SIGKILL);	/* it has no state to save */
	reap(helper->pid);
	helper->pid = 0;
}

static bool start(struct kunwind_helper *helper)
{
	char memory[16], seconds[16];
	char *args[] = { PROGRAM, memory, seconds, NULL };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	/* dup2() to the same number does not clear close-on-exec */
	if (pair[1] == WIRE_SOCKET) {
		int other = fcntl(pair[1], F_DUPFD_CLOEXEC, WIRE_SOCKET + 1);

		close(pair[1]);
		pair[1] = other;
	}
	snprintf(memory, sizeof(memory), "%u", helper->memory_limit_mb);
	snprintf(seconds, sizeof(seconds), "%u", helper->time_limit_ms / 1000 + 1);
	if (pair[1] < 0 || !spawn(helper, pair[1], WIRE_SOCKET, args, &helper->pid)) {
		helper->pid = 0;
		close(pair[0]);
		close(pair[1]);
		return false;
	}
	close(pair[1]);
	helper->socket = pair[0];
	helper->generation++;
	helper->started++;
	return true;
}

static int64_t now_ms(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return -1;
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* False: too long. For a process that has died: true, and the read fails. */
static bool wait_answer(const struct kunwind_helper *helper)
{
	struct pollfd pollfd = { .fd = helper->socket, .events = POLLIN };
	int64_t limit = helper->time_limit_ms, since, cpu_since = -1, cpu;
	clockid_t clock;

	/* most answers come soon: no clock is read for them */
	if (poll(&pollfd, 1, 50) > 0)
		return true;
	since = now_ms(CLOCK_MONOTONIC);
	if (!clock_getcpuclockid(helper->pid, &clock))
		cpu_since = now_ms(clock);
	while (poll(&pollfd, 1, 50) <= 0) {
		cpu = cpu_since < 0 ? -1 : now_ms(clock);
		if (cpu >= 0 && cpu - cpu_since > limit)
			return false;
		if (now_ms(CLOCK_MONOTONIC) - since > limit * CLOCK_FACTOR)
			return false;
	}
	return true;
}

static void lose(struct kunwind_helper *helper)
{
	helper->lost++;
	kunwind_helper_stop(helper);
}

bool kunwind_helper_send(struct kunwind_helper *helper, const struct wire_request *request)
{
	if (helper->pid && wire_send(helper->socket, request, sizeof(*request), NULL, 0))
		return true;
	if (helper->pid)
		lose(helper);
	return false;
}

static enum kunwind_asked receive(struct kunwind_helper *helper, void *reply, size_t *len)
{
	ssize_t got;

	if (!wait_answer(helper)) {
		lose(helper);
		return KUNWIND_ASKED_SLOW;
	}
	got = wire_receive(helper->socket, reply, WIRE_MAX, NULL);
	if (got < (ssize_t)sizeof(struct wire_reply)) {
		lose(helper);
		return KUNWIND_ASKED_DIED;
	}
	*len = (size_t)got;
	return KUNWIND_ASKED;
}

bool kunwind_helper_receive(struct kunwind_helper *helper, void *reply, size_t *len)
{
	return helper->pid && receive(helper, reply, len) == KUNWIND_ASKED;
}

static enum kunwind_asked exchange(struct kunwind_helper *helper,
				   const struct wire_request *request, const int *fds,
				   unsigned int nr_fds, void *reply, size_t *len)
{
	if (wire_send(helper->socket, request, sizeof(*request), fds, nr_fds))
		return receive(helper, reply, len);
	lose(helper);
	return KUNWIND_ASKED_DIED;
}

bool kunwind_helper_lives(const struct kunwind_helper *helper, unsigned int generation)
{
	return helper->pid && helper->generation == generation;
}

static bool ensure(struct kunwind_helper *helper, void *reply)
{
	struct wire_request hello = { .type = WIRE_HELLO };
	size_t len;

	if (helper->pid)
		return true;
	if (helper->failed >= MAX_FAILED)
		return false;
	if (start(helper) && exchange(helper, &hello, NULL, 0, reply, &len) == KUNWIND_ASKED &&
	    ((struct wire_reply *)reply)->flags == WIRE_VERSION) {
		helper->failed = 0;
		return true;
	}
	kunwind_helper_stop(helper);
	helper->failed++;
	return false;
}

enum kunwind_asked kunwind_helper_ask(struct kunwind_helper *helper,
				      const struct wire_request *request, const int *fds,
				      unsigned int nr_fds, void *reply, size_t *len)
{
	if (!ensure(helper, reply))
		return KUNWIND_ASKED_NOBODY;
	return exchange(helper, request, fds, nr_fds, reply, len);
}

/* Reads a line. False: it took too long, or there was none. */
static bool read_line(int fd, char *line, size_t size)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int64_t since = now_ms(CLOCK_MONOTONIC);
	size_t at = 0;

	while (at + 1 < size) {
		int64_t left = FETCH_LIMIT_MS - (now_ms(CLOCK_MONOTONIC) - since);
		ssize_t got;

		if (left <= 0)
			return false;
		if (poll(&pollfd, 1, (int)left) <= 0)
			continue;
		got = read(fd, line + at, size - 1 - at);
		if (got <= 0)
			break;
		at += (size_t)got;
	}
	line[at] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return at > 0;
}

int kunwind_helper_fetch(struct kunwind_helper *helper, const char *kind, const char *build_id)
{
	char *args[] = { PROGRAM, "--fetch", (char *)kind, (char *)build_id, NULL };
	const char *urls = getenv("DEBUGINFOD_URLS");
	char path[4096];
	int pair[2], fd = -1;
	pid_t pid;

	if (!urls || !*urls || pipe2(pair, O_CLOEXEC))
		return -1;
	if (spawn(helper, pair[1], STDOUT_FILENO, args, &pid)) {
		close(pair[1]);
		if (read_line(pair[0], path, sizeof(path)) && *path == '/')
			fd = open(path, O_RDONLY | O_CLOEXEC);
		else
			kill(pid, SIGKILL);
		close(pair[0]);
		reap(pid);
		return fd;
	}
	close(pair[0]);
	close(pair[1]);
	return -1;
}
