// SPDX-License-Identifier: MIT
/*
 * session.c - one LTTng session, through liblttng-ctl; its channels of the kernel
 *
 * kunwind's own events are in a channel without contexts (own_events.h), those of
 * interrupts in another one (interrupt_events.h), and all other events in a third.
 * A reader merges channels.
 *
 * LTTng accepts any name of a tracepoint without checking that it exists, so
 * this file looks names up in LTTng's lists first.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <lttng/health.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interrupt_events.h"
#include "own_events.h"
#include "session.h"
#include "session_name.h"
#include "tool.h"
#include "watchdog.h"

#define CHANNEL		"events"
#define STACKS_CHANNEL	"stacks"	/* of a flight recorder, for the definitions of stacks */
#define STACK_ID_PMU	"/sys/bus/event_source/devices/kunwind/type"
#define LIVE_TIMER_US	1000000		/* how often data is sent to the relay daemon */

bool session_failure(const char *what, int code)
{
	const char *advice;

	switch (abs(code)) {
	case LTTNG_ERR_NO_SESSIOND:
		advice = "no session daemon: sudo lttng-sessiond --daemonize";
		break;
	case LTTNG_ERR_NEED_ROOT_SESSIOND:
	case LTTNG_ERR_EPERM:
		advice = "only root and the group tracing may trace the kernel: use sudo, or "
			 "sudo usermod -aG tracing $USER, log in again, and have root's "
			 "lttng-sessiond run";
		break;
	case LTTNG_ERR_KERN_NA:
	case LTTNG_ERR_KERN_VERSION:
		advice = "LTTng's kernel modules are missing or could not be loaded: "
			 "kunwind doctor tells how to get them";
		break;
	case LTTNG_ERR_NO_KERNCONSUMERD:
	case LTTNG_ERR_CLOSE_TRACE_CHUNK_FAIL_CONSUMER:
		advice = "LTTng's consumer daemon, which writes traces, has ended, and its session "
			 "daemon starts no other one: restart both: " KUNWIND_RESTART;
		break;
	case LTTNG_ERR_ROTATION_FAIL_CONSUMER:
		advice = "the relay daemon there has ended, or cannot be reached any more: see that "
			 "lttng-relayd runs on that host, and that its disk has space";
		break;
	case LTTNG_ERR_SESS_NOT_FOUND:
		advice = "LTTng's session daemon was restarted, or somebody has destroyed the session";
		break;
	case LTTNG_ERR_RELAYD_CONNECT_FAIL:
	case LTTNG_ERR_ENABLE_CONSUMER_FAIL:
		advice = "no relay daemon there: lttng-relayd must run on that host";
		break;
	default:
		advice = lttng_strerror(-abs(code));
	}
	kunwind_tool_error("%s: %s", what, advice);
	return false;
}

static bool check(const char *what, int code)
{
	return code >= 0 || session_failure(what, code);
}

/* Begins a call of the session daemon. Returns false if a signal asks the program to end. */
static bool ask(const char *what)
{
	watchdog_wait(WATCH_DAEMON, what, WATCH_USUAL);
	return !watchdog_interrupted();
}

/*
 * Runs a program with its output hidden. Returns its exit status (127 also if
 * it was not found), or -1.
 */
static int run(char *const *argv)
{
	int status;
	sigset_t none;
	pid_t pid = fork();

	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (!freopen("/dev/null", "r+", stdout) || !freopen("/dev/null", "r+", stderr))
			_exit(127);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

bool session_daemon(bool kernel)
{
	char *daemon[] = { (char *)"lttng-sessiond", (char *)"--daemonize", NULL };

	ask("does it run?");
	if (lttng_session_daemon_alive() == 1)
		return true;
	if (!geteuid() || !kernel) {
		ask("start it");
		/* returns when ready; -1 or 1: another daemon may run */
		if (run(daemon) == 127) {
			kunwind_tool_error("lttng-sessiond is not installed: "
					   "apt install --no-install-recommends lttng-tools");
			return false;
		}
		if (lttng_session_daemon_alive() == 1)
			return true;
	}
	return session_failure("LTTng", LTTNG_ERR_NO_SESSIOND);
}

/*
 * Before the first recording, there is no consumer daemon. So its absence alone says
 * nothing; but the thread of the session daemon that talked to it has then failed.
 */
bool session_consumer_ended(void)
{
	struct lttng_health *session = lttng_health_create_sessiond();
	struct lttng_health *consumer = lttng_health_create_consumerd(LTTNG_HEALTH_CONSUMERD_KERNEL);
	bool ended;

	ask("is it healthy?");
	ended = session && consumer && !lttng_health_query(session) && lttng_health_state(session) &&
		lttng_health_query(consumer);
	if (session)
		lttng_health_destroy(session);
	if (consumer)
		lttng_health_destroy(consumer);
	return ended;
}

bool session_probe(void)
{
	static const char loaded[] = "/sys/module/lttng_probe_kunwind";
	char *load[] = { (char *)"modprobe", (char *)"-q", (char *)"lttng-probe-kunwind", NULL };

	watchdog_wait("modprobe", load[2], WATCH_USUAL);
	if (!access(loaded, F_OK) || (!geteuid() && !run(load) && !access(loaded, F_OK)))
		return true;
	kunwind_tool_error("the trace will have no mappings, so frames of processes that have ended "
			   "get no names: sudo modprobe lttng-probe-kunwind");
	return false;
}

bool session_channel(const struct session *session, struct lttng_handle *handle,
		     struct lttng_domain *domain, const char *name, uint64_t buffer)
{
	struct lttng_channel *channel = lttng_channel_create(domain);
	int err, tries = 10;

	if (!channel)
		return session_failure("channel", LTTNG_ERR_NOMEM);
	if (!ask("make a channel")) {
		lttng_channel_destroy(channel);
		return false;
	}
	strcpy(channel->name, name);
	channel->attr.overwrite = session->flight;
	channel->attr.subbuf_size = buffer;
	channel->attr.num_subbuf = session->flight ? SESSION_FLIGHT_BUFFERS : SESSION_BUFFERS;
	if (session->flight)
		channel->attr.output = LTTNG_EVENT_MMAP;	/* as snapshots need it */
	/*
	 * A session daemon that cannot reach the relay daemon may answer, and
	 * close the socket, before the whole request is sent. liblttng-ctl then
	 * returns LTTNG_ERR_FATAL instead of the answer.
	 */
	do {
		err = lttng_enable_channel(handle, channel);
	} while (err == -LTTNG_ERR_FATAL && --tries);
	lttng_channel_destroy(channel);
	return check("channel", err);
}

static bool create_channel(const struct session *session, const char *name, uint64_t buffer)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_KERNEL,
				       .buf_type = LTTNG_BUFFER_GLOBAL };

	return session_channel(session, session->handle, &domain, name, buffer);
}

bool session_is_remote(const char *to)
{
	return !strncmp(to, "net://", 6) || !strncmp(to, "net6://", 7);
}

static int create_snapshot_session(const char *name, const char *path)
{
	struct lttng_session_descriptor *descriptor =
		lttng_session_descriptor_snapshot_local_create(name, path);
	int err = descriptor ? -(int)lttng_create_session_ext(descriptor) : -LTTNG_ERR_NOMEM;

	lttng_session_descriptor_destroy(descriptor);
	return err == -LTTNG_OK ? 0 : err;
}

/*
 * The channel of mappings has few events. In a flight recorder, the many events
 * with stacks must not overwrite them.
 *
 * LTTng writes the channels of a snapshot one after the other, the one created
 * last first. Meanwhile processes go on. So the channel of events is created
 * after those of mappings and stacks, which then have what each event of the
 * snapshot needs.
 */
static bool create_channels(const struct session *session, const struct session_buffers *buffers)
{
	return create_channel(session, KUNWIND_OWN_CHANNEL, buffers->own) &&
	       (!session->flight || create_channel(session, STACKS_CHANNEL, buffers->stacks)) &&
	       create_channel(session, CHANNEL, buffers->events);
}

bool session_create(struct session *session, const char *to, const struct session_buffers *buffers,
		    bool flight)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_KERNEL,
				       .buf_type = LTTNG_BUFFER_GLOBAL };
	char url[4096 + 16];

	memset(session, 0, sizeof(*session));
	if (!ask("make a session"))
		return false;
	session->flight = flight;
	session->remote = session_is_remote(to);
	session_name(session->name, sizeof(session->name));
	snprintf(url, sizeof(url), "%s%s", session_is_remote(to) ? "" : "file://", to);
	if (!check(to, flight ? create_snapshot_session(session->name, to) :
		       session_is_remote(to) ?
			   lttng_create_session_live(session->name, url, LIVE_TIMER_US) :
			   lttng_create_session(session->name, url)))
		return false;
	session->created = true;
	if (!buffers)
		return true;
	session->handle = lttng_create_handle(session->name, &domain);
	if (!session->handle)
		return session_failure("session", LTTNG_ERR_NOMEM);
	if (!create_channels(session, buffers) || !ask("list events"))
		return false;
	session->nr_syscalls = lttng_list_syscalls(&session->syscalls);
	session->nr_tracepoints = lttng_list_tracepoints(session->handle, &session->tracepoints);
	return check("system calls", session->nr_syscalls) &&
	       check("tracepoints", session->nr_tracepoints);
}

bool session_add_context(struct lttng_handle *handle, struct lttng_event_context *context,
			 const char *channel, const char *what)
{
	return ask("add a context") &&
	       check(what, lttng_add_context(handle, context, NULL, channel));
}

bool session_context(struct session *session, int type)
{
	struct lttng_event_context context = { .ctx = (enum lttng_event_context_type)type };

	return session_add_context(session->handle, &context, CHANNEL, "context");
}

/* Reads the number of the module's PMU. Returns false after a message. */
static bool pmu_type(uint32_t *type)
{
	FILE *file = fopen(STACK_ID_PMU, "re");
	bool ok = file && fscanf(file, "%" SCNu32, type) == 1;

	if (file)
		fclose(file);
	if (!ok)
		kunwind_tool_error("the module gives events no ids of stacks (no " STACK_ID_PMU
				   "): whole stacks are recorded, as with --context");
	return ok;
}

bool session_has_stack_ids(void)
{
	uint32_t type;

	return pmu_type(&type);
}

bool session_stack_ids(struct session *session, bool kernel)
{
	struct lttng_event_context context = { .ctx = LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER };

	context.u.perf_counter.config = kernel ? KUNWIND_PMU_KERNEL : KUNWIND_PMU_USER;
	strcpy(context.u.perf_counter.name, kernel ? KUNWIND_KERNEL_STACK_ID : KUNWIND_STACK_ID);
	return pmu_type(&context.u.perf_counter.type) &&
	       session_add_context(session->handle, &context, CHANNEL, "context of stacks' ids");
}

static bool listed(const struct lttng_event *events, int nr, const char *pattern)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (!fnmatch(pattern, events[i].name, 0))
			return true;
	}
	return false;
}

static const char *channel_of(const struct session *session, const char *name)
{
	static const char *const own[] = { KUNWIND_OWN_EVENTS, KUNWIND_KERNEL_STACK_EVENT,
		KUNWIND_BLOCKED_EVENT, STATE_DUMP_EVENTS };
	size_t i;

	if (session->flight &&
	    (!strcmp(name, "kunwind_callstack") || !strcmp(name, KUNWIND_KERNEL_STACK_EVENT)))
		return STACKS_CHANNEL;
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(name, own[i]))
			return KUNWIND_OWN_CHANNEL;
	return CHANNEL;
}

bool session_enable(struct lttng_handle *handle, int type, const char *name, const char *channel,
		    const char *filter)
{
	struct lttng_event *event;
	int err;

	if (!ask("enable an event"))
		return false;
	event = lttng_event_create();
	if (!event)
		return session_failure(name, LTTNG_ERR_NOMEM);
	event->type = (enum lttng_event_type)type;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	snprintf(event->name, sizeof(event->name), "%s", name);
	err = filter ? lttng_enable_event_with_filter(handle, event, channel, filter) :
		       lttng_enable_event(handle, event, channel);
	lttng_event_destroy(event);
	/* enabled before: the user named it twice */
	return err == -LTTNG_ERR_KERN_EVENT_EXIST || err == -LTTNG_ERR_UST_EVENT_ENABLED ||
	       check(name, err);
}

/* Returns @name without @prefix, or NULL if it does not begin with it. */
static const char *behind(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) ? NULL : name + length;
}

bool session_event(struct session *session, const char *name, const char *filter)
{
	const char *channel = channel_of(session, name);
	const char *call = behind(name, "syscall:"), *point = behind(name, "tracepoint:");
	bool found = false;

	if (!strcmp(name, "syscalls"))
		call = "*";
	if (!call && !point)
		call = point = name;
	if (call && listed(session->syscalls, session->nr_syscalls, call)) {
		found = session->calls = true;
		if (!session_enable(session->handle, LTTNG_EVENT_SYSCALL, call, channel, filter))
			return false;
	}
	if (point && listed(session->tracepoints, session->nr_tracepoints, point)) {
		found = true;
		if (!session_enable(session->handle, LTTNG_EVENT_TRACEPOINT, point, channel, filter))
			return false;
	}
	if (!found)
		kunwind_tool_error("no system call or tracepoint \"%s\" "
				   "(lttng list --kernel [--syscall] has them)", name);
	return found;
}

bool session_may_trigger(const struct session *session, const char *name)
{
	const char *call = behind(name, "syscall:");

	if (call ? listed(session->syscalls, session->nr_syscalls, call) :
		   listed(session->tracepoints, session->nr_tracepoints, name))
		return true;
	if (!call && !strcmp(name, "syscalls"))
		kunwind_tool_error("--trigger \"event syscalls\": no tracepoint \"syscalls\": write "
				   "event syscall:NAME, or syscall > DURATION");
	else if (!call && listed(session->syscalls, session->nr_syscalls, name))
		kunwind_tool_error("--trigger \"event %s\": a system call, not a tracepoint: write "
				   "event syscall:%s, or %s > DURATION", name, name, name);
	else
		kunwind_tool_error("--trigger \"event %s\": no %s (lttng list --kernel%s has them)", name,
				   call ? "such system call" : "such tracepoint", call ? " --syscall" : "");
	return false;
}

bool session_open_files(struct session *session)
{
	static const char *const names[] = { STATE_DUMP_EVENTS };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (listed(session->tracepoints, session->nr_tracepoints, names[i]) &&
		    !session_event(session, names[i], NULL))
			return false;
	}
	return true;
}

bool session_interrupts(struct session *session, uint64_t buffer)
{
	static const char *const names[] = { INTERRUPT_EVENTS };
	size_t i;

	if (session->interrupts)
		return true;
	session->interrupts = true;
	if (!create_channel(session, INTERRUPT_CHANNEL, buffer > 4 * 4096 ? buffer / 4 : 4096))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* other architectures and older LTTng lack some */
		if (listed(session->tracepoints, session->nr_tracepoints, names[i]) &&
		    !session_enable(session->handle, LTTNG_EVENT_TRACEPOINT, names[i],
				    INTERRUPT_CHANNEL, NULL))
			return false;
	}
	return true;
}

bool session_start(struct session *session)
{
	session->started = !watchdog_interrupted() &&
			   check("start", lttng_start_tracing(session->name));
	return session->started;
}

/*
 * Adds the number of events of a domain that were discarded to @lost. Returns an error of LTTng:
 * a consumer daemon has ended.
 */
static int discarded(struct lttng_handle *handle, uint64_t *lost)
{
	struct lttng_channel *channels = NULL;
	int i, nr = handle ? lttng_list_channels(handle, &channels) : 0;
	uint64_t count;

	for (i = 0; i < nr; i++) {
		if (!lttng_channel_get_discarded_event_count(&channels[i], &count))
			*lost += count;
	}
	free(channels);
	return nr;
}

bool session_stop(struct session *session, uint64_t *lost)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	int pending, err;

	session->started = false;
	session->failed = true;
	if (!check("stop", lttng_stop_tracing_no_wait(session->name)))
		return false;
	/* liblttng-ctl's own wait has no end */
	watchdog_wait(WATCH_DAEMON, "write the rest of the trace", WATCH_DISK);
	while ((pending = lttng_data_pending(session->name)) == 1)
		nanosleep(&pause, NULL);
	ask("count lost events");
	*lost = 0;
	err = discarded(session->handle, lost);
	if (err >= 0)
		err = discarded(session->ust, lost);
	session->failed = !check("stop", pending) || !check("the trace ends early", err);
	return !session->failed;
}

bool session_destroy(struct session *session)
{
	bool ok = true;
	int err;

	if (session->handle)
		lttng_destroy_handle(session->handle);
	if (session->ust)
		lttng_destroy_handle(session->ust);
	if (session->created) {
		err = lttng_destroy_session(session->name);
		/* local: a stream that the consumer gave up (disk.c); the session is destroyed */
		if (err == -LTTNG_ERR_ROTATION_FAIL_CONSUMER && !session->remote)
			err = 0;
		/* else session_stop() has said why */
		if (!session->failed)
			ok = check(err == -LTTNG_ERR_ROTATION_FAIL_CONSUMER ||
				   err == -LTTNG_ERR_CLOSE_TRACE_CHUNK_FAIL_CONSUMER ?
				   "the trace may end early" : "destroy", err);
	}
	free(session->syscalls);
	free(session->tracepoints);
	session->handle = session->ust = NULL;
	session->created = false;
	session->syscalls = session->tracepoints = NULL;
	return ok;
}
