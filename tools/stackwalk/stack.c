// SPDX-License-Identifier: MIT
/*
 * stack.c - kunwind stack: the stacks of all threads of processes that run
 *
 * A process is read (live.c), and then walked as a dump is: by the walker in its sandbox. If a
 * walk of a thread has missed a register or memory, that thread is read again, and all are walked
 * again. Nothing waits for a walk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live.h"
#include "options.h"
#include "tool.h"

#define MOST_FILES	64		/* that were deleted */

static const char usage[] =
	"Usage: kunwind stack [OPTION]... PID...\n"
	"\n"
	"Prints the call stacks of all threads of running processes.\n"
	"\n"
	"  -j, --json            an object for each process: kunwind-json(5)\n"
	"  -r, --repeat SECONDS  again and again, with pauses, until the processes have ended\n"
	"  -a, --all             all frames of a stack of more than 250 frames\n"
	"  -n, --frames N        at most the N innermost frames of each thread\n"
	"      --no-lines        no source lines and no inlined functions\n"
	"      --guess           go on by guesses where nothing is known; they are marked\n"
	"      --object FILE     FILE is the module that has its build-id; may be repeated\n"
	"      --debug-dir DIR   objects and debug files below DIR, too; may be repeated\n"
	"  -h, --help\n"
	"\n"
	"Threads that sleep are read without stopping them, and with the kernel module, those\n"
	"that run, too. Without it, a thread that runs, or whose registers are needed, is\n"
	"stopped for a moment by ptrace(2), and a system call that this interrupts goes on.\n"
	"Needs the right to ptrace each PID. The kernel's part of the\n"
	"stacks is printed for root (CAP_SYS_ADMIN).\n"
	"\n"
	"Exit status: 0: the stacks are printed, also if they are not complete; 1 if one of the\n"
	"processes could not be read; 2 after wrong usage.\n";

struct stack_options {
	struct walk_options walk;
	double pause;		/* seconds; 0: once */
};

static bool take_pause(struct stack_options *options, const char *text)
{
	char *end;

	options->pause = strtod(text, &end);
	if (end != text && !*end && options->pause >= 0.001 && options->pause <= 86400)
		return true;
	kunwind_tool_error("not a number of seconds from 0.001 to 86400: %s", text);
	return false;
}

/* Returns the index of the first PID; 0: help was printed; -1: wrong usage, after a message. */
static int parse(struct stack_options *options, int argc, char **argv)
{
	int c;

	while ((c = help_option(argc, argv, usage, walk_option_ids, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'r':
			if (!take_pause(options, optarg))
				return -1;
			break;
		default:
			if (!walk_option(&options->walk, c))
				return -1;
		}
	}
	walk_options_end(&options->walk);
	if (optind < argc)
		return optind;
	kunwind_tool_error("no PID given");
	return -1;
}

/* ------------------------------------------------------------ one process */

static bool is_same(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

struct stack_files {
	char root[64], debug[80], names[MOST_FILES][80];
	const char *file[WALK_MOST_PATHS + MOST_FILES + 1], *dir[WALK_MOST_PATHS + 3];
};

/* Files that were deleted can be opened by their mapping, by root. */
static void find_files(const struct live_process *live, const struct stack_options *options,
		       struct stack_files *files, struct session_options *session)
{
	size_t i, nr = 0, given = options->walk.nr_files;

	*session = options->walk.session;
	snprintf(files->names[0], sizeof(files->names[0]), "/proc/%d/ns/mnt", live->pid);
	snprintf(files->root, sizeof(files->root), "/proc/%d/root", live->pid);
	snprintf(files->debug, sizeof(files->debug), "%s/usr/lib/debug", files->root);
	/* in another mount namespace, or below another root */
	if (!is_same(files->names[0], "/proc/self/ns/mnt") || !is_same(files->root, "/")) {
		memcpy(files->dir, options->walk.dirs, sizeof(options->walk.dirs));
		files->dir[options->walk.nr_dirs] = files->root;
		files->dir[options->walk.nr_dirs + 1] = files->debug;
		files->dir[options->walk.nr_dirs + 2] = NULL;
		session->symbols.debug_dirs = files->dir;
	}
	memcpy(files->file, options->walk.files, given * sizeof(files->file[0]));
	for (i = 0; i < live->nr_mappings && nr < MOST_FILES; i++) {
		const struct live_mapping *mapping = &live->mapping[i];

		if (!mapping->path || !mapping->is_code || !strstr(mapping->path, " (deleted)"))
			continue;
		snprintf(files->names[nr], sizeof(files->names[nr]), "/proc/%d/map_files/%lx-%lx", live->pid,
			 mapping->start, mapping->end);
		files->file[given + nr] = files->names[nr];
		nr++;
	}
	files->file[given + nr] = NULL;
	session->files = files->file;
}

/* Notes what a thread needs for a better walk. Returns whether it is worth to read it again. */
static bool note_needs(struct live_thread *thread, const struct session_thread *walked)
{
	uint32_t i;

	if (thread->taken == LIVE_NOT || thread->why)
		return false;
	/* a thread that runs has copied its stack only; what sleeps, not all of its registers */
	if (!thread->follows && (walked->lack == KUNWIND_INTERP_UNREADABLE ||
				 walked->lack == STACKWALK_LACKS_FS)) {
		thread->follows = true;
		thread->wants_stop = thread->taken != LIVE_ASLEEP || walked->lack == STACKWALK_LACKS_FS;
		return true;
	}
	if (walked->reason == KUNWIND_COMPLETE || walked->reason == KUNWIND_BUFFER_FULL)
		return false;
	if (walked->missing) {
		for (i = 0; i < thread->nr_missed && thread->missed[i] != walked->missing; i++)
			;
		if (i < thread->nr_missed || i == LIVE_COPIES - 1)
			return false;
		thread->missed[thread->nr_missed++] = walked->missing;
		return true;
	}
	/* of 32-bit code, all registers that matter are known */
	thread->wants_stop = (~thread->stack.regs.valid & LIVE_REGISTERS) &&
			     !(thread->stack.regs.flags & KUNWIND_REGISTERS_I386);
	return thread->wants_stop;
}

static bool walk_once(struct live_process *live, const struct session_options *options, const char *name,
		      struct stackwalk_session *session)
{
	int fd = live_write(live);
	bool ok;

	if (fd < 0) {
		memset(session, 0, sizeof(*session));
		return false;
	}
	ok = session_walk(session, options, fd, name);
	close(fd);
	if (ok && session->nr_threads != live->nr_threads) {
		kunwind_tool_error("%s: the walker contradicts itself", name);
		ok = false;
	}
	return ok;
}

static bool walk(struct live_process *live, const struct session_options *options, const char *name,
		 struct stackwalk_session *session)
{
	static struct session_interp interp;
	bool again;
	size_t i;

	interp.found = false;
	for (;;) {
		if (!walk_once(live, options, name, session))
			return false;
		again = false;
		for (i = 0; i < live->nr_threads; i++)
			again |= note_needs(&live->thread[i], &session->thread[i]);
		if (!again)
			return true;
		if (session->interp.found)
			interp = session->interp;
		live->interp = interp.found ? &interp : NULL;
		live_take_again(live);
		session_free(session);
	}
}

/* Gives the threads of the session what only the reader knows. */
static void add_notes(const struct live_process *live, struct stackwalk_session *session)
{
	static const char *const taken[] = { NULL, "asleep", "running", "stopped" };
	size_t i;

	for (i = 0; i < live->nr_threads; i++) {
		session->thread[i].taken = taken[live->thread[i].taken];
		session->thread[i].note = live->thread[i].why;
		session->thread[i].kernel = live->thread[i].kernel;
	}
}

static bool print_process(const struct stack_options *options, pid_t pid, const char *name)
{
	static struct stack_files files;
	struct stackwalk_session session = { 0 };
	struct session_options with;
	struct live_process live;
	bool ok = live_take(&live, pid);

	if (ok && !live.nr_threads) {
		errno = ESRCH;
		live_refused(pid);
		ok = false;
	}
	if (ok) {
		find_files(&live, options, &files, &with);
		ok = walk(&live, &with, name, &session);
	}
	if (ok) {
		add_notes(&live, &session);
		if (options->walk.json)
			stackwalk_json(&session);
		else
			stackwalk_text(&session, name, options->walk.all,
				       !(options->walk.session.symbols.flags & KUNWIND_NO_DWARF));
	}
	session_free(&session);
	live_free(&live);
	return ok;
}

/* ------------------------------------------------------------ all */

static void pause_for(double seconds)
{
	struct timespec left = { .tv_sec = (time_t)seconds };

	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	nanosleep(&left, NULL);
}

/* Whether the process has not ended. */
static bool exists(const char *pid)
{
	char path[64], target;

	snprintf(path, sizeof(path), "/proc/%d/exe", kunwind_tool_pid(pid));
	/* a zombie's link can be read by nobody, and has no target */
	return readlink(path, &target, 1) > 0 || errno == EACCES;
}

/* Prints the processes; @again: those that have not ended. Returns how many were printed. */
static int print_all(const struct stack_options *options, char *const *pids, bool again, bool *failed)
{
	int nr = 0;

	for (; *pids; pids++) {
		if (again && !exists(*pids))
			continue;
		if (print_process(options, kunwind_tool_pid(*pids), *pids))
			nr++;
		else
			*failed |= !again;
	}
	return nr;
}

int stackwalk_live(int argc, char **argv)
{
	static struct stack_options options;
	bool failed = false, again = false;
	int at, i;

	kunwind_tool_name = "stack";
	at = parse(&options, argc, argv);
	for (i = at; at > 0 && i < argc; i++) {
		if (kunwind_tool_pid(argv[i]) > 0)
			continue;
		kunwind_tool_error("not the number of a process: %s", argv[i]);
		at = -1;
	}
	if (at <= 0)
		return kunwind_tool_parsed(at < 0 ? at : 1);
	while (print_all(&options, argv + at, again, &failed) && options.pause && kunwind_tool_flush()) {
		pause_for(options.pause);
		again = true;
	}
	return kunwind_tool_finish(failed ? TOOL_FAILED : TOOL_OK);
}
