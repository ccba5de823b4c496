/* SPDX-License-Identifier: MIT */
/*
 * outfile.h - the output of "kunwind export" and "flamegraph": a file that the
 * user names, or standard output
 */
#ifndef KUNWIND_OUTFILE_H
#define KUNWIND_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct outfile {
	FILE *file;
	/* private to outfile.c */
	const char *path;	/* as the user named it, for messages */
	enum { OUT_IN_PLACE, OUT_UNNAMED, OUT_NAMED } state;
	int fd, dir;		/* dir: the directory that holds base */
	char base[256], temporary[48];
	struct stat existing;	/* the file that path names; st_nlink 0: a new file, or stdout */
	bool truncate;		/* before the first byte is written */
	int error;		/* errno of the first write that failed */
};

/*
 * @path: NULL or "-" for standard output. Returns false after a message; then
 * outfile_close() must not be called.
 */
bool outfile_open(struct outfile *out, const char *path);

/*
 * Returns false, after a message, if the output would damage the traces in and below
 * @paths (trace/inputs.h). Call it before the first write.
 */
bool outfile_spares(const struct outfile *out, char *const *paths, int nr);

/*
 * Writes the rest, and gives the file its name. @ok: false discards the output
 * if it is not written in place. Returns the exit status, after a message if
 * writing failed.
 */
int outfile_close(struct outfile *out, bool ok);

#endif /* KUNWIND_OUTFILE_H */
