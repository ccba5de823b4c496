// SPDX-License-Identifier: MIT
/*
 * closing.c - what kunwind record prints when a recording has ended
 */
#include <stdio.h>
#include <stdlib.h>

#include "record.h"
#include "tool.h"

void record_close_json(const struct record *record, int status)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return;
	fputs("{\"trace\": ", out);
	kunwind_tool_json_string_to(out, session_is_remote(record->output) ? record->output :
							      record->dir.path);
	fputs(", \"session\": ", out);
	kunwind_tool_json_string_to(out, record->session.name);
	fprintf(out, ", \"lost\": %llu, \"status\": %d", (unsigned long long)record->lost, status);
	if (record->flight.on)
		fprintf(out, ", \"snapshots\": %llu, \"suppressed\": %llu",
			(unsigned long long)(record->flight.taken + record->flight.others),
			(unsigned long long)record->flight.suppressed);
	fputs("}\n", out);
	if (!fclose(out))
		fputs(line, stderr);
	free(line);
}

static void closing_words_flight(const struct record *record)
{
	const struct flight *flight = &record->flight;

	if (flight->suppressed)
		kunwind_tool_error("%llu firings of triggers had no snapshot, because of --interval %llu or "
				   "--snapshots %llu", (unsigned long long)flight->suppressed,
				   (unsigned long long)flight->interval, (unsigned long long)flight->most);
	if (!record->quiet && flight->taken + flight->others)
		kunwind_tool_error("%llu snapshots are in %s; each is a trace of its own",
				   (unsigned long long)(flight->taken + flight->others), record->output);
	else if (!record->quiet)
		kunwind_tool_error("no snapshot was taken");
}

/* Returns a size of buffers that --buffer takes, four times @buffer if that is possible. */
static uint64_t more_buffer(uint64_t buffer)
{
	return buffer < 1 << 20 ? 1 << 20 : buffer > RECORD_MOST_BUFFER / 4 ? RECORD_MOST_BUFFER : 4 * buffer;
}

/* Prints a line with a command that reads the trace, as a shell takes it. */
static void reading_command(const char *command, const char *trace, const char *rest)
{
	fprintf(stderr, "  kunwind %s %s", command, *trace == '-' ? "./" : "");
	kunwind_tool_text(stderr, trace, KUNWIND_SHELL_SPECIAL);
	fprintf(stderr, "%s\n", rest);
}

void record_close_words(const struct record *record)
{
	char larger[48] = "";

	if (record->flight.on) {
		closing_words_flight(record);
		return;
	}
	if (record->lost) {
		if (record->buffer < RECORD_MOST_BUFFER)
			snprintf(larger, sizeof(larger), "use --buffer %lluM, or ",
				 (unsigned long long)more_buffer(record->buffer) >> 20);
		kunwind_tool_error("%llu events were lost because the buffers were full: %srecord %s",
				   (unsigned long long)record->lost, larger,
				   record_is_profile() ? "fewer samples (-F)" : "fewer events (-e)");
	}
	if (record->quiet)
		return;
	if (session_is_remote(record->output)) {
		kunwind_tool_error("the %strace went to %s, session %s",
				   record->incomplete ? "beginning of the " : "", record->output,
				   record->session.name);
		return;
	}
	if (record->disk == DISK_FULL_EMPTY || record->disk == DISK_REMOVED_ALL || record->nothing)
		return;
	kunwind_tool_error(record->disk == DISK_REMOVED ? "the rest of the trace is in %s. To read it:" :
			   record->disk == DISK_FULL || record->incomplete ?
						       "the beginning of the trace is in %s. To read it:" :
						       "the trace is in %s. To read it:", record->output);
	reading_command("report", record->output, "");
	reading_command("flamegraph", record->output, " -o flame.html");
}
