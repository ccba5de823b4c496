// SPDX-License-Identifier: MIT
/*
 * main.c - a front end of lttng(1) that adds enable-event --callstack
 *
 * It is installed as "lttng" in a directory that comes before the real
 * command's in PATH. Commands without --callstack go to the real lttng by
 * execve(2) with their arguments unchanged. With --callstack:
 *   1. The real enable-event runs without that option. If it fails, the front
 *      end exits with the same status.
 *   2. The real add-context adds callstack-user, vpid, vtid and procname to the
 *      channel. LTTng reports success for contexts that the channel already has.
 *   3. If lttng-probe-kunwind is loaded (root loads it), the real enable-event
 *      enables kunwind's events in the channel: those that record what is
 *      mapped where, so that the trace alone is enough to name frames; and
 *      with --callstack=whole also kunwind_callstack.
 * LTTng adds no contexts to a session that was ever started. Then the front end
 * prints one line of advice, unless the channel has the contexts; procname,
 * which only names the program, may be missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../own_events.h"
#include "contexts.h"
#include "options.h"
#include "real.h"

/* The name that LTTng gives to a kernel channel if the user names none. */
#define DEFAULT_CHANNEL	"channel0"

static const char help[] =
	"\n"
	"kunwind adds:\n"
	"       --callstack\n"
	"           Record the user call stack of each event of the channel: with\n"
	"           --kernel, also add the contexts callstack-user, vpid, vtid and\n"
	"           procname to the channel, before the session is first started. The\n"
	"           stacks of processes under `kunwind run` or `kunwind register` need\n"
	"           no frame pointers. See kunwind(1).\n"
	"       --callstack=whole\n"
	"           The same, and the event kunwind_callstack: up to 4,096 frames where\n"
	"           callstack-user has 128, once for each kernel entry. See kunwind(4).\n";

/*
 * Writes "COMMAND --kernel [--session NAME] --channel NAME" after the general
 * options. Returns where further arguments and the final NULL go.
 */
static char **channel_command(struct options_general *general, const char *command,
			      const struct options_event *event, const char *channel)
{
	char **at = general->argv + general->nr;

	*at++ = (char *)command;
	*at++ = (char *)"--kernel";
	if (event->session) {
		*at++ = (char *)"--session";
		*at++ = (char *)event->session;
	}
	*at++ = (char *)"--channel";
	*at++ = (char *)channel;
	return at;
}

/* Returns 0 if the channel has the contexts that stacks need, else add-context's exit status. */
static int add_contexts(struct options_general *general, const struct options_event *event,
			const char *channel)
{
	static char errors[65536];
	char **at = channel_command(general, "add-context", event, channel);
	int status;

	*at++ = (char *)"--type=callstack-user";
	*at++ = (char *)"--type=vpid";
	*at++ = (char *)"--type=vtid";
	*at++ = (char *)"--type=procname";
	*at = NULL;
	/* --mi promises one document, which enable-event has written */
	status = real_run(general->argv, general->mi ? REAL_HIDDEN : REAL_SHOWN,
			  errors, sizeof(errors));
	if (status && contexts_present(general, event->session, channel))
		return 0;
	if (status && strstr(errors, "already been started"))
		fputs("lttng: no contexts can be added to a session that was started: `lttng destroy`, "
		      "then create a new one and use --callstack before its first `lttng start`\n",
		      stderr);
	else
		fputs(errors, stderr);
	return status;
}

/* Returns 0 also if the event is already enabled. */
static int enable_by_name(struct options_general *general, const struct options_event *event,
			  const char *channel, const char *name)
{
	static char errors[4096];
	int status;
	char **at = channel_command(general, "enable-event", event, channel);

	*at++ = (char *)name;
	*at = NULL;
	status = real_run(general->argv, REAL_HIDDEN, errors, sizeof(errors));
	return status && strstr(errors, "already enabled") ? 0 : status;
}

/*
 * Enables kunwind's events. Returns not 0 only if --callstack=whole was given
 * and kunwind_callstack could not be enabled. Without the other events, the
 * trace lacks only the mappings, so a failure there is only reported.
 */
static int enable_own(struct options_general *general, const struct options_event *event,
		      const char *channel)
{
	static const char *const own[] = { KUNWIND_OWN_EVENTS };
	static const char probe[] = "/sys/module/lttng_probe_kunwind";
	char *load[] = { (char *)"modprobe", (char *)"-q", (char *)"lttng-probe-kunwind", NULL };
	int status = 0;
	size_t i;

	if (access(probe, F_OK) && access("/sys/module/kunwind", F_OK)) {
		if (event->whole)
			fputs("lttng: --callstack=whole: the module kunwind is not loaded\n", stderr);
		return event->whole;
	}
	if (access(probe, F_OK) && (geteuid() || real_run_other(load) || access(probe, F_OK))) {
		fputs("lttng: frames of processes that end will have no names: "
		      "sudo modprobe lttng-probe-kunwind, then repeat this command\n", stderr);
		return event->whole;
	}
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		status |= enable_by_name(general, event, channel, own[i]);
	if (status)
		fputs("lttng: not all events that tell what is mapped where could be enabled "
		      "(kunwind_map ...): frames of processes that end may have no names\n", stderr);
	if (!event->whole)
		return 0;
	status = enable_by_name(general, event, channel, "kunwind_callstack");
	if (status)
		fputs("lttng: the event kunwind_callstack could not be enabled\n", stderr);
	return status;
}

static int enable_event(int argc, char **argv, int command, struct options_general *general)
{
	struct options_event event = options_event(argc - command, argv + command);
	const char *channel = event.channel ? event.channel : DEFAULT_CHANNEL;
	int status;

	if (event.help || event.list_options) {
		status = real_run(argv, REAL_SHOWN, NULL, 0);
		/* even if the real help failed for want of man or its page */
		if (event.help)
			fputs(help, stdout);
		else if (!status)
			fputs("--callstack\n", stdout);
		return status;
	}
	if (!event.callstack)
		real_exec(argv);
	if (event.refused) {
		fprintf(stderr, "lttng: %s: --callstack takes no value except \"whole\"\n",
			event.refused);
		return 1;
	}
	if (event.other_domain) {
		fputs("lttng: --callstack is for kernel events (--kernel): LTTng has no call stacks "
		      "in other domains\n", stderr);
		return 1;
	}
	status = real_run(argv, REAL_SHOWN, NULL, 0);
	if (status)
		return status;
	status = add_contexts(general, &event, channel);
	if (status)
		return status;
	return enable_own(general, &event, channel);
}

int main(int argc, char **argv)
{
	struct options_general general;
	int command, status;

	real_find();
	command = options_command(argc, argv, &general);
	if (command && !strcmp(argv[command], "enable-event"))
		return enable_event(argc, argv, command, &general);
	if (command && !strcmp(argv[command], "help") && argv[command + 1] &&
	    !strcmp(argv[command + 1], "enable-event") && !argv[command + 2]) {
		status = real_run(argv, REAL_SHOWN, NULL, 0);
		fputs(help, stdout);
		return status;
	}
	real_exec(argv);
}
