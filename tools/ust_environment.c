// SPDX-License-Identifier: MIT
/*
 * ust_environment.c - run a command so that its events of LTTng-UST have stacks
 *
 * libkunwind-ust-preload.so registers the context with the stack (kunwind_ust_register(3)). It
 * does nothing in a program that does not load LTTng-UST.
 *
 * LTTng-UST waits 3 seconds for a session daemon to answer, and then lets the program go on, so
 * that its first events are lost. On a busy machine this is too short. A limit remains: a daemon
 * that hangs shall not stop the program for ever. Without a daemon there is no wait.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"
#include "ust_environment.h"

#define LIBRARY	"libkunwind-ust-preload.so"
#ifndef KUNWIND_LIB
#define KUNWIND_LIB	"lib"	/* LIBDIR, as seen from PREFIX */
#endif
#define WAIT_MS	"60000"

bool kunwind_ust_library(char *path)
{
	/* from bin, from libexec/kunwind, and from tools/build in the source */
	static const char *const place[] = {
		"../" KUNWIND_LIB "/", "../../" KUNWIND_LIB "/", "../../libkunwind/ust/build/"
	};
	char beside[PATH_MAX], *base;
	ssize_t n = readlink("/proc/self/exe", beside, sizeof(beside) - 64);
	size_t i;

	strcpy(path, LIBRARY);
	if (n <= 0)
		return false;
	beside[n] = '\0';
	base = strrchr(beside, '/') + 1;
	for (i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		strcpy(stpcpy(base, place[i]), LIBRARY);
		if (!access(beside, R_OK) && realpath(beside, path))
			return true;
	}
	strcpy(stpcpy(base, place[0]), LIBRARY);
	strcpy(path, beside);
	return false;
}

bool kunwind_ust_environment(void)
{
	const char *old = getenv("LD_PRELOAD");
	char path[PATH_MAX], *preload;
	int err = 0;

	if (!kunwind_ust_library(path)) {
		kunwind_tool_error("%s: not found: %s", path, kunwind_tool_install("libkunwind-preload"));
		return false;
	}
	if (strpbrk(path, " :")) {
		kunwind_tool_error("%s: LD_PRELOAD takes no path with a blank or a colon: install kunwind "
				   "elsewhere", path);
		return false;
	}
	if (asprintf(&preload, "%s%s%s", path, old && *old ? ":" : "", old ? old : "") < 0) {
		kunwind_tool_error("out of memory");
		return false;
	}
	if (setenv("LD_PRELOAD", preload, 1) || setenv("LTTNG_UST_REGISTER_TIMEOUT", WAIT_MS, 0))
		err = errno;
	free(preload);
	if (err)
		kunwind_tool_error("environment: %s", strerror(err));
	return !err;
}
