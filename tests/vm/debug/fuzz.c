// SPDX-License-Identifier: MIT
/*
 * fuzz.c - call /dev/kunwind and the kernel around it, guided by coverage
 *
 *	fuzz [--seconds N] [--seed N] [--corpus FILE] [--out DIR]
 *	     [--complaints FILE] [--coverage 0] FILE...
 *	fuzz leaf	takes one call stack; the fuzzer's children exec this
 *
 * An input is up to MAX_STEPS steps of 16 bytes; each step is one call whose
 * arguments the step chooses: an ioctl with a valid structure or a damaged one,
 * a change of mappings, a fork, clone, exec or ptrace, a write to a module
 * parameter, a change of an ELF file that is mapped. Steps also map the FILEs,
 * some of which should be on a FUSE mount.
 *
 * Each processor has one worker, which runs mutations of the corpus in its own
 * process; every second worker is an ordinary user. An input is added to the
 * corpus if it is the first to reach some code of kunwind.ko (KCOV, of the
 * calling task only), or the first to get some result of a call. With --coverage
 * 0, for a kernel without KCOV, only results count. Such a kernel makes many
 * times as many calls in the same time.
 *
 * A call of the device takes microseconds, a child thousands of them. So that a
 * few slow kinds of call do not take all the time, the probability of each kind
 * is the inverse of its average time so far: all kinds get about the same share
 * of the time.
 *
 * A line of the kernel's log that matches one of the regular expressions of
 * --complaints ends the run with status 1. Files in --out, packed as by
 * tests/fuzz/inputs.py, except for "unreached":
 *   found.inputs	the inputs, also those of the corpus that was read, that
 *			were the first to reach something (written each minute,
 *			and at the end)
 *   unreached		the module's functions that no caller reached; functions
 *			that only its own threads run are always among them
 *			(written at the end)
 *   complaint.inputs	the inputs that ran when the kernel complained
 *
 * The seed determines the random numbers. Two runs with the same seed are still
 * only similar, because workers run in parallel and coverage depends on timing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_STEPS	24
#define MAX_CORPUS	4096
#define MAX_WORKERS	8
#define MAX_TEXT	(2 << 20)	/* bytes of the module's code */
#define MAX_PATTERNS	64
#define MAX_SYMBOLS	4096
#define STUCK_SECONDS	10
#define WORKER_INPUTS	5000
#define CHOICES		32
#define KCOV_WORDS	(128 << 10)
#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_TRACE_PC	0

struct input {
	uint32_t nr, us;	/* steps; how long they took the last time */
	bool fresh;		/* was the first to reach some code or result */
	struct step step[MAX_STEPS];
};

/* Memory that all processes of a run share. */
static struct {
	volatile uint64_t calls, inputs, found, points, results, crashes, stuck;
	volatile uint64_t beat[MAX_WORKERS];
	uint64_t random[MAX_WORKERS];
	struct input running[MAX_WORKERS];
	volatile uint32_t nr_corpus, nr_read;
	struct input corpus[MAX_CORPUS];
	uint8_t seen[MAX_TEXT];
	uint8_t result[64][256];
	volatile uint64_t op_calls[FUZZ_NR_OPS], op_us[FUZZ_NR_OPS];
} *shared;

static unsigned long text_base, text_offset;
static bool coverage = true;
static uint64_t *kcov;
static unsigned int worker;
static pid_t pids[MAX_WORKERS];

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static uint64_t chance(uint64_t below)
{
	uint64_t x = shared->random[worker];

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	shared->random[worker] = x;
	return x % below;
}

static void become_worker(char **files, int nr_files)
{
	cpu_set_t one;
	int fd;

	/* With threads on two processors each munmap() would wait for both. */
	CPU_ZERO(&one);
	CPU_SET(worker, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (coverage) {
		fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		kcov = MAP_FAILED;
		if (fd >= 0 && !ioctl(fd, KCOV_INIT_TRACE, KCOV_WORDS))
			kcov = mmap(NULL, KCOV_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (kcov == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
			perror("fuzz: kcov");
			_exit(3);
		}
	}
	if (!fuzz_begin(worker, files, nr_files, worker & 1)) {
		perror("fuzz: /dev/kunwind");
		_exit(3);
	}
}

/* Returns how many points of code and results this input was first to reach. */
static unsigned int run_input(struct input *input)
{
	uint64_t i, n = 0, pc, begin = now_us(), then = begin, now;
	unsigned int fresh = 0;
	uint32_t at;

	if (coverage)
		__atomic_store_n(&kcov[0], 0, __ATOMIC_RELAXED);
	for (at = 0; at < input->nr; at++) {
		const struct step *s = &input->step[at];
		unsigned int op = s->op % FUZZ_NR_OPS;
		int error = fuzz_step(s);

		now = now_us();
		__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->op_calls[op], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->op_us[op], now - then, __ATOMIC_RELAXED);
		then = now;
		if (!shared->result[op][error]) {
			shared->result[op][error] = 1;
			shared->results++;
			fresh++;
		}
	}
	if (coverage)
		n = __atomic_load_n(&kcov[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < KCOV_WORDS; i++) {
		pc = kcov[i] - text_base;
		if (pc < MAX_TEXT && !shared->seen[pc]) {
			shared->seen[pc] = 1;
			__atomic_fetch_add(&shared->points, 1, __ATOMIC_RELAXED);
			fresh++;
		}
	}
	fuzz_end();
	input->us = now_us() - begin;
	return fresh;
}

/* Chooses a kind of call; weight: the inverse of its time, at least 50 us. */
static unsigned int random_op(void)
{
	static uint64_t sum[FUZZ_NR_OPS];
	static unsigned int uses;
	uint64_t total = 0, at;
	unsigned int i;

	if (uses++ % 1024 == 0)
		for (i = 0; i < FUZZ_NR_OPS; i++) {
			/* a kind without calls counts as a call of 1 ms */
			total += 10000000 * (shared->op_calls[i] + 1) /
				 (shared->op_us[i] + 1000 + 50 * shared->op_calls[i]);
			sum[i] = total;
		}
	at = chance(sum[FUZZ_NR_OPS - 1]);
	for (i = 0; sum[i] <= at;)
		i++;
	return i;
}

static void random_step(struct step *s)
{
	unsigned int op = random_op();

	*s = (struct step){ op, chance(256), chance(65536), chance(1ULL << 32), chance(~0ULL) };
	/* Most calls should be valid, and for objects that exist. */
	if (s->op < FUZZ_DEVICE_OPS && chance(4))
		s->a &= 0x0f;
}

static void mutate(struct input *input)
{
	unsigned int n = 1 + chance(4);
	const struct input *other;
	struct step *s;
	uint32_t from;

	while (n--) {
		s = &input->step[chance(input->nr)];
		switch (chance(8)) {
		case 0: case 1:
			if (input->nr < MAX_STEPS) {
				memmove(s + 1, s, (char *)&input->step[input->nr] - (char *)s);
				input->nr++;
			}
			random_step(s);
			break;
		case 2:
			if (input->nr > 1) {
				input->nr--;
				memmove(s, s + 1, (char *)&input->step[input->nr] - (char *)s);
			}
			break;
		case 3: /* the end of another input */
			other = &shared->corpus[chance(shared->nr_corpus)];
			/* another worker may be writing it */
			from = other->nr ? chance(other->nr) : 0;
			while (from < other->nr && input->nr < MAX_STEPS)
				input->step[input->nr++] = other->step[from++];
			break;
		case 4: random_step(s); break;
		case 5: ((uint8_t *)s)[1 + chance(sizeof(*s) - 1)] = chance(256); break;
		case 6: s->d = fuzz_odd[chance(FUZZ_NR_ODD)] << chance(9); break;
		case 7: ((uint8_t *)s)[1 + chance(sizeof(*s) - 1)] ^= 1 << chance(8); break;
		}
	}
}

/* The format of tests/fuzz/inputs.py: the length, and the bytes. */
static void write_input(const struct input *input, FILE *f)
{
	uint32_t length = input->nr * sizeof(struct step);

	if (f && (fwrite(&length, sizeof(length), 1, f) != 1 || fwrite(input->step, length, 1, f) != 1))
		perror("fuzz: an input");
}

static FILE *create(const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	if (!dir)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	if (!f)
		perror(path);
	return f;
}

static void keep(const struct input *input)
{
	uint32_t n = __atomic_fetch_add(&shared->nr_corpus, 1, __ATOMIC_ACQ_REL);

	if (n >= MAX_CORPUS) {
		shared->nr_corpus = MAX_CORPUS;
		shared->corpus[chance(MAX_CORPUS)] = *input;
	} else {
		shared->corpus[n] = *input;
	}
	__atomic_fetch_add(&shared->found, 1, __ATOMIC_RELAXED);
}

/* Chooses among CHOICES random inputs; a slow one is less likely. */
static const struct input *choose(void)
{
	const struct input *choice[CHOICES];
	uint64_t sum[CHOICES], total = 0, at;
	unsigned int i;

	for (i = 0; i < CHOICES; i++) {
		choice[i] = &shared->corpus[chance(shared->nr_corpus)];
		total += 1000000000 / (choice[i]->us + 1000);
		sum[i] = total;
	}
	at = chance(total + 1);
	for (i = 0; i < CHOICES - 1 && sum[i] <= at;)
		i++;
	return choice[i];
}

static void work(char **files, int nr_files)
{
	struct input *input = &shared->running[worker];
	unsigned int i;

	become_worker(files, nr_files);
	for (i = 0; i < WORKER_INPUTS; i++) {
		uint64_t n = __atomic_fetch_add(&shared->inputs, 1, __ATOMIC_RELAXED);

		/* First each input of the corpus without a change. */
		if (n < shared->nr_read) {
			*input = shared->corpus[n];
		} else {
			*input = *choose();
			if (input->nr)
				mutate(input);
		}
		if (!input->nr || input->nr > MAX_STEPS)
			continue;
		shared->beat[worker]++;
		input->fresh = run_input(input);
		if (n < shared->nr_read)
			shared->corpus[n] = *input;
		else if (input->fresh)
			keep(input);
	}
	_exit(0);
}

static void read_corpus(const char *path)
{
	FILE *f = path ? fopen(path, "re") : NULL;
	struct input *input;
	uint32_t length;

	while (f && shared->nr_corpus < MAX_CORPUS / 2 && fread(&length, sizeof(length), 1, f) == 1) {
		input = &shared->corpus[shared->nr_corpus];
		if (length > sizeof(input->step) || fread(input->step, 1, length, f) != length)
			break;
		input->nr = length / sizeof(struct step);
		shared->nr_corpus += input->nr > 0;
	}
	if (f)
		fclose(f);
}

/* KCOV subtracts KASLR's offset from all addresses, also from the modules'. */
static unsigned long randomized(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long at = 0, found = 0;
	char line[512], name[256];

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %255s", &at, name) == 2 && !strcmp(name, "_text"))
			found = at;
	if (f)
		fclose(f);
	return found ? found - 0xffffffff81000000 : 0;
}

/* ------------------------------------------------------ the kernel's log */

static struct {
	int fd;
	unsigned int nr;
	regex_t pattern[MAX_PATTERNS];
} kmsg = { .fd = -1 };

static bool kmsg_begin(const char *patterns)
{
	FILE *f = fopen(patterns, "r");
	char line[512];

	while (f && kmsg.nr < MAX_PATTERNS && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#' &&
		    !regcomp(&kmsg.pattern[kmsg.nr], line, REG_EXTENDED | REG_NOSUB))
			kmsg.nr++;
	}
	if (f)
		fclose(f);
	kmsg.fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg.fd >= 0)
		lseek(kmsg.fd, 0, SEEK_END);
	return kmsg.nr && kmsg.fd >= 0;
}

/* The first complaint since the last call, or NULL. */
static const char *kmsg_complaint(void)
{
	static char record[8192];
	unsigned int i;
	ssize_t n;

	while (kmsg.fd >= 0 && ((n = read(kmsg.fd, record, sizeof(record) - 1)) > 0 || errno == EPIPE)) {
		if (n <= 0)
			continue;
		record[n] = '\0';
		record[strcspn(record, "\n")] = '\0';
		for (i = 0; i < kmsg.nr; i++)
			if (!regexec(&kmsg.pattern[i], record, 0, NULL, 0))
				return strchr(record, ';') ? strchr(record, ';') + 1 : record;
	}
	return NULL;
}

/* ------------------------------------------------------- functions reached */

static struct symbol {
	unsigned long at;
	char name[64];
	bool reached;
} symbols[MAX_SYMBOLS];

static int symbol_order(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Writes the module's functions that no caller reached to DIR/unreached. */
static void write_unreached(const char *dir)
{
	unsigned int nr = 0, missed = 0, i;
	char line[512], type;
	struct symbol *s;
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long at;

	while (f && nr < MAX_SYMBOLS && fgets(line, sizeof(line), f)) {
		s = &symbols[nr];
		if (!strstr(line, "[kunwind]") || strstr(line, ".cold") ||
		    sscanf(line, "%lx %c %63s", &s->at, &type, s->name) != 3 ||
		    (type != 't' && type != 'T') || s->at - text_base - text_offset >= MAX_TEXT - 4096)
			continue;
		nr++;
	}
	if (f)
		fclose(f);
	qsort(symbols, nr, sizeof(symbols[0]), symbol_order);
	for (i = 0; i < nr; i++)
		for (at = symbols[i].at; at < (i + 1 < nr ? symbols[i + 1].at : symbols[i].at + 4096); at++)
			symbols[i].reached |= shared->seen[at - text_base - text_offset];
	f = create(dir, "unreached");
	for (i = 0; i < nr; i++)
		if (!symbols[i].reached) {
			missed++;
			if (f)
				fprintf(f, "%s\n", symbols[i].name);
		}
	if (f)
		fclose(f);
	printf("%u of %u functions of the module reached\n", nr - missed, nr);
}

/* ------------------------------------------------------------------- main */

static uint64_t number(const char *text) { return strtoull(text, NULL, 0); }

/* Starts a worker that does not run, kills a stuck one. False: it fails. */
static bool tend(unsigned int i, char **files, int nr_files)
{
	static uint64_t beat[MAX_WORKERS];
	static time_t since[MAX_WORKERS];
	int status;

	if (pids[i] && waitpid(pids[i], &status, WNOHANG) == pids[i]) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
			return false;
		shared->crashes += !WIFEXITED(status);
		pids[i] = 0;
	}
	if (!pids[i]) {
		worker = i;
		fflush(stdout);
		pids[i] = fork();
		if (!pids[i])
			work(files, nr_files);
		since[i] = time(NULL);
	} else if (beat[i] != shared->beat[i]) {
		beat[i] = shared->beat[i];
		since[i] = time(NULL);
	} else if (time(NULL) - since[i] > STUCK_SECONDS) {
		/* It waits for a child or a hung file, or it is stopped. */
		shared->stuck++;
		kill(pids[i], SIGKILL);
		since[i] = time(NULL);
	}
	return true;
}

/* Writes all inputs, old and new, that were the first to reach something. */
static void write_found(const char *dir)
{
	FILE *f = create(dir, "found.inputs");
	uint32_t i;

	for (i = 0; i < shared->nr_corpus && i < MAX_CORPUS; i++)
		if (shared->corpus[i].fresh)
			write_input(&shared->corpus[i], f);
	if (f)
		fclose(f);
}

static void print_counts(time_t begin)
{
	uint64_t seconds = time(NULL) - begin;

	printf("%llu calls (%llu a second), %llu inputs, %llu coverage points, %llu results, "
	       "%llu new inputs, %llu workers ended by a signal, %llu stuck\n",
	       (unsigned long long)shared->calls,
	       (unsigned long long)(shared->calls / (seconds + !seconds)),
	       (unsigned long long)shared->inputs, (unsigned long long)shared->points,
	       (unsigned long long)shared->results, (unsigned long long)shared->found,
	       (unsigned long long)shared->crashes, (unsigned long long)shared->stuck);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *corpus = NULL, *out = NULL, *complaints = NULL, *complaint = NULL;
	unsigned int nr_workers = sysconf(_SC_NPROCESSORS_ONLN), seconds = 60, i, tick;
	time_t begin = time(NULL);
	uint64_t seed = 1;
	FILE *f;
	int at;

	if (argc > 1 && !strcmp(argv[1], "leaf")) {
		fuzz_one_stack();
		return 0;
	}
	for (at = 1; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
		if (!strcmp(argv[at], "--seconds"))
			seconds = number(argv[at + 1]);
		else if (!strcmp(argv[at], "--seed"))
			seed = number(argv[at + 1]);
		else if (!strcmp(argv[at], "--corpus"))
			corpus = argv[at + 1];
		else if (!strcmp(argv[at], "--out"))
			out = argv[at + 1];
		else if (!strcmp(argv[at], "--complaints"))
			complaints = argv[at + 1];
		else if (!strcmp(argv[at], "--coverage"))
			coverage = number(argv[at + 1]);
		else
			break;
	}
	if (at < argc && argv[at][0] == '-') {
		fprintf(stderr, "usage: fuzz [--seconds N] [--seed N] [--corpus FILE] [--out DIR] "
			"[--complaints FILE] [--coverage 0] FILE...\n");
		return 2;
	}
	if (nr_workers > MAX_WORKERS)
		nr_workers = MAX_WORKERS;
	if (complaints && !kmsg_begin(complaints)) {
		perror(complaints);
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	f = fopen("/sys/module/kunwind/sections/.text", "r");
	if (shared == MAP_FAILED || !f || fscanf(f, "%lx", &text_base) != 1) {
		fprintf(stderr, "fuzz: cannot read the address of kunwind's code: load it, run as root\n");
		return 2;
	}
	fclose(f);
	text_offset = randomized();
	text_base -= text_offset;
	if (!fuzz_open())
		return 2;
	for (i = 0; i < nr_workers; i++)
		shared->random[i] = (seed + 1) * 0x9e3779b97f4a7c15ULL + i * 0xbf58476d1ce4e5b9ULL;
	read_corpus(corpus);
	if (!shared->nr_corpus) {
		shared->corpus[0].nr = 2;
		shared->corpus[0].step[0].op = 1;
		shared->corpus[0].step[1].op = 3;
		shared->nr_corpus = 1;
	}
	shared->nr_read = shared->nr_corpus;
	printf("seed %llu, %u inputs at first, %u workers, %u s\n", (unsigned long long)seed,
	       shared->nr_read, nr_workers, seconds);
	for (tick = 0; !complaint && time(NULL) < (time_t)(begin + seconds); tick++) {
		for (i = 0; i < nr_workers; i++)
			if (!tend(i, argv + at, argc - at))
				return 2;
		usleep(100000);
		complaint = kmsg_complaint();
		if (tick % 600 == 599) {
			print_counts(begin);
			write_found(out);
		}
	}
	for (i = 0; i < nr_workers; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
	for (i = 0; i < nr_workers; i++)
		if (pids[i] > 0)
			waitpid(pids[i], NULL, 0);
	fuzz_close();
	write_found(out);
	for (i = 0; i < FUZZ_NR_OPS; i++)
		printf("  %-8s %9llu calls %9llu us each\n", fuzz_names[i],
		       (unsigned long long)shared->op_calls[i],
		       (unsigned long long)(shared->op_us[i] / (shared->op_calls[i] + !shared->op_calls[i])));
	if (coverage)
		write_unreached(out);
	print_counts(begin);
	if (complaint) {
		printf("after %llu calls and %llu s the kernel complained: %s\n",
		       (unsigned long long)shared->calls,
		       (unsigned long long)(time(NULL) - begin), complaint);
		f = create(out, "complaint.inputs");
		for (i = 0; i < nr_workers; i++)
			write_input(&shared->running[i], f);
		if (f)
			fclose(f);
	}
	return complaint || !(coverage ? shared->points : shared->results);
}
