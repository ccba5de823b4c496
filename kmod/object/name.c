// SPDX-License-Identifier: GPL-2.0-only
/*
 * name.c - the path of a mapped file, as the reader of the mappings sees it
 *
 * The reader is mostly a task of the process itself, otherwise the task or
 * worker that registers the process.
 *
 * One file has many paths: mount namespaces, bind mounts and chroot() give each
 * process its own, and any user can make one. So a path belongs to a mapping of
 * one process, not to the object, which all users share. Processes share a name
 * only after fork, because the child has the parent's list of mappings.
 *
 * Process context. Memory: 16 bytes and the path for each file that a process
 * maps as code, charged to the user of the process. A file that is opened
 * again, or whose mappings lie between those of many others (read_mappings.c),
 * has several names.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../compat/mm.h"
#include "../base/memory_limit.h"
#include "name.h"

/*
 * Most paths fit into this buffer on the stack. Each exec names its files, and
 * PATH_MAX bytes cost time if the kernel zeroes allocations (init_on_alloc).
 */
#define SHORT	256
#define SHOWN	256	/* most bytes of a path in the status */

static struct kunwind_name *name_alloc(const char *path, struct kunwind_quota *quota)
{
	size_t len = strlen(path) + 1;
	struct kunwind_name *name;
	size_t charged;

	name = kunwind_memory_alloc(quota, struct_size(name, path, len), GFP_KERNEL, &charged);
	if (!name)
		return NULL;
	refcount_set(&name->refs, 1);
	name->size = charged;
	name->quota = kunwind_quota_get(quota);
	memcpy(name->path, path, len);
	return name;
}

/* For a path that does not fit into SHORT bytes. NULL: no memory. */
static struct kunwind_name *long_name_of(struct file *file, struct kunwind_quota *quota)
{
	struct kunwind_name *name;
	char *buf, *path;

	buf = kmalloc(PATH_MAX, GFP_KERNEL | __GFP_NOWARN);
	if (!buf)
		return NULL;
	path = d_path(kunwind_file_path(file), buf, PATH_MAX);
	name = name_alloc(IS_ERR(path) ? "?" : path, quota);
	kfree(buf);
	return name;
}

struct kunwind_name *kunwind_name_of(struct file *file, struct kunwind_quota *quota)
{
	char buf[SHORT], *path;

	path = d_path(kunwind_file_path(file), buf, sizeof(buf));
	return IS_ERR(path) ? long_name_of(file, quota) : name_alloc(path, quota);
}

/* How many bytes seq_escape() writes for it. */
static unsigned int shown_width(char c)
{
	return c == '\t' || c == '\n' || c == '\\' ? 4 : 1;
}

void kunwind_name_show(struct seq_file *m, const char *path)
{
	const char *from = path + strlen(path);
	unsigned int shown = 0;

	while (from > path && shown + shown_width(from[-1]) <= SHOWN)
		shown += shown_width(*--from);
	if (from > path) {
		/* Do not start in the middle of a UTF-8 character. */
		while ((*from & 0xc0) == 0x80)
			from++;
		seq_puts(m, "...");
	}
	seq_escape(m, from, "\t\n\\");
}

void kunwind_name_put(struct kunwind_name *name)
{
	struct kunwind_quota *quota;

	if (!name || !refcount_dec_and_test(&name->refs))
		return;
	quota = name->quota;
	kunwind_memory_free(quota, name, name->size);
	kunwind_quota_put(quota);
}
