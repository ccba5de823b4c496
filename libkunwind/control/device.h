/* SPDX-License-Identifier: MIT */
/*
 * device.h - calls to /dev/kunwind; see device.c
 */
#ifndef KUNWIND_DEVICE_H
#define KUNWIND_DEVICE_H

#include <sys/types.h>

/* Makes one ioctl on a descriptor of its own. Returns 0 or a negative errno. */
int kunwind_device_once(unsigned long request, void *argument);

/*
 * Makes one ioctl on the kept descriptor, which is opened if necessary. Returns
 * 0 or a negative errno.
 */
int kunwind_device_kept(unsigned long request, void *argument);

/* Closes the kept descriptor, unless its number is another file's by now. */
void kunwind_device_release(void);

/*
 * Returns a descriptor of /proc/PID/mem, or a negative errno: -ESRCH if there
 * is no such process or the caller may not open the file.
 */
int kunwind_device_open_mem(pid_t pid);
void kunwind_device_close(int fd);

#endif /* KUNWIND_DEVICE_H */
