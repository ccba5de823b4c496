// SPDX-License-Identifier: MIT
/*
 * spool.c - open the file of a dump, also one that comes through a pipe
 *
 * A dump is read here and there, so what comes through a pipe is copied to a file without a
 * name in $TMPDIR or /var/tmp. Blocks of zeros become holes: a core of a Go program is 1 GB,
 * almost all of it zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"
#include "tool.h"

#define BLOCK	65536

static int fail(const char *name)
{
	kunwind_tool_error("%s: %s", name, strerror(errno));
	return -1;
}

static int make_file(void)
{
	const char *dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		fd = dirs[i] ? open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Reads a block, unless the input ends before. Returns its length, or -1. */
static ssize_t read_block(int from, char *block)
{
	size_t len = 0;
	ssize_t got;

	while (len < BLOCK) {
		got = read(from, block + len, BLOCK - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		len += (size_t)got;
	}
	return (ssize_t)len;
}

static bool write_block(int to, const char *block, size_t len, off_t at)
{
	static const char zeros[BLOCK];
	ssize_t done;

	for (; len && memcmp(block, zeros, len); len -= (size_t)done, block += done, at += done) {
		done = pwrite(to, block, len, at);
		if (done <= 0)
			return false;
	}
	return true;
}

/* Copies a pipe. Takes over @from. */
static int copy(int from, const char *name)
{
	static char block[BLOCK];
	int to = make_file();
	off_t at = 0;
	ssize_t got;

	if (to < 0)
		return fail("a file in $TMPDIR or /var/tmp");
	while ((got = read_block(from, block)) > 0) {
		if (!write_block(to, block, (size_t)got, at)) {
			fail("a file in $TMPDIR or /var/tmp");
			close(to);
			return -1;
		}
		at += got;
	}
	if (got < 0 || ftruncate(to, at)) {
		fail(name);
		close(to);
		return -1;
	}
	close(from);
	return to;
}

int stackwalk_open(const char *name)
{
	const bool is_input = !strcmp(name, "-");
	int fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
			    open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (is_input)
		name = "standard input";
	if (fd < 0 || fstat(fd, &st))
		return fail(name);
	if (S_ISREG(st.st_mode))
		return fd;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return fail(name);
	}
	return copy(fd, name);
}
