// SPDX-License-Identifier: MIT
/*
 * symbolize.c - names for addresses from standard input, for symbolize-test.sh
 *
 *   symbolize PATH BUILD-ID    "-" for no build-id
 *
 * Prints the state of the file, then for each hexadecimal address read:
 * address, name, offset, separated by tabs; "??" without a name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbolize.h"

int main(int argc, char **argv)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new();
	struct kunwind_symfile *file;
	struct kunwind_symbol symbol;
	uint64_t addr;

	if (argc != 3 || !symbolizer)
		return 1;
	file = kunwind_symbolizer_file(symbolizer, argv[1], strcmp(argv[2], "-") ? argv[2] : "", 0);
	if (!file)
		return 1;
	printf("%d\n", kunwind_symfile_state(file));
	while (scanf("%" SCNx64, &addr) == 1) {
		kunwind_symbolize(file, addr, true, &symbol);
		printf("0x%" PRIx64 "\t%s\t0x%" PRIx64 "%s\n", addr,
		       symbol.name ? symbol.name : "??", symbol.offset,
		       symbol.entry ? "\tentry" : "");
	}
	kunwind_symbolizer_free(symbolizer);
	return 0;
}
