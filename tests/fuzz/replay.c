/* SPDX-License-Identifier: MIT */
/*
 * replay.c - check a fuzzer's property with each input of a file, without
 * libFuzzer
 *
 * Usage: REPLAY NAME INPUTS [N]
 * INPUTS is a file made by inputs.py. With N, only the Nth input is run. Prints
 * TAP, one test for all inputs. A violated property or a sanitizer's report
 * ends the program, and the test's line has the input's number.
 */
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <unistd.h>

#include "fuzz.h"

static const char *name;
static unsigned int number;

static void number_print(void)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "not ok 1 - %s: input %u\n1..1\n", name, number);

	if (write(STDOUT_FILENO, line, len) != len)
		_exit(2);
}

static void aborted(int sig)
{
	(void)sig;
	number_print();
	_exit(1);
}

int main(int argc, char **argv)
{
	unsigned int only = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	FILE *f = argc > 2 ? fopen(argv[2], "rb") : NULL;
	u32 len;

	if (!f) {
		fprintf(stderr, "usage: replay NAME INPUTS [N]; INPUTS must be readable\n");
		return 2;
	}
	name = argv[1];
	signal(SIGABRT, aborted);
	__sanitizer_set_death_callback(number_print);
	while (fread(&len, sizeof(len), 1, f) == 1) {
		u8 *bytes = malloc(len + !len);

		if (!bytes || fread(bytes, 1, len, f) != len) {
			fprintf(stderr, "replay: %s ends within an input\n", argv[2]);
			return 2;
		}
		number++;
		if (!only || only == number)
			LLVMFuzzerTestOneInput(bytes, len);
		free(bytes);
	}
	fclose(f);
	printf("%sok 1 - %s: %u inputs\n1..1\n", number ? "" : "not ", name, number);
	return number ? 0 : 1;
}
