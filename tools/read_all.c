// SPDX-License-Identifier: MIT
/*
 * read_all.c - read what a child process writes
 */
#include <errno.h>
#include <stdbool.h>
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
