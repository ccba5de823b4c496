/* SPDX-License-Identifier: MIT */
/*
 * shim.h - what the library leaves in the file that KUNWIND_OTHERS_OUT names
 *
 * The program and its children map the file, so their results stay, however they
 * end. guest.py reads the file by the layout below.
 */
#ifndef SHIM_H
#define SHIM_H

#include <stdint.h>

#define OTHERS_MAGIC	0x7372656874306b75ULL
#define OTHERS_FINDINGS	64
#define OTHERS_TEXT	232

/* How the two stacks of a point compare. */
enum others_verdict {
	OTHERS_EQUAL,
	OTHERS_LONGER,		/* kunwind's continues where libgcc's ended */
	OTHERS_SHORTER,		/* kunwind's ended where libgcc's continues */
	OTHERS_DIFFER,		/* another address */
	OTHERS_FAILED,		/* the ioctl did not answer */
};

/* Points of one verdict at one place. The text: FUNCTION|REASON OR TRUST|POINT */
struct others_finding {
	uint32_t verdict;
	uint32_t count;
	uint64_t place;		/* hash of the text; 0: not used */
	char text[OTHERS_TEXT];
};

struct others_file {
	uint64_t magic;
	uint64_t stacks;
	uint64_t frames;	/* that were equal */
	uint64_t beyond;	/* points after the limit, not compared */
	uint64_t unnamed;	/* findings for which there was no room */
	uint64_t signals;	/* frames of these that a signal interrupted */
	struct others_finding finding[OTHERS_FINDINGS];
};

#endif /* SHIM_H */
