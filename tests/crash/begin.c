// SPDX-License-Identifier: MIT
/*
 * begin.c - reports of crashes for a program that is linked with libkunwind-crash
 *
 * The environment has the options, as for libkunwind-crash-preload.so.
 */
#include <stdlib.h>
#include <kunwind/crash.h>

static unsigned int number(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned int)atoi(text) : 0;
}

static __attribute__((__constructor__)) void begin(void)
{
	struct kunwind_crash_options options = {
		.size = sizeof(options), .fd = 2, .path = getenv("KUNWIND_CRASH_PATH"),
		.deadline_ms = number("KUNWIND_CRASH_DEADLINE"),
		.most_frames = number("KUNWIND_CRASH_FRAMES"),
	};

	if (options.path && kunwind_crash_init(&options))
		abort();
}
