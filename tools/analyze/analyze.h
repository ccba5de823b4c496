/* SPDX-License-Identifier: MIT */
/*
 * analyze.h - the subcommands of kunwind-analyze, and what they share
 */
#ifndef KUNWIND_ANALYZE_H
#define KUNWIND_ANALYZE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "samples.h"

int analyze_report(int argc, char **argv);
int analyze_export(int argc, char **argv);
int analyze_flamegraph(int argc, char **argv);

/* Options that all have. False: @c is none of them, or wrong (said). */
#define ANALYZE_SHORT_OPTIONS	"ae:hp:"
#define ANALYZE_LONG_OPTIONS \
	{ "all", no_argument, NULL, 'a' }, { "debug-dir", required_argument, NULL, 'D' }, \
	{ "event", required_argument, NULL, 'e' }, { "help", no_argument, NULL, 'h' }, \
	{ "no-lines", no_argument, NULL, 'L' }, { "no-local", no_argument, NULL, 'O' }, \
	{ "pid", required_argument, NULL, 'p' }
#define ANALYZE_USAGE \
	"  -e, --event PATTERN  only system calls and events whose name matches\n" \
	"  -p, --pid PID        only this process\n" \
	"  -a, --all            processes that kunwind did not walk, too; their stacks are\n" \
	"                       the kernel's guess\n" \
	"      --debug-dir DIR  objects and debug files below DIR, too; may be repeated\n" \
	"      --no-local       only those and debuginfod, not this host's own files\n" \
	"      --no-lines       no inlined functions: less to read\n"
bool analyze_option(struct samples *samples, int c, const char *value);

/* events, blocked or off-cpu; -1 when it is none of these (said). */
int analyze_weight(const char *name);
const char *analyze_weight_name(enum weight weight);	/* as an option */
const char *analyze_weight_title(enum weight weight);	/* as a phrase */

/* "No events", "tracer lost": on stderr. False when there is nothing to show. */
bool analyze_remarks(const struct samples *samples);

/* The output: stdout, or a file that is complete or not there. */
struct analyze_output {
	FILE *file;
	const char *path;	/* NULL: stdout */
	char *temporary;
};
bool analyze_output_begin(struct analyze_output *output, const char *path);
/* @ok: false gives it up. Returns the exit status. */
int analyze_output_end(struct analyze_output *output, bool ok);

/* json_*() that end the program when memory does. */
json_t *analyze_text(const struct samples *samples, uint32_t string);
void analyze_set(json_t *object, const char *key, json_t *value);
void analyze_append(json_t *array, json_t *value);

/* Compact; true when it was written whole. Takes the reference. */
bool analyze_dump(json_t *json, FILE *file, size_t flags);

/* analyze/export_*.c: each writes one format, and says how in its head. */
bool export_folded(const struct samples *samples, enum weight weight, FILE *file);
bool export_speedscope(const struct samples *samples, enum weight weight, FILE *file);

/* These two take each sample as it comes. */
struct export_stream {
	void *(*begin)(struct samples *samples, FILE *file);
	void (*sample)(const struct sample *sample, void *state);
	bool (*end)(void *state, enum weight weight);
};
extern const struct export_stream export_firefox, export_perfetto;

#endif /* KUNWIND_ANALYZE_H */
