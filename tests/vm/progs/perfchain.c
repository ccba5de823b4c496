// SPDX-License-Identifier: MIT
/*
 * perfchain.c - print perf's call chain of a known chain of functions
 *
 *	perfchain register|stranger [deferred]
 *
 * With "register" the program registers itself. It calls first() -> second() ->
 * third(), which calls getpriority(). A perf event like that of "perf record
 * -g", on that system call's tracepoint, records the user's call chain. For
 * each address of the chain the program prints the function of its own that
 * contains the address, or "-". With "deferred" it prints the chain that the
 * kernel takes on return to user mode (attr.defer_callchain). Status 2: perf or
 * deferred chains are not available.
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

/* Each function is in a section of its own, so that its end is known. */
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

/* From <linux/perf_event.h> of newer kernels. */
#define DEFER_CALLCHAIN		(1ULL << 38)	/* among the bits of perf_event_attr */
#define DEFER_OUTPUT		(1ULL << 39)
#define CALLCHAIN_DEFERRED	22		/* the type of a record: cookie, nr, ips */

/* Sets bits of @attr's bit fields between read_format and wakeup_events. */
static void set_bits(struct perf_event_attr *attr, uint64_t more)
{
	char *at = (char *)&attr->read_format + sizeof(attr->read_format);
	uint64_t bits;

	memcpy(&bits, at, sizeof(bits));
	bits |= more;
	memcpy(at, &bits, sizeof(bits));
}

/* Returns the first record of @type in @page's data, or NULL. */
static void *record(struct perf_event_mmap_page *page, uint32_t type)
{
	char *data = (char *)page + 4096;
	uint64_t at = 0;

	while (at < page->data_head) {
		struct perf_event_header *header = (void *)(data + at);

		if (header->type == type)
			return header;
		at += header->size;
	}
	fprintf(stderr, "perfchain: no record of type %u in %llu bytes\n", type,
		(unsigned long long)page->data_head);
	return NULL;
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
	struct { struct perf_event_header header; uint64_t cookie, chain[]; } *late;
	struct { struct perf_event_header header; uint64_t chain[]; } *sample;
	int deferred = argc > 2 && !strcmp(argv[2], "deferred");
	const uint64_t *chain;		/* the number of addresses, then these */
	uint64_t i;

	if (deferred)
		set_bits(&attr, DEFER_CALLCHAIN | DEFER_OUTPUT);
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
	sample = record(page, PERF_RECORD_SAMPLE);
	late = deferred ? record(page, CALLCHAIN_DEFERRED) : NULL;
	if (!sample || (deferred && !late))
		return 1;
	chain = deferred ? late->chain : sample->chain;
	for (i = 1; i <= chain[0]; i++)
		if (chain[i] < (uint64_t)-4095)		/* no PERF_CONTEXT_* mark */
			puts(where(chain[i]));
	return 0;
}
