// SPDX-License-Identifier: GPL-2.0-only
/*
 * name.c - the path of a mapped file, as the process that maps it sees it
 *
 * One file has many paths: mount namespaces, bind mounts and chroot() give each
 * process its own, and any user can make one. So a path belongs to a mapping of
 * one process, and not to the object, which all users share. Only a fork shares
 * names: its child has the parent's list of mappings.
 *
 * Memory: 16 bytes and the path, for each file that a process maps as code. A file that
 * is opened anew, or whose mappings lie among those of many others (scan.c), has
 * several. It is charged to the user whose process it is.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../compat/mm.h"
#include "../process/memory.h"
#include "name.h"
#include "object.h"

/*
 * Most paths fit into this, on the stack. Every exec names its files, and PATH_MAX
 * bytes are dear where the kernel zeroes what it allocates (init_on_alloc).
 */
#define SHORT	256
#define SHOWN	256	/* of a path in the status, bytes */

static struct kunwind_name *name_alloc(const char *path, struct kunwind_payer *payer)
{
	size_t len = strlen(path) + 1;
	struct kunwind_name *name;
	size_t size = struct_size(name, path, len);

	if (kunwind_object_make_room(payer, size)) {
		kunwind_memory_refused();
		return NULL;
	}
	name = kmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!name) {
		kunwind_memory_uncharge(payer, size);
		return NULL;
	}
	refcount_set(&name->refs, 1);
	name->size = size;
	name->payer = kunwind_payer_get(payer);
	memcpy(name->path, path, len);
	return name;
}

/* A path that does not fit a small buffer. */
static struct kunwind_name *long_name_of(struct file *file, struct kunwind_payer *payer)
{
	struct kunwind_name *name;
	char *buf, *path;

	buf = kmalloc(PATH_MAX, GFP_KERNEL | __GFP_NOWARN);
	if (!buf)
		return NULL;
	path = d_path(kunwind_file_path(file), buf, PATH_MAX);
	name = name_alloc(IS_ERR(path) ? "?" : path, payer);
	kfree(buf);
	return name;
}

struct kunwind_name *kunwind_name_of(struct file *file, struct kunwind_payer *payer)
{
	char buf[SHORT], *path;

	path = d_path(kunwind_file_path(file), buf, sizeof(buf));
	return IS_ERR(path) ? long_name_of(file, payer) : name_alloc(path, payer);
}

/* Its bytes when seq_escape() has written it. */
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
		/* Not from the middle of a character. */
		while ((*from & 0xc0) == 0x80)
			from++;
		seq_puts(m, "...");
	}
	seq_escape(m, from, "\t\n\\");
}

void kunwind_name_put(struct kunwind_name *name)
{
	if (!name || !refcount_dec_and_test(&name->refs))
		return;
	kunwind_memory_uncharge(name->payer, name->size);
	kunwind_payer_put(name->payer);
	kfree(name);
}
