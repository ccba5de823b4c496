// SPDX-License-Identifier: MIT
/*
 * text-test.c - kunwind_text_print() escapes text from traces and objects, so
 * that the text cannot disturb a terminal or a table
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show_field.h"

static const struct {
	const char *text, *wanted, *name;
} tests[] = {
	{ "plain", "plain", "plain text" },
	{ "a\tb\nc", "a\\x09b\\x0ac", "a tab, a line feed" },
	{ "\033[31m", "\\x1b[31m", "a terminal's escape sequence" },
	{ "\302\23331m", "\\xc2\\x9b31m", "an escape sequence with a C1 control character" },
	{ "\177", "\\x7f", "the character DEL" },
	{ "\303\244 \342\202\254 \360\237\230\200", "\303\244 \342\202\254 \360\237\230\200", "UTF-8" },
	{ "x\377", "x\\xff", "a byte that is never UTF-8" },
	{ "x\303", "x\\xc3", "a character that is cut off" },
	{ "\342\202", "\\xe2\\x82", "a character of three bytes that is cut off" },
	{ "\342\202x", "\\xe2\\x82x", "a character of three bytes, cut off before an x" },
	{ "\360\237\230", "\\xf0\\x9f\\x98", "a character of four bytes that is cut off" },
	{ "\300\257", "\\xc0\\xaf", "a character in an overlong form" },
	{ "\355\240\200", "\\xed\\xa0\\x80", "half a surrogate pair" },
	{ "\364\220\200\200", "\\xf4\\x90\\x80\\x80", "a code point above U+10FFFF" },
};

int main(void)
{
	size_t i, nr = sizeof(tests) / sizeof(*tests), size;
	int failed = 0;

	for (i = 0; i < nr; i++) {
		char *got = NULL;
		FILE *out = open_memstream(&got, &size);
		int ok;

		kunwind_text_print(out, tests[i].text);
		fclose(out);
		ok = !strcmp(got, tests[i].wanted);
		printf("%sok %zu - text: %s\n", ok ? "" : "not ", i + 1, tests[i].name);
		if (!ok)
			printf("# got %s\n", got);
		failed += !ok;
		free(got);
	}
	printf("1..%zu\n", nr);
	return failed != 0;
}
