/* SPDX-License-Identifier: MIT */
/*
 * text.h - find addresses of code in the text that other tools print
 */
#ifndef KUNWIND_SYMBOLIZE_TEXT_H
#define KUNWIND_SYMBOLIZE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known from the lines before. Initially all zero. */
struct text {
	int pid;		/* of perf script's last header, or its thread id; 0: none */
	bool in_sample;		/* below a header of perf script */
	bool in_stack;		/* below the first frame of a stack */
	/* private to text.c: the line that is read */
	enum { TEXT_OTHER, TEXT_ALONE, TEXT_UNKNOWN } line;
	size_t at;
	bool exact;
};

struct text_address {
	uint64_t address;
	size_t start, end;	/* the part of the line that a name replaces */
	/*
	 * perf: what follows the address is replaced: "[unknown] (object)". The
	 * object at [object, object_end) may be "[unknown]", too. If it is known,
	 * perf from 6.1 on prints the offset in its file instead of the address.
	 */
	bool perf;
	size_t object, object_end;
	bool frame;		/* the line is a frame of a stack and nothing else */
	bool exact;		/* a program counter; else a return address */
};

/* Begins a line, which has no newline at its end. */
void text_line(struct text *text, const char *line, size_t length);

/* Finds the next address in the line. False: there are no more. */
bool text_next(struct text *text, const char *line, size_t length, struct text_address *found);

#endif /* KUNWIND_SYMBOLIZE_TEXT_H */
