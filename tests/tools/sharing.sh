#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sharing.sh - several recorders at once: parameters of the module (setting.c,
# sampling.c), processes (pids.c), numbers of snapshots (snapshot.c)
#
# A program takes the place of the module and of LTTng, and acts as several
# recorders: locks of two descriptors of one process conflict, too.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=../../tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/setting.c" <<'END_C'
#include "record/setting.c"

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

static char now[SETTING_SIZE];
static bool can_read = true, can_write = true;
static int writes;

static bool get(const struct setting_kind *kind, char *value)
{
	(void)kind;
	errno = EIO;
	strcpy(value, now);
	return can_read;
}

static bool put(const struct setting_kind *kind, const char *value)
{
	(void)kind;
	errno = EACCES;
	writes++;
	if (can_write)
		strcpy(now, value);
	return can_write;
}

static const struct setting_kind kind = { "frequency", get, put };

/* As if the recorder was killed. */
static void kill_it(struct setting *setting)
{
	close(setting->fd);
	setting->kind = NULL;
}

static bool is_free(void)
{
	struct stat st;

	return stat(SETTING_DIRECTORY "/frequency", &st) || !st.st_size;
}

int main(void)
{
	struct setting a, b, c;

	strcpy(now, "997");
	say(setting_begin(&a, &kind, "100") == SETTING_DONE && !strcmp(now, "100"), "a parameter is set");
	say(setting_begin(&b, &kind, "100") == SETTING_DONE && writes == 1, "a second recorder with the same value");
	say(setting_begin(&c, &kind, "500") == SETTING_OTHER && !strcmp(c.before, "100") && !strcmp(now, "100"),
	    "a third one with another value is refused, and the message has the value that is needed");
	setting_restore(&c);
	say(!strcmp(now, "100"), "the refused one restores nothing");
	setting_restore(&a);
	say(!strcmp(now, "100"), "the first one to end leaves the value to the second");
	setting_restore(&a);
	say(!strcmp(now, "100"), "it does so once");
	setting_restore(&b);
	say(!strcmp(now, "997") && is_free(), "the last one restores the value from before the first");
	say(setting_begin(&a, &kind, "500") == SETTING_DONE && !strcmp(now, "500"), "another value after that");
	say(setting_begin(&b, &kind, "500") == SETTING_DONE, "a second one again");
	setting_restore(&b);
	say(!strcmp(now, "500"), "in the other order: the second leaves the value to the first");
	setting_restore(&a);
	say(!strcmp(now, "997"), "in the other order: the first restores it");

	writes = 0;
	say(setting_begin(&a, &kind, "997") == SETTING_DONE && !writes, "a value that is set already is not written");
	say(setting_begin(&b, &kind, "100") == SETTING_OTHER, "but it is needed: another one is refused");
	setting_restore(&a);
	say(!writes && is_free(), "and it is not restored");

	setting_begin(&a, &kind, "100");
	kill_it(&a);
	say(setting_begin(&b, &kind, "200") == SETTING_DONE && !strcmp(now, "200"), "after a recorder that was killed, another value can be set");
	setting_restore(&b);
	say(!strcmp(now, "997"), "and the value from before the killed one is restored");
	setting_begin(&a, &kind, "100");
	kill_it(&a);
	strcpy(now, "300");
	setting_begin(&b, &kind, "200");
	setting_restore(&b);
	say(!strcmp(now, "300"), "a value that someone has set after the killed one is restored instead");
	setting_begin(&a, &kind, "100");
	setting_begin(&b, &kind, "100");
	kill_it(&a);
	setting_restore(&b);
	say(!strcmp(now, "300"), "one of two is killed: the other one restores the value");
	setting_begin(&a, &kind, "100");
	strcpy(now, "50");
	setting_restore(&a);
	say(!strcmp(now, "50"), "a value that someone has set meanwhile stays");

	can_write = false;
	say(setting_begin(&a, &kind, "100") == SETTING_REFUSED && errno == EACCES && !strcmp(a.before, "50") && is_free(),
	    "a value that may not be set: the reason, the value that stays, and no trace of it");
	say(setting_begin(&a, &kind, "50") == SETTING_DONE, "the value that is set needs no right");
	setting_restore(&a);
	can_write = true;
	can_read = false;
	say(setting_begin(&a, &kind, "100") == SETTING_UNREADABLE && errno == EIO, "a parameter that is missing");
	can_read = true;
	say(setting_begin(&a, &kind, "100") == SETTING_DONE, "a failure leaves no lock");
	setting_restore(&a);
	say(!strcmp(now, "50"), "and no value");

	/* a user who may not write to /run */
	unlink(SETTING_DIRECTORY "/frequency");
	rmdir(SETTING_DIRECTORY);
	if (creat(SETTING_DIRECTORY, 0600) < 0)
		return 1;
	say(setting_begin(&a, &kind, "100") == SETTING_DONE && a.fd == -1, "without the file, a parameter is set");
	setting_restore(&a);
	say(!strcmp(now, "50"), "without the file, it is restored");
	return 0;
}
END_C
check "setting: the test program compiles" cc -D_GNU_SOURCE -DSETTING_DIRECTORY="\"$work/run\"" -Wall -I $tools/record -I $tools \
	-o "$work/setting" "$work/setting.c" $tools/build/record-claim.o $tools/build/dir.o
timeout 60 "$work/setting" >"$work/tap"
is "$?" 0 "setting: the test program ends"
tap_from "$work/tap" "setting: "

cat >"$work/sampling.c" <<'END_C'
#include "record/sampling.c"

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

static int refused, reports;
static const char *clock_name = "cpu-clock", *why = "";

int kunwind_system_wide(int on)
{
	if (!refused)
		write_parameter(&system_wide, on ? "Y" : "N");
	return refused;
}

/* The sampler begins at the third look. */
int kunwind_report_read(struct kunwind_report *report)
{
	static struct kunwind_report_line line;

	line.field[0] = "sampler";
	line.field[1] = ++reports < 3 ? "off" : clock_name;
	line.field[2] = reports < 3 ? "" : why;
	*report = (struct kunwind_report){ .nr = 1, .line = &line };
	return 0;
}

void kunwind_report_free(struct kunwind_report *report) { (void)report; }

static bool are(const char *hz, const char *all, const char *wide)
{
	char value[3][SETTING_SIZE];

	return read_parameter(&frequency, value[0]) && read_parameter(&every_task, value[1]) &&
	       read_parameter(&system_wide, value[2]) && !strcmp(value[0], hz) && !strcmp(value[1], all) &&
	       !strcmp(value[2], wide);
}

int main(void)
{
	struct sampling plain = { .hz = 50 }, all = { .hz = 50, .all = true }, none = { .all = true };

	write_parameter(&frequency, "997\n");
	write_parameter(&every_task, "N\n");
	write_parameter(&system_wide, "N\n");
	say(sampling_begin(&none) && are("997", "N", "N"), "without samples, nothing is set");
	sampling_restore(&none);
	say(are("997", "N", "N"), "and nothing is restored");
	say(sampling_begin(&plain) && are("50", "N", "N"), "samples of some processes: the frequency");
	say(sampling_begin(&all) && are("50", "Y", "Y"), "of the whole system: all three parameters");
	sampling_restore(&all);
	say(are("50", "N", "N"), "its end restores what the other recording does not need");
	sampling_restore(&plain);
	say(are("997", "N", "N"), "the last one restores the frequency");
	refused = -EPERM;
	say(!sampling_begin(&all) && are("50", "Y", "N"), "the third parameter is refused");
	sampling_restore(&all);
	say(are("997", "N", "N"), "then the first two are restored");
	sampling_check(&plain);
	say(reports == 3, "the look for the clock ends once there is one");
	reports = 0, clock_name = "off", why = "error -19";
	sampling_check(&plain);
	say(reports == 3, "or once there is a reason for none");
	return 0;
}
END_C
mkdir "$work/parameters"
check "sampling: the test program compiles" cc -D_GNU_SOURCE -DSETTING_DIRECTORY="\"$work/run2\"" -DPARAMETERS="\"$work/parameters/\"" -Wall \
	-I $tools/record -I $tools -I ../../libkunwind/include -o "$work/sampling" "$work/sampling.c" $tools/record/setting.c $tools/build/record-claim.o $tools/build/{dir,tool}.o
timeout 60 "$work/sampling" >"$work/tap" 2>"$work/said"
is "$?" 0 "sampling: the test program ends"
tap_from "$work/tap" "sampling: "
like "$(tail -n 1 "$work/said")" "no samples are taken: error -19" "sampling: why there are no samples"

cat >"$work/pids.c" <<'END_C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pids.h"
#include "report.h"
#include "tool.h"

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

static int list[16], nr, calls;

static int place(int pid)
{
	int i;

	for (i = 0; i < nr && list[i] != pid; i++)
		;
	return i;
}

static bool has(int pid) { return place(pid) < nr; }

int kunwind_register_pid(int pid, unsigned int flags)
{
	(void)flags;
	if (!has(pid))
		list[nr++] = pid;
	return 0;
}

int kunwind_unregister_pid(int pid)
{
	int i = place(pid);

	calls++;
	if (i < nr)
		list[i] = list[--nr];
	return 0;
}

int kunwind_report_read(struct kunwind_report *report)
{
	static char text[16][16];
	int i;

	*report = (struct kunwind_report){ .nr = (size_t)nr, .line = calloc(16, sizeof(*report->line)) };
	for (i = 0; i < nr; i++) {
		snprintf(text[i], sizeof(text[i]), "%d", list[i]);
		report->line[i].field[0] = "process";
		report->line[i].field[1] = text[i];
	}
	return 0;
}

void kunwind_report_free(struct kunwind_report *report) { free(report->line); }
void kunwind_tool_failure(const char *what, int error) { (void)what, (void)error; }
void kunwind_tool_error(const char *format, ...) { (void)format; }

static int start(void)
{
	int pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void begin(struct pids *pids, int first, int second)
{
	*pids = (struct pids){ 0 };
	pids_add(pids, first);
	if (second)
		pids_add(pids, second);
	if (!pids_register(pids))
		exit(1);
}

static void end(struct pids *pids)
{
	pids_unregister(pids);
	pids_free(pids);
}

int main(void)
{
	int one = start(), two = start(), parent, child = 0, ready[2];
	struct pids a, b;

	begin(&a, one, two);
	begin(&b, one, 0);
	end(&a);
	say(has(one) && !has(two), "the first to end leaves the process that the second records, and only that");
	end(&b);
	say(!has(one), "the last to end unregisters it");
	begin(&a, one, 0);
	begin(&b, two, one);
	end(&b);
	say(has(one) && !has(two), "in the other order: the process stays");
	end(&a);
	say(!has(one), "in the other order: the process is unregistered");
	end(&a);
	say(nr == 0, "it is unregistered once");
	kunwind_register_pid(one, 0);
	begin(&a, one, 0);
	begin(&b, one, 0);
	end(&a);
	end(&b);
	say(has(one), "a process that was registered before both stays registered");
	kunwind_unregister_pid(one);
	begin(&a, one, one);
	say(a.nr == 1, "a process that is given twice is one");
	end(&a);
	say(!has(one), "and is unregistered");
	begin(&a, two, one);
	say(a.nr_done == 2 && has(one) && has(two), "processes in any order");
	end(&a);

	if (pipe(ready))
		return 1;
	parent = fork();
	if (!parent) {
		child = start();
		if (write(ready[1], &child, sizeof(child)) < 0)
			return 1;
		for (;;)
			pause();
	}
	if (read(ready[0], &child, sizeof(child)) != sizeof(child))
		return 1;
	a = b = (struct pids){ .children = true };
	pids_add(&a, parent);
	pids_add(&b, parent);
	if (!pids_register(&a) || !pids_register(&b))
		return 1;
	kunwind_register_pid(child, 0);		/* the module does so at a fork */
	end(&a);
	say(has(parent) && has(child), "children stay registered while another recording needs their parent");
	end(&b);
	say(!has(parent) && !has(child), "the last to end unregisters the children");
	kill(child, SIGKILL);
	kill(parent, SIGKILL);

	begin(&a, one, 0);
	kill(one, SIGKILL);
	waitpid(one, NULL, 0);
	end(&a);
	say(!has(one), "a process that has ended meanwhile");
	kill(two, SIGKILL);
	return 0;
}
END_C
check "pids: the test program compiles" cc -D_GNU_SOURCE -Wall -I $tools/record -I $tools -I ../../libkunwind/include \
	-o "$work/pids" "$work/pids.c" $tools/build/record-{pids,claim}.o
timeout 60 "$work/pids" >"$work/tap"
is "$?" 0 "pids: the test program ends"
tap_from "$work/tap" "pids: "

cat >"$work/snapshot.c" <<'END_C'
#include "record/snapshot.c"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

/* LTTng: the directory has the name, and a time, here that of a counter */
static int *count;
static char *dir_name, *snapshot_name;

void watchdog_wait(const char *who, const char *what, int limit) { (void)who, (void)what, (void)limit; }
int watchdog_begin(const sigset_t *set, int status, void (*give_up)(void)) { (void)set, (void)status, (void)give_up; return -1; }
bool session_failure(const char *what, int code) { (void)what, (void)code; return false; }
bool left_over_is_recorder(const char *name) { (void)name; return true; }
enum disk disk_check(int dir) { (void)dir; return DISK_ENOUGH; }
int lttng_regenerate_statedump(const char *name) { (void)name; return 0; }
struct lttng_snapshot_output *lttng_snapshot_output_create(void) { return (void *)&count; }
void lttng_snapshot_output_destroy(struct lttng_snapshot_output *output) { (void)output; }
int lttng_snapshot_output_set_name(const char *name, struct lttng_snapshot_output *output)
{
	(void)output;
	snapshot_name = strdup(name);
	return 0;
}
int lttng_snapshot_output_set_local_path(const char *path, struct lttng_snapshot_output *output)
{
	(void)output;
	dir_name = strdup(path);
	return 0;
}
int lttng_snapshot_record(const char *name, struct lttng_snapshot_output *output, int wait)
{
	char path[512];

	(void)name, (void)output, (void)wait;
	usleep(100000);		/* time for the other one to choose its number */
	snprintf(path, sizeof(path), "%s/%s-20260101-000000-%d", dir_name, snapshot_name, __sync_fetch_and_add(count, 1));
	mkdir(path, 0700);
	usleep(100000);
	return 0;
}

int main(int argc, char **argv)
{
	char session[64], name[NR_NAMES][4608];
	struct snapshot snapshot;
	int results[2], dir, i, k;
	bool distinct = true, there = true;
	unsigned int number, last = 0;
	struct stat st;

	(void)argc;
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	session_name(session, sizeof(session));
	dir = kunwind_dir_open(argv[1]);
	if (dir < 0 || pipe(results))
		return 1;
	for (i = 0; i < NR_NAMES; i++) {
		if (fork())
			continue;
		if (!snapshot_take(session, dir, argv[1], &snapshot))
			return 1;
		memset(name[0], 0, sizeof(name[0]));
		strcpy(name[0], snapshot.path);
		return write(results[1], name[0], 4096) != 4096;
	}
	for (i = 0; i < NR_NAMES; i++) {
		if (read(results[0], name[i], 4096) != 4096)
			return 1;
		for (k = 0; k < i; k++)
			distinct &= strcmp(name[i], name[k]) != 0;
		there &= !stat(name[i], &st) && S_ISDIR(st.st_mode);
		number = 0;
		sscanf(strrchr(name[i], '/'), "/snapshot-%u-", &number);
		last = number > last ? number : last;
	}
	say(distinct && there, "each of several at once finds the directory that is its own");
	say(last == NR_NAMES, "they have the numbers from 1 on");
	mkdir("snapshot-77", 0700);
	say(snapshot_take(session, dir, argv[1], &snapshot) && strstr(snapshot.path, "/snapshot-5-"),
	    "a name without a time has no number");
	mkdir("snapshot-12-x", 0700);
	say(snapshot_take(session, dir, argv[1], &snapshot) && strstr(snapshot.path, "/snapshot-13-") &&
	    !fstat(snapshot.dir, &st) && S_ISDIR(st.st_mode), "the number is the next one after the highest");
	mkdir("snapshot-140-x", 0700);
	mkdir("snapshot-14-x", 0700);
	say(snapshot_take(session, dir, argv[1], &snapshot) && strstr(snapshot.path, "/snapshot-141-"),
	    "a number that begins as another one");
	return 0;
}
END_C
mkdir "$work/dir"
check "snapshot: the test program compiles" cc -D_GNU_SOURCE -DNR_NAMES=4 -Wall -I $tools/record -I $tools -I ../../libkunwind/include \
	-o "$work/snapshot" "$work/snapshot.c" $tools/build/record-session_name.o $tools/build/{dir,help_options,tool}.o -llttng-ctl
(cd "$work/dir" && timeout 60 ../snapshot "$work/dir") >"$work/tap"
is "$?" 0 "snapshot: the test program ends"
tap_from "$work/tap" "snapshot: "
done_testing
