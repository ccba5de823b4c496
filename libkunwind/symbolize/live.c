// SPDX-License-Identifier: MIT
/*
 * live.c - the mappings of a running process, from /proc
 *
 * For a trace without events of a process, on the host and boot where it was
 * made. Process numbers are reused: the process must have been started before
 * the event, and its name must be the one in the event.
 */
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

static struct kunwind_object *live_object(struct kunwind_symbolizer *symbolizer, int pid,
					  const struct kunwind_range *range, const char *name,
					  uint64_t inode)
{
	struct kunwind_object *object = kunwind_symbolizer_object(symbolizer, name, "", inode);

	if (object && object->state == KUNWIND_STATE_NEW) {
		object->live_pid = pid;
		object->live_start = range->start;
		object->live_end = range->end;
	}
	return object;
}

/* The vDSO needs no build-id: all processes of a host have the same one. */
static void vdso_identity(struct kunwind_object *object)
{
	if (!strcmp(object->path, "[vdso]"))
		object->own_vdso = true;
}

void kunwind_live_load(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
		       const struct kunwind_who *who, int pid)
{
	char line[4200], name[4100], perms[8], path[64];
	uint64_t offset, inode, vaddr;
	int64_t started;
	FILE *f;

	/* another time, or the name of another thread, may be the process's */
	started = kunwind_live_started(pid, who->comm);
	if (started < 0 || started > who->time || !kunwind_maps_ask_live(maps, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		struct kunwind_range range = { 0 };

		*name = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64
			   " %4099[^\n]", &range.start, &range.end, perms, &offset, &inode,
			   name) < 5)
			continue;
		if (perms[2] != 'x' || (*name != '/' && strcmp(name, "[vdso]")))
			continue;
		range.object = live_object(symbolizer, pid, &range, name, inode);
		if (!range.object)
			continue;
		vdso_identity(range.object);
		if (!kunwind_object_address(range.object, offset, &vaddr))
			vaddr = offset;		/* no names then; use the offset */
		range.bias = range.start - vaddr;
		kunwind_maps_live(maps, pid, &range);
	}
	fclose(f);
}
