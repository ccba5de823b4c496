// SPDX-License-Identifier: MIT
/*
 * helper_open.c - kunwind-symbolize-helper --open: opens files for the library
 *
 * Paths come from traces and from ELF files, which may be hostile, and the
 * program that reads them may run as root. May a file be believed? This file
 * answers for all of them: separate debug information, lists of JIT compilers'
 * functions, saved kernel symbols. The file must be a regular file, and belong to
 * root, to the caller, or to a user that the request names: the owner of what
 * names the file. If an ELF file is wanted, it must be one, and no core file; and if
 * its owner does not let others read it, only a file of that owner may name it.
 *
 * On a FUSE file system, the user who mounted it decides what the owner of a file
 * is, and when a system call returns. So there, that user counts as the owner.
 *
 * This process has the rights of the caller, reads some bytes of a file, and
 * parses none. A call may hang in a file system; the library then starts another
 * opener.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "helper.h"
#include "open.h"

#define NSEC	1000000000

static int slots[WIRE_SLOTS] = { -1, -1, -1 };
static int helper = -1;		/* the library's end of its socket */

/* Returns the number of the mount that @fd is on; -1: not known. */
static int mount_of(int fd)
{
	char path[40], line[128];
	int number = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && number < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "mnt_id: %d", &number) != 1)
			number = -1;
	}
	if (f)
		fclose(f);
	return number;
}

/*
 * Sets @owner to the user who mounted a FUSE file system, of which @at is the end of
 * the line in mountinfo: "TYPE SOURCE OPTIONS". A driver of the kernel that uses
 * FUSE (virtiofs) names no user. SOURCE is any text of that user's without blanks.
 */
static void read_user(const char *at, uint32_t *owner)
{
	if (strncmp(at, "fuse", 4))
		return;
	at = strchr(at, ' ');
	at = at ? strchr(at + 1, ' ') : NULL;
	at = at ? strstr(at, ",user_id=") : NULL;
	if (at)
		sscanf(at, ",user_id=%u", owner);
}

/*
 * Sets @owner to the user who mounted the FUSE file system of @fd. False: the mount
 * is of another mount namespace, so nothing is known of it.
 */
static bool read_mounter(int fd, uint32_t *owner)
{
	int wanted = mount_of(fd), number;
	char *line = NULL, *end;
	bool found = false;
	size_t size = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f && !found && getline(&line, &size, f) > 0) {
		end = strstr(line, " - ");
		found = end && sscanf(line, "%d", &number) == 1 && number == wanted;
		if (found)
			read_user(end + 3, owner);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool is_named(const struct wire_open *request, uint32_t user)
{
	return user != WIRE_NOBODY && (user == request->owner[0] || user == request->owner[1]);
}

static bool is_believed(const struct wire_open *request, uint32_t user)
{
	return !user || user == geteuid() || is_named(request, user);
}

/* Sets opened->owner. False: the file may not be believed. */
static bool check_owner(const struct wire_open *request, int handle, const struct stat *st,
			struct wire_opened *opened)
{
	struct statfs fs;

	opened->owner = st->st_uid;
	if (request->flags & WIRE_OPEN_GIVEN)
		return true;
	if (fstatfs(handle, &fs))
		return false;
	if (fs.f_type == FUSE_SUPER_MAGIC &&
	    (!read_mounter(handle, &opened->owner) || !is_believed(request, opened->owner)))
		return false;
	if (!(request->flags & WIRE_OPEN_OWNED))
		return true;
	return is_believed(request, opened->owner) &&
	       (!(request->flags & WIRE_OPEN_ELF) || st->st_mode & S_IROTH ||
		is_named(request, opened->owner));
}

static bool is_elf(int fd)
{
	unsigned char head[18];		/* e_ident, e_type */
	unsigned int type;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	type = head[EI_DATA] == ELFDATA2MSB ? (unsigned int)head[16] << 8 | head[17] :
					      (unsigned int)head[17] << 8 | head[16];
	return type != ET_CORE;
}

/* Returns an open file, or -1 and opened->status. */
static int open_file(const struct wire_open *request, struct wire_opened *opened)
{
	const int flags = request->flags & WIRE_OPEN_NOFOLLOW ? O_NOFOLLOW : 0;
	struct stat st;
	int handle = kunwind_open_handle(request->path, flags, &st), fd = -1;

	if (handle < 0) {
		opened->status = errno == ENOENT || errno == ENOTDIR ? WIRE_OPEN_ABSENT :
								       WIRE_OPEN_REFUSED;
		return -1;
	}
	opened->status = WIRE_OPEN_FOREIGN;
	if (check_owner(request, handle, &st, opened)) {
		opened->status = WIRE_OPEN_REFUSED;
		fd = kunwind_open_again(handle);
	}
	close(handle);
	if (fd >= 0 && request->flags & WIRE_OPEN_ELF && !is_elf(fd)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return -1;
	opened->status = WIRE_OPEN_OK;
	opened->inode = st.st_ino;
	opened->size = (uint64_t)st.st_size;
	opened->modified = (int64_t)st.st_mtim.tv_sec * NSEC + st.st_mtim.tv_nsec;
	return fd;
}

/* Copies this process's vDSO to a file. Only its ELF header shows its size. */
static int open_vdso(struct wire_opened *opened)
{
	const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	uint64_t shoff;
	uint16_t entsize, num;
	size_t size;
	int fd;

	opened->status = WIRE_OPEN_ABSENT;
	if (!image)
		return -1;
	memcpy(&shoff, image + 40, sizeof(shoff));	/* e_shoff, e_shentsize, e_shnum */
	memcpy(&entsize, image + 58, sizeof(entsize));
	memcpy(&num, image + 60, sizeof(num));
	size = shoff + (size_t)num * entsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*opened = (struct wire_opened){ .status = WIRE_OPEN_OK, .size = size };
	return fd;
}

/* Returns a memory file with the content of a file; -1: not readable, or too long. */
static int copy(int fd)
{
	int to = memfd_create("copy", MFD_CLOEXEC);
	off_t at = 0;
	char bytes[65536];
	ssize_t got = -1;

	/* without the size, which files in /proc do not have */
	while (to >= 0 && at <= WIRE_COPY_MAX && (got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		if (write(to, bytes, (size_t)got) != got)
			break;
		at += got;
	}
	if (!got && at <= WIRE_COPY_MAX && !lseek(to, 0, SEEK_SET))
		return to;
	if (to >= 0)
		close(to);
	return -1;
}

/* Makes a memory file for a unit of the package @fd. Returns -1 on failure. */
static int lend(int fd)
{
	int lent = memfd_create("dwo", MFD_CLOEXEC);
	struct stat st;

	/* a unit is smaller than its package; unused bytes take no memory */
	if (lent >= 0 && !fstat(fd, &st) && !ftruncate(lent, st.st_size + 65536))
		return lent;
	if (lent >= 0)
		close(lent);
	return -1;
}

static void close_slot(uint32_t slot)
{
	if (slots[slot] >= 0)
		close(slots[slot]);
	slots[slot] = -1;
}

static bool pass(const struct wire_open *request)
{
	int fds[WIRE_FDS], lent = -1;
	unsigned int nr = 0, i;
	bool ok = helper >= 0;

	for (i = 0; i < WIRE_FDS && request->slot[i] != WIRE_NOBODY; i++) {
		ok = ok && request->slot[i] < WIRE_SLOTS && slots[request->slot[i]] >= 0;
		if (ok)
			fds[nr++] = slots[request->slot[i]];
	}
	if (ok && request->flags & WIRE_OPEN_LEND) {
		ok = nr == 1 && (lent = lend(fds[0])) >= 0;
		fds[1] = lent;
		nr = 2;
	}
	ok = ok && wire_send(helper, &request->pass, sizeof(request->pass), fds, nr);
	if (lent >= 0)
		close(lent);
	return ok;
}

/* Returns a descriptor for the answer, or -1. Takes over @fd. */
static int carry_out(const struct wire_open *request, int fd, struct wire_opened *opened)
{
	const uint32_t slot = request->slot[0];

	opened->status = WIRE_OPEN_REFUSED;
	if (request->type == WIRE_OPEN_SOCKET && fd >= 0) {
		if (helper >= 0)
			close(helper);
		helper = fd;
		opened->status = WIRE_OPEN_OK;
		return -1;
	}
	if (fd >= 0)
		close(fd);
	if (request->type == WIRE_OPEN_PASS)
		opened->status = pass(request) ? WIRE_OPEN_OK : WIRE_OPEN_REFUSED;
	if (slot >= WIRE_SLOTS)
		return -1;
	if (request->type == WIRE_OPEN_FILE || request->type == WIRE_OPEN_VDSO)
		close_slot(slot);	/* nothing to do, except after a lost request */
	if (request->type == WIRE_OPEN_FILE) {
		slots[slot] = open_file(request, opened);
	} else if (request->type == WIRE_OPEN_VDSO) {
		slots[slot] = open_vdso(opened);
	} else if (request->type == WIRE_OPEN_CLOSE) {
		close_slot(slot);
		opened->status = WIRE_OPEN_OK;
	} else if (request->type == WIRE_OPEN_COPY && slots[slot] >= 0) {
		fd = copy(slots[slot]);
		opened->status = fd < 0 ? WIRE_OPEN_REFUSED : WIRE_OPEN_OK;
		return fd;
	}
	return -1;
}

int kunwind_serve_files(void)
{
	struct wire_open request;
	int fds[WIRE_FDS];

	signal(SIGINT, SIG_IGN);	/* ^C is for the viewer, which closes the socket */
	/* who reads the caller's standard error need not wait for a process that hangs */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		return 1;
	for (;;) {
		struct wire_opened opened = { .owner = WIRE_NOBODY };
		ssize_t got;
		int fd;

		memset(&request, 0, sizeof(request));
		got = wire_receive(WIRE_SOCKET, &request, sizeof(request) - 1, fds);
		if (got < (ssize_t)offsetof(struct wire_open, path))
			return got != 0;
		if (fds[1] >= 0)
			close(fds[1]);
		fd = carry_out(&request, fds[0], &opened);
		if (!wire_send(WIRE_SOCKET, &opened, sizeof(opened), &fd, fd >= 0))
			return 1;
		if (fd >= 0)
			close(fd);
	}
}
