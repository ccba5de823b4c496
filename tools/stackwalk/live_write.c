// SPDX-License-Identifier: MIT
/*
 * live_write.c - write what was read of a process, for the walker (libkunwind/dump/running.h)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live.h"
#include "tool.h"

static void put(FILE *to, const void *bytes, size_t len)
{
	if (len)
		fwrite(bytes, len, 1, to);
}

static void put_mappings(FILE *to, const struct live_process *live)
{
	size_t i;

	for (i = 0; i < live->nr_mappings; i++) {
		const struct live_mapping *from = &live->mapping[i];
		const struct running_mapping mapping = {
			.start = from->start, .end = from->end, .offset = from->offset,
			.is_code = from->is_code,
			.path_len = from->path ? (uint32_t)strlen(from->path) + 1 : 0,
		};

		put(to, &mapping, sizeof(mapping));
		put(to, from->path, mapping.path_len);
	}
}

static void put_threads(FILE *to, const struct live_process *live)
{
	size_t i;

	for (i = 0; i < live->nr_threads; i++) {
		const struct live_thread *from = &live->thread[i];
		struct running_thread thread = {
			.tid = (uint32_t)from->tid, .known = from->taken != LIVE_NOT,
		};

		if (thread.known)
			thread.regs = from->stack.regs;
		memcpy(thread.name, from->name, sizeof(thread.name));
		put(to, &thread, sizeof(thread));
	}
}

/* The memory of thread @number of its own moment. */
static void put_pages(FILE *to, const struct live_pages *pages, size_t number)
{
	struct running_region region = { .thread = (uint32_t)number + 1 };
	const void *bytes;
	uint32_t i;

	for (i = 0; i < live_nr_pages(pages); i++) {
		bytes = live_page(pages, i, &region);
		put(to, &region, sizeof(region));
		put(to, bytes, region.len);
	}
}

static void put_copy(FILE *to, const struct live_copy *copy)
{
	const struct running_region region = { .start = copy->start, .len = copy->len };

	put(to, &region, sizeof(region));
	put(to, copy->bytes, copy->len);
}

static void put_all(FILE *to, const struct live_process *live)
{
	struct running_header header = {
		.magic = RUNNING_MAGIC, .i386 = live->i386, .auxv_len = (uint32_t)live->auxv_len,
		.nr_mappings = (uint32_t)live->nr_mappings, .nr_threads = (uint32_t)live->nr_threads,
		.nr_regions = (uint32_t)live->nr_modules, .pid = live->pid,
	};
	size_t i;
	uint32_t k;

	for (i = 0; i < live->nr_threads; i++)
		header.nr_regions += live->thread[i].stack.nr_copies +
				     live_nr_pages(live->thread[i].stack.pages);
	memcpy(header.command, live->command, sizeof(header.command));
	put(to, &header, sizeof(header));
	put(to, live->auxv, live->auxv_len);
	put_mappings(to, live);
	put_threads(to, live);
	for (i = 0; i < live->nr_modules; i++)
		put_copy(to, &live->module[i]);
	for (i = 0; i < live->nr_threads; i++)
		for (k = 0; k < live->thread[i].stack.nr_copies; k++)
			put_copy(to, &live->thread[i].stack.copy[k]);
	for (i = 0; i < live->nr_threads; i++)
		put_pages(to, live->thread[i].stack.pages, i);
}

int live_write(const struct live_process *live)
{
	int fd = memfd_create("kunwind-stack", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd);
	FILE *to = copy < 0 ? NULL : fdopen(copy, "w");
	bool ok = to;

	if (to) {
		put_all(to, live);
		ok = !ferror(to);
		ok = !fclose(to) && ok;
	} else if (copy >= 0) {
		close(copy);
	}
	if (ok)
		return fd;
	kunwind_tool_error("cannot keep the stacks: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
