/* SPDX-License-Identifier: MIT */
/*
 * directory.h - make and lock the directory of a recording
 */
#ifndef KUNWIND_RECORD_DIRECTORY_H
#define KUNWIND_RECORD_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

struct directory {
	const char *name;	/* as the user gave it, or the default one */
	char path[PATH_MAX];	/* absolute */
	bool made;		/* it was not there before */
	int lock;		/* descriptor of the directory, which is locked; -1: none */
	/* private to directory.c */
	int above;		/* the directory that has it under the name "base"; -1: none */
	char base[NAME_MAX + 1];
};

/*
 * Makes the directory @name, or takes an existing empty one, and locks it. @name NULL:
 * makes one in the current directory, with a name made from the time; directory->name
 * then points to static memory. Sets all of @directory. False: after a message.
 */
bool directory_take(struct directory *directory, const char *name);

/* Removes the directory if it was made and nothing was written, and unlocks it. */
void directory_release(struct directory *directory);

#endif /* KUNWIND_RECORD_DIRECTORY_H */
