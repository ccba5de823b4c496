// SPDX-License-Identifier: MIT
/*
 * perfchain.c - the call chain that perf gives of a chain known in advance
 *
 *	perfchain register|stranger
 *
 * Registers itself or not, calls first() -> second() -> third(), and there makes
 * getpriority(). A perf event on that system call's tracepoint, with the user's
 * call chain, is what "perf record -g" makes. Prints for each address of the
 * sample's chain the function of this program that it is in, or "-".
 * Status 2 when perf is not to be had.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kunwind.h"

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")

static int fd;

/* Each in a section of its own, so that where it ends is known. */
#define PLACE(name) __attribute__((section("chain_" #name), noinline, noclone))
extern char __start_chain_first[], __stop_chain_first[], __start_chain_second[],
	__stop_chain_second[], __start_chain_third[], __stop_chain_third[],
	__start_chain_main[], __stop_chain_main[];

PLACE(third) void third(int n);
PLACE(second) void second(int n);
PLACE(first) void first(int n);

void third(int n)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	getpriority(PRIO_PROCESS, 0);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	(void)n;
}

void second(int n)
{
	volatile char pad[345];

	pad[n] = 1;
	third(n);
	pad[n + 1] = 2;
}

void first(int n)
{
	second(n + 1);
	KEEP();
}

static const char *where(uint64_t ip)
{
	const struct { const char *name; char *start, *stop; } f[] = {
		{ "third", __start_chain_third, __stop_chain_third },
		{ "second", __start_chain_second, __stop_chain_second },
		{ "first", __start_chain_first, __stop_chain_first },
		{ "main", __start_chain_main, __stop_chain_main },
	};
	unsigned int i;

	for (i = 0; i < sizeof(f) / sizeof(*f); i++)
		if (ip > (uintptr_t)f[i].start && ip <= (uintptr_t)f[i].stop)
			return f[i].name;
	return "-";
}

static int tracepoint(void)
{
	FILE *f = fopen("/sys/kernel/tracing/events/syscalls/sys_enter_getpriority/id", "r");
	int id = -1;

	if (f) {
		if (fscanf(f, "%d", &id) != 1)
			id = -1;
		fclose(f);
	}
	return id;
}

PLACE(main) int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN, .disabled = 1,
		.exclude_callchain_kernel = 1, .wakeup_events = 1,
	};
	struct perf_event_mmap_page *page;
	struct { struct perf_event_header header; uint64_t nr, ip[]; } *sample;
	uint64_t i;

	attr.config = (uint64_t)tracepoint();
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if ((int)attr.config < 0 || fd < 0) {
		perror("perfchain");
		return 2;
	}
	page = mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror("perfchain: mmap");
		return 2;
	}
	if (argc > 1 && !strcmp(argv[1], "register")) {
		struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };
		int device = open(KUNWIND_DEVICE, O_RDWR);

		if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &process)) {
			perror(KUNWIND_DEVICE);
			return 1;
		}
	}
	first(argc);
	sample = (void *)((char *)page + 4096);
	if (page->data_head == 0 || sample->header.type != PERF_RECORD_SAMPLE) {
		fprintf(stderr, "perfchain: no sample\n");
		return 1;
	}
	for (i = 0; i < sample->nr; i++)
		if (sample->ip[i] < (uint64_t)-4095)	/* no PERF_CONTEXT_* mark */
			puts(where(sample->ip[i]));
	return 0;
}
