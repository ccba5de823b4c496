/* SPDX-License-Identifier: MIT */
/*
 * report.h - read the status of /dev/kunwind, split into lines and fields
 */
#ifndef KUNWIND_REPORT_H
#define KUNWIND_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#define KUNWIND_REPORT_FIELDS	8

/* One line of nr fields. field[0] is its kind. Further fields are "". */
struct kunwind_report_line {
	const char *field[KUNWIND_REPORT_FIELDS];
	int nr;
};

struct kunwind_report {
	char *text;			/* as read, with NULs in place of tabs and newlines */
	size_t size;
	struct kunwind_report_line *line;
	size_t nr;
};

/*
 * Reads the status. Returns 0, or a negative errno as libkunwind does; then
 * there is nothing to free.
 */
int kunwind_report_read(struct kunwind_report *report);
void kunwind_report_free(struct kunwind_report *report);

/*
 * Parses @text, from malloc(), of @size bytes and a NUL. Takes the text over,
 * also on failure: returns 0 or -ENOMEM.
 */
int kunwind_report_parse(struct kunwind_report *report, char *text, size_t size);

/*
 * Returns field number @field of the first line "KIND NAME ..."; NULL if there
 * is no such line. @name: NULL for any name.
 */
const char *kunwind_report_value(const struct kunwind_report *report,
				 const char *kind, const char *name, int field);

#endif /* KUNWIND_REPORT_H */
