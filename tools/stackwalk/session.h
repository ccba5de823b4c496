/* SPDX-License-Identifier: MIT */
/*
 * session.h - the stacks of a dump, from the walker, with names
 */
#ifndef STACKWALK_SESSION_H
#define STACKWALK_SESSION_H

#include "libkunwind-symbolize.h"
#include "protocol.h"

/* An interpreter whose functions are on a stack. */
struct session_interp {
	bool found;
	uint64_t bias;
	struct kunwind_interp interp;
};

struct session_module {
	struct stackwalk_module of;
	bool wanted;			/* a walk has met it */
	bool found;			/* and its file */
	uint64_t inode;			/* of a file that was found without a build-id; 0: none */
	const char *why;		/* the file was not found; NULL: it was, or was not looked for */
	const char *path;		/* of the file that was given for it; NULL: that of the dump */
	char *refused;			/* why it is an interpreter without functions; or NULL */
	struct kunwind_symbolizer_object *object;
};

struct session_thread {
	struct stackwalk_thread of;
	struct stackwalk_frame *frame;
	size_t nr, room;
	enum kunwind_reason reason;
	uint64_t missing;
	uint32_t lack;			/* enum stackwalk_lack; 0: none */
	/* of a process that runs; NULL: of a dump, or not known */
	const char *taken;		/* "asleep", "running", "stopped" */
	const char *note;		/* why registers are missing; of a report: why a stack ends early */
	const char *kernel;		/* its stack in the kernel, as in /proc/PID/stack */
};

struct session_options {
	struct kunwind_symbolizer_options symbols;
	const char *const *files;	/* that modules may be, NULL-terminated; or NULL */
	uint32_t most;			/* frames of a thread; 0: all */
	bool guess;
};

struct stackwalk_session {
	struct kunwind_symbolizer *symbolizer;
	struct stackwalk_dump dump;
	struct session_module *module;	/* [dump.nr_modules] */
	struct session_thread *thread;	/* [dump.nr_threads] */
	uint32_t nr_modules, nr_threads;	/* received */
	struct session_interp interp;
	struct session_function {
		char *name, *file;	/* "": not known */
		uint32_t line;
	} *function;
	uint32_t nr_functions, room_functions;
};

/* Walks the stacks of the dump in @fd. @name: for messages. False: after a message. */
bool session_walk(struct stackwalk_session *session, const struct session_options *options, int fd,
		  const char *name);
void session_free(struct stackwalk_session *session);

/* Whether a report does not say why the stack ends. */
static inline bool session_no_end(const struct stackwalk_session *session,
				  const struct session_thread *thread)
{
	return session->dump.format == DUMP_REPORT && thread->reason == KUNWIND_NOT_READY && thread->note;
}

/* Returns why functions of an interpreter are missing; NULL: none is. */
const char *session_lack(const struct session_thread *thread);

/* Returns the module of a frame, or NULL. */
const struct session_module *session_module(const struct stackwalk_session *session,
					    const struct stackwalk_frame *frame);

/* Returns the path of the module's file, or ""; that of the dump if it has one. */
const char *session_path(const struct session_module *module);

/* Names a frame; the result is valid until the next call. */
void session_name(const struct stackwalk_session *session, const struct stackwalk_frame *frame,
		  struct kunwind_frame *named);

/* Takes the next function and offset of a kernel stack. False: there is none. @text may be NULL. */
#define SESSION_KERNEL	128
bool session_next_kernel(const char **text, char name[SESSION_KERNEL]);

/* crash.c: writes the name of the signal and of its code, like "SIGSEGV / SEGV_MAPERR". */
void crash_name(const struct dump_crash *crash, char *text, size_t size);

/* text.c, json.c: print all on stdout. */
void stackwalk_text(const struct stackwalk_session *session, const char *name, bool all, bool lines);
void stackwalk_json(const struct stackwalk_session *session);

/* stack.c: kunwind stack. Returns an exit status. */
int stackwalk_live(int argc, char **argv);

/* spool.c: opens the dump; "-" is standard input. A pipe is copied. -1: after a message. */
int stackwalk_open(const char *name);

#endif /* STACKWALK_SESSION_H */
