// SPDX-License-Identifier: MIT
/*
 * flight.c - take snapshots when a trigger fires
 *
 * LTTng records into buffers in memory, and overwrites the oldest events.
 * Nothing is written to a disk until a trigger fires, SIGUSR1 comes, or another
 * program takes a snapshot of the session.
 *
 * Memory: LTTng has one buffer more than SESSION_FLIGHT_BUFFERS for each
 * channel and processor, for its reader. The channels of stacks, of mappings
 * and of interrupts have buffers of a quarter of the size. The consumer daemon
 * maps the same memory.
 *
 * A thread takes the snapshots, so that the main thread can wait for the command
 * or the processes as it does without --flight.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "flight.h"
#include "session.h"
#include "snapshot.h"
#include "symbols.h"
#include "tool.h"
#include "watchdog.h"

#define DEFAULT_BUFFER	(UINT64_C(1) << 20)
#define LEAST_BUFFER	(UINT64_C(256) << 10)	/* a stack takes up to 37 KB of a quarter */
#define MOST_BUFFER	(UINT64_C(1) << 30)
#define GRACE_MS	1000	/* how long a notification of LTTng may take at the end */
#define KILLED_MS	20000	/* the same if a signal has killed the command */

static bool is_same(const struct expression *a, const struct expression *b)
{
	return !strcmp(a->event, b->event) && !a->filter == !b->filter &&
	       (!a->filter || !strcmp(a->filter, b->filter));
}

bool flight_add_trigger(struct flight *flight, const char *text)
{
	struct triggers *triggers = &flight->triggers;
	struct expression *list = reallocarray(triggers->expression, triggers->nr + 1, sizeof(*list));
	size_t i;

	if (!list) {
		kunwind_tool_error("out of memory");
		return false;
	}
	triggers->expression = list;
	if (!expression_read(&list[triggers->nr++], text))
		return false;
	/* LTTng refuses to notify of one condition twice */
	for (i = 0; i < triggers->nr - 1; i++)
		if (is_same(&list[i], &list[triggers->nr - 1])) {
			expression_free(&list[--triggers->nr]);
			break;
		}
	return true;
}

void flight_free(struct flight *flight)
{
	size_t i;

	/* another thread still reads the expressions */
	if (flight->listens)
		return;
	for (i = 0; i < flight->triggers.nr; i++)
		expression_free(&flight->triggers.expression[i]);
	free(flight->triggers.expression);
	flight->triggers.expression = NULL;
	flight->triggers.nr = 0;
}

static uint64_t processors(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return nr > 0 ? (uint64_t)nr : 1;
}

/* Bytes of all buffers: of events a whole; of stacks, mappings and interrupts a quarter. */
static uint64_t memory_of(uint64_t buffer)
{
	return processors() * (SESSION_FLIGHT_BUFFERS + 1) * (buffer + buffer / 4 * 3);
}

uint64_t flight_buffer(const struct flight *flight)
{
	uint64_t buffer = LEAST_BUFFER;

	if (!flight->memory)
		return DEFAULT_BUFFER;
	if (memory_of(buffer) > flight->memory) {
		kunwind_tool_error("--memory: the buffers of %" PRIu64 " processors need at least %" PRIu64
				   "K", processors(), memory_of(buffer) >> 10);
		return 0;
	}
	while (buffer < MOST_BUFFER && memory_of(2 * buffer) <= flight->memory)
		buffer *= 2;
	return buffer;
}

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t seconds(void)
{
	return (uint64_t)milliseconds() / 1000;
}

static void print_json(const struct flight *flight, const char *key, const char *path, const char *why)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return;
	fprintf(out, "{\"%s\": ", key);
	kunwind_tool_json_string_to(out, path);
	fputs(", \"why\": ", out);
	kunwind_tool_json_string_to(out, why);
	fprintf(out, ", \"suppressed\": %" PRIu64 "}\n", flight->suppressed);
	if (!fclose(out))
		fputs(line, stderr);
	free(line);
}

/* Reports a snapshot that was taken. */
static void report(const struct flight *flight, const char *path, const char *why)
{
	char more[64] = "";

	if (flight->json) {
		print_json(flight, "snapshot", path, why);
		return;
	}
	if (flight->suppressed)
		snprintf(more, sizeof(more), "; %" PRIu64 " firings had no snapshot so far",
			 flight->suppressed);
	if (!flight->quiet)
		kunwind_tool_error("%s: %s%s", path, why, more);
}

/* Returns whether the snapshot was taken. */
static bool take(struct flight *flight, const char *why)
{
	struct snapshot snapshot;
	bool taken = snapshot_take(flight->session, flight->dir, flight->path, &snapshot);

	if (taken) {
		flight->taken++;
		watchdog_wait("the disk", "save the kernel's symbols", WATCH_ANY);
		if (flight->kernel)
			symbols_save(snapshot.dir, snapshot.path);
		report(flight, snapshot.path, why);
	} else {
		flight->failed++;
	}
	if (snapshot.dir >= 0) {
		flight->written++;
		close(snapshot.dir);
	}
	watchdog_idle();
	return taken;
}

static void handle_firing(struct flight *flight, const struct firing *firing, uint64_t *next)
{
	bool taken;

	if (firing->kind == EXPRESSION_SIGNAL)
		flight->came = true;
	if (firing->dropped)
		kunwind_tool_error("LTTng dropped notifications of triggers: they come too fast");
	if (seconds() < *next || (flight->most && flight->triggered >= flight->most)) {
		flight->suppressed++;
		return;
	}
	taken = take(flight, firing->what);
	flight->triggered += taken;
	*next = seconds() + flight->interval;
	if (taken && flight->triggered == flight->most && !flight->quiet && !flight->json)
		kunwind_tool_error("that was snapshot %" PRIu64 " of %" PRIu64 " (--snapshots): triggers "
				   "take no more", flight->triggered, flight->most);
}

/* Handles the firings that have come so far. Others may follow without end. */
static void handle_rest(struct flight *flight, uint64_t *next)
{
	struct firing firing;
	int bytes = 0;

	if (ioctl(flight->firings, FIONREAD, &bytes))
		return;
	for (; bytes >= (int)sizeof(firing); bytes -= (int)sizeof(firing)) {
		if (read(flight->firings, &firing, sizeof(firing)) != sizeof(firing))
			return;
		handle_firing(flight, &firing, next);
	}
}

static void *flight_thread(void *data)
{
	struct flight *flight = data;
	struct pollfd fds[] = { { .fd = flight->firings, .events = POLLIN },
				{ .fd = flight->signals, .events = POLLIN },
				{ .fd = flight->stop[0], .events = POLLIN } };
	struct signalfd_siginfo info;
	struct firing firing;
	int64_t stopped = 0, left = -1;		/* milliseconds */
	uint64_t next = 0;
	int ready;

	/* firings may come all the time: look at all three descriptors each time */
	for (;;) {
		ready = poll(fds, 3, (int)left);
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0)
			return NULL;
		if (fds[0].revents) {
			if (read(flight->firings, &firing, sizeof(firing)) == sizeof(firing)) {
				handle_firing(flight, &firing, &next);
			} else {
				kunwind_tool_error("LTTng's session daemon sends no notifications any more: "
						   "triggers take no snapshots");
				fds[0].fd = -1;
			}
		}
		if (fds[1].revents && read(flight->signals, &info, sizeof(info)) == sizeof(info))
			take(flight, "SIGUSR1");
		if (fds[2].revents) {
			fds[2].fd = -1;
			stopped = milliseconds();
		}
		if (fds[2].fd >= 0)
			continue;
		left = fds[0].fd < 0 ? 0 : stopped - milliseconds() +
		       (flight->expecting && !flight->came ? KILLED_MS : GRACE_MS);
		if (left > 0)
			continue;
		if (fds[0].fd >= 0)
			handle_rest(flight, &next);
		return NULL;
	}
}

bool flight_begin(struct flight *flight, const char *session, const struct directory *dir,
		  const char *filter, uint64_t buffer)
{
	uint64_t memory = memory_of(buffer);
	char what[160];
	sigset_t set;

	flight->session = session;
	flight->dir = dir->lock;
	flight->path = dir->path;
	flight->firings = flight->triggers.nr ? triggers_begin(&flight->triggers, session, filter) : -1;
	if (flight->triggers.nr && flight->firings < 0)
		return false;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	flight->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (flight->signals < 0 || pipe2(flight->stop, O_CLOEXEC) ||
	    (errno = pthread_create(&flight->thread, NULL, flight_thread, flight))) {
		kunwind_tool_error("cannot take snapshots: %s", strerror(errno));
		return false;
	}
	flight->started = true;
	snprintf(what, sizeof(what), "recording into %" PRIu64 " KB of memory, for %" PRIu64 " processors",
		 memory >> 10, processors());
	if (flight->json)
		print_json(flight, "flight", dir->path, what);
	else if (!flight->quiet)
		kunwind_tool_error("%s; snapshots go to %s. To take one: kunwind snapshot, or kill -USR1 %d",
				   what, dir->path, (int)getpid());
	return true;
}

void flight_end(struct flight *flight, int killed)
{
	const struct expression *expression = flight->triggers.expression;
	uint64_t there;
	size_t i;

	if (flight->started) {
		for (i = 0; killed && i < flight->triggers.nr; i++)
			if (expression[i].kind == EXPRESSION_SIGNAL &&
			    (!expression[i].signal || expression[i].signal == killed))
				flight->expecting = true;
		close(flight->stop[1]);
		pthread_join(flight->thread, NULL);
		flight->started = false;
		there = snapshot_count(flight->dir);
		flight->others = there > flight->written ? there - flight->written : 0;
	}
	flight->listens = !triggers_end(&flight->triggers);
}
