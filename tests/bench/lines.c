// SPDX-License-Identifier: MIT
/*
 * lines.c - count the lines of the data cache that a walk touches (lines.h)
 *
 * This file itself is built without -fsanitize=thread.
 */
#include "lines.h"
#include "table/table.h"

#define MOST	8192

static u64 touched[MOST];
static u32 nr_touched;
static bool on;

static void touch(u64 addr, u64 size)
{
	u64 line;
	u32 i;

	if (!on)
		return;
	for (line = addr / LINE_SIZE; line <= (addr + size - 1) / LINE_SIZE; line++) {
		for (i = nr_touched; i; i--)
			if (touched[i - 1] == line)
				break;
		if (i)
			continue;
		if (nr_touched == MOST)
			abort();
		touched[nr_touched++] = line;
	}
}

void lines_begin(void)
{
	nr_touched = 0;
	on = true;
}

static bool within(u64 line, u64 lo, u64 hi)
{
	return line * LINE_SIZE + LINE_SIZE > lo && line * LINE_SIZE < hi;
}

static bool of_table(u64 line, const struct kunwind_ranges *ranges)
{
	u32 i;

	for (i = 0; i < ranges->nr; i++) {
		const struct kunwind_table *table = ranges->range[i].table;

		if (table && within(line, (u64)table, (u64)table + table->bytes))
			return true;
	}
	return false;
}

void lines_end(u64 lo, u64 hi, const struct kunwind_walk *walk, struct lines *lines)
{
	u32 i;

	on = false;
	*lines = (struct lines){ 0 };
	for (i = 0; i < nr_touched; i++) {
		if (within(touched[i], lo, hi))
			lines->stack++;
		else if (within(touched[i], (u64)walk->cache, (u64)(walk->cache + 1)))
			lines->cache++;
		else if (of_table(touched[i], walk->ranges))
			lines->table++;
		else
			lines->other++;
	}
}

#define ACCESS(bytes)								\
void __tsan_read##bytes(void *addr);						\
void __tsan_read##bytes(void *addr)						\
{										\
	touch((u64)addr, bytes);						\
}										\
void __tsan_write##bytes(void *addr);						\
void __tsan_write##bytes(void *addr)						\
{										\
	touch((u64)addr, bytes);						\
}										\
void __tsan_unaligned_read##bytes(void *addr);					\
void __tsan_unaligned_read##bytes(void *addr)					\
{										\
	touch((u64)addr, bytes);						\
}										\
void __tsan_unaligned_write##bytes(void *addr);					\
void __tsan_unaligned_write##bytes(void *addr)					\
{										\
	touch((u64)addr, bytes);						\
}
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)

#define RANGE(name)								\
void name(void *addr, size_t size);						\
void name(void *addr, size_t size)						\
{										\
	if (size)								\
		touch((u64)addr, size);						\
}
RANGE(__tsan_read_range)
RANGE(__tsan_write_range)

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __tsan_init(void);
void __tsan_init(void)
{
}
