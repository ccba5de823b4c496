// SPDX-License-Identifier: MIT
/*
 * help_options.c - the options of a command, from its help text
 *
 * An option is a line that begins with "  -x, --name" or "      --name". It takes an argument if
 * one blank and a word follow. The completions read the same lines, so what --help lists, what is
 * offered and what is accepted cannot differ.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "help_options.h"
#include "tool.h"

const char *help_option_name;
static struct option *table;
static char *letters;
static bool runs_command;	/* COMMAND's own statuses are not ours */

static void no_memory(void)
{
	kunwind_tool_error("out of memory");
	exit(runs_command ? TOOL_RUN_FAILED : TOOL_FAILED);
}

static int id_of(const char *name, const struct help_id *ids)
{
	for (; ids && ids->name; ids++)
		if (!strcmp(ids->name, name))
			return ids->id;
	return 0;
}

/* Takes the option of a line. Returns false if the line begins with none. */
static bool take_line(const char *line, struct option *option, const struct help_id *ids,
		      const struct help_id *more)
{
	size_t indent = strspn(line, " "), length;
	const char *name = line + indent;
	char *end = letters + strlen(letters);

	if (indent == 2 && name[0] == '-' && name[2] == ',') {
		option->val = name[1];
		name += strlen("-x, ");
	} else if (indent != 6) {
		return false;
	}
	if (strncmp(name, "--", 2))
		return false;
	name += 2;
	length = strcspn(name, " \n");
	option->name = strndup(name, length);
	option->has_arg = name[length] == ' ' && name[length + 1] != ' ' ? required_argument : no_argument;
	if (!option->name)
		no_memory();
	if (option->val) {
		end[0] = (char)option->val;
		end[1] = option->has_arg ? ':' : '\0';
	} else {
		option->val = id_of(option->name, ids);
		if (!option->val)
			option->val = id_of(option->name, more);
		if (!option->val)
			abort();	/* the command does not know an option of its help text */
	}
	return true;
}

static void read_help(const char *help, const struct help_id *ids, const struct help_id *more)
{
	size_t nr = 0, lines = 1;
	const char *line;

	runs_command = strstr(help, "[--] COMMAND");
	for (line = help; (line = strchr(line, '\n')); line++)
		lines++;
	table = calloc(lines + 1, sizeof(*table));
	letters = calloc(2 * lines + 2, 1);
	if (!table || !letters)
		no_memory();
	if (runs_command)
		*letters = '+';		/* getopt(3): do not look for options behind other arguments */
	for (line = help; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		nr += take_line(line, &table[nr], ids, more);
	}
}

int help_option(int argc, char **argv, const char *help, const struct help_id *ids,
		const struct help_id *more)
{
	int c, index = 0;

	if (!table)
		read_help(help, ids, more);
	c = getopt_long(argc, argv, letters, table, &index);
	help_option_name = table[index].name;
	return c;
}
