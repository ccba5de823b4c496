/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ion_frame.h - the size of a frame of SpiderMonkey's compiled code (ion_frame.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_ION_FRAME_H
#define _KUNWIND_ION_FRAME_H

#include "return_address.h"

/* As kunwind_hotspot_frame(), for a frame that has pushed its size for the call. */
bool kunwind_ion_frame(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame, s32 *depth,
		       s32 *end);

#endif /* _KUNWIND_ION_FRAME_H */
