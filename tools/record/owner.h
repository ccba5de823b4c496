/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the user as whom COMMAND runs, and who gets the trace
 */
#ifndef KUNWIND_RECORD_OWNER_H
#define KUNWIND_RECORD_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct owner {
	uid_t uid;
	gid_t gid;
	char *name;		/* NULL: this process's own user, and nothing is done */
	char *home, *shell;
};

/*
 * Finds the user: @user is the argument of -u; NULL: the user who called sudo(8), if this is root.
 * Returns false after a message.
 */
bool owner_find(struct owner *owner, const char *user);

/* Makes this process one of the user, with the environment of the user. Returns false with errno. */
bool owner_become(const struct owner *owner);

/*
 * Gives the user the directory @dir and what this process's user has made in it, and makes
 * @path the last recording of the user.
 */
void owner_give(const struct owner *owner, int dir, const char *path);

#endif /* KUNWIND_RECORD_OWNER_H */
