// SPDX-License-Identifier: MIT
/*
 * pids.c - register running processes for the time of a recording
 *
 * Processes that were registered before stay registered. Children are found by
 * the chain of parents in /proc. A child whose parent has ended is not found:
 * it stays registered until it ends, which costs some memory of the module.
 */
#include <errno.h>
#include <kunwind.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pids.h"
#include "report.h"
#include "tool.h"

bool pids_add(struct pids *pids, int pid)
{
	int *list = reallocarray(pids->pid, (size_t)pids->nr + 1, sizeof(*list));

	if (!list)
		return false;
	pids->pid = list;
	list[pids->nr++] = pid;
	return true;
}

void pids_free(struct pids *pids)
{
	free(pids->pid);
	pids->pid = NULL;
	pids->nr = 0;
}

/*
 * Returns the registered processes that this user may see, *nr of them; the
 * caller frees the list. NULL: none, or an error.
 */
static int *read_registered(size_t *nr)
{
	struct kunwind_report report;
	int *list = NULL;
	size_t i;

	*nr = 0;
	if (kunwind_report_read(&report))
		return NULL;
	if (report.nr)
		list = calloc(report.nr, sizeof(*list));
	for (i = 0; list && i < report.nr; i++) {
		if (!strcmp(report.line[i].field[0], "process"))
			list[(*nr)++] = atoi(report.line[i].field[1]);
	}
	kunwind_report_free(&report);
	return list;
}

static bool is_in(const int *list, size_t nr, int pid)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (list[i] == pid)
			return true;
	}
	return false;
}

/* Returns the parent of @pid; 0 if it is not known. */
static int parent_of(int pid)
{
	char path[32], line[1024], *end;
	int parent = 0;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[len] = '\0';
	/* after the name, which may contain any character, also ")" */
	end = strrchr(line, ')');
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static bool is_descendant(const struct pids *pids, int pid)
{
	int steps;

	/* The limit ends a circle, which reused process ids could make. */
	for (steps = 0; pid > 1 && steps < 1000; steps++) {
		pid = parent_of(pid);
		if (is_in(pids->pid, (size_t)pids->nr, pid))
			return true;
	}
	return false;
}

/* Returns the process of the thread @tid; 0 if it is not known. */
static int process_of(int tid)
{
	char path[32], line[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!pid && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %d", &pid);
	fclose(f);
	return pid;
}

bool pids_register(struct pids *pids)
{
	unsigned int flags = pids->children ? KUNWIND_REGISTER_CHILDREN : 0;
	char what[32];
	int i, err, process;

	pids->before = read_registered(&pids->nr_before);
	for (i = 0; i < pids->nr; i++) {
		/* it can be registered, but no event has it as its process */
		process = process_of(pids->pid[i]);
		if (process && process != pids->pid[i]) {
			kunwind_tool_error("--pid %d: it is a thread of process %d: use --pid %d",
					   pids->pid[i], process, process);
			return false;
		}
		err = kunwind_register_pid(pids->pid[i], flags);
		if (err) {
			snprintf(what, sizeof(what), "%d", pids->pid[i]);
			kunwind_tool_failure(what, err);
			return false;
		}
		pids->nr_done = i + 1;
	}
	return true;
}

void pids_unregister(struct pids *pids)
{
	size_t nr = 0, i;
	int *now = pids->children && pids->nr_done ? read_registered(&nr) : NULL;

	for (i = 0; i < nr; i++) {
		if (!is_in(pids->before, pids->nr_before, now[i]) && is_descendant(pids, now[i]))
			kunwind_unregister_pid(now[i]);
	}
	for (i = 0; i < (size_t)pids->nr_done; i++) {
		if (!is_in(pids->before, pids->nr_before, pids->pid[i]))
			kunwind_unregister_pid(pids->pid[i]);
	}
	free(now);
	free(pids->before);
	pids->before = NULL;
}

void pids_wait(const struct pids *pids, int signals, bool forever)
{
	struct pollfd *fds = calloc((size_t)pids->nr + 1, sizeof(*fds));
	struct pollfd alone = { .fd = signals, .events = POLLIN };
	struct rlimit files;
	int i, left = 0;

	if (!fds) {
		while (poll(&alone, 1, -1) == 0)
			;
		return;
	}
	/* a file descriptor for each process; usually 1024 are allowed, and many more after this */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	fds[pids->nr] = alone;
	for (i = 0; i < pids->nr; i++) {
		fds[i] = (struct pollfd){ .events = POLLIN };
		fds[i].fd = (int)syscall(SYS_pidfd_open, pids->pid[i], 0);
		/* ESRCH: it has ended; after other errors only the signal ends the wait */
		left += fds[i].fd >= 0 || errno != ESRCH;
	}
	while (left || forever) {
		if (poll(fds, (nfds_t)pids->nr + 1, -1) < 0 || fds[pids->nr].revents)
			break;
		for (i = 0; i < pids->nr; i++) {
			if (!fds[i].revents)
				continue;
			close(fds[i].fd);
			fds[i].fd = -1;
			left--;
		}
	}
	for (i = 0; i < pids->nr; i++) {
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	}
	free(fds);
}
