/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - functions that the files of kunwind doctor share
 */
#ifndef KUNWIND_DOCTOR_H
#define KUNWIND_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_state { DOCTOR_OK, DOCTOR_FAIL, DOCTOR_NOTE };

enum doctor_format { DOCTOR_TEXT, DOCTOR_TSV, DOCTOR_JSON };

/* Sets the format of the lines. Call this before the first line. */
void doctor_begin(enum doctor_format format);
/* Ends the output. Returns how many requirements are not met. */
int doctor_end(void);

/*
 * Prints one line. @what: the requirement; @found: what the check found; @fix:
 * a format, what the user should do (NULL or "": nothing).
 */
void doctor_line(enum doctor_state state, const char *what, const char *found,
		 const char *fix, ...) __attribute__((__format__(__printf__, 4, 5)));

/* Checks LTTng (doctor_lttng.c), one line each. @kernel: uname's release. */
void doctor_lttng(const char *kernel);

/* Checks what stacks of events of LTTng-UST need (doctor_ust.c), one line each. */
void doctor_ust(void);

/* The socket of a session daemon, and that of root's. */
#define DOCTOR_CLIENT_SOCKET	"client-lttng-sessiond"
#define DOCTOR_ROOT_SOCKET	"/run/lttng/" DOCTOR_CLIENT_SOCKET

/* (doctor_lttng.c) Returns 0 if a daemon answers at this socket, else an errno. */
int doctor_connect(const char *path);

/*
 * Sets @text to the first line of a small file, without the newline; to "" if
 * the file cannot be read. Returns @text.
 */
const char *doctor_file(const char *path, char *text, size_t size);

/*
 * Runs a command from PATH, /usr/sbin or /sbin, with at most 6 arguments and a
 * final NULL. Sets @text to the first line of its output, "" if there is none.
 * Returns false if the command cannot be run or fails.
 */
bool doctor_command(char *text, size_t size, const char *command, ...)
	__attribute__((__sentinel__));

#endif /* KUNWIND_DOCTOR_H */
