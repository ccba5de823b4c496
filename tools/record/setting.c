// SPDX-License-Identifier: MIT
/*
 * setting.c - set a parameter of the module for the time of all recordings that need it
 *
 * The parameters of the module hold for the whole system. So the recorders of root, who
 * alone may change them, share a file for each parameter in /run/kunwind. Each
 * recorder holds a claim on it (claim.c). The file has the value from before the
 * first recording, and the one that was set; it is empty if nothing is set. If all
 * recorders are killed, the next one finds both values, and restores the first.
 *
 * Recorders in another mount namespace are not seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "claim.h"
#include "dir.h"
#include "setting.h"

#ifndef SETTING_DIRECTORY
#define SETTING_DIRECTORY	"/run/kunwind"
#endif

/* Opens the file of this parameter. -1: this user may not, or there is no such directory. */
static int open_file(const char *name)
{
	int dir, fd = -1;

	mkdir(SETTING_DIRECTORY, 0700);
	dir = kunwind_dir_open(SETTING_DIRECTORY);
	if (dir >= 0) {
		fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		close(dir);
	}
	return fd;
}

/* Reads both values. Returns false if the file is empty. */
static bool read_file(int fd, char *before, char *value)
{
	char text[2 * SETTING_SIZE];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%15s %15s", before, value) == 2;
}

static void write_file(const struct setting *setting)
{
	char text[2 * SETTING_SIZE];
	int size = snprintf(text, sizeof(text), "%s %s\n", setting->before, setting->value);

	if (ftruncate(setting->fd, 0) || pwrite(setting->fd, text, (size_t)size, 0) != size)
		errno = 0;	/* then a recorder that ends later restores its own value */
}

/*
 * Claims the file. Sets setting->before to the value to be restored, if another
 * recorder has left or set it; else to @now.
 */
static enum claim claim(struct setting *setting, const char *now)
{
	char before[SETTING_SIZE], value[SETTING_SIZE];
	enum claim claim;
	int tries;

	for (tries = 0; tries < 10; tries++) {
		claim = claim_take(setting->fd);
		strcpy(setting->before, now);
		if (claim == CLAIM_NONE)
			return claim;
		if (read_file(setting->fd, before, value)) {
			if (claim == CLAIM_SHARED || !strcmp(now, value))
				strcpy(setting->before, before);
			strcpy(setting->value, value);
			return claim;
		}
		strcpy(setting->value, "");
		if (claim == CLAIM_FIRST)
			return claim;
		/* the others have ended before this one had its lock: try to be the first */
		claim_drop(setting->fd);
		setting->fd = open_file(setting->kind->name);
	}
	return CLAIM_NONE;
}

enum setting_result setting_begin(struct setting *setting, const struct setting_kind *kind,
				  const char *value)
{
	enum setting_result result = SETTING_DONE;
	char now[SETTING_SIZE];
	enum claim claimed;
	int error;

	*setting = (struct setting){ .kind = kind, .fd = open_file(kind->name) };
	claimed = kind->read(kind, now) ? claim(setting, now) : CLAIM_NONE;
	if (!kind->read(kind, now)) {
		result = SETTING_UNREADABLE;
	} else if (claimed == CLAIM_SHARED && strcmp(setting->value, value)) {
		strcpy(setting->before, setting->value);
		result = SETTING_OTHER;
	} else if (strcmp(now, value) && !kind->write(kind, value)) {
		result = SETTING_REFUSED;
	}
	error = errno;
	strcpy(setting->value, value);
	if (result == SETTING_DONE && claimed == CLAIM_FIRST)
		write_file(setting);
	if (result == SETTING_DONE && claimed != CLAIM_NONE) {
		claim_share(setting->fd);
		return result;
	}
	if (setting->fd >= 0)
		claim_drop(setting->fd);
	setting->fd = -1;
	if (result != SETTING_DONE)
		setting->kind = NULL;
	errno = error;
	return result;
}

void setting_restore(struct setting *setting)
{
	const struct setting_kind *kind = setting->kind;
	char now[SETTING_SIZE];

	setting->kind = NULL;
	if (!kind)
		return;
	if (setting->fd < 0 || claim_is_last(setting->fd)) {
		if (strcmp(setting->before, setting->value) && kind->read(kind, now) &&
		    !strcmp(now, setting->value))
			kind->write(kind, setting->before);
		if (setting->fd >= 0 && ftruncate(setting->fd, 0))
			errno = 0;
	}
	claim_drop(setting->fd);
	setting->fd = -1;
}
