// SPDX-License-Identifier: MIT
/*
 * disk.c - find out whether a recorded trace is cut off, because the disk was full
 *
 * LTTng's consumer daemon gives up a stream when a write fails, and reports
 * nothing to the program that records. What it leaves is a stream file that ends
 * inside a packet, and which babeltrace2 does not open, or, if the write failed
 * between packets, a file system without space.
 */
#include <fts.h>
#include <stdint.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "disk.h"
#include "trace/packets.h"

#define LITTLE	65536	/* bytes of space; a packet is written page by page */

/*
 * Returns whether the stream file ends inside a packet. Removes this packet.
 * *@kept: number of whole packets.
 */
static bool cut(const char *path, size_t *kept)
{
	struct kunwind_packets packets;
	bool lost;
	int err;

	*kept = 0;
	if (!kunwind_packets_read(&packets, path))
		return false;
	lost = packets.lost;
	*kept = packets.nr;
	/* if it fails, the commands of kunwind can still read the trace */
	err = lost ? truncate(path, (off_t)packets.end) : 0;
	kunwind_packets_free(&packets);
	(void)err;
	return lost;
}

enum disk disk_check(const char *dir)
{
	char *roots[] = { (char *)dir, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t whole = 0, kept;
	struct statvfs fs;
	bool full = false;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_D && !strcmp(entry->fts_name, "index"))
			fts_set(fts, entry, FTS_SKIP);
		if (entry->fts_info != FTS_F || !strcmp(entry->fts_name, "metadata"))
			continue;
		full = cut(entry->fts_accpath, &kept) || full;
		whole += kept;
	}
	if (fts)
		fts_close(fts);
	if (!full && (statvfs(dir, &fs) || (uint64_t)(geteuid() ? fs.f_bavail : fs.f_bfree) *
			fs.f_frsize >= LITTLE))
		return DISK_ENOUGH;
	return whole ? DISK_FULL : DISK_FULL_EMPTY;
}
