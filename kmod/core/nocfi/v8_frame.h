/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * v8_frame.h - whether rbp is the frame pointer of a JavaScript function of V8 (v8_frame.c)
 *
 * 64-bit code only. Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_V8_FRAME_H
#define _KUNWIND_V8_FRAME_H

#include "return_address.h"

/* @frame is in code of a JIT and has called; its rbp is known. */
bool kunwind_v8_frame(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame);

#endif /* _KUNWIND_V8_FRAME_H */
