// SPDX-License-Identifier: MIT
/*
 * doctor_ust.c - check what stacks of events of LTTng-UST need
 *
 * All lines are notes if something is missing, because events of the kernel do not need it. None of
 * this needs the module. kunwind is linked statically, so it looks for LTTng-UST's files itself.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "tool.h"
#include "ust_environment.h"

#define DIRECTORY_OF_USER	".lttng"

static void check_library(void)
{
	char path[PATH_MAX];

	if (kunwind_ust_library(path))
		doctor_line(DOCTOR_OK, "user-space stacks", path, NULL);
	else
		doctor_line(DOCTOR_NOTE, "user-space stacks", "libkunwind-ust-preload.so is not installed",
			    "%s", kunwind_tool_install("libkunwind-preload"));
}

/* Writes the path of a shared library in the directories of the system, or "". */
static void find_library(const char *name, char *path, size_t size)
{
	static const char *const directory[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/local/lib/x86_64-linux-gnu",
		"/usr/lib64", "/usr/lib", "/lib/x86_64-linux-gnu", "/lib64",
	};
	size_t i;

	for (i = 0; i < sizeof(directory) / sizeof(directory[0]); i++) {
		snprintf(path, size, "%s/%s", directory[i], name);
		if (!access(path, R_OK))
			return;
	}
	*path = '\0';
}

static void check_lttng_ust(void)
{
	char path[PATH_MAX], old[PATH_MAX];

	find_library("liblttng-ust.so.1", path, sizeof(path));
	find_library("liblttng-ust.so.0", old, sizeof(old));
	if (*path)
		doctor_line(DOCTOR_OK, "liblttng-ust", path, NULL);
	else if (*old)
		doctor_line(DOCTOR_NOTE, "liblttng-ust", "older than 2.13: its events have no stacks",
			    "sudo apt install liblttng-ust1, and rebuild the programs");
	else
		doctor_line(DOCTOR_NOTE, "liblttng-ust", "not in the system's directories, so only programs "
			    "that bring it have user-space events", "sudo apt install liblttng-ust1");
}

static void check_daemon(void)
{
	const char *home = getenv("LTTNG_HOME");
	char path[PATH_MAX];

	if (!home)
		home = getenv("HOME");
	snprintf(path, sizeof(path), "%s/" DIRECTORY_OF_USER "/" DOCTOR_CLIENT_SOCKET, home ? home : "");
	if (!doctor_connect(DOCTOR_ROOT_SOCKET))
		doctor_line(DOCTOR_OK, "user-space daemon", "root's lttng-sessiond is running", NULL);
	else if (geteuid() && home && !doctor_connect(path))
		doctor_line(DOCTOR_OK, "user-space daemon", "lttng-sessiond of this user is running", NULL);
	else
		doctor_line(DOCTOR_NOTE, "user-space daemon",
			    "not running; kunwind record --ust and lttng create start one", NULL);
}

void doctor_ust(void)
{
	check_library();
	check_lttng_ust();
	check_daemon();
}
