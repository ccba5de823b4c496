// SPDX-License-Identifier: MIT
/*
 * main.c - a front end of lttng(1) that adds enable-event --callstack
 *
 * It is installed as "lttng" in a directory that comes before the real
 * command's in PATH. Other commands than enable-event go to the real lttng by
 * execve(2) with their arguments unchanged. So does enable-event, except that
 * channel0 may be named: see name_channel(). With --callstack:
 *   1. The real enable-event runs without that option. If it fails, the front
 *      end exits with the same status.
 *   2. The real add-context adds callstack-user, vpid, vtid and procname to the
 *      channel. LTTng reports success for contexts that the channel already has.
 *   3. If lttng-probe-kunwind is loaded (root loads it), the real
 *      enable-channel creates a channel for kunwind's events, and the real
 *      enable-event enables them: the trace alone is then enough to name frames,
 *      and has the reason why each stack ended.
 * With --userspace, the context is $app.kunwind:stack in place of callstack-user, and step 3
 * enables LTTng-UST's own events of what a program has loaded, in the same channel.
 * LTTng adds neither contexts nor channels to a session that was ever started.
 * Then the front end prints one line of advice, unless the session has them;
 * procname, which only names the program, may be missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../own_events.h"
#include "options.h"
#include "real.h"
#include "saved.h"

/* The name that LTTng gives to a kernel channel if the user names none. */
#define DEFAULT_CHANNEL	"channel0"
/* Exit status of enable-channel if the channel exists. */
#define EXISTS		4

static const char help[] =
	"\n"
	"kunwind adds:\n"
	"       --callstack\n"
	"           Record the user call stack of each event of the channel: with\n"
	"           --kernel, also add the contexts callstack-user, vpid, vtid and\n"
	"           procname to the channel, before the session is first started. The\n"
	"           stacks of processes under `kunwind run` or `kunwind register` need\n"
	"           no frame pointers. If lttng-probe-kunwind is loaded, also enable\n"
	"           kunwind's events, in a channel named kunwind: they record what is\n"
	"           mapped where, up to 4,096 frames of each stack, and why it ended.\n"
	"           With --userspace, add the context $app.kunwind:stack, which programs\n"
	"           have that run with LD_PRELOAD=libkunwind-ust-preload.so, and enable\n"
	"           lttng_ust_statedump:* and lttng_ust_lib:*.\n"
	"           See lttng-kunwind(1).\n";

/*
 * Writes "COMMAND --kernel [--session NAME]", or --userspace, after the general options. Returns
 * where further arguments and the final NULL go.
 */
static char **session_command(struct options_general *general, const char *command,
			      const struct options_event *event)
{
	char **at = general->argv + general->nr;

	*at++ = (char *)command;
	*at++ = (char *)(event->userspace ? "--userspace" : "--kernel");
	if (event->session) {
		*at++ = (char *)"--session";
		*at++ = (char *)event->session;
	}
	return at;
}

/* Returns 0 if the channel has the contexts that stacks need, else add-context's exit status. */
static int add_contexts(struct options_general *general, const struct options_event *event,
			const char *channel)
{
	static char errors[65536];
	char **at = session_command(general, "add-context", event), *saved;
	bool present = false;
	int status;

	*at++ = (char *)"--channel";
	*at++ = (char *)channel;
	*at++ = (char *)(event->userspace ? "--type=$app.kunwind:stack" : "--type=callstack-user");
	*at++ = (char *)"--type=vpid";
	*at++ = (char *)"--type=vtid";
	*at++ = (char *)"--type=procname";
	*at = NULL;
	/* --mi promises one document, which enable-event has written */
	status = real_run(general->argv, general->mi ? REAL_HIDDEN : REAL_SHOWN,
			  errors, sizeof(errors));
	if (status) {
		saved = saved_session(general, event->session);
		present = saved_contexts(saved, channel, event->userspace);
		free(saved);
	}
	if (present)
		return 0;
	if (status && strstr(errors, "already been started"))
		fputs("lttng: no contexts can be added to a session that was started: `lttng destroy`, "
		      "then create a new one and use --callstack before its first `lttng start`\n",
		      stderr);
	else
		fputs(errors, stderr);
	return status;
}

/*
 * Creates the channel of kunwind's events, unless the session has it. False: the
 * session has no such channel, and a message says so.
 */
static bool create_channel(struct options_general *general, const struct options_event *event)
{
	static char errors[4096];
	char **at = session_command(general, "enable-channel", event);
	int status;

	*at++ = (char *)KUNWIND_OWN_CHANNEL;
	*at = NULL;
	status = real_run(general->argv, REAL_HIDDEN, errors, sizeof(errors));
	if (!status || status == EXISTS)
		return true;
	if (strstr(errors, "already been started"))
		fputs("lttng: no channel for kunwind's events can be added to a session that was "
		      "started, so frames of processes that end may have no names: `lttng destroy`, "
		      "then create a new one and use --callstack before its first `lttng start`\n",
		      stderr);
	else
		fputs(errors, stderr);
	return false;
}

/*
 * Enables one of kunwind's events. False: it could not be enabled, or is enabled already,
 * for which LTTng 2.13 and 2.16 have different statuses.
 */
static bool enable_by_name(struct options_general *general, const struct options_event *event,
			   const char *name)
{
	char **at = session_command(general, "enable-event", event);

	*at++ = (char *)"--channel";
	*at++ = (char *)KUNWIND_OWN_CHANNEL;
	*at++ = (char *)name;
	*at = NULL;
	return !real_run(general->argv, REAL_HIDDEN, NULL, 0);
}

/*
 * Enables kunwind's events. Without them, each event still has its stack. So a
 * failure is only reported.
 */
static void enable_own(struct options_general *general, const struct options_event *event)
{
	static const char *const own[] = { KUNWIND_OWN_EVENTS };
	static const char probe[] = "/sys/module/lttng_probe_kunwind";
	char *load[] = { (char *)"modprobe", (char *)"-q", (char *)"lttng-probe-kunwind", NULL };
	bool enabled = true;
	char *saved;
	size_t i;

	if (access(probe, F_OK) && access("/sys/module/kunwind", F_OK))
		return;
	if (access(probe, F_OK) && (geteuid() || real_run_other(load) || access(probe, F_OK))) {
		fputs("lttng: frames of processes that end will have no names: "
		      "sudo modprobe lttng-probe-kunwind, then repeat this command\n", stderr);
		return;
	}
	if (!create_channel(general, event))
		return;
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		enabled &= enable_by_name(general, event, own[i]);
	if (enabled)
		return;
	saved = saved_session(general, event->session);
	for (enabled = true, i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		enabled &= saved_event(saved, KUNWIND_OWN_CHANNEL, own[i]);
	free(saved);
	if (!enabled)
		fputs("lttng: not all of kunwind's events could be enabled (kunwind_map ...): "
		      "frames of processes that end may have no names\n", stderr);
}

/* Enables the events that say what a program has loaded. LTTng refuses what is enabled already. */
static void enable_loaded(struct options_general *general, const struct options_event *event,
			  const char *channel)
{
	static const char *const loaded[] = { "lttng_ust_statedump:*", "lttng_ust_lib:*" };
	char **at;
	size_t i;

	for (i = 0; i < sizeof(loaded) / sizeof(loaded[0]); i++) {
		at = session_command(general, "enable-event", event);
		*at++ = (char *)"--channel";
		*at++ = (char *)channel;
		*at++ = (char *)loaded[i];
		*at = NULL;
		real_run(general->argv, REAL_HIDDEN, NULL, 0);
	}
}

/*
 * If a session has another channel than channel0, LTTng wants each enable-event
 * to name its channel. So that the channel kunwind does not change how a user
 * names events, this function names channel0 if the session has both. Returns
 * the arguments of the real lttng.
 */
static char **name_channel(int argc, char **argv, int command, struct options_general *general,
			   const struct options_event *event)
{
	char *saved, **named = argv;

	if (!event->kernel || event->channel || event->other_domain)
		return argv;
	saved = saved_session(general, event->session);
	if (saved_channel(saved, KUNWIND_OWN_CHANNEL) && saved_channel(saved, DEFAULT_CHANNEL)) {
		named = calloc((size_t)argc + 2, sizeof(*named));
		if (!named) {
			perror("lttng");
			exit(1);
		}
		memcpy(named, argv, ((size_t)command + 1) * sizeof(*named));
		named[command + 1] = (char *)"--channel=" DEFAULT_CHANNEL;
		memcpy(named + command + 2, argv + command + 1,
		       (size_t)(argc - command) * sizeof(*named));
	}
	free(saved);
	return named;
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
	if (event.refused) {
		fprintf(stderr, "lttng: %s: --callstack takes no value\n", event.refused);
		return 1;
	}
	if (!event.callstack)
		real_exec(name_channel(argc, argv, command, general, &event));
	if (event.other_domain) {
		fputs("lttng: --callstack is for events of the kernel (--kernel) and of programs "
		      "(--userspace): LTTng has no call stacks in other domains\n", stderr);
		return 1;
	}
	status = real_run(name_channel(argc, argv, command, general, &event), REAL_SHOWN, NULL, 0);
	if (status)
		return status;
	status = add_contexts(general, &event, channel);
	if (!status && event.userspace)
		enable_loaded(general, &event, channel);
	else if (!status)
		enable_own(general, &event);
	return status;
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
