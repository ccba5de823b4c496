/* SPDX-License-Identifier: MIT */
/*
 * opener.h - the process that opens files for the library
 */
#ifndef KUNWIND_OPENER_H
#define KUNWIND_OPENER_H

#include "child.h"
#include "wire.h"

/* A file system that hangs ends an opener; the next question starts another one. */
struct kunwind_opener {
	struct kunwind_child child;
	unsigned int time_limit_ms;
	unsigned int generation;	/* of the helper whose socket it has; 0: none */
	unsigned int failed;		/* starts that failed in a row */
	unsigned int nr_hung;		/* times that a file system has hung */
	char *hung[8];			/* paths; nothing below them is opened any more */
	char *open[WIRE_SLOTS];		/* paths of the files in the slots; NULL: none */
};

enum kunwind_opening {
	KUNWIND_OPENING_OK,
	KUNWIND_OPENING_ABSENT,
	KUNWIND_OPENING_REFUSED,	/* not permitted, no regular file, no ELF file */
	KUNWIND_OPENING_FOREIGN,	/* of a user who is not believed */
	KUNWIND_OPENING_HANGS,		/* the file system does not answer */
	KUNWIND_OPENING_NOBODY,		/* the process cannot be started */
};

void kunwind_opener_free(struct kunwind_opener *opener);

/*
 * Carries out a request for request->path of type WIRE_OPEN_FILE or VDSO, for a
 * file in the slot request->slot[0]. The file stays open until another one is
 * opened in that slot. @program: of the helper; NULL: child.c searches for it.
 */
enum kunwind_opening kunwind_opener_open(struct kunwind_opener *opener, const char *program,
					 const struct wire_open *request, struct wire_opened *opened);

/*
 * Returns a descriptor of a memory file with the content of the file in @slot; -1:
 * it cannot be read. The caller closes it.
 */
int kunwind_opener_copy(struct kunwind_opener *opener, uint32_t slot);

/*
 * Sends request->pass to the helper of that generation, with files. @socket: the
 * library's end of the helper's socket. False: the opener or the files are lost.
 */
bool kunwind_opener_pass(struct kunwind_opener *opener, const struct wire_open *request, int socket,
			 unsigned int generation);

/* Notes that the file system of @path hangs. */
void kunwind_opener_hangs(struct kunwind_opener *opener, const char *path);

#endif /* KUNWIND_OPENER_H */
