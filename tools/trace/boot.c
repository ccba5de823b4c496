// SPDX-License-Identifier: MIT
/*
 * boot.c - the id of this host's boot
 */
#include <fcntl.h>
#include <unistd.h>

#include "boot.h"

bool boot_own_id(char boot[BOOT_ID])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, boot, BOOT_ID - 1) : -1;

	if (fd >= 0)
		close(fd);
	boot[BOOT_ID - 1] = '\0';
	return got == BOOT_ID - 1;
}
