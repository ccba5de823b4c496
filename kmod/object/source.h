/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.h - the file that an object is built from
 */
#ifndef _KUNWIND_SOURCE_H
#define _KUNWIND_SOURCE_H

#include <linux/types.h>

struct file;
struct kunwind_object;

/*
 * Prepares a new object to be built from @file (NULL: the vDSO): takes a
 * reference to the file and, if @remote, to the module. Returns false if the
 * module is being unloaded.
 */
bool __must_check kunwind_source_attach(struct kunwind_object *object, struct file *file,
					bool remote);
/*
 * Undoes kunwind_source_attach() for an object that was never queued, while the
 * caller has the file open. No effect after kunwind_source_close().
 */
void kunwind_source_detach(struct kunwind_object *object);
/* Closes the file; may wait for its file system. Only for workers of queues. */
void kunwind_source_close(struct kunwind_object *object);

/*
 * Call these before the first read, and after the last one: in between, the
 * build has a reference to the module. hold() returns false if the module is
 * being unloaded.
 */
bool __must_check kunwind_source_hold(struct kunwind_object *object);
void kunwind_source_done(struct kunwind_object *object);

/* Whether the object's file can be read into a kernel buffer. */
bool kunwind_source_readable(const struct kunwind_object *object);

/*
 * Reads at most @len bytes of the object's file, which may never return if the
 * file is remote. Returns how many, 0 at the end of the file, or an error.
 */
ssize_t kunwind_source_read(const struct kunwind_object *object, void *buf, size_t len, loff_t pos);

/* Whether the file is certainly in the state that the object's key names. */
bool kunwind_source_unchanged(const struct kunwind_object *object);

/*
 * Whether no task is to wait for the object, because too many waits for its
 * file system have timed out. kunwind_source_stalled(): one more wait for the
 * object has timed out.
 */
bool kunwind_source_stalls(const struct kunwind_object *object);
void kunwind_source_stalled(struct kunwind_object *object);

#endif /* _KUNWIND_SOURCE_H */
