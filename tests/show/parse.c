// SPDX-License-Identifier: MIT
/*
 * parse.c - the helper's parser in this process, under sanitizers
 *
 *   parse FILE [DEBUG-FILE]
 *
 * Opens the file and resolves the hexadecimal addresses of standard input;
 * prints how many functions each gave. What the file says does not matter: no
 * read beyond a buffer, no undefined behaviour, an end.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "helper.h"

static char answer[WIRE_MAX];

static uint32_t ask(struct wire_request request, int fd, int other)
{
	int fds[WIRE_FDS] = { fd, other };
	struct wire_reply reply;

	kunwind_serve(&request, fds, answer);
	memcpy(&reply, answer, sizeof(reply));
	return reply.status == WIRE_OK ? reply.nr : UINT32_MAX;
}

int main(int argc, char **argv)
{
	struct wire_request request = { .type = WIRE_IDENTIFY };
	uint64_t addr;

	if (argc < 2)
		return 1;
	kunwind_serve_init();
	ask(request, open(argv[1], O_RDONLY), -1);
	request.type = WIRE_OPEN;
	if (ask(request, open(argv[1], O_RDONLY), argc > 2 ? open(argv[2], O_RDONLY) : -1) ==
	    UINT32_MAX) {
		printf("refused\n");
		return 0;
	}
	request.type = WIRE_RESOLVE;
	request.flags = WIRE_EXACT;
	while (scanf("%" SCNx64, &request.address) == 1) {
		addr = request.address;
		printf("0x%" PRIx64 " %" PRIu32 "\n", addr, ask(request, -1, -1));
	}
	request.type = WIRE_CLOSE;
	ask(request, -1, -1);
	return 0;
}
