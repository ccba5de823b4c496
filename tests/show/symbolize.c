// SPDX-License-Identifier: MIT
/*
 * symbolize.c - names for addresses from standard input, for symbolize-test.sh
 *
 *   symbolize [OPTION]... PATH BUILD-ID     BUILD-ID "-": none
 *
 *   -d DIR  debug directory    -i  inlined functions and lines too
 *   -n      no DWARF           -o  nothing of this host
 *   -t MS   limit on time      -w  only what is wrong with the object
 *   -I N    inode of the file
 *
 * Prints what is wrong with the object, or "ok", then for each hexadecimal
 * address read: address, name, offset, separated by tabs; "??" without a name.
 * With -i the address, and one line "NAME FILE:LINE" for each function, inner
 * ones first, "??" for what is not known. Standard error: what is missing.
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
	struct kunwind_object *object;
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
