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
 * sched_switch and sched_waking are recorded for all processes. The event that
 * puts a process back on a CPU occurs in the process that had the CPU before, and
 * the event that wakes a process occurs in the waker. A filter by process would
 * lose both.
 *
 * This is a separate program because liblttng-ctl needs libxml2 and ICU.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <getopt.h>
#include <kunwind.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "disk.h"
#include "flight.h"
#include "left_over.h"
#include "own_events.h"
#include "pids.h"
#include "sampling.h"
#include "session.h"
#include "snapshot.h"
#include "symbols.h"
#include "tool.h"
#include "usage.h"
#include "workload.h"
#include "trace/kallsyms.h"

#define MOST_BUFFER	(UINT64_C(1) << 30)

struct record {
	/* options */
	const char **events;
	int nr_events;
	struct pids pids;
	bool all, kernel, quiet, json;
	bool by_default;	/* no -e: the default events */
	const char *output;
	uint64_t buffer;
	char **command;
	/* state */
	struct directory dir;	/* its path may be the relay daemon's URL */
	struct session session;
	struct workload workload;
	int killed;		/* the signal that killed COMMAND; 0: none did */
	struct flight flight;
	struct sampling sampling;
	int signals;		/* signalfd */
	sigset_t mask;		/* signal mask before signals were blocked */
	char *filter;
	uint64_t lost;
	enum disk disk;
};

/* Reads a number of bytes, which K, M or G may follow. False: it is none, or too large. */
static bool parse_bytes(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, toupper((unsigned char)text[digits])) : NULL;
	char number[24];

	if (digits >= sizeof(number) || (text[digits] && (!unit || text[digits + 1])))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	if (!kunwind_tool_number(number, UINT64_C(1) << 32, size))
		return false;
	*size <<= unit ? 10 * (unit - units + 1) : 0;
	return true;
}

static bool parse_buffer(const char *text, uint64_t *size)
{
	if (parse_bytes(text, size) && *size >= 4096 && *size <= MOST_BUFFER &&
	    !(*size & (*size - 1)))
		return true;
	kunwind_tool_error("--buffer takes a power of two from 4K to 1024M, such as 4M, not: %s", text);
	return false;
}

static bool parse_memory(const char *text, uint64_t *size)
{
	if (parse_bytes(text, size) && *size)
		return true;
	kunwind_tool_error("--memory takes a number of bytes, such as 64M, not: %s", text);
	return false;
}

/* Takes an option of --flight. Returns false after a message. */
static bool parse_flight(struct flight *flight, int c, const char *value)
{
	switch (c) {
	case 'T':
		return flight_add_trigger(flight, value);
	case 'M':
		return parse_memory(value, &flight->memory);
	case 'I':
		if (kunwind_tool_number(value, 86400, &flight->interval))
			return true;
		kunwind_tool_error("--interval takes a number of seconds up to 86400, not: %s", value);
		return false;
	default:
		if (kunwind_tool_number(value, 1000000, &flight->most))
			return true;
		kunwind_tool_error("--snapshots takes a number up to 1000000, not: %s", value);
		return false;
	}
}

/* Refuses options that need --flight, and those that --flight does not allow. */
static bool check_flight(const struct record *record, const char *option)
{
	if (!record->flight.on && option)
		kunwind_tool_error("--%s needs --flight", option);
	else if (record->flight.on && record->buffer)
		kunwind_tool_error("--buffer is for recordings without --flight; with it use --memory");
	else if (record->flight.on && record->output && session_is_remote(record->output))
		kunwind_tool_error("--flight writes snapshots to a directory of this host, not to %s",
				   record->output);
	else
		return true;
	return false;
}

static bool add_events(struct record *record, char *list)
{
	const char **events;
	char *name;

	while ((name = strsep(&list, ","))) {
		if (!*name || strlen(name) >= LTTNG_SYMBOL_NAME_LEN) {
			kunwind_tool_error(*name ? "-e: a name of an event is too long: %s" :
						   "-e: an item of the list is empty: write NAME,NAME%s",
					   name);
			return false;
		}
		events = reallocarray(record->events, (size_t)record->nr_events + 1, sizeof(*events));
		if (!events) {
			kunwind_tool_error("out of memory");
			return false;
		}
		record->events = events;
		events[record->nr_events++] = name;
	}
	return true;
}

static bool is_profile(void)
{
	return !strcmp(kunwind_tool_name, "profile");
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct record *record, int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "buffer", required_argument, NULL, 'b' },
		{ "children", no_argument, NULL, 'c' },
		{ "event", required_argument, NULL, 'e' },
		{ "flight", no_argument, NULL, 'f' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "help", no_argument, NULL, 'h' },
		{ "interval", required_argument, NULL, 'I' },
		{ "json", no_argument, NULL, 'j' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "left-over", no_argument, NULL, 'L' },
		{ "memory", required_argument, NULL, 'M' },
		{ "output", required_argument, NULL, 'o' },
		{ "pid", required_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "snapshots", required_argument, NULL, 'S' },
		{ "trigger", required_argument, NULL, 'T' },
		{ NULL, 0, NULL, 0 },
	};
	const char *of_flight = NULL;
	uint64_t hz;
	int c, pid, index = 0;

	/* "+": options after COMMAND belong to COMMAND */
	while ((c = getopt_long(argc, argv, "+ace:F:hjko:p:q", options, &index)) != -1) {
		switch (c) {
		case 'a':
			record->all = true;
			break;
		case 'f':
			record->flight.on = true;
			break;
		case 'I':
		case 'M':
		case 'S':
		case 'T':
			of_flight = options[index].name;
			if (!parse_flight(&record->flight, c, optarg))
				return -1;
			break;
		case 'b':
			if (!parse_buffer(optarg, &record->buffer))
				return -1;
			break;
		case 'c':
			record->pids.children = true;
			break;
		case 'e':
			if (!add_events(record, optarg))
				return -1;
			break;
		case 'F':
			if (!kunwind_tool_number(optarg, SAMPLING_MOST_HZ, &hz) || !hz) {
				kunwind_tool_error("--frequency takes a number of samples a second from "
						   "1 to %d, not: %s", SAMPLING_MOST_HZ, optarg);
				return -1;
			}
			record->sampling.hz = (unsigned int)hz;
			break;
		case 'h':
			fputs(is_profile() ? record_profile_usage : record_usage, stdout);
			return 1;
		case 'j':
			record->json = true;
			break;
		case 'k':
			record->kernel = true;
			break;
		case 'L':
			left_over_print();
			return 1;
		case 'o':
			if (kunwind_tool_is_empty(optarg))
				return -1;
			record->output = optarg;
			break;
		case 'p':
			pid = kunwind_tool_pid(optarg);
			if (pid < 0) {
				kunwind_tool_error("--pid takes the number of a process, not: %s", optarg);
				return -1;
			}
			if (!pids_add(&record->pids, pid)) {
				kunwind_tool_error("out of memory");
				return -1;
			}
			break;
		case 'q':
			record->quiet = true;
			break;
		default:
			return -1;
		}
	}
	if (optind < argc)
		record->command = argv + optind;
	if (!record->command && !record->pids.nr && !record->all) {
		kunwind_tool_error("nothing to record: name a COMMAND, a process (--pid PID) or --all");
		return -1;
	}
	if (is_profile() && (record->flight.on || of_flight)) {
		kunwind_tool_error("no flight recorder of samples alone: use kunwind record -F HZ --flight");
		return -1;
	}
	if (!check_flight(record, of_flight))
		return -1;
	if (record->pids.children && !record->pids.nr) {
		kunwind_tool_error("--children needs a process (--pid PID); those of COMMAND are "
				   "always recorded");
		return -1;
	}
	if (is_profile() && !record->sampling.hz)
		record->sampling.hz = SAMPLING_DEFAULT_HZ;
	record->sampling.all = record->all;
	return 0;
}

/* Takes the directory, except if the trace goes to a relay daemon. */
static bool prepare_output(struct record *record)
{
	if (record->output && session_is_remote(record->output)) {
		snprintf(record->dir.path, sizeof(record->dir.path), "%s", record->output);
		return true;
	}
	if (!directory_take(&record->dir, record->output))
		return false;
	record->output = record->dir.name;
	return true;
}

/* Appends "or this context has this value" to the filter. */
static void add_filter(struct record *record, const char *context, unsigned long value)
{
	char *old = record->filter;

	if (asprintf(&record->filter, "%s%s$ctx.%s == %lu", old ? old : "", old ? " || " : "",
		     context, value) < 0)
		abort();	/* out of memory */
	free(old);
}

/* Sets record->filter; leaves it NULL to record events of all processes. */
static void make_filter(struct record *record)
{
	int i;

	/* LTTng can filter by a process or its parent, not by descent */
	if (record->all || record->pids.children)
		return;
	if (record->command && !record->workload.cgroup_ns) {
		kunwind_tool_error("without root's rights, events of all processes are recorded");
		return;
	}
	if (record->command)
		add_filter(record, "cgroup_ns", record->workload.cgroup_ns);
	for (i = 0; i < record->pids.nr; i++)
		add_filter(record, "pid", (unsigned long)record->pids.pid[i]);
}

/* Returns whether a name of -e, which may have wildcards, selects this tracepoint. */
static bool selects(const char *name, const char *tracepoint)
{
	static const char kind[] = "tracepoint:";

	return !fnmatch(strncmp(name, kind, strlen(kind)) ? name : name + strlen(kind), tracepoint, 0);
}

/*
 * Enables an event. sched_switch and sched_waking are recorded for all processes,
 * even if a wildcard selects them together with other events. So is LTTng's state
 * dump, because a process that is not recorded writes it.
 */
static bool record_event(struct record *record, const char *name)
{
	static const char *const scheduler[] = { "sched_switch", "sched_waking" };
	const bool others = strpbrk(name, "*?[");
	size_t i;

	for (i = 0; record->filter && i < sizeof(scheduler) / sizeof(scheduler[0]); i++) {
		if (!selects(name, scheduler[i]))
			continue;
		if (!session_event(&record->session, scheduler[i], NULL))
			return false;
		if (!others)
			return true;
	}
	return session_event(&record->session, name,
			     strstr(name, "lttng_statedump") ? NULL : record->filter);
}

static bool set_up(struct record *record)
{
	/* PID and TID too: sched_switch has these numbers, not VPID, VTID */
	static const int contexts[] = { LTTNG_EVENT_CONTEXT_CALLSTACK_USER,
		LTTNG_EVENT_CONTEXT_VPID, LTTNG_EVENT_CONTEXT_VTID, LTTNG_EVENT_CONTEXT_PID,
		LTTNG_EVENT_CONTEXT_TID, LTTNG_EVENT_CONTEXT_PROCNAME };
	static const char *const own[] = { KUNWIND_OWN_EVENTS };
	struct session *session = &record->session;
	bool probe;
	size_t c;
	int i;

	if (!session_daemon())
		return false;
	left_over_end();
	probe = session_probe();
	if (!session_create(session, record->dir.path, record->buffer, record->flight.on))
		return false;
	/* libbabeltrace2 cannot read a channel that has contexts and no event */
	for (c = 0; record->nr_events && c < sizeof(contexts) / sizeof(contexts[0]); c++) {
		if (!session_context(session, contexts[c]))
			return false;
	}
	if (record->kernel && record->nr_events &&
	    !session_context(session, LTTNG_EVENT_CONTEXT_CALLSTACK_KERNEL))
		return false;
	for (c = 0; probe && c < sizeof(own) / sizeof(own[0]); c++) {
		/* it would slow down each system call, for no event with a stack */
		if (!record->nr_events && !strcmp(own[c], "kunwind_callstack"))
			continue;
		if (!session_event(session, own[c], NULL))
			return false;
	}
	if (record->by_default && probe && !record_event(record, "kunwind_fatal_signal"))
		return false;
	/* what a trigger waits for is in its snapshot, with a stack */
	for (c = 0; c < record->flight.triggers.nr; c++) {
		const struct expression *expression = &record->flight.triggers.expression[c];

		if ((expression->kind == EXPRESSION_EVENT &&
		     !session_may_trigger(session, expression->event)) ||
		    !record_event(record, expression->event))
			return false;
	}
	if (!probe && record->sampling.hz) {
		kunwind_tool_error("samples need the module: sudo modprobe lttng-probe-kunwind");
		return false;
	}
	if (record->sampling.hz && !session_event(session, KUNWIND_SAMPLE_EVENT, record->filter))
		return false;
	for (i = 0; i < record->nr_events; i++) {
		if (!record_event(record, record->events[i]) ||
		    (selects(record->events[i], "sched_waking") &&
		     !session_interrupts(session, record->buffer)))
			return false;
	}
	/* COMMAND opens its files while it is traced; a snapshot would list them after its events */
	return !session->calls || record->flight.on || (record->command && !record->all) ||
	       session_open_files(session);
}

/*
 * Waits for the command's end; returns its exit status, or 128 plus the signal.
 * The terminal sends Ctrl-C to the command, too, which decides whether to end.
 * The second Ctrl-C ends the recording. For other signals, the command gets
 * SIGTERM.
 */
static int wait_for_command(struct record *record)
{
	struct signalfd_siginfo info;
	int status, interrupts = 0;

	for (;;) {
		if (read(record->signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo != SIGINT && info.ssi_signo != SIGCHLD)
			kill(record->workload.pid, SIGTERM);
		if (info.ssi_signo == SIGINT && ++interrupts == 2) {
			if (!record->quiet)
				kunwind_tool_error("ended by the second Ctrl-C; %s still runs, as process %d",
						   record->command[0], (int)record->workload.pid);
			return 128 + SIGINT;
		}
		if (waitpid(record->workload.pid, &status, WNOHANG) != record->workload.pid)
			continue;
		record->workload.pid = 0;
		record->killed = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		return record->killed ? 128 + record->killed : WEXITSTATUS(status);
	}
}

/* Goes to stderr, because standard output belongs to the command. */
static void closing_json(const struct record *record, int status)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return;
	fputs("{\"trace\": ", out);
	kunwind_tool_json_string_to(out, session_is_remote(record->output) ? record->output :
							      record->dir.path);
	fputs(", \"session\": ", out);
	kunwind_tool_json_string_to(out, record->session.name);
	fprintf(out, ", \"lost\": %llu, \"status\": %d", (unsigned long long)record->lost, status);
	if (record->flight.on)
		fprintf(out, ", \"snapshots\": %llu, \"suppressed\": %llu",
			(unsigned long long)record->flight.taken,
			(unsigned long long)record->flight.suppressed);
	fputs("}\n", out);
	if (!fclose(out))
		fputs(line, stderr);
	free(line);
}

static void closing_words_flight(const struct record *record)
{
	const struct flight *flight = &record->flight;

	if (flight->suppressed)
		kunwind_tool_error("%llu firings of triggers had no snapshot, because of --interval %llu or "
				   "--snapshots %llu", (unsigned long long)flight->suppressed,
				   (unsigned long long)flight->interval, (unsigned long long)flight->most);
	if (!record->quiet && flight->taken)
		kunwind_tool_error("%llu snapshots are in %s; each is a trace of its own",
				   (unsigned long long)flight->taken, record->output);
	else if (!record->quiet)
		kunwind_tool_error("no snapshot was taken");
}

/* Returns a size of buffers that --buffer takes, four times @buffer if that is possible. */
static uint64_t more_buffer(uint64_t buffer)
{
	return buffer < 1 << 20 ? 1 << 20 : buffer > MOST_BUFFER / 4 ? MOST_BUFFER : 4 * buffer;
}

/* Prints a line with a command that reads the trace, as a shell takes it. */
static void reading_command(const char *command, const char *trace, const char *rest)
{
	fprintf(stderr, "  kunwind %s %s", command, *trace == '-' ? "./" : "");
	kunwind_tool_text(stderr, trace, KUNWIND_SHELL_SPECIAL);
	fprintf(stderr, "%s\n", rest);
}

static void closing_words(const struct record *record)
{
	char larger[48] = "";

	if (record->flight.on) {
		closing_words_flight(record);
		return;
	}
	if (record->lost) {
		if (record->buffer < MOST_BUFFER)
			snprintf(larger, sizeof(larger), "use --buffer %lluM, or ",
				 (unsigned long long)more_buffer(record->buffer) >> 20);
		kunwind_tool_error("%llu events were lost because the buffers were full: %srecord %s",
				   (unsigned long long)record->lost, larger,
				   is_profile() ? "fewer samples (-F)" : "fewer events (-e)");
	}
	if (record->quiet)
		return;
	if (session_is_remote(record->output)) {
		kunwind_tool_error("the trace went to %s, session %s", record->output,
				   record->session.name);
		return;
	}
	if (record->disk == DISK_FULL_EMPTY)
		return;
	kunwind_tool_error(record->disk == DISK_FULL ? "the beginning of the trace is in %s. To read it:" :
						       "the trace is in %s. To read it:", record->output);
	reading_command("report", record->output, "");
	reading_command("flamegraph", record->output, " -o flame.html");
}

/* Records. Returns the exit status; the caller cleans up. */
static int run(struct record *record)
{
	const bool kernel_stacks = record->kernel || record->sampling.hz;
	int status = 0;

	/* first: a command that cannot be executed leaves no directory and no session */
	if (record->command)
		status = workload_prepare(&record->workload, record->command, &record->mask);
	if (status)
		return status;
	if (!prepare_output(record))
		return TOOL_RUN_FAILED;
	make_filter(record);
	if (!set_up(record) || !pids_register(&record->pids) || !sampling_begin(&record->sampling) ||
	    !session_start(&record->session))
		return TOOL_RUN_FAILED;
	if (record->flight.on && !flight_begin(&record->flight, record->session.name,
					       record->dir.path, record->filter, record->buffer))
		return TOOL_RUN_FAILED;
	/* for snapshots that another program takes: readers also look above their directories */
	if (record->flight.kernel)
		symbols_save(record->dir.path);
	sampling_check(&record->sampling);
	if (record->command) {
		workload_run(&record->workload);
		status = wait_for_command(record);
	} else {
		pids_wait(&record->pids, record->signals, record->all);
	}
	flight_end(&record->flight, record->killed);
	if (record->flight.failed)
		status = TOOL_RUN_FAILED;
	if (!session_stop(&record->session, &record->lost))
		return TOOL_RUN_FAILED;
	/* the session daemon is done with the files */
	session_destroy(&record->session);
	if (!record->flight.on && !session_is_remote(record->output))
		record->disk = disk_check(record->dir.path);
	if (record->disk != DISK_ENOUGH) {
		kunwind_tool_error("%s: disk full: %s. Free space there, or name another directory "
				   "(-o), or record fewer events (-e)", record->output,
				   record->disk == DISK_FULL ? "the trace ends early" :
							       "the trace has no events");
		status = TOOL_RUN_FAILED;
	}
	if (kernel_stacks && session_is_remote(record->output))
		kunwind_tool_error("the remote trace has no kernel symbols: read it on this host, as root, "
				   "before the next boot");
	else if (kernel_stacks && !record->flight.on)
		symbols_save(record->dir.path);
	if (record->json)
		closing_json(record, status);
	else
		closing_words(record);
	return status;
}

/*
 * Blocks the signals that end a recording, and opens a signalfd for them. If
 * SIGHUP and SIGQUIT were ignored, as under nohup(1), they stay ignored. A
 * write to a closed pipe fails, so that the program can clean up before it
 * ends.
 */
static void take_signals(struct record *record)
{
	static const int ends[] = { SIGHUP, SIGQUIT };
	struct sigaction action;
	sigset_t set, blocked;
	size_t i;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Without COMMAND, the recording does not end when a child process ends. */
	if (record->command)
		sigaddset(&set, SIGCHLD);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	blocked = set;
	sigaddset(&blocked, SIGPIPE);
	/* flight.c has a signalfd of its own for SIGUSR1 */
	if (record->flight.on)
		sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &record->mask);
	record->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	static struct record record = { .signals = -1, .dir.lock = -1, .workload.channel = -1,
					.flight = { .interval = 10, .most = 20 } };
	static char all[] = "syscalls,sched_switch,sched_waking";
	struct kunwind_info info;
	int parsed, err, status;

	if (!strcmp(argv[0], "kunwind snapshot")) {
		kunwind_tool_name = "snapshot";
		return snapshot_command(argc, argv);
	}
	/* argv[0] is "kunwind COMMAND" (exec_helper.c) */
	kunwind_tool_name = strncmp(argv[0], "kunwind ", 8) ? "record" : argv[0] + 8;
	parsed = parse(&record, argc, argv);
	if (parsed > 0)
		return kunwind_tool_finish(TOOL_OK);
	if (parsed < 0) {
		fprintf(stderr, "Try: kunwind %s --help\n", kunwind_tool_name);
		return TOOL_RUN_FAILED;
	}
	record.by_default = !record.nr_events && !is_profile();
	if (record.by_default && !add_events(&record, all))
		return TOOL_RUN_FAILED;
	if (record.flight.on)
		record.buffer = flight_buffer(&record.flight);
	else if (!record.buffer)
		record.buffer = 4 << 20;
	if (!record.buffer)
		return TOOL_RUN_FAILED;
	record.flight.kernel = record.flight.on && (record.kernel || record.sampling.hz);
	record.flight.quiet = record.quiet;
	record.flight.json = record.json;
	err = kunwind_info(&info);
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_RUN_FAILED;
	}
	take_signals(&record);
	status = run(&record);
	flight_end(&record.flight, 0);
	sampling_restore(&record.sampling);
	pids_unregister(&record.pids);
	session_destroy(&record.session);
	workload_abandon(&record.workload);
	if (record.flight.kernel && directory_is_empty(record.dir.path, KALLSYMS_NAME))
		symbols_remove(record.dir.path);
	directory_release(&record.dir);
	free(record.filter);
	free(record.events);
	flight_free(&record.flight);
	pids_free(&record.pids);
	return status;
}
