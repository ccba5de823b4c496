// SPDX-License-Identifier: MIT
/*
 * search.c - find the traces in and below some directories
 *
 * A directory with a regular file "metadata" is a trace. The search goes through all
 * other directories, also through those that have this name; it follows symbolic
 * links only if they were given as arguments.
 *
 * A copy that "kunwind export ctf" has written has the events of its original. With
 * both, each event would count twice. So copies are left out, except if there are no
 * other traces. The copies are added by a second walk. For the same reason, a directory
 * that several arguments lead to is added once.
 *
 * Cost: reads all directories, and the metadata of each trace.
 */
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy.h"
#include "metadata.h"
#include "search.h"
#include "tool.h"

struct search {
	bool (*add)(const char *dir, void *data);
	void *data;
	size_t added;
	struct stat *dir;	/* of the traces that were added */
	bool copies;		/* add the copies; else the other traces */
	bool others;		/* there are other traces: leave the copies out */
	size_t passed;		/* traces that belong to the other walk */
	size_t seen;		/* traces of this argument, those of the other walk, too */
};

static bool is_added(const struct search *search, const struct stat *dir)
{
	size_t i;

	for (i = 0; i < search->added; i++) {
		if (search->dir[i].st_dev == dir->st_dev && search->dir[i].st_ino == dir->st_ino)
			return true;
	}
	return false;
}

/* Returns whether the file is the metadata of a trace. To open a FIFO would block. */
static bool is_metadata(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static void say(const char *path, int error)
{
	kunwind_tool_error("%s: %s%s", path, strerror(error),
			   error != EACCES ? "" :
			   ": use sudo, or let its owner give you the right to read it");
}

/* Returns false, after a message, if a file of the trace may not be read. */
static bool is_readable(const char *dir)
{
	DIR *files = opendir(dir);
	struct dirent *file;
	char path[4096];
	bool ok = files || errno != EACCES;

	if (!ok)
		say(dir, EACCES);
	while (ok && files && (file = readdir(files))) {
		snprintf(path, sizeof(path), "%s/%s", dir, file->d_name);
		if (*file->d_name != '.' && access(path, R_OK) && errno == EACCES) {
			say(path, EACCES);
			ok = false;
		}
	}
	if (files)
		closedir(files);
	return ok;
}

/* Takes a directory that is a trace. False: after a message. */
static bool found(struct search *search, const char *dir, const struct stat *stat,
		  const char *metadata)
{
	struct stat *dirs;

	search->seen++;
	if (!is_readable(dir))
		return false;
	if (!kunwind_metadata_is_whole(metadata)) {
		kunwind_tool_error("%s: cut off, so the trace cannot be read", metadata);
		return false;
	}
	if (kunwind_metadata_has(metadata, KUNWIND_COPY_MARK) != search->copies) {
		search->passed++;
		return true;
	}
	if (search->others) {
		kunwind_tool_error("%s: left out, because other traces are given: kunwind export ctf "
				   "has written this copy", dir);
		return true;
	}
	if (is_added(search, stat)) {
		kunwind_tool_error("%s: given more than once, so it is read once", dir);
		return true;
	}
	dirs = reallocarray(search->dir, search->added + 1, sizeof(*dirs));
	if (!dirs) {
		kunwind_tool_error("out of memory");
		return false;
	}
	search->dir = dirs;
	search->dir[search->added++] = *stat;
	return search->add(dir, search->data);
}

/* Takes all traces in and below a directory. False: after a message. */
static bool walk(struct search *search, char *root)
{
	FTS *fts = fts_open((char *[]){ root, NULL }, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	bool ok = true;
	FTSENT *entry;

	while (ok && fts && (entry = fts_read(fts))) {
		char metadata[4096];

		switch (entry->fts_info) {
		case FTS_D:
			snprintf(metadata, sizeof(metadata), "%s/metadata", entry->fts_path);
			if (is_metadata(metadata)) {
				ok = found(search, entry->fts_path, entry->fts_statp, metadata);
				fts_set(fts, entry, FTS_SKIP);	/* "index" is below */
			}
			break;
		case FTS_NS:
		case FTS_DNR:
		case FTS_ERR:
			say(entry->fts_path, entry->fts_errno);
			ok = false;
			break;
		}
	}
	/* fts_read() sets errno to 0 at the end */
	if (ok && (!fts || errno)) {
		kunwind_tool_error("cannot search for traces: %s", strerror(errno));
		ok = false;
	}
	if (fts)
		fts_close(fts);
	return ok;
}

static void no_trace(const char *path)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISDIR(st.st_mode))
		kunwind_tool_error("%s: not a directory: name the directory that holds the trace's files",
				   path);
	else
		kunwind_tool_error("no trace at or below %s: a trace has a file named metadata", path);
}

bool kunwind_search(char *const *paths, int nr_paths, bool (*add)(const char *dir, void *data),
		    void *data)
{
	struct search search = { .add = add, .data = data };
	bool ok = true;
	int i;

	for (i = 0; i < nr_paths; i++) {
		if (!*paths[i]) {	/* fts_open() would not say which one it refuses */
			kunwind_tool_error("the name of a trace is empty (an unset variable?)");
			return false;
		}
	}
	for (i = 0; ok && i < nr_paths; i++) {
		search.seen = 0;
		ok = walk(&search, paths[i]);
		if (ok && !search.seen) {
			no_trace(paths[i]);
			ok = false;
		}
	}
	search.copies = true;
	search.others = search.added;
	for (i = 0; ok && search.passed && i < nr_paths; i++)
		ok = walk(&search, paths[i]);
	free(search.dir);
	return ok;
}
