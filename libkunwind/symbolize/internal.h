/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of libkunwind-symbolize share
 */
#ifndef KUNWIND_SYMBOLIZE_INTERNAL_H
#define KUNWIND_SYMBOLIZE_INTERNAL_H

#include <sys/types.h>

#include "libkunwind-symbolize.h"
#include "opener.h"
#include "wire.h"

struct kunwind_maps;

/* ------------------------------------------------------------ process.c */

/* The helper process, and the opener. The first question, and one after a loss, starts it. */
struct kunwind_helper {
	const char *program;		/* NULL: child.c searches for it */
	unsigned int time_limit_ms, memory_limit_mb;
	struct kunwind_child child;
	struct kunwind_opener opener;
	unsigned int generation;	/* counts the processes; a new one has no open objects */
	unsigned int failed;		/* starts that failed in a row */
	uint64_t started, lost;
};

enum kunwind_asked {
	KUNWIND_ASKED,			/* there is an answer */
	KUNWIND_ASKED_DIED,		/* it died; the next question starts another one */
	KUNWIND_ASKED_SLOW,		/* it took too long and was killed; likewise */
	KUNWIND_ASKED_HANGS,		/* it waits for a file system that hangs; likewise */
	KUNWIND_ASKED_NOBODY,		/* it cannot be started */
};

void kunwind_helper_stop(struct kunwind_helper *helper);

/* Starts it if it does not run. @reply: room for WIRE_MAX bytes. False: it does not start. */
bool kunwind_helper_ensure(struct kunwind_helper *helper, void *reply);

/*
 * Asks one question. @reply: room for WIRE_MAX bytes. @len: out, if there is an
 * answer: its length, at least sizeof(struct wire_reply).
 */
enum kunwind_asked kunwind_helper_ask(struct kunwind_helper *helper, const struct wire_request *request,
				      void *reply, size_t *len);

/*
 * The same for a question with the file in the opener's slot @slot, and that in
 * @other (WIRE_NOBODY: none). @flags: 0 or WIRE_OPEN_LEND.
 */
enum kunwind_asked kunwind_helper_give(struct kunwind_helper *helper, const struct wire_request *request,
				       uint32_t slot, uint32_t other, unsigned int flags, void *reply,
				       size_t *len);

/*
 * The two halves of kunwind_helper_ask(), to send several requests before the
 * first answer is read. They start no process. False: the process is lost and
 * stopped, and so are all its answers; or there was none.
 */
bool kunwind_helper_send(struct kunwind_helper *helper, const struct wire_request *request);
bool kunwind_helper_receive(struct kunwind_helper *helper, void *reply, size_t *len);

/* Is the process of that generation still in use? */
bool kunwind_helper_lives(const struct kunwind_helper *helper, unsigned int generation);

/* Opens a file in a slot of the opener: kunwind_opener_open(). */
enum kunwind_opening kunwind_helper_open(struct kunwind_helper *helper, const struct wire_open *request,
					 struct wire_opened *opened);

/*
 * Sets @path to a file from a debuginfod server; false: there is none. @kind:
 * "debuginfo" or "executable". Waits at most five minutes.
 */
bool kunwind_helper_fetch(struct kunwind_helper *helper, const char *kind, const char *build_id,
			  char *path, size_t size);

/* ------------------------------------------------------------ find.c */

enum kunwind_state {
	KUNWIND_STATE_NEW = 0,		/* not tried */
	KUNWIND_STATE_OK,
	KUNWIND_STATE_ABSENT,		/* no such file, and no separate symbols for the build-id */
	KUNWIND_STATE_UNREADABLE,	/* not permitted, or not an ELF file */
	KUNWIND_STATE_DIFFERS,		/* the file there has another build-id */
	KUNWIND_STATE_UNSURE,		/* no build-id to compare, and not the same inode */
	KUNWIND_STATE_CRASHED,		/* the helper died from it */
	KUNWIND_STATE_SLOW,		/* it took too long */
	KUNWIND_STATE_LARGE,		/* larger than the helper's limit on memory */
	KUNWIND_STATE_FOREIGN,		/* of another user, who is not believed */
	KUNWIND_STATE_HANGS,		/* its file system does not answer */
	KUNWIND_STATE_PACKED,		/* compressed in a form that libelf cannot read */
	KUNWIND_STATE_NO_HELPER,
};

/* Slots of the opener. */
enum kunwind_slot { KUNWIND_SLOT_MAIN, KUNWIND_SLOT_DEBUG, KUNWIND_SLOT_OTHER };

struct kunwind_found_file {
	uint32_t owner;			/* of the file */
	char path[4200];
	struct wire_reply identity;
	char link[4097];		/* .gnu_debuglink; "": none */
};

/*
 * Finds the file of @object, or one with its symbols unless @code, and opens it in
 * KUNWIND_SLOT_MAIN. False: see @state.
 */
bool kunwind_find_object(struct kunwind_symbolizer_object *object, bool code,
			 struct kunwind_found_file *found, enum kunwind_state *state);

/*
 * Opens the file with separate debug information in KUNWIND_SLOT_DEBUG. Sets @path.
 * False: there is none.
 */
bool kunwind_find_debug(struct kunwind_symbolizer_object *object, const struct kunwind_found_file *main,
			char *path, size_t size);

/*
 * Opens the file with dwz(1)'s common parts in KUNWIND_SLOT_OTHER. @name is relative
 * to @from. False: there is none.
 */
bool kunwind_find_alt(struct kunwind_symbolizer_object *object, const char *from, const char *name,
		      const uint8_t *id, unsigned int id_len);

/*
 * Opens the .dwo file of a unit of @object in KUNWIND_SLOT_OTHER. False: there is
 * none. @dir: the unit's compilation directory, "" if not known. @package: out, true
 * if the file is the .dwp file of the object instead.
 */
bool kunwind_find_split(struct kunwind_symbolizer_object *object, const char *dir, const char *name,
			bool *package);

/* ------------------------------------------------------------ list.c */

/* Symbols from a text file: /proc/kallsyms or perf-PID.map. */
struct kunwind_list;

/*
 * Reads a list. @sizes: true for lines "start size name" (perf), false for
 * lines "start type name [module]". Returns NULL if there are no symbols.
 */
struct kunwind_list *kunwind_list_read(const char *path, bool sizes);
/* The same for an open file, which stays the caller's. */
struct kunwind_list *kunwind_list_read_fd(int fd, bool sizes);
/* The same for a text from malloc(3), which the list takes. @text may be NULL. */
struct kunwind_list *kunwind_list_parse(char *text, bool sizes);
void kunwind_list_free(struct kunwind_list *list);

/*
 * Returns the symbol that holds @addr, NULL if there is none. @start: out.
 * @module: out, "[module]", or "" for the kernel itself.
 */
const char *kunwind_list_find(const struct kunwind_list *list, uint64_t addr, uint64_t *start,
			      const char **module);

/* ------------------------------------------------------------ object.c */

#define KUNWIND_MAX_OPEN	256	/* files in the helper at a time */
#define KUNWIND_BUCKETS		1024	/* of the hash of objects */

struct kunwind_symbolizer_object {
	struct kunwind_symbolizer_object *next;	/* in its bucket */
	struct kunwind_symbolizer *symbolizer;
	char *path, *build_id;
	uint64_t inode;
	/* a live process that maps the file, and where; live_pid 0: none */
	int live_pid;
	uint64_t live_start, live_end;
	enum kunwind_state state;
	bool no_dwarf;			/* the helper was lost over its debug information */
	enum kunwind_state dwarf_state;	/* how the helper was lost, or PACKED; OK: neither */
	int slot;			/* number in the helper; -1: none */
	unsigned int generation;	/* of the helper process that knows the slot */
	uint64_t used;			/* time of last use, on the symbolizer's clock */
	const struct kunwind_backend *backend;	/* NULL: the helper */
	void *handle;			/* the back end's handle */
	struct kunwind_list *list;	/* symbols from a text file; then there is no ELF file */
	bool own_vdso;			/* the vDSO of this host: needs no build-id */
	uint32_t owner;			/* of its file; WIRE_NOBODY: not known */
};

struct kunwind_symbolizer {
	struct kunwind_symbolizer_options options;
	struct kunwind_helper helper;
	struct kunwind_symbolizer_object **bucket;
	struct kunwind_symbolizer_object **slot;	/* objects by their number in the helper */
	struct kunwind_kernel *kernel;	/* of kunwind_symbolizer_kernel() */
	struct kunwind_cache *cache;
	uint64_t clock;
	struct kunwind_symbolizer_stats stats;
	char reply[WIRE_MAX];
};

void kunwind_object_free(struct kunwind_symbolizer_object *object);

/* Returns what a state means, for people; NULL: nothing is wrong. */
const char *kunwind_state_why(enum kunwind_state state);

/* Fills in @frame except its address. Without a name, frame->why says why. */
void kunwind_resolve(struct kunwind_symbolizer_object *object, uint64_t address, bool exact,
		     struct kunwind_frame *frame);

/*
 * kunwind_prefetch() asks the helper about all at once, and caches the answers.
 */
struct kunwind_wanted {
	struct kunwind_symbolizer_object *object;
	uint64_t address;
	bool exact;
};
#define KUNWIND_WANTED_MAX	64
void kunwind_prefetch(struct kunwind_symbolizer *symbolizer, const struct kunwind_wanted *wanted,
		      unsigned int nr);

/* If the cache is full, forgets all answers: all frames become invalid. */
void kunwind_cache_trim(struct kunwind_symbolizer *symbolizer);

/* ------------------------------------------------------------ cache.c */

struct kunwind_cache;

struct kunwind_cache *kunwind_cache_new(void);
void kunwind_cache_free(struct kunwind_cache *cache);
void kunwind_cache_clear(struct kunwind_cache *cache);

/* Does it hold more than a cache should? */
bool kunwind_cache_full(const struct kunwind_cache *cache);

/* Returns NULL if there is no such answer. */
const struct kunwind_frame *kunwind_cache_find(const struct kunwind_cache *cache,
					       const struct kunwind_symbolizer_object *object,
					       uint64_t address, bool exact);

#define KUNWIND_WHY_CUT	"too many inlined functions, some are left out"

/* One answer at a time: begin, add functions, keep it (NULL: out of memory). */
struct kunwind_answer *kunwind_answer_begin(struct kunwind_cache *cache);
const struct kunwind_frame *kunwind_answer_keep(struct kunwind_cache *cache,
						const struct kunwind_frame *frame, bool exact);

/* ------------------------------------------------------------ live.c */

/* Adds the mappings of running process @pid, if it is the one of @who. */
void kunwind_live_load(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
		       const struct kunwind_who *who, int pid);

/*
 * Adds the mappings of code in the file @path, as /proc/PID/maps has them. @live:
 * process @pid has them now. Returns their number, or -1 (errno).
 */
int kunwind_live_read(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
		      const char *path, int pid, bool live);

/* Start of process @pid, ns since 1970; -1: not running, or not named @comm. */
int64_t kunwind_live_started(int pid, const char *comm);

#endif /* KUNWIND_SYMBOLIZE_INTERNAL_H */
