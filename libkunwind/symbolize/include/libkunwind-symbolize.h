/* SPDX-License-Identifier: MIT */
/*
 * libkunwind-symbolize.h - functions, inlined functions and lines for addresses
 *
 * The library has three parts. A symbolizer finds ELF objects and their
 * symbols. A history knows what each process of one trace had mapped, where and
 * when. Frames are the answers. Objects are identified by build-id: no name is
 * taken from a file with another build-id. If an address has no name, its frame
 * has the object (if known) and says why.
 *
 *	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
 *	struct kunwind_history *history = kunwind_history_new(symbolizer);
 *
 *	kunwind_history_map(history, time, &mapping);	...and so on, in order of time
 *	kunwind_history_stack(history, &who, addresses, nr, frames);
 *
 * Another process parses the ELF files. It can do little more than compute, and
 * has limits on memory and time. If a file kills it, only the names from that
 * file are lost. The library itself needs only libc, and prints nothing.
 * Functions that return bool return false only when out of memory, unless their
 * comments say otherwise. Only one thread at a time may use a symbolizer and
 * what belongs to it.
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
struct kunwind_symbolizer_object;		/* an ELF object (or other code), by path and build-id */
struct kunwind_history;
struct kunwind_backend;

/* ------------------------------------------------------------ symbolizer */

enum kunwind_symbolizer_flags {
	KUNWIND_NO_DWARF = 1,		/* use symbol tables only: no inlined functions, no lines */
	KUNWIND_NO_DEBUGINFOD = 2,	/* ask no server, even if DEBUGINFOD_URLS is set */
	KUNWIND_NO_LOCAL = 4,		/* use only debug_dirs and servers, not this host's files */
};

struct kunwind_symbolizer_options {
	size_t size;			/* of this structure, as compiled into the caller */
	unsigned int flags;
	/*
	 * CPU time of the helper for one question, and time until a file system that
	 * does not answer is given up (at least 1,000); 0: 10,000
	 */
	unsigned int time_limit_ms;
	unsigned int memory_limit_mb;	/* address space of the helper process; 0: 4,096 */
	/*
	 * NULL-terminated list of directories, or NULL. They are searched
	 * before this host's own files and /usr/lib/debug. Each may hold
	 * objects at their full path, and objects or .debug files below
	 * .build-id/ or at their full path.
	 */
	const char *const *debug_dirs;
	const char *kallsyms;		/* file with the kernel's symbols; NULL: /proc/kallsyms */
	const char *perf_map_dir;	/* directory of perf-PID.map files; NULL: /tmp */
	/* NULL: $KUNWIND_SYMBOLIZE_HELPER, or the helper that is installed */
	const char *helper;
	const struct kunwind_backend *const *backends;	/* NULL-terminated, asked first; or NULL */
};

/*
 * @options: NULL for the defaults. The library copies them, except the
 * backends, which must outlive the symbolizer. Returns NULL when out of memory.
 */
struct kunwind_symbolizer *kunwind_symbolizer_new(const struct kunwind_symbolizer_options *options);

/* Free its histories first. */
void kunwind_symbolizer_free(struct kunwind_symbolizer *symbolizer);

struct kunwind_symbolizer_stats {
	uint64_t asked;			/* addresses looked up; a prefetched one counts twice */
	uint64_t cached;		/* of these, answered from the cache */
	uint64_t objects, opened;	/* objects known; files opened for them, also again */
	uint64_t helper_started;	/* helper processes started */
	uint64_t helper_lost;		/* of these: died, or were killed as too slow */
};
void kunwind_symbolizer_stats(const struct kunwind_symbolizer *symbolizer,
			      struct kunwind_symbolizer_stats *stats);

/* ------------------------------------------------------------ frames */

struct kunwind_function {
	const char *name;	/* demangled; NULL if only the line or the offset is known */
	const char *file;	/* source file; NULL: not known */
	unsigned int line, column;	/* 0: not known */
	bool inlined;		/* inlined into the next function of the list */
	uint64_t offset;	/* of the address in the function, in bytes; 0 if inlined */
};

struct kunwind_frame {
	uint64_t address;		/* as given by the caller */
	const struct kunwind_symbolizer_object *object;	/* NULL: no mapping known */
	uint64_t object_address;	/* ELF virtual address in the object */
	/* innermost inlined function first, the function itself last */
	const struct kunwind_function *function;
	unsigned int nr_functions;	/* 0: nothing is known; 1 may be without a name */
	bool trampoline;	/* of a signal: the next frame was interrupted, it did not call */
	bool entry;		/* outermost function of a process or thread */
	/* why a name, a line or inlined functions are missing; NULL: nothing is wrong */
	const char *why;
};

/*
 * Returns the function that the machine code belongs to; NULL: not known. Without
 * a symbol, it may have no name, and an offset from its start by unwind information.
 */
static inline const struct kunwind_function *kunwind_frame_function(const struct kunwind_frame *frame)
{
	return frame->nr_functions ? &frame->function[frame->nr_functions - 1] : NULL;
}

/* Of frame->object; never NULL. The build-id is "" if none is known. */
const char *kunwind_object_path(const struct kunwind_symbolizer_object *object);
const char *kunwind_object_build_id(const struct kunwind_symbolizer_object *object);

/* Opens the object. Returns why it lacks names; NULL: nothing is wrong. */
const char *kunwind_object_why(struct kunwind_symbolizer_object *object);

/*
 * Values of kunwind_object_why(), and of a frame's why: the helper process failed, or
 * the file was not read. Such an object may lack names that its file has.
 */
#define KUNWIND_WHY_NO_HELPER	"kunwind-symbolize-helper does not start"
#define KUNWIND_WHY_CRASHED	"the parser died of this file"
#define KUNWIND_WHY_SLOW	"parsing this file took too long"
#define KUNWIND_WHY_LARGE	"file larger than the limit on memory"
#define KUNWIND_WHY_FOREIGN	"file of another user, who may not be believed"
#define KUNWIND_WHY_HANGS	"file system does not answer"

/* ------------------------------------------------------------ one object */

/**
 * kunwind_symbolizer_object() - an object by its path and build-id
 * @path: as in /proc/PID/maps; "[vdso]" for the vDSO
 * @build_id: lower-case hex; "" if there is none or it is not known. Text that is
 *	not the hex of 1 to 64 bytes counts as "".
 * @inode: of the mapped file, 0: not known; used only without a build-id
 *
 * This opens no file yet. The same arguments give the same pointer, which is
 * valid as long as the symbolizer. Returns NULL when out of memory.
 */
struct kunwind_symbolizer_object *kunwind_symbolizer_object(struct kunwind_symbolizer *symbolizer,
						 const char *path, const char *build_id,
						 uint64_t inode);

/*
 * Finds the ELF virtual address of the code at @offset in the file. False: the
 * file could not be opened, or no executable segment holds @offset.
 */
bool kunwind_object_address(struct kunwind_symbolizer_object *object, uint64_t offset, uint64_t *address);

/**
 * kunwind_object_resolve() - the functions that hold one address
 * @address: ELF virtual address
 * @exact: false for a return address, which belongs to the call before it
 * @frame: out; valid until the next call with this symbolizer
 */
void kunwind_object_resolve(struct kunwind_symbolizer_object *object, uint64_t address, bool exact,
			    struct kunwind_frame *frame);

/* ------------------------------------------------------------ kernel */

struct kunwind_kernel;		/* the symbols of one boot of a kernel, and of its modules */

/*
 * @text: as in /proc/kallsyms, from malloc(3); the library frees it. NULL:
 * options->kallsyms, or the running kernel. Returns NULL when out of memory. A
 * text without symbols is no error. The kernel shows its addresses as zeros to
 * users other than root; then there are no symbols. Free it before the symbolizer.
 */
struct kunwind_kernel *kunwind_kernel_new(struct kunwind_symbolizer *symbolizer, char *text);
void kunwind_kernel_free(struct kunwind_kernel *kernel);
bool kunwind_kernel_has_symbols(const struct kunwind_kernel *kernel);

/**
 * kunwind_kernel_stack() - names for a kernel stack, innermost frame first
 * The stack must be of the boot that the symbols are of. The first address is
 * where the kernel was, each further one a return address. The path of a frame's
 * object is "[kernel]" or "[MODULE]"; object_address is the address itself.
 * @frames: out, @nr of them; valid until the next call with this kernel
 */
bool kunwind_kernel_stack(struct kunwind_kernel *kernel, const uint64_t *address, size_t nr,
			  struct kunwind_frame *frames);

/* The same for options->kallsyms, or else the running kernel. */
bool kunwind_symbolizer_kernel(struct kunwind_symbolizer *symbolizer, const uint64_t *address,
			       size_t nr, struct kunwind_frame *frames);

/* ------------------------------------------------------------ history */

/* One for each trace: in another boot, process ids mean other processes. */
struct kunwind_history *kunwind_history_new(struct kunwind_symbolizer *symbolizer);
void kunwind_history_free(struct kunwind_history *history);

struct kunwind_mapping {
	int pid;		/* thread group id, in the initial pid namespace */
	int own_pid;		/* the same in its own pid namespace; 0: not known */
	uint64_t start, end;	/* [start, end) in the process */
	uint64_t offset;	/* of start in the file */
	uint64_t bias;		/* address - bias = ELF virtual address */
	uint64_t inode;		/* 0: not known */
	const char *path, *build_id;	/* as for kunwind_symbolizer_object() */
};

/*
 * These take the fields of the events kunwind_map, _unmap, _exec, _fork and
 * _exit, in order of time (nanoseconds; equal times keep their order). Pass all
 * events before the first question if possible: the history can then look ahead
 * for mappings that the trace reports late (a state dump). Questions between
 * the events are allowed.
 */
bool kunwind_history_map(struct kunwind_history *history, int64_t time,
			 const struct kunwind_mapping *mapping);
bool kunwind_history_unmap(struct kunwind_history *history, int64_t time, int pid,
			   uint64_t start, uint64_t end);
bool kunwind_history_exec(struct kunwind_history *history, int64_t time, int pid);
bool kunwind_history_fork(struct kunwind_history *history, int64_t time, int parent, int child,
			  int own_child);
bool kunwind_history_exit(struct kunwind_history *history, int64_t time, int pid);

/*
 * Adds the mappings of code in the file @path, which has the format of
 * /proc/PID/maps, to a process without events. They hold for all times. Their
 * objects have no build-id, so names come from files with the same inode.
 * Returns the number of mappings, or -1 if the file cannot be read (errno).
 */
int kunwind_history_read_maps(struct kunwind_history *history, int pid, const char *path);

struct kunwind_who {
	int pid;		/* thread group id; -1: not known */
	bool own_number;	/* pid is of its own pid namespace (LTTng's vpid) */
	bool called;		/* the first address of a stack is a return address, too */
	/*
	 * The trace is of this host and boot. If the history does not know the
	 * process, the library reads /proc, and uses a process only if it is
	 * named comm and started before time.
	 */
	bool live;
	const char *comm;	/* NULL or "": any name */
	int64_t time;		/* nanoseconds since 1970; fast if it increases from call to call */
};

/**
 * kunwind_history_process() - the process that is meant
 * @address: one where it had code: tells apart processes that have one number
 *           in several pid namespaces
 * Return: its number in the initial pid namespace; -1: not known.
 */
int kunwind_history_process(struct kunwind_history *history, const struct kunwind_who *who,
			    uint64_t address);

/* Does the history, or a live process, know @pid (of the initial namespace)? */
bool kunwind_history_knows(const struct kunwind_history *history, int pid);

/**
 * kunwind_history_stack() - names for a stack, innermost frame first
 * The first address is where the program was, unless who->called. Each further one is a
 * return address, except that of a frame that a signal interrupted.
 * @frames: out, @nr of them; valid until the next call with this symbolizer
 */
bool kunwind_history_stack(struct kunwind_history *history, const struct kunwind_who *who,
			   const uint64_t *address, size_t nr, struct kunwind_frame *frames);

/**
 * kunwind_history_resolve() - names for one address of a process
 * @exact: false for a return address, which belongs to the call before it
 * @frame: out; valid until the next call with this symbolizer
 */
void kunwind_history_resolve(struct kunwind_history *history, const struct kunwind_who *who,
			     uint64_t address, bool exact, struct kunwind_frame *frame);

/* ------------------------------------------------------------ back ends */

/* The answer that a back end writes. */
struct kunwind_answer;

/*
 * Appends a function: innermost inlined first, the function itself last. A
 * frame has at most 64: the innermost 63 and the last one. Strings are copied.
 */
bool kunwind_answer_add(struct kunwind_answer *answer, const struct kunwind_function *function);

struct kunwind_backend {
	size_t size;		/* of this structure */
	const char *name;
	void *data;
	/*
	 * Called at the first question about an object. Returns a handle, or
	 * NULL if the object is not this back end's: then the next one is
	 * asked, and last the helper for ELF files.
	 */
	void *(*open)(void *data, const char *path, const char *build_id);
	/*
	 * @address is an ELF virtual address; of a return address, one less.
	 * False: no name for this address. No other back end is asked.
	 */
	bool (*resolve)(void *object, uint64_t address, struct kunwind_answer *answer);
	void (*close)(void *object);
};

#ifdef __cplusplus
}
#endif

#endif /* LIBKUNWIND_SYMBOLIZE_H */
