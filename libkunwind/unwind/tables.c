// SPDX-License-Identifier: MIT
/*
 * tables.c - build whole tables, at once or in a thread
 *
 * As in the module (builder.c): CFI of .eh_frame and .debug_frame, Go's table, rows from
 * code. The file gives all of them; if the file is not the one that is loaded, or cannot
 * be read, the image in memory gives .eh_frame. A table is published in the ranges of its
 * object while walks use them.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "rows/unwind_info.h"

static bool stopped(void *data)
{
	return READ_ONCE(((struct kunwind_unwinder *)data)->stop);
}

/* Whether the file @b has the same segments and build-id as the image in memory, @a. */
static bool same_file(const struct kunwind_elf *a, const struct kunwind_elf *b)
{
	return a->nr_loads == b->nr_loads && a->build_id_len == b->build_id_len &&
	       a->entry == b->entry && (!a->eh_addr || a->eh_addr == b->eh_addr) &&
	       !memcmp(a->load, b->load, a->nr_loads * sizeof(a->load[0])) &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

/* The table of what was read. Frees @data. */
static struct kunwind_table *table_of(struct kunwind_unwinder *unwinder, struct kunwind_elf *elf,
				      u8 *data, u32 keep, size_t limit)
{
	struct kunwind_section sections[2];
	struct kunwind_table *table = NULL;

	kunwind_elf_sections(elf, data, data + elf->eh_size, sections);
	if (kunwind_table_build(&sections[0], keep, limit, stopped, unwinder, &table))
		table = NULL;
	free(data);
	return table;
}

/* All that the file says. @elf: its headers. */
static struct kunwind_table *from_headers(struct kunwind_unwinder *unwinder, kunwind_read_fn *read,
					  void *file, struct kunwind_elf *elf, u32 keep, size_t limit)
{
	struct kunwind_code_gaps *gaps = NULL;
	enum kunwind_build_error err;
	u8 *data;

	if (elf->eh_size > limit || elf->debug_size > limit)
		return NULL;
	data = malloc(elf->eh_size + elf->debug_size + 1);
	if (!data)
		return NULL;
	err = kunwind_unwind_info_read(read, file, elf, data);
	if (!err)
		err = kunwind_unwind_info_read_code(read, file, elf, data, NULL, stopped, unwinder, &gaps);
	if (!err)
		err = kunwind_unwind_info_add_rows(elf, gaps, NULL, stopped, unwinder, &data);
	if (err) {
		free(data);
		return NULL;
	}
	return table_of(unwinder, elf, data, keep, limit);
}

static struct kunwind_table *from_file(struct kunwind_unwinder *unwinder, int fd,
				       const struct kunwind_elf *loaded, size_t limit)
{
	struct kunwind_elf elf;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    kunwind_unwind_info_find(unwind_file_read, &fd, st.st_size, &elf) ||
	    (loaded && !same_file(loaded, &elf)))
		return NULL;
	return from_headers(unwinder, unwind_file_read, &fd, &elf, 0, limit);
}

/* The .eh_frame of the image. @keep: the vDSO's table follows all registers (builder.c). */
static struct kunwind_table *from_image(struct kunwind_unwinder *unwinder,
					const struct unwind_object *object, u32 keep, size_t limit)
{
	struct kunwind_elf elf = object->elf;
	pid_t pid = 0;
	u8 *data;

	if (!elf.eh_size || elf.eh_size > limit)
		return NULL;
	data = malloc(elf.eh_size);
	if (!data)
		return NULL;
	if (!unwind_copy(object->bias + elf.eh_addr, data, elf.eh_size, &pid)) {
		free(data);
		return NULL;
	}
	elf.debug_size = 0;
	return table_of(unwinder, &elf, data, keep, limit);
}

static struct kunwind_table *build(struct kunwind_unwinder *unwinder, struct unwind_object *object,
				   size_t limit)
{
	struct kunwind_table *table = NULL;
	int fd;

	if (!object->own)
		return object->fd < 0 ? NULL : from_file(unwinder, object->fd, NULL, limit);
	fd = object->path ? open(object->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd >= 0) {
		table = from_file(unwinder, fd, &object->elf, limit);
		close(fd);
	}
	return table ?: from_image(unwinder, object, object->path ? 0 : KUNWIND_SAVED_REGS, limit);
}

/* Publishes the table of the object in the snapshot's ranges. */
static void publish(struct unwind_snapshot *snapshot, const struct unwind_object *object)
{
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++)
		if (snapshot->info[i].object == object && snapshot->info[i].biased)
			__atomic_store_n(&snapshot->ranges.range[i].table, object->table, __ATOMIC_RELEASE);
}

/*
 * Returns an object of the snapshot whose table was not tried, and keeps it; or NULL.
 * @all: not only objects that have CFI, but no .eh_frame_hdr
 */
static struct unwind_object *next_object(struct kunwind_unwinder *unwinder, bool all)
{
	struct unwind_snapshot *snapshot = unwinder->snapshot;
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct unwind_object *object = snapshot->info[i].object;

		if (object && !object->tried && !object->read && (all || object->needs_table)) {
			object->tried = true;
			object->uses++;
			return object;
		}
	}
	return NULL;
}

/* The lock is held, except while a table is built. */
void unwind_tables_build(struct kunwind_unwinder *unwinder, bool all)
{
	struct unwind_object *object;
	struct kunwind_table *table;
	size_t limit;

	while (!unwinder->stop && (object = next_object(unwinder, all))) {
		limit = unwinder->memory;
		pthread_mutex_unlock(&unwinder->lock);
		table = build(unwinder, object, limit);
		pthread_mutex_lock(&unwinder->lock);
		object->uses--;
		if (!table)
			continue;
		object->table = table;
		unwinder->memory -= min(table->bytes, (u64)unwinder->memory);
		publish(unwinder->snapshot, object);
	}
}

/* Makes the bias and the build-id of an image known to its ranges and modules. */
static void settle_image(struct unwind_snapshot *snapshot, const struct unwind_object *object)
{
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_module *module = (struct kunwind_module *)snapshot->info[i].module;

		if (snapshot->info[i].object != object)
			continue;
		snapshot->ranges.range[i].reason = KUNWIND_NO_TABLE;
		if (!object->elf.nr_loads)
			continue;
		snapshot->info[i].biased = true;
		snapshot->ranges.range[i].bias = module->bias = object->bias;
		module->build_id_len = object->elf.build_id_len;
		memcpy(module->build_id, object->elf.build_id, sizeof(module->build_id));
	}
}

/* The table follows all callee-saved registers: those that other objects need are not known. */
static void build_image(struct kunwind_unwinder *unwinder, struct unwind_object *object)
{
	struct kunwind_elf *elf = &object->elf;
	enum kunwind_build_error err;

	err = kunwind_unwind_info_find(unwind_image_read, object, UNWIND_MOST_SIZE, elf);
	if ((err && err != KUNWIND_E_NO_CFI) || !elf->nr_loads) {
		memset(elf, 0, sizeof(*elf));
		return;
	}
	object->bias = object->image - unwind_image_vaddr(elf);
	if (err)
		return;
	object->table = from_headers(unwinder, unwind_image_read, object, elf, KUNWIND_SAVED_REGS,
				     unwinder->memory);
	if (object->table)
		unwinder->memory -= min(object->table->bytes, (u64)unwinder->memory);
}

bool unwind_tables_meet(struct kunwind_unwinder *unwinder, u64 addr)
{
	struct unwind_snapshot *snapshot = unwinder->snapshot;
	const struct kunwind_range *range = unwind_range_known(&snapshot->ranges, addr);
	struct unwind_object *object = range ? unwind_range_info(snapshot, range)->object : NULL;

	if (!object || !object->read || object->tried)
		return false;
	object->tried = true;
	build_image(unwinder, object);
	settle_image(snapshot, object);
	publish(snapshot, object);
	return true;
}

static void *run(void *data)
{
	struct kunwind_unwinder *unwinder = data;

	pthread_mutex_lock(&unwinder->lock);
	while (!unwinder->stop) {
		unwind_tables_build(unwinder, true);
		if (!unwinder->stop)
			pthread_cond_wait(&unwinder->wake, &unwinder->lock);
	}
	pthread_mutex_unlock(&unwinder->lock);
	return NULL;
}

/* The program's signals are for its own threads. */
bool unwind_tables_start(struct kunwind_unwinder *unwinder)
{
	sigset_t all, old;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old))
		return false;
	unwinder->has_thread = !pthread_create(&unwinder->thread, NULL, run, unwinder);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return unwinder->has_thread;
}

void unwind_tables_stop(struct kunwind_unwinder *unwinder)
{
	pthread_mutex_lock(&unwinder->lock);
	WRITE_ONCE(unwinder->stop, true);
	pthread_cond_signal(&unwinder->wake);
	pthread_mutex_unlock(&unwinder->lock);
	if (unwinder->has_thread)
		pthread_join(unwinder->thread, NULL);
}
