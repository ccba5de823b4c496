/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of libkunwind-symbolize share
 */
#ifndef KUNWIND_SYMBOLIZE_INTERNAL_H
#define KUNWIND_SYMBOLIZE_INTERNAL_H

#include <sys/types.h>

#include "libkunwind-symbolize.h"
#include "wire.h"

struct kunwind_maps;

/* ------------------------------------------------------------ process.c */

/* The helper process; started when first asked, and again after it was lost. */
struct kunwind_helper {
	const char *program;		/* NULL: where it is installed */
	unsigned int time_limit_ms, memory_limit_mb;
	pid_t pid;			/* 0: none */
	int socket;
	unsigned int generation;	/* of the process; it knows nothing of an earlier one */
	unsigned int failed;		/* starts in a row */
	uint64_t started, lost;
};

enum kunwind_asked {
	KUNWIND_ASKED,			/* there is an answer */
	KUNWIND_ASKED_DIED,		/* it died; another one will be started */
	KUNWIND_ASKED_SLOW,		/* it was killed for taking too long; likewise */
	KUNWIND_ASKED_NOBODY,		/* it cannot be started */
};

void kunwind_helper_stop(struct kunwind_helper *helper);

/*
 * One question. @reply has WIRE_MAX bytes; @len: out, at least sizeof(struct
 * wire_reply) when there is an answer. Descriptors stay the caller's.
 */
enum kunwind_asked kunwind_helper_ask(struct kunwind_helper *helper,
				      const struct wire_request *request, const int *fds,
				      unsigned int nr_fds, void *reply, size_t *len);

/*
 * The halves of it, for questions that are all sent before the first answer is
 * read. False: the process is lost (and stopped), with all that was asked.
 */
bool kunwind_helper_send(struct kunwind_helper *helper, const struct wire_request *request);
bool kunwind_helper_receive(struct kunwind_helper *helper, void *reply, size_t *len);

/* Is the process of that generation still there to be asked? */
bool kunwind_helper_lives(const struct kunwind_helper *helper, unsigned int generation);

/* A file from a debuginfod server, -1 none. @kind: "debuginfo" or "executable". */
int kunwind_helper_fetch(struct kunwind_helper *helper, const char *kind, const char *build_id);

/* ------------------------------------------------------------ find.c */

enum kunwind_state {
	KUNWIND_STATE_NEW = 0,		/* not tried */
	KUNWIND_STATE_OK,
	KUNWIND_STATE_ABSENT,		/* no such file, nor separate symbols for the build-id */
	KUNWIND_STATE_UNREADABLE,	/* not permitted, or no ELF file */
	KUNWIND_STATE_DIFFERS,		/* the file there has another build-id */
	KUNWIND_STATE_UNSURE,		/* no build-id to compare, and it is not the same inode */
	KUNWIND_STATE_CRASHED,		/* the helper died of it */
	KUNWIND_STATE_SLOW,		/* it took too long */
	KUNWIND_STATE_LARGE,		/* larger than the limit on memory */
	KUNWIND_STATE_NO_HELPER,
};

struct kunwind_found {
	int fd;				/* -1: none */
	char path[4200];
	struct wire_reply identity;
	char link[4097];		/* .gnu_debuglink, "" none */
};

/* The file that @object was mapped from, or one with its symbols. False: why is in @state. */
bool kunwind_find_object(struct kunwind_object *object, struct kunwind_found *found,
			 enum kunwind_state *state);

/* The file with its separate debug information, -1 none; its path in @path. */
int kunwind_find_debug(struct kunwind_object *object, const struct kunwind_found *main,
		       char *path, size_t size);

/* The file that dwz(1) moved common parts to: @name relative to the file at @from. */
int kunwind_find_alt(struct kunwind_object *object, const char *from, const char *name,
		     const uint8_t *id, unsigned int id_len);

/*
 * The .dwo file of a unit of @object, -1 none. @dir: its compilation directory, "" not
 * known. @package: out, it is the .dwp file of the object instead.
 */
int kunwind_find_split(struct kunwind_object *object, const char *dir, const char *name,
		       bool *package);

/* ------------------------------------------------------------ list.c */

/* Symbols from a text file: /proc/kallsyms, perf-PID.map. */
struct kunwind_list;

/* @sizes: lines are "start size name" (perf), else "start type name [module]". NULL: none. */
struct kunwind_list *kunwind_list_read(const char *path, bool sizes);
void kunwind_list_free(struct kunwind_list *list);

/* NULL: none. @start: out. */
const char *kunwind_list_find(const struct kunwind_list *list, uint64_t addr, uint64_t *start);

/* ------------------------------------------------------------ symbolizer.c */

struct kunwind_object {
	struct kunwind_object *next;	/* in its bucket */
	struct kunwind_symbolizer *symbolizer;
	char *path, *build_id;
	uint64_t inode;
	/* where else the file can be had while a process lives; 0: nowhere */
	int live_pid;
	uint64_t live_start, live_end;
	enum kunwind_state state;
	bool no_dwarf;			/* its debug information has proved deadly */
	enum kunwind_state dwarf_state;	/* how; OK: it has not */
	int slot;			/* number in the helper, -1 none */
	unsigned int generation;	/* of the helper that knows the slot */
	uint64_t used;			/* when, on the symbolizer's clock */
	const struct kunwind_backend *backend;	/* NULL: the one for ELF files */
	void *handle;			/* of that back end */
	struct kunwind_list *list;	/* a list of symbols instead of a file */
	bool own_vdso;			/* the vDSO of this host, known for that without a build-id */
};

struct kunwind_symbolizer {
	struct kunwind_symbolizer_options options;
	struct kunwind_helper helper;
	struct kunwind_object **bucket;
	struct kunwind_object **slot;	/* object by number in the helper */
	struct kunwind_object *kernel;
	struct kunwind_cache *cache;
	uint64_t clock;
	struct kunwind_symbolizer_stats stats;
	char reply[WIRE_MAX];
};

/* Says why @frame has no name, or answers from the cache, the back ends, the helper. */
void kunwind_resolve(struct kunwind_object *object, uint64_t address, bool exact,
		     struct kunwind_frame *frame);

/* Asks the helper about several at once, so that kunwind_resolve() finds them in the cache. */
struct kunwind_wanted {
	struct kunwind_object *object;
	uint64_t address;
	bool exact;
};
#define KUNWIND_WANTED_MAX	64
void kunwind_prefetch(struct kunwind_symbolizer *symbolizer, const struct kunwind_wanted *wanted,
		      unsigned int nr);

/* Forgets old answers, when there are many: all frames given so far become invalid. */
void kunwind_cache_trim(struct kunwind_symbolizer *symbolizer);

/* ------------------------------------------------------------ cache.c */

struct kunwind_cache;

struct kunwind_cache *kunwind_cache_new(void);
void kunwind_cache_free(struct kunwind_cache *cache);
void kunwind_cache_clear(struct kunwind_cache *cache);

/* More than a cache should hold? */
bool kunwind_cache_full(const struct kunwind_cache *cache);

/* NULL: not there. */
const struct kunwind_frame *kunwind_cache_find(const struct kunwind_cache *cache,
					       const struct kunwind_object *object,
					       uint64_t address, bool exact);

/* An answer to which functions are added; then it is kept. NULL: out of memory. */
struct kunwind_answer *kunwind_answer_begin(struct kunwind_cache *cache);
const struct kunwind_frame *kunwind_answer_keep(struct kunwind_cache *cache,
						const struct kunwind_frame *frame, bool exact);

/* ------------------------------------------------------------ live.c */

/* Tells @history the mappings of a process that runs, when it is the one of @who. */
void kunwind_live_load(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
		       const struct kunwind_who *who, int pid);

/* When a process that runs was started, nanoseconds since 1970; -1: there is none. */
int64_t kunwind_live_started(int pid, const char *comm);

#endif /* KUNWIND_SYMBOLIZE_INTERNAL_H */
