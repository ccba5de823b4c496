// SPDX-License-Identifier: MIT
/*
 * disk.c - find out whether a recorded trace is cut off, because the disk was full, or files
 * of it were removed
 *
 * LTTng's consumer daemon gives up a stream when a write fails, and reports
 * nothing to the program that records. What it leaves is a stream file that ends
 * inside a packet, and which babeltrace2 does not open, or, if the write failed
 * between packets, a file system without space.
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dir.h"
#include "disk.h"
#include "trace/packets.h"

#define LITTLE	65536	/* bytes of space; a packet is written page by page */
#define LEVELS	8	/* of directories below that of a trace: host/session/kernel */

struct check {
	bool cut;	/* a file ended inside a packet */
	size_t whole;	/* number of whole packets */
	int levels;
};

/* Removes a packet that is cut off from the end of the file, and counts the others. */
static void check_file(struct check *check, int fd)
{
	struct kunwind_packets packets;
	int err;

	if (!kunwind_packets_read_fd(&packets, fd))
		return;
	check->cut = check->cut || packets.lost;
	check->whole += packets.nr;
	/* if it fails, the commands of kunwind can still read the trace */
	err = packets.lost ? ftruncate(fd, (off_t)packets.end) : 0;
	kunwind_packets_free(&packets);
	(void)err;
}

static bool check_name(int dir, const char *name, void *data)
{
	struct check *check = data, below = *check;
	int fd;

	if (!strcmp(name, "metadata"))
		return true;
	fd = kunwind_dir_file(dir, name, true);
	if (fd >= 0) {
		check_file(check, fd);
		close(fd);
		return true;
	}
	if (!check->levels || !strcmp(name, "index"))
		return true;
	fd = kunwind_dir_at(dir, name);
	if (fd < 0)
		return true;
	below.levels--;
	kunwind_dir_each(fd, check_name, &below);
	check->cut = below.cut;
	check->whole = below.whole;
	close(fd);
	return true;
}

struct count {
	size_t files;
	int levels;
};

static bool count_name(int dir, const char *name, void *data)
{
	struct count *count = data;
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !strcmp(name, "index"))
		return true;
	count->files += S_ISREG(st.st_mode);
	if (!S_ISDIR(st.st_mode) || !count->levels)
		return true;
	fd = kunwind_dir_at(dir, name);
	if (fd < 0)
		return true;
	count->levels--;
	kunwind_dir_each(fd, count_name, count);
	count->levels++;
	close(fd);
	return true;
}

size_t disk_files(int dir)
{
	struct count count = { .levels = LEVELS };

	kunwind_dir_each(dir, count_name, &count);
	return count.files;
}

enum disk disk_check(int dir)
{
	struct check check = { .levels = LEVELS };
	struct statvfs fs;

	kunwind_dir_each(dir, check_name, &check);
	if (!check.cut && (fstatvfs(dir, &fs) || (uint64_t)(geteuid() ? fs.f_bavail : fs.f_bfree) *
			   fs.f_frsize >= LITTLE))
		return DISK_ENOUGH;
	return check.whole ? DISK_FULL : DISK_FULL_EMPTY;
}
