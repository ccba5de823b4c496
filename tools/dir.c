// SPDX-License-Identifier: MIT
/*
 * dir.c - work in a directory by its descriptor
 *
 * openat2(2) refuses links and mount points in one step. Linux before 5.6, and some
 * containers, do not have it; then openat(2) with O_NOFOLLOW refuses links only.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dir.h"

#define MOST_LINKS	40	/* as in the kernel */
#define MOST_ROUNDS	100
#define MOST_LEVELS	8	/* of directories in a temporary one */

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Closes @fd, and keeps errno. Returns -1. */
static int give_up(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

/* ------------------------------------------------------------ paths */

static bool is_user_of_sudo(uid_t uid)
{
	const char *text = getenv("SUDO_UID");
	char own[16];

	snprintf(own, sizeof(own), "%u", (unsigned int)uid);
	return text && !strcmp(text, own);
}

static bool may_follow(int dir, const struct stat *link, bool last)
{
	struct stat parent;

	if (!link->st_uid || link->st_uid == geteuid())
		return true;
	if (!geteuid())
		return is_user_of_sudo(link->st_uid);
	if (!last)
		return true;
	return !fstat(dir, &parent) && ((parent.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
					link->st_uid == parent.st_uid);
}

/*
 * Copies the target of a link. Returns its length; 0: no link; -1 with errno.
 * What is read and what is checked is one link, also if another one replaces it.
 */
static ssize_t read_link(int dir, const char *name, bool last, char *target)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ssize_t size = 0;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		return give_up(fd);
	if (S_ISLNK(st.st_mode)) {
		errno = EACCES;
		size = may_follow(dir, &st, last) ? readlinkat(fd, "", target, PATH_MAX) : -1;
		if (size == PATH_MAX || !size) {
			errno = size ? ENAMETOOLONG : ENOENT;
			size = -1;
		}
		if (size < 0)
			return give_up(fd);
		target[size] = '\0';
	}
	close(fd);
	return size;
}

static bool is_proc(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Replaces *@dir by the directory @name in it. Returns false with errno. */
static bool enter(int *dir, const char *name, int flags)
{
	int next = openat(*dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags), error = errno;

	if (*dir >= 0)
		close(*dir);
	*dir = next;
	errno = error;
	return next >= 0;
}

/* Puts the target of a link before the rest of a path. */
static bool put_before(char *rest, const char *target)
{
	char whole[2 * PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s%s", target, *rest ? "/" : "", rest);
	if (strlen(whole) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(rest, whole);
	return true;
}

/* Takes the first name from a path. Returns whether it is the last one. */
static bool take_name(char *rest, char *name)
{
	char *begin = rest + strspn(rest, "/"), *end = strchrnul(begin, '/');
	bool last = !*end;

	snprintf(name, PATH_MAX, "%.*s", (int)(end - begin), begin);
	memmove(rest, last ? end : end + 1, strlen(last ? end : end + 1) + 1);
	return last;
}

int kunwind_dir_find(const char *path, char *base, size_t size)
{
	char rest[PATH_MAX], name[PATH_MAX], target[PATH_MAX];
	int dir = -1, links = 0;
	ssize_t link;
	bool last;

	if (!*path || strlen(path) >= sizeof(rest)) {
		errno = *path ? ENAMETOOLONG : ENOENT;
		return -1;
	}
	strcpy(rest, path);
	dir = open(*rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (dir >= 0) {
		last = take_name(rest, name);
		link = *name ? is_proc(dir) && last ? 0 : read_link(dir, name, last, target) : 0;
		if (link < 0 && !(last && errno == ENOENT))
			return give_up(dir);
		if (link > 0) {
			errno = ELOOP;
			if (++links > MOST_LINKS)
				return give_up(dir);
			/* links of /proc/PID lead to what is open, not to their text */
			if (is_proc(dir) && strcmp(name, "self") && strcmp(name, "thread-self")) {
				if (!enter(&dir, name, 0))
					return -1;
				continue;
			}
			if (!put_before(rest, target))
				return give_up(dir);
			if (*target == '/' && !enter(&dir, "/", 0))
				return -1;
		} else if (last) {
			errno = ENAMETOOLONG;
			if (strlen(name) >= size)
				return give_up(dir);
			strcpy(base, *name ? name : ".");
			return dir;
		} else if (*name && !enter(&dir, name, O_NOFOLLOW)) {
			return -1;
		}
	}
	return -1;
}

int kunwind_dir_open(const char *path)
{
	char base[NAME_MAX + 1];
	int dir = kunwind_dir_find(path, base, sizeof(base)), fd;

	if (dir < 0)
		return -1;
	fd = openat(dir, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return give_up(dir);
	close(dir);
	return fd;
}

bool kunwind_dir_path(int dir, char *path, size_t size)
{
	char link[48];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, size);
	if (n == (ssize_t)size)
		errno = ENAMETOOLONG;
	if (n < 0 || n == (ssize_t)size)
		return false;
	path[n] = '\0';
	return true;
}

/* ------------------------------------------------------------ single names */

static int open_name(int dir, const char *name, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_NOFOLLOW | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd;

	if (strchr(name, '/') || is_dot(name)) {
		errno = EINVAL;
		return -1;
	}
	fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
		fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

int kunwind_dir_at(int dir, const char *name)
{
	return open_name(dir, name, O_RDONLY | O_DIRECTORY);
}

int kunwind_dir_file(int dir, const char *name, bool own)
{
	int fd = open_name(dir, name, (own ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		return give_up(fd);
	errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	if (!S_ISREG(st.st_mode))
		return give_up(fd);
	errno = EPERM;
	if (own && (st.st_uid != geteuid() || st.st_nlink != 1))
		return give_up(fd);
	return fd;
}

int kunwind_dir_create(int dir, const char *name, mode_t mode)
{
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/* ------------------------------------------------------------ all names */

bool kunwind_dir_each(int dir, bool (*visit)(int dir, const char *name, void *data), void *data)
{
	/* a descriptor with a position of its own */
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool ok = stream;

	if (!stream && fd >= 0)
		give_up(fd);
	while (ok) {
		errno = 0;
		entry = readdir(stream);
		if (!entry) {
			ok = !errno;
			break;
		}
		if (!is_dot(entry->d_name))
			ok = visit(dir, entry->d_name, data);
	}
	if (stream)
		closedir(stream);
	return ok;
}

static bool is_name(int dir, const char *name, void *data)
{
	(void)dir;
	return data && !strcmp(name, data);
}

bool kunwind_dir_is_empty(int dir, const char *except)
{
	return kunwind_dir_each(dir, is_name, (void *)except);
}

/* Removes what one read finds. Returns whether anything was removed. */
static bool remove_some(int dir, int levels)
{
	_Alignas(struct dirent64) char entries[2048];
	const struct dirent64 *entry;
	bool removed = false;
	long size, next;

	lseek(dir, 0, SEEK_SET);
	while ((size = syscall(SYS_getdents64, dir, entries, sizeof(entries))) > 0) {
		for (next = 0; next < size; next += entry->d_reclen) {
			entry = (const struct dirent64 *)(entries + next);
			if (!is_dot(entry->d_name))
				removed |= kunwind_dir_remove(dir, entry->d_name, levels);
		}
	}
	return removed;
}

bool kunwind_dir_remove(int dir, const char *name, int levels)
{
	int fd, rounds = 0;

	if (!unlinkat(dir, name, 0))
		return true;
	if (levels > 0) {
		fd = kunwind_dir_at(dir, name);
		/* entries may be passed over while others are removed, or another user adds some */
		while (fd >= 0 && remove_some(fd, levels - 1) && ++rounds < MOST_ROUNDS)
			;
		if (fd >= 0)
			close(fd);
	}
	return !unlinkat(dir, name, AT_REMOVEDIR);
}

/* ------------------------------------------------------------ temporary directories */

bool kunwind_dir_temporary_make(struct kunwind_dir_temporary *temporary, const char *prefix)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	const char *tmp = getenv("TMPDIR");
	unsigned char random[8];
	struct stat st;
	size_t i, size;

	tmp = tmp && *tmp ? tmp : "/tmp";
	temporary->fd = -1;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	size = (size_t)snprintf(temporary->name, sizeof(temporary->name), "%.40s", prefix);
	for (i = 0; i < sizeof(random); i++)
		temporary->name[size++] = letters[random[i] % 32];
	temporary->name[size] = '\0';
	snprintf(temporary->path, sizeof(temporary->path), "%.4000s/%s", tmp, temporary->name);
	temporary->above = kunwind_dir_open(tmp);
	if (temporary->above < 0)
		return false;
	if (!mkdirat(temporary->above, temporary->name, 0700))
		temporary->fd = kunwind_dir_at(temporary->above, temporary->name);
	/* the owner of $TMPDIR could have replaced it */
	if (temporary->fd >= 0 && (fstat(temporary->fd, &st) || st.st_uid != geteuid())) {
		errno = EPERM;
		temporary->fd = give_up(temporary->fd);
	}
	if (temporary->fd < 0)
		temporary->above = give_up(temporary->above);
	return temporary->fd >= 0;
}

void kunwind_dir_temporary_remove(struct kunwind_dir_temporary *temporary)
{
	kunwind_dir_remove(temporary->above, temporary->name, MOST_LEVELS);
	close(temporary->fd);
	close(temporary->above);
}
