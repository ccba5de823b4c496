// SPDX-License-Identifier: MIT
/*
 * movers.c - many threads of one process inside mremap() at the same time
 *
 *	movers stacks DIRECTORY
 *		takes stacks while threads are inside mremap(); the module delay
 *		stops the thread "late" before its mremap() takes mmap_lock
 *	movers read NR DIRECTORY
 *		maps code READS times, with tracing_on set, while NR threads are
 *		inside mremap()
 *
 * Each thread moves anonymous code over a mapping of small.so with
 * MREMAP_FIXED. The moved code is a copy of large.so's, so a stack through it
 * with small.so's table is wrong (called.c). The source is registered with a
 * userfaultfd for mremap() events. Such a call moves the mapping, releases
 * mmap_lock, and waits until its event is read. This program reads no event; it
 * closes the userfaultfd at the end.
 *
 * One thread takes all stacks from the same place. Therefore a stack is right
 * if it equals the first one, except for the address inside the called code.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/own_stack.h"

#define PAGE	4096UL
#define RX	(PROT_READ | PROT_EXEC)
#define MOVERS	64
#define READS	20
#define TRIES	60000	/* of a millisecond each */
#define DELAY	"/sys/module/delay/parameters/"

static int failed;
static int uffd, last_uffd;		/* last_uffd: for the last mover */
static int small;
static off_t text;
static char code[PAGE];			/* of large.so */
static char *beyond, *area;		/* destinations, with small.so in between */

static struct mover {
	pthread_t thread;
	volatile pid_t tid;
	sem_t go;
	char *from, *to;
	bool late;
} movers[MOVERS + 1];			/* the last one is used alone, at the end */

static char *between(int i)
{
	return area + (2 * i + 1) * PAGE;
}

/* ---- stacks */

static __u64 first[64];
static unsigned int nr_first;
static char *volatile called_page;
static sem_t asked, taken;

static void *walker(void *data)
{
	volatile unsigned long frame[100];	/* a table for a larger frame reads these */
	unsigned int i;

	for (;;) {
		sem_wait(&asked);
		for (i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
			frame[i] = (unsigned long)called_page + 1;
		((int (*)(int (*)(void)))called_page)(back);
		sem_post(&taken);
	}
	return data;
}

static void take(char *page)
{
	called_page = page;
	sem_post(&asked);
	sem_wait(&taken);
}

enum { RIGHT, EARLY, WRONG };

static int verdict(char *page)
{
	unsigned int i;

	take(page);
	if (stack.count > nr_first)
		return WRONG;
	for (i = 0; i < stack.count; i++)
		if (first[i] - (unsigned long)beyond < PAGE ?
		    addresses[i] - (unsigned long)page >= PAGE : addresses[i] != first[i])
			return WRONG;
	if (stack.reason != KUNWIND_COMPLETE)
		return EARLY;
	return stack.count == nr_first ? RIGHT : WRONG;
}

static void is(bool good, const char *what)
{
	printf("%s - %s\n", good ? "ok" : "not ok", what);
	failed |= !good;
}

static unsigned int right, early, wrong;

static void count(char *page)
{
	unsigned int i;

	switch (verdict(page)) {
	case RIGHT:
		right++;
		return;
	case EARLY:
		early++;
		return;
	}
	if (wrong++)
		return;
	printf("# the code at %p: reason %u:", page, stack.reason);
	for (i = 0; i < stack.count; i++)
		printf(" %llx", addresses[i]);
	printf("\n");
}

static void none_wrong(const char *what)
{
	is(!wrong, what);
	printf("# %u right, %u ended early\n", right, early);
	right = early = wrong = 0;
}

static void all_right(const char *what)
{
	early += wrong;
	is(!early, what);
	if (early)
		printf("# %u right, %u not\n", right, early);
	right = early = wrong = 0;
}

/* ---- mappings */

static void *map(void *where, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *page = mmap(where, size, prot, MAP_PRIVATE | flags, fd, offset);

	if (page == MAP_FAILED)
		err(2, "mmap");
	return page;
}

static char *map_small(char *where)
{
	return map(where, PAGE, RX, where ? MAP_FIXED : 0, small, text);
}

static char *reserve(size_t size)
{
	return map(NULL, size, PROT_NONE, MAP_ANONYMOUS, -1, 0);
}

static int library(const char *directory, const char *name)
{
	char path[512];
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	int i, fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		err(2, "%s", path);
	for (i = 0; i < ehdr.e_phnum; i++)
		if (pread(fd, &phdr, sizeof(phdr), ehdr.e_phoff + i * sizeof(phdr)) == sizeof(phdr) &&
		    phdr.p_type == PT_LOAD && (phdr.p_flags & PF_X))
			text = phdr.p_offset;
	return fd;
}

/* ---- threads */

static void *move(void *data)
{
	struct mover *m = data;

	m->tid = syscall(SYS_gettid);
	sem_wait(&m->go);
	if (m->late)
		prctl(PR_SET_NAME, "late");
	if (mremap(m->from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, m->to) != m->to)
		err(2, "mremap");
	return NULL;
}

static void prepare(struct mover *m, int uffd, char *from, char *to)
{
	struct uffdio_register range = {
		.range = { .start = (unsigned long)from, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	m->from = map(from, PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(from, code, PAGE);
	if (mprotect(from, PAGE, RX) || ioctl(uffd, UFFDIO_REGISTER, &range))
		err(2, "UFFDIO_REGISTER");
	m->to = map_small(to);
	sem_init(&m->go, 0, 0);
	if (pthread_create(&m->thread, NULL, move, m))
		err(2, "pthread_create");
	while (!m->tid)
		usleep(1000);
}

/* Returns the number of the system call in which @m waits, or -1. */
static int waits_in(const struct mover *m)
{
	char path[64];
	int nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", m->tid);
	f = fopen(path, "r");
	if (!f)
		err(2, "%s", path);
	if (fscanf(f, "%d", &nr) != 1)
		nr = -1;
	fclose(f);
	return nr;
}

static void until_inside(const struct mover *m)
{
	int tries = TRIES;

	while (waits_in(m) != SYS_mremap) {
		if (!tries--)
			errx(2, "a thread does not stay inside mremap()");
		usleep(1000);
	}
}

static void begin(struct mover *m)
{
	sem_post(&m->go);
	until_inside(m);
}

/* Lets the many calls of mremap() return. */
static void let_go(void)
{
	int i;

	close(uffd);
	for (i = 0; i < MOVERS; i++)
		pthread_join(movers[i].thread, NULL);
}

static void until_delayed(void)
{
	int tries = TRIES, nr = 0;
	FILE *f;

	while (nr != 1) {
		f = fopen(DELAY "nr", "r");
		if (!f || fscanf(f, "%d", &nr) != 1)
			err(2, DELAY "nr");
		fclose(f);
		if (!tries--)
			errx(2, "mremap() is not delayed");
		usleep(1000);
	}
}

static void write_one(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, 1) != 1)
		err(2, "%s", path);
	close(fd);
}

/* ---- what is tested */

static void stacks(void)
{
	pthread_t thread;
	char *again;
	int i;

	sem_init(&asked, 0, 0);
	sem_init(&taken, 0, 0);
	if (pthread_create(&thread, NULL, walker, NULL))
		err(2, "pthread_create");
	take(beyond);
	nr_first = stack.count;
	memcpy(first, addresses, sizeof(first));
	for (i = 0; i < (int)nr_first; i++)
		right += first[i] - (unsigned long)beyond < PAGE;
	is(stack.reason == KUNWIND_COMPLETE && right == 1, "before any mremap(): the stack is right");
	right = 0;

	movers[0].late = true;
	sem_post(&movers[0].go);
	until_delayed();
	for (i = 1; i < MOVERS; i++)
		begin(&movers[i]);
	map_small(NULL);		/* kunwind reads all mappings */
	count(beyond);
	all_right("threads inside mremap(): stacks outside the destinations are right");
	count(movers[0].to);
	none_wrong("threads inside mremap(): no stack through a destination before the move is wrong");
	for (i = 1; i < MOVERS; i++)
		count(movers[i].to);
	none_wrong("threads inside mremap(): no stack through a destination after the move is wrong");
	for (i = 0; i < MOVERS; i++)
		count(between(i));
	none_wrong("threads inside mremap(): no stack between two destinations is wrong");

	write_one(DELAY "go", "1");
	until_inside(&movers[0]);
	count(movers[0].to);
	none_wrong("code is moved to a destination that was read before: the old table is not used");
	map_small(NULL);
	for (i = 0; i < MOVERS; i++) {
		count(movers[i].to);
		count(between(i));
	}
	none_wrong("mappings are read again during mremap(): no stack is wrong");

	let_go();
	for (i = 0; i < MOVERS; i++)
		count(between(i));
	all_right("all calls of mremap() have returned: stacks between destinations are right");
	for (i = 0; i < MOVERS; i++)
		count(movers[i].to);
	none_wrong("all calls of mremap() have returned: no stack through moved code is wrong");
	for (i = 0; i < MOVERS; i++) {
		again = map_small(movers[i].to);
		count(again);
	}
	all_right("another file is mapped over the moved code: stacks are right");

	begin(&movers[MOVERS]);
	map_small(NULL);
	for (i = 0; i < MOVERS; i++)
		count(movers[i].to);
	all_right("one more mremap() elsewhere: stacks through former destinations are right");
	close(last_uffd);
	pthread_join(movers[MOVERS].thread, NULL);
}

static void reads(int nr)
{
	int i;

	/* The interval of all destinations is the same for each NR. */
	begin(&movers[0]);
	begin(&movers[MOVERS - 1]);
	for (i = 1; i < nr - 1; i++)
		begin(&movers[i]);
	write_one("/sys/kernel/tracing/tracing_on", "1");
	for (i = 0; i < READS; i++)
		map_small(beyond);
	write_one("/sys/kernel/tracing/tracing_on", "0");
	for (; nr < MOVERS; nr++)
		begin(&movers[nr - 1]);
	let_go();
}

static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_EVENT_REMAP };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		err(2, "userfaultfd");
	return fd;
}

int main(int argc, char **argv)
{
	char *from;
	int i, large;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 3)
		return 2;
	enroll(0);
	uffd = open_uffd();
	last_uffd = open_uffd();
	large = library(argv[argc - 1], "large.so");
	if (pread(large, code, PAGE, text) <= 0)
		err(2, "large.so");
	small = library(argv[argc - 1], "small.so");
	from = reserve((2 * MOVERS + 2) * PAGE);
	area = reserve((2 * MOVERS + 4) * PAGE);
	beyond = map_small(area);
	area += 2 * PAGE;
	for (i = 0; i < MOVERS; i++) {
		prepare(&movers[i], uffd, from + 2 * i * PAGE, area + 2 * i * PAGE);
		map_small(between(i));
	}
	prepare(&movers[MOVERS], last_uffd, from + 2 * MOVERS * PAGE, reserve(PAGE));
	if (!strcmp(argv[1], "stacks"))
		stacks();
	else
		reads(atoi(argv[2]));
	return failed;
}
