// SPDX-License-Identifier: MIT
/*
 * tool.c - what kunwind(1) and the programs behind its subcommands share
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <kunwind.h>

#include "tool.h"

const char *kunwind_tool_name;

void kunwind_tool_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "kunwind%s%s: ", kunwind_tool_name ? " " : "",
		kunwind_tool_name ? kunwind_tool_name : "");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void kunwind_tool_failure(const char *what, int error)
{
	const char *advice;

	switch (error) {
	case -ENODEV:
		advice = "the module is not loaded: sudo modprobe kunwind (kunwind doctor tells more)";
		break;
	case -EACCES:
		if (access(KUNWIND_DEVICE, R_OK) == 0) {
			advice = "it was registered by another user: use sudo";
			break;
		}
		advice = "may not open " KUNWIND_DEVICE ": use sudo, or join the group tracing "
			 "(sudo usermod -aG tracing $USER, then log in again)";
		break;
	case -EOPNOTSUPP:
		advice = "kunwind is switched off: "
			 "echo Y | sudo tee /sys/module/kunwind/parameters/enabled";
		break;
	case -EPERM:
		advice = "not allowed: use sudo";
		break;
	case -ESRCH:
		advice = "no such process, or none that you may trace (use sudo), or a kernel thread";
		break;
	case -ENOENT:
		advice = "it is not registered";
		break;
	case -ENOSPC:
		advice = "the module's limit of registered processes is reached";
		break;
	case -ENOTTY:
	case -E2BIG:
		advice = "the module is older than this tool: reload it (sudo rmmod kunwind; "
			 "sudo modprobe kunwind)";
		break;
	default:
		advice = strerror(-error);
	}
	kunwind_tool_error("%s%s%s", what ? what : "", what ? ": " : "", advice);
}

int kunwind_tool_pid(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT_MAX || text[0] < '0' || text[0] > '9')
		return -1;
	return (int)pid;
}

int kunwind_tool_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)	/* the reader has seen enough */
		return status;
	kunwind_tool_error("cannot write: %s", strerror(errno));
	return status ? status : TOOL_FAILED;
}

struct kunwind_colours kunwind_tool_colours(FILE *stream)
{
	const char *term = getenv("TERM");

	if (!isatty(fileno(stream)) || getenv("NO_COLOR") || !term || !strcmp(term, "dumb"))
		return (struct kunwind_colours){ "", "", "", "", "" };
	return (struct kunwind_colours){ "\033[32m", "\033[1;31m", "\033[2m", "\033[1m", "\033[0m" };
}
