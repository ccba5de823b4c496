/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * hotspot_frame.h - the size of a frame of OpenJDK's compiled code (hotspot_frame.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_HOTSPOT_FRAME_H
#define _KUNWIND_HOTSPOT_FRAME_H

#include "return_address.h"

/* How many chunks of 64 bytes are searched. */
#define KUNWIND_HOTSPOT_NEAR	48	/* before methods that cost more */
#define KUNWIND_HOTSPOT_MOST	1024

/*
 * If the frame, which has called, is in a function that HotSpot has compiled: true, and
 * *depth is the distance from rsp up to the return address, *end that from the frame's
 * address to the end of the instructions that have made the frame; negative. @most: chunks.
 */
bool kunwind_hotspot_frame(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			   u32 most, s32 *depth, s32 *end);

#endif /* _KUNWIND_HOTSPOT_FRAME_H */
