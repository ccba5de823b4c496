// SPDX-License-Identifier: MIT
/*
 * maps.c - what was mapped where, in which process, at what time
 *
 * Each process has its history, a list of entries in order of time, and the
 * mappings at the time of the last look-up, sorted by address. A look-up first
 * applies the entries up to its time; for an earlier time than the last, all
 * entries since the program began. The first look-up of a forked child
 * copies the mappings that its parent had at the fork. If the parent was looked
 * up for a later time, the parent's entries are applied again up to the fork.
 * Mappings of a live process are entries before all others.
 *
 * If a mapping replaces another one, the trace reports an unmap first. A mapping
 * without that unmap contradicts the older one, and shows that events were lost.
 * Each processor's buffer overwrites its own oldest events, so a snapshot may
 * have a fork without the exec after it. From the exec on, the process no longer
 * has the mappings that it had at the fork. If a process has new entries, a
 * look-up first searches them for contradictions. kunwind_maps_find() takes these
 * into account.
 *
 * Memory: 48 bytes for each mapping reported or read from /proc; 32 for each
 * that is mapped in a process that was looked up, or in an ancestor of one. 32 to 64 for
 * each mapping of a process with many, if addresses without a mapping are looked up.
 * A state dump that repeats known mappings costs nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "maps.h"

#define NR_BUCKETS	4096
#define MAX_BACK	4096
#define FEW		64	/* entries that are searched one by one */

enum kind { MAP, UNMAP, EXEC, FORK, EXIT };

struct map_entry {
	int64_t time;
	enum kind kind;
	int parent;			/* of a FORK */
	union {
		struct kunwind_maps_range map;
		size_t nr_parent;	/* FORK: entries that the parent had */
	};
};

struct map_process {
	struct map_process *next;		/* in its bucket */
	int pid;
	bool live_tried;
	struct map_entry *history;
	size_t nr_history, cap_history;
	size_t nr_live;			/* of these, read from /proc */
	size_t at;			/* entries that were applied */
	size_t checked;			/* entries that were searched for contradictions */
	struct program_change *change;		/* execs, forks and exits, in order of time */
	size_t nr_changes, cap_changes;
	bool contradicted;		/* a mapping contradicts an older one: events were lost */
	struct kunwind_maps_range *now;	/* by start, disjoint */
	size_t nr_now, cap_now;
	struct hull *hull;		/* for look_ahead() */
	size_t nr_hulled;		/* entries that it is of */
};

/* When a program of a process began or ended. */
struct program_change {
	int64_t time;
	bool exits;
};

/* Addresses between which all entries of a node are; of an exec, fork or exit: all addresses. */
struct hull {
	uint64_t start, end;
};

struct kunwind_maps {
	struct map_process *bucket[NR_BUCKETS];
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
		struct map_process *p = maps->bucket[i], *next;

		for (; p; p = next) {
			next = p->next;
			free(p->history);
			free(p->now);
			free(p->hull);
			free(p->change);
			free(p);
		}
	}
	free(maps);
}

static struct map_process *find_process(const struct kunwind_maps *maps, int pid)
{
	struct map_process *p = maps->bucket[(unsigned int)pid % NR_BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct map_process *get_process(struct kunwind_maps *maps, int pid)
{
	struct map_process **bucket = &maps->bucket[(unsigned int)pid % NR_BUCKETS];
	struct map_process *p = find_process(maps, pid);

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

static bool append(struct kunwind_maps *maps, int pid, const struct map_entry *entry)
{
	struct map_process *p = get_process(maps, pid);

	if (!p || !kunwind_reserve((void **)&p->history, p->nr_history, &p->cap_history,
				   sizeof(*p->history)))
		return false;
	p->history[p->nr_history++] = *entry;
	if (entry->kind <= UNMAP)
		return true;
	if (!kunwind_reserve((void **)&p->change, p->nr_changes, &p->cap_changes, sizeof(*p->change)))
		return false;
	p->change[p->nr_changes++] = (struct program_change){ entry->time, entry->kind == EXIT };
	return true;
}

/*
 * Does the latest entry about these addresses map the same already? Looks back
 * at most MAX_BACK entries, and not past an exec, fork or exit: an entry that
 * repeats another one costs memory and nothing else.
 */
static bool known_already(const struct map_process *p, const struct kunwind_maps_range *m)
{
	size_t i = p->nr_history, last = i > MAX_BACK ? i - MAX_BACK : 0;

	while (i-- > last && p->history[i].kind <= UNMAP) {
		const struct kunwind_maps_range *old = &p->history[i].map;

		if (p->history[i].kind == MAP && old->start == m->start && old->end == m->end &&
		    old->bias == m->bias && old->object == m->object)
			return true;
		if (old->start < m->end && m->start < old->end)
			return false;
	}
	return false;
}

bool kunwind_maps_map(struct kunwind_maps *maps, int pid, int64_t time,
		      const struct kunwind_maps_range *mapping)
{
	const struct map_process *p = find_process(maps, pid);

	if (mapping->end <= mapping->start || (p && known_already(p, mapping)))
		return true;
	return append(maps, pid, &(struct map_entry){ .time = time, .kind = MAP, .map = *mapping });
}

bool kunwind_maps_unmap(struct kunwind_maps *maps, int pid, int64_t time, uint64_t start,
			uint64_t end)
{
	if (end <= start)
		return true;
	return append(maps, pid, &(struct map_entry){ .time = time, .kind = UNMAP,
						      .map = { .start = start, .end = end } });
}

bool kunwind_maps_exec(struct kunwind_maps *maps, int pid, int64_t time)
{
	return append(maps, pid, &(struct map_entry){ .time = time, .kind = EXEC });
}

bool kunwind_maps_fork(struct kunwind_maps *maps, int parent, int child, int64_t time)
{
	const struct map_process *p = find_process(maps, parent);

	return append(maps, child, &(struct map_entry){ .time = time, .kind = FORK, .parent = parent,
							.nr_parent = p ? p->nr_history : 0 });
}

bool kunwind_maps_exit(struct kunwind_maps *maps, int pid, int64_t time)
{
	return append(maps, pid, &(struct map_entry){ .time = time, .kind = EXIT });
}

bool kunwind_maps_knows(const struct kunwind_maps *maps, int pid)
{
	const struct map_process *p = find_process(maps, pid);

	return p && p->nr_history;
}

/* Returns the index of the first mapping that ends after @addr. */
static size_t position(const struct map_process *p, uint64_t addr)
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

static void insert_at(struct map_process *p, size_t i, const struct kunwind_maps_range *m)
{
	memmove(&p->now[i + 1], &p->now[i], (p->nr_now - i) * sizeof(*p->now));
	p->now[i] = *m;
	p->nr_now++;
}

/*
 * Removes the range from all mappings. If it has an object, it becomes a new
 * mapping. False: out of memory.
 */
static bool replace(struct map_process *p, const struct kunwind_maps_range *m)
{
	size_t first = position(p, m->start), last = first;

	/* room for two: the new one, and the rest of one that it splits */
	if (!kunwind_reserve((void **)&p->now, p->nr_now + 1, &p->cap_now, sizeof(*p->now)))
		return false;
	if (first < p->nr_now && p->now[first].start < m->start) {
		if (p->now[first].end > m->end) {	/* it splits this one */
			struct kunwind_maps_range rest = p->now[first];

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
	if (m->object)
		insert_at(p, first, m);
	return true;
}

/*
 * Entries that only map and unmap. They change the mappings that the process
 * had at @fork. NULL: those that it has applied, or none.
 */
struct span {
	struct map_process *of;
	const struct map_entry *fork;
	size_t first, end;
};

/* Begins after what @p has applied, or after its last fork, exec or exit. */
static struct span last_span(struct map_process *p, size_t end)
{
	size_t applied = p->at <= end ? p->at : 0, first = end;
	const struct map_entry *fork = NULL;

	while (first > applied && p->history[first - 1].kind <= UNMAP)
		first--;
	if (first > applied && p->history[first - 1].kind == FORK)
		fork = &p->history[first - 1];
	return (struct span){ .of = p, .fork = fork, .first = first, .end = end };
}

static bool differ(const struct kunwind_maps_range *a, const struct kunwind_maps_range *b)
{
	return a->bias != b->bias || a->object != b->object;
}

/* Whether @m overlaps a mapping of another object, or with another bias. */
static bool contradicts(const struct map_process *p, const struct kunwind_maps_range *m)
{
	size_t i;

	for (i = position(p, m->start); i < p->nr_now && p->now[i].start < m->end; i++)
		if (differ(&p->now[i], m))
			return true;
	return false;
}

/* If memory runs out, mappings and their names are lost, nothing else. */
static void apply(struct map_process *p, const struct span *span)
{
	size_t i;

	for (i = span->first; i < span->end; i++) {
		const struct map_entry *entry = &span->of->history[i];

		if (entry->kind == MAP && span->of == p && contradicts(p, &entry->map))
			p->contradicted = true;
		replace(p, &entry->map);
	}
}

/*
 * Copies to @p the mappings at the end of a span without a fork. For that, the
 * span's process goes forward, or back if it is past the end.
 */
static void begin(struct map_process *p, const struct span *span)
{
	struct map_process *of = span->of;
	size_t i;

	if (of->at != span->first)
		of->nr_now = 0;
	apply(of, span);
	of->at = span->end;
	if (of == p)
		return;
	p->nr_now = 0;
	for (i = 0; i < of->nr_now; i++) {
		if (!kunwind_reserve((void **)&p->now, p->nr_now, &p->cap_now, sizeof(*p->now)))
			return;
		p->now[p->nr_now++] = of->now[i];
	}
}

/*
 * Applies the first @end entries. The loop over forks ends, because each fork
 * leads to entries that are older than the fork.
 */
static void advance(const struct kunwind_maps *maps, struct map_process *p, size_t end)
{
	size_t nr = 0, cap = 0, of_end = end;
	const struct map_entry *fork = NULL;
	struct span *span = NULL;
	struct map_process *of = p;

	do {
		if (!kunwind_reserve((void **)&span, nr, &cap, sizeof(*span))) {
			of = NULL;
			break;
		}
		span[nr] = last_span(of, of_end);
		fork = span[nr++].fork;
		if (fork) {
			of = find_process(maps, fork->parent);
			of_end = of && fork->nr_parent < of->nr_live ? of->nr_live : fork->nr_parent;
		}
	} while (fork && of);
	if (of)
		begin(p, &span[--nr]);
	else
		p->nr_now = 0;
	while (nr--)
		apply(p, &span[nr]);
	free(span);
	p->at = end;
}

/* Applies all entries that were not searched for contradictions, program by program. */
static void check(const struct kunwind_maps *maps, struct map_process *p)
{
	size_t i;

	for (i = p->checked; i < p->nr_history; i++)
		if (p->history[i].kind > UNMAP)
			advance(maps, p, i);
	advance(maps, p, p->nr_history);
	p->checked = p->nr_history;
}

/* Returns whether an entry is of @addr, or ends the program. */
static bool is_next(const struct map_entry *entry, uint64_t addr)
{
	return entry->kind > UNMAP || (entry->map.start <= addr && addr < entry->map.end);
}

/* Makes the tree of hulls: node 1 is the root, those of the entries begin at nr_hulled rounded up. */
static size_t hulls_of(struct map_process *p)
{
	size_t leaves = 1, i;

	while (leaves < p->nr_history)
		leaves *= 2;
	if (p->nr_hulled == p->nr_history)
		return leaves;
	free(p->hull);
	p->nr_hulled = 0;
	p->hull = calloc(leaves * 2, sizeof(*p->hull));
	if (!p->hull)
		return 0;
	for (i = 0; i < p->nr_history; i++)
		p->hull[leaves + i] = p->history[i].kind > UNMAP ? (struct hull){ 0, UINT64_MAX } :
				      (struct hull){ p->history[i].map.start, p->history[i].map.end };
	for (i = leaves - 1; i; i--) {
		const struct hull *a = &p->hull[i * 2], *b = a + 1;

		p->hull[i] = !b->end ? *a : (struct hull){ a->start < b->start ? a->start : b->start,
							   a->end > b->end ? a->end : b->end };
	}
	p->nr_hulled = p->nr_history;
	return leaves;
}

/*
 * Returns the first entry from @i on that is of @addr or ends the program, or nr_history. Nodes of
 * the tree whose addresses are others are skipped as a whole.
 */
static size_t next_entry(struct map_process *p, size_t i, uint64_t addr)
{
	size_t leaves = p->nr_history - i > FEW ? hulls_of(p) : 0, node = leaves + i;

	if (!leaves) {
		while (i < p->nr_history && !is_next(&p->history[i], addr))
			i++;
		return i;
	}
	for (;;) {
		if (p->hull[node].start <= addr && addr < p->hull[node].end) {
			if (node >= leaves)
				return node - leaves;
			node *= 2;
			continue;
		}
		while (node & 1)	/* it is the last one of its parent */
			node /= 2;
		if (!node)
			return p->nr_history;
		node++;
	}
}

static const struct kunwind_maps_range *look_ahead(struct map_process *p, uint64_t addr)
{
	size_t i = next_entry(p, p->at, addr);

	return i < p->nr_history && p->history[i].kind == MAP ? &p->history[i].map : NULL;
}

const struct kunwind_maps_range *kunwind_maps_find(struct kunwind_maps *maps, int pid,
						   uint64_t addr, int64_t time)
{
	struct map_process *p = find_process(maps, pid);
	const struct kunwind_maps_range *later;
	size_t i;

	if (!p)
		return NULL;
	if (p->checked != p->nr_history)
		check(maps, p);
	for (i = p->at; i > 0 && p->history[i - 1].time > time; i--)
		;
	while (i < p->nr_history && p->history[i].time <= time)
		i++;
	if (i != p->at)
		advance(maps, p, i);
	i = position(p, addr);
	if (i == p->nr_now || p->now[i].start > addr)
		return look_ahead(p, addr);
	later = p->contradicted ? look_ahead(p, addr) : NULL;
	if (!later || !differ(later, &p->now[i]))
		return &p->now[i];
	/*
	 * Directly after a fork, assume that the lost exec soon followed. In other
	 * cases, the time at which @later replaced the mapping is not known.
	 */
	return p->at && p->history[p->at - 1].kind == FORK ? later : NULL;
}

bool kunwind_maps_ask_live(struct kunwind_maps *maps, int pid)
{
	struct map_process *p = get_process(maps, pid);

	if (!p || p->live_tried || p->nr_history)
		return false;
	p->live_tried = true;
	return true;
}

bool kunwind_maps_live(struct kunwind_maps *maps, int pid, const struct kunwind_maps_range *range)
{
	struct map_process *p = get_process(maps, pid);

	if (!p || !kunwind_maps_map(maps, pid, INT64_MIN, range))
		return false;
	p->nr_live = p->nr_history;
	return true;
}

void kunwind_maps_program(const struct kunwind_maps *maps, int pid, int64_t time, int64_t *began,
			  int64_t *ended)
{
	const struct map_process *p = find_process(maps, pid);
	size_t first = 0, end = p ? p->nr_changes : 0, middle;

	/* the first change after the time */
	while (first < end) {
		middle = first + (end - first) / 2;
		if (p->change[middle].time > time)
			end = middle;
		else
			first = middle + 1;
	}
	*ended = p && first < p->nr_changes ? p->change[first].time : INT64_MAX;
	while (first && p->change[first - 1].exits)
		first--;
	*began = first ? p->change[first - 1].time : INT64_MAX;
}
