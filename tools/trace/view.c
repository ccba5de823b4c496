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
#include <sys/syscall.h>
#include <unistd.h>

#include "at_end.h"
#include "packets.h"
#include "tool.h"
#include "view.h"

/* ------------------------------------------------------------ removal */

/* Changed only while signals are blocked. */
static struct view {
	struct view *next;
	char *path;
} *views;

/*
 * Removes a directory, and the files and the directories in it. @levels: of
 * directories; a view has two.
 */
static void remove_directory(int at, const char *name, int levels)
{
	_Alignas(struct dirent64) char entries[2048];
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool removed = fd >= 0;
	long size, next;

	/* entries may be passed over while others are removed */
	while (removed) {
		removed = false;
		lseek(fd, 0, SEEK_SET);
		while ((size = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
			for (next = 0; next < size; ) {
				struct dirent64 *entry = (struct dirent64 *)(entries + next);

				next += entry->d_reclen;
				if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
					continue;
				if (!unlinkat(fd, entry->d_name, 0))
					removed = true;
				else if (levels > 1)
					remove_directory(fd, entry->d_name, levels - 1);
			}
		}
	}
	if (fd >= 0)
		close(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

static void remove_views(void)
{
	struct view *view;

	for (view = views; view; view = view->next)
		remove_directory(AT_FDCWD, view->path, 2);
}

/* Makes a directory as mkdtemp(3), which is removed when the program ends. */
static bool make_temporary(char *path)
{
	struct view *view = malloc(sizeof(*view));
	sigset_t old;
	bool made;

	if (!view)
		return false;
	kunwind_at_end(remove_views);
	kunwind_block_signals(&old);
	made = mkdtemp(path);
	if (made) {
		*view = (struct view){ .next = views, .path = path };
		views = view;
	}
	kunwind_unblock_signals(&old);
	if (!made)
		free(view);
	return made;
}

void kunwind_view_free(char *path)
{
	struct view **at = &views, *view;
	sigset_t old;

	if (!path)
		return;
	kunwind_block_signals(&old);
	while (*at && (*at)->path != path)
		at = &(*at)->next;
	view = *at;
	if (view) {
		*at = view->next;
		remove_directory(AT_FDCWD, path, 2);
	}
	kunwind_unblock_signals(&old);
	free(view);
	free(path);
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

static char *make_directory(void)
{
	const char *tmp = getenv("TMPDIR");
	char *view = join(tmp && *tmp ? tmp : "/tmp", "kunwind-", "XXXXXX"), *index;

	if (!view)
		return NULL;
	index = make_temporary(view) ? join(view, "index", "") : NULL;
	if (index && !mkdir(index, 0700)) {
		free(index);
		return view;
	}
	failed(view);
	free(index);
	kunwind_view_free(view);
	return NULL;
}

/* Returns whether "view/NAME.end" was made as a link to "dir/NAME.end", if there is one. */
static bool link_file(const char *dir, const char *view, const char *name, const char *end)
{
	char *to = join(dir, name, end), *from = join(view, name, end);
	bool ok = to && from;

	if (ok && !access(to, F_OK) && symlink(to, from))
		ok = failed(from);
	free(to);
	free(from);
	return ok;
}

static bool write_index(const struct kunwind_packets *packets, const char *view, const char *name)
{
	char *sub = join("index", name, ".idx"), *path = sub ? join(view, sub, "") : NULL;
	FILE *file = path ? fopen(path, "we") : NULL;
	bool ok = file;

	if (file) {
		kunwind_packets_index(packets, file);
		ok = !ferror(file);
		ok = !fclose(file) && ok;
	}
	if (path && !ok)
		failed(path);
	free(sub);
	free(path);
	return ok;
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
static bool add_file(const char *dir, const char *view, const char *name, uint64_t *files,
		     uint64_t *bytes)
{
	char *path = join(dir, name, ""), *sub = join("index", name, "");
	struct kunwind_packets packets = { 0 };
	bool ok = path && sub;

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
			ok = link_file(dir, view, name, "") && write_index(&packets, view, name);
	} else {
		ok = ok && link_file(dir, view, name, "") && link_file(dir, view, sub, ".idx");
	}
	kunwind_packets_free(&packets);
	free(path);
	free(sub);
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

bool kunwind_view_new(const char *dir, char **view, uint64_t *files, uint64_t *bytes)
{
	char real[PATH_MAX];
	struct dirent **file = NULL;
	int i, nr = realpath(dir, real) ? scandir(real, &file, NULL, alphasort) : -1;
	bool cut = false, ok = true;

	*view = NULL;
	for (i = 0; i < nr && !cut; i++)
		cut = is_cut(real, file[i]->d_name) || is_foreign(real, file[i]->d_name);
	if (cut && is_of_lttng(real)) {
		*view = make_directory();
		ok = *view;
	}
	for (i = 0; i < nr; i++) {
		if (ok && *view && file[i]->d_type != DT_DIR && file[i]->d_name[0] != '.')
			ok = add_file(real, *view, file[i]->d_name, files, bytes);
		free(file[i]);
	}
	free(file);
	if (!ok) {
		kunwind_view_free(*view);
		*view = NULL;
	}
	return ok;
}
