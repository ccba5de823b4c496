#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pids.sh - tools/record/pids.c with more processes than a fixed list would hold
#
# A program links the object, and takes the place of libkunwind and of the
# module's report.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/pids.c" <<'END'
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pids.h"
#include "report.h"

#define NR 200

static int registered, unregistered;
static char message[256];
int kunwind_register_pid(int pid, unsigned int flags) { (void)pid, (void)flags; registered++; return 0; }
int kunwind_unregister_pid(int pid) { (void)pid; unregistered++; return 0; }
int kunwind_report_read(struct kunwind_report *report) { (void)report; return -1; }
void kunwind_report_free(struct kunwind_report *report) { (void)report; }
void kunwind_tool_failure(const char *what, int error) { (void)what, (void)error; }
void kunwind_tool_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
}

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

static volatile int tid;

static void *thread(void *data)
{
	tid = gettid();
	return pause() ? data : NULL;
}

static void try_thread(void)
{
	struct pids pids = { 0 };
	pthread_t id;
	char wanted[64];

	if (pthread_create(&id, NULL, thread, NULL))
		return;
	while (!tid)
		usleep(1000);
	snprintf(wanted, sizeof(wanted), "thread of process %d: use --pid %d", getpid(), getpid());
	registered = 0;
	say(pids_add(&pids, getpid()) && pids_register(&pids) && registered == 1, "a process is accepted");
	say(pids_add(&pids, tid) && !pids_register(&pids) && strstr(message, wanted),
	    "a thread that is not the first one is refused, and the message names its process");
	pids_unregister(&pids);
	pids_free(&pids);
}

/* Adds processes, of which each second one is below all before it. */
static int add_many(int nr)
{
	struct pids pids = { 0 };
	int i;
	bool added = true;

	for (i = 0; i < nr; i++)
		added &= pids_add(&pids, i % 2 ? 1000000 + i : 1000000 - i);
	for (i = 0; i < nr; i++)
		added &= pids_add(&pids, i % 2 ? 1000000 + i : 1000000 - i) && (!i || pids.pid[i - 1] < pids.pid[i]);
	added &= pids.nr == nr;
	pids_free(&pids);
	return !added;
}

int main(int argc, char **argv)
{
	struct pids pids = { 0 };
	int go[2], signals[2], i;
	bool added = true, waited;
	char byte;

	if (argc > 1)
		return add_many(atoi(argv[1]));
	if (pipe(go) || pipe(signals))
		return 1;
	for (i = 0; i < NR; i++) {
		int pid = fork();

		if (!pid) {
			close(go[1]);
			/* the last process ends later than all others */
			_exit(read(go[0], &byte, 1) || (i == NR - 1 && usleep(300000)));
		}
		added &= pids_add(&pids, pid);
	}
	say(added && pids.nr == NR, "200 processes are added");
	say(pids_register(&pids) && registered == NR, "200 processes are registered");
	close(go[1]);
	pids_wait(&pids, signals[0], false);
	waited = waitpid(pids.pid[NR - 1], NULL, WNOHANG) == pids.pid[NR - 1];
	say(waited, "the wait ends after the last of 200 processes");
	pids_unregister(&pids);
	say(unregistered == NR, "200 processes are unregistered");
	pids_free(&pids);
	try_thread();
	return 0;
}
END
check "the test program compiles" cc -D_GNU_SOURCE -Wall -I ../../tools/record -I ../../tools -I ../../libkunwind/include \
	-pthread -o "$work/pids" "$work/pids.c" ../../tools/build/record-pids.o ../../tools/build/record-claim.o
timeout 60 "$work/pids" >"$work/tap"
is "$?" 0 "the test program ends"
tap_from "$work/tap"

# Prints the instructions that it takes to add so many processes, twice.
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$work/pids" "$1" 2>&1 |
		sed -n 's/,//g; s/.*I *refs: *//p'
}
check "2,000 processes, some given twice: each is once in the list, which is sorted" "$work/pids" 2000
few=$(instructions 500) many=$(instructions 5000)
verdict "$((many < 100000 || many > few * 20))" "ten times as many processes: at most twenty times the instructions ($few, then $many)"
done_testing
