// SPDX-License-Identifier: MIT
/*
 * doctor_report.c - print lines, read files and run commands for kunwind doctor
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "read_all.h"
#include "tool.h"

static enum doctor_format format;
static int failures, lines;

static void print_json(const char *state, const char *what, const char *found, const char *fix)
{
	fputs(lines++ ? ",\n  {\"state\": " : "[\n  {\"state\": ", stdout);
	kunwind_tool_json_string(state);
	fputs(", \"requirement\": ", stdout);
	kunwind_tool_json_string(what);
	fputs(", \"finding\": ", stdout);
	kunwind_tool_json_string(found);
	fputs(", \"fix\": ", stdout);
	kunwind_tool_json_string(fix);
	putchar('}');
}

void doctor_line(enum doctor_state state, const char *what, const char *found, const char *fix, ...)
{
	static const char *const name[] = { "ok", "FAIL", "note" };
	const struct kunwind_colours c = kunwind_tool_colours(stdout);
	const char *colour = state == DOCTOR_OK ? c.good : state == DOCTOR_FAIL ? c.bad : c.bold;
	char text[512] = "";
	va_list args;

	va_start(args, fix);
	if (fix)
		vsnprintf(text, sizeof(text), fix, args);
	va_end(args);
	failures += state == DOCTOR_FAIL;
	if (format == DOCTOR_JSON) {
		print_json(name[state], what, found, text);
		return;
	}
	if (format == DOCTOR_TSV)
		printf("%s\t%s\t", name[state], what);
	else
		printf("%s%-5s%s %-18s ", colour, name[state], c.plain, what);
	kunwind_tool_text(stdout, found, "");
	fputs(format == DOCTOR_TSV ? "\t" : *text ? "; fix: " : "", stdout);
	kunwind_tool_text(stdout, text, "");
	putchar('\n');
}

void doctor_begin(enum doctor_format wanted)
{
	format = wanted;
}

int doctor_end(void)
{
	if (format == DOCTOR_JSON)
		puts("\n]");
	if (format == DOCTOR_TEXT && failures)
		printf("%d requirement%s not met\n", failures, failures == 1 ? " is" : "s are");
	return failures;
}

const char *doctor_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* modinfo is in sbin, which is not in the PATH of ordinary users. */
static const char *which_tool(const char *command, char *path, size_t size)
{
	static const char *const dir[] = { "/usr/sbin", "/sbin" };
	size_t i;

	if (kunwind_tool_which(command, path, size))
		return path;
	for (i = 0; i < 2; i++) {
		snprintf(path, size, "%s/%s", dir[i], command);
		if (!access(path, X_OK))
			return path;
	}
	return NULL;
}

bool doctor_command(char *text, size_t size, const char *command, ...)
{
	char path[4096], *argv[8];
	int status, argc = 1;
	va_list args;

	*text = '\0';
	if (!which_tool(command, path, sizeof(path)))
		return false;
	argv[0] = path;
	va_start(args, command);
	while (argc < 7 && (argv[argc] = va_arg(args, char *)))
		argc++;
	va_end(args);
	argv[argc] = NULL;
	status = kunwind_read_output(path, argv, text, size);
	text[strcspn(text, "\n")] = '\0';
	return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
