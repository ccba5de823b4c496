// SPDX-License-Identifier: MIT
/*
 * numa.c - an event loop on a deep stack, with frames of more than a page
 *
 *	numa RECORD [SECONDS [THREADS]]
 *
 * Unlike in moving.c, the frames of the loop's callers are not used again while
 * the loop runs, like those of a server's main(). If NUMA balancing makes their
 * pages inaccessible, the pages stay so.
 *
 * Each thread (3, the main one included) calls functions with frames of more
 * than a page, down to the loop. There it spends SECONDS (4) of its processor
 * time on sums and lseek(-77, N, 0), with a millisecond of sums for each call.
 * RECORD is like that of moving.c, with one line R N for each thread, because
 * all its calls have the same chain.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noinline, noclone))
#define MARK		(-77L)
#define DEEP		24
#define ROOM		5000		/* bytes of a frame */
#define MOST_THREADS	16

struct chain {
	int nr;				/* of addresses, outermost first */
	uintptr_t address[DEEP + 8];
};

static struct chain chains[MOST_THREADS];
static int seconds;

extern const char after_syscall[] __attribute__((visibility("hidden")));

static void push(struct chain *chain, const void *address)
{
	chain->address[chain->nr++] = (uintptr_t)address;
}

/* By the thread's processor time, as the scans of NUMA balancing. */
static int go_on(void)
{
	struct timespec spent;

	return !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) && spent.tv_sec < seconds;
}

static NOINLINE void loop(struct chain *chain)
{
	volatile unsigned int sum = 0;

	push(chain, __builtin_return_address(0));
	push(chain, after_syscall);
	while (go_on()) {
		unsigned int i;
		long n = chain - chains, ret = SYS_lseek;

		for (i = 0; i < 50000; i++)
			sum += i;
		__asm__ volatile("syscall\n"
				 "after_syscall:"
				 : "+a"(ret) : "D"(MARK), "S"(n), "d"(0L)
				 : "rcx", "r11", "memory");
	}
}

static NOINLINE void down(struct chain *chain, int n)
{
	volatile char room[ROOM];

	room[n] = 1;
	push(chain, __builtin_return_address(0));
	if (n)
		down(chain, n - 1);
	else
		loop(chain);
	/* used after the call: prevents a tail call */
	room[n + 1] = room[n];
}

static NOINLINE void *run(void *arg)
{
	push(arg, __builtin_return_address(0));
	down(arg, DEEP);
	__asm__ volatile("" ::: "memory");
	return NULL;
}

static void write_record(FILE *out, int nr)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], name[256], perms[8];
	unsigned long from, to;
	int i, j;

	while (maps && fgets(line, sizeof(line), maps)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, perms, name) == 4 &&
		    perms[2] == 'x' && strstr(name, "/numa"))
			fprintf(out, "M %lx %lx\n", from, to);
	}
	if (maps)
		fclose(maps);
	for (i = 0; i < nr; i++) {
		fprintf(out, "R %d", i);
		for (j = chains[i].nr; j--; )
			fprintf(out, " %lx", (unsigned long)chains[i].address[j]);
		fputc('\n', out);
	}
}

int main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[3]) : 3, i;
	pthread_t threads[MOST_THREADS];
	FILE *out;

	seconds = argc > 2 ? atoi(argv[2]) : 4;
	if (argc < 2 || nr < 1 || nr > MOST_THREADS) {
		fprintf(stderr, "Usage: numa RECORD [SECONDS [THREADS]]\n");
		return 1;
	}
	out = fopen(argv[1], "w");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	for (i = 1; i < nr; i++)
		if (pthread_create(&threads[i], NULL, run, &chains[i])) {
			perror("pthread_create");
			return 1;
		}
	run(&chains[0]);
	for (i = 1; i < nr; i++)
		pthread_join(threads[i], NULL);
	write_record(out, nr);
	return fclose(out) != 0;
}
