// SPDX-License-Identifier: MIT
/*
 * kallsyms.c - the file with a kernel's symbols that is saved with a trace
 *
 * Cost of reading: some 5 MB of memory for the 54,000 functions of Debian 12.
 */
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "kallsyms.h"

#define MAX_BYTES	(64u << 20)	/* of text; a kernel with many modules has 20 MB */
#define LEVELS_UP	3

/* Returns NULL if the file is not readable, or not believed. */
static gzFile open_file(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *believed,
			bool *foreign)
{
	int fd = kunwind_read_believed(symbolizer, believed, foreign);
	gzFile file = fd >= 0 ? gzdopen(fd, "r") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

bool kallsyms_boot(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *believed,
		   char boot[BOOT_ID], bool *foreign)
{
	gzFile file = open_file(symbolizer, believed, foreign);
	char head[400];
	int got;

	if (!file)
		return false;
	got = gzread(file, head, sizeof(head) - 1);
	gzclose(file);
	head[got > 0 ? got : 0] = '\0';
	/* releases have at most 64 bytes */
	return sscanf(head, "# kunwind kernel symbols 1\n# release %*64s\n# boot %36[0-9a-f-]", boot) == 1;
}

char *kallsyms_read(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *believed)
{
	bool foreign;
	gzFile file = open_file(symbolizer, believed, &foreign);
	size_t size = 1 << 20, at = 0;
	char *text = file ? malloc(size) : NULL, *bigger;
	int got = -1, err;

	while (text && (got = gzread(file, text + at, (unsigned int)(size - at - 1))) > 0) {
		at += (size_t)got;
		if (at < size - 1)
			continue;
		bigger = size < MAX_BYTES ? realloc(text, size * 2) : NULL;
		if (!bigger) {
			got = -1;
			break;
		}
		text = bigger;
		size *= 2;
	}
	/* gzread() returns 0 also at the end of a file that is cut off */
	if (file && !got) {
		gzerror(file, &err);
		got = err == Z_OK ? 0 : -1;
	}
	if (file)
		gzclose(file);
	if (got < 0 || !at) {
		free(text);
		return NULL;
	}
	text[at] = '\0';
	return text;
}

static bool add(struct kallsyms_files *files, const char *path)
{
	char **bigger = reallocarray(files->path, files->nr + 1, sizeof(*bigger));

	if (!bigger)
		return false;
	files->path = bigger;
	files->path[files->nr] = strdup(path);
	return files->path[files->nr++];
}

/* Adds the files in the directories above @dir. */
static bool add_above(struct kallsyms_files *files, const char *dir)
{
	char path[PATH_MAX + sizeof("/" KALLSYMS_NAME)];
	int level;
	char *end;

	if (!realpath(dir, path))
		return true;
	for (level = 0; level < LEVELS_UP; level++) {
		end = strrchr(path, '/');
		if (!end || end == path)
			break;
		strcpy(end + 1, KALLSYMS_NAME);
		if (!add(files, path))
			return false;
		*end = '\0';
	}
	return true;
}

/*
 * Returns the owner of all directories. If they have several owners, a file of one
 * of them could name the functions in a trace of another one.
 */
static uid_t owner_of(char *const *dirs, int nr_dirs)
{
	uid_t owner = KUNWIND_NO_OWNER;
	struct stat st;
	int i;

	for (i = 0; i < nr_dirs; i++) {
		if (stat(dirs[i], &st) || (i && st.st_uid != owner))
			return KUNWIND_NO_OWNER;
		owner = st.st_uid;
	}
	return owner;
}

bool kallsyms_find(struct kallsyms_files *files, char *const *dirs, int nr_dirs)
{
	char **roots = calloc((size_t)nr_dirs + 1, sizeof(*roots));
	FTS *fts = NULL;
	FTSENT *entry;
	bool ok = roots;
	int i;

	files->owner = owner_of(dirs, nr_dirs);
	if (ok && nr_dirs > 0) {
		memcpy(roots, dirs, (size_t)nr_dirs * sizeof(*roots));
		fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	}
	while (ok && fts && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_D && !strcmp(entry->fts_name, "index"))
			fts_set(fts, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F && !strcmp(entry->fts_name, KALLSYMS_NAME))
			ok = add(files, entry->fts_path);
	}
	if (fts)
		fts_close(fts);
	for (i = 0; ok && i < nr_dirs; i++)
		ok = add_above(files, dirs[i]);
	free(roots);
	return ok;
}

void kallsyms_files_free(struct kallsyms_files *files)
{
	while (files->nr)
		free(files->path[--files->nr]);
	free(files->path);
}
