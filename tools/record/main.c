// SPDX-License-Identifier: MIT
/*
 * main.c - kunwind-record, the program behind "kunwind record" and "profile"
 *
 * A profile is a recording of samples of CPUs only.
 *
 * This program does what else takes several commands: create the session, the
 * channel, contexts and events; register the processes; start tracing; run the
 * command; stop and destroy the session. The trace is an ordinary LTTng trace.
 *
 * This is a separate program because liblttng-ctl needs libxml2 and ICU.
 */
#include <kunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dir.h"
#include "last.h"
#include "record.h"
#include "report.h"
#include "snapshot.h"
#include "symbols.h"
#include "tool.h"
#include "watchdog.h"
#include "trace/kallsyms.h"

static struct record record = { .signals = -1, .dir = { .lock = -1, .above = -1 }, .workload.channel = -1,
				.flight = { .interval = 10, .most = 20 } };

/* Takes the directory, except if the trace goes to a relay daemon. */
static bool prepare_output(void)
{
	if (record.output && session_is_remote(record.output)) {
		snprintf(record.dir.path, sizeof(record.dir.path), "%s", record.output);
		return true;
	}
	if (!directory_take(&record.dir, record.output))
		return false;
	record.output = record.dir.name;
	return true;
}

/*
 * Returns whether a signal ends the recording while the command runs on. The
 * terminal sends Ctrl-C to the command, too, which decides whether to end. The
 * second Ctrl-C ends the recording. For other signals, the command gets SIGTERM.
 * The second one ends the recording; it may be sent twice at once, by the kernel and
 * by a service manager.
 */
static bool ends(int number)
{
	static int interrupts, others;
	static time_t first;

	if (number == SIGCHLD)
		return false;
	if (number == SIGINT)
		return ++interrupts == 2;
	kill(record.workload.pid, SIGTERM);
	if (!others++)
		first = time(NULL);
	return time(NULL) - first > 1;
}

/* Waits for the command's end; returns its exit status, or 128 plus the signal. */
static int wait_for_command(void)
{
	int status, number;

	for (;;) {
		number = watchdog_signal(record.signals);
		if (ends(number)) {
			if (!record.quiet)
				kunwind_tool_error("ended by the second %s; %s still runs, as process %d",
						   number == SIGINT ? "Ctrl-C" : "signal",
						   record.command[0], (int)record.workload.pid);
			return 128 + number;
		}
		if (waitpid(record.workload.pid, &status, WNOHANG) != record.workload.pid)
			continue;
		record.workload.pid = 0;
		record.killed = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		return record.killed ? 128 + record.killed : WEXITSTATUS(status);
	}
}

/*
 * Prepares all, up to the first event. Returns 0, or the exit status after a message.
 * First the command: one that cannot be executed leaves no directory and no session.
 */
static int begin(void)
{
	int status = 0;

	watchdog_wait(record.command ? record.command[0] : "the directory", "begin", WATCH_ANY);
	if (record.command)
		status = workload_prepare(&record.workload, record.command, &record.mask,
					  &record.owner, record.module, record.ust.nr);
	if (status)
		return status;
	if (!prepare_output() || !record_set_up(&record))
		return TOOL_RUN_FAILED;
	watchdog_wait(WATCH_MODULE, "register the processes", WATCH_ANY);
	if (!(record.module ? pids_register(&record.pids) : pids_check(&record.pids)) ||
	    !sampling_begin(&record.sampling))
		return TOOL_RUN_FAILED;
	watchdog_wait(WATCH_DAEMON, "start tracing", WATCH_USUAL);
	if (!session_start(&record.session))
		return TOOL_RUN_FAILED;
	/* LTTng makes them before it starts */
	if (!record.flight.on && !session_is_remote(record.output))
		record.files = disk_files(record.dir.lock);
	if (record.flight.on && !flight_begin(&record.flight, record.session.name, &record.dir,
					      record.filter, record.buffer))
		return TOOL_RUN_FAILED;
	/* for snapshots that another program takes: readers also look above their directories */
	if (record.flight.kernel)
		symbols_save(record.dir.lock, record.dir.path);
	watchdog_wait(WATCH_MODULE, "begin to take samples", WATCH_ANY);
	sampling_check(&record.sampling);
	return watchdog_interrupted() ? TOOL_RUN_FAILED : 0;
}

/*
 * Reports what was done to the directory of the trace meanwhile: a new name, which is used from
 * now on, or files that were removed. Returns whether some were.
 */
static bool was_removed(void)
{
	static char path[PATH_MAX];
	size_t files;

	if (record.flight.on || session_is_remote(record.output))
		return false;
	files = disk_files(record.dir.lock);
	if (files < record.files) {
		record.disk = files ? DISK_REMOVED : DISK_REMOVED_ALL;
		kunwind_tool_error("%s: %zu of %zu files of the trace were removed while it was recorded: "
				   "record again, and leave the directory alone", record.output,
				   record.files - files, record.files);
	} else if (kunwind_dir_path(record.dir.lock, path, sizeof(path)) &&
		   strcmp(path, record.dir.path)) {
		kunwind_tool_error("%s: the directory has another name now: %s", record.output, path);
		snprintf(record.dir.path, sizeof(record.dir.path), "%s", path);
		record.output = path;
	}
	return files < record.files;
}

/* Reports that the module was switched off meanwhile. Returns whether it was. */
static bool was_switched_off(void)
{
	struct kunwind_report report;
	const char *enabled;
	bool off;

	if (kunwind_report_read(&report))
		return false;
	enabled = kunwind_report_value(&report, "param", "enabled", 2);
	off = enabled && (*enabled == 'N' || *enabled == '0');
	kunwind_report_free(&report);
	if (off)
		kunwind_tool_error("kunwind was switched off while this was recorded, so stacks "
				   "are missing or end early: see that the parameter enabled is Y "
				   "(kunwind doctor), and record again");
	return off;
}

/* Reports a disk that was full. Returns whether it was. */
static bool was_full(void)
{
	if (!record.flight.on && !session_is_remote(record.output))
		record.disk = disk_check(record.dir.lock);
	if (record.disk == DISK_ENOUGH)
		return false;
	kunwind_tool_error("%s: disk full: %s. Free space there, or name another directory "
			   "(-o), or record fewer events (-e)", record.output,
			   record.disk == DISK_FULL ? "the trace ends early" :
						      "the trace has no events");
	return true;
}

/* Reports that there is nothing of LTTng-UST. */
static void check_ust(void)
{
	int ust;

	if (!record.ust.nr || session_is_remote(record.output) || record.disk != DISK_ENOUGH)
		return;
	ust = kunwind_dir_at(record.dir.lock, "ust");
	if (ust < 0 || !disk_files(ust)) {
		kunwind_tool_error("no user-space events: %s LTTng-UST (liblttng-ust.so.1)",
				   record.command ? "COMMAND does not use" : "no program ran that uses");
		record.nothing = !record.module;
	}
	if (ust >= 0)
		close(ust);
}

/* Records. Returns the exit status; the caller cleans up. */
static int run(void)
{
	const bool kernel_stacks = record.kernel || record.sampling.hz;
	int status = begin();

	if (status) {
		if (watchdog_interrupted())
			kunwind_tool_error("ended by a signal, before the recording began");
		return status;
	}
	watchdog_idle();
	if (record.command) {
		workload_run(&record.workload);
		status = wait_for_command();
	} else {
		pids_wait(&record.pids, record.signals, record.all);
	}
	watchdog_wait("the last snapshot", "end", WATCH_ANY);
	flight_end(&record.flight, record.killed);
	if (record.flight.failed)
		status = TOOL_RUN_FAILED;
	if (record.module && (record.all || record.pids.nr)) {
		watchdog_wait(WATCH_MODULE, "report the mappings and the blocked threads", WATCH_USUAL);
		if (!snapshot_dumped())
			kunwind_tool_error(
				"the mappings and the blocked threads are not all reported yet: the "
				"trace may lack some names and threads");
	}
	watchdog_wait(WATCH_DAEMON, "stop tracing", WATCH_USUAL);
	record.incomplete = !session_stop(&record.session, &record.lost);
	watchdog_wait(WATCH_DAEMON, "end the session", WATCH_USUAL);
	/* the session daemon is done with the files */
	record.incomplete = !session_destroy(&record.session) || record.incomplete;
	watchdog_wait("the disk", "read the trace", WATCH_ANY);
	if (was_removed() || was_full() || record.incomplete)
		status = TOOL_RUN_FAILED;
	if (record.module && was_switched_off())
		status = TOOL_RUN_FAILED;
	check_ust();
	if (kernel_stacks && session_is_remote(record.output))
		kunwind_tool_error("the remote trace has no kernel symbols: read it on this host, as root, "
				   "before the next boot");
	else if (kernel_stacks && !record.flight.on && record.disk != DISK_REMOVED_ALL)
		symbols_save(record.dir.lock, record.dir.path);
	if (record.disk != DISK_REMOVED_ALL && !record.nothing && record.dir.lock >= 0 &&
	    (!record.flight.on || record.flight.taken + record.flight.others)) {
		kunwind_last_set(record.dir.path);
		owner_give(&record.owner, record.dir.lock, record.dir.path);
	}
	if (record.json)
		record_close_json(&record, status);
	else
		record_close_words(&record);
	return status;
}

/* Gives the system back what the recording has changed, without LTTng's help. */
static void give_back(void)
{
	sampling_restore(&record.sampling);
	pids_unregister(&record.pids);
	workload_abandon(&record.workload);
}

/* Removes the directory if nothing was written to it. */
static void release_directory(void)
{
	if (record.flight.kernel && record.dir.lock >= 0 &&
	    kunwind_dir_is_empty(record.dir.lock, KALLSYMS_NAME))
		symbols_remove(record.dir.lock);
	directory_release(&record.dir);
}

/* Another thread calls this while the recording waits for an answer that does not come. */
static void give_up(void)
{
	give_back();
	release_directory();
}

/*
 * Blocks the signals that end a recording. If SIGHUP and SIGQUIT were ignored, as
 * under nohup(1), they stay ignored. A write to a closed pipe fails, so that the
 * program can clean up before it ends. Returns false after a message.
 */
static bool take_signals(void)
{
	static const int hang_ups[] = { SIGHUP, SIGQUIT };
	struct sigaction action;
	sigset_t set, blocked;
	size_t i;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Without COMMAND, the recording does not end when a child process ends. */
	if (record.command)
		sigaddset(&set, SIGCHLD);
	for (i = 0; i < sizeof(hang_ups) / sizeof(hang_ups[0]); i++)
		if (!sigaction(hang_ups[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&set, hang_ups[i]);
	blocked = set;
	sigaddset(&blocked, SIGPIPE);
	/* flight.c has a signalfd of its own for SIGUSR1 */
	if (record.flight.on)
		sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &record.mask);
	record.signals = watchdog_begin(&set, TOOL_RUN_FAILED, give_up);
	return record.signals >= 0;
}

int main(int argc, char **argv)
{
	struct kunwind_info info;
	int parsed, err, status;

	if (!strcmp(argv[0], "kunwind snapshot")) {
		kunwind_tool_name = "snapshot";
		return snapshot_command(argc, argv);
	}
	/* argv[0] is "kunwind COMMAND" (exec_helper.c) */
	kunwind_tool_name = strncmp(argv[0], "kunwind ", 8) ? "record" : argv[0] + 8;
	parsed = record_options(&record, argc, argv);
	if (parsed)
		return parsed > 0 ? kunwind_tool_finish(TOOL_OK) : TOOL_RUN_FAILED;
	if (!owner_find(&record.owner, record.user))
		return TOOL_RUN_FAILED;
	err = record.module ? kunwind_info(&info) : 0;
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_RUN_FAILED;
	}
	if (!take_signals())
		return TOOL_RUN_FAILED;
	status = run();
	watchdog_wait("the last snapshot", "end", WATCH_ANY);
	flight_end(&record.flight, 0);
	watchdog_wait(WATCH_MODULE, "unregister the processes", WATCH_ANY);
	give_back();
	watchdog_wait(WATCH_DAEMON, "end the session", WATCH_USUAL);
	session_destroy(&record.session);
	watchdog_wait("the directory", "end", WATCH_ANY);
	release_directory();
	free(record.filter);
	free(record.ust_filter);
	free(record.events.name);
	free(record.ust.name);
	flight_free(&record.flight);
	pids_free(&record.pids);
	return status;
}
