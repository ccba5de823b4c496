/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * name.h - the path of a mapped file, as the reader of the mappings sees it
 */
#ifndef _KUNWIND_NAME_H
#define _KUNWIND_NAME_H

#include <linux/refcount.h>
#include <linux/types.h>

struct file;
struct kunwind_quota;
struct seq_file;

struct kunwind_name {
	refcount_t refs;
	u32 size;			/* bytes that are charged */
	struct kunwind_quota *quota;	/* of the user to whom they are charged; NULL: nobody */
	char path[];
};

/*
 * Returns the path of @file from the current task's root ("?" if it is too
 * long), with a reference, charged to @quota. NULL: no memory, or over a limit.
 * May sleep.
 */
struct kunwind_name *kunwind_name_of(struct file *file, struct kunwind_quota *quota);

/* Takes a reference. No sleep. Here and in kunwind_name_put(), NULL is fine. */
static inline struct kunwind_name *kunwind_name_get(struct kunwind_name *name)
{
	if (name)
		refcount_inc(&name->refs);
	return name;
}

/*
 * Writes a path to the status, escaped; of a long path the end, after "...".
 * The length is limited because users choose names and one text has them all.
 */
void kunwind_name_show(struct seq_file *m, const char *path);

/* Process context; no sleep. */
void kunwind_name_put(struct kunwind_name *name);

#endif /* _KUNWIND_NAME_H */
