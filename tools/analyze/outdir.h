/* SPDX-License-Identifier: MIT */
/*
 * outdir.h - the directory that "kunwind export ctf" writes
 */
#ifndef KUNWIND_OUTDIR_H
#define KUNWIND_OUTDIR_H

#include <limits.h>
#include <stdbool.h>

struct outdir {
	const char *path;		/* as the user named it */
	char inside[48];		/* where to write: a directory to be made in "in" */
	int in;				/* a directory inside, to which no other user can write */
	/* private to outdir.c */
	bool made;			/* it did not exist */
	int dir;			/* open, and locked with flock(2) */
	int above;			/* the directory that has it under the name "base" */
	char base[NAME_MAX + 1];
};

/*
 * @path: a directory that is empty or does not exist. Returns false after a
 * message; then outdir_close() must not be called. One may be open at a time, and
 * @out must live as long as the program.
 */
bool outdir_open(struct outdir *out, const char *path);

/*
 * Returns false, after a message, if @out is in the directory of one of the traces in and
 * below @paths.
 */
bool outdir_spares(const struct outdir *out, char *const *paths, int nr);

/*
 * Moves what was written to the directory itself. @ok: false removes
 * it, and the directory if it did not exist. Returns @ok, or false after a message.
 */
bool outdir_close(struct outdir *out, bool ok);

#endif /* KUNWIND_OUTDIR_H */
