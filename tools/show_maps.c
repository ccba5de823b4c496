// SPDX-License-Identifier: MIT
/*
 * show_maps.c - what was mapped where, in which process, at what time
 *
 * Each process has its history, a list of entries in order of time, and the
 * mappings that hold at the time looked at, sorted by address. A look-up first
 * takes the process forward to its time. A forked child copies the mappings
 * that its parent had at that time.
 *
 * Memory: 48 bytes for each mapping told, 32 for each that holds. A state dump
 * that repeats what is known costs nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "show_maps.h"
#include "symbolize.h"

#define NR_BUCKETS	4096

enum kind { MAP, EXEC, FORK, EXIT };

struct entry {
	int64_t time;
	enum kind kind;
	int parent;			/* of a FORK */
	struct kunwind_mapping map;
};

struct process {
	struct process *next;		/* in its bucket */
	int pid;
	bool live_tried;
	struct entry *history;
	size_t nr_history, cap_history;
	size_t at;			/* entries that have taken effect */
	struct kunwind_mapping *now;	/* by start, disjoint */
	size_t nr_now, cap_now;
};

struct kunwind_maps {
	struct process *bucket[NR_BUCKETS];
};

struct kunwind_maps *kunwind_maps_new(void)
{
	return calloc(1, sizeof(struct kunwind_maps));
}

void kunwind_maps_free(struct kunwind_maps *maps)
{
	size_t i;

	if (!maps)
		return;
	for (i = 0; i < NR_BUCKETS; i++) {
		struct process *p = maps->bucket[i], *next;

		for (; p; p = next) {
			next = p->next;
			free(p->history);
			free(p->now);
			free(p);
		}
	}
	free(maps);
}

static struct process *find_process(const struct kunwind_maps *maps, int pid)
{
	struct process *p = maps->bucket[(unsigned int)pid % NR_BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct process *get_process(struct kunwind_maps *maps, int pid)
{
	struct process **bucket = &maps->bucket[(unsigned int)pid % NR_BUCKETS];
	struct process *p = find_process(maps, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->next = *bucket;
	*bucket = p;
	return p;
}

/* Room for one more in an array. */
static bool reserve(void **array, size_t nr, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *bigger;

	if (nr < *cap)
		return true;
	bigger = realloc(*array, want * size);
	if (!bigger)
		return false;
	*array = bigger;
	*cap = want;
	return true;
}

static bool append(struct kunwind_maps *maps, int pid, const struct entry *entry)
{
	struct process *p = get_process(maps, pid);

	if (!p || !reserve((void **)&p->history, p->nr_history, &p->cap_history,
			   sizeof(*p->history)))
		return false;
	p->history[p->nr_history++] = *entry;
	return true;
}

/* Is this mapping the last word about its addresses? Looks back to a new program. */
static bool known_already(const struct process *p, const struct kunwind_mapping *m)
{
	size_t i = p->nr_history;

	while (i-- > 0 && p->history[i].kind == MAP) {
		const struct kunwind_mapping *old = &p->history[i].map;

		if (old->start == m->start && old->end == m->end && old->bias == m->bias &&
		    old->file == m->file)
			return true;
		if (old->start < m->end && m->start < old->end)
			return false;
	}
	return false;
}

bool kunwind_maps_map(struct kunwind_maps *maps, int pid, int64_t time,
		      const struct kunwind_mapping *mapping)
{
	const struct process *p = find_process(maps, pid);

	if (mapping->end <= mapping->start || (p && known_already(p, mapping)))
		return true;
	return append(maps, pid, &(struct entry){ .time = time, .kind = MAP, .map = *mapping });
}

bool kunwind_maps_exec(struct kunwind_maps *maps, int pid, int64_t time)
{
	return append(maps, pid, &(struct entry){ .time = time, .kind = EXEC });
}

bool kunwind_maps_fork(struct kunwind_maps *maps, int parent, int child, int64_t time)
{
	return append(maps, child, &(struct entry){ .time = time, .kind = FORK,
						    .parent = parent });
}

bool kunwind_maps_exit(struct kunwind_maps *maps, int pid, int64_t time)
{
	return append(maps, pid, &(struct entry){ .time = time, .kind = EXIT });
}

bool kunwind_maps_knows(const struct kunwind_maps *maps, int pid)
{
	const struct process *p = find_process(maps, pid);

	return p && (p->nr_history || p->nr_now);
}

/* Index of the first mapping that ends after @addr. */
static size_t position(const struct process *p, uint64_t addr)
{
	size_t lo = 0, hi = p->nr_now;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->now[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void insert_at(struct process *p, size_t i, const struct kunwind_mapping *m)
{
	memmove(&p->now[i + 1], &p->now[i], (p->nr_now - i) * sizeof(*p->now));
	p->now[i] = *m;
	p->nr_now++;
}

/* The new mapping takes its range from whatever had it. False: out of memory. */
static bool replace(struct process *p, const struct kunwind_mapping *m)
{
	size_t first = position(p, m->start), last = first;

	if (!reserve((void **)&p->now, p->nr_now + 1, &p->cap_now, sizeof(*p->now)))
		return false;
	if (first < p->nr_now && p->now[first].start < m->start) {
		if (p->now[first].end > m->end) {	/* in the midst: two remain */
			struct kunwind_mapping rest = p->now[first];

			rest.start = m->end;
			insert_at(p, first + 1, &rest);
		}
		p->now[first].end = m->start;
		first++;
		last = first;
	}
	while (last < p->nr_now && p->now[last].end <= m->end)
		last++;
	if (last < p->nr_now && p->now[last].start < m->end)
		p->now[last].start = m->end;
	memmove(&p->now[first], &p->now[last], (p->nr_now - last) * sizeof(*p->now));
	p->nr_now -= last - first;
	insert_at(p, first, m);
	return true;
}

static void advance(struct kunwind_maps *maps, struct process *p, int64_t time, int depth);

static bool inherit(struct kunwind_maps *maps, struct process *child, const struct entry *fork,
		    int depth)
{
	struct process *parent = find_process(maps, fork->parent);
	size_t i;

	child->nr_now = 0;
	if (!parent || parent == child)
		return true;
	advance(maps, parent, fork->time, depth + 1);
	for (i = 0; i < parent->nr_now; i++) {
		if (!reserve((void **)&child->now, child->nr_now, &child->cap_now,
			     sizeof(*child->now)))
			return false;
		child->now[child->nr_now++] = parent->now[i];
	}
	return true;
}

/*
 * Out of memory here loses mappings, and names with them, nothing else. The
 * depth ends a trace that claims a circle of forks at one instant.
 */
static void advance(struct kunwind_maps *maps, struct process *p, int64_t time, int depth)
{
	while (p->at < p->nr_history && p->history[p->at].time <= time && depth < 64) {
		struct entry *entry = &p->history[p->at++];

		switch (entry->kind) {
		case MAP:
			replace(p, &entry->map);
			break;
		case FORK:
			inherit(maps, p, entry, depth);
			break;
		case EXEC:
		case EXIT:
			p->nr_now = 0;
			break;
		}
	}
}

static const struct kunwind_mapping *look_ahead(const struct process *p, uint64_t addr)
{
	size_t i;

	for (i = p->at; i < p->nr_history && p->history[i].kind == MAP; i++) {
		if (p->history[i].map.start <= addr && addr < p->history[i].map.end)
			return &p->history[i].map;
	}
	return NULL;
}

const struct kunwind_mapping *kunwind_maps_find(struct kunwind_maps *maps, int pid,
						uint64_t addr, int64_t time)
{
	struct process *p = find_process(maps, pid);
	size_t i;

	if (!p)
		return NULL;
	advance(maps, p, time, 0);
	i = position(p, addr);
	if (i < p->nr_now && p->now[i].start <= addr)
		return &p->now[i];
	return look_ahead(p, addr);
}

/*
 * When the process was started, nanoseconds since 1970; -1 when it is not there
 * or has another name than @comm.
 */
static int64_t start_time(int pid, const char *comm)
{
	struct timespec real, boot;
	char path[64], line[1024], *p, *name;
	unsigned long long ticks;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[len] = '\0';
	/* fields are counted from behind the name, which may hold anything */
	p = strrchr(line, ')');
	name = strchr(line, '(');
	if (!p || !name || (*comm && ((size_t)(p - name - 1) != strlen(comm) ||
				      strncmp(name + 1, comm, strlen(comm)))))
		return -1;
	if (sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			 "%*d %*d %*d %*d %llu", &ticks) != 1)
		return -1;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (int64_t)(real.tv_sec - boot.tv_sec) * 1000000000 + real.tv_nsec - boot.tv_nsec +
	       (int64_t)(ticks * (1000000000 / (unsigned long)sysconf(_SC_CLK_TCK)));
}

/* Opens a mapped file as the process sees it, also when its name has gone. */
static struct kunwind_symfile *live_file(struct kunwind_symbolizer *symbolizer, int pid,
					 const char *range, const char *name, uint64_t inode)
{
	char path[64];
	struct stat st;

	if (!strcmp(name, "[vdso]"))
		return kunwind_symbolizer_file(symbolizer, name, "", 0);
	if (!stat(name, &st) && st.st_ino == inode)
		return kunwind_symbolizer_file(symbolizer, name, "", inode);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%s", pid, range);
	return kunwind_symbolizer_file(symbolizer, path, "", inode);
}

bool kunwind_maps_load_live(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
			    int pid, const char *comm, int64_t time)
{
	struct process *p = get_process(maps, pid);
	char line[4200], name[4100], range[40], perms[8], path[64];
	uint64_t start, end, offset, inode, vaddr;
	int64_t started;
	FILE *f;

	if (!p || p->live_tried || p->nr_history)
		return p && p->nr_now;
	p->live_tried = true;
	started = start_time(pid, comm);
	if (started < 0 || started > time)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		struct kunwind_mapping m = { 0 };

		*name = '\0';
		if (sscanf(line, "%39s %7s %" SCNx64 " %*s %" SCNu64 " %4099[^\n]", range, perms,
			   &offset, &inode, name) < 4 ||
		    sscanf(range, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		if (perms[2] != 'x' || (*name != '/' && strcmp(name, "[vdso]")))
			continue;
		m.start = start;
		m.end = end;
		m.file = live_file(symbolizer, pid, range, name, inode);
		if (!m.file)
			continue;
		if (!kunwind_symfile_vaddr(m.file, offset, &vaddr))
			vaddr = offset;		/* no names then; the offset serves */
		m.bias = start - vaddr;
		replace(p, &m);
	}
	fclose(f);
	return p->nr_now;
}
