// SPDX-License-Identifier: MIT
/*
 * view.c - a directory that shows a trace without packets that are cut off
 *
 * libbabeltrace2 does not open a trace with a stream file that ends inside a
 * packet. However, it skips what an index names as padding. The view has a
 * symbolic link for each file of the trace, and indices of its own for such
 * stream files (packets.c). Nothing of the trace is copied or changed.
 *
 * The view also has no link to files that do not belong to the trace, such as a page
 * or notes beside the stream files, because libbabeltrace2 takes them for streams.
 *
 * Cost: a directory in $TMPDIR or /tmp, with 72 bytes for each packet of the files
 * that are cut off. It is removed when the trace is closed, when the program exits,
 * and by handlers of fatal signals, which call only async-signal-safe functions.
 * SIGKILL leaves it behind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "at_end.h"
#include "dir.h"
#include "packets.h"
#include "tool.h"
#include "view.h"

/* ------------------------------------------------------------ removal */

/* Changed only while signals are blocked. */
static struct view {
	struct view *next;
	struct kunwind_dir_temporary dir;
	int index;		/* descriptor of the directory in it */
} *views;

static void remove_views(void)
{
	struct view *view;

	for (view = views; view; view = view->next)
		kunwind_dir_temporary_remove(&view->dir);
}

/* Makes a directory, which is removed when the program ends. */
static bool make_temporary(struct view *view)
{
	sigset_t old;
	bool made;

	kunwind_at_end(remove_views);
	kunwind_block_signals(&old);
	made = kunwind_dir_temporary_make(&view->dir, "kunwind-");
	if (made) {
		view->next = views;
		views = view;
	}
	kunwind_unblock_signals(&old);
	return made;
}

static void free_view(struct view *view)
{
	struct view **at = &views;
	sigset_t old;

	kunwind_block_signals(&old);
	while (*at && *at != view)
		at = &(*at)->next;
	if (*at) {
		*at = view->next;
		kunwind_dir_temporary_remove(&view->dir);
	}
	kunwind_unblock_signals(&old);
	if (view->index >= 0)
		close(view->index);
	free(view);
}

void kunwind_view_free(char *path)
{
	struct view *view = views;

	while (view && view->dir.path != path)
		view = view->next;
	if (view)
		free_view(view);
}

/* ------------------------------------------------------------ making */

/* Returns a path, which the caller frees; NULL: out of memory, after a message. */
static char *join(const char *dir, const char *name, const char *end)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, name, end) >= 0)
		return path;
	kunwind_tool_error("out of memory");
	return NULL;
}

static bool failed(const char *path)
{
	kunwind_tool_error("%s: %s (it is needed to leave out damaged or other files; TMPDIR "
			   "names another directory)", path, strerror(errno));
	return false;
}

static struct view *make_view(void)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view) {
		kunwind_tool_error("out of memory");
		return NULL;
	}
	view->index = -1;
	if (make_temporary(view) && !mkdirat(view->dir.fd, "index", 0700))
		view->index = kunwind_dir_at(view->dir.fd, "index");
	if (view->index >= 0)
		return view;
	failed(view->dir.path);
	free_view(view);
	return NULL;
}

/* Returns whether @at/NAME was made as a link to "dir/NAME", if there is one. */
static bool link_file(const char *dir, const struct view *view, int at, const char *name)
{
	char *to = join(dir, name, "");
	bool ok = to;

	if (ok && !access(to, F_OK) && symlinkat(to, at, name))
		ok = failed(view->dir.path);
	free(to);
	return ok;
}

/* The same for the index of the file @name. */
static bool link_index(const char *dir, const struct view *view, const char *name)
{
	char *below = join(dir, "index", ""), *index = NULL;
	bool ok = below && asprintf(&index, "%s.idx", name) >= 0 &&
		  link_file(below, view, view->index, index);

	free(below);
	free(index);
	return ok;
}

static bool write_index(const struct kunwind_packets *packets, const struct view *view,
			const char *name)
{
	char *index = NULL;
	int fd = asprintf(&index, "%s.idx", name) < 0 ? -1 :
		 kunwind_dir_create(view->index, index, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok = file;

	if (file) {
		kunwind_packets_index(packets, file);
		ok = !ferror(file);
		ok = !fclose(file) && ok;
	}
	free(index);
	return ok || failed(view->dir.path);
}

/* Has the name the form of LTTng's stream files, CHANNEL_PROCESSOR? */
static bool is_stream_name(const char *name)
{
	const char *number = strrchr(name, '_');

	return number && number[1] && !number[1 + strspn(number + 1, "0123456789")];
}

/* Returns whether a file that libbabeltrace2 would read does not belong to the trace. */
static bool is_foreign(const char *dir, const char *name)
{
	unsigned char start[sizeof(uint32_t)];
	char *path = join(dir, name, "");
	struct stat st;
	ssize_t n = 0;
	int fd = -1;

	if (path && *name != '.' && strcmp(name, "metadata") && !is_stream_name(name) &&
	    !stat(path, &st) && S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd >= 0) {
		n = read(fd, start, sizeof(start));
		close(fd);
	}
	return n > 0 && !kunwind_packets_begin(start, (size_t)n);
}

/* Adds the file @name of @dir to the view. */
static bool add_file(const char *dir, const struct view *view, const char *name, uint64_t *files,
		     uint64_t *bytes)
{
	struct kunwind_packets packets = { 0 };
	char *path = join(dir, name, "");
	bool ok = path;

	if (ok && is_foreign(dir, name)) {
		kunwind_tool_error("%s: left out, because it is no part of the trace: move it to another "
				   "directory", path);
	} else if (ok && kunwind_packets_read(&packets, path) && packets.lost) {
		kunwind_tool_error("%s: cut off (disk full, or the recorder was killed?): left out "
				   "%" PRIu64 " of %" PRIu64 " bytes, which are no whole packets",
				   path, packets.lost, packets.size);
		*files += 1;
		*bytes += packets.lost;
		if (packets.nr)
			ok = link_file(dir, view, view->dir.fd, name) && write_index(&packets, view, name);
	} else {
		ok = ok && link_file(dir, view, view->dir.fd, name) && link_index(dir, view, name);
	}
	kunwind_packets_free(&packets);
	free(path);
	return ok;
}

/* Returns whether LTTng wrote the trace, according to its metadata. */
static bool is_of_lttng(const char *dir)
{
	char *path = join(dir, "metadata", ""), *text = NULL;
	size_t room = 0;
	ssize_t size;
	FILE *file = path ? fopen(path, "re") : NULL;
	bool found = false;

	while (file && !found && (size = getdelim(&text, &room, '\n', file)) > 0)
		found = memmem(text, (size_t)size, "tracer_name", 11) &&
			memmem(text, (size_t)size, "\"lttng-", 7);
	if (file)
		fclose(file);
	free(text);
	free(path);
	return found;
}

static bool is_cut(const char *dir, const char *name)
{
	char *path = join(dir, name, "");
	struct kunwind_packets packets;
	bool cut = false;

	if (path && kunwind_packets_read(&packets, path)) {
		cut = packets.lost;
		kunwind_packets_free(&packets);
	}
	free(path);
	return cut;
}

bool kunwind_view_new(const char *dir, char **path, uint64_t *files, uint64_t *bytes)
{
	char real[PATH_MAX];
	struct dirent **file = NULL;
	int i, nr = realpath(dir, real) ? scandir(real, &file, NULL, alphasort) : -1;
	bool cut = false, ok = true;
	struct view *view = NULL;

	for (i = 0; i < nr && !cut; i++)
		cut = is_cut(real, file[i]->d_name) || is_foreign(real, file[i]->d_name);
	if (cut && is_of_lttng(real)) {
		view = make_view();
		ok = view;
	}
	for (i = 0; i < nr; i++) {
		if (ok && view && file[i]->d_type != DT_DIR && file[i]->d_name[0] != '.')
			ok = add_file(real, view, file[i]->d_name, files, bytes);
		free(file[i]);
	}
	free(file);
	if (!ok && view)
		free_view(view);
	*path = ok && view ? view->dir.path : NULL;
	return ok;
}
