// SPDX-License-Identifier: MIT
/*
 * parse.c - run the helper's parser in this process, with sanitizers
 *
 *   parse FILE [DEBUG-FILE | '' [DWO-FILE | DWP-FILE]]
 *
 * Opens FILE and resolves the hexadecimal addresses of standard input. Prints
 * each address with the number of its functions, or "refused" if the parser
 * cannot open FILE. For any content of the files, the parser must not read
 * outside a buffer, must not have undefined behaviour, and must end.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helper.h"

#define WANTS	(UINT32_MAX - 1)

static char answer[WIRE_MAX];

static uint32_t ask(struct wire_request request, int fd, int other)
{
	int fds[WIRE_FDS] = { fd, other };
	struct wire_reply reply;

	kunwind_serve(&request, fds, answer);
	memcpy(&reply, answer, sizeof(reply));
	return reply.status == WIRE_OK ? reply.nr :
	       reply.status == WIRE_WANTS_SPLIT ? WANTS : UINT32_MAX;
}

/* Returns a memory file of 1 MB for one unit of a .dwp file; -1: an error. */
static int lend(void)
{
	int fd = memfd_create("dwo", MFD_CLOEXEC);

	return ftruncate(fd, 1 << 20) ? -1 : fd;
}

int main(int argc, char **argv)
{
	struct wire_request request = { .type = WIRE_IDENTIFY };
	uint64_t addr;
	uint32_t nr;

	if (argc < 2)
		return 1;
	kunwind_demangle_init();
	ask(request, open(argv[1], O_RDONLY), -1);
	request.type = WIRE_OPEN;
	if (ask(request, open(argv[1], O_RDONLY), argc > 2 && *argv[2] ? open(argv[2], O_RDONLY) : -1) ==
	    UINT32_MAX) {
		printf("refused\n");
		return 0;
	}
	request.flags = WIRE_EXACT;
	while (scanf("%" SCNx64, &request.address) == 1) {
		addr = request.address;
		request.type = WIRE_RESOLVE;
		nr = ask(request, -1, -1);
		if (nr == WANTS) {
			request.type = WIRE_SPLIT;
			ask(request, argc > 3 ? open(argv[3], O_RDONLY) : -1,
			    argc > 3 && strstr(argv[3], ".dwp") ? lend() : -1);
			request.type = WIRE_RESOLVE;
			nr = ask(request, -1, -1);
		}
		printf("0x%" PRIx64 " %" PRIu32 "\n", addr, nr);
	}
	request.type = WIRE_CLOSE;
	ask(request, -1, -1);
	return 0;
}
