// SPDX-License-Identifier: MIT
/*
 * show_empty.c - the message of "kunwind show" if the options select no event
 *
 * The message lists the first names of events in the trace; or its first
 * processes, if the trace has no event of the process that --pid names. The
 * lists cost a few comparisons for each event before the first selected one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show_empty.h"
#include "tool.h"
#include "trace/history.h"

#define NR_TEXTS	(sizeof(((struct kunwind_seen *)0)->text) / sizeof(char *))

static void note(struct kunwind_seen *seen, const char *text)
{
	size_t i;

	if (seen->nr == NR_TEXTS)
		return;
	for (i = 0; i < seen->nr; i++) {
		if (!strcmp(seen->text[i], text))
			return;
	}
	seen->text[seen->nr] = strdup(text);
	seen->nr += seen->text[seen->nr] != NULL;
}

void kunwind_empty_note(struct kunwind_empty *empty, struct kunwind_options *options,
			const struct kunwind_head *head)
{
	char pid[24];
	bool right_process = kunwind_numbers_select(&options->pids, head->pid);

	if (!options->all && kunwind_history_is_own(head->name)) {
		empty->own |= right_process && kunwind_options_event(options, head->name);
	} else if (right_process) {
		note(&empty->names, head->name);
	} else if (head->pid >= 0) {
		snprintf(pid, sizeof(pid), "%" PRId64, head->pid);
		note(&empty->processes, pid);
	}
}

/*
 * Returns the texts as a list, which the caller frees; NULL: out of memory. Item
 * @most is written as "...".
 */
static char *join(char *const *texts, size_t nr, size_t most, const char *separator)
{
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? separator : "", i == most ? "..." : texts[i]);
	return fclose(out) ? NULL : text;
}

static char *list(const struct kunwind_seen *seen)
{
	return join(seen->text, seen->nr, NR_TEXTS - 1, ", ");
}

/* Returns the numbers of --pid, after "process", as join() does. */
static char *given_pids(const struct kunwind_numbers *numbers)
{
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (i = 0; i < numbers->nr; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : numbers->nr > 1 ? "es " : " ", numbers->number[i]);
	return fclose(out) ? NULL : text;
}

void kunwind_empty_print(const struct kunwind_empty *empty, const struct kunwind_options *options)
{
	const char *own = empty->own ? "; --own selects kunwind's own events, too" : "";
	char *names = list(&empty->names), *processes = list(&empty->processes);
	char *events = join(options->events.pattern, options->events.nr, options->events.nr, ",");
	char *pids = given_pids(&options->pids);

	if (!names || !processes || !events || !pids)
		kunwind_tool_error("out of memory");
	else if (*names)
		kunwind_tool_error("no event matches \"%s\": the trace has %s%s", events, names, own);
	else if (*processes)
		kunwind_tool_error("no event of process%s: the trace has processes %s%s", pids, processes,
				   own);
	else
		kunwind_tool_error("no events%s%s", empty->filtered ?
				   " of the threads and times that the options select" : "", own);
	free(names);
	free(processes);
	free(events);
	free(pids);
}

static void free_seen(struct kunwind_seen *seen)
{
	while (seen->nr)
		free(seen->text[--seen->nr]);
}

void kunwind_empty_free(struct kunwind_empty *empty)
{
	free_seen(&empty->names);
	free_seen(&empty->processes);
}
