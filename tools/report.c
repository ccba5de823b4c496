// SPDX-License-Identifier: MIT
/*
 * report.c - read the status of /dev/kunwind, split into lines and fields
 *
 * The end of kmod/uapi/kunwind.h describes the format. Memory: the text, and 72
 * bytes for each line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <kunwind.h>

#include "report.h"

int kunwind_report_parse(struct kunwind_report *report, char *text, size_t size)
{
	char *at = text, *end;
	size_t lines = 1, i;

	for (i = 0; i < size; i++)
		lines += text[i] == '\n';
	*report = (struct kunwind_report){ .text = text, .size = size };
	report->line = calloc(lines, sizeof(*report->line));
	if (!report->line) {
		free(text);
		return -ENOMEM;
	}
	for (; *at; at = end + 1) {
		struct kunwind_report_line *line = &report->line[report->nr];
		char *field = at;

		end = strchrnul(at, '\n');
		if (!*end)
			break;		/* the last line is cut off */
		*end = '\0';
		for (i = 0; i < KUNWIND_REPORT_FIELDS; i++)
			line->field[i] = "";
		while (field && line->nr < KUNWIND_REPORT_FIELDS) {
			char *tab = line->nr < KUNWIND_REPORT_FIELDS - 1 ? strchr(field, '\t') : NULL;

			if (tab)
				*tab++ = '\0';
			line->field[line->nr++] = field;
			field = tab;
		}
		report->nr++;
	}
	return 0;
}

int kunwind_report_read(struct kunwind_report *report)
{
	size_t size = 0, room = 0;
	char *text = NULL, *more;
	ssize_t n;
	int fd, err;

	fd = open(KUNWIND_DEVICE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENXIO ? -ENODEV : errno == EPERM ? -EACCES : -errno;
	for (;;) {
		if (room - size < 4096) {
			room = room ? 2 * room : 65536;
			more = realloc(text, room);
			if (!more) {
				err = -ENOMEM;
				break;
			}
			text = more;
		}
		n = read(fd, text + size, room - size - 1);
		err = n < 0 ? -errno : 0;
		if (err == -EINTR)
			continue;
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	close(fd);
	if (err) {
		free(text);
		return err;
	}
	text[size] = '\0';
	return kunwind_report_parse(report, text, size);
}

void kunwind_report_free(struct kunwind_report *report)
{
	free(report->line);
	free(report->text);
	*report = (struct kunwind_report){ 0 };
}

const char *kunwind_report_value(const struct kunwind_report *report,
				 const char *kind, const char *name, int field)
{
	size_t i;

	for (i = 0; i < report->nr; i++)
		if (!strcmp(report->line[i].field[0], kind) &&
		    (!name || !strcmp(report->line[i].field[1], name)))
			return report->line[i].field[field];
	return NULL;
}
