// SPDX-License-Identifier: MIT
/*
 * waiting.c MODE [N] - a process whose threads wait or run, for running.py
 *
 *   calls N    a thread in each of several system calls, some for N seconds. Prints what each call
 *              has returned, after N + 2 seconds
 *   threads N  N threads that sleep, each below some functions
 *   spin N     one that runs, one that sleeps, for N seconds
 *   ended N    the first thread has ended, the others begin and end all the time, for N seconds
 *   altstack   a thread that waits in a handler on an alternate stack
 *   deep       a thread that waits below a recursion with 2 MB of stack
 *   vfork N    waits for a child by vfork(2), which lives N seconds
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE	__attribute__((__noinline__, __noclone__))
#define STAY()		__asm__ volatile("" : : : "memory")	/* no tail call */

static int seconds;
static volatile unsigned long counter;

static struct timespec limit(void)
{
	return (struct timespec){ seconds, 0 };
}

static int private_semaphore(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	return id;
}

NOINLINE long k_nanosleep(void)
{
	struct timespec time = limit();
	long ret = nanosleep(&time, NULL);

	STAY();
	return ret;
}

NOINLINE long k_poll(void)
{
	long ret = poll(NULL, 0, seconds * 1000);

	STAY();
	return ret;
}

NOINLINE long k_select(void)
{
	struct timeval time = { seconds, 0 };
	long ret = select(0, NULL, NULL, NULL, &time);

	STAY();
	return ret;
}

NOINLINE long k_epoll_timed(void)
{
	struct epoll_event event;
	long ret = epoll_wait(epoll_create1(0), &event, 1, seconds * 1000);

	STAY();
	return ret;
}

NOINLINE long k_epoll(void)
{
	struct epoll_event event;
	long ret = epoll_wait(epoll_create1(0), &event, 1, -1);

	STAY();
	return ret;
}

NOINLINE long k_futex(void)
{
	static int word;
	struct timespec time = limit();
	long ret = syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, &time, NULL, 0);

	STAY();
	return ret;
}

NOINLINE long k_sigtimedwait(void)
{
	struct timespec time = limit();
	sigset_t set;
	long ret;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	ret = sigtimedwait(&set, NULL, &time);
	STAY();
	return ret;
}

NOINLINE long k_inotify(void)
{
	char event[4096];
	long ret = read(inotify_init1(0), event, sizeof(event));

	STAY();
	return ret;
}

NOINLINE long k_msgrcv(void)
{
	struct { long type; char text[8]; } message;
	int id = msgget(IPC_PRIVATE, 0600);
	long ret;

	ret = msgrcv(id, &message, sizeof(message.text), 0, 0);
	STAY();
	return ret;
}

NOINLINE long k_semop(void)
{
	struct sembuf down = { 0, -1, 0 };
	long ret = semop(private_semaphore(), &down, 1);

	STAY();
	return ret;
}

NOINLINE long k_semop_timed(void)
{
	struct sembuf down = { 0, -1, 0 };
	struct timespec time = limit();
	long ret = semtimedop(private_semaphore(), &down, 1, &time);

	STAY();
	return ret;
}

NOINLINE long k_recv_timed(void)
{
	struct timeval time = { seconds, 0 };
	int ends[2];
	char byte;
	long ret;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)))
		return -2;
	ret = recv(ends[0], &byte, 1, 0);
	STAY();
	return ret;
}

NOINLINE long k_pipe(void)
{
	int ends[2];
	char byte;
	long ret;

	if (pipe(ends))
		return -2;
	ret = read(ends[0], &byte, 1);
	STAY();
	return ret;
}

static const struct {
	const char *name;
	long (*call)(void);
} calls[] = {
	{ "nanosleep", k_nanosleep }, { "poll", k_poll }, { "select", k_select }, { "epoll", k_epoll },
	{ "epoll_timed", k_epoll_timed }, { "futex", k_futex }, { "sigtimedwait", k_sigtimedwait },
	{ "inotify", k_inotify },
	{ "msgrcv", k_msgrcv }, { "semop", k_semop }, { "semop_timed", k_semop_timed },
	{ "recv_timed", k_recv_timed }, { "pipe", k_pipe },
};
#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

static void *call(void *data)
{
	const size_t number = (size_t)data;
	long ret;

	pthread_setname_np(pthread_self(), calls[number].name);
	errno = 0;
	ret = calls[number].call();
	printf("%s %ld %d\n", calls[number].name, ret, ret < 0 ? errno : 0);
	fflush(stdout);
	for (;;)
		pause();
	return data;
}

NOINLINE void k_wait(void)
{
	for (;;)
		sleep(1000);
}

NOINLINE void k_down(int depth)
{
	if (depth)
		k_down(depth - 1);
	else
		k_wait();
	STAY();
}

static void *wait_down(void *data)
{
	k_down((int)(size_t)data % 7);
	return data;
}

NOINLINE void k_spin(void)
{
	for (;;)
		counter++;
}

static void *spin(void *data)
{
	k_spin();
	STAY();
	return data;
}

static void *short_life(void *data)
{
	usleep(300);
	return data;
}

static void *parent(void *data)
{
	pthread_t threads[8];
	size_t i;

	for (;;) {
		for (i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, short_life, data);
		for (i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	return data;
}

NOINLINE void k_handler(int signal)
{
	(void)signal;
	k_wait();
	STAY();
}

static void *on_other_stack(void *data)
{
	const struct sigaction action = { .sa_handler = k_handler, .sa_flags = SA_ONSTACK };
	const stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	STAY();
	return data;
}

NOINLINE unsigned int k_recurse(unsigned int depth)
{
	volatile char room[1000];

	room[0] = (char)depth;
	if (depth)
		return k_recurse(depth - 1) + (unsigned int)room[0];
	k_wait();
	return (unsigned int)room[0];
}

static void *recurse(void *data)
{
	counter += k_recurse(2000);
	return data;
}

static void start(void *(*function)(void *data), size_t argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, (void *)argument))
		exit(3);
}

NOINLINE int k_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		struct timespec time = limit();

		nanosleep(&time, NULL);
		_exit(0);
	}
	STAY();
	return child < 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	size_t i;

	seconds = argc > 2 ? atoi(argv[2]) : 1000;
	if (!strcmp(mode, "calls")) {
		for (i = 0; i < NR_CALLS; i++)
			start(call, i);
		sleep((unsigned int)seconds + 2);
		return 0;
	}
	if (!strcmp(mode, "threads")) {
		for (i = 0; i < (size_t)seconds; i++)
			start(wait_down, i);
		k_wait();
	}
	if (!strcmp(mode, "spin")) {
		start(spin, 0);
		start(wait_down, 3);
		sleep((unsigned int)seconds);
		return 0;
	}
	if (!strcmp(mode, "ended")) {
		alarm((unsigned int)seconds);
		start(parent, 0);
		pthread_exit(NULL);
	}
	if (!strcmp(mode, "altstack"))
		start(on_other_stack, 0);
	else if (!strcmp(mode, "deep"))
		start(recurse, 0);
	else if (!strcmp(mode, "vfork"))
		return k_vfork();
	else
		return 2;
	k_wait();
}
