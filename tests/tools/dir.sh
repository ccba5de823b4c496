#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dir.sh - tools/dir.c: which links are followed, for root and for other users
#
# A program makes links of several owners, and walks paths through them as root and
# as other users.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP only root makes links of other users"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

cat >"$work/dir.c" <<'END_C'
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dir.h"

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

static void make_link(const char *to, const char *name, uid_t owner)
{
	if (symlink(to, name) || lchown(name, owner, owner))
		exit(1);
}

/* Returns whether the path leads to @wanted; NULL: it is refused, with EACCES. */
static bool leads(const char *path, const char *wanted)
{
	char base[NAME_MAX + 1];
	int dir = kunwind_dir_find(path, base, sizeof(base));
	bool good = wanted ? dir >= 0 && !strcmp(base, wanted) : dir < 0 && errno == EACCES;

	if (dir >= 0)
		close(dir);
	return good;
}

int main(void)
{
	char base[4];

	if (mkdir("own", 0755) || mkdir("sticky", 0777) || chmod("sticky", 01777) || mkdir("target", 0755))
		return 1;
	make_link("../target/file", "own/root", 0);
	make_link("../target/file", "own/other", 1001);
	make_link("../target", "own/other-dir", 1001);
	make_link("../target/file", "sticky/other", 1001);
	make_link("../target/file", "sticky/mine", 1002);
	make_link("../target", "sticky/other-dir", 1001);
	make_link("../target/file", "sticky/root", 0);
	make_link("loop", "loop", 0);
	unsetenv("SUDO_UID");
	say(leads("own/root", "file") && leads("sticky/root", "file"), "root follows links of root");
	say(leads("own/other", NULL) && leads("sticky/other", NULL), "root follows no link of another user");
	say(leads("own/other-dir/x", NULL) && leads("sticky/other-dir/x", NULL), "root follows none above the last name either");
	setenv("SUDO_UID", "1001", 1);
	say(leads("own/other", "file") && leads("own/other-dir/x", "x") && leads("sticky/mine", NULL),
	    "root follows links of the user of sudo, and only of that one");
	setenv("SUDO_UID", "100", 1);
	say(leads("own/other", NULL), "a number that begins as SUDO_UID is another user");
	say(leads("target/new", "new") && leads("target/", ".") && leads("/", "."), "paths without links, also of what is missing");
	say(kunwind_dir_find("loop", base, sizeof(base)) < 0 && errno == ELOOP, "a loop of links");
	say(kunwind_dir_find("target/long", base, sizeof(base)) < 0 && errno == ENAMETOOLONG &&
	    kunwind_dir_find("target/new", base, sizeof(base)) >= 0, "a name that has no room");
	if (seteuid(1002))
		return 1;
	say(leads("own/other", "file") && leads("own/other-dir/x", "x"), "another user follows links in a directory of root");
	say(leads("sticky/other", NULL), "another user follows no link of a third one in a sticky directory");
	say(leads("sticky/mine", "file") && leads("sticky/root", "file"), "but the user's own links and root's");
	say(leads("sticky/other-dir/x", "x"), "and those above the last name");
	return 0;
}
END_C
check "the test program compiles" cc -D_GNU_SOURCE -Wall -I ../../tools -o "$work/dir" "$work/dir.c" ../../tools/build/dir.o
mkdir "$work/in"
(cd "$work/in" && timeout 60 ../dir) >"$work/tap"
is "$?" 0 "the test program ends"
tap_from "$work/tap"
done_testing
