// SPDX-License-Identifier: MIT
/*
 * main.c - kunwind(1): one table of subcommands drives dispatch and help
 *
 * The table has each subcommand's synopsis and help text, so this file answers
 * --help (on stdout, status 0) and wrong usage (on stderr, status 2; for "run"
 * 125) in one form. Subcommands that are programs of their own (exec_helper.c)
 * answer both themselves. --version is the same for all.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kunwind.h>

#include "near.h"
#include "pager.h"
#include "tool.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *summary;
	const char *help;	/* NULL: exec_helper.c; the program answers --help */
} commands[] = {
	{ "run", kunwind_cmd_run, "[--no-children] [--ust] [--] COMMAND [ARGUMENT]...",
	  "register this process, then become COMMAND",
	  "COMMAND keeps the process id, standard input, signals and exit status; the\n"
	  "registration lasts across execve(2).\n"
	  "With perf: kunwind run -- perf record -g COMMAND, which does not sample kunwind.\n"
	  "\n"
	  "  -c, --children     register child processes, too (default)\n"
	  "      --no-children  register no child processes\n"
	  "  -U, --ust          COMMAND's events of LTTng-UST have stacks, also without the module\n"
	  "\n"
	  "Exit status: COMMAND's; 125 when kunwind itself failed (no module, wrong\n"
	  "usage), 126 when COMMAND cannot be run, 127 when it is not found.\n" },
	{ "register", kunwind_cmd_register, "[--children] [--json] [--] PID...",
	  "register running processes",
	  "Needs the right to ptrace each PID. Registering again is no error.\n"
	  "\n"
	  "  -c, --children     also register processes that they fork from now on\n"
	  "      --no-children  register no child processes (default)\n"
	  "  -j, --json         a list with an object for each PID, see kunwind-json(5)\n"
	  "\n"
	  "Prints, for each: PID, executable mappings, mappings with a table (tab-separated).\n" },
	{ "unregister", kunwind_cmd_unregister, "[--json] [--] PID...",
	  "leave processes to the kernel's own stack walk again",
	  "Needs the right to ptrace each PID.\n"
	  "\n"
	  "  -j, --json  a list with an object for each PID, see kunwind-json(5)\n" },
	{ "system-wide", kunwind_cmd_system_wide, "[--json] [on|off]",
	  "register every process, running or to come",
	  "Needs root (CAP_SYS_ADMIN). Without an argument: prints on or off.\n"
	  "\n"
	  "  on   registers all processes of the system, in all namespaces: those that\n"
	  "       run now, and new ones when they fork or exec. A process whose memory\n"
	  "       map is locked is registered later\n"
	  "  off  ends this. Processes of \"run\" and \"register\" stay registered\n"
	  "\n"
	  "  -j, --json  print an object with the new state, see kunwind-json(5)\n" },
	{ "status", kunwind_cmd_status, "[--tsv|--json]",
	  "processes, objects, memory, stacks by reason, hooks",
	  "  -t, --tsv   the module's own lines: kind, then fields (see kunwind(1))\n"
	  "  -j, --json  one object, see kunwind-json(5)\n"
	  "\n"
	  "Processes and objects of other users are shown to root only.\n" },
	{ "doctor", kunwind_cmd_doctor, "[--tsv|--json]",
	  "check what is needed, and how to get what is missing",
	  "One line for each requirement: ok, FAIL with its fix, or a note.\n"
	  "Exit status: 0 when nothing fails, else 1.\n"
	  "\n"
	  "  -t, --tsv   state, requirement, finding, fix\n"
	  "  -j, --json  a list of objects with these, see kunwind-json(5)\n" },
	{ "record", kunwind_cmd_record, "[OPTION]... [-p PID]... [[--] COMMAND [ARGUMENT]...]",
	  "record a trace of COMMAND or of running processes", NULL },
	{ "snapshot", kunwind_cmd_snapshot, "[OPTION]... [RECORDER]",
	  "write what a flight recorder (record --flight) holds", NULL },
	{ "profile", kunwind_cmd_record, "[OPTION]... [-p PID]... [[--] COMMAND [ARGUMENT]...]",
	  "sample what CPUs execute: COMMAND, running processes or all", NULL },
	{ "report", kunwind_cmd_analyze, "[OPTION]... [TRACE]...",
	  "sum up a trace by system call and function", NULL },
	{ "waits", kunwind_cmd_analyze, "[OPTION]... [TRACE]...",
	  "explain times off the CPU: causes, wakers, locks and their holders", NULL },
	{ "flamegraph", kunwind_cmd_analyze, "[OPTION]... -o FILE.html [TRACE]...",
	  "draw a trace as a flame graph", NULL },
	{ "export", kunwind_cmd_analyze, "FORMAT [OPTION]... [TRACE]...",
	  "write a trace as folded stacks, for speedscope, Perfetto, Trace Compass ...", NULL },
	{ "show", kunwind_cmd_show, "[OPTION]... [TRACE]...",
	  "print a trace's events with named call stacks", NULL },
	{ "crashes", kunwind_cmd_crashes, "[OPTION]... [TRACE...]",
	  "print each signal that kills a process, with its call stack", NULL },
	{ "symbolize", kunwind_cmd_symbolize, "[OPTION]... [TRACE]...|-p PID|-m FILE",
	  "name the addresses in the output of other tools", NULL },
	{ "stack", kunwind_cmd_stackwalk, "[OPTION]... PID...",
	  "print the call stacks of running processes", NULL },
	{ "stackwalk", kunwind_cmd_stackwalk, "[OPTION]... FILE",
	  "print the call stacks of a core or of a minidump", NULL },
	{ "dump", kunwind_cmd_dump, "[--tsv|--json] [--saved] ELF",
	  "print the unwind table that the kernel would use",
	  "One line for each row: start address, then the rules for the CFA, rbp and\n"
	  "the return address (ra), looked up as the walk does.\n"
	  "  rsp+16       register plus offset         *(rbp-8)  the word there\n"
	  "  c-16         the word at CFA-16           v-16      CFA-16 itself\n"
	  "  u            undefined (ra: outermost)    s         same as in the callee\n"
	  "  exp(...)     the word where the DWARF expression says\n"
	  "  vexp(...)    the expression's value\n"
	  "  -            no CFI for these addresses\n"
	  "A fifth column has what else a row says: \"signal\", rules of more registers.\n"
	  "\n"
	  "  -t, --tsv    separated by tabs, without the heading\n"
	  "  -j, --json   one object, see kunwind-json(5)\n"
	  "      --saved  with the rules of rbx and r12 to r15\n" },
};
#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static const struct command *running;

static void set_running(const struct command *command)
{
	running = command;
	kunwind_tool_name = command ? command->name : NULL;
	kunwind_tool_arguments = command ? command->arguments : NULL;
}

static void print_overview(FILE *out)
{
	size_t i;

	fputs("Usage: kunwind COMMAND [ARGUMENT]...\n\n"
	      "Call stacks of user programs, taken by the kernel without frame pointers.\n\n", out);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].summary);
	fputs("\nkunwind COMMAND --help tells more, as does the manual page kunwind(1).\n"
	      "Each command takes --help and --version, and if it runs no program of yours:\n"
	      "  --color=WHEN  colours: auto (default: on a terminal, unless NO_COLOR is set),\n"
	      "                always or never\n"
	      "  --no-pager    report, waits, show and dump: no pager on a terminal (KUNWIND_PAGER,\n"
	      "                PAGER, or less)\n\n"
	      "Exit status of a command: 0; 1 after an error, or if nothing was found; 2 after wrong\n"
	      "usage. \"run\", \"record\" and \"profile\": that of the program, or 125.\n", out);
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int no_command(const char *name)
{
	struct near near = { .wanted = name };
	char text[64];
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		near_try(&near, commands[i].name);
	kunwind_tool_error("no command \"%s\"%s (try: kunwind --help)", name,
			   near_text(&near, text, sizeof(text)));
	return TOOL_USAGE;
}

static void print_help(const struct command *command)
{
	printf("Usage: kunwind %s %s\n\n%c%s.\n\n%s", command->name, command->arguments,
	       command->summary[0] - 'a' + 'A', command->summary + 1, command->help);
}

static bool is_help(const char *argument)
{
	return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

/* Returns whether the command runs a program, which has options and an exit status of its own. */
static bool runs_program(const struct command *command)
{
	return command->run == kunwind_cmd_run || command->run == kunwind_cmd_record;
}

static bool is_version(const char *argument)
{
	return !strcmp(argument, "--version");
}

/* Returns whether @asks one of the options: those before the first other argument, or @all. */
static bool wants(int argc, char **argv, bool (*asks)(const char *argument), bool all)
{
	int i;

	for (i = 2; i < argc && (all || argv[i][0] == '-') && strcmp(argv[i], "--"); i++) {
		if (asks(argv[i]))
			return true;
	}
	return false;
}

/* Returns whether the command prints as much as a pager is good for. */
static bool is_long(const struct command *command)
{
	return !strcmp(command->name, "report") || !strcmp(command->name, "waits") ||
	       command->run == kunwind_cmd_show || command->run == kunwind_cmd_dump;
}

/*
 * Takes the options --color and --no-pager, which all commands have, out of the arguments.
 * Returns false after a message.
 */
static bool take_common(int *argc, char **argv, bool *pager)
{
	int i, nr = 1;

	for (i = 1; i < *argc && strcmp(argv[i], "--"); i++) {
		const char *when = argv[i] + strlen("--color=");

		if (!strcmp(argv[i], "--no-pager")) {
			*pager = false;
		} else if (strncmp(argv[i], "--color=", strlen("--color="))) {
			argv[nr++] = argv[i];
		} else if (strcmp(when, "auto") && strcmp(when, "always") && strcmp(when, "never")) {
			kunwind_tool_error("--color takes auto, always or never, not: %s", when);
			return false;
		} else {
			setenv("KUNWIND_COLOR", when, 1);
		}
	}
	while (i <= *argc)
		argv[nr++] = argv[i++];
	*argc = nr - 1;
	return true;
}

static int print_version(void)
{
	printf("kunwind %s (ABI %d)\n", KUNWIND_VERSION, KUNWIND_ABI_VERSION);
	return kunwind_tool_finish(TOOL_OK);
}

int main(int argc, char **argv)
{
	const struct command *command;
	char *help[] = { NULL, (char *)"--help", NULL };
	bool pager = true;
	int status;

	if (argc < 2) {
		print_overview(stderr);
		return TOOL_USAGE;
	}
	if (is_help(argv[1]) || !strcmp(argv[1], "help")) {
		command = argc > 2 ? find(argv[2]) : NULL;
		if (argc > 2 && !command)
			return no_command(argv[2]);
		if (!command) {
			print_overview(stdout);
		} else if (command->help) {
			print_help(command);
		} else {
			set_running(command);
			help[0] = argv[2];
			return kunwind_tool_finish(command->run(2, help));
		}
		return kunwind_tool_finish(TOOL_OK);
	}
	if (is_version(argv[1]) || !strcmp(argv[1], "-V"))
		return print_version();
	set_running(find(argv[1]));
	if (!running) {
		return no_command(argv[1]);
	}
	if (wants(argc, argv, is_version, !runs_program(running)))
		return print_version();
	if (running->help && wants(argc, argv, is_help, false)) {
		print_help(running);
		return kunwind_tool_finish(TOOL_OK);
	}
	if (!runs_program(running) && !take_common(&argc, argv, &pager))
		return kunwind_tool_usage(TOOL_USAGE);
	/* If the parent ignored SIGCHLD, waitpid(2) would report no child. "run" keeps it. */
	if (running->run != kunwind_cmd_run)
		signal(SIGCHLD, SIG_DFL);
	if (pager && is_long(running) && !wants(argc, argv, is_help, true)) {
		status = kunwind_pager();
		if (status >= 0)
			return status;
	}
	return kunwind_tool_finish(running->run(argc - 1, argv + 1));
}
