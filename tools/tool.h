/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the subcommands of kunwind(1) share
 */
#ifndef KUNWIND_TOOL_H
#define KUNWIND_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#define KUNWIND_TOOL_VERSION	"0.1.0"

/* Exit statuses; those of "run" are env(1)'s. */
enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1,		/* also: wrong usage */
	TOOL_RUN_FAILED = 125,		/* run: kunwind itself failed, the command was not run */
	TOOL_RUN_CANNOT = 126,		/* run: the command was found but cannot be run */
	TOOL_RUN_NOT_FOUND = 127,
};

/* Subcommands: argv[0] is the name; the return value is the exit status. */
int kunwind_cmd_run(int argc, char **argv);
int kunwind_cmd_register(int argc, char **argv);
int kunwind_cmd_unregister(int argc, char **argv);
int kunwind_cmd_auto(int argc, char **argv);
int kunwind_cmd_status(int argc, char **argv);
int kunwind_cmd_doctor(int argc, char **argv);
int kunwind_cmd_dump(int argc, char **argv);
int kunwind_cmd_report(int argc, char **argv);
int kunwind_cmd_export(int argc, char **argv);
int kunwind_cmd_flamegraph(int argc, char **argv);
int kunwind_cmd_record(int argc, char **argv);
int kunwind_cmd_show(int argc, char **argv);

/* The subcommand that runs; NULL before it is known. */
extern const char *kunwind_tool_name;

/* "kunwind COMMAND: text" on stderr. */
void kunwind_tool_error(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* What a negative errno of libkunwind means and what to do about it. */
const char *kunwind_tool_advice(int error);

/* "kunwind COMMAND: @what: advice" on stderr. */
void kunwind_tool_failure(const char *what, int error);

/* (main.c) "Usage: ..." of the running subcommand on stderr, behind an error. Returns @status. */
int kunwind_tool_usage(int status);

/*
 * The options of "run" and "register" before their first argument: --children,
 * --no-children, --, and --json unless @json is NULL. Sets or clears
 * KUNWIND_REGISTER_CHILDREN in @flags. Returns the index of that argument, or -1
 * (with a message) at another option.
 */
int kunwind_tool_children(int argc, char **argv, unsigned int *flags, bool *json);

/* A process id, or -1 when @text is none. */
int kunwind_tool_pid(const char *text);

/* stdout is flushed; a failed write (full disk) is an error. Returns the exit status. */
int kunwind_tool_finish(int status);

/* Bytes of the UTF-8 character at @string (RFC 3629); 0: none, or a control character. */
unsigned int kunwind_tool_utf8(const char *string);

/*
 * @text as a JSON string on stdout; bytes that are no UTF-8 become U+FFFD,
 * control characters are escaped.
 */
void kunwind_tool_json_string(const char *text);
void kunwind_tool_json_string_to(FILE *out, const char *text);

/* Escape sequences for @stream's colours, "" when it is no terminal (or NO_COLOR is set). */
struct kunwind_colours {
	const char *good, *bad, *dim, *bold, *plain;
};
struct kunwind_colours kunwind_tool_colours(FILE *stream);

#endif /* KUNWIND_TOOL_H */
