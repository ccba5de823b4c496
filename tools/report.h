/* SPDX-License-Identifier: MIT */
/*
 * report.h - the text that /dev/kunwind gives to read(2), line by line
 */
#ifndef KUNWIND_REPORT_H
#define KUNWIND_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#define KUNWIND_REPORT_FIELDS	8

/* One line: field[0] is its kind; fields that are missing are "". */
struct kunwind_report_line {
	const char *field[KUNWIND_REPORT_FIELDS];
	int nr;
};

struct kunwind_report {
	char *text;			/* as read, each line a string of its own */
	size_t size;
	struct kunwind_report_line *line;
	size_t nr;
};

/* Reads it. 0 or a negative errno as libkunwind's; then nothing is to be freed. */
int kunwind_report_read(struct kunwind_report *report);
void kunwind_report_free(struct kunwind_report *report);

/* The same from a text that ends in a NUL, which becomes the report's. */
int kunwind_report_parse(struct kunwind_report *report, char *text, size_t size);

/* Field number @field of the first line "KIND NAME ..." (NULL: any name), or NULL. */
const char *kunwind_report_value(const struct kunwind_report *report,
				 const char *kind, const char *name, int field);

#endif /* KUNWIND_REPORT_H */
