// SPDX-License-Identifier: MIT
/*
 * inputs.c - find out whether an output would damage the traces that are read
 *
 * Files are compared by device and inode, so another path, a symbolic link or a hard link
 * to a file of a trace is found, too. A new file in the directory of a trace is a
 * damage: babeltrace2 takes each file there for a stream, and reads nothing.
 *
 * Cost: a stat() of each file in and below the arguments.
 */
#include <fts.h>
#include <stdio.h>
#include <unistd.h>

#include "inputs.h"
#include "kallsyms.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_trace(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/metadata", dir);
	return !access(path, F_OK);
}

/* Returns whether the entry of a trace's directory is the file, a link to it, or @dir. */
static bool is_meant(const FTSENT *entry, const struct stat *file, const struct stat *dir)
{
	struct stat target;

	if (entry->fts_info == FTS_D)
		return is_same(dir, entry->fts_statp);
	return is_same(file, entry->fts_info == FTS_SL && !stat(entry->fts_path, &target) ? &target :
			     entry->fts_statp);
}

static bool has_symbols(char *const *paths, int nr, const struct stat *file)
{
	struct kallsyms_files files = { 0 };
	bool found = false;
	struct stat st;
	size_t i;

	if (kallsyms_find(&files, paths, nr))
		for (i = 0; i < files.nr && !found; i++)
			found = !stat(files.path[i], &st) && is_same(file, &st);
	kallsyms_files_free(&files);
	return found;
}

static bool has_file(char *root, const struct stat *file, const struct stat *dir)
{
	FTS *fts = fts_open((char *[]){ root, NULL }, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	int trace = -1;		/* level of the trace's directory; -1: outside of traces */
	bool found = false;
	FTSENT *entry;

	while (!found && fts && (entry = fts_read(fts))) {
		if (trace < 0 && entry->fts_info == FTS_D && is_trace(entry->fts_path))
			trace = entry->fts_level;
		found = trace >= 0 && is_meant(entry, file, dir);
		if (entry->fts_info == FTS_DP && entry->fts_level == trace)
			trace = -1;
	}
	if (fts)
		fts_close(fts);
	return found;
}

bool kunwind_inputs_have(char *const *paths, int nr, const struct stat *file, const struct stat *dir)
{
	int i;

	for (i = 0; i < nr; i++)
		if (has_file(paths[i], file, dir))
			return true;
	return file && has_symbols(paths, nr, file);
}
