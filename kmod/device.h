/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - /dev/kunwind
 */
#ifndef _KUNWIND_DEVICE_H
#define _KUNWIND_DEVICE_H

int kunwind_device_init(void);
void kunwind_device_exit(void);

#endif /* _KUNWIND_DEVICE_H */
