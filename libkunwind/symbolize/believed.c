// SPDX-License-Identifier: MIT
/*
 * believed.c - read a file that another user may have made
 *
 * The opener decides whether the file is believed (helper_open.c), and copies it, so
 * that a file system that hangs does not stop the program.
 */
#include <stdio.h>

#include "believed.h"
#include "internal.h"

int kunwind_read_believed(struct kunwind_symbolizer *symbolizer, const struct kunwind_believed *file,
			  bool *foreign)
{
	struct wire_open request = { .type = WIRE_OPEN_FILE, .slot = { KUNWIND_SLOT_OTHER, WIRE_NOBODY },
				     .owner = { file->owner, WIRE_NOBODY } };
	enum kunwind_opening opening = KUNWIND_OPENING_REFUSED;
	struct wire_opened opened;

	request.flags = file->given ? WIRE_OPEN_GIVEN : WIRE_OPEN_OWNED | WIRE_OPEN_NOFOLLOW;
	if (snprintf(request.path, sizeof(request.path), "%s", file->path) < (int)sizeof(request.path))
		opening = kunwind_helper_open(&symbolizer->helper, &request, &opened);
	*foreign = opening == KUNWIND_OPENING_FOREIGN;
	return opening == KUNWIND_OPENING_OK ?
		kunwind_opener_copy(&symbolizer->helper.opener, KUNWIND_SLOT_OTHER) : -1;
}
