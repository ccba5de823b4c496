// SPDX-License-Identifier: MIT
/*
 * opener.c - the process that opens files for the library, from the library's side
 *
 * A path of a trace or of an ELF file may lead into a file system that does not
 * answer: a FUSE file system whose server is stopped, a network file system. A
 * process cannot be killed then, so the library lets another process make each
 * system call on such a path (helper_open.c), and goes on without it after the
 * limit. It opens nothing more below that mount point. After several such mount
 * points it opens nothing more at all: a path may lead anywhere by symbolic links.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opener.h"

#define NR_HUNG		(sizeof(((struct kunwind_opener *)NULL)->hung) / sizeof(char *))
#define MAX_FAILED	3

static void forget(struct kunwind_opener *opener, size_t slot)
{
	free(opener->open[slot]);
	opener->open[slot] = NULL;
}

static void stop(struct kunwind_opener *opener)
{
	size_t i;

	kunwind_child_stop(&opener->child);
	opener->generation = 0;
	for (i = 0; i < WIRE_SLOTS; i++)
		forget(opener, i);
}

void kunwind_opener_free(struct kunwind_opener *opener)
{
	stop(opener);
	while (opener->nr_hung)
		free(opener->hung[--opener->nr_hung]);
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (path[len] == '/' || !path[len]);
}

static bool is_hung(const struct kunwind_opener *opener, const char *path)
{
	unsigned int i;

	for (i = 0; i < opener->nr_hung; i++) {
		if (opener->hung[i] && is_below(path, opener->hung[i]))
			return true;
	}
	return opener->nr_hung == NR_HUNG;
}

/* Decodes "\040" for a blank in place, as mountinfo has it. */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned int byte;

		if (*text == '\\' && sscanf(text + 1, "%3o", &byte) == 1) {
			*to++ = (char)byte;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/*
 * Returns the mount point that the text of @path is below, or else its directory.
 * The mounts of other namespaces, below /proc/PID/root, are not listed.
 */
static char *mount_point(const char *path)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	const char *slash = strrchr(path, '/');
	char *line = NULL, *best = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		char *dir = NULL;

		if (sscanf(line, "%*s %*s %*s %*s %ms", &dir) != 1)
			continue;
		decode(dir);
		if (is_below(path, dir) && strcmp(dir, "/proc") &&
		    (!best || strlen(dir) >= strlen(best))) {
			free(best);
			best = dir;
		} else {
			free(dir);
		}
	}
	free(line);
	if (f)
		fclose(f);
	return best || !slash || slash == path ? best : strndup(path, (size_t)(slash - path));
}

void kunwind_opener_hangs(struct kunwind_opener *opener, const char *path)
{
	if (opener->nr_hung < NR_HUNG && !is_hung(opener, path))
		opener->hung[opener->nr_hung++] = mount_point(path);
}

static enum kunwind_opening lose(struct kunwind_opener *opener)
{
	stop(opener);
	return KUNWIND_OPENING_REFUSED;
}

/* @fd: in, to send, -1: none. @received: NULL, or out: a descriptor, -1: none. */
static enum kunwind_opening ask(struct kunwind_opener *opener, const struct wire_open *request, int fd,
				struct wire_opened *opened, int *received)
{
	size_t len = offsetof(struct wire_open, path) + strnlen(request->path, WIRE_PATH - 1);
	int fds[WIRE_FDS] = { -1, -1 };
	enum kunwind_waited waited;
	ssize_t got;

	opened->status = WIRE_OPEN_REFUSED;
	if (!wire_send(opener->child.socket, request, len, &fd, fd >= 0))
		return lose(opener);
	waited = kunwind_child_wait(&opener->child, opener->time_limit_ms);
	if (waited != KUNWIND_WAITED) {
		lose(opener);
		return KUNWIND_OPENING_HANGS;
	}
	got = wire_receive(opener->child.socket, opened, sizeof(*opened), received ? fds : NULL);
	if (fds[1] >= 0)
		close(fds[1]);
	if (received)
		*received = fds[0];
	if (got != sizeof(*opened)) {
		opened->status = WIRE_OPEN_REFUSED;
		return lose(opener);
	}
	switch (opened->status) {
	case WIRE_OPEN_OK:
		return KUNWIND_OPENING_OK;
	case WIRE_OPEN_ABSENT:
		return KUNWIND_OPENING_ABSENT;
	case WIRE_OPEN_FOREIGN:
		return KUNWIND_OPENING_FOREIGN;
	default:
		return KUNWIND_OPENING_REFUSED;
	}
}

static bool start(struct kunwind_opener *opener, const char *program)
{
	/* an installed one may be older, and not know this option */
	const struct kunwind_program programs = { .given = program, .installed = !opener->failed };
	char *args[] = { "kunwind-symbolize-helper", "--open", NULL };

	if (opener->child.pid)
		return true;
	if (opener->failed < MAX_FAILED && kunwind_child_start(&opener->child, &programs, args))
		return true;
	opener->failed++;
	return false;
}

/* Closes the file in a slot, which can hang like any other call. */
static void close_slot(struct kunwind_opener *opener, uint32_t slot)
{
	struct wire_open request = { .type = WIRE_OPEN_CLOSE, .slot = { slot, WIRE_NOBODY } };
	struct wire_opened opened;
	char *path = opener->open[slot];

	opener->open[slot] = NULL;
	if (path && ask(opener, &request, -1, &opened, NULL) == KUNWIND_OPENING_HANGS)
		kunwind_opener_hangs(opener, path);
	free(path);
}

enum kunwind_opening kunwind_opener_open(struct kunwind_opener *opener, const char *program,
					 const struct wire_open *request, struct wire_opened *opened)
{
	enum kunwind_opening opening;

	close_slot(opener, request->slot[0]);
	if (request->type == WIRE_OPEN_FILE && is_hung(opener, request->path))
		return KUNWIND_OPENING_HANGS;
	while (start(opener, program)) {
		opening = ask(opener, request, -1, opened, NULL);
		if (opening == KUNWIND_OPENING_HANGS) {
			kunwind_opener_hangs(opener, request->path);
			return opening;
		}
		if (opener->child.pid) {
			opener->failed = 0;
			if (opening == KUNWIND_OPENING_OK)
				opener->open[request->slot[0]] = strdup(request->path);
			return opening;
		}
		opener->failed++;	/* a program that is no opener ends at once */
	}
	return KUNWIND_OPENING_NOBODY;
}

int kunwind_opener_copy(struct kunwind_opener *opener, uint32_t slot)
{
	struct wire_open request = { .type = WIRE_OPEN_COPY, .slot = { slot, WIRE_NOBODY } };
	struct wire_opened opened;
	int fd = -1;

	if (!opener->child.pid || ask(opener, &request, -1, &opened, &fd) == KUNWIND_OPENING_OK)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool kunwind_opener_pass(struct kunwind_opener *opener, const struct wire_open *request, int socket,
			 unsigned int generation)
{
	struct wire_open give = { .type = WIRE_OPEN_SOCKET, .slot = { WIRE_NOBODY, WIRE_NOBODY } };
	struct wire_opened opened;

	if (!opener->child.pid)
		return false;
	if (opener->generation != generation) {
		if (ask(opener, &give, socket, &opened, NULL) != KUNWIND_OPENING_OK)
			return false;
		opener->generation = generation;
	}
	return ask(opener, request, -1, &opened, NULL) == KUNWIND_OPENING_OK;
}
