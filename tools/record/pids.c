// SPDX-License-Identifier: MIT
/*
 * pids.c - register running processes for the time of a recording
 *
 * Processes that were registered before stay registered. If several recordings register
 * one process, the last of them unregisters it: each has a claim (claim.c) on
 * /proc/PID/environ, which only those can open who may register the process. Children are found by
 * the chain of parents in /proc. A child whose parent has ended is not found:
 * it stays registered until it ends, which costs some memory of the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <kunwind.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "claim.h"
#include "pids.h"
#include "report.h"
#include "tool.h"

/* Returns the index of the first process that is not below @pid. All lists are sorted. */
static size_t place_of(const int *list, size_t nr, int pid)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_in(const int *list, size_t nr, int pid)
{
	const size_t at = place_of(list, nr, pid);

	return at < nr && list[at] == pid;
}

/* What this recording has to do with one process. */
struct pids_claim {
	int fd;			/* see claim.h; -1: nothing is shared */
	bool shared;		/* another recording had registered it */
	bool ours;		/* recordings have registered it, so the last one unregisters it */
};

bool pids_add(struct pids *pids, int pid)
{
	const size_t nr = (size_t)pids->nr, at = place_of(pids->pid, nr, pid);
	int *list;

	if (at < nr && pids->pid[at] == pid)
		return true;
	list = reallocarray(pids->pid, nr + 1, sizeof(*list));
	if (!list)
		return false;
	memmove(list + at + 1, list + at, (nr - at) * sizeof(*list));
	list[at] = pid;
	pids->pid = list;
	pids->nr++;
	return true;
}

void pids_free(struct pids *pids)
{
	free(pids->pid);
	pids->pid = NULL;
	pids->nr = 0;
}

static int compare(const void *a, const void *b)
{
	const int *first = a, *second = b;

	return (*first > *second) - (*first < *second);
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
	if (*nr)
		qsort(list, *nr, sizeof(*list), compare);
	return list;
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

/* Is the process a descendant of one of @list? */
static bool is_descendant(const int *list, size_t nr, int pid)
{
	int steps;

	/* The limit ends a circle, which reused process ids could make. */
	for (steps = 0; pid > 1 && steps < 1000; steps++) {
		pid = parent_of(pid);
		if (is_in(list, nr, pid))
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

/* A descriptor for each process of a claim, and later one for the end of each process. */
static void allow_files(void)
{
	struct rlimit files;

	/* usually 1024 are allowed, and many more after this */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/*
 * Takes the claims, in the order of numbers that the list has, because another recorder may do so, too.
 * Returns false after a message.
 */
static bool take_claims(struct pids *pids)
{
	char path[32];
	int i;

	pids->claim = calloc((size_t)pids->nr + 1, sizeof(*pids->claim));
	if (!pids->claim) {
		kunwind_tool_error("out of memory");
		return false;
	}
	for (i = 0; i < pids->nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d/environ", pids->pid[i]);
		pids->claim[i].fd = open(path, O_RDONLY | O_CLOEXEC);
		pids->claim[i].shared = claim_take(pids->claim[i].fd) == CLAIM_SHARED;
	}
	return true;
}

/* Returns whether the number is not that of a thread; if it is, after a message. */
static bool is_no_thread(int pid)
{
	int process = process_of(pid);

	/* it can be registered, but no event has it as its process */
	if (process && process != pid)
		kunwind_tool_error("--pid %d: it is a thread of process %d: use --pid %d", pid, process,
				   process);
	return !process || process == pid;
}

/* Registers one process. Returns false after a message. */
static bool register_one(int pid, unsigned int flags)
{
	char what[32];
	int err;

	if (!is_no_thread(pid))
		return false;
	err = kunwind_register_pid(pid, flags);
	if (err) {
		snprintf(what, sizeof(what), "%d", pid);
		kunwind_tool_failure(what, err);
	}
	return !err;
}

bool pids_check(const struct pids *pids)
{
	int i;

	for (i = 0; i < pids->nr; i++) {
		if (!is_no_thread(pids->pid[i]))
			return false;
		if (!process_of(pids->pid[i])) {
			kunwind_tool_error("--pid %d: no such process", pids->pid[i]);
			return false;
		}
	}
	return true;
}

bool pids_register(struct pids *pids)
{
	unsigned int flags = pids->children ? KUNWIND_REGISTER_CHILDREN : 0;
	struct pids_claim *claim;
	int i;

	if (!pids->nr)
		return true;
	allow_files();
	if (!take_claims(pids))
		return false;
	/* after the claims: then no other recording is about to unregister one */
	pids->before = read_registered(&pids->nr_before);
	for (i = 0; i < pids->nr; i++) {
		if (!register_one(pids->pid[i], flags))
			return false;
		claim = &pids->claim[i];
		claim->ours = claim->shared || !is_in(pids->before, pids->nr_before, pids->pid[i]);
		if (claim->ours) {
			claim_share(claim->fd);
		} else {
			/* else the next recording would take it for that of a recording */
			claim_drop(claim->fd);
			claim->fd = -1;
		}
		pids->nr_done = i + 1;
	}
	return true;
}

/* Writes to @list which processes this recording unregisters. Returns how many. */
static size_t to_unregister(const struct pids *pids, int *list)
{
	const struct pids_claim *claim = pids->claim;
	size_t nr = 0;
	int i;

	for (i = 0; i < pids->nr_done; i++)
		if (claim[i].ours && (claim[i].fd < 0 || claim_is_last(claim[i].fd)))
			list[nr++] = pids->pid[i];
	return nr;
}

void pids_unregister(struct pids *pids)
{
	int *list = calloc((size_t)pids->nr + 1, sizeof(*list)), *now = NULL;
	size_t nr = list ? to_unregister(pids, list) : 0, nr_now = 0, i;

	if (pids->children && nr)
		now = read_registered(&nr_now);
	for (i = 0; i < nr_now; i++) {
		if (!is_in(pids->before, pids->nr_before, now[i]) && is_descendant(list, nr, now[i]))
			kunwind_unregister_pid(now[i]);
	}
	for (i = 0; i < nr; i++)
		kunwind_unregister_pid(list[i]);
	for (i = 0; pids->claim && i < (size_t)pids->nr; i++)
		claim_drop(pids->claim[i].fd);
	free(list);
	free(now);
	free(pids->before);
	free(pids->claim);
	pids->before = NULL;
	pids->claim = NULL;
	pids->nr_done = 0;
}

void pids_wait(const struct pids *pids, int signals, bool forever)
{
	struct pollfd *fds = calloc((size_t)pids->nr + 1, sizeof(*fds));
	struct pollfd alone = { .fd = signals, .events = POLLIN };
	int i, left = 0;

	if (!fds) {
		while (poll(&alone, 1, -1) == 0)
			;
		return;
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
