/* SPDX-License-Identifier: MIT */
/*
 * wire.h - the protocol between the library and its helper process
 *
 * They use one socket of type SOCK_SEQPACKET. A request is one packet, with
 * descriptors of the files that it is about. The helper answers each request
 * with one packet, in order, and opens no file itself. Library and helper are
 * of one build: the library does not use a helper of another version. It checks
 * each length that it receives.
 *
 * The opener is another process of the same program, which opens the files. The
 * library never has their descriptors, because closing a file of a file system
 * that hangs can hang, too. The opener keeps them in slots, and sends them to the
 * helper with a request of the library: it has a copy of the library's end of the
 * helper's socket.
 */
#ifndef KUNWIND_WIRE_H
#define KUNWIND_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WIRE_VERSION	2
#define WIRE_SOCKET	3		/* the descriptor of the helper, and of the opener */
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
	WIRE_CHECKSUM,		/* fd; the reply has the CRC-32 of its content in link_crc */
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

/* OPEN; and WIRE_HOLDS_DWARF */
enum wire_opening {
	WIRE_PACKED = 8,	/* debug information that libelf cannot decompress */
};

/* RESOLVE */
enum wire_answer {
	WIRE_TRAMPOLINE = 1,
	WIRE_ENTRY = 2,
	WIRE_CUT = 4,		/* inlined functions are left out */
};

struct wire_reply {
	uint32_t status;
	uint32_t flags;			/* wire_holds, wire_opening or wire_answer */
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

enum wire_open_type {
	WIRE_OPEN_SOCKET = 1,	/* fd: the library's end of the helper's socket */
	WIRE_OPEN_FILE,		/* path: open it as slot 0 */
	WIRE_OPEN_VDSO,		/* the same for the vDSO of this host */
	WIRE_OPEN_COPY,		/* slot 0; the reply has a memory file with the content */
	WIRE_OPEN_CLOSE,	/* slot 0 */
	WIRE_OPEN_PASS,		/* send pass to the helper, with the files of the slots */
};

enum wire_open_flags {
	WIRE_OPEN_ELF = 1,	/* only an ELF file, and no core file */
	WIRE_OPEN_OWNED = 2,	/* only if the owner is believed, see struct wire_open */
	WIRE_OPEN_GIVEN = 4,	/* the caller names the path: any owner, any file system */
	WIRE_OPEN_NOFOLLOW = 8,
	WIRE_OPEN_LEND = 16,	/* PASS: a second fd, of a memory file for a unit of slot 0 */
};

#define WIRE_SLOTS	3
#define WIRE_PATH	8400
#define WIRE_COPY_MAX	(256u << 20)	/* bytes of a file that COPY copies */
#define WIRE_NOBODY	UINT32_MAX	/* no owner, no slot */

struct wire_open {
	uint32_t type, flags;
	uint32_t slot[WIRE_FDS];
	/* Besides root and the caller, these users' files are believed. */
	uint32_t owner[2];
	struct wire_request pass;
	char path[WIRE_PATH];
};

enum wire_open_status {
	WIRE_OPEN_OK = 0,
	WIRE_OPEN_ABSENT,
	WIRE_OPEN_REFUSED,	/* not permitted, no regular file, or no ELF file */
	WIRE_OPEN_FOREIGN,	/* of a user who is not believed */
};

struct wire_opened {
	uint32_t status;
	uint32_t owner;		/* on a FUSE file system, the user who mounted it */
	uint64_t inode, size;
	int64_t modified;	/* ns since 1970 */
};

/* The descriptors stay the caller's. False: the other side has ended. */
bool wire_send(int socket, const void *data, size_t len, const int *fds, unsigned int nr_fds);

/*
 * Returns the number of bytes of one packet, 0 if the other side has ended, -1
 * if the packet did not fit. @fds: NULL, or room for WIRE_FDS descriptors; the
 * caller owns those received, and unused places are -1. With NULL, the kernel
 * drops descriptors of the packet without an operation on their files.
 */
ssize_t wire_receive(int socket, void *data, size_t len, int *fds);

#endif /* KUNWIND_WIRE_H */
