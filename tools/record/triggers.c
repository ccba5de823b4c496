// SPDX-License-Identifier: MIT
/*
 * triggers.c - wait for LTTng's triggers
 *
 * LTTng's kernel tracer evaluates each trigger where its event occurs, whether or
 * not the event is recorded, and sends the fields that the trigger captures to
 * the session daemon, which notifies this program. liblttng-ctl has no
 * descriptor to wait for a notification, so a thread waits, and writes to a pipe.
 *
 * The daemons and this program wait in system calls, also for the notification
 * itself. Programs that read a snapshot kill their kunwind-symbolize-helper.
 * Events of these processes fire no trigger, because each snapshot would cause
 * the next.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lttng/lttng.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"
#include "tool.h"
#include "triggers.h"
#include "watchdog.h"

#define WAKE	SIGURG	/* interrupts the thread; without a handler it would be ignored */
#define END_MS	2000	/* how long the thread may take to end */

/* What a trigger captures first, in this order. */
static const char *const contexts[] = { "procname", "pid", "tid" };
static const char *const call_fields[] = { "duration", "syscall", "compat", NULL };
static const char *const signal_fields[] = { "signal", NULL };
static const char *const no_fields[] = { NULL };

static const char *const *fields_of(const struct expression *expression)
{
	return expression->kind == EXPRESSION_SYSCALL ? call_fields :
	       expression->kind == EXPRESSION_SIGNAL ? signal_fields : no_fields;
}

static void name_of(char *name, size_t size, const char *session, size_t i)
{
	snprintf(name, size, "%s/%zu", session, i);
}

/*
 * Is the program of this process one of LTTng's daemons? Members of the group
 * tracing cannot read which program a daemon of root is, but can read its name.
 */
static bool is_daemon(const char *pid)
{
	char path[64], target[4096] = "";
	const char *base;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/exe", pid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0 && errno == EACCES) {
		snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
		f = fopen(path, "re");
		if (f && !fgets(target, sizeof(target), f))
			*target = '\0';
		if (f)
			fclose(f);
		return !strncmp(target, "lttng-", 6);
	}
	base = strrchr(target, '/');
	return base && !strncmp(base + 1, "lttng-", 6);
}

/* Returns @own and @scope, either may be NULL, without this program and the daemons. */
static char *make_filter(const char *own, const char *scope)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char *filter = NULL;
	size_t size;
	FILE *out = open_memstream(&filter, &size);

	if (!out)
		abort();	/* out of memory */
	fprintf(out, "$ctx.procname != \"kunwind-symboli*\" && $ctx.pid != %d", (int)getpid());
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name >= '0' && *entry->d_name <= '9' && is_daemon(entry->d_name))
			fprintf(out, " && $ctx.pid != %s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (own)
		fprintf(out, " && (%s)", own);
	if (scope)
		fprintf(out, " && (%s)", scope);
	if (fclose(out))
		abort();
	return filter;
}

static struct lttng_event_rule *make_rule(const struct expression *expression, const char *filter)
{
	bool call = !strncmp(expression->event, "syscall:", 8), done;
	struct lttng_event_rule *rule = call ?
		lttng_event_rule_kernel_syscall_create(
			LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_ENTRY) :
		lttng_event_rule_kernel_tracepoint_create();

	if (!rule)
		return NULL;
	if (call)
		done = !lttng_event_rule_kernel_syscall_set_name_pattern(rule, expression->event + 8) &&
		       !lttng_event_rule_kernel_syscall_set_filter(rule, filter);
	else
		done = !lttng_event_rule_kernel_tracepoint_set_name_pattern(rule, expression->event) &&
		       !lttng_event_rule_kernel_tracepoint_set_filter(rule, filter);
	if (done)
		return rule;
	lttng_event_rule_destroy(rule);
	return NULL;
}

static bool add_captures(struct lttng_condition *condition, const struct expression *expression)
{
	const char *const *field = fields_of(expression);
	struct lttng_event_expr *expr;
	size_t i;

	for (i = 0; i < sizeof(contexts) / sizeof(contexts[0]) || *field; i++) {
		expr = i < sizeof(contexts) / sizeof(contexts[0]) ?
			lttng_event_expr_channel_context_field_create(contexts[i]) :
			lttng_event_expr_event_payload_field_create(*field++);
		if (!expr || lttng_condition_event_rule_matches_append_capture_descriptor(condition, expr))
			return false;
	}
	return true;
}

static bool add(struct triggers *triggers, size_t i, const char *session, const char *scope)
{
	const struct expression *expression = &triggers->expression[i];
	char *filter = make_filter(expression->filter, scope);
	struct lttng_event_rule *rule = make_rule(expression, filter);
	struct lttng_condition *condition = rule ?
		lttng_condition_event_rule_matches_create(rule) : NULL;
	struct lttng_action *action = lttng_action_notify_create();
	char name[96];
	int err = -LTTNG_ERR_NOMEM;

	name_of(name, sizeof(name), session, i);
	free(filter);
	lttng_event_rule_destroy(rule);		/* the condition has a reference */
	if (condition && action && add_captures(condition, expression))
		triggers->trigger[i] = lttng_trigger_create(condition, action);
	if (triggers->trigger[i]) {
		err = -(int)lttng_register_trigger_with_name(triggers->trigger[i], name);
		if (err == -LTTNG_OK)
			err = 0;
	}
	if (!err && lttng_notification_channel_subscribe(triggers->channel, condition))
		err = -LTTNG_ERR_UNK;
	lttng_condition_destroy(condition);
	lttng_action_destroy(action);
	if (!err)
		return true;
	if (err == -LTTNG_ERR_INVALID_TRIGGER || err == -LTTNG_ERR_INVALID ||
	    err == -LTTNG_ERR_FILTER_INVAL)
		kunwind_tool_error("--trigger \"%s\": LTTng does not accept it: is the filter wrong? "
				   "lttng-enable-event(1) describes filters", expression->text);
	else
		session_failure(expression->text, err);
	return false;
}

static bool number_of(const struct lttng_event_field_value *value, int64_t *number)
{
	uint64_t positive;

	if (!lttng_event_field_value_signed_int_get_value(value, number))
		return true;
	if (lttng_event_field_value_unsigned_int_get_value(value, &positive))
		return false;
	*number = (int64_t)positive;
	return true;
}

/* Describes what fired. Values that were not captured are left out. */
static void describe(const struct expression *expression, const struct lttng_evaluation *evaluation,
		     char *text, size_t size)
{
	const struct lttng_event_field_value *values = NULL, *value;
	int64_t number[6] = { -1, -1, -1, -1, -1, -1 };
	const char *comm = "?", *call;
	unsigned int nr = 0, i;
	char what[96];

	if (!lttng_evaluation_event_rule_matches_get_captured_values(evaluation, &values))
		lttng_event_field_value_array_get_length(values, &nr);
	for (i = 0; i < nr && i < 6; i++) {
		if (lttng_event_field_value_array_get_element_at_index(values, i, &value))
			continue;
		if (i)
			number_of(value, &number[i]);
		else
			lttng_event_field_value_string_get_value(value, &comm);
	}
	if (expression->kind == EXPRESSION_SYSCALL) {
		call = expression_syscall_name((int)number[4], number[5] == 1);
		snprintf(what, sizeof(what), "%s took %" PRId64 ".%03" PRId64 " ms", call ? call : "a call",
			 number[3] / 1000000, number[3] / 1000 % 1000);
	} else if (expression->kind == EXPRESSION_SIGNAL) {
		call = sigabbrev_np((int)number[3]);
		snprintf(what, sizeof(what), "signal %d (%s)", (int)number[3], call ? call : "?");
	} else {
		snprintf(what, sizeof(what), "%.80s", expression->event);
	}
	snprintf(text, size, "%s in %.31s %" PRId64 "/%" PRId64 " (trigger: %.120s)", what, comm,
		 number[1], number[2], expression->text);
}

static const struct expression *fired(const struct triggers *triggers,
				      const struct lttng_notification *notification)
{
	const struct lttng_trigger *trigger = lttng_notification_get_trigger((void *)notification);
	const char *name = NULL, *slash;
	size_t i;

	if (!trigger || lttng_trigger_get_name(trigger, &name) || !name)
		return NULL;
	slash = strrchr(name, '/');
	i = slash ? (size_t)atoi(slash + 1) : triggers->nr;
	return i < triggers->nr ? &triggers->expression[i] : NULL;
}

static void *listen_thread(void *data)
{
	struct triggers *triggers = data;
	const struct expression *expression;
	struct lttng_notification *notification;
	enum lttng_notification_channel_status status;
	struct firing firing;

	memset(&firing, 0, sizeof(firing));
	for (;;) {
		status = lttng_notification_channel_get_next_notification(triggers->channel,
									   &notification);
		if (atomic_load(&triggers->ending))
			break;
		if (status == LTTNG_NOTIFICATION_CHANNEL_STATUS_INTERRUPTED)
			continue;
		if (status == LTTNG_NOTIFICATION_CHANNEL_STATUS_NOTIFICATIONS_DROPPED) {
			firing.dropped = true;
			continue;
		}
		if (status != LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
			break;
		expression = fired(triggers, notification);
		if (expression) {
			firing.kind = expression->kind;
			describe(expression, lttng_notification_get_evaluation(notification),
				 firing.what, sizeof(firing.what));
			if (write(triggers->pipe[1], &firing, sizeof(firing)) != sizeof(firing))
				break;
			firing.dropped = false;
		}
		lttng_notification_destroy(notification);
	}
	/* the session daemon has ended, or triggers_end() */
	close(triggers->pipe[1]);
	return NULL;
}

static void on_wake(int number)
{
	(void)number;		/* it only interrupts a system call */
}

static bool start_thread(struct triggers *triggers)
{
	const struct sigaction action = { .sa_handler = on_wake };	/* no SA_RESTART */

	sigaction(WAKE, &action, NULL);
	errno = pthread_create(&triggers->thread, NULL, listen_thread, triggers);
	triggers->listens = !errno;
	return triggers->listens;
}

/*
 * Ends the thread. Returns false if it still waits for the rest of a notification; then
 * it goes on using @triggers until this program ends.
 */
static bool end_thread(struct triggers *triggers)
{
	struct timespec time;
	int tries;

	if (!triggers->listens)
		return true;
	atomic_store(&triggers->ending, true);
	/* again and again: the signal may come just before the thread waits */
	for (tries = 0; tries < END_MS / 10; tries++) {
		pthread_kill(triggers->thread, WAKE);
		clock_gettime(CLOCK_REALTIME, &time);
		time.tv_nsec += 10000000;
		time.tv_sec += time.tv_nsec / 1000000000;
		time.tv_nsec %= 1000000000;
		if (!pthread_timedjoin_np(triggers->thread, NULL, &time)) {
			triggers->listens = false;
			return true;
		}
	}
	return false;
}

int triggers_begin(struct triggers *triggers, const char *session, const char *filter)
{
	size_t i;

	triggers->trigger = calloc(triggers->nr, sizeof(*triggers->trigger));
	watchdog_wait(WATCH_DAEMON, "make a channel for notifications", WATCH_USUAL);
	triggers->channel = lttng_notification_channel_create(
		lttng_session_daemon_notification_endpoint);
	if (!triggers->channel || !triggers->trigger) {
		kunwind_tool_error("no channel for LTTng's notifications");
		return -1;
	}
	for (i = 0; i < triggers->nr; i++) {
		watchdog_wait(WATCH_DAEMON, "make a trigger", WATCH_USUAL);
		if (watchdog_interrupted() || !add(triggers, i, session, filter))
			return -1;
	}
	if (pipe2(triggers->pipe, O_CLOEXEC) || !start_thread(triggers)) {
		kunwind_tool_error("cannot wait for triggers: %s", strerror(errno));
		return -1;
	}
	return triggers->pipe[0];
}

bool triggers_end(struct triggers *triggers)
{
	bool ended = end_thread(triggers);
	size_t i;

	for (i = 0; triggers->trigger && i < triggers->nr; i++) {
		if (!triggers->trigger[i])
			continue;
		watchdog_wait(WATCH_DAEMON, "remove a trigger", WATCH_USUAL);
		lttng_unregister_trigger(triggers->trigger[i]);
		lttng_trigger_destroy(triggers->trigger[i]);
	}
	free(triggers->trigger);
	triggers->trigger = NULL;
	if (ended && triggers->channel) {
		lttng_notification_channel_destroy(triggers->channel);
		triggers->channel = NULL;
	}
	return ended;
}

void triggers_forget(bool (*is_left_over)(const char *session))
{
	struct lttng_triggers *all = NULL;
	const struct lttng_trigger *trigger;
	const char *name, *slash;
	unsigned int nr = 0, i;
	char session[64];

	watchdog_wait(WATCH_DAEMON, "list triggers", WATCH_USUAL);
	if (lttng_list_triggers(&all) != LTTNG_OK)
		return;
	lttng_triggers_get_count(all, &nr);
	for (i = 0; i < nr; i++) {
		trigger = lttng_triggers_get_at_index(all, i);
		slash = lttng_trigger_get_name(trigger, &name) || !name ? NULL : strchr(name, '/');
		if (!slash || slash - name >= (ptrdiff_t)sizeof(session))
			continue;
		snprintf(session, sizeof(session), "%.*s", (int)(slash - name), name);
		if (is_left_over(session))
			lttng_unregister_trigger(trigger);
	}
	lttng_triggers_destroy(all);
}
