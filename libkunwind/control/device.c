// SPDX-License-Identifier: MIT
/*
 * device.c - descriptors of /dev/kunwind and /proc/PID/mem, and ioctls on them
 *
 * System calls are made by syscall(2), because the wrappers open() and close()
 * are cancellation points, at which a descriptor could be lost. errno is kept.
 *
 * The kept descriptor is one integer, which only atomic exchanges change. If
 * two threads open the device at the same time, the second one closes its own
 * descriptor and uses the first one's. Memory: 12 bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <kunwind/abi.h>

#include "device.h"

static _Atomic int kept = -1;
static _Atomic dev_t kept_rdev;		/* the device's number; 0 before the first open */

static long call(long number, long a, long b, long c, long d)
{
	int saved = errno;
	long ret = syscall(number, a, b, c, d);

	if (ret < 0)
		ret = -errno;
	errno = saved;
	return ret;
}

static int open_file(const char *path)
{
	return (int)call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

void kunwind_device_close(int fd)
{
	call(SYS_close, fd, 0, 0, 0);
}

/* Returns -ENODEV also if the node exists and the module is not loaded. */
static int open_device(void)
{
	int fd = open_file(KUNWIND_DEVICE);

	if (fd == -ENOENT || fd == -ENXIO)
		return -ENODEV;
	return fd == -EPERM ? -EACCES : fd;
}

static int control(int fd, unsigned long request, void *argument)
{
	long ret;

	do {
		ret = call(SYS_ioctl, fd, (long)request, (long)argument, 0);
	} while (ret == -EINTR && request == KUNWIND_IOC_CALLSTACK);
	return ret < 0 ? (int)ret : 0;
}

int kunwind_device_once(unsigned long request, void *argument)
{
	int fd = open_device(), ret;

	if (fd < 0)
		return fd;
	ret = control(fd, request, argument);
	kunwind_device_close(fd);
	return ret;
}

static dev_t rdev_of(int fd)
{
	struct stat st;
	int saved = errno;
	dev_t rdev = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) ? st.st_rdev : 0;

	errno = saved;
	return rdev;
}

/* Opens the descriptor to keep, or returns the one of a faster thread. */
static int keep(void)
{
	int fd = open_device(), expected = -1;

	if (fd < 0)
		return fd;
	atomic_store(&kept_rdev, rdev_of(fd));
	if (atomic_compare_exchange_strong(&kept, &expected, fd))
		return fd;
	kunwind_device_close(fd);
	return expected;
}

/*
 * The ioctl fails if other code has closed the kept descriptor (EBADF), or has
 * closed it and opened another file under its number (any error). The library
 * then forgets the number and does not close it, because it belongs to other
 * code now. An error of the device itself is returned. The third error is
 * returned in any case.
 */
int kunwind_device_kept(unsigned long request, void *argument)
{
	int fd, ret, tries;

	for (tries = 0; ; tries++) {
		fd = atomic_load(&kept);
		if (fd < 0)
			fd = keep();
		if (fd < 0)
			return fd;
		ret = control(fd, request, argument);
		if (!ret || tries == 2 || rdev_of(fd) == atomic_load(&kept_rdev))
			return ret;
		atomic_compare_exchange_strong(&kept, &fd, -1);
	}
}

void kunwind_device_release(void)
{
	int fd = atomic_exchange(&kept, -1);

	if (fd >= 0 && rdev_of(fd) == atomic_load(&kept_rdev))
		kunwind_device_close(fd);
}

/* The digits are written here because snprintf() is not async-signal-safe. */
int kunwind_device_open_mem(pid_t pid)
{
	static const char tail[] = "/mem";
	char path[32] = "/proc/", digits[12];
	unsigned int n = 0, at = 6, rest = (unsigned int)pid, i;
	int fd;

	if (pid <= 0)
		return -ESRCH;
	do {
		digits[n++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	while (n)
		path[at++] = digits[--n];
	for (i = 0; i < sizeof(tail); i++)
		path[at++] = tail[i];
	fd = open_file(path);
	/* Do not tell a caller who may not trace it whether it exists. */
	return fd == -ENOENT || fd == -EACCES || fd == -EPERM ? -ESRCH : fd;
}
