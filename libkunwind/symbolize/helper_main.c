// SPDX-License-Identifier: MIT
/*
 * helper_main.c - kunwind-symbolize-helper: parses ELF files for the library
 *
 *   kunwind-symbolize-helper MEMORY-MB SECONDS    serves on descriptor 3
 *   kunwind-symbolize-helper --open               opens files for that, likewise
 *   kunwind-symbolize-helper --fetch KIND BUILD-ID
 *
 * libkunwind-symbolize starts it, not people. A question that takes more than
 * SECONDS of CPU time ends the process; the library then starts another one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "helper.h"

int main(int argc, char **argv)
{
	static char answer[WIRE_MAX];
	struct itimerval limit = { 0 };
	struct wire_request request;
	int fds[WIRE_FDS];
	const char *failed;

	if (argc == 4 && !strcmp(argv[1], "--fetch"))
		return kunwind_fetch(argv[2], argv[3]);
	if (argc == 2 && !strcmp(argv[1], "--open"))
		return kunwind_serve_files();
	if (argc != 3) {
		fprintf(stderr, "kunwind-symbolize-helper: is started by libkunwind-symbolize\n");
		return 1;
	}
	signal(SIGINT, SIG_IGN);	/* ^C is for the viewer, which closes the socket */
	kunwind_demangle_init();
	failed = kunwind_sandbox_enter((unsigned int)atoi(argv[1]));
	if (failed) {
		fprintf(stderr, "kunwind-symbolize-helper: cannot set %s\n", failed);
		return 1;
	}
	/* /dev/null: who reads the caller's standard error need not wait for a process that hangs */
	close(STDERR_FILENO);
	fcntl(STDIN_FILENO, F_DUPFD, STDERR_FILENO);
	for (;;) {
		ssize_t got = wire_receive(WIRE_SOCKET, &request, sizeof(request), fds);
		size_t len;

		if (got != sizeof(request))
			return got != 0;
		limit.it_value.tv_sec = atoi(argv[2]);
		setitimer(ITIMER_PROF, &limit, NULL);
		len = kunwind_serve(&request, fds, answer);
		if (!wire_send(WIRE_SOCKET, answer, len, NULL, 0))
			return 1;
	}
}
