/* SPDX-License-Identifier: MIT */
/*
 * helper.h - the parts of the helper process
 */
#ifndef KUNWIND_HELPER_H
#define KUNWIND_HELPER_H

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

/* Limits on resources; then no more system calls than parsing takes. Names what failed, or NULL. */
const char *kunwind_sandbox_enter(unsigned int memory_mb);

/*
 * Prints the path of a file that a debuginfod server has. @kind: "debuginfo" or
 * "executable". Return: an exit status.
 */
int kunwind_fetch(const char *kind, const char *build_id);

/* Objects, and the answers about them. */
void kunwind_serve_init(void);

/*
 * Carries out one request; takes the descriptors. Return: bytes of the answer,
 * which begins with a struct wire_reply, in @answer of WIRE_MAX bytes.
 */
size_t kunwind_serve(const struct wire_request *request, int *fds, char *answer);

#endif /* KUNWIND_HELPER_H */
