// SPDX-License-Identifier: MIT
/*
 * outdir.c - the directory that "kunwind export ctf" writes
 *
 * All is written to a directory inside, and moved up when it is complete. So the
 * named directory holds a whole trace or nothing, and keeps its owner and mode.
 * If the program ends before outdir_close(), also by a signal (trace/at_end.c), what
 * was written is removed. What SIGKILL leaves is removed by the next export to this
 * directory; the directory is locked, so this does not hit an export that still runs.
 *
 * The named directory may belong to another user, who could replace the directory inside.
 * So the library that writes gets a path that begins with its descriptor (/proc/self/fd).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir.h"
#include "outdir.h"
#include "tool.h"
#include "trace/at_end.h"
#include "trace/inputs.h"

#define INSIDE	".kunwind-export"
#define TRACE	"trace"
#define LEVELS	16	/* of directories in a trace */

static struct outdir *open_one;		/* removed at the end; NULL: none */

static bool is_left(int dir, const char *name, void *data)
{
	bool *left = data;

	(void)dir;
	*left = *left || !strcmp(name, INSIDE);
	return !strcmp(name, INSIDE);
}

/* Makes the directory inside. Returns an errno. */
static int make_inside(struct outdir *out)
{
	struct stat st;

	if (mkdirat(out->dir, INSIDE, 0700))
		return errno;
	out->in = kunwind_dir_at(out->dir, INSIDE);
	if (out->in < 0)
		return errno;
	/* the owner of the directory could have replaced it */
	if (fstat(out->in, &st) || st.st_uid != geteuid())
		return EPERM;
	snprintf(out->inside, sizeof(out->inside), "/proc/self/fd/%d/" TRACE, out->in);
	return 0;
}

/* Opens and locks the directory, and removes what a killed export left. Returns an errno. */
static int take(struct outdir *out)
{
	bool left = false, locked;

	out->dir = openat(out->above, out->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out->dir < 0)
		return errno;
	if (!kunwind_dir_each(out->dir, is_left, &left))
		return ENOTEMPTY;
	if (faccessat(out->dir, ".", W_OK | X_OK, 0))
		return errno;
	/* some file systems have no locks */
	locked = !flock(out->dir, LOCK_EX | LOCK_NB);
	if (!locked && errno == EWOULDBLOCK)
		return EBUSY;
	if (left && !(locked && kunwind_dir_remove(out->dir, INSIDE, LEVELS)))
		return ENOTEMPTY;
	return make_inside(out);
}

/* Opens the directory above, and sets out->base. Returns an errno. */
static int find(struct outdir *out)
{
	size_t size = strlen(out->path);
	char name[PATH_MAX];

	while (size > 1 && out->path[size - 1] == '/')
		size--;
	if (size >= sizeof(name))
		return ENAMETOOLONG;
	snprintf(name, sizeof(name), "%.*s", (int)size, out->path);
	out->above = kunwind_dir_find(name, out->base, sizeof(out->base));
	return out->above < 0 ? errno : 0;
}

static void close_all(struct outdir *out)
{
	int *fd[] = { &out->in, &out->dir, &out->above };
	size_t i;

	for (i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

/* Also called by a signal handler. */
static void remove_open(void)
{
	if (!open_one)
		return;
	kunwind_dir_remove(open_one->dir, INSIDE, LEVELS);
	if (open_one->made)	/* succeeds only if nothing is in it */
		unlinkat(open_one->above, open_one->base, AT_REMOVEDIR);
	open_one = NULL;
}

static void report(const char *path, int error)
{
	switch (error) {
	case ENOTEMPTY:
	case ENOTDIR:
		kunwind_tool_error("%s: is there already and not an empty directory: name another (-o)",
				   path);
		break;
	case EBUSY:
		kunwind_tool_error("%s: another kunwind export writes there: name another directory (-o)",
				   path);
		break;
	default:
		kunwind_tool_error("%s: %s%s", path, strerror(error), error == EACCES && !geteuid() ?
				   ": root follows no link of another user" : "");
	}
}

bool outdir_open(struct outdir *out, const char *path)
{
	sigset_t old;
	int error;

	*out = (struct outdir){ .path = path, .in = -1, .dir = -1, .above = -1 };
	if (kunwind_tool_is_empty(path))
		return false;
	kunwind_block_signals(&old);
	error = find(out);
	if (!error) {
		out->made = !mkdirat(out->above, out->base, 0777);
		error = out->made || errno == EEXIST ? take(out) : errno;
	}
	if (!error) {
		open_one = out;
		kunwind_at_end(remove_open);
	} else {
		if (out->made)
			unlinkat(out->above, out->base, AT_REMOVEDIR);
		close_all(out);
	}
	kunwind_unblock_signals(&old);
	if (error)
		report(path, error);
	return !error;
}

bool outdir_spares(const struct outdir *out, char *const *paths, int nr)
{
	struct stat above;

	if (fstat(out->above, &above) || !kunwind_inputs_have(paths, nr, NULL, &above))
		return true;
	kunwind_tool_error("%s: in the directory of a trace that is read: name another directory (-o)",
			   out->path);
	return false;
}

static bool move_one(int dir, const char *name, void *data)
{
	const struct outdir *out = data;

	return !renameat(dir, name, out->dir, name);
}

/* Returns an errno. */
static int move_up(struct outdir *out)
{
	int trace = kunwind_dir_at(out->in, TRACE), error = 0;

	if (trace < 0)
		return errno;
	if (!kunwind_dir_each(trace, move_one, out))
		error = errno;
	close(trace);
	return error;
}

bool outdir_close(struct outdir *out, bool ok)
{
	sigset_t old;
	int error;

	kunwind_block_signals(&old);
	error = ok ? move_up(out) : 0;
	if (ok && !error)
		out->made = false;	/* it stays */
	remove_open();
	close_all(out);
	kunwind_unblock_signals(&old);
	if (error)
		kunwind_tool_error("%s: %s", out->path, strerror(error));
	return ok && !error;
}
