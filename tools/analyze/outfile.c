// SPDX-License-Identifier: MIT
/*
 * outfile.c - write the output file that the user names
 *
 * A new or regular file is replaced atomically: the output goes to a temporary
 * file in the same directory, which is renamed when it is complete. The
 * temporary file has no name (O_TMPFILE) until then, so it vanishes if the
 * process is killed. If the file system does not support that, the file has a name
 * at once, and is removed when the program ends (trace/at_end.c; SIGKILL leaves it).
 *
 * The output is written in place if FILE is a device, a FIFO, a mount point or
 * an open file of a process (/dev/stdout), if its directory is not writable, or
 * if the temporary file cannot get FILE's owner, group and mode. A file that
 * the user may not write is never replaced, although rename() would do so.
 *
 * Symbolic links are followed here (dir.c), because rename() would replace them, and
 * because root must not follow those of other users.
 *
 * Not kept by a replacement: access control lists, other extended attributes and
 * hard links; the other names keep the old content, and set-user-ID and set-group-ID.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dir.h"
#include "outfile.h"
#include "trace/at_end.h"
#include "trace/inputs.h"
#include "tool.h"

#define OWN_DESCRIPTORS "/proc/self/fd"

/* ------------------------------------------------------------ messages */

/* Returns what the user can do about an error. */
static const char *advice(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space, or name a file on another file system";
	case EFBIG:
		return "; raise the limit (ulimit -f)";
	case EPIPE:
		return "; its reader ended too early";
	case EACCES:
		if (!geteuid())
			return "; root uses no link or FIFO of another user: name another file";
		/* fallthrough */
	case EPERM:
	case EROFS:
		return "; name a file that you may write, or use sudo";
	case ENOENT:
	case ENOTDIR:
		return "; name a file in a directory that exists";
	case EISDIR:
		return "; name a file in it";
	case ELOOP:
		return "; remove the loop of symbolic links, or name another file";
	case ENXIO:
		return "; it is a socket or a device without driver: name another file";
	case EBADF:
		return "; it is closed: name a file (-o FILE)";
	default:
		return "";
	}
}

static void report(const struct outfile *out, int error)
{
	kunwind_tool_error("cannot write to %s: %s%s", out->path, strerror(error), advice(error));
}

/* ------------------------------------------------------------ signals */

/* The named temporary file, if @there. */
static struct {
	volatile sig_atomic_t there;
	int dir;
	char name[48];
} leftover;

static void remove_leftover(void)
{
	if (leftover.there)
		unlinkat(leftover.dir, leftover.name, 0);
	leftover.there = 0;
}

static void on_write_error(int number)
{
	(void)number;		/* write() returns the error */
}

/* A handler, not SIG_IGN, which the symbolizer's helper would inherit. */
static void handle_write_errors(void)
{
	static const int errors[] = { SIGPIPE, SIGXFSZ };
	const struct sigaction action = { .sa_handler = on_write_error, .sa_flags = SA_RESTART };
	struct sigaction old;
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!sigaction(errors[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(errors[i], &action, NULL);
}

/* ------------------------------------------------------------ the target */

static bool is_proc(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Returns the descriptor of this process that dir/base names; -1: none. */
static int own_descriptor(int dir, const char *base)
{
	struct stat own, named;
	uint64_t number;

	if (stat(OWN_DESCRIPTORS, &own) || fstat(dir, &named) || own.st_ino != named.st_ino ||
	    own.st_dev != named.st_dev || !kunwind_tool_number(base, INT_MAX, &number))
		return -1;
	return (int)number;
}

/* Follows links, and sets out->dir and out->base to their target. Returns an errno. */
static int find(struct outfile *out)
{
	out->dir = kunwind_dir_find(out->path, out->base, sizeof(out->base));
	return out->dir < 0 ? errno : !strcmp(out->base, ".") ? EISDIR : 0;
}

/* ------------------------------------------------------------ temporary files */

/*
 * Calls make() with one name after the other until one is free, and returns its
 * result. If that is not negative, a fatal signal removes the file from now on.
 */
static int named(struct outfile *out, int (*make)(const struct outfile *out, mode_t mode),
		 mode_t mode)
{
	int made = -1, i, error;
	sigset_t old;

	kunwind_at_end(remove_leftover);
	kunwind_block_signals(&old);
	for (i = 0; i < 1000; i++) {
		snprintf(out->temporary, sizeof(out->temporary), ".kunwind-%d-%d.part",
			 (int)getpid(), i);
		made = make(out, mode);
		if (made >= 0 || errno != EEXIST)
			break;
	}
	error = errno;
	if (made >= 0) {
		leftover.dir = out->dir;
		strcpy(leftover.name, out->temporary);
		leftover.there = 1;
		out->state = OUT_NAMED;
	}
	kunwind_unblock_signals(&old);
	errno = error;
	return made;
}

static int create(const struct outfile *out, mode_t mode)
{
	return openat(out->dir, out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

/* Gives the unnamed file a name. */
static int link_unnamed(const struct outfile *out, mode_t mode)
{
	char path[64];

	(void)mode;
	snprintf(path, sizeof(path), OWN_DESCRIPTORS "/%d", out->fd);
	return linkat(AT_FDCWD, path, out->dir, out->temporary, AT_SYMLINK_FOLLOW);
}

/* Returns the descriptor of a temporary file in out->dir; -1 with errno. */
static int make_temporary(struct outfile *out, mode_t mode)
{
	int fd = -1;

	if (!access(OWN_DESCRIPTORS, X_OK))	/* link_unnamed() needs it */
		fd = openat(out->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (fd < 0)
		return named(out, create, mode);
	out->state = OUT_UNNAMED;
	return fd;
}

static void discard(struct outfile *out)
{
	if (out->state == OUT_NAMED)
		remove_leftover();
	out->state = OUT_IN_PLACE;
}

/* ------------------------------------------------------------ open, write, close */

/* Returns whether @fd got the owner, group and mode of an existing file. */
static bool adopt(int fd, const struct stat *existing)
{
	struct stat own;

	if (fstat(fd, &own))
		return false;
	if ((own.st_uid != existing->st_uid || own.st_gid != existing->st_gid) &&
	    fchown(fd, existing->st_uid, existing->st_gid))
		return false;
	/* after fchown(), which clears bits; a link to a program must not give them to this text */
	return !fchmod(fd, existing->st_mode & (existing->st_nlink > 1 ? 01777 : 07777));
}

static bool is_mount_point(int fd)
{
	struct statx attributes;

	return !statx(fd, "", AT_EMPTY_PATH, 0, &attributes) &&
	       attributes.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Decides how to write to the existing file out->fd. Returns an errno. */
static int open_existing(struct outfile *out)
{
	int fd;

	if (fstat(out->fd, &out->existing))
		return errno;
	out->truncate = S_ISREG(out->existing.st_mode);
	if (!S_ISREG(out->existing.st_mode) || is_proc(out->dir) || is_mount_point(out->fd))
		return 0;
	fd = make_temporary(out, 0600);
	if (fd < 0)
		return errno == EACCES || errno == EPERM || errno == EROFS ? 0 : errno;
	if (!adopt(fd, &out->existing)) {
		close(fd);
		discard(out);
		return 0;
	}
	close(out->fd);
	out->fd = fd;
	out->truncate = false;
	return 0;
}

/*
 * Opens the file that out->dir and out->base name, for writing. Root does not wait for the
 * reader of a FIFO that belongs to another user.
 */
static int open_base(const struct outfile *out, int flags)
{
	int handle = openat(out->dir, out->base, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd;
	struct stat st;
	char path[48];

	if (handle < 0)
		return -1;
	if (fstat(handle, &st) || (S_ISFIFO(st.st_mode) && !geteuid() && st.st_uid)) {
		close(handle);
		errno = EACCES;
		return -1;
	}
	/* what was checked, not what has this name now */
	snprintf(path, sizeof(path), OWN_DESCRIPTORS "/%d", handle);
	fd = open(path, flags);
	close(handle);
	return fd;
}

/* Sets out->fd. Returns an errno. */
static int open_target(struct outfile *out)
{
	int error = find(out), flags = O_WRONLY | O_CLOEXEC | O_NOCTTY, own = -1;

	if (error)
		return error;
	if (is_proc(out->dir))
		own = own_descriptor(out->dir, out->base);
	if (own >= 0) {
		/* opening it again would lose its position, and fail for a socket */
		out->fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
		return out->fd < 0 || fstat(out->fd, &out->existing) ? errno : 0;
	}
	out->fd = is_proc(out->dir) || access(OWN_DESCRIPTORS, X_OK) ?
		openat(out->dir, out->base, flags | (is_proc(out->dir) ? 0 : O_NOFOLLOW)) :
		open_base(out, flags);
	if (out->fd >= 0)
		return open_existing(out);
	if (errno != ENOENT)
		return errno;
	out->fd = make_temporary(out, 0666);
	return out->fd < 0 ? errno : 0;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct outfile *out = cookie;
	size_t done = 0;
	ssize_t n;

	if (out->truncate && ftruncate(out->fd, 0) && !out->error)
		out->error = errno;
	out->truncate = false;
	while (done < size && !out->error) {
		n = write(out->fd, bytes + done, size - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			out->error = errno;
	}
	return (ssize_t)done;	/* less than @size: an error, for stdio */
}

/* Moves a descriptor above those of the standard streams, which may be closed. */
static int move_up(int fd)
{
	int up;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return up;
}

static void close_all(struct outfile *out)
{
	if (out->fd >= 0 && close(out->fd) && !out->error)
		out->error = errno;
	out->fd = -1;
}

bool outfile_open(struct outfile *out, const char *path)
{
	static const cookie_io_functions_t functions = { .write = write_some };
	int error = 0;

	*out = (struct outfile){ .path = path, .fd = -1, .dir = AT_FDCWD };
	if (path && kunwind_tool_is_empty(path))
		return false;
	if (!path || !strcmp(path, "-")) {
		out->path = "standard output";
		out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		error = out->fd < 0 ? errno : 0;
	} else {
		handle_write_errors();
		error = open_target(out);
		out->fd = move_up(out->fd);
	}
	if (!error) {
		out->file = fopencookie(out, "w", functions);
		if (out->file)
			return true;
		error = errno;
	}
	report(out, error);
	discard(out);
	close_all(out);
	if (out->dir >= 0)
		close(out->dir);
	return false;
}

bool outfile_spares(const struct outfile *out, char *const *paths, int nr)
{
	struct stat dir;
	bool in_dir = out->dir >= 0 && !fstat(out->dir, &dir);

	if (!kunwind_inputs_have(paths, nr, out->existing.st_nlink ? &out->existing : NULL,
				 in_dir ? &dir : NULL))
		return true;
	kunwind_tool_error("%s: a file of a trace that is read, or in the directory of one: name another "
			   "file (-o)", out->path);
	return false;
}

/* Gives the complete temporary file its name. */
static void publish(struct outfile *out)
{
	sigset_t old;

	kunwind_block_signals(&old);
	if (out->state == OUT_UNNAMED && named(out, link_unnamed, 0) < 0)
		out->error = errno;
	close_all(out);		/* network file systems report write errors here */
	if (!out->error && renameat(out->dir, out->temporary, out->dir, out->base))
		out->error = errno;
	if (!out->error)
		leftover.there = 0;
	discard(out);
	kunwind_unblock_signals(&old);
}

int outfile_close(struct outfile *out, bool ok)
{
	if (fclose(out->file) && !out->error)
		out->error = errno;
	if (ok && !out->error && out->truncate && ftruncate(out->fd, 0))
		out->error = errno;	/* nothing was written */
	if (ok && !out->error && out->state != OUT_IN_PLACE)
		publish(out);
	close_all(out);
	discard(out);
	if (out->dir >= 0)
		close(out->dir);
	if (out->error)
		report(out, out->error);
	return ok && !out->error ? TOOL_OK : TOOL_FAILED;
}
