/* SPDX-License-Identifier: MIT */
/*
 * believed.h - read a file that another user may have made
 *
 * For the tools, which contain the library. Not installed.
 */
#ifndef KUNWIND_BELIEVED_H
#define KUNWIND_BELIEVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kunwind_symbolizer;

#define KUNWIND_NO_OWNER	((uid_t)-1)

struct kunwind_believed {
	const char *path;
	/*
	 * The file must belong to root, to the caller or to this user, and must not be
	 * a symbolic link. Does not count if the caller has named the path.
	 */
	uid_t owner;
	bool given;		/* the caller has named the path */
};

/*
 * Returns a descriptor of a copy in memory, which the caller closes. -1: the file
 * is not readable, no regular file, too large, or its file system does not answer.
 * @foreign: out, true if it belongs to a user who is not believed.
 */
int kunwind_read_believed(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *file,
			  bool *foreign);

#endif /* KUNWIND_BELIEVED_H */
