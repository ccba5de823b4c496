/* SPDX-License-Identifier: MIT */
/*
 * wire.h - what the library and its helper process say to each other
 *
 * One socket of type SOCK_SEQPACKET. Each request is one packet, with file
 * descriptors where it names a file; each is answered by one packet, in order.
 * The helper opens nothing itself. Both are of one build: there is a version,
 * and no other one is spoken to. The library believes no length that it reads.
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
#define WIRE_FUNCTIONS	64		/* of one answer; the innermost ones beyond are left out */
#define WIRE_FDS	2
#define WIRE_ID		64		/* bytes of a build-id */

enum wire_type {
	WIRE_HELLO = 1,		/* version in id */
	WIRE_IDENTIFY,		/* fd: what is it? */
	WIRE_OPEN,		/* object id; fds: file, and the one with its debug information */
	WIRE_ALT,		/* object id; fd: the file that dwz(1) moved common parts to */
	WIRE_CLOSE,		/* object id */
	WIRE_VADDR,		/* object id, address is an offset in the file */
	WIRE_RESOLVE,		/* object id, address */
	/*
	 * object id, address; fd: the .dwo file that RESOLVE wants, or none; or fds: a .dwp
	 * file, and one in memory, to which the helper writes the .dwo file of it
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
	WIRE_NOT_ELF,		/* or broken beyond use */
	WIRE_NO_MEMORY,		/* the helper's limit was met */
	WIRE_NO_OBJECT,		/* no such id, or nothing at that offset */
	WIRE_WANTS_SPLIT,	/* RESOLVE: no answer before SPLIT, for the place in address */
};

/* IDENTIFY */
enum wire_holds {
	WIRE_HOLDS_CODE = 1,	/* executable segments with contents: not a mere .debug file */
	WIRE_HOLDS_SYMTAB = 2,
	WIRE_HOLDS_DWARF = 4,
};

/* RESOLVE */
enum wire_answer {
	WIRE_TRAMPOLINE = 1,
	WIRE_ENTRY = 2,
};

struct wire_reply {
	uint32_t status;
	uint32_t flags;			/* wire_holds or wire_answer */
	uint64_t address;		/* VADDR, WANTS_SPLIT */
	uint32_t id_len;		/* IDENTIFY: build-id; OPEN: of the file that ALT wants */
	uint32_t link_crc;		/* IDENTIFY */
	uint8_t id[WIRE_ID];
	uint32_t nr;			/* RESOLVE: functions, which follow */
	/*
	 * IDENTIFY: .gnu_debuglink; OPEN: .gnu_debugaltlink; WANTS_SPLIT: directory, NUL,
	 * name; follows
	 */
	uint32_t name_len;
};

/* Followed by name_len and file_len bytes; WIRE_NONE: there is none. */
#define WIRE_NONE	UINT32_MAX
struct wire_function {
	uint64_t offset;
	uint32_t line, column, inlined;
	uint32_t name_len, file_len;
	uint32_t unused;
};

/* Descriptors are the caller's still. False: the other side has gone. */
bool wire_send(int socket, const void *data, size_t len, const int *fds, unsigned int nr_fds);

/*
 * Bytes of one packet, 0 when the other side has gone, -1 when it did not fit.
 * @fds: room for WIRE_FDS, those received are the caller's; unused ones are -1.
 */
ssize_t wire_receive(int socket, void *data, size_t len, int *fds);

#endif /* KUNWIND_WIRE_H */
