/* SPDX-License-Identifier: MIT */
/*
 * setting.h - set a parameter of the module for the time of all recordings that need it
 */
#ifndef KUNWIND_RECORD_SETTING_H
#define KUNWIND_RECORD_SETTING_H

#include <stdbool.h>

#define SETTING_SIZE	16

struct setting_kind {
	const char *name;	/* also of the file in /run/kunwind */
	/* Returns false with errno. @value: SETTING_SIZE bytes, without a newline. */
	bool (*read)(const struct setting_kind *kind, char *value);
	bool (*write)(const struct setting_kind *kind, const char *value);
};

struct setting {
	const struct setting_kind *kind;	/* NULL: not set */
	int fd;					/* of the file in /run/kunwind; -1: not shared */
	char before[SETTING_SIZE], value[SETTING_SIZE];
};

enum setting_result {
	SETTING_DONE,
	SETTING_UNREADABLE,	/* errno */
	SETTING_REFUSED,	/* errno; @before: the value that it keeps */
	SETTING_OTHER,		/* another recording needs the value @before */
};

/* Sets the parameter to @value. Call setting_restore() only after SETTING_DONE. */
enum setting_result setting_begin(struct setting *setting, const struct setting_kind *kind,
				  const char *value);

/*
 * The last recording that needs the value gives the parameter the value that it had
 * before the first one, unless someone else has changed it.
 */
void setting_restore(struct setting *setting);

#endif /* KUNWIND_RECORD_SETTING_H */
