/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map_event.h - emit kunwind_map for a range
 */
#ifndef _KUNWIND_MAP_EVENT_H
#define _KUNWIND_MAP_EVENT_H

#include "../core/kunwind_core.h"
#include "../object/object.h"
#include "../trace/emit.h"
#include "../trace/kunwind_events.h"
#include "snapshot.h"

/* Emits kunwind_map for a range whose object is not pending (emit.h). */
static inline void kunwind_trace_map(pid_t tgid, const struct kunwind_range *range,
				     const struct kunwind_detail *detail)
{
	const struct kunwind_object *object = detail->object;

	KUNWIND_EMIT(kunwind_map, tgid, range->start, range->end, detail->offset, range->bias,
		     object->key.dev, object->key.dev ? object->key.ino : 0,
		     object->elf.build_id, object->has_elf ? object->elf.build_id_len : 0,
		     kunwind_object_path(object, detail->name));
}

#endif /* _KUNWIND_MAP_EVENT_H */
