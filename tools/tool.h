/* SPDX-License-Identifier: MIT */
/*
 * tool.h - functions that the subcommands of kunwind(1) share
 */
#ifndef KUNWIND_TOOL_H
#define KUNWIND_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses. Those of "run", which "record" also uses, are env(1)'s. */
enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1,		/* also: nothing was found */
	TOOL_USAGE = 2,			/* wrong usage; TOOL_RUN_FAILED if the status is that of a command */
	TOOL_RUN_FAILED = 125,		/* kunwind itself failed; the command was not run */
	TOOL_RUN_CANNOT = 126,		/* the command was found but cannot be run */
	TOOL_RUN_NOT_FOUND = 127,
};

/* The subcommands. argv[0] is the name. They return the exit status. */
int kunwind_cmd_run(int argc, char **argv);
int kunwind_cmd_register(int argc, char **argv);
int kunwind_cmd_unregister(int argc, char **argv);
int kunwind_cmd_system_wide(int argc, char **argv);
int kunwind_cmd_status(int argc, char **argv);
int kunwind_cmd_doctor(int argc, char **argv);
int kunwind_cmd_dump(int argc, char **argv);
int kunwind_cmd_analyze(int argc, char **argv);	/* report, export and flamegraph */
int kunwind_cmd_record(int argc, char **argv);	/* record and profile */
int kunwind_cmd_crashes(int argc, char **argv);
int kunwind_cmd_show(int argc, char **argv);
int kunwind_cmd_snapshot(int argc, char **argv);
int kunwind_cmd_stackwalk(int argc, char **argv);	/* stack and stackwalk */
int kunwind_cmd_symbolize(int argc, char **argv);

/* The subcommand that runs; NULL before it is known. Its arguments, for "Usage: ...". */
extern const char *kunwind_tool_name, *kunwind_tool_arguments;

/*
 * Flushes stdout and prints "kunwind COMMAND: text" on stderr, in the form of
 * kunwind_tool_text().
 */
void kunwind_tool_error(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* Returns what a negative errno of libkunwind means, and what to do then. */
const char *kunwind_tool_advice(int error);

/* For the user: what is missing. */
#define KUNWIND_NO_PROC	"/proc is not mounted: mount -t proc proc /proc"

/* For the user: ends LTTng's session daemon, and starts another one. */
#define KUNWIND_RESTART	"sudo pkill -KILL -x lttng-sessiond; sudo lttng-sessiond --daemonize"

/* Prints "kunwind COMMAND: @what: advice" on stderr. @what may be NULL. */
void kunwind_tool_failure(const char *what, int error);

/* "Usage: ..." of the running subcommand on stderr, after an error. Returns @status. */
int kunwind_tool_usage(int status);

/*
 * (tool.c) Reads the options of "run" and "register": --children,
 * --no-children, --, and one @more. Sets or clears
 * KUNWIND_REGISTER_CHILDREN in @flags. Returns the index of the first argument
 * (argc if there is none), or -1, after a message, at another option.
 */
struct tool_more {
	const char *letter, *option;
	bool *given;
};
int kunwind_tool_children(int argc, char **argv, unsigned int *flags, const struct tool_more *more);

/*
 * Writes the path of a program behind a subcommand. @size: at least 128.
 * Returns false, with errno, if the program is not found.
 */
bool kunwind_tool_helper(const char *program, char *path, size_t size);

/* Returns whether this program was installed by dpkg, and not by "make install". */
bool kunwind_tool_packaged(void);

/*
 * Returns the command that installs a part of kunwind that is missing. @package: the package that
 * has it. The text is valid until the next call.
 */
const char *kunwind_tool_install(const char *package);

/* Returns whether an argument is this long option, or the short one of its first letter. */
bool kunwind_tool_is(const char *argument, const char *option);

/* Reads decimal digits. Returns false if @text has others, or is above @max. */
bool kunwind_tool_number(const char *text, uint64_t max, uint64_t *number);

/* Returns the process id in @text; -1 if @text is none. */
int kunwind_tool_pid(const char *text);

/*
 * Ends a command at its options. @parsed: above 0: help was printed; below: wrong usage, after a
 * message. Returns the exit status.
 */
int kunwind_tool_parsed(int parsed);

/* Sets *output to what -o names. Returns false, after a message, if it is given twice. */
bool kunwind_tool_output(const char **output, const char *name);

/* Returns whether the name of an output file is empty. If it is, prints a message. */
bool kunwind_tool_is_empty(const char *output);

/*
 * Flushes stdout. Returns false if any write to it has failed; then the command
 * should end, and kunwind_tool_finish() reports the failure.
 */
bool kunwind_tool_flush(void);

/*
 * Flushes stdout. Returns @status, or TOOL_FAILED, after a message, if writing
 * failed. A reader that has gone (EPIPE) is no failure. @status: TOOL_OK if writing
 * is the only failure.
 */
int kunwind_tool_finish(int status);

/*
 * Writes text that others chose: names of files and processes, fields of
 * events. Control characters, characters that change the direction of text, and
 * bytes that are not UTF-8 become \xNN, so the text is safe in a terminal and in
 * a table. Characters in @escape get a backslash. Returns the number of
 * characters written.
 */
unsigned int kunwind_tool_text(FILE *out, const char *text, const char *escape);

/* The characters that are special to a shell, for @escape. The text is then one word of a command. */
#define KUNWIND_SHELL_SPECIAL	" !\"#$&'()*;<=>?[\\]^`{|}~"

/*
 * Writes @text as a JSON string, with its quotation marks, to stdout or @out.
 * Bytes that are not UTF-8 become U+FFFD; control characters are escaped.
 */
void kunwind_tool_json_string(const char *text);
void kunwind_tool_json_string_to(FILE *out, const char *text);

/*
 * Returns the escape sequences for colours; all "" if --color (KUNWIND_COLOR) says so, or if
 * @stream is no terminal or NO_COLOR is not empty.
 */
struct kunwind_colours {
	const char *good, *bad, *dim, *bold, *plain;
};
struct kunwind_colours kunwind_tool_colours(FILE *stream);

/* Returns the last part of a path; all of it if that is empty. */
const char *kunwind_tool_base_name(const char *path);

/* Sets @path to the file that PATH has for @command; returns it, or NULL. */
const char *kunwind_tool_which(const char *command, char *path, size_t size);

#endif /* KUNWIND_TOOL_H */
