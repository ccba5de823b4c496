#!/bin/bash
# SPDX-License-Identifier: MIT
#
# directory.sh - tools/record/directory.c with several recordings at once
#
# A program links the object file, and acts as several recorders: if one process opens
# a directory twice, the locks of both descriptors conflict, too.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"	# the program tries another user, too

cat >"$work/directory.c" <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "directory.h"
#include "tool.h"

static char message[400];

void kunwind_tool_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
}

static void say(bool good, const char *what)
{
	printf("%sok - %s\n", good ? "" : "not ", what);
	if (!good)
		printf("# %s\n", message);
}

static struct directory one, two, many[20];

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

int main(void)
{
	bool ok = true, distinct = true;
	char path[PATH_MAX + 8];
	int i, k;

	say(directory_take(&one, "new") && one.made && is_there("new"), "a directory is made");
	say(!directory_take(&two, "new") && strstr(message, "new: another recording writes there"),
	    "a second recording to the same directory is refused, while the first has written nothing");
	say(is_there("new"), "the refused recording does not remove the directory");
	directory_release(&two);
	directory_release(&one);
	say(!is_there("new"), "a recording that wrote nothing removes the directory that it made");
	mkdir("empty", 0700);
	say(directory_take(&one, "empty") && !one.made, "an empty directory is taken");
	say(!directory_take(&two, "./empty") && strstr(message, "another recording"),
	    "an empty directory is taken once, also by another name");
	directory_release(&one);
	say(is_there("empty"), "a directory that was there before is not removed");
	say(directory_take(&one, "empty"), "a directory is free after the recording");
	mkdir("empty/kernel", 0700);
	directory_release(&one);
	say(!directory_take(&two, "empty") && strstr(message, "not an empty directory"),
	    "a directory that is not empty is refused");
	say(!directory_take(&two, "missing/new") && strstr(message, "No such file"),
	    "a directory below a missing one is refused");
	mkdir("read-only", 0555);
	if (geteuid() || !seteuid(65534))
		say(!directory_take(&two, "read-only") && strstr(message, "read-only: Permission denied"),
		    "an empty directory that the user may not write is refused");
	if (!getuid() && seteuid(0))
		return 1;
	/* without a name; some of these begin in the same second */
	for (i = 0; i < 20; i++) {
		ok &= directory_take(&many[i], NULL) && many[i].made && is_there(many[i].path);
		for (k = 0; k < i; k++)
			distinct &= strcmp(many[i].path, many[k].path) != 0;
	}
	say(ok, "20 recordings without a name in the same second succeed");
	say(distinct, "recordings without a name in the same second have different directories");
	snprintf(path, sizeof(path), "%s/kernel", many[0].path);
	mkdir(path, 0700);
	for (i = 0; i < 20; i++)
		directory_release(&many[i]);
	say(is_there(path) && !is_there(many[1].path), "only directories without a trace are removed");
	return 0;
}
END
check "the test program compiles" cc -D_GNU_SOURCE -Wall -I ../../tools/record -I ../../tools -I ../../libkunwind/include \
	-o "$work/directory" "$work/directory.c" ../../tools/build/record-directory.o ../../tools/build/dir.o
mkdir "$work/in"
(cd "$work/in" && timeout 60 ../directory) >"$work/tap"
is "$?" 0 "the test program ends"
tap_from "$work/tap"
done_testing
