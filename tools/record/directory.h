/* SPDX-License-Identifier: MIT */
/*
 * directory.h - the directory that a recording writes
 */
#ifndef KUNWIND_RECORD_DIRECTORY_H
#define KUNWIND_RECORD_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

struct directory {
	const char *name;	/* as the user gave it, or the default one */
	char path[PATH_MAX];	/* absolute */
	bool made;		/* it was not there before */
	int lock;		/* descriptor; -1: none */
};

/*
 * Takes the directory @name, which is made if needed and must be empty. NULL: makes a
 * new one, named after the time, in the current directory. Sets all of @directory;
 * name points to static memory if @name is NULL. False: after a message.
 */
bool directory_take(struct directory *directory, const char *name);

/* Removes the directory if it was made and nothing was written, and unlocks it. */
void directory_release(struct directory *directory);

/* Returns whether a directory has no entry, or only @except. */
bool directory_is_empty(const char *path, const char *except);

#endif /* KUNWIND_RECORD_DIRECTORY_H */
