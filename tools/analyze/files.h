/* SPDX-License-Identifier: MIT */
/*
 * files.h - which file a system call uses, by the file descriptors of each process
 */
#ifndef KUNWIND_ANALYZE_FILES_H
#define KUNWIND_ANALYZE_FILES_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "trace/event.h"

struct files {
	/* results for the latest event; 0, -1 and false if it does not enter a system call */
	uint32_t file;		/* string: path or other name; 0: none */
	int64_t fd;		/* its descriptor; -1: none */
	bool transfers;		/* the call returns a number of bytes */
	/* private to files.c */
	struct calls *calls;
	void *processes, *threads, *classes;	/* for tsearch() */
	struct files_dump *dump;		/* of LTTng's state dump */
	uint32_t nr_dump, cap_dump;
	bool dump_sorted;			/* by the table */
	uint64_t unused;			/* number of tables that may be of threads */
};

/* The functions end the program if out of memory. @calls: takes the strings. */
void files_init(struct files *files, struct calls *calls);
void files_free(struct files *files);

/* Returns the string of the file that a descriptor of a process is now; 0: not known. */
uint32_t files_name(struct files *files, const void *trace, int64_t pid, int64_t fd);

/* Follows an event. All events of the trace are needed. @trace: identifies the trace. */
void files_event(struct files *files, const void *trace, const bt_event *event,
		 const struct kunwind_head *head);

#endif /* KUNWIND_ANALYZE_FILES_H */
