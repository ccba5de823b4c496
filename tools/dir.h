/* SPDX-License-Identifier: MIT */
/*
 * dir.h - work in a directory by its descriptor
 *
 * A directory may belong to another user, who can replace each file and each
 * directory in it at any time. So a path is walked once. What is in the directory is
 * opened by single names relative to its descriptor, and what is checked is what is open.
 */
#ifndef KUNWIND_DIR_H
#define KUNWIND_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/**
 * kunwind_dir_find() - walk a path, follow its links, and open the last directory
 * @base: out: the last name, which is no link, and may not exist; "." if there is none.
 *	In /proc it may be a link, because links there are no paths.
 * @size: of @base
 *
 * Root follows only links of root and of the user of sudo(8), because it would do
 * for another user what that user may not do. A link of another user at the end of the
 * path is not followed in a sticky directory that all may write (/tmp), as with
 * fs.protected_symlinks.
 *
 * Return: a descriptor (O_PATH), or -1 with errno; EACCES for such a link.
 */
int kunwind_dir_find(const char *path, char *base, size_t size);

/* Opens a directory that the user has named, by kunwind_dir_find(); -1 with errno. */
int kunwind_dir_open(const char *path);

/* Opens the directory @name in @dir, no link and no mount point. Async-signal-safe. */
int kunwind_dir_at(int dir, const char *name);

/*
 * Opens the regular file @name in @dir, no link; does not wait for a FIFO. @own: to read and
 * write it; fails with EPERM if the file belongs to another user, or has several
 * names. Returns a descriptor, or -1 with errno.
 */
int kunwind_dir_file(int dir, const char *name, bool own);

/* Creates the file @name in @dir, and opens it for writing. It must not exist. */
int kunwind_dir_create(int dir, const char *name, mode_t mode);

/*
 * Calls @visit(dir, NAME, data) for each name in @dir. Returns false after an error,
 * or if @visit returned false, which ends it.
 */
bool kunwind_dir_each(int dir, bool (*visit)(int dir, const char *name, void *data), void *data);

/* Returns whether @dir has no entry, except for @except (may be NULL). */
bool kunwind_dir_is_empty(int dir, const char *except);

/*
 * Removes @name from @dir: a file, or a directory with all that is in it, up to
 * @levels of directories. Returns whether it is gone. Async-signal-safe.
 */
bool kunwind_dir_remove(int dir, const char *name, int levels);

/* A directory of this process alone, in $TMPDIR or /tmp. */
struct kunwind_dir_temporary {
	int above, fd;		/* the directory that has it, and itself */
	char name[64];
	char path[PATH_MAX];	/* for programs and libraries that take no descriptor */
};

/* Makes one; its name is @prefix and random letters. Returns false with errno; path names it then. */
bool kunwind_dir_temporary_make(struct kunwind_dir_temporary *temporary, const char *prefix);

/* Removes it with all that is in it, and closes it. Async-signal-safe. */
void kunwind_dir_temporary_remove(struct kunwind_dir_temporary *temporary);

/* Copies the absolute path that @dir has now. Returns false with errno. */
bool kunwind_dir_path(int dir, char *path, size_t size);

#endif /* KUNWIND_DIR_H */
