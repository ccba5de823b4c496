/* SPDX-License-Identifier: MIT */
/*
 * device.h - calls to /dev/kunwind; see device.c
 */
#ifndef KUNWIND_DEVICE_H
#define KUNWIND_DEVICE_H

#include <sys/types.h>

/* One ioctl on a descriptor opened for it. 0 or negative errno. */
int kunwind_device_once(unsigned long request, void *argument);

/* One ioctl on the kept descriptor. 0 or negative errno. */
int kunwind_device_kept(unsigned long request, void *argument);

/* Closes the kept descriptor, if there is one. */
void kunwind_device_release(void);

/* A descriptor of /proc/PID/mem, or -ESRCH, -EPERM, another negative errno. */
int kunwind_device_open_mem(pid_t pid);
void kunwind_device_close(int fd);

#endif /* KUNWIND_DEVICE_H */
