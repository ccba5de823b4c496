/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - what the sandboxed walker and its parent say to each other
 *
 * Packets on one socket (symbolize/wire.h). The parent sends struct wire_request, the
 * walker the structures below, each of which begins with its type. The walker may be under
 * the control of a hostile file: the parent checks each length, number and string.
 */
#ifndef STACKWALK_PROTOCOL_H
#define STACKWALK_PROTOCOL_H

#include <stdint.h>

#include "dump.h"
#include "interp/interp_walk.h"
#include "python.h"

/* Of the parent: wire_request.type. */
enum stackwalk_request {
	STACKWALK_START = 1,	/* fd: the dump; flags: stackwalk_flags; id: most frames of a thread */
	STACKWALK_FILE,		/* id: of the module; fd: its file; flags: stackwalk_file */
};

enum stackwalk_file {
	STACKWALK_NONE = 0,
	STACKWALK_PROVED,	/* it has the module's build-id */
	STACKWALK_PATH,		/* it has the module's path: the walker compares it with the dump */
};

enum stackwalk_flags { STACKWALK_GUESS = 1 };

enum stackwalk_type {
	STACKWALK_ERROR = 1,
	STACKWALK_DUMP,		/* then nr_modules times MODULE */
	STACKWALK_MODULE,
	STACKWALK_THREAD,	/* then FRAMES, and END */
	STACKWALK_FRAMES,
	STACKWALK_END,
	STACKWALK_WANT,		/* wants FILE */
	STACKWALK_MET,		/* a module whose file was used */
	STACKWALK_INTERPRETER,	/* a module that is one */
	STACKWALK_FUNCTION,	/* of an interpreter: before the FRAMES that have it */
	STACKWALK_DONE,
};

struct stackwalk_error {
	uint32_t type;
	char text[160];
};

struct stackwalk_dump {
	uint32_t type, format, i386, truncated;
	uint64_t missing;
	int32_t pid;
	uint32_t nr_modules, nr_threads, main_module;
	char command[DUMP_NAME];
	struct dump_crash crash;
};

struct stackwalk_module {
	uint32_t type, id;
	uint64_t start, end, image, bias;
	uint32_t biased, has_header, deleted, build_id_len;
	uint8_t build_id[DUMP_BUILD_ID];
	char path[DUMP_PATH], package[DUMP_PACKAGE + 1];
};

struct stackwalk_thread {
	uint32_t type, tid, known, unused;
	struct kunwind_registers regs;
	char name[DUMP_NAME];
};

/* Trust of an interpreter's function: ip is its id, module the number of the FUNCTION. */
#define STACKWALK_INTERPRETED	0xff

struct stackwalk_frame {
	uint64_t ip, sp;
	uint32_t module;
	uint8_t trust, exact, unused[2];
};

#define STACKWALK_FRAMES_MOST	1024
struct stackwalk_frames {
	uint32_t type, nr;
	struct stackwalk_frame frame[STACKWALK_FRAMES_MOST];
};

struct stackwalk_end {
	uint32_t type, reason;	/* enum kunwind_reason; BUFFER_FULL: a limit on frames */
	uint64_t missing;	/* address from which on memory is needed, or 0 */
	uint32_t why;		/* enum dump_why */
	uint32_t interpreter;	/* 0: none, or all of its functions are there; else enum stackwalk_lack */
};

/* Why functions of an interpreter are missing. Below STACKWALK_LACKS_FS: enum kunwind_interp_reason. */
enum stackwalk_lack {
	STACKWALK_LACKS_FS = KUNWIND_INTERP_NR_REASONS,	/* the thread's fs_base is not known */
	STACKWALK_NR_LACKS
};

struct stackwalk_interpreter {
	uint32_t type, module, found, unused;
	uint64_t bias;
	struct python python;		/* if found */
	char why[128];			/* else */
};

#define STACKWALK_FUNCTIONS_MOST	65536
struct stackwalk_function {
	uint32_t type, unused;
	struct python_frame of;
};

struct stackwalk_want {
	uint32_t type, id;	/* of a module */
};

struct stackwalk_met {
	uint32_t type, id, matched, build_id_len;
	uint64_t bias;
	uint8_t build_id[DUMP_BUILD_ID];
};

/* The walker. Returns an exit status. */
int stackwalk_serve(void);

#endif /* STACKWALK_PROTOCOL_H */
