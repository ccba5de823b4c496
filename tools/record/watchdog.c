// SPDX-License-Identifier: MIT
/*
 * watchdog.c - end the program if what it waits for does not answer
 *
 * A call of liblttng-ctl blocks until the session daemon answers, and cannot be
 * cancelled. So another thread receives all signals, and knows what the program
 * waits for, and since when. If the time limit has passed, or if no answer comes
 * soon after a signal, this thread prints a message, undoes what it can, and ends
 * the program. While a recording goes on, the thread only passes
 * signals on.
 *
 * One Ctrl-C can arrive twice: from the terminal, and from the program that has
 * started this one. Signals that follow the one that has ended a recording within a
 * second do not shorten the wait for LTTng, which writes the rest of the trace.
 *
 * Cost: a thread that sleeps. It wakes for a signal, and when a limit may have passed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"
#include "watchdog.h"

#define DEFAULT_SECONDS	60
#define SIGNAL_MS	3000	/* how long an answer may take after a signal */
#define TWICE_MS	1000	/* a signal that follows another one so soon is the same one */

/* What one thread waits for. */
struct awaited {
	const char *who, *what;		/* NULL: for nothing */
	int64_t end;			/* in milliseconds of CLOCK_MONOTONIC; INT64_MAX: no limit */
};

static struct {
	pthread_mutex_t lock;		/* of all below */
	struct awaited wait[2];
	int nr_waits;
	bool idle;			/* signals are for the first thread alone */
	int64_t ignored;		/* until then, signals do not shorten waits */
	int signal;			/* the last one that came while it was not idle; 0: none */
	/* constant while the thread runs */
	int64_t limit;			/* milliseconds */
	int signals, news[2], wake[2], status;
	void (*give_up)(void);
} dog = { .lock = PTHREAD_MUTEX_INITIALIZER, .signals = -1, .news = { -1, -1 }, .wake = { -1, -1 } };

static _Thread_local struct awaited *own;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/*
 * Prints a message. Not kunwind_tool_error(): the thread that waits may hold the lock
 * of stderr, and the reader of stderr may read no more.
 */
static void say(const struct awaited *wait, int number)
{
	struct pollfd error = { .fd = STDERR_FILENO, .events = POLLOUT };
	char text[512];
	int size;

	if (number)
		size = snprintf(text, sizeof(text), "kunwind %s: ended by signal %d: "
				"%s does not answer (%s)\n",
				kunwind_tool_name, number, wait->who, wait->what);
	else
		size = snprintf(text, sizeof(text), "kunwind %s: "
				"%s has not answered for %lld seconds (%s)%s\n",
				kunwind_tool_name, wait->who, (long long)dog.limit / 1000, wait->what,
				strcmp(wait->who, WATCH_DAEMON) ? "" : ": restart it: " KUNWIND_RESTART);
	if (size > 0 && poll(&error, 1, 0) == 1 && error.revents & POLLOUT)
		size = (int)write(STDERR_FILENO, text, (size_t)size);
}

/* Ends the program if a wait has taken too long. Returns the time of the next look. */
static int64_t look(void)
{
	int64_t next = INT64_MAX, time = now();
	int i;

	for (i = 0; i < dog.nr_waits; i++) {
		if (!dog.wait[i].who)
			continue;
		if (dog.wait[i].end <= time) {
			say(&dog.wait[i], dog.signal);
			if (dog.give_up)
				dog.give_up();
			_exit(dog.status);
		}
		if (dog.wait[i].end < next)
			next = dog.wait[i].end;
	}
	return next;
}

/* Handles a signal that came while the program waits for an answer. */
static void shorten(int number)
{
	int64_t time = now();
	int i;

	if (time < dog.ignored)
		return;
	dog.signal = number;
	dog.ignored = time + TWICE_MS;
	for (i = 0; i < dog.nr_waits; i++)
		if (dog.wait[i].end > time + SIGNAL_MS)
			dog.wait[i].end = time + SIGNAL_MS;
}

static void *watch(void *data)
{
	struct pollfd fds[] = { { .fd = dog.signals, .events = POLLIN },
				{ .fd = dog.wake[0], .events = POLLIN } };
	struct signalfd_siginfo info;
	int64_t next, time;
	char bytes[64];
	int number;

	for (;;) {
		pthread_mutex_lock(&dog.lock);
		next = look();
		pthread_mutex_unlock(&dog.lock);
		time = now();
		poll(fds, 2, next == INT64_MAX ? -1 : next <= time ? 0 : (int)(next - time) + 1);
		if (fds[1].revents && read(dog.wake[0], bytes, sizeof(bytes)) < 0)
			continue;
		if (!fds[0].revents || read(dog.signals, &info, sizeof(info)) != sizeof(info))
			continue;
		number = (int)info.ssi_signo;
		pthread_mutex_lock(&dog.lock);
		if (!dog.idle && number != SIGCHLD)
			shorten(number);
		/* also one that came too early for watchdog_signal() */
		if (write(dog.news[1], &number, sizeof(number)) < 0)
			errno = 0;	/* full of signals that were not read */
		pthread_mutex_unlock(&dog.lock);
	}
	return data;
}

static int64_t time_limit(void)
{
	const char *text = getenv("KUNWIND_DAEMON_TIMEOUT");
	uint64_t seconds;

	if (text && kunwind_tool_number(text, 86400, &seconds) && seconds)
		return (int64_t)seconds * 1000;
	return DEFAULT_SECONDS * 1000;
}

int watchdog_begin(const sigset_t *signals, int status, void (*give_up)(void))
{
	pthread_t thread;

	dog.limit = time_limit();
	dog.status = status;
	dog.give_up = give_up;
	if (pipe2(dog.wake, O_CLOEXEC | O_NONBLOCK) || pipe2(dog.news, O_CLOEXEC) ||
	    fcntl(dog.news[1], F_SETFL, O_NONBLOCK) ||
	    (signals && (dog.signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)) {
		kunwind_tool_error("cannot wait for signals: %s", strerror(errno));
		return -2;
	}
	errno = pthread_create(&thread, NULL, watch, NULL);
	if (errno) {
		kunwind_tool_error("cannot start a thread: %s", strerror(errno));
		return -2;
	}
	pthread_detach(thread);
	return signals ? dog.news[0] : -1;
}

/* Returns what the calling thread waits for. */
static struct awaited *own_wait(void)
{
	if (!own && dog.nr_waits < (int)(sizeof(dog.wait) / sizeof(dog.wait[0])))
		own = &dog.wait[dog.nr_waits++];
	return own;
}

void watchdog_wait(const char *who, const char *what, int limit)
{
	struct awaited *wait;

	pthread_mutex_lock(&dog.lock);
	wait = own_wait();
	if (wait) {
		*wait = (struct awaited){ who, what, limit ? now() + dog.limit * limit : INT64_MAX };
		if (wait == dog.wait && dog.idle) {
			dog.idle = false;
			dog.ignored = now() + TWICE_MS;
		}
	}
	pthread_mutex_unlock(&dog.lock);
	/* the thread may sleep for longer than this wait may take; a full pipe wakes it, too */
	if (write(dog.wake[1], "", 1) < 0)
		errno = 0;
}

void watchdog_idle(void)
{
	struct awaited *wait;

	pthread_mutex_lock(&dog.lock);
	wait = own_wait();
	if (wait) {
		*wait = (struct awaited){ 0 };
		dog.idle = dog.idle || wait == dog.wait;
	}
	pthread_mutex_unlock(&dog.lock);
}

int watchdog_signal(int descriptor)
{
	int number;

	while (read(descriptor, &number, sizeof(number)) != sizeof(number))
		if (errno != EINTR)
			pause();	/* never: this program has both ends of the pipe */
	return number;
}

bool watchdog_interrupted(void)
{
	bool interrupted;

	pthread_mutex_lock(&dog.lock);
	interrupted = dog.signal;
	pthread_mutex_unlock(&dog.lock);
	return interrupted;
}
