#!/bin/bash
# SPDX-License-Identifier: MIT
#
# race.sh - root works in a directory of another user, who replaces a file or a
# directory in it at any time
#
# A program forks a child that does the work (closing a recording, writing an
# export, removing a directory), stops it by ptrace(2) before its first system call
# for files, and replaces one name there; then again before the second one, and so on. After each
# run, nothing outside the directory has changed, and the child has ended.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=../../tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP only root works for another user"; exit 0; }

cat >"$work/race.c" <<'END_C'
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dir.h"
#include "tool.h"
#include "analyze/outdir.h"
#include "analyze/outfile.h"
#include "record/directory.h"
#include "record/disk.h"
#include "record/symbols.h"
#include "trace/inputs.h"

/* No file here is one of a trace that is read (inputs.py tests those). */
bool kunwind_inputs_have(char *const *paths, int nr, const struct stat *file, const struct stat *dir)
{
	(void)paths, (void)nr, (void)file, (void)dir;
	return false;
}

#define NOBODY	65534

/* The kernel's symbols are many; a few do here. */
FILE *fopen(const char *path, const char *mode)
{
	static char symbols[] = "ffffffff81000000 T start\n";
	int fd;

	if (!strcmp(path, "/proc/kallsyms"))
		return fmemopen(symbols, strlen(symbols), "r");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, mode);
}

/* ------------------------------------------------ the work */

static void check_disk(void)
{
	int dir = kunwind_dir_open("dir");

	if (dir >= 0)
		disk_check(dir);
}

static void take_directory(void)
{
	struct directory directory;

	if (!directory_take(&directory, "dir/new"))
		return;
	symbols_save(directory.lock, directory.path);
	symbols_remove(directory.lock);
	symbols_save(directory.lock, directory.path);
	directory_release(&directory);
}

static void take_existing(void)
{
	struct directory directory;

	if (!directory_take(&directory, "dir/sub"))
		return;
	symbols_save(directory.lock, directory.path);
	symbols_remove(directory.lock);
	directory_release(&directory);
}

static void write_file(void)
{
	struct outfile out;

	if (outfile_open(&out, "dir/sub/out")) {
		fputs("text", out.file);
		outfile_close(&out, true);
	}
}

static void put(const char *dir, const char *name)
{
	char path[200];
	int fd;

	/* as a library does that knows of no descriptors */
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd >= 0)
		close(fd);
}

static void write_directory(void)
{
	static struct outdir out;

	if (!outdir_open(&out, "dir/new"))
		return;
	if (!mkdir(out.inside, 0755)) {
		put(out.inside, "file");
		put(out.inside, "metadata");
	}
	outdir_close(&out, true);
}

static void abandon_directory(void)
{
	static struct outdir out;

	if (!outdir_open(&out, "dir/new"))
		return;
	if (!mkdir(out.inside, 0755))
		put(out.inside, "file");
	outdir_close(&out, false);
}

static void remove_directory(void)
{
	int dir = kunwind_dir_open("dir");

	if (dir >= 0)
		kunwind_dir_remove(dir, "sub", 8);
}

static void make_temporary(void)
{
	struct kunwind_dir_temporary temporary;
	int fd;

	setenv("TMPDIR", "dir/sub", 1);
	if (!kunwind_dir_temporary_make(&temporary, "new"))
		return;
	fd = kunwind_dir_create(temporary.fd, "file", 0600);
	if (fd >= 0)
		close(fd);
	kunwind_dir_temporary_remove(&temporary);
}

static const struct work {
	const char *name;
	void (*run)(void);
	const char *replaced[4];	/* what the owner of "dir" replaces, one at a time */
} works[] = {
	{ "full disk", check_disk, { "dir/channel_0", "dir/sub", "dir/sub/channel_1" } },
	{ "directory of a recording", take_directory, { "dir/new", "dir" } },
	{ "existing directory of a recording", take_existing, { "dir/sub", "dir/sub/kallsyms.gz", "dir" } },
	{ "output file", write_file, { "dir/sub", "dir/sub/out", "dir" } },
	{ "output directory", write_directory, { "dir/new", "dir/new/.kunwind-export", "dir/new/file", "dir" } },
	{ "abandoned output directory", abandon_directory, { "dir/new", "dir/new/.kunwind-export", "dir" } },
	{ "removal", remove_directory, { "dir/sub", "dir/sub/channel_1", "dir" } },
	{ "temporary directory", make_temporary, { "dir/sub", "dir" } },
};

/* ------------------------------------------------ the owner of the directory */

enum kind { LINK, HARD_LINK, FIFO, DIRECTORY, NR_KINDS };
static const char *const kinds[] = { "link", "hard link", "FIFO", "directory" };

/* A stream file that ends inside a packet: the work would cut it. */
static void make_stream(const char *path)
{
	struct {
		unsigned int magic;
		unsigned char uuid[16];
		unsigned int stream;
		unsigned long long instance, begin, end, content, packet, number, discarded;
		unsigned int cpu;
	} __attribute__((__packed__)) packet = { .magic = 0xc1fc1fc1, .content = 8 * 84, .packet = 8 * 84 };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	_Static_assert(sizeof(packet) == 84, "packet");
	if (fd < 0 || write(fd, &packet, sizeof(packet)) != sizeof(packet) ||
	    write(fd, &packet, sizeof(packet)) != sizeof(packet) || write(fd, &packet, 40) != 40)
		exit(2);
	close(fd);
}

static const char *const victims[] = { "victims/file", "victims/channel_1", "victims/out", "victims/kallsyms.gz",
				       "victims/sub/channel_1" };
#define NR_VICTIMS	(sizeof(victims) / sizeof(victims[0]))

static void prepare(bool empty)
{
	static const char *const names[] = { "dir", "other", "victims" };
	static const char *const dirs[] = { "dir", "dir/sub", "victims", "victims/sub" };
	size_t i;

	for (i = 0; i < 3; i++)
		kunwind_dir_remove(AT_FDCWD, names[i], 8);
	for (i = 0; i < 4; i++)
		if (mkdir(dirs[i], 0755) || (i < 2 && chown(dirs[i], NOBODY, NOBODY)))
			exit(2);
	if (!empty) {
		make_stream("dir/channel_0");
		make_stream("dir/sub/channel_1");
	}
	for (i = 0; i < NR_VICTIMS; i++)
		make_stream(victims[i]);
}

/* Puts something else in the place of @path, which may not exist. It leads to @victim. */
static void replace(const char *path, enum kind kind)
{
	struct stat st;
	bool is_dir = !lstat(path, &st) ? S_ISDIR(st.st_mode) : !strcmp(strrchr(path, '/') ?: path, "/new") ||
		      !strcmp(path, "dir");
	const char *victim = is_dir ? "victims" : "victims/file";
	char absolute[8192];

	rename(path, "other");
	snprintf(absolute, sizeof(absolute), "%s/%s", getenv("PWD"), victim);
	if (kind == LINK && (symlink(absolute, path) || lchown(path, NOBODY, NOBODY)))
		return;		/* the directory that has it has gone */
	if (kind == HARD_LINK && link(is_dir ? "victims/file" : absolute, path))
		return;
	if (kind == FIFO && (mkfifo(path, 0666) || lchown(path, NOBODY, NOBODY)))
		return;
	if (kind == DIRECTORY && !mkdir(path, 0777))
		lchown(path, NOBODY, NOBODY);
}

static bool count_name(int dir, const char *name, void *data)
{
	(void)dir, (void)name;
	++*(int *)data;
	return true;
}

/* Returns whether no name was added, and each victim is as prepare() has made it. */
static bool are_intact(void)
{
	int dir = kunwind_dir_open("victims"), names = 0;
	struct stat st;
	size_t i;

	kunwind_dir_each(dir, count_name, &names);
	close(dir);
	for (i = 0; i < NR_VICTIMS; i++)
		if (lstat(victims[i], &st) || st.st_size != 2 * 84 + 40 || st.st_mode != (S_IFREG | 0600) || st.st_uid) {
			printf("# changed: %s\n", victims[i]);
			return false;
		}
	if (names != 5)
		printf("# %d names, not 5\n", names);
	return names == 5;
}

/* Does the tracee begin a system call that depends on a name, or changes a file? */
static bool is_of_files(pid_t pid)
{
	static const long numbers[] = { SYS_open, SYS_openat, SYS_openat2, SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_unlink,
		SYS_unlinkat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat, SYS_truncate, SYS_ftruncate,
		SYS_stat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_readlink, SYS_readlinkat, SYS_access, SYS_faccessat,
		SYS_faccessat2, SYS_getdents64, SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown, SYS_fchown, SYS_write };
	struct __ptrace_syscall_info info;
	size_t i;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if ((long)info.entry.nr == numbers[i])
			return true;
	return false;
}

/* Runs the work, and replaces @path before the system call @at. Returns 0: it was over before; -1: it did not end. */
static int race(const struct work *work, const char *path, enum kind kind, int at)
{
	int status, i, tries;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 2);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		work->run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD);
	for (i = 0; i < at; i += is_of_files(pid)) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		if (waitpid(pid, &status, 0) != pid || WIFEXITED(status))
			return 0;
	}
	replace(path, kind);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	for (tries = 0; tries < 3000; tries++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return 1;
		usleep(tries < 100 ? 100 : 10000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

static bool race_all(const struct work *work, const char *path, enum kind kind, int *runs)
{
	int at, over = 1;

	*runs = 0;
	for (at = 1; over; at++) {
		prepare(work->run == take_existing);
		over = race(work, path, kind, at);
		if (over < 0 || !are_intact()) {
			printf("# %s at stop %d\n", over < 0 ? "the work does not end" : "replaced", at);
			return false;
		}
		++*runs;
	}
	return *runs > 3;
}

int main(void)
{
	size_t i, k;
	int runs, kind;
	bool good;

	kunwind_tool_name = "race";
	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		for (k = 0; k < 4 && works[i].replaced[k]; k++)
			for (kind = 0; kind < NR_KINDS; kind++) {
				good = race_all(&works[i], works[i].replaced[k], (enum kind)kind, &runs);
				printf("%sok - %s: %s becomes a %s\n# after each of %d system calls\n", good ? "" : "not ",
				       works[i].name, works[i].replaced[k], kinds[kind], runs);
				fflush(stdout);
			}
	return 0;
}
END_C
check "the test program compiles" cc -D_GNU_SOURCE -Wall -Wno-unused-result -I $tools -I $tools/record -I ../../libkunwind/include \
	-o "$work/race" "$work/race.c" $tools/build/record-{directory,disk,symbols}.o $tools/build/analyze-{outdir,outfile}.o \
	$tools/build/trace-{at_end,boot,packets}.o $tools/build/{dir,tool}.o -lz
mkdir "$work/in"
(cd "$work/in" && PWD=$PWD timeout 300 ../race) >"$work/tap"
is "$?" 0 "the test program ends"
tap_from "$work/tap"
done_testing
