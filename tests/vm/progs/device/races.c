// SPDX-License-Identifier: MIT
/*
 * races.c - programs of t-races.sh
 *
 *	races fork
 *		registers itself with its children, forks once, prints the
 *		child's PID after the child has ended
 *	races many NR FILE
 *		registers itself, maps a page of FILE NR times; at the end of
 *		its input, changes all protections with one mprotect()
 *	races direct FILE
 *		registers itself, maps FILE as code from a descriptor with
 *		O_DIRECT, waits for the end of input
 *	races locked FILE
 *		writes to FILE from memory whose page fault userfaultfd does not
 *		answer before the end of the input: until then the inode is
 *		locked
 *	races moves FILE FILE SECONDS
 *		registers itself, then maps the files' code in turn at one
 *		address and calls it; the code calls back(), which calls
 *		getppid()
 *	races steps FILE FILE NR
 *		the same, NR times for each line of input; then prints a line
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

#define PLACE	((char *)0x10000000)

static void enroll(unsigned int flags)
{
	struct kunwind_process process = { .size = sizeof(process), .flags = flags, .mem_fd = -1 };
	int device = open("/dev/kunwind", O_RDWR | O_CLOEXEC);

	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &process))
		err(2, "registration");
	/* An open device would keep the module in use. */
	close(device);
}

static void until_end_of_input(void)
{
	char byte;

	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		err(2, "%s", path);
	return fd;
}

static void *map(void *where, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *page = mmap(where, size, prot, flags, fd, offset);

	if (page == MAP_FAILED)
		err(2, "mmap");
	return page;
}

static void forks(void)
{
	pid_t child;

	enroll(KUNWIND_REGISTER_CHILDREN);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	printf("%d\n", child);
}

static void many(int nr, const char *path)
{
	const size_t size = (size_t)nr * 4096;
	char *all = map(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int i, fd = open_file(path, O_RDONLY);

	enroll(0);
	/* The same page each time: the kernel does not merge these mappings. */
	for (i = 0; i < nr; i++)
		map(all + i * 4096L, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	printf("mapped\n");
	until_end_of_input();
	if (mprotect(all, size, PROT_READ | PROT_EXEC))
		err(2, "mprotect");
}

static void direct(const char *path)
{
	int fd = open_file(path, O_RDONLY | O_DIRECT);
	struct stat st;

	enroll(0);
	if (fstat(fd, &st))
		err(2, "%s", path);
	map(NULL, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	printf("mapped\n");
	until_end_of_input();
}

static char *absent;
static int written;

static void *writes(void *data)
{
	(void)data;
	if (write(written, absent, 4096) != 4096)
		err(2, "write");
	return NULL;
}

static void locked(const char *path)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage zero = { };
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t writer;

	written = open_file(path, O_WRONLY);
	absent = map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = zero.range.start = (unsigned long)absent;
	range.range.len = zero.range.len = 4096;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
		err(2, "userfaultfd");
	if (pthread_create(&writer, NULL, writes, NULL))
		err(2, "thread");
	printf("writes\n");
	until_end_of_input();
	if (ioctl(uffd, UFFDIO_ZEROPAGE, &zero))
		err(2, "UFFDIO_ZEROPAGE");
	pthread_join(writer, NULL);
}

/* Called from the mapped code. noinline: it needs a frame of its own. */
static int __attribute__((noinline)) back(void)
{
	syscall(SYS_getppid);
	return 1;
}

static off_t text_of(int fd)
{
	Elf64_Ehdr elf;
	Elf64_Phdr segment;
	int i;

	if (pread(fd, &elf, sizeof(elf), 0) == sizeof(elf))
		for (i = 0; i < elf.e_phnum; i++)
			if (pread(fd, &segment, sizeof(segment), elf.e_phoff + i * sizeof(segment)) ==
			    sizeof(segment) && segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
				return segment.p_offset & -4096L;
	errx(2, "no code");
}

static void __attribute__((noinline)) calls(const char *page)
{
	int (*code)(int (*)(void));

	memcpy(&code, &page, sizeof(code));
	code(back);
	/* No tail call: this function's frame must stay. */
	__asm__ volatile("" ::: "memory");
}

struct code_file {
	int fd;
	off_t text;
};

static void files_open(struct code_file file[2], char **path)
{
	int i;

	for (i = 0; i < 2; i++) {
		file[i].fd = open_file(path[i], O_RDONLY);
		file[i].text = text_of(file[i].fd);
	}
}

static void move(const struct code_file *file)
{
	map(PLACE, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file->fd, file->text);
	calls(PLACE);
}

static void moves(char **path, double seconds)
{
	struct code_file file[2];
	struct timespec begin, now;
	unsigned long i;

	files_open(file, path);
	enroll(0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0;; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) * 1e-9 > seconds)
			break;
		move(&file[i & 1]);
	}
	printf("%lu\n", i);
}

static void steps(char **path, int nr)
{
	struct code_file file[2];
	int i, c;

	files_open(file, path);
	enroll(0);
	while ((c = getchar()) != EOF) {
		if (c != '\n')
			continue;
		for (i = 0; i < nr; i++)
			move(&file[i & 1]);
		printf("moved\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "fork"))
		forks();
	else if (!strcmp(what, "many") && argc == 4)
		many(atoi(argv[2]), argv[3]);
	else if (!strcmp(what, "direct") && argc == 3)
		direct(argv[2]);
	else if (!strcmp(what, "locked") && argc == 3)
		locked(argv[2]);
	else if (!strcmp(what, "moves") && argc == 5)
		moves(argv + 2, atof(argv[4]));
	else if (!strcmp(what, "steps") && argc == 5)
		steps(argv + 2, atoi(argv[4]));
	else
		return 2;
	return 0;
}
