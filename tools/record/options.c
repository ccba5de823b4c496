// SPDX-License-Identifier: MIT
/*
 * options.c - the options of kunwind record and kunwind profile
 */
#include <ctype.h>
#include <lttng/lttng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help_options.h"
#include "left_over.h"
#include "record.h"
#include "tool.h"
#include "usage.h"
#include "watchdog.h"

/* Reads a number of bytes, which K, M or G may follow. False: it is none, or too large. */
static bool parse_bytes(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, toupper((unsigned char)text[digits])) : NULL;
	char number[24];

	if (digits >= sizeof(number) || (text[digits] && (!unit || text[digits + 1])))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	if (!kunwind_tool_number(number, UINT64_C(1) << 32, size))
		return false;
	*size <<= unit ? 10 * (unit - units + 1) : 0;
	return true;
}

static bool parse_buffer(const char *text, uint64_t *size)
{
	if (parse_bytes(text, size) && *size >= 4096 && *size <= RECORD_MOST_BUFFER &&
	    !(*size & (*size - 1)))
		return true;
	kunwind_tool_error("--buffer takes a power of two from 4K to 1024M, such as 4M, not: %s", text);
	return false;
}

static bool parse_memory(const char *text, uint64_t *size)
{
	if (parse_bytes(text, size) && *size)
		return true;
	kunwind_tool_error("--memory takes a number of bytes, such as 64M, not: %s", text);
	return false;
}

/* Takes an option of --flight. Returns false after a message. */
static bool parse_flight(struct flight *flight, int c, const char *value)
{
	switch (c) {
	case 'T':
		return flight_add_trigger(flight, value);
	case 'M':
		return parse_memory(value, &flight->memory);
	case 'I':
		if (kunwind_tool_number(value, 86400, &flight->interval))
			return true;
		kunwind_tool_error("--interval takes a number of seconds up to 86400, not: %s", value);
		return false;
	default:
		if (kunwind_tool_number(value, 1000000, &flight->most))
			return true;
		kunwind_tool_error("--snapshots takes a number up to 1000000, not: %s", value);
		return false;
	}
}

/* Refuses options that need --flight, and those that --flight does not allow. */
static bool check_flight(const struct record *record, const char *option)
{
	if (!record->flight.on && option)
		kunwind_tool_error("--%s needs --flight", option);
	else if (record->flight.on && record->buffer)
		kunwind_tool_error("--buffer is for recordings without --flight; with it use --memory");
	else if (record->flight.on && record->output && session_is_remote(record->output))
		kunwind_tool_error("--flight writes snapshots to a directory of this host, not to %s",
				   record->output);
	else
		return true;
	return false;
}

/* Adds the names of a list. @option: the option that has it, for messages. */
static bool add_names(struct names *names, const char *option, char *list)
{
	const char **more;
	char *name;

	while ((name = strsep(&list, ","))) {
		if (!*name || strlen(name) >= LTTNG_SYMBOL_NAME_LEN) {
			kunwind_tool_error(*name ? "%s: a name of an event is too long: %s" :
						   "%s: an item of the list is empty: write NAME,NAME%s",
					   option, name);
			return false;
		}
		more = reallocarray(names->name, (size_t)names->nr + 1, sizeof(*more));
		if (!more) {
			kunwind_tool_error("out of memory");
			return false;
		}
		names->name = more;
		more[names->nr++] = name;
	}
	return true;
}

/* Refuses options that --ust does not allow. */
static bool check_ust(const struct record *record)
{
	const bool alone = record->ust.nr && !record->events.nr && !record->sampling.hz;

	if (record->ust.nr && record->flight.on)
		kunwind_tool_error("--ust and --flight cannot be used together: use lttng create --snapshot "
				   "and lttng enable-event -u --callstack");
	else if (alone && (record->kernel || record->context))
		kunwind_tool_error("--%s is for events of the kernel: name some (-e)",
				   record->kernel ? "kernel" : "context");
	else
		return true;
	return false;
}

/* Takes a list as pidof(1) and pgrep(1) print it, or with commas. Returns false after a message. */
static bool add_pids(struct pids *pids, char *list)
{
	static const char between[] = ", \t\n";
	char *text, *rest = NULL;
	int pid, nr = 0;

	for (text = strtok_r(list, between, &rest); text; text = strtok_r(NULL, between, &rest), nr++) {
		pid = kunwind_tool_pid(text);
		if (pid < 0) {
			kunwind_tool_error("--pid takes the number of a process, not: %s", text);
			return false;
		}
		if (!pids_add(pids, pid)) {
			kunwind_tool_error("out of memory");
			return false;
		}
	}
	if (!nr)
		kunwind_tool_error("--pid takes the number of a process, and got none (does it run?)");
	return nr;
}

/* Refuses the number of a process in the place of COMMAND. */
static bool is_command(const struct record *record)
{
	const char *name = record->command ? record->command[0] : "";

	if (kunwind_tool_pid(name) < 0)
		return true;
	if (record->pids.nr)
		kunwind_tool_error("%s would be the COMMAND: give several processes as a list: -p %d,%s",
				   name, record->pids.pid[record->pids.nr - 1], name);
	else
		kunwind_tool_error("%s would be the COMMAND: to record this process: -p %s", name, name);
	return false;
}

bool record_is_profile(void)
{
	return !strcmp(kunwind_tool_name, "profile");
}

static int parse(struct record *record, int argc, char **argv)
{
	static const struct help_id ids[] = { { "buffer", 'b' }, { "context", 'X' },
		{ "flight", 'f' }, { "interval", 'I' }, { "left-over", 'L' }, { "memory", 'M' },
		{ "snapshots", 'S' }, { "trigger", 'T' }, { NULL, 0 } };
	const char *help = record_is_profile() ? record_profile_usage : record_usage;
	const char *of_flight = NULL;
	uint64_t hz;
	int c;

	while ((c = help_option(argc, argv, help, ids, NULL)) != -1) {
		switch (c) {
		case 'a':
			record->all = true;
			break;
		case 'f':
			record->flight.on = true;
			break;
		case 'I':
		case 'M':
		case 'S':
		case 'T':
			of_flight = help_option_name;
			if (!parse_flight(&record->flight, c, optarg))
				return -1;
			break;
		case 'b':
			if (!parse_buffer(optarg, &record->buffer))
				return -1;
			break;
		case 'c':
			record->pids.children = true;
			break;
		case 'X':
			record->context = true;
			break;
		case 'e':
			if (!add_names(&record->events, "-e", optarg))
				return -1;
			break;
		case 'U':
			if (!add_names(&record->ust, "--ust", optarg))
				return -1;
			break;
		case 'F':
			if (!kunwind_tool_number(optarg, SAMPLING_MOST_HZ, &hz) || !hz) {
				kunwind_tool_error("--frequency takes a number of samples a second from "
						   "1 to %d, not: %s", SAMPLING_MOST_HZ, optarg);
				return -1;
			}
			record->sampling.hz = (unsigned int)hz;
			break;
		case 'h':
			fputs(help, stdout);
			return 1;
		case 'j':
			record->json = true;
			break;
		case 'k':
			record->kernel = true;
			break;
		case 'L':
			if (watchdog_begin(NULL, TOOL_RUN_FAILED, NULL) == -1)
				left_over_print();
			return 1;
		case 'o':
			if (kunwind_tool_is_empty(optarg) ||
			    !kunwind_tool_output(&record->output, optarg))
				return -1;
			break;
		case 'p':
			if (!add_pids(&record->pids, optarg))
				return -1;
			break;
		case 'q':
			record->quiet = true;
			break;
		case 'u':
			record->user = optarg;
			break;
		default:
			return -1;
		}
	}
	if (optind < argc)
		record->command = argv + optind;
	if (!record->command && !record->pids.nr && !record->all) {
		kunwind_tool_error("nothing to record: name a COMMAND, a process (--pid PID) or --all");
		return -1;
	}
	if (!is_command(record))
		return -1;
	if (!check_flight(record, of_flight))
		return -1;
	if (!check_ust(record))
		return -1;
	if (record->pids.children && !record->pids.nr) {
		kunwind_tool_error("--children needs a process (--pid PID); those of COMMAND are "
				   "always recorded");
		return -1;
	}
	if (record_is_profile() && !record->sampling.hz)
		record->sampling.hz = SAMPLING_DEFAULT_HZ;
	record->sampling.all = record->all;
	return 0;
}

static bool set_defaults(struct record *record)
{
	static char all[] = "syscalls,sched_switch,sched_waking";

	record->module = !record->ust.nr || record->events.nr || record->sampling.hz;
	record->by_default = record->module && !record->events.nr && !record_is_profile();
	if (record->by_default && !add_names(&record->events, "-e", all))
		return false;
	if (record->flight.on)
		record->buffer = flight_buffer(&record->flight);
	else if (!record->buffer)
		record->buffer = 4 << 20;
	record->flight.kernel = record->flight.on && (record->kernel || record->sampling.hz);
	record->flight.quiet = record->quiet;
	record->flight.json = record->json;
	return record->buffer;
}

int record_options(struct record *record, int argc, char **argv)
{
	int parsed;

	if (argc == 2 && !strcmp(argv[1], "--consumer-ended")) {	/* for kunwind doctor */
		if (watchdog_begin(NULL, TOOL_RUN_FAILED, NULL) == -1 && session_consumer_ended())
			puts("yes");
		return 1;
	}
	parsed = parse(record, argc, argv);
	if (parsed < 0)
		fprintf(stderr, "Try: kunwind %s --help\n", kunwind_tool_name);
	return parsed ? parsed : set_defaults(record) ? 0 : -1;
}
