// SPDX-License-Identifier: MIT
/*
 * live.c - read a process that runs: mappings, threads, memory; see live.h
 *
 * Memory is read by /proc/PID/mem, which stays that of the same program after an execve(2). If
 * the mappings of code have changed while the threads were read, all is read anew.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "tool.h"

#define TRIES		3		/* while code is mapped and unmapped */
#define PASSES		3		/* over the threads, while new ones begin */
#define STACK		(256u << 10)	/* bytes, at first */
#define MORE_STACK	(16u << 20)	/* that a walk has missed */
#define BELOW		256u		/* bytes below the stack pointer: the red zone, and what was popped */
#define NO_STACK	(64u << 10)	/* if the stack pointer is in no mapping */
#define CODE		(16u << 20)	/* of no file, of one process */
#define PAGE		4096u

static bool no_memory(void)
{
	kunwind_tool_error("out of memory");
	return false;
}

int live_open_file(const struct live_process *live, pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/%s", tid, name);
	return openat(live->task, path, O_RDONLY | O_CLOEXEC);
}

ssize_t live_read_open(int fd, char *text, size_t size)
{
	const ssize_t len = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[len < 0 ? 0 : len] = 0;
	return len;
}

static ssize_t read_and_close(int fd, char *text, size_t size)
{
	const ssize_t len = live_read_open(fd, text, size);
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return len;
}

ssize_t live_read_file(const struct live_process *live, pid_t tid, const char *name, char *text, size_t size)
{
	return read_and_close(live_open_file(live, tid, name), text, size);
}

size_t live_read(const struct live_process *live, uint64_t addr, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t got;

	while (done < len && addr + done < 1ULL << 63) {
		got = pread(live->mem, (uint8_t *)buf + done, len - done, (off_t)(addr + done));
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/*
 * Opens a file of the process by its first thread, or, if that has ended before the others, by one
 * of these: all have the same memory. Returns -1, with errno, if no thread has it.
 */
static int open_of_any(const struct live_process *live, const char *name)
{
	char path[64], byte;
	const struct dirent *entry;
	int fd = -1, error = ESRCH;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", live->pid);
	dir = opendir(path);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/%s", live->pid, entry->d_name, name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		error = fd < 0 ? errno : error;
		/* without memory, maps and auxv are empty */
		if (fd >= 0 && strcmp(name, "mem") && pread(fd, &byte, 1, 0) != 1) {
			close(fd);
			fd = -1;
		}
		if (fd < 0 && (error == EACCES || error == EPERM))
			break;
	}
	if (dir)
		closedir(dir);
	errno = error;
	return fd;
}

/* ------------------------------------------------------------ mappings */

const struct live_mapping *live_find_mapping(const struct live_process *live, uint64_t addr)
{
	size_t lo = 0, hi = live->nr_mappings;

	while (lo < hi) {
		const size_t middle = lo + (hi - lo) / 2;
		const struct live_mapping *mapping = &live->mapping[middle];

		if (addr < mapping->start)
			hi = middle;
		else if (addr >= mapping->end)
			lo = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

/* JIT compilers map memory of files without a name, too. */
static bool is_no_elf(const struct live_process *live, const struct live_mapping *mapping, const char *path)
{
	const size_t len = strlen(path);
	char magic[4];

	if (strcmp(path, "/dev/zero") && (len < 10 || strcmp(path + len - 10, " (deleted)")))
		return false;
	return live_read(live, mapping->start - mapping->offset, magic, sizeof(magic)) != sizeof(magic) ||
	       memcmp(magic, "\177ELF", sizeof(magic));
}

static bool add_mapping(struct live_process *live, const char *line)
{
	struct live_mapping mapping = { 0 }, *more;
	char mode[8], path[DUMP_PATH] = "";

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &mapping.start,
		   &mapping.end, mode, &mapping.offset, path) < 4)
		return true;
	mapping.is_code = mode[2] == 'x';
	mapping.is_written = mode[1] == 'w';
	if (*path == '/' && !is_no_elf(live, &mapping, path)) {
		mapping.path = strdup(path);
		if (!mapping.path)
			return no_memory();
	}
	if (!(live->nr_mappings & (live->nr_mappings - 1))) {
		more = realloc(live->mapping, (2 * live->nr_mappings + 1) * sizeof(*more));
		if (!more) {
			free(mapping.path);
			return no_memory();
		}
		live->mapping = more;
	}
	live->mapping[live->nr_mappings++] = mapping;
	return true;
}

static void forget_mappings(struct live_process *live)
{
	while (live->nr_mappings)
		free(live->mapping[--live->nr_mappings].path);
	free(live->mapping);
	live->mapping = NULL;
}

static bool read_mappings(struct live_process *live)
{
	char line[DUMP_PATH + 128];
	bool ok = true;
	FILE *file;
	int fd;

	forget_mappings(live);
	fd = open_of_any(live, "maps");
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		live_refused(live->pid);
		return false;
	}
	while (ok && fgets(line, sizeof(line), file))
		ok = add_mapping(live, line);
	fclose(file);
	return ok;
}

/* Whether the code is mapped as it was. */
static bool same_code(const struct live_process *live, struct live_process *now)
{
	size_t i, k = 0;

	for (i = 0; i < live->nr_mappings; i++) {
		if (!live->mapping[i].is_code)
			continue;
		while (k < now->nr_mappings && !now->mapping[k].is_code)
			k++;
		if (k == now->nr_mappings || live->mapping[i].start != now->mapping[k].start ||
		    live->mapping[i].end != now->mapping[k].end ||
		    live->mapping[i].offset != now->mapping[k].offset ||
		    strcmp(live->mapping[i].path ? live->mapping[i].path : "",
			   now->mapping[k].path ? now->mapping[k].path : ""))
			return false;
		k++;
	}
	while (k < now->nr_mappings && !now->mapping[k].is_code)
		k++;
	return k == now->nr_mappings;
}

/* ------------------------------------------------------------ memory */

/* Copies [start, start + len), as far as it is there. False: out of memory. */
static bool copy(const struct live_process *live, uint64_t start, size_t len, struct live_copy *to)
{
	uint8_t *bytes = malloc(len + 1), *less;

	if (!bytes)
		return no_memory();
	to->start = start;
	to->len = live_read(live, start, bytes, len);
	less = realloc(bytes, to->len + 1);
	to->bytes = less ? less : bytes;
	return true;
}

/*
 * Copies memory of a stack from the page of @at on to the end of its mapping, at most @most bytes.
 * (Whole pages: the first arguments of a program are searched for by pages, dump/start.c.)
 */
static bool copy_from(const struct live_process *live, uint64_t at, size_t most, struct live_stack *stack)
{
	const struct live_mapping *mapping = live_find_mapping(live, at);
	const uint64_t low = at > BELOW ? (at - BELOW) & -(uint64_t)PAGE : 0;
	const uint64_t start = mapping && low < mapping->start ? mapping->start : low;
	const uint64_t left = mapping ? mapping->end - start : NO_STACK;

	if (!copy(live, start, left < most ? (size_t)left : most, &stack->copy[stack->nr_copies]))
		return false;
	stack->nr_copies++;
	return true;
}

void live_drop_stack(struct live_stack *stack)
{
	while (stack->nr_copies)
		free(stack->copy[--stack->nr_copies].bytes);
	live_free_pages(stack->pages);
	stack->pages = NULL;
}

bool live_copy_stack(const struct live_process *live, const struct live_thread *thread,
		     struct live_stack *stack)
{
	bool ok = live->copied < LIVE_ALL_STACKS;
	uint32_t i;

	stack->nr_copies = 0;
	stack->pages = NULL;
	ok = ok && copy_from(live, stack->regs.r[7], STACK, stack);
	for (i = 0; ok && i < thread->nr_missed; i++)
		ok = copy_from(live, thread->missed[i], MORE_STACK, stack);
	if (!ok)
		live_drop_stack(stack);
	else if (thread->follows && live->interp && stack->regs.fs_base)
		stack->pages = live_follow(live, stack->regs.fs_base);
	return ok;
}

static void count(struct live_process *live, const struct live_stack *stack, bool more)
{
	const size_t pages = (size_t)live_nr_pages(stack->pages) * PAGE;
	uint32_t i;

	for (i = 0; i < stack->nr_copies; i++)
		live->copied += more ? stack->copy[i].len : -stack->copy[i].len;
	live->copied += more ? pages : -pages;
}

void live_keep_stack(struct live_process *live, struct live_thread *thread, const struct live_stack *stack,
		     enum live_taken taken)
{
	count(live, &thread->stack, false);
	live_drop_stack(&thread->stack);
	thread->stack = *stack;
	thread->taken = taken;
	thread->why = NULL;
	count(live, stack, true);
}

/* Whether the file of this mapping, which begins there, has code. */
static bool has_code(const struct live_process *live, size_t number)
{
	const struct live_mapping *mapping = &live->mapping[number];
	size_t i;

	for (i = number; i < live->nr_mappings && live->mapping[i].path &&
	     !strcmp(live->mapping[i].path, mapping->path); i++)
		if (live->mapping[i].is_code)
			return true;
	return false;
}

/* Copies ELF headers, the vDSO, and code of no file. */
static bool copy_modules(struct live_process *live)
{
	size_t i, left = CODE, len;

	live->module = calloc(live->nr_mappings + 1, sizeof(*live->module));
	if (!live->module)
		return no_memory();
	for (i = 0; i < live->nr_mappings; i++) {
		const struct live_mapping *mapping = &live->mapping[i];
		const size_t size = (size_t)(mapping->end - mapping->start);

		if (mapping->path)
			len = mapping->offset || !has_code(live, i) ? 0 : PAGE;
		else
			len = mapping->is_code ? size < left ? size : left : 0;
		if (!len || mapping->start >> 63)
			continue;
		if (!copy(live, mapping->start, len, &live->module[live->nr_modules]))
			return false;
		live->nr_modules++;
		left -= mapping->path ? 0 : len;
	}
	return true;
}

/* ------------------------------------------------------------ threads */

static void free_thread(struct live_process *live, struct live_thread *thread)
{
	count(live, &thread->stack, false);
	live_drop_stack(&thread->stack);
	free(thread->kernel);
}

static int by_tid(const void *a, const void *b)
{
	return ((const struct live_thread *)a)->tid - ((const struct live_thread *)b)->tid;
}

static bool add_thread(struct live_process *live, pid_t tid)
{
	struct live_thread *more;
	char name[DUMP_NAME];

	if (!(live->nr_threads & (live->nr_threads - 1))) {
		more = realloc(live->thread, (2 * live->nr_threads + 1) * sizeof(*more));
		if (!more)
			return no_memory();
		live->thread = more;
	}
	more = &live->thread[live->nr_threads++];
	memset(more, 0, sizeof(*more));
	more->tid = tid;
	if (live_read_file(live, tid, "comm", name, sizeof(name)) > 0)
		snprintf(more->name, sizeof(more->name), "%.*s", (int)strcspn(name, "\n"), name);
	return true;
}

/* Adds the threads that are not known yet. @added: out. */
static bool list_threads(struct live_process *live, size_t *added)
{
	const size_t known = live->nr_threads;
	struct live_thread key = { 0 };
	const struct dirent *entry;
	DIR *dir = NULL;
	bool ok = true;
	int fd;

	fd = openat(live->task, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return true;		/* the process has ended */
	}
	while (ok && (entry = readdir(dir))) {
		key.tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (key.tid > 0 && live->nr_threads < DUMP_MOST_THREADS &&
		    !(known && bsearch(&key, live->thread, known, sizeof(key), by_tid)))
			ok = add_thread(live, key.tid);
	}
	closedir(dir);
	*added = live->nr_threads - known;
	return ok;
}

static void read_kernel(struct live_process *live, struct live_thread *thread)
{
	char text[8192];

	if (live->no_kernel)
		return;
	if (live_read_file(live, thread->tid, "stack", text, sizeof(text)) < 0)
		live->no_kernel = errno == EACCES || errno == EPERM;
	else
		thread->kernel = strdup(text);
}

/* Reads a thread that sleeps. */
static bool take_sleeper(struct live_process *live, struct live_thread *thread)
{
	return live_take_by_module(live, thread) || live_take_asleep(live, thread);
}

static bool is_not_taken(const struct live_thread *thread)
{
	return thread->taken == LIVE_NOT && !thread->why;
}

/* A thread that has ended is no thread of the process any more. */
static void drop_ended(struct live_process *live)
{
	size_t i, nr = 0;

	for (i = 0; i < live->nr_threads; i++) {
		struct live_thread *thread = &live->thread[i];
		char path[32];

		snprintf(path, sizeof(path), "%d", thread->tid);
		if (thread->taken == LIVE_NOT && faccessat(live->task, path, F_OK, 0))
			free_thread(live, thread);
		else
			live->thread[nr++] = *thread;
	}
	live->nr_threads = nr;
}

static bool take_threads(struct live_process *live)
{
	size_t added = 0, i, pass;

	for (pass = 0; pass < PASSES; pass++) {
		if (!list_threads(live, &added))
			return false;
		if (!added)
			break;
		for (i = live->nr_threads - added; i < live->nr_threads; i++) {
			read_kernel(live, &live->thread[i]);
			take_sleeper(live, &live->thread[i]);
		}
		live_ask(live, is_not_taken);
		live_stop(live, is_not_taken);
		qsort(live->thread, live->nr_threads, sizeof(*live->thread), by_tid);
	}
	drop_ended(live);
	return true;
}

/* ------------------------------------------------------------ all */

static void forget(struct live_process *live)
{
	size_t i;

	for (i = 0; i < live->nr_threads; i++)
		free_thread(live, &live->thread[i]);
	free(live->thread);
	live->thread = NULL;
	live->nr_threads = 0;
	while (live->nr_modules)
		free(live->module[--live->nr_modules].bytes);
	free(live->module);
	live->module = NULL;
	forget_mappings(live);
}

void live_free(struct live_process *live)
{
	forget(live);
	if (live->mem >= 0)
		close(live->mem);
	if (live->task >= 0)
		close(live->task);
	live->mem = live->task = -1;
}

static bool open_process(struct live_process *live, pid_t pid)
{
	char path[64], name[DUMP_NAME];
	uint64_t first;
	ssize_t len;

	memset(live, 0, sizeof(*live));
	live->pid = pid;
	live->mem = -1;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	live->task = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	live->mem = live->task < 0 ? -1 : open_of_any(live, "mem");
	if (live->mem < 0) {
		live_refused(pid);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (read_and_close(open(path, O_RDONLY | O_CLOEXEC), name, sizeof(name)) > 0)
		snprintf(live->command, sizeof(live->command), "%.*s", (int)strcspn(name, "\n"), name);
	len = read_and_close(open_of_any(live, "auxv"), (char *)live->auxv, sizeof(live->auxv));
	live->auxv_len = len > 0 ? (size_t)len : 0;
	/* the kinds of entries are small numbers: of 32 bits, if the upper half is the value */
	memcpy(&first, live->auxv, sizeof(first));
	live->i386 = len >= 8 && first >> 32;
	return true;
}

bool live_take(struct live_process *live, pid_t pid)
{
	struct live_process now;
	bool same = false;
	int tries;

	if (!open_process(live, pid))
		return false;
	for (tries = 0; tries < TRIES && !same; tries++) {
		forget(live);
		if (!read_mappings(live))
			return false;
		if (!live->nr_mappings) {
			errno = ESRCH;
			live_refused(pid);
			return false;
		}
		if (!copy_modules(live) || !take_threads(live))
			return false;
		now = (struct live_process){ .pid = pid, .mem = live->mem, .task = -1 };
		if (!read_mappings(&now))
			return false;
		same = same_code(live, &now);
		forget_mappings(&now);
	}
	return true;
}

static bool wants_stop(const struct live_thread *thread)
{
	return thread->wants_stop;
}

void live_take_again(struct live_process *live)
{
	size_t i;

	for (i = 0; i < live->nr_threads; i++) {
		struct live_thread *thread = &live->thread[i];

		if ((thread->nr_missed || thread->follows) && !thread->wants_stop &&
		    thread->taken == LIVE_ASLEEP)
			thread->wants_stop = !take_sleeper(live, thread);
		else if (thread->nr_missed)
			thread->wants_stop = true;
	}
	live_stop(live, wants_stop);
	for (i = 0; i < live->nr_threads; i++)
		live->thread[i].wants_stop = false;
}
