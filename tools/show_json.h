/* SPDX-License-Identifier: MIT */
/*
 * show_json.h - events and their stacks as JSON, an object on a line for each
 */
#ifndef KUNWIND_SHOW_JSON_H
#define KUNWIND_SHOW_JSON_H

#include "libkunwind-symbolize.h"
#include "show_event.h"

/*
 * An event without its stack: the object stays open. @but: contexts that are left
 * out; @but_fields: fields; NULL: none
 */
void kunwind_json_event(uint64_t number, const struct kunwind_head *head, const bt_event *event,
			const char *const *but, const char *const *but_fields);

/* Its stack, which may be empty, and the end of the object. @trust: of each frame, or NULL. */
void kunwind_json_stack(const struct kunwind_frame *frame, size_t nr, const uint8_t *trust);

#endif /* KUNWIND_SHOW_JSON_H */
