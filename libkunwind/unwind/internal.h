/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of libkunwind-unwind share
 *
 *   objects.c   what is loaded --> struct unwind_object, with ways to unwind it
 *   tables.c    whole tables, at once or in a thread
 *   snapshot.c  mappings --> struct unwind_snapshot, published for walks
 *   loaded.c    has dlopen() or dlclose() changed what the snapshot says?
 *   range_find.c, fde_find.c, memory.c   what a walk of the core asks for
 *   stack.c     which part of a stack a walk may load without a check
 *   stretch.c, walk.c   walks
 */
#ifndef _UNWIND_INTERNAL_H
#define _UNWIND_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "kunwind_core.h"
#include "cfi/elf.h"
#include "fde_rule.h"
#include "walk/walk.h"
#include "kunwind/unwind.h"
#include "users.h"

/* The version script and -fvisibility=hidden keep all other symbols inside. */
#define UNWIND_EXPORT	__attribute__((__visibility__("default")))

/* In place of the size of a file that is not known. */
#define UNWIND_MOST_SIZE	(1ULL << 40)

/* Kept until kunwind_unwinder_free(), because frames point to them. */
struct unwind_module {
	struct unwind_module *next;
	struct kunwind_module module;
	char path[];
};

/*
 * An object's .eh_frame in the memory of this process, with its search table. table.bytes
 * is 0, which no other table has: kunwind_unwind_find() tells them apart by this.
 */
struct unwind_by_fde {
	struct kunwind_table table;
	struct kunwind_section section;
	const u8 *search;		/* pairs of distances of four bytes from search_base */
	u64 search_base;		/* ELF virtual address of .eh_frame_hdr */
	u32 search_nr;
};

/* What libc says about a loaded object: the same after dlclose() and dlopen() only by chance. */
struct unwind_loaded {
	u64 at;				/* an address in the object; 0: it cannot be unloaded */
	u64 link_map, start, end, eh;	/* of _dl_find_object() */
	u64 build_id_at;		/* where the build-id is in memory; 0: there is none */
	u32 build_id_len;
	u8 build_id[KUNWIND_BUILD_ID_MAX];
};

struct unwind_object {
	struct unwind_object *next;
	u32 uses;			/* by ranges of snapshots */
	u64 bias;			/* of an object of this process */
	u64 image;			/* the same, or of an image: where its ELF header is */
	struct unwind_loaded loaded;
	struct kunwind_elf elf;		/* by its image */
	bool own;			/* of this process: its memory has the image */
	bool needs_table;		/* it has CFI, but no search table */
	bool tried;			/* the table was built, or cannot be */
	int fd;				/* OTHER: of the file; -1: none */
	kunwind_read_memory *read;	/* of kunwind_unwinder_map_image(), or NULL */
	void *data;
	struct unwind_by_fde *by_fde;	/* or NULL */
	struct kunwind_table *table;	/* or NULL */
	char *path;			/* or NULL */
};

struct unwind_range {
	struct unwind_object *object;	/* or NULL: code of no file */
	const struct kunwind_module *module;
	u64 offset;			/* of the file, at the range's start */
	bool biased;			/* the bias is known, so a table can be used */
};

/* Mappings and tables, as walks use them. Never changes, except dead ranges and new tables. */
struct unwind_snapshot {
	struct unwind_snapshot *next;	/* of those that are no longer published */
	struct kunwind_unwinder *unwinder;
	struct unwind_range *info;	/* [ranges.nr] */
	u64 loose_lo, loose_span;	/* ranges that dlclose() may unmap are in [lo, lo + span) */
	struct kunwind_ranges ranges;	/* the last member */
};

/* An object that a walk has met, and no refresh yet. Its range never moves to another object. */
#define UNWIND_LATE	64
struct unwind_late {
	u32 ready;
	struct kunwind_range range;
	struct unwind_loaded loaded;
	struct unwind_by_fde by_fde;
	struct kunwind_module module;
	char path[256];
};

struct unwind_given {			/* by kunwind_unwinder_map() and _map_image() */
	u64 start, end, offset, image;
	kunwind_read_memory *read;
	void *data;
	char *path;
};

#define UNWIND_STACKS	256
struct kunwind_unwinder {
	struct kunwind_rule_cache cache;
	u16 after_slot[KUNWIND_RULE_CACHE_ENTRIES];
	struct unwind_snapshot *snapshot;
	struct unwind_users users;
	u64 ids;			/* of snapshots' contents: the last one */
	u64 stacks[UNWIND_STACKS];	/* stack.c */
	u64 main_hi, main_lo;		/* of the main thread's stack: end, and lowest page seen */
	u32 nr_late;
	u64 late_lo, late_hi;		/* all late ranges are in [lo, hi) */
	struct unwind_late late[UNWIND_LATE];
	u32 answers_taken, wants_answers;
	struct kunwind_analysis_cache answers;
	/* only kunwind_unwinder_...() and the thread use what follows */
	unsigned int flags;
	size_t memory;			/* left for tables */
	u64 entry_sp;
	pid_t pid;
	pthread_mutex_t lock;		/* of objects, retired snapshots, memory */
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread, stop;
	struct unwind_snapshot *retired;
	struct unwind_object *objects;
	struct unwind_module *modules;
	struct unwind_given *given;
	u32 nr_given;
	struct {			/* of kunwind_unwinder_start() */
		u64 entry, interpreter, sp;
	} start;
};

/* Reads what is not trusted (stack.h), and has room for full rules of single FDEs. */
#define UNWIND_CHUNK	128		/* bytes; divides a page */
struct unwind_memory {
	const struct unwind_snapshot *snapshot;
	kunwind_read_memory *read;	/* NULL: the memory of this process */
	void *data;
	u64 missed;			/* the last address of a stack that could not be read, or 0 */
	pid_t pid;			/* 0: not asked yet */
	bool i386;
	u8 turn, rule_turn;
	struct {
		u64 at;
		u32 len;
		u8 bytes[UNWIND_CHUNK];
	} chunk[2];
	struct kunwind_fde_rule rule[2];	/* a step uses at most two at once */
};

/* What struct kunwind_stack_walk holds. */
struct unwind_walk {
	struct kunwind_unwinder *unwinder;
	struct kunwind_walk core;
	struct kunwind_stretch stretch;
	struct {			/* where the stretch began, to walk it again */
		struct kunwind_regs regs;
		u64 addr, bp_at, lower_cfa, lower_ra;
		u32 lower_nr;
		u8 trust;
	} begin;
	u32 at, count;			/* the next frame of the stretch, and their number */
	u64 stack_sp;			/* trusted from here on, if it is this thread's stack; or 0 */
	u8 reason;			/* enum kunwind_reason; BUFFER_FULL: not ended */
	u64 last;			/* address that was looked up for the last frame */
	bool missing;
	bool modules;			/* looked_up[] are modules, exact[] is set */
	u8 trust[KUNWIND_STRETCH + 1];
	u8 exact[KUNWIND_STRETCH];
	struct unwind_memory memory;
};
_Static_assert(sizeof(struct unwind_walk) <= sizeof(struct kunwind_stack_walk),
	       "struct kunwind_stack_walk has no room for a walk");

/* snapshot.c */
static inline struct unwind_snapshot *unwind_snapshot_of(const struct kunwind_ranges *ranges)
{
	return (struct unwind_snapshot *)((char *)ranges - offsetof(struct unwind_snapshot, ranges));
}

/* A range is dead: rules in the cache that may be of it are no longer used. */
static inline void unwind_snapshot_changed(struct unwind_snapshot *snapshot)
{
	WRITE_ONCE(snapshot->ranges.id,
		   __atomic_add_fetch(&snapshot->unwinder->ids, 1, __ATOMIC_SEQ_CST));
}

int unwind_snapshot_make(struct kunwind_unwinder *unwinder, struct unwind_snapshot **snapshot);
void unwind_snapshot_free(struct unwind_snapshot *snapshot);
const struct kunwind_module *unwind_module_get(struct kunwind_unwinder *unwinder, const char *path,
					       const struct kunwind_module *like);

/*
 * objects.c: unwind_by_fde_init() and unwind_image_...() run in any context, the others
 * allocate. @at: of the ELF header; @code: an address of its code; @loose: dlclose() may
 * unmap it
 */
struct unwind_object *unwind_object_own(struct kunwind_unwinder *unwinder, const char *path,
					u64 bias, u64 at, u64 code, bool loose);
struct unwind_object *unwind_object_file(struct kunwind_unwinder *unwinder, const char *path);
struct unwind_object *unwind_object_image(struct kunwind_unwinder *unwinder,
					  const struct unwind_given *given);
void unwind_objects_sweep(struct kunwind_unwinder *unwinder);	/* frees those without uses */
u64 unwind_image_vaddr(const struct kunwind_elf *elf);	/* ELF virtual address of the file's first byte */
bool unwind_image_parse(u64 at, struct kunwind_elf *elf, u64 *build_id_at);
bool unwind_by_fde_init(struct unwind_by_fde *by, const struct kunwind_elf *elf, u64 bias);
/* Functions of type kunwind_read_fn. @file: points to a descriptor, or to the object of an image. */
int unwind_file_read(void *file, u64 off, void *buf, size_t len);
int unwind_image_read(void *file, u64 off, void *buf, size_t len);

/* tables.c */
void unwind_tables_build(struct kunwind_unwinder *unwinder, bool all);
/* Builds the table of the image that holds @addr. False: there is none, or it was tried before. */
bool unwind_tables_meet(struct kunwind_unwinder *unwinder, u64 addr);
bool unwind_tables_start(struct kunwind_unwinder *unwinder);
void unwind_tables_stop(struct kunwind_unwinder *unwinder);

/* loaded.c: any context */
bool unwind_loaded_known(void);
bool unwind_loaded_get(u64 at, struct unwind_loaded *loaded);
bool unwind_loaded_same(const struct unwind_loaded *loaded);
const struct kunwind_range *unwind_late_find(struct unwind_snapshot *snapshot, u64 addr);

/* range_find.c: any context */
const struct kunwind_range *unwind_range_known(const struct kunwind_ranges *ranges, u64 addr);
const struct unwind_range *unwind_range_info(const struct unwind_snapshot *snapshot,
					     const struct kunwind_range *range);
const struct kunwind_module *unwind_range_module(const struct unwind_snapshot *snapshot,
						 const struct kunwind_range *range);

/* memory.c: any context */
bool unwind_copy(u64 addr, void *to, size_t len, pid_t *pid);

/* stack.c: any context */
void unwind_stack_trust(struct unwind_walk *walk);

/* stretch.c: any context */
enum kunwind_reason unwind_stretch(struct kunwind_walk *walk, struct kunwind_stretch *stretch);
enum kunwind_reason unwind_stretch_i386(struct kunwind_walk *walk, struct kunwind_stretch *stretch);

#endif /* _UNWIND_INTERNAL_H */
