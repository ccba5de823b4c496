// SPDX-License-Identifier: MIT
/*
 * opener-test.c - test which files the opener opens, and what it sends to the helper
 *
 * The process is the real one. Files of other users are tested only as root.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opener.h"

enum { ONE = 1, TWO = 2 };	/* users */

static struct kunwind_opener opener = { .time_limit_ms = 10000 };
static char dir[] = "/tmp/kunwind-opener-XXXXXX";
static int count, failed;

static void check(bool good, const char *name)
{
	printf("%sok %d - opener: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static const char *path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), *name == '/' ? "%.0s%s" : "%s/%s", dir, name);
	return path;
}

static void make(const char *name, const void *bytes, size_t len, mode_t mode, uid_t owner)
{
	const char *path = path_of(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || fchmod(fd, mode) ||
	    (owner && fchown(fd, owner, owner)))
		abort();
	close(fd);
}

static void make_elf(const char *name, unsigned char data, unsigned char low, unsigned char high, mode_t mode,
		     uid_t owner)
{
	unsigned char head[EI_NIDENT + 2] = ELFMAG;

	head[EI_DATA] = data;
	head[16] = low;
	head[17] = high;
	make(name, head, sizeof(head), mode, owner);
}

static struct wire_open request_for(const char *name, unsigned int flags, uint32_t owner, uint32_t other)
{
	struct wire_open request = { .type = WIRE_OPEN_FILE, .flags = flags, .slot = { 0, WIRE_NOBODY },
				     .owner = { owner, other } };

	snprintf(request.path, sizeof(request.path), "%s", path_of(name));
	return request;
}

static struct wire_opened opened;

static enum kunwind_opening try(const char *name, unsigned int flags, uint32_t owner, uint32_t other)
{
	const struct wire_open request = request_for(name, flags, owner, other);

	memset(&opened, 0xaa, sizeof(opened));
	return kunwind_opener_open(&opener, NULL, &request, &opened);
}

static bool holds(int fd, const char *text)
{
	char bytes[100] = "";

	return fd >= 0 && pread(fd, bytes, sizeof(bytes) - 1, 0) == (ssize_t)strlen(text) &&
	       !strcmp(bytes, text);
}

static void kinds(void)
{
	static const struct {
		const char *name;
		unsigned int flags;
		enum kunwind_opening wanted;
		const char *what;
	} cases[] = {
		{ "elf", WIRE_OPEN_ELF, KUNWIND_OPENING_OK, "an ELF file" },
		{ "text", WIRE_OPEN_ELF, KUNWIND_OPENING_REFUSED, "a text instead of an ELF file" },
		{ "script", WIRE_OPEN_ELF, KUNWIND_OPENING_REFUSED, "a longer text instead of an ELF file" },
		{ "text", 0, KUNWIND_OPENING_OK, "a text" },
		{ "core", WIRE_OPEN_ELF, KUNWIND_OPENING_REFUSED, "a core file instead of an object" },
		{ "big-core", WIRE_OPEN_ELF, KUNWIND_OPENING_REFUSED, "a big-endian core file" },
		{ "big", WIRE_OPEN_ELF, KUNWIND_OPENING_OK, "a big-endian ELF file" },
		{ "short", WIRE_OPEN_ELF, KUNWIND_OPENING_REFUSED, "an ELF file cut off in its type" },
		{ "absent", 0, KUNWIND_OPENING_ABSENT, "no such file" },
		{ "text/below", 0, KUNWIND_OPENING_ABSENT, "a path through a file" },
		{ ".", 0, KUNWIND_OPENING_REFUSED, "a directory" },
		{ "fifo", 0, KUNWIND_OPENING_REFUSED, "a FIFO" },
		{ "fifo", WIRE_OPEN_GIVEN, KUNWIND_OPENING_REFUSED, "a FIFO that the caller names" },
		{ "/dev/null", 0, KUNWIND_OPENING_REFUSED, "a device" },
		{ "link", 0, KUNWIND_OPENING_OK, "a symbolic link" },
		{ "link", WIRE_OPEN_NOFOLLOW, KUNWIND_OPENING_REFUSED, "a symbolic link, O_NOFOLLOW" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum kunwind_opening got = try(cases[i].name, cases[i].flags, WIRE_NOBODY, WIRE_NOBODY);

		if (got != cases[i].wanted)
			printf("# got %d, wanted %d\n", got, cases[i].wanted);
		check(got == cases[i].wanted, cases[i].what);
	}
}

static void owners(void)
{
	static const unsigned int elf = WIRE_OPEN_ELF | WIRE_OPEN_OWNED;
	static const struct {
		const char *name;
		unsigned int flags;
		uint32_t owner, other;
		enum kunwind_opening wanted;
		const char *what;
	} cases[] = {
		{ "of-one", elf, WIRE_NOBODY, WIRE_NOBODY, KUNWIND_OPENING_FOREIGN, "of another user" },
		{ "of-one", elf, TWO, TWO, KUNWIND_OPENING_FOREIGN, "of another user than those named" },
		{ "of-one", elf, ONE, WIRE_NOBODY, KUNWIND_OPENING_OK, "of the first user named" },
		{ "of-one", elf, TWO, ONE, KUNWIND_OPENING_OK, "of the second user named" },
		{ "of-one", WIRE_OPEN_ELF, WIRE_NOBODY, WIRE_NOBODY, KUNWIND_OPENING_OK,
		  "of any user, where the owner does not count" },
		{ "of-one", elf | WIRE_OPEN_GIVEN, WIRE_NOBODY, WIRE_NOBODY, KUNWIND_OPENING_OK,
		  "of any user, where the caller names the path" },
		{ "elf", elf, ONE, WIRE_NOBODY, KUNWIND_OPENING_OK, "of root, readable by all" },
		{ "private", elf, ONE, WIRE_NOBODY, KUNWIND_OPENING_FOREIGN, "of root, private" },
		{ "private", elf, 0, WIRE_NOBODY, KUNWIND_OPENING_OK, "the same, named by a file of root" },
		{ "private-text", WIRE_OPEN_OWNED, ONE, WIRE_NOBODY, KUNWIND_OPENING_OK,
		  "a text of root that others may not read" },
		{ "group", elf, ONE, WIRE_NOBODY, KUNWIND_OPENING_FOREIGN, "of root, readable by its group" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum kunwind_opening got;

		if (geteuid()) {
			printf("ok %d - opener: %s # SKIP not root\n", ++count, cases[i].what);
			continue;
		}
		got = try(cases[i].name, cases[i].flags, cases[i].owner, cases[i].other);
		if (got != cases[i].wanted)
			printf("# got %d, wanted %d\n", got, cases[i].wanted);
		check(got == cases[i].wanted, cases[i].what);
	}
	if (!geteuid()) {
		try("of-one", WIRE_OPEN_ELF, WIRE_NOBODY, WIRE_NOBODY);
		check(opened.owner == ONE, "the owner is reported");
	}
}

static void facts(void)
{
	struct timespec times[2] = { { 0, 0 }, { 5, 7 } };
	struct stat st;
	int fd;

	utimensat(AT_FDCWD, path_of("text"), times, 0);
	if (stat(path_of("text"), &st))
		abort();
	try("text", 0, WIRE_NOBODY, WIRE_NOBODY);
	check(opened.inode == st.st_ino && opened.size == 4 && opened.modified == 5000000007,
	      "inode, size and time of a file are reported");
	fd = kunwind_opener_copy(&opener, 0);
	check(holds(fd, "text") && !lseek(fd, 0, SEEK_CUR),
	      "a copy has the content, and begins at its start");
	close(fd);
	try("fifo", 0, WIRE_NOBODY, WIRE_NOBODY);
	check(kunwind_opener_copy(&opener, 0) == -1, "after a file that is refused, the slot is empty");
	try("text", 0, WIRE_NOBODY, WIRE_NOBODY);
	try("absent", 0, WIRE_NOBODY, WIRE_NOBODY);
	check(kunwind_opener_copy(&opener, 0) == -1, "the file that was in the slot before is closed");
	if (truncate(path_of("text"), (off_t)WIRE_COPY_MAX + 1))
		abort();
	check(try("text", 0, 0, 0) == KUNWIND_OPENING_OK && kunwind_opener_copy(&opener, 0) == -1,
	      "a file over the limit is not copied");
	if (truncate(path_of("text"), 4))
		abort();
}

/* Receives what the opener sends to a helper. */
static bool passed(int helper, uint32_t slot, uint32_t other, unsigned int flags, unsigned int generation,
		   int socket, int *fds)
{
	const struct wire_open request = { .type = WIRE_OPEN_PASS, .slot = { slot, other }, .flags = flags,
					   .pass = { WIRE_SPLIT, 77, 0, 0, 0x123456789ab } };
	struct wire_request got;

	fds[0] = fds[1] = -1;
	return kunwind_opener_pass(&opener, &request, socket, generation) &&
	       wire_receive(helper, &got, sizeof(got), fds) == sizeof(got) &&
	       !memcmp(&got, &request.pass, sizeof(got));
}

static void close_all(int *fds)
{
	int i;

	for (i = 0; i < WIRE_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static void passing(void)
{
	struct wire_open request = request_for("elf", 0, 0, 0);
	int first[2], second[2], fds[WIRE_FDS];
	struct stat st;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, first) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, second))
		abort();
	try("text", 0, WIRE_NOBODY, WIRE_NOBODY);
	request.slot[0] = 1;
	kunwind_opener_open(&opener, NULL, &request, &opened);
	check(passed(first[1], 0, WIRE_NOBODY, 0, 1, first[0], fds) && holds(fds[0], "text") && fds[1] < 0,
	      "a request goes to the helper with one file");
	close_all(fds);
	check(passed(first[1], 1, 0, 0, 1, first[0], fds) && !holds(fds[0], "text") && holds(fds[1], "text"),
	      "a request goes to the helper with two files, in their order");
	close_all(fds);
	check(passed(first[1], 0, WIRE_NOBODY, WIRE_OPEN_LEND, 1, first[0], fds) && holds(fds[0], "text") &&
	      !fstat(fds[1], &st) && st.st_size == 4 + 65536, "a memory file is lent, larger than the file");
	close_all(fds);
	check(passed(second[1], 0, WIRE_NOBODY, 0, 2, second[0], fds),
	      "the next request goes to a new helper");
	close_all(fds);
	check(!passed(second[1], 2, WIRE_NOBODY, 0, 2, second[0], fds),
	      "an empty slot: the request is not sent");
	check(!passed(second[1], 0, 2, 0, 2, second[0], fds),
	      "an empty second slot: the request is not sent");
	check(recv(second[1], fds, sizeof(fds), MSG_DONTWAIT) < 0, "an empty slot: the helper gets nothing");
	kill(opener.child.pid, SIGKILL);
	check(!passed(second[1], 0, WIRE_NOBODY, 0, 2, second[0], fds),
	      "an opener that died: the request is not sent");
	check(try("text", 0, WIRE_NOBODY, WIRE_NOBODY) == KUNWIND_OPENING_OK,
	      "the next file starts a new opener");
	check(passed(second[1], 0, WIRE_NOBODY, 0, 2, second[0], fds),
	      "the new opener gets the socket again");
	close_all(fds);
}

/* An opener that is stopped is like one in a file system that hangs. */
static void hanging(void)
{
	opener.time_limit_ms = 100;
	kill(opener.child.pid, SIGSTOP);
	check(try("text", 0, 0, 0) == KUNWIND_OPENING_HANGS, "a call that hangs ends after the limit");
	check(try("elf", 0, 0, 0) == KUNWIND_OPENING_HANGS,
	      "in the same directory, nothing is opened any more");
	check(try("/proc/self/maps", 0, 0, 0) == KUNWIND_OPENING_OK, "elsewhere, files are opened");
	opener.time_limit_ms = 10000;
}

static ssize_t read_of(const char *what, char *text, size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", opener.child.pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = read(fd, text, size);
	close(fd);
	return len;
}

int main(void)
{
	char text[10], command[100];

	if (!mkdtemp(dir))
		return 1;
	setenv("SECRET", "of the caller", 1);
	make_elf("elf", ELFDATA2LSB, ET_DYN, 0, 0644, 0);
	make_elf("core", ELFDATA2LSB, ET_CORE, 0, 0644, 0);
	make_elf("big", ELFDATA2MSB, 0, ET_DYN, 0644, 0);
	make_elf("big-core", ELFDATA2MSB, 0, ET_CORE, 0644, 0);
	make_elf("private", ELFDATA2LSB, ET_REL, 0, 0600, 0);
	make_elf("group", ELFDATA2LSB, ET_REL, 0, 0640, 0);
	make("short", ELFMAG "             ", EI_NIDENT + 1, 0644, 0);
	make("text", "text", 4, 0644, 0);
	make("script", "#!/bin/sh\nexec true\n", 20, 0755, 0);
	make("private-text", "text", 4, 0600, 0);
	if (!geteuid())
		make_elf("of-one", ELFDATA2LSB, ET_DYN, 0, 0644, ONE);
	if (mkfifo(path_of("fifo"), 0644) || symlink("elf", path_of("link")))
		return 1;
	kinds();
	check(read_of("environ", text, sizeof(text)) == 0, "the process has no environment");
	owners();
	facts();
	passing();
	hanging();
	kunwind_opener_free(&opener);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		return 1;
	printf("1..%d\n", count);
	return failed != 0;
}
