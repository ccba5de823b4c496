// SPDX-License-Identifier: MIT
/*
 * symbolize.c - print the names of addresses from standard input; run by
 * symbolize-test.sh and hostile-test.sh
 *
 *   symbolize [OPTION]... PATH BUILD-ID     BUILD-ID "-": none
 *
 *   -d DIR  debug directory         -i  also inlined functions and lines
 *   -n      no DWARF                -o  no files of this host's directories
 *   -t MS   time limit of a question
 *   -w      only what is wrong with the object
 *   -I N    inode of the file
 *
 * Prints what is wrong with the object, or "ok". Then reads hexadecimal
 * addresses and prints for each: address, name ("??": none), offset, and
 * "entry" in an entry point, separated by tabs. With -i, prints the address,
 * then one line for each function, innermost first: name, tab, FILE:LINE; "??"
 * stands for an unknown name or file. Standard error: how often the helper was
 * started and lost, and why names are missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libkunwind-symbolize.h"

static void print_functions(const struct kunwind_frame *frame)
{
	unsigned int i;

	if (!frame->nr_functions)
		printf("??\t??:0\n");
	for (i = 0; i < frame->nr_functions; i++) {
		const struct kunwind_function *function = &frame->function[i];

		printf("%s\t%s:%u\n", function->name ? function->name : "??",
		       function->file ? function->file : "??", function->line);
	}
}

int main(int argc, char **argv)
{
	const char *dirs[8] = { NULL };
	struct kunwind_symbolizer_options options = { .size = sizeof(options), .debug_dirs = dirs };
	struct kunwind_symbolizer_stats stats;
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_symbolizer_object *object;
	struct kunwind_frame frame;
	bool inlines = false, only_why = false;
	const char *why;
	uint64_t addr, inode = 0;
	int c, nr_dirs = 0;

	while ((c = getopt(argc, argv, "d:I:inot:w")) != -1) {
		switch (c) {
		case 'd':
			dirs[nr_dirs++ % 7] = optarg;
			break;
		case 'I':
			inode = strtoull(optarg, NULL, 10);
			break;
		case 'i':
			inlines = true;
			break;
		case 'n':
			options.flags |= KUNWIND_NO_DWARF;
			break;
		case 'o':
			options.flags |= KUNWIND_NO_LOCAL;
			break;
		case 't':
			options.time_limit_ms = (unsigned int)atoi(optarg);
			break;
		case 'w':
			only_why = true;
			break;
		default:
			return 1;
		}
	}
	symbolizer = kunwind_symbolizer_new(&options);
	if (argc - optind != 2 || !symbolizer)
		return 1;
	object = kunwind_symbolizer_object(symbolizer, argv[optind],
					   strcmp(argv[optind + 1], "-") ? argv[optind + 1] : "", inode);
	if (!object)
		return 1;
	why = kunwind_object_why(object);
	printf("%s\n", why ? why : "ok");
	while (!only_why && scanf("%" SCNx64, &addr) == 1) {
		const struct kunwind_function *function;

		kunwind_object_resolve(object, addr, true, &frame);
		if (inlines) {
			printf("0x%" PRIx64 "\n", addr);
			if (frame.why)
				fprintf(stderr, "0x%" PRIx64 ": %s\n", addr, frame.why);
			print_functions(&frame);
			continue;
		}
		function = kunwind_frame_function(&frame);
		printf("0x%" PRIx64 "\t%s\t0x%" PRIx64 "%s\n", addr,
		       function && function->name ? function->name : "??",
		       function ? function->offset : 0, frame.entry ? "\tentry" : "");
	}
	kunwind_symbolizer_stats(symbolizer, &stats);
	fprintf(stderr, "helper: %" PRIu64 " started, %" PRIu64 " lost\n", stats.helper_started,
		stats.helper_lost);
	why = kunwind_object_why(object);
	if (why)
		fprintf(stderr, "why: %s\n", why);
	kunwind_symbolizer_free(symbolizer);
	return 0;
}
