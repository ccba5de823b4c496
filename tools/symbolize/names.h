/* SPDX-License-Identifier: MIT */
/*
 * names.h - the function at an address: of a trace's processes, of a running
 * process, or of a process whose mappings were saved
 */
#ifndef KUNWIND_SYMBOLIZE_NAMES_H
#define KUNWIND_SYMBOLIZE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "libkunwind-symbolize.h"

struct names;

struct names_options {
	struct kunwind_symbolizer_options symbols;
	char *const *traces;
	int nr_traces;
	const char *maps;	/* file with saved mappings; NULL: none */
	int pid;		/* 0: not given; alone: the running process */
	const char *at;		/* time, as the user gave it; NULL: the latest */
};

/* Returns NULL after a message. */
struct names *names_new(const struct names_options *options);
void names_free(struct names *names);

/* What the text says of an address. */
struct question {
	uint64_t address;
	int pid;		/* process or thread; 0: not said */
	bool exact;		/* false: a return address */
	/* path of the object, then the address may be the offset in this file; or NULL */
	const char *object;
	size_t length;
};

/**
 * names_find() - the function at an address
 * @frame: out; if it has no object, frame->why says why. Valid until the next call
 * Return: the process; 0: not known.
 */
int names_find(struct names *names, const struct question *question, struct kunwind_frame *frame);

#endif /* KUNWIND_SYMBOLIZE_NAMES_H */
