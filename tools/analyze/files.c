// SPDX-License-Identifier: MIT
/*
 * files.c - which file a system call uses, by the file descriptors of each process
 *
 * A process has a table from descriptors to names. System calls that make, copy
 * or close descriptors change it. A new process has a copy of its parent's table,
 * by kunwind_fork, sched_process_fork, or what fork and clone return. exec closes
 * what is marked close-on-exec. LTTng's state dump, if it was recorded, has what
 * was open before the trace.
 *
 * A path is that of the call that opened the file: relative to the directory
 * whose descriptor the call has, if that is known, but not to the current
 * directory. It is not changed by a rename. A descriptor without a known path is
 * "fd N of process PID". A process that shares the table of another process
 * (clone with CLONE_FILES) is treated as one with a copy.
 *
 * The number that clone3 returns may be that of a process or of a thread: the
 * trace does not say which. If it is a thread, the copy of the table lives
 * until the thread's first event.
 *
 * Memory: 2 KB for each block of 256 descriptors that has one in use, for each process that
 * has not ended, and 8 bytes for each block below the highest; 100 bytes for each thread.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "trace/syscall.h"

#define MAX_FD		1048576	/* this and larger ones are not followed */
#define BLOCK		256	/* descriptors */
#define RANGE_CLOEXEC	4	/* CLOSE_RANGE_CLOEXEC of linux/close_range.h */
#define MEMFD_CLOEXEC	1	/* MFD_CLOEXEC of linux/memfd.h */

enum op { OP_OPEN, OP_NEW, OP_MEMFD, OP_PIDFD, OP_CLOSE, OP_CLOSE_RANGE, OP_DUP, OP_DUP2, OP_FCNTL,
	  OP_PAIR, OP_FORK, OP_EXEC, OP_EXIT, OP_EXIT_GROUP };

/* System calls that change tables. @name: of the new descriptors, as in /proc/PID/fd. */
static const struct call {
	const char *call;
	enum op op;
	const char *name;
} calls[] = {
	{ "open", OP_OPEN, NULL }, { "openat", OP_OPEN, NULL }, { "openat2", OP_OPEN, NULL },
	{ "creat", OP_OPEN, NULL }, { "close", OP_CLOSE, NULL }, { "close_range", OP_CLOSE_RANGE, NULL },
	{ "dup", OP_DUP, NULL }, { "dup2", OP_DUP2, NULL }, { "dup3", OP_DUP2, NULL },
	{ "fcntl", OP_FCNTL, NULL }, { "fcntl64", OP_FCNTL, NULL },
	{ "pipe", OP_PAIR, "pipe" }, { "pipe2", OP_PAIR, "pipe" },
	{ "socketpair", OP_PAIR, "socket" }, { "socket", OP_NEW, "socket" },
	{ "accept", OP_NEW, "socket (accepted)" }, { "accept4", OP_NEW, "socket (accepted)" },
	{ "epoll_create", OP_NEW, "anon_inode:[eventpoll]" },
	{ "epoll_create1", OP_NEW, "anon_inode:[eventpoll]" },
	{ "eventfd", OP_NEW, "anon_inode:[eventfd]" }, { "eventfd2", OP_NEW, "anon_inode:[eventfd]" },
	{ "timerfd_create", OP_NEW, "anon_inode:[timerfd]" },
	{ "signalfd", OP_NEW, "anon_inode:[signalfd]" }, { "signalfd4", OP_NEW, "anon_inode:[signalfd]" },
	{ "inotify_init", OP_NEW, "anon_inode:inotify" }, { "inotify_init1", OP_NEW, "anon_inode:inotify" },
	{ "memfd_create", OP_MEMFD, "memfd" }, { "pidfd_open", OP_PIDFD, "anon_inode:[pidfd]" },
	{ "fork", OP_FORK, NULL }, { "vfork", OP_FORK, NULL }, { "clone", OP_FORK, NULL },
	{ "clone3", OP_FORK, NULL }, { "execve", OP_EXEC, NULL }, { "execveat", OP_EXEC, NULL },
	{ "exit", OP_EXIT, NULL }, { "exit_group", OP_EXIT_GROUP, NULL },
};

/* A class of events. */
struct class {
	const void *key;
	bool entry, exit;
	const struct call *call;	/* NULL: it changes no table */
	bool transfers;
	enum { NOTE_NONE, NOTE_FORK, NOTE_SCHED_FORK, NOTE_EXEC, NOTE_EXIT, NOTE_PROCESS, NOTE_FD } note;
};

struct process {
	const void *trace;
	int64_t pid;
	struct descriptor {
		uint32_t name;	/* string; 0: not open, or not known */
		bool cloexec;
	} **block;		/* of BLOCK descriptors each; NULL: none is open */
	uint32_t nr_blocks;
	bool unused;		/* a copy that clone made; its process or thread has had no event yet */
};

/* The system call that a thread is in. */
struct thread {
	const void *trace;
	int64_t tid;
	int64_t fd, new_fd, last, flags, cmd, arg;
	uint32_t file;
};

struct files_dump {
	const void *trace;
	int64_t table, pid;
};

static int compare_keys(const void *trace_a, int64_t a, const void *trace_b, int64_t b)
{
	return a != b ? (a < b ? -1 : 1) : trace_a == trace_b ? 0 : trace_a < trace_b ? -1 : 1;
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return compare_keys(x->trace, x->pid, y->trace, y->pid);
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return compare_keys(x->trace, x->tid, y->trace, y->tid);
}

static int compare_classes(const void *a, const void *b)
{
	const struct class *x = a, *y = b;

	return x->key == y->key ? 0 : (uintptr_t)x->key < (uintptr_t)y->key ? -1 : 1;
}

/* Returns the entry that is equal to @key, which is copied if there is none. */
static void *find(void **tree, const void *key, size_t size, int (*compare)(const void *, const void *))
{
	void *const *found = tfind(key, tree, compare);
	void *new;

	if (found)
		return *found;
	new = needed(malloc(size));
	memcpy(new, key, size);
	needed(tsearch(new, tree, compare));
	return new;
}

static struct process *process_of(struct files *files, const void *trace, int64_t pid)
{
	struct process key = { .trace = trace, .pid = pid };

	return find(&files->processes, &key, sizeof(key), compare_processes);
}

static bool is_known(struct files *files, const void *trace, int64_t pid)
{
	return tfind(&(struct process){ .trace = trace, .pid = pid }, &files->processes,
		     compare_processes);
}

void files_init(struct files *files, struct calls *to)
{
	*files = (struct files){ .calls = to, .fd = -1 };
}

static void free_blocks(struct process *process)
{
	while (process->nr_blocks)
		free(process->block[--process->nr_blocks]);
	free(process->block);
	process->block = NULL;
}

static void free_process(void *process)
{
	free_blocks(process);
	free(process);
}

void files_free(struct files *files)
{
	tdestroy(files->processes, free_process);
	tdestroy(files->threads, free);
	tdestroy(files->classes, free);
	free(files->dump);
}

/* ------------------------------------------------------------ tables */

/* Returns the place of a descriptor; NULL: none of its block is open. */
static struct descriptor *find_fd(const struct process *process, int64_t fd)
{
	return fd >= 0 && fd / BLOCK < process->nr_blocks && process->block[fd / BLOCK] ?
		&process->block[fd / BLOCK][fd % BLOCK] : NULL;
}

static void set(struct process *process, int64_t fd, uint32_t name, bool cloexec)
{
	struct descriptor *open = find_fd(process, fd);
	uint32_t i = (uint32_t)(fd / BLOCK);

	if (fd < 0 || fd >= MAX_FD || (!open && !name))
		return;
	if (i >= process->nr_blocks) {
		process->block = needed(realloc(process->block, (i + 1) * sizeof(*process->block)));
		while (process->nr_blocks <= i)
			process->block[process->nr_blocks++] = NULL;
	}
	if (!process->block[i])
		process->block[i] = needed(calloc(BLOCK, sizeof(*process->block[i])));
	process->block[i][fd % BLOCK] = (struct descriptor){ name, cloexec };
}

static uint32_t name_of(const struct process *process, int64_t fd)
{
	const struct descriptor *open = find_fd(process, fd);

	return open ? open->name : 0;
}

/* Closes the descriptors from @first to @last, or lets exec close them. */
static void close_range_of(struct process *process, int64_t first, int64_t last, bool on_exec)
{
	struct descriptor *open;
	int64_t fd;

	for (fd = first; fd >= 0 && fd / BLOCK < process->nr_blocks && fd <= last; fd++) {
		open = find_fd(process, fd);
		if (!open)
			fd |= BLOCK - 1;	/* the whole block */
		else if (on_exec)
			open->cloexec = true;
		else
			*open = (struct descriptor){ 0 };
	}
}

static void close_on_exec(struct process *process)
{
	uint32_t i, k;

	for (i = 0; i < process->nr_blocks; i++)
		for (k = 0; process->block[i] && k < BLOCK; k++)
			if (process->block[i][k].cloexec)
				process->block[i][k].name = 0;
}

static void forget_process(struct files *files, struct process *process)
{
	files->unused -= process->unused;
	tdelete(process, &files->processes, compare_processes);
	free_process(process);
}

/* Takes an event of a thread: the number that clone returned is not a process. */
static void forget_copy(struct files *files, const void *trace, int64_t tid)
{
	struct process *const *found = tfind(&(struct process){ .trace = trace, .pid = tid },
					     &files->processes, compare_processes);

	if (found && (*found)->unused)
		forget_process(files, *found);
}

static void copy_table(struct files *files, const void *trace, int64_t from, int64_t to)
{
	struct process *child = process_of(files, trace, to), *parent = process_of(files, trace, from);
	const struct descriptor *block;

	if (child == parent)
		return;		/* only in a damaged trace */
	free_blocks(child);
	if (!parent->nr_blocks)
		return;
	child->block = needed(calloc(parent->nr_blocks, sizeof(*child->block)));
	for (; child->nr_blocks < parent->nr_blocks; child->nr_blocks++) {
		block = parent->block[child->nr_blocks];
		if (block)
			child->block[child->nr_blocks] =
				memcpy(needed(malloc(BLOCK * sizeof(*block))), block, BLOCK * sizeof(*block));
	}
}

/* ------------------------------------------------------------ fields */

static int64_t number(const bt_event *event, const char *name, int64_t otherwise)
{
	int64_t value = otherwise;

	kunwind_field_integer(kunwind_event_field(event, name), &value);
	return value;
}

/* Returns the first of the fields that the event has; @otherwise: it has none. */
static int64_t first_number(const bt_event *event, const char *const *name, int64_t otherwise)
{
	int64_t value;

	for (; *name; name++) {
		if (kunwind_field_integer(kunwind_event_field(event, *name), &value))
			return (int32_t)value;
	}
	return otherwise;
}

static const char *path_field(const bt_event *event)
{
	static const char *const names[] = { "filename", "pathname", "path", "oldname" };
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		text = kunwind_field_string(kunwind_event_field(event, names[i]));
		if (text)
			return text;
	}
	return NULL;
}

/* Reads the two descriptors that the call returned in memory. */
static bool read_pair(const bt_event *event, int64_t *fd)
{
	static const char *const names[] = { "fildes", "socket", "usockvec" };
	const bt_field *field = NULL;
	uint64_t i;

	for (i = 0; !field && i < sizeof(names) / sizeof(names[0]); i++)
		field = kunwind_event_field(event, names[i]);
	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_ARRAY) ||
	    bt_field_array_get_length(field) != 2)
		return false;
	for (i = 0; i < 2; i++) {
		if (!kunwind_field_integer(bt_field_array_borrow_element_field_by_index_const(field, i),
					   &fd[i]))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------ events */

static const struct class *class_of(struct files *files, const bt_event *event, const char *name)
{
	static const struct {
		const char *name;
		int note;
	} notes[] = {
		{ "kunwind_fork", NOTE_FORK }, { "sched_process_fork", NOTE_SCHED_FORK },
		{ "kunwind_exec", NOTE_EXEC }, { "kunwind_exit", NOTE_EXIT },
		{ "lttng_statedump_process_state", NOTE_PROCESS },
		{ "lttng_statedump_file_descriptor", NOTE_FD },
	};
	static const char *const transfers[] = {
		"read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev",
		"preadv2", "pwritev2", "recvfrom", "sendto", "recvmsg", "sendmsg", "recv", "send",
		"sendfile64", "sendfile", "splice", "copy_file_range",
	};
	/* LTTng has one class for all calls that it does not know */
	const bool unknown = strstr(kunwind_event_name(event), "_unknown");
	struct class key = { .key = bt_event_borrow_class_const(event) };
	const char *call = kunwind_syscall_entered(name);
	void *const *found = unknown ? NULL : tfind(&key, &files->classes, compare_classes);
	static struct class other;
	size_t i;

	if (found)
		return *found;
	key.entry = call;
	if (!call)
		call = kunwind_syscall_left(name);
	key.exit = call && !key.entry;
	for (i = 0; call && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(call, calls[i].call))
			key.call = &calls[i];
	}
	for (i = 0; call && i < sizeof(transfers) / sizeof(transfers[0]); i++)
		key.transfers |= !strcmp(call, transfers[i]);
	for (i = 0; !call && i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (!strcmp(name, notes[i].name))
			key.note = notes[i].note;
	}
	if (!unknown)
		return find(&files->classes, &key, sizeof(key), compare_classes);
	other = key;
	return &other;
}

/* Returns the file of a path, which may be relative to the directory @dir. */
static uint32_t file_of_path(struct files *files, const struct process *process, const char *path,
			     int64_t dir)
{
	uint32_t above = *path == '/' ? 0 : name_of(process, dir), file;
	char *joined;

	if (!above)
		return calls_string(files->calls, path);
	if (!*path)
		return above;
	if (asprintf(&joined, "%s/%s", files->calls->string[above], path) < 0)
		joined = NULL;
	file = calls_string(files->calls, needed(joined));
	free(joined);
	return file;
}

uint32_t files_name(struct files *files, const void *trace, int64_t pid, int64_t fd)
{
	return name_of(process_of(files, trace, pid), fd);
}

static uint32_t file_of_fd(struct files *files, const struct process *process, int64_t fd)
{
	uint32_t name = name_of(process, fd);
	char text[64];

	if (name || fd < 0)
		return name;
	snprintf(text, sizeof(text), "fd %" PRId64 " of process %" PRId64, fd, process->pid);
	return calls_string(files->calls, text);
}

static void enter(struct files *files, const struct class *class, struct process *process,
		  struct thread *thread, const bt_event *event)
{
	static const char *const fds[] = { "fd", "fildes", "oldfd", "epfd", "in_fd", "fd_in", "ufd", NULL };
	static const char *const dirs[] = { "dfd", "olddfd", "dirfd", NULL };
	static const char *const flags[] = { "flags", "clone_flags", "type", NULL };
	const char *path = path_field(event);

	thread->fd = first_number(event, fds, -1);
	thread->new_fd = number(event, "newfd", -1);
	thread->last = (uint32_t)number(event, "max_fd", UINT32_MAX);
	thread->flags = first_number(event, flags, 0);
	thread->cmd = number(event, "cmd", -1);
	thread->arg = number(event, "arg", 0);
	if (path)
		thread->file = file_of_path(files, process, path, first_number(event, dirs, -1));
	else
		thread->file = file_of_fd(files, process, thread->fd);
	files->file = thread->file;
	files->fd = path ? -1 : thread->fd;
	files->transfers = class->transfers;
}

static void leave(struct files *files, const struct call *call, struct process *process,
		  const struct thread *thread, const bt_event *event)
{
	const int64_t result = number(event, "ret", -1);
	/* SOCK_CLOEXEC and others are equal to O_CLOEXEC */
	const bool cloexec = call->op == OP_PIDFD ||
			     thread->flags & (call->op == OP_MEMFD ? MEMFD_CLOEXEC : O_CLOEXEC);
	/* not file_of_fd(): "fd N of process PID" is no name for a copy */
	const uint32_t copied = name_of(process, thread->fd);
	int64_t pair[2], i;

	if (call->op == OP_CLOSE && result != -9)	/* EBADF; after other errors it is closed */
		set(process, thread->fd, 0, false);
	if (result < 0)
		return;
	switch (call->op) {
	case OP_OPEN:
		set(process, result, thread->file, cloexec);
		break;
	case OP_NEW:
	case OP_MEMFD:
	case OP_PIDFD:
		set(process, result, calls_string(files->calls, call->name), cloexec);
		break;
	case OP_CLOSE_RANGE:
		close_range_of(process, thread->fd, thread->last, thread->flags & RANGE_CLOEXEC);
		break;
	case OP_DUP:
		set(process, result, copied, false);
		break;
	case OP_DUP2:
		if (thread->fd != thread->new_fd)
			set(process, result, copied, cloexec);
		break;
	case OP_FCNTL:
		if (thread->cmd == F_DUPFD || thread->cmd == F_DUPFD_CLOEXEC)
			set(process, result, copied, thread->cmd == F_DUPFD_CLOEXEC);
		else if (thread->cmd == F_SETFD)
			set(process, thread->fd, copied, thread->arg & FD_CLOEXEC);
		break;
	case OP_PAIR:
		for (i = 0; read_pair(event, pair) && i < 2; i++)
			set(process, pair[i], calls_string(files->calls, call->name), cloexec);
		break;
	case OP_FORK:
		if (!result || thread->flags & CLONE_THREAD || is_known(files, process->trace, result))
			break;
		copy_table(files, process->trace, process->pid, result);
		process_of(files, process->trace, result)->unused = true;
		files->unused++;
		break;
	case OP_EXEC:
		close_on_exec(process);
		break;
	default:
		break;
	}
}

/*
 * Takes a process of LTTng's state dump, with the address of its table of
 * descriptors. The dump has an event for each thread: only the first one
 * counts.
 */
static void dump_process(struct files *files, const void *trace, const bt_event *event)
{
	const int64_t pid = number(event, "pid", -1);

	if (number(event, "tid", pid) != pid)
		return;
	if (files->nr_dump == files->cap_dump) {
		files->cap_dump = files->cap_dump ? files->cap_dump * 2 : 256;
		files->dump = needed(realloc(files->dump, files->cap_dump * sizeof(*files->dump)));
	}
	files->dump[files->nr_dump++] = (struct files_dump){
		.trace = trace, .table = number(event, "file_table_address", 0),
		.pid = pid,
	};
	files->dump_sorted = false;
}

static int compare_dumps(const void *a, const void *b)
{
	const struct files_dump *x = a, *y = b;

	return compare_keys(x->trace, x->table, y->trace, y->table);
}

static void dump_fd(struct files *files, const void *trace, const bt_event *event)
{
	const char *path = kunwind_field_string(kunwind_event_field(event, "filename"));
	const struct files_dump key = { .trace = trace, .table = number(event, "file_table_address", 0) };
	const int64_t fd = number(event, "fd", -1);
	const struct files_dump *found;
	struct process *process;
	uint32_t i;

	if (!path || !files->nr_dump)
		return;
	if (!files->dump_sorted)
		qsort(files->dump, files->nr_dump, sizeof(*files->dump), compare_dumps);
	files->dump_sorted = true;
	found = bsearch(&key, files->dump, files->nr_dump, sizeof(key), compare_dumps);
	if (!found)
		return;
	i = (uint32_t)(found - files->dump);
	while (i && !compare_dumps(&files->dump[i - 1], &key))
		i--;
	for (; i < files->nr_dump && !compare_dumps(&files->dump[i], &key); i++) {
		process = process_of(files, trace, files->dump[i].pid);
		/* what an event has set is newer */
		if (!name_of(process, fd))
			set(process, fd, calls_string(files->calls, path),
			    number(event, "flags", 0) & O_CLOEXEC);
	}
}

static void take_note(struct files *files, const struct class *class, const void *trace,
		      const bt_event *event)
{
	switch (class->note) {
	case NOTE_FORK:
		copy_table(files, trace, number(event, "parent", -1), number(event, "child", -1));
		break;
	case NOTE_SCHED_FORK:
		if (number(event, "child_pid", -1) == number(event, "child_tid", -2))
			copy_table(files, trace, number(event, "parent_pid", -1),
				   number(event, "child_pid", -1));
		break;
	case NOTE_EXEC:
		close_on_exec(process_of(files, trace, number(event, "tgid", -1)));
		break;
	case NOTE_EXIT:
		forget_process(files, process_of(files, trace, number(event, "tgid", -1)));
		break;
	case NOTE_PROCESS:
		dump_process(files, trace, event);
		break;
	case NOTE_FD:
		dump_fd(files, trace, event);
		break;
	default:
		break;
	}
}

void files_event(struct files *files, const void *trace, const bt_event *event,
		 const struct kunwind_head *head)
{
	const struct class *class = class_of(files, event, head->name);
	struct thread key = { .trace = trace, .tid = head->tid, .fd = -1 }, *thread;
	struct process *process;

	files->file = 0;
	files->fd = -1;
	files->transfers = false;
	if (class->note != NOTE_NONE) {
		take_note(files, class, trace, event);
		return;
	}
	if (head->tid < 0 || (!class->entry && !(class->exit && class->call)))
		return;
	if (files->unused && head->tid != head->pid)
		forget_copy(files, trace, head->tid);
	process = process_of(files, trace, head->pid);
	files->unused -= process->unused;
	process->unused = false;
	thread = find(&files->threads, &key, sizeof(key), compare_threads);
	if (class->entry)
		enter(files, class, process, thread, event);
	else
		leave(files, class->call, process, thread, event);
	if (class->entry && class->call && class->call->op >= OP_EXIT) {
		tdelete(thread, &files->threads, compare_threads);
		free(thread);
		if (class->call->op == OP_EXIT_GROUP)
			forget_process(files, process);
	}
}
