/* SPDX-License-Identifier: MIT */
/*
 * lend.h - let another process read the file of an object
 *
 * For the tools, which contain the library. Not installed.
 */
#ifndef KUNWIND_LEND_H
#define KUNWIND_LEND_H

#include <stdbool.h>
#include <stdint.h>

struct kunwind_symbolizer;
struct kunwind_symbolizer_object;
struct wire_request;

/*
 * Sends @message with a descriptor of the file that has the object's code to the process at
 * the other end of @socket. The file has the object's build-id. False: there is no such file,
 * and nothing was sent. @why: out, for people.
 */
bool kunwind_object_lend(struct kunwind_symbolizer_object *object, int socket,
			 const struct wire_request *message, const char **why);

/*
 * The same for the file of a path, whose build-id is not known. The process at the other end
 * has to find out whether it is the right file. @inode: out, of the file.
 */
bool kunwind_path_lend(struct kunwind_symbolizer *symbolizer, const char *path, int socket,
		       const struct wire_request *message, uint64_t *inode, const char **why);

#endif /* KUNWIND_LEND_H */
