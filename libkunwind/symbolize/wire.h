/* SPDX-License-Identifier: MIT */
/*
 * wire.h - the protocol between the library and its helper process
 *
 * They use one socket of type SOCK_SEQPACKET. A request is one packet, with
 * descriptors of the files that it is about. The helper answers each request
 * with one packet, in order, and opens no file itself. Library and helper are
 * of one build: the library does not use a helper of another version. It checks
 * each length that it receives.
 */
#ifndef KUNWIND_WIRE_H
#define KUNWIND_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WIRE_VERSION	2
#define WIRE_SOCKET	3		/* the helper's descriptor */
#define WIRE_MAX	(64 * 1024)	/* bytes of a packet */
#define WIRE_FUNCTIONS	64		/* of one answer; the outermost is always there */
#define WIRE_FDS	2
#define WIRE_ID		64		/* bytes of a build-id */

enum wire_type {
	WIRE_HELLO = 1,		/* the reply has the version in flags */
	WIRE_IDENTIFY,		/* fd: a file; what is in it? */
	WIRE_OPEN,		/* object id; fds: the file, the one with its debug information */
	WIRE_ALT,		/* object id; fd: the file to which dwz(1) moved common parts */
	WIRE_CLOSE,		/* object id */
	WIRE_VADDR,		/* object id; address: an offset in the file */
	WIRE_RESOLVE,		/* object id, address */
	/*
	 * object id; address; fd: the .dwo file that RESOLVE asks for, or none.
	 * Or two fds: a .dwp file, and a memory file into which the helper
	 * writes the .dwo file of the unit
	 */
	WIRE_SPLIT,
};

enum wire_flags {
	WIRE_NO_DWARF = 1,	/* OPEN: symbol tables only */
	WIRE_EXACT = 2,		/* RESOLVE: not a return address */
};

struct wire_request {
	uint32_t type, id, flags, unused;
	uint64_t address;
};

enum wire_status {
	WIRE_OK = 0,
	WIRE_NOT_ELF,		/* or too damaged to use */
	WIRE_NO_MEMORY,		/* the helper's limit was reached; never sent */
	WIRE_NO_OBJECT,		/* unknown id, or no code at that offset */
	WIRE_WANTS_SPLIT,	/* RESOLVE: send SPLIT first, for the place in address */
};

/* IDENTIFY */
enum wire_holds {
	WIRE_HOLDS_CODE = 1,	/* executable sections with contents: not only a .debug file */
	WIRE_HOLDS_SYMTAB = 2,
	WIRE_HOLDS_DWARF = 4,
};

/* RESOLVE */
enum wire_answer {
	WIRE_TRAMPOLINE = 1,
	WIRE_ENTRY = 2,
	WIRE_CUT = 4,		/* inlined functions are left out */
};

struct wire_reply {
	uint32_t status;
	uint32_t flags;			/* wire_holds or wire_answer */
	uint64_t address;		/* VADDR, WANTS_SPLIT */
	uint32_t id_len;		/* IDENTIFY: of build-id; OPEN: of the id of ALT's file */
	uint32_t link_crc;		/* IDENTIFY */
	uint8_t id[WIRE_ID];
	uint32_t nr;			/* RESOLVE: number of functions, which follow */
	/*
	 * Of the text that follows. IDENTIFY: .gnu_debuglink; OPEN:
	 * .gnu_debugaltlink; WANTS_SPLIT: directory, NUL, name.
	 */
	uint32_t name_len;
};

/* name_len and file_len bytes follow; WIRE_NONE: there is no such string. */
#define WIRE_NONE	UINT32_MAX
struct wire_function {
	uint64_t offset;
	uint32_t line, column, inlined;
	uint32_t name_len, file_len;
	uint32_t unused;
};

/* The descriptors stay the caller's. False: the other side has ended. */
bool wire_send(int socket, const void *data, size_t len, const int *fds, unsigned int nr_fds);

/*
 * Returns the number of bytes of one packet, 0 if the other side has ended, -1
 * if the packet did not fit. @fds: NULL, or room for WIRE_FDS descriptors; the
 * caller owns those received, and unused places are -1.
 */
ssize_t wire_receive(int socket, void *data, size_t len, int *fds);

#endif /* KUNWIND_WIRE_H */
