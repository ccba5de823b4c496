// SPDX-License-Identifier: MIT
/*
 * rights.c - use /dev/kunwind with the permissions of the caller
 *
 *	rights loops N WIDTH	makes N children, WIDTH at a time, that register
 *				themselves, fork, exit; prints how many fail
 *	rights most N		makes up to N children that register themselves
 *				and wait, until one is refused; prints how many
 *				were not, and the errno
 *	rights vfork		registers by the descriptor of a vfork child's
 *				memory; prints which was registered, "child" or
 *				"parent"
 *	rights stale PROGRAM	registers by a descriptor that was opened before
 *				an exec of PROGRAM; prints the errno
 *	rights pid PID FLAGS	registers PID by descriptor; prints the errno
 *	rights system-wide FLAGS	prints the errno of KUNWIND_IOC_SYSTEM_WIDE
 *	rights sleep		registers itself, prints a line, and waits
 *
 * errno is printed by name, or "0" for success.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

static int device;

static int call(unsigned long number, void *argument)
{
	return ioctl(device, number, argument) ? errno : 0;
}

static int process_call(unsigned long number, int fd, unsigned int flags)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = fd, .flags = flags };

	return call(number, &process);
}

static int print_errno(int error)
{
	puts(error ? strerrorname_np(error) : "0");
	return 0;
}

static int mem_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int loops(int number, int width)
{
	int running = 0, refused = 0, status;

	while (number || running) {
		if (number && running < width) {
			pid_t pid = fork();

			if (pid < 0)
				err(2, "fork");
			if (!pid) {
				int error = process_call(KUNWIND_IOC_REGISTER, -1,
							 KUNWIND_REGISTER_CHILDREN);

				if (!fork())
					_exit(0);
				_exit(error == ENOSPC ? 1 : error ? 2 : 0);
			}
			number--;
			running++;
			continue;
		}
		if (wait(&status) < 0)
			err(2, "wait");
		running--;
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			errx(2, "a child ended with %#x", status);
		refused += WEXITSTATUS(status);
	}
	printf("%d\n", refused);
	return 0;
}

static int most(int limit)
{
	int ends[2], answers[2], done, error = 0;

	if (pipe(ends) || pipe(answers))
		err(2, "pipe");
	for (done = 0; done < limit && !error; done += !error) {
		if (!fork()) {
			char byte;

			close(ends[1]);
			error = process_call(KUNWIND_IOC_REGISTER, -1, 0);
			if (write(answers[1], &error, sizeof(error)) != sizeof(error))
				_exit(2);
			_exit((int)read(ends[0], &byte, 1));
		}
		if (read(answers[0], &error, sizeof(error)) != sizeof(error))
			err(2, "read");
	}
	printf("%d %s\n", done, error ? strerrorname_np(error) : "0");
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* If the child can unregister itself, it was the registered process. */
static int vfork_child(void *data)
{
	int fd = mem_of(getpid()), error;
	int *found = data;

	error = process_call(KUNWIND_IOC_REGISTER, fd, 0);
	*found = error ? -error : process_call(KUNWIND_IOC_UNREGISTER, -1, 0);
	_exit(0);
}

static int which(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int child = -1, parent, status;
	pid_t pid;

	pid = clone(vfork_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		err(2, "clone");
	parent = process_call(KUNWIND_IOC_UNREGISTER, -1, 0);
	if (child == 0 && parent == ENOENT)
		puts("child");
	else if (child == ENOENT && parent == 0)
		puts("parent");
	else
		printf("child %d, parent %d\n", child, parent);
	return 0;
}

static int stale(char **argv)
{
	int ends[2], done[2], fd, error;
	char byte;
	pid_t pid;

	/* The exec closes the second pipe. */
	if (pipe(ends) || pipe2(done, O_CLOEXEC))
		err(2, "pipe");
	pid = fork();
	if (!pid) {
		if (read(ends[0], &byte, 1) != 1)
			_exit(2);
		execv(argv[0], argv);
		_exit(127);
	}
	close(done[1]);
	fd = mem_of(pid);
	if (fd < 0)
		err(2, "open");
	error = process_call(KUNWIND_IOC_REGISTER, fd, 0);
	if (error)
		errx(2, "before the exec: %s", strerror(error));
	if (write(ends[1], "", 1) != 1)
		err(2, "write");
	if (read(done[0], &byte, 1))
		err(2, "it did not exec");
	print_errno(process_call(KUNWIND_IOC_REGISTER, fd, 0));
	kill(pid, SIGKILL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		err(2, KUNWIND_DEVICE);
	if (!strcmp(mode, "loops") && argc > 3)
		return loops(atoi(argv[2]), atoi(argv[3]));
	if (!strcmp(mode, "most") && argc > 2)
		return most(atoi(argv[2]));
	if (!strcmp(mode, "vfork"))
		return which();
	if (!strcmp(mode, "stale") && argc > 2)
		return stale(argv + 2);
	if (!strcmp(mode, "pid") && argc > 3) {
		int fd = mem_of(atoi(argv[2]));

		return print_errno(fd < 0 ? errno :
				   process_call(KUNWIND_IOC_REGISTER, fd, atoi(argv[3])));
	}
	if (!strcmp(mode, "system-wide") && argc > 2) {
		struct kunwind_system_wide request = {
			.size = sizeof(request), .flags = atoi(argv[2]),
		};

		return print_errno(call(KUNWIND_IOC_SYSTEM_WIDE, &request));
	}
	if (!strcmp(mode, "sleep")) {
		if (process_call(KUNWIND_IOC_REGISTER, -1, 0))
			return 3;
		puts("registered");
		fflush(stdout);
		pause();
	}
	return 2;
}
