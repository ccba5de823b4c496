// SPDX-License-Identifier: MIT
/*
 * child.c - a process of the helper program: start it, wait for its answer, end it
 *
 * posix_spawn() starts it with one end of a socket pair, no environment, and no
 * other descriptor of the caller's except standard error. An answer has a limit
 * on processor time, which other jobs on the machine do not use up, and a far
 * longer limit on elapsed time. A process that is blocked and uses no processor
 * time at all for as long as the first limit waits for a file system that hangs.
 * Beyond a limit, the caller kills the process. A process inside such a file
 * system dies only when the file system answers, so nothing waits for its end.
 *
 * The program is searched for in this order: the caller's option; the variable
 * KUNWIND_SYMBOLIZE_HELPER; beside the running program (a build tree), and in
 * ../libexec/kunwind from there; the same for the shared object that this is
 * part of (a plug-in's directory); where "make install" put it. The option and the
 * variable are for the parser. A process that opens files is only that program if no
 * other one is found.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "wire.h"

#ifndef KUNWIND_LIBEXEC
#define KUNWIND_LIBEXEC	"/usr/local/libexec/kunwind"
#endif
#define PROGRAM		"kunwind-symbolize-helper"
#define CLOCK_FACTOR	10		/* limit on elapsed time / limit on processor time */
#define LEAST_HANG_MS	1000
#define END_MS		1000		/* wait at most so long for the end of a killed process */
#define NSEC		1000000000

extern char **environ;

/* Not access(): it asks for the real user, and the effective one runs the program. */
static bool can_run(const char *path)
{
	return !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
}

static bool beside(char *path, size_t size, const char *file, const char *relative)
{
	const char *slash = strrchr(file, '/');

	return slash && snprintf(path, size, "%.*s/%s" PROGRAM, (int)(slash - file), file,
				 relative) < (int)size && can_run(path);
}

/* False: it is not installed. */
static bool find_installed(char *path, size_t size)
{
	char exe[4096];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	static const char here;
	Dl_info self;

	exe[len > 0 ? len : 0] = '\0';
	if (beside(path, size, exe, "") || beside(path, size, exe, "../libexec/kunwind/"))
		return true;
	if (dladdr(&here, &self) && self.dli_fname &&
	    (beside(path, size, self.dli_fname, "") ||
	     beside(path, size, self.dli_fname, "../libexec/kunwind/")))
		return true;
	return snprintf(path, size, "%s", KUNWIND_LIBEXEC "/" PROGRAM) < (int)size && can_run(path);
}

static bool find_program(const struct kunwind_program *program, char *path, size_t size)
{
	const char *given = program->given ? program->given : secure_getenv("KUNWIND_SYMBOLIZE_HELPER");

	if (given && !(program->installed && find_installed(path, size)))
		return snprintf(path, size, "%s", given) < (int)size;
	return given || find_installed(path, size);
}

static bool spawn(const struct kunwind_program *program, int fd, int as, char *const *args, char *const *env,
		  pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	char path[4200];
	bool ok = find_program(program, path, sizeof(path));

	if (!ok || posix_spawn_file_actions_init(&actions))
		return false;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&actions);
		return false;
	}
	sigemptyset(&none);
	/* the process gets no other descriptor except standard error */
	ok = !posix_spawn_file_actions_adddup2(&actions, fd, as) &&
	     !posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) &&
	     (as == STDOUT_FILENO || !posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
								       "/dev/null", O_WRONLY, 0)) &&
	     !posix_spawn_file_actions_addclosefrom_np(&actions, as > STDERR_FILENO ? as + 1 :
								 STDERR_FILENO + 1) &&
	     !posix_spawnattr_setsigmask(&attr, &none) &&
	     !posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK) &&
	     !posix_spawn(pid, path, &actions, &attr, args, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return ok;
}

bool kunwind_child_start(struct kunwind_child *child, const struct kunwind_program *program,
			 char *const *args)
{
	char *nothing[] = { NULL };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	/* dup2() to the same number does not clear close-on-exec */
	if (pair[1] == WIRE_SOCKET) {
		int other = fcntl(pair[1], F_DUPFD_CLOEXEC, WIRE_SOCKET + 1);

		close(pair[1]);
		pair[1] = other;
	}
	if (pair[1] < 0 || !spawn(program, pair[1], WIRE_SOCKET, args, nothing, &child->pid)) {
		child->pid = 0;
		close(pair[0]);
		close(pair[1]);
		return false;
	}
	close(pair[1]);
	child->socket = pair[0];
	return true;
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return -1;
	return (int64_t)ts.tv_sec * NSEC + ts.tv_nsec;
}

static int64_t now_ms(void)
{
	return now_ns(CLOCK_MONOTONIC) / 1000000;
}

static void end(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int64_t since = now_ms();

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) == 0 && now_ms() - since < END_MS)
		nanosleep(&pause, NULL);
}

void kunwind_child_stop(struct kunwind_child *child)
{
	if (!child->pid)
		return;
	close(child->socket);
	end(child->pid);	/* it has no state to save */
	child->pid = 0;
}

/* Is the process blocked? One that waits for a processor is not. */
static bool is_blocked(pid_t pid)
{
	char path[32], line[256];
	const char *state = NULL;
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, line, sizeof(line) - 1);
		close(fd);
	}
	if (len > 0) {
		line[len] = '\0';
		state = strrchr(line, ')');
	}
	return !state || state[1] != ' ' || state[2] != 'R';
}

enum kunwind_waited kunwind_child_wait(const struct kunwind_child *child, unsigned int limit_ms)
{
	struct pollfd pollfd = { .fd = child->socket, .events = POLLIN };
	int64_t limit = limit_ms, hang = limit > LEAST_HANG_MS ? limit : LEAST_HANG_MS;
	int64_t since, progress, now, cpu_since = -1, cpu_last = -1, cpu;
	clockid_t clock;

	/* most answers come soon: no clock is read for them */
	if (poll(&pollfd, 1, 50) > 0)
		return KUNWIND_WAITED;
	since = progress = now_ms();
	if (!clock_getcpuclockid(child->pid, &clock))
		cpu_since = cpu_last = now_ns(clock);
	while (poll(&pollfd, 1, 50) <= 0) {
		cpu = cpu_since < 0 ? -1 : now_ns(clock);
		now = now_ms();
		if (cpu != cpu_last)
			progress = now;
		cpu_last = cpu;
		if (cpu >= 0 && (cpu - cpu_since) / 1000000 > limit)
			return KUNWIND_WAITED_SLOW;
		if (now - since > limit * CLOCK_FACTOR && now - since > hang)
			return KUNWIND_WAITED_SLOW;
		if (now - progress > hang && is_blocked(child->pid))
			return KUNWIND_WAITED_HANGS;
	}
	return KUNWIND_WAITED;
}

/* Reads a line. False: it took too long, or there was none. */
static bool read_line(int fd, int limit_ms, char *line, size_t size)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int64_t since = now_ms();
	size_t at = 0;

	while (at + 1 < size) {
		int64_t left = limit_ms - (now_ms() - since);
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

/* Does libdebuginfod, or libcurl for it, use the variable? */
static bool is_for_servers(const char *variable)
{
	static const char *const names[] = { "HOME=", "XDG_CACHE_HOME=", "TMPDIR=", "SSL_CERT_FILE=",
		"SSL_CERT_DIR=", "CURL_CA_BUNDLE=", "http_proxy=", "https_proxy=", "HTTPS_PROXY=",
		"all_proxy=", "ALL_PROXY=", "no_proxy=", "NO_PROXY=", "DEBUGINFOD_" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

bool kunwind_child_run(const struct kunwind_program *program, char *const *args, int limit_ms, char *line,
		       size_t size)
{
	char *env[64];
	size_t i, nr = 0;
	bool got = false;
	int pair[2];
	pid_t pid;

	for (i = 0; environ && environ[i] && nr + 1 < sizeof(env) / sizeof(*env); i++) {
		if (is_for_servers(environ[i]))
			env[nr++] = environ[i];
	}
	env[nr] = NULL;
	if (pipe2(pair, O_CLOEXEC))
		return false;
	if (spawn(program, pair[1], STDOUT_FILENO, args, env, &pid)) {
		close(pair[1]);
		pair[1] = -1;
		got = read_line(pair[0], limit_ms, line, size);
		end(pid);
	}
	close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
	return got;
}
