// SPDX-License-Identifier: MIT
/*
 * status.c - kunwind status: state and counters of the module
 *
 * The module writes lines of tab-separated fields. --tsv prints these lines,
 * --json makes one object of them; without either, the output is for people.
 * Only --tsv prints kinds of lines that this tool does not know.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <kunwind.h>

#include "left_over.h"
#include "report.h"
#include "tool.h"

static uint64_t number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

static uint64_t stat_of(const struct kunwind_report *report, const char *name)
{
	return number(kunwind_report_value(report, "stat", name, 2));
}

static bool is_kind(const struct kunwind_report_line *line, const char *kind)
{
	return !strcmp(line->field[0], kind);
}

static void print_tsv(const struct kunwind_report *report)
{
	size_t i;
	int f;

	for (i = 0; i < report->nr; i++)
		for (f = 0; f < report->line[i].nr; f++)
			printf("%s%c", report->line[i].field[f],
			       f + 1 < report->line[i].nr ? '\t' : '\n');
}

/* Prints a decimal number that fits as a number, anything else as a string. */
static void print_json_value(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (digits && !text[digits] && digits < 20 && (text[0] != '0' || digits == 1))
		fputs(text, stdout);
	else
		kunwind_tool_json_string(text);
}

/* Prints {"name": value, ...} from all lines "KIND name value". */
static void print_json_map(const struct kunwind_report *report, const char *kind, const char *key)
{
	const char *comma = "";
	size_t i;

	printf("  \"%s\": {", key);
	for (i = 0; i < report->nr; i++) {
		if (!is_kind(&report->line[i], kind))
			continue;
		printf("%s", comma);
		kunwind_tool_json_string(report->line[i].field[1]);
		fputs(": ", stdout);
		print_json_value(report->line[i].field[2]);
		comma = ", ";
	}
	fputs("},\n", stdout);
}

/*
 * Prints [{...}, ...] from all lines of a kind. @names: of the fields after the
 * kind, NULL-terminated.
 */
static void print_json_list(const struct kunwind_report *report, const char *kind, const char *key,
			    const char *const *names, const char *end)
{
	const char *comma = "";
	size_t i;
	int f;

	printf("  \"%s\": [", key);
	for (i = 0; i < report->nr; i++) {
		if (!is_kind(&report->line[i], kind))
			continue;
		printf("%s\n    {", comma);
		for (f = 0; names[f]; f++) {
			printf("%s\"%s\": ", f ? ", " : "", names[f]);
			/* a name of digits is still text */
			if (!strcmp(names[f], "comm") || !strcmp(names[f], "path"))
				kunwind_tool_json_string(report->line[i].field[f + 1]);
			else
				print_json_value(report->line[i].field[f + 1]);
		}
		putchar('}');
		comma = ",";
	}
	printf("%s]%s\n", *comma ? "\n  " : "", end);
}

static const char *const hook_fields[] = { "name", "state", "reason", NULL };
static const char *const process_fields[] = { "pid", "comm", "maps", "flags", "bytes", NULL };
static const char *const object_fields[] = { "state", "build_error", "rows", "bytes", "users", "path", NULL };
static const char *const parts_fields[] = { "built", "all", "path", NULL };
static const char *const stacks_fields[] = { "consumer", "reason", "count", NULL };
static const char *const frames_fields[] = { "consumer", "trust", "count", NULL };
static const char *const sampler_fields[] = { "clock", "reason", NULL };
static const char *const user_fields[] = { "uid", "bytes", "objects", "processes", "ms", NULL };

static void print_json(const struct kunwind_report *report)
{
	const char *abi = kunwind_report_value(report, "version", NULL, 1);
	const char *version = kunwind_report_value(report, "version", NULL, 2);

	fputs("{\n  \"abi\": ", stdout);
	print_json_value(abi ? abi : "");
	fputs(",\n  \"version\": ", stdout);
	kunwind_tool_json_string(version ? version : "");
	fputs(",\n", stdout);
	print_json_map(report, "param", "params");
	print_json_map(report, "stat", "stats");
	print_json_map(report, "reason", "reasons");
	print_json_list(report, "stacks", "stacks", stacks_fields, ",");
	print_json_list(report, "frames", "frames", frames_fields, ",");
	print_json_map(report, "method", "methods");
	print_json_list(report, "hook", "hooks", hook_fields, ",");
	print_json_list(report, "sampler", "sampler", sampler_fields, ",");
	print_json_list(report, "process", "processes", process_fields, ",");
	print_json_list(report, "object", "objects", object_fields, ",");
	print_json_list(report, "parts", "parts", parts_fields, ",");
	print_json_list(report, "user", "users", user_fields, "");
	fputs("}\n", stdout);
}

/* Returns @text, set to a size with a unit. */
static const char *bytes(uint64_t n, char *text, size_t size)
{
	static const char *const unit[] = { "bytes", "KiB", "MiB", "GiB" };
	double value = (double)n;
	int i = 0;

	while (value >= 1024 && i < 3) {
		value /= 1024;
		i++;
	}
	snprintf(text, size, i ? "%.1f %s" : "%.0f %s", value, unit[i]);
	return text;
}

static void print_stacks(const struct kunwind_report *report)
{
	uint64_t stacks = stat_of(report, "stacks"), count;
	size_t i;

	printf("Stacks    %" PRIu64 " walked", stacks);
	if (stacks)
		printf(", %.1f frames each", (double)stat_of(report, "frames") / (double)stacks);
	printf("; %" PRIu64 " requests of unregistered processes passed through\n",
	       stat_of(report, "passed_through"));
	for (i = 0; i < report->nr; i++) {
		const struct kunwind_report_line *line = &report->line[i];

		count = number(line->field[2]);
		if (is_kind(line, "reason") && count)
			printf("  %-16s %12" PRIu64 "  %5.1f %%\n", line->field[1], count,
			       stacks ? 100.0 * (double)count / (double)stacks : 0.0);
	}
}

/* Prints how frames were found; adds up the consumers. */
static void print_frames(const struct kunwind_report *report)
{
	const uint64_t frames = stat_of(report, "frames");
	uint64_t count;
	size_t i, j;

	if (!frames)
		return;
	printf("Frames    %" PRIu64 " found\n", frames);
	for (i = 0; i < report->nr; i++) {
		const struct kunwind_report_line *line = &report->line[i];

		if (!is_kind(line, "frames"))
			continue;
		for (j = 0; j < i; j++)
			if (is_kind(&report->line[j], "frames") &&
			    !strcmp(report->line[j].field[2], line->field[2]))
				break;
		if (j < i)
			continue;
		for (count = 0; j < report->nr; j++)
			if (is_kind(&report->line[j], "frames") &&
			    !strcmp(report->line[j].field[2], line->field[2]))
				count += number(report->line[j].field[3]);
		printf("  %-16s %12" PRIu64 "  %5.1f %%\n", line->field[2], count,
		       100.0 * (double)count / (double)frames);
	}
}

/* Prints which clock takes samples, or why none does. */
static void print_sampler(const struct kunwind_report *report, const struct kunwind_colours *colour)
{
	const char *clock = kunwind_report_value(report, "sampler", NULL, 1);
	const char *why = kunwind_report_value(report, "sampler", NULL, 2);

	if (!clock)
		return;
	printf("Sampler   %s", clock);
	if (*why)
		printf(" %s(%s)%s", colour->bad, why, colour->plain);
	printf(", %" PRIu64 " samples since the module was loaded\n", stat_of(report, "samples"));
}

static void print_processes(const struct kunwind_report *report)
{
	const char *whole = kunwind_report_value(report, "param", "system_wide", 2);
	uint64_t missed = stat_of(report, "missed_limit") + stat_of(report, "missed_memory");
	char size[32];
	unsigned int columns;
	bool any = false;
	size_t i;

	printf("Processes %" PRIu64 " registered%s\n", stat_of(report, "processes"),
	       whole && *whole == 'Y' ? ", the whole system is (kunwind system-wide)" : "");
	if (stat_of(report, "system_wide_pending"))
		printf("  %" PRIu64 " not registered yet, because of a locked memory map\n",
		       stat_of(report, "system_wide_pending"));
	if (missed)
		printf("  %" PRIu64 " were not: over the limit of processes %" PRIu64
		       ", no memory %" PRIu64 "\n", missed, stat_of(report, "missed_limit"),
		       stat_of(report, "missed_memory"));
	for (i = 0; i < report->nr; i++) {
		const struct kunwind_report_line *line = &report->line[i];

		if (!is_kind(line, "process"))
			continue;
		if (!any)
			printf("  %7s  %-16s %5s %10s  %s\n", "PID", "COMMAND", "MAPS", "MEMORY", "FLAGS");
		any = true;
		printf("  %7s  ", line->field[1]);
		columns = kunwind_tool_text(stdout, line->field[2], "");
		printf("%*s %5s %10s  %s\n", columns < 16 ? (int)(16 - columns) : 0, "", line->field[3],
		       bytes(number(line->field[5]), size, sizeof(size)), line->field[4]);
	}
}

static void print_objects(const struct kunwind_report *report)
{
	char size[32];
	bool any = false;
	size_t i;

	printf("Objects   %" PRIu64 " tables in %s, %" PRIu64 " rows; %" PRIu64
	       " built since the module was loaded, %" PRIu64 " refused\n",
	       stat_of(report, "objects"), bytes(stat_of(report, "table_bytes"), size, sizeof(size)),
	       stat_of(report, "table_rows"), stat_of(report, "table_builds"),
	       stat_of(report, "table_refused"));
	for (i = 0; i < report->nr; i++) {
		const struct kunwind_report_line *line = &report->line[i];
		/* "-" while the object is pending */
		bool refused = strcmp(line->field[2], "ok") && strcmp(line->field[2], "-");

		if (!is_kind(line, "object"))
			continue;
		if (!any)
			printf("  %8s %10s %5s  %-8s %s\n", "ROWS", "SIZE", "USERS", "STATE", "FILE");
		any = true;
		printf("  %8s %10s %5s  %-8s ", line->field[3],
		       bytes(number(line->field[4]), size, sizeof(size)), line->field[5], line->field[1]);
		kunwind_tool_text(stdout, line->field[6], "");
		if (refused)
			printf(" (%s)", line->field[2]);
		/* A line "parts" follows its object's line. */
		if (i + 1 < report->nr && is_kind(line + 1, "parts") &&
		    strcmp(line[1].field[1], line[1].field[2]))
			printf(" (%s of %s parts)", line[1].field[1], line[1].field[2]);
		putchar('\n');
	}
}

static void print_left_over(const struct kunwind_colours *colour)
{
	char fix[1024];

	if (kunwind_left_over(fix, sizeof(fix)))
		printf("Sessions  %snot ended by a recorder that was killed, still tracing%s: "
		       "%s\n", colour->bad, colour->plain, fix);
}

static void print_text(const struct kunwind_report *report)
{
	const struct kunwind_colours colour = kunwind_tool_colours(stdout);
	const char *version = kunwind_report_value(report, "version", NULL, 2);
	const char *abi = kunwind_report_value(report, "version", NULL, 1);
	const char *enabled = kunwind_report_value(report, "param", "enabled", 2);
	bool off = enabled && (enabled[0] == 'N' || enabled[0] == '0');
	size_t i;

	printf("Module    kunwind %s, ABI %s%s%s%s\n", version ? version : "?", abi ? abi : "?",
	       off ? colour.bad : "", off ? ", switched off (parameter \"enabled\" is N)" : "",
	       off ? colour.plain : "");
	fputs("Hooks\n", stdout);
	for (i = 0; i < report->nr; i++) {
		const struct kunwind_report_line *line = &report->line[i];
		bool on = !strcmp(line->field[2], "on");

		if (!is_kind(line, "hook"))
			continue;
		printf("  %-26s %s%s%s", line->field[1], on ? colour.good : colour.bad, line->field[2],
		       colour.plain);
		if (*line->field[3] && strcmp(line->field[3], "-") && (!on || strcmp(line->field[3], "ok")))
			printf("  (%s)", line->field[3]);
		putchar('\n');
	}
	print_stacks(report);
	print_frames(report);
	print_sampler(report, &colour);
	print_processes(report);
	print_objects(report);
	print_left_over(&colour);
}

int kunwind_cmd_status(int argc, char **argv)
{
	void (*print)(const struct kunwind_report *report) = print_text;
	struct kunwind_report report;
	int i, err;

	for (i = 1; i < argc; i++) {
		if (kunwind_tool_is(argv[i], "--tsv")) {
			print = print_tsv;
		} else if (kunwind_tool_is(argv[i], "--json")) {
			print = print_json;
		} else {
			kunwind_tool_error("unknown argument %s", argv[i]);
			return kunwind_tool_usage(TOOL_USAGE);
		}
	}
	err = kunwind_report_read(&report);
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_FAILED;
	}
	print(&report);
	kunwind_report_free(&report);
	return TOOL_OK;
}
