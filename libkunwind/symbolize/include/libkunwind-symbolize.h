/* SPDX-License-Identifier: MIT */
/*
 * libkunwind-symbolize.h - functions, inlined functions and lines for addresses
 *
 * Three things: a symbolizer, which finds ELF objects and their symbols; a
 * history, which knows what was mapped where in each process of one trace, and
 * when; and frames, the answers. An object is known by its build-id: no name is
 * ever taken from another one. What cannot be named stays an address with its
 * object, and says why.
 *
 *	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
 *	struct kunwind_history *history = kunwind_history_new(symbolizer);
 *
 *	kunwind_history_map(history, time, &mapping);	...and so on, in order of time
 *	kunwind_history_stack(history, &who, addresses, nr, frames);
 *
 * ELF files are parsed in another process, which may do little but compute, with
 * limits on memory and time; a file that kills it costs its own names. The
 * library itself needs libc only. Nothing is printed. Functions that return bool
 * return false when out of memory and for no other reason. One symbolizer, with
 * all that belongs to it, is for one thread at a time.
 */
#ifndef LIBKUNWIND_SYMBOLIZE_H
#define LIBKUNWIND_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kunwind_symbolizer;
struct kunwind_object;		/* an ELF object (or other code) by path and build-id */
struct kunwind_history;
struct kunwind_backend;

/* ------------------------------------------------------------ symbolizer */

enum kunwind_symbolizer_flags {
	KUNWIND_NO_DWARF = 1,		/* symbol tables only: no inlined functions, no lines */
	KUNWIND_NO_DEBUGINFOD = 2,	/* ask no server, whatever DEBUGINFOD_URLS says */
	KUNWIND_NO_LOCAL = 4,		/* only debug_dirs and servers, not this host's own files */
};

struct kunwind_symbolizer_options {
	size_t size;			/* of this structure, as the caller knows it */
	unsigned int flags;
	unsigned int time_limit_ms;	/* for one question to the helper process; 0: 10,000 */
	unsigned int memory_limit_mb;	/* address space of the helper process; 0: 4,096 */
	/*
	 * NULL-terminated; asked before this host's own files and /usr/lib/debug.
	 * Each may hold objects at their full path, and objects or .debug files
	 * below .build-id/ or at their full path. NULL: none.
	 */
	const char *const *debug_dirs;
	const char *kallsyms;		/* the kernel's symbols; NULL: /proc/kallsyms */
	const char *perf_map_dir;	/* where perf-PID.map files are; NULL: /tmp */
	/* the helper program; NULL: $KUNWIND_SYMBOLIZE_HELPER, or where it is installed */
	const char *helper;
	const struct kunwind_backend *const *backends;	/* NULL-terminated, asked first; or NULL */
};

/* @options: NULL for the defaults; copied, but not the backends. NULL: out of memory. */
struct kunwind_symbolizer *kunwind_symbolizer_new(const struct kunwind_symbolizer_options *options);

/* Free histories first. */
void kunwind_symbolizer_free(struct kunwind_symbolizer *symbolizer);

struct kunwind_symbolizer_stats {
	uint64_t asked;			/* addresses */
	uint64_t cached;		/* answered from the cache */
	uint64_t objects, opened;	/* objects known; with a file that proved to be the one */
	uint64_t helper_started;	/* helper processes */
	uint64_t helper_lost;		/* of those, died or were killed for taking too long */
};
void kunwind_symbolizer_stats(const struct kunwind_symbolizer *symbolizer,
			      struct kunwind_symbolizer_stats *stats);

/* ------------------------------------------------------------ frames */

struct kunwind_function {
	const char *name;	/* demangled; NULL when only the line is known */
	const char *file;	/* of the source; NULL not known */
	unsigned int line, column;	/* 0 not known */
	bool inlined;		/* into the function that follows in the list */
	uint64_t offset;	/* of the address in the function, bytes; 0 when inlined */
};

struct kunwind_frame {
	uint64_t address;		/* as asked */
	const struct kunwind_object *object;	/* NULL: no mapping known */
	uint64_t object_address;	/* ELF virtual address in the object */
	/* innermost inlined function first, the function itself last */
	const struct kunwind_function *function;
	unsigned int nr_functions;	/* 0: no name */
	bool trampoline;	/* of a signal: the next frame was interrupted, it did not call */
	bool entry;		/* outermost function of a process or thread */
	/* why there is no name, or no line where one could be hoped for; NULL: nothing amiss */
	const char *why;
};

/* The function that the machine code belongs to; NULL: no name. */
static inline const struct kunwind_function *kunwind_frame_function(const struct kunwind_frame *frame)
{
	return frame->nr_functions ? &frame->function[frame->nr_functions - 1] : NULL;
}

/* Of @frame->object; never NULL; "" when there is no build-id or it is not known. */
const char *kunwind_object_path(const struct kunwind_object *object);
const char *kunwind_object_build_id(const struct kunwind_object *object);

/* What is wrong with it as a source of names: a few words; NULL: nothing. Opens it. */
const char *kunwind_object_why(struct kunwind_object *object);

/* ------------------------------------------------------------ one object */

/**
 * kunwind_symbolizer_object() - an object by its path and build-id
 * @path: as in /proc/PID/maps; "[vdso]" for the vDSO
 * @build_id: lower-case hex; "" when there is none or it is not known
 * @inode: of the mapped file, 0 unknown; is looked at only without a build-id
 *
 * Opens nothing yet. The same arguments give the same pointer, which lives as
 * long as the symbolizer. NULL: out of memory.
 */
struct kunwind_object *kunwind_symbolizer_object(struct kunwind_symbolizer *symbolizer,
						 const char *path, const char *build_id,
						 uint64_t inode);

/*
 * The ELF virtual address of the code at @offset in the file. False: it could
 * not be opened, or no executable segment holds @offset.
 */
bool kunwind_object_address(struct kunwind_object *object, uint64_t offset, uint64_t *address);

/**
 * kunwind_object_resolve() - the functions that hold one address
 * @address: ELF virtual address
 * @exact: false for a return address, which belongs to the call before it
 * @frame: out; valid until the next call with this symbolizer
 */
void kunwind_object_resolve(struct kunwind_object *object, uint64_t address, bool exact,
			    struct kunwind_frame *frame);

/**
 * kunwind_symbolizer_kernel() - frames of a kernel stack, innermost first
 * For a kernel that runs now, or whose kallsyms were given. As
 * kunwind_history_stack() otherwise.
 */
bool kunwind_symbolizer_kernel(struct kunwind_symbolizer *symbolizer, const uint64_t *address,
			       size_t nr, struct kunwind_frame *frames);

/* ------------------------------------------------------------ history */

/* One for each trace: another may be of another boot, with the same process numbers. */
struct kunwind_history *kunwind_history_new(struct kunwind_symbolizer *symbolizer);
void kunwind_history_free(struct kunwind_history *history);

struct kunwind_mapping {
	int pid;		/* thread group, in the initial pid namespace */
	int own_pid;		/* the same in its own pid namespace; 0 not known */
	uint64_t start, end;	/* [start, end) in the process */
	uint64_t offset;	/* of start in the file */
	uint64_t bias;		/* address - bias = ELF virtual address */
	uint64_t inode;		/* 0 not known */
	const char *path, *build_id;	/* as for kunwind_symbolizer_object() */
};

/*
 * The fields of the events kunwind_map, _unmap, _exec, _fork and _exit, in order
 * of time (nanoseconds; equal times keep their order). All that is known should
 * be told before the first question: what the trace told too late (a state dump)
 * is then found by looking ahead. Questions may alternate with it all the same.
 */
bool kunwind_history_map(struct kunwind_history *history, int64_t time,
			 const struct kunwind_mapping *mapping);
bool kunwind_history_unmap(struct kunwind_history *history, int64_t time, int pid,
			   uint64_t start, uint64_t end);
bool kunwind_history_exec(struct kunwind_history *history, int64_t time, int pid);
bool kunwind_history_fork(struct kunwind_history *history, int64_t time, int parent, int child,
			  int own_child);
bool kunwind_history_exit(struct kunwind_history *history, int64_t time, int pid);

struct kunwind_who {
	int pid;		/* thread group; -1 not known */
	bool own_number;	/* pid is the one of its own pid namespace (LTTng's vpid) */
	/*
	 * The trace is of this host and boot: /proc is asked about a process that
	 * the history does not know, and that started before time as comm.
	 */
	bool live;
	const char *comm;	/* NULL or "": any */
	int64_t time;		/* nanoseconds since 1970; must not go back */
};

/**
 * kunwind_history_process() - which process is meant
 * @address: one that it had code at, which tells processes with one number in
 *           several pid namespaces apart
 * Return: its number in the initial pid namespace; -1: not known.
 */
int kunwind_history_process(struct kunwind_history *history, const struct kunwind_who *who,
			    uint64_t address);

/* Does the history, or a process that lives, tell anything about @pid (of the initial namespace)? */
bool kunwind_history_knows(const struct kunwind_history *history, int pid);

/**
 * kunwind_history_stack() - names for a stack, innermost frame first
 * The first address is where the program stood, each further one a return
 * address, but for one that a signal interrupted.
 * @frames: out, @nr of them; valid until the next call with this symbolizer
 */
bool kunwind_history_stack(struct kunwind_history *history, const struct kunwind_who *who,
			   const uint64_t *address, size_t nr, struct kunwind_frame *frames);

/* ------------------------------------------------------------ back ends */

/* Where a back end writes its answer. */
struct kunwind_answer;

/* Appends a function: innermost inlined first, the function itself last. Strings are copied. */
bool kunwind_answer_add(struct kunwind_answer *answer, const struct kunwind_function *function);

struct kunwind_backend {
	size_t size;		/* of this structure */
	const char *name;
	void *data;
	/*
	 * An object that is asked about for the first time. NULL: not mine, the
	 * next back end is asked, at last the one for ELF files.
	 */
	void *(*open)(void *data, const char *path, const char *build_id);
	/* False: no name for this address, and no other back end is asked. */
	bool (*resolve)(void *object, uint64_t address, struct kunwind_answer *answer);
	void (*close)(void *object);
};

#ifdef __cplusplus
}
#endif

#endif /* LIBKUNWIND_SYMBOLIZE_H */
