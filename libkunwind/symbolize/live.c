// SPDX-License-Identifier: MIT
/*
 * live.c - the mappings of a running process, from /proc, or from a copy
 *
 * For a trace without events of a process, on the host and boot where it was
 * made. Process numbers are reused: the process must have been started before
 * the event, and its name must be the one in the event. A copy of
 * /proc/PID/maps has no such condition: the caller says whose it is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "maps.h"

int64_t kunwind_live_started(int pid, const char *comm)
{
	struct timespec real, boot;
	char path[64], line[1024], *p, *name;
	unsigned long long ticks;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[len] = '\0';
	/* fields are counted after the name, which may contain anything */
	p = strrchr(line, ')');
	name = strchr(line, '(');
	if (!p || !name || (comm && *comm && ((size_t)(p - name - 1) != strlen(comm) ||
					      strncmp(name + 1, comm, strlen(comm)))))
		return -1;
	if (sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			 "%*d %*d %*d %*d %llu", &ticks) != 1)
		return -1;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (int64_t)(real.tv_sec - boot.tv_sec) * 1000000000 + real.tv_nsec - boot.tv_nsec +
	       (int64_t)(ticks * (1000000000 / (unsigned long)sysconf(_SC_CLK_TCK)));
}

/* @live_pid: 0: the process may have ended. */
static struct kunwind_symbolizer_object *object_of(struct kunwind_symbolizer *symbolizer, int live_pid,
					const struct kunwind_maps_range *range, const char *name,
					uint64_t inode)
{
	struct kunwind_symbolizer_object *object = kunwind_symbolizer_object(symbolizer, name, "", inode);

	if (object && live_pid && object->state == KUNWIND_STATE_NEW) {
		object->live_pid = live_pid;
		object->live_start = range->start;
		object->live_end = range->end;
	}
	/* The vDSO needs no build-id: all processes of a host have the same one. */
	if (object && live_pid && !strcmp(name, "[vdso]"))
		object->own_vdso = true;
	return object;
}

int kunwind_live_read(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
		      const char *path, int pid, bool live)
{
	FILE *f = fopen(path, "re");
	char line[4200], name[4100], perms[8];
	uint64_t offset, inode, vaddr;
	int nr = 0, error;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		struct kunwind_maps_range range = { 0 };

		*name = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64
			   " %4099[^\n]", &range.start, &range.end, perms, &offset, &inode,
			   name) < 5)
			continue;
		if (perms[2] != 'x' || (*name != '/' && strcmp(name, "[vdso]")))
			continue;
		range.object = object_of(symbolizer, live ? pid : 0, &range, name, inode);
		if (!range.object)
			continue;
		if (!kunwind_object_address(range.object, offset, &vaddr))
			vaddr = offset;		/* no names then; use the offset */
		range.bias = range.start - vaddr;
		nr += kunwind_maps_live(maps, pid, &range);
	}
	error = ferror(f) ? errno : 0;
	fclose(f);
	errno = error;
	return error ? -1 : nr;
}

void kunwind_live_load(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
		       const struct kunwind_who *who, int pid)
{
	char path[64];
	int64_t started;

	/* another time, or the name of another thread, may be the process's */
	started = kunwind_live_started(pid, who->comm);
	if (started < 0 || started > who->time || !kunwind_maps_ask_live(maps, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	kunwind_live_read(maps, symbolizer, path, pid, true);
}
