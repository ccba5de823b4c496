// SPDX-License-Identifier: MIT
/*
 * guard.c - end with a message if libbabeltrace2 fails in a damaged trace
 *
 * A length in a trace may be any number, and libbabeltrace2 trusts it: the library
 * fails with SIGSEGV, fails an assertion, or takes memory without end. So this
 * process may have PER_BYTE times the size of the traces and LEAST, at most half of the
 * machine's memory, and a fatal signal inside the library becomes a message and
 * status 1. Failures of other code keep their signal.
 */
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "at_end.h"
#include "guard.h"
#include "tool.h"

#define LEAST		(512ull << 20)
#define PER_BYTE	64

static uint64_t size_of(char *const *paths)
{
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	uint64_t size = 0;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts)))
		size += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_size : 0;
	if (fts)
		fts_close(fts);
	return size;
}

void kunwind_guard_memory(char *const *paths, int nr)
{
	static struct rlimit before;
	static uint64_t size;
	const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit;
	int i;

	for (i = 0; i < nr; i++)
		size += size_of((char *[]){ paths[i], NULL });
	if (!before.rlim_max && getrlimit(RLIMIT_DATA, &before))
		return;
	limit = before;
	if (limit.rlim_cur > half)
		limit.rlim_cur = half;
	if (size < half / PER_BYTE && limit.rlim_cur > LEAST + size * PER_BYTE)
		limit.rlim_cur = LEAST + size * PER_BYTE;
	setrlimit(RLIMIT_DATA, &limit);
}

void kunwind_guard_enter(void)
{
	static char message[256];	/* begins a line: the library may have printed half a one */

	if (!*message)
		snprintf(message, sizeof(message), "\nkunwind %s: the trace is damaged, or needs more "
			 "memory than is allowed: libbabeltrace2 failed while it read the trace\n",
			 kunwind_tool_name);
	kunwind_at_fault(message);
}

void kunwind_guard_leave(void)
{
	kunwind_at_fault(NULL);
}
