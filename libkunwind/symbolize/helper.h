/* SPDX-License-Identifier: MIT */
/*
 * helper.h - the parts of the helper process
 */
#ifndef KUNWIND_HELPER_H
#define KUNWIND_HELPER_H

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

/*
 * Gives up all privileges, sets limits on resources, and forbids all system calls
 * that parsing does not need. Returns NULL, or the name of what failed.
 */
const char *kunwind_sandbox_enter(unsigned int memory_mb);

/*
 * Prints the path of a file that a debuginfod server has. @kind: "debuginfo" or
 * "executable". Returns an exit status.
 */
int kunwind_fetch(const char *kind, const char *build_id);

/* Opens files for the library until the socket is closed. Returns an exit status. */
int kunwind_serve_files(void);

/* Call this before kunwind_sandbox_enter(): it may open a library. */
void kunwind_demangle_init(void);

/* Returns a name as its language writes it; NULL: it is no such name. The caller frees it. */
char *kunwind_demangled(const char *name);

/*
 * Carries out one request, and closes its descriptors or keeps them. The answer
 * begins with a struct wire_reply, in @answer of WIRE_MAX bytes. Returns the
 * length of the answer.
 */
size_t kunwind_serve(const struct wire_request *request, int *fds, char *answer);

#endif /* KUNWIND_HELPER_H */
