/* SPDX-License-Identifier: MIT */
/*
 * analyze.h - the subcommands of kunwind-analyze and their common functions
 */
#ifndef KUNWIND_ANALYZE_H
#define KUNWIND_ANALYZE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "outfile.h"
#include "samples.h"

int analyze_report(int argc, char **argv);
int analyze_export(int argc, char **argv);
int analyze_flamegraph(int argc, char **argv);
int analyze_waits(int argc, char **argv);

/* The help text of struct kunwind_options. */
#define ANALYZE_USAGE \
	"  -e, --event PATTERN  only system calls and events whose name matches\n" \
	"  -p, --pid PID        only this process\n" \
	"      --tid TID        only this thread\n" \
	"      --comm PATTERN   only threads whose name matches\n" \
	"                       Each of these four may be repeated, and takes a list: 1,2\n" \
	"      --from TIME      only what happens from TIME on, and before the other TIME:\n" \
	"      --to TIME        seconds from the trace's beginning, or HH:MM:SS\n" \
	"      --duration MIN[..MAX]  only system calls and times off the CPU that take so\n" \
	"                       long: 10ms, 1us..2ms (units ns, us, ms, s)\n" \
	"  -a, --all            processes that kunwind did not walk, too; their stacks are\n" \
	"                       the kernel's guess\n" \
	"      --no-kernel      no kernel functions\n" \
	"      --debug-dir DIR  objects and debug files below DIR, too; may be repeated\n" \
	"      --no-local       only those and debuginfod, not this host's own files\n" \
	"      --no-lines       no inlined functions: less to read\n" \
	"  -q, --quiet          no progress on the terminal\n" \
	"      --progress       a line on standard error every ten seconds, also in a log\n" \
	"      --offsets        functions without names are told apart: [object+0xSTART]\n"

/* Returns the weight that an option names; -1, after a message, if unknown. */
int analyze_weight(const char *name);
/* Reads a number of percent. Returns false after a message. */
bool analyze_percent(const char *text, double *percent);

const char *analyze_weight_name(enum weight weight);	/* as an option */
const char *analyze_weight_title(enum weight weight);	/* as a phrase */

/*
 * Prints on stderr what the user should know of the trace: lost events, missing
 * contexts, names that are missing because of an error, no events. Returns false
 * if there is nothing to show.
 */
bool analyze_remarks(const struct samples *samples);

/* Returns whether the options select only some of the events. */
bool analyze_selects(const struct samples *samples);

/*
 * Returns whether any stack has the weight that the user asked for; if not,
 * after a message. @weight: -1: the user asked for none.
 */
bool analyze_has_weight(const struct samples *samples, int weight);

/*
 * These end the program if out of memory. analyze_set() and analyze_append()
 * take the reference of @value, which may be NULL for "out of memory".
 */
json_t *analyze_text(const struct samples *samples, uint32_t string);
void analyze_set(json_t *object, const char *key, json_t *value);
void analyze_append(json_t *array, json_t *value);

/*
 * Writes @json in compact form and drops its reference. @flags: of libjansson.
 * Returns false, after a message, if memory is short. The caller reports a failed
 * write.
 */
bool analyze_dump(json_t *json, FILE *file, size_t flags);

/* One format each, in export_*.c. False: writing failed. */
bool export_folded(const struct samples *samples, enum weight weight, FILE *file);

/* A directory for Trace Compass. Returns the exit status. */
int export_ctf(struct samples *samples, char *const *paths, int nr_paths, const char *path);

/*
 * Formats that take the samples one by one. begin() returns the state for the
 * other functions, or NULL after a message; end() frees it. It returns false if
 * writing failed, after a message if @file has no error.
 * samples_read() runs between begin() and end().
 */
struct export_stream {
	void *(*begin)(struct samples *samples, FILE *file);
	struct samples_calls samples;
	/* frees the state. @ok: false: the export has failed, and writes nothing more */
	bool (*end)(void *state, enum weight weight, bool ok);
};
extern const struct export_stream export_firefox, export_perfetto, export_pprof, export_speedscope,
	export_sqlite;

#endif /* KUNWIND_ANALYZE_H */
