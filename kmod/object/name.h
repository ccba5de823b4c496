/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * name.h - the path of a mapped file, as the process that maps it sees it
 */
#ifndef _KUNWIND_NAME_H
#define _KUNWIND_NAME_H

#include <linux/refcount.h>
#include <linux/types.h>

struct file;
struct kunwind_payer;
struct seq_file;

struct kunwind_name {
	refcount_t refs;
	u32 size;			/* charged, bytes */
	struct kunwind_payer *payer;	/* to whom; NULL: nobody */
	char path[];
};

/* The path of @file from the current task's root. NULL: no memory. May sleep. */
struct kunwind_name *kunwind_name_of(struct file *file, struct kunwind_payer *payer);

/* @name may be NULL in this and in kunwind_name_put(). No sleep. */
static inline struct kunwind_name *kunwind_name_get(struct kunwind_name *name)
{
	if (name)
		refcount_inc(&name->refs);
	return name;
}

/*
 * Shows a path, escaped; of a long one its end, behind "...". Users choose names, and
 * one text has those of all objects.
 */
void kunwind_name_show(struct seq_file *m, const char *path);

/* Process context; no sleep. */
void kunwind_name_put(struct kunwind_name *name);

#endif /* _KUNWIND_NAME_H */
