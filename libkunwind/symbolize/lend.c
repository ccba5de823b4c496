// SPDX-License-Identifier: MIT
/*
 * lend.c - let another process read the file of an object; see lend.h
 *
 * The opener sends the descriptor, so neither this process nor the other one waits for a
 * file system that hangs.
 */
#include <stdio.h>

#include "internal.h"
#include "lend.h"

/* Of the other process. Generations of helper processes are smaller. */
#define GENERATION	UINT32_MAX

static bool pass(struct kunwind_symbolizer *symbolizer, int socket, const struct wire_request *message,
		 const char **why)
{
	const struct wire_open request = { .type = WIRE_OPEN_PASS, .pass = *message,
					   .slot = { KUNWIND_SLOT_MAIN, WIRE_NOBODY } };
	struct kunwind_opener *opener = &symbolizer->helper.opener;
	bool passed;

	/* The socket of an earlier process had the same generation. */
	if (opener->generation == GENERATION)
		opener->generation = 0;
	passed = kunwind_opener_pass(opener, &request, socket, GENERATION);
	*why = passed ? NULL : KUNWIND_WHY_NO_HELPER;
	return passed;
}

bool kunwind_object_lend(struct kunwind_symbolizer_object *object, int socket,
			 const struct wire_request *message, const char **why)
{
	struct kunwind_found_file found;
	enum kunwind_state state = KUNWIND_STATE_ABSENT;

	if (kunwind_find_object(object, true, &found, &state))
		return pass(object->symbolizer, socket, message, why);
	*why = kunwind_state_why(state);
	return false;
}

bool kunwind_path_lend(struct kunwind_symbolizer *symbolizer, const char *path, int socket,
		       const struct wire_request *message, uint64_t *inode, const char **why)
{
	struct wire_open request = { .type = WIRE_OPEN_FILE, .flags = WIRE_OPEN_ELF,
				     .slot = { KUNWIND_SLOT_MAIN, WIRE_NOBODY },
				     .owner = { WIRE_NOBODY, WIRE_NOBODY } };
	struct wire_opened opened;

	*why = kunwind_state_why(KUNWIND_STATE_ABSENT);
	if (snprintf(request.path, sizeof(request.path), "%s", path) >= (int)sizeof(request.path) ||
	    kunwind_helper_open(&symbolizer->helper, &request, &opened) != KUNWIND_OPENING_OK)
		return false;
	*inode = opened.inode;
	return pass(symbolizer, socket, message, why);
}
