// SPDX-License-Identifier: MIT
/*
 * process.c - the helper process, from the library's side
 *
 * Files for the helper come from the opener (opener.c). This file checks the length
 * of an answer; the readers of the answer check the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define PROGRAM		"kunwind-symbolize-helper"
#define FETCH_LIMIT_MS	(5 * 60 * 1000)
#define MAX_FAILED	3

void kunwind_helper_stop(struct kunwind_helper *helper)
{
	kunwind_child_stop(&helper->child);
}

static bool start(struct kunwind_helper *helper)
{
	const struct kunwind_program program = { .given = helper->program };
	char memory[16], seconds[16];
	char *args[] = { PROGRAM, memory, seconds, NULL };

	snprintf(memory, sizeof(memory), "%u", helper->memory_limit_mb);
	snprintf(seconds, sizeof(seconds), "%u", helper->time_limit_ms / 1000 + 1);
	if (!kunwind_child_start(&helper->child, &program, args))
		return false;
	helper->generation++;
	helper->started++;
	return true;
}

static void lose(struct kunwind_helper *helper)
{
	helper->lost++;
	kunwind_helper_stop(helper);
}

bool kunwind_helper_send(struct kunwind_helper *helper, const struct wire_request *request)
{
	if (!helper->child.pid)
		return false;
	if (wire_send(helper->child.socket, request, sizeof(*request), NULL, 0))
		return true;
	lose(helper);
	return false;
}

static enum kunwind_asked receive(struct kunwind_helper *helper, void *reply, size_t *len)
{
	enum kunwind_waited waited = kunwind_child_wait(&helper->child, helper->time_limit_ms);
	ssize_t got;

	if (waited != KUNWIND_WAITED) {
		lose(helper);
		return waited == KUNWIND_WAITED_HANGS ? KUNWIND_ASKED_HANGS : KUNWIND_ASKED_SLOW;
	}
	got = wire_receive(helper->child.socket, reply, WIRE_MAX, NULL);
	if (got < (ssize_t)sizeof(struct wire_reply)) {
		lose(helper);
		return KUNWIND_ASKED_DIED;
	}
	*len = (size_t)got;
	return KUNWIND_ASKED;
}

bool kunwind_helper_receive(struct kunwind_helper *helper, void *reply, size_t *len)
{
	return helper->child.pid && receive(helper, reply, len) == KUNWIND_ASKED;
}

static enum kunwind_asked exchange(struct kunwind_helper *helper, const struct wire_request *request,
				   void *reply, size_t *len)
{
	return kunwind_helper_send(helper, request) ? receive(helper, reply, len) : KUNWIND_ASKED_DIED;
}

bool kunwind_helper_lives(const struct kunwind_helper *helper, unsigned int generation)
{
	return helper->child.pid && helper->generation == generation;
}

bool kunwind_helper_ensure(struct kunwind_helper *helper, void *reply)
{
	struct wire_request hello = { .type = WIRE_HELLO };
	size_t len;

	if (helper->child.pid)
		return true;
	if (helper->failed >= MAX_FAILED)
		return false;
	if (start(helper) && exchange(helper, &hello, reply, &len) == KUNWIND_ASKED &&
	    ((struct wire_reply *)reply)->flags == WIRE_VERSION) {
		helper->failed = 0;
		return true;
	}
	kunwind_helper_stop(helper);
	helper->failed++;
	return false;
}

enum kunwind_asked kunwind_helper_ask(struct kunwind_helper *helper, const struct wire_request *request,
				      void *reply, size_t *len)
{
	if (!kunwind_helper_ensure(helper, reply))
		return KUNWIND_ASKED_NOBODY;
	return exchange(helper, request, reply, len);
}

enum kunwind_asked kunwind_helper_give(struct kunwind_helper *helper, const struct wire_request *request,
				       uint32_t slot, uint32_t other, unsigned int flags, void *reply,
				       size_t *len)
{
	const struct wire_open pass = { .type = WIRE_OPEN_PASS, .flags = flags, .slot = { slot, other },
					.pass = *request };

	if (!kunwind_helper_ensure(helper, reply))
		return KUNWIND_ASKED_NOBODY;
	if (kunwind_opener_pass(&helper->opener, &pass, helper->child.socket, helper->generation))
		return receive(helper, reply, len);
	/* it is not known whether the helper has the request */
	lose(helper);
	return KUNWIND_ASKED_DIED;
}

enum kunwind_opening kunwind_helper_open(struct kunwind_helper *helper, const struct wire_open *request,
					 struct wire_opened *opened)
{
	return kunwind_opener_open(&helper->opener, helper->program, request, opened);
}

bool kunwind_helper_fetch(struct kunwind_helper *helper, const char *kind, const char *build_id,
			  char *path, size_t size)
{
	const struct kunwind_program program = { .given = helper->program };
	char *args[] = { PROGRAM, "--fetch", (char *)kind, (char *)build_id, NULL };
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls && kunwind_child_run(&program, args, FETCH_LIMIT_MS, path, size) &&
	       *path == '/';
}
