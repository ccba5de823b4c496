// SPDX-License-Identifier: MIT
/*
 * calls.c - a tree of calls, with its frames and strings
 *
 * Nodes, frames and strings have numbers, and each exists once. Hash tables
 * with open addressing, at most half full, find them. A node is made after its
 * parent, so a loop from the last node down visits children before parents.
 *
 * Memory: 40 bytes and an index entry for each distinct path from the root, 40
 * bytes and an index entry for each function (or each place in one, if the
 * frames have addresses); twice that after an array has grown. Nothing grows
 * with the number of events.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kunwind_utf8.h"
#include "calls.h"
#include "tool.h"

void *needed(void *pointer)
{
	if (!pointer) {
		kunwind_tool_error("out of memory");
		exit(1);
	}
	return pointer;
}

void *grown(void *array, uint32_t nr, uint32_t *cap, size_t size)
{
	if (nr < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 1024;
	return needed(realloc(array, *cap * size));
}

uint32_t not_later(const void *array, uint32_t nr, size_t size, size_t offset, int64_t time)
{
	uint32_t low = 0, high = nr, middle;
	int64_t at;

	while (low < high) {
		middle = low + (high - low) / 2;
		memcpy(&at, (const char *)array + middle * size + offset, sizeof(at));
		if (at <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t hash_node(const struct calls_node *node)
{
	return mix(mix(1, node->parent), node->frame);
}

static uint64_t hash_frame(const struct calls_frame *frame)
{
	uint64_t hash = mix(mix(mix(2, (uint64_t)frame->kind), frame->name), frame->object);

	return frame->address ? mix(mix(hash, frame->address), frame->line) : hash;
}

static bool same_frame(const struct calls_frame *a, const struct calls_frame *b)
{
	return a->kind == b->kind && a->name == b->name && a->object == b->object &&
	       a->address == b->address && a->line == b->line && a->file == b->file &&
	       a->build_id == b->build_id && a->inlined == b->inlined && a->kernel == b->kernel &&
	       a->guess == b->guess;
}

static uint64_t hash_string(const char *text)
{
	uint64_t hash = 3;

	for (; *text; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

/* Enters @number. The index must have room. */
static void put(struct calls_index *index, uint64_t hash, uint32_t number)
{
	uint32_t at = (uint32_t)hash & (index->cap - 1);

	while (index->slot[at])
		at = (at + 1) & (index->cap - 1);
	index->slot[at] = number + 1;
}

/*
 * Makes room for one more entry than @nr. Returns true if the index was
 * replaced by an empty one: then the caller enters all numbers again.
 */
static bool make_room(struct calls_index *index, uint32_t nr)
{
	if (nr < index->cap / 2)
		return false;
	free(index->slot);
	index->cap = index->cap ? index->cap * 2 : 4096;
	index->slot = needed(calloc(index->cap, sizeof(*index->slot)));
	return true;
}

static uint32_t add_string(struct calls *calls, const char *text)
{
	uint64_t hash = hash_string(text);
	uint32_t i, at;

	if (make_room(&calls->strings, calls->nr_strings)) {
		for (i = 0; i < calls->nr_strings; i++)
			put(&calls->strings, hash_string(calls->string[i]), i);
	}
	for (at = (uint32_t)hash;; at++) {
		i = calls->strings.slot[at & (calls->strings.cap - 1)];
		if (!i)
			break;
		if (!strcmp(calls->string[i - 1], text))
			return i - 1;
	}
	calls->string = grown(calls->string, calls->nr_strings, &calls->cap_strings,
			     sizeof(*calls->string));
	calls->string[calls->nr_strings] = needed(strdup(text));
	put(&calls->strings, hash, calls->nr_strings);
	return calls->nr_strings++;
}

char *calls_clean(const char *text)
{
	char *clean = needed(malloc(strlen(text) * 3 + 1)), *to = clean;
	unsigned int n;

	for (; *text; text += n ? n : 1) {
		n = kunwind_utf8_length(text);
		to = n ? mempcpy(to, text, n) : stpcpy(to, "\xef\xbf\xbd");
	}
	*to = '\0';
	return clean;
}

uint32_t calls_string(struct calls *calls, const char *text)
{
	const char *from = text;
	uint32_t string;
	unsigned int n;
	char *clean;

	while (*from && (n = kunwind_utf8_length(from)))
		from += n;
	if (!*from)
		return add_string(calls, text);
	clean = calls_clean(text);
	string = add_string(calls, clean);
	free(clean);
	return string;
}

const char *calls_text(struct calls *calls, const char *text)
{
	uint32_t string = calls_string(calls, text);	/* may move calls->string */

	return calls->string[string];
}

static uint32_t add_frame(struct calls *calls, const struct calls_frame *frame)
{
	uint64_t hash = hash_frame(frame);
	uint32_t i, at;

	if (make_room(&calls->frames, calls->nr_frames)) {
		for (i = 0; i < calls->nr_frames; i++)
			put(&calls->frames, hash_frame(&calls->frame[i]), i);
	}
	for (at = (uint32_t)hash;; at++) {
		i = calls->frames.slot[at & (calls->frames.cap - 1)];
		if (!i)
			break;
		if (same_frame(&calls->frame[i - 1], frame))
			return i - 1;
	}
	calls->frame = grown(calls->frame, calls->nr_frames, &calls->cap_frames,
			    sizeof(*calls->frame));
	calls->frame[calls->nr_frames] = *frame;
	put(&calls->frames, hash, calls->nr_frames);
	return calls->nr_frames++;
}

static uint32_t add_node(struct calls *calls, const struct calls_node *node)
{
	uint64_t hash = hash_node(node);
	uint32_t i, at;

	if (make_room(&calls->nodes, calls->nr_nodes)) {
		for (i = 0; i < calls->nr_nodes; i++)
			put(&calls->nodes, hash_node(&calls->node[i]), i);
	}
	for (at = (uint32_t)hash;; at++) {
		i = calls->nodes.slot[at & (calls->nodes.cap - 1)];
		if (!i)
			break;
		/* the root (parent 0, frame 0) looks like its own child */
		if (i - 1 != CALLS_ROOT && calls->node[i - 1].parent == node->parent &&
		    calls->node[i - 1].frame == node->frame)
			return i - 1;
	}
	calls->node = grown(calls->node, calls->nr_nodes, &calls->cap_nodes, sizeof(*calls->node));
	calls->node[calls->nr_nodes] = *node;
	put(&calls->nodes, hash, calls->nr_nodes);
	return calls->nr_nodes++;
}

uint32_t calls_child(struct calls *calls, uint32_t parent, const struct calls_frame *frame)
{
	struct calls_node node = { .parent = parent, .frame = add_frame(calls, frame) };

	return add_node(calls, &node);
}

uint32_t calls_node(struct calls *calls, uint32_t parent, enum frame_kind kind, const char *name,
		    const char *object)
{
	struct calls_frame frame = { .kind = kind, .name = calls_string(calls, name),
				     .object = calls_string(calls, object) };

	return calls_child(calls, parent, &frame);
}

uint32_t calls_innermost(const struct calls *calls, uint32_t node)
{
	uint32_t parent = calls->node[node].parent;

	return calls_frame(calls, node)->kind == FRAME_WHAT &&
	       !strcmp(calls->string[calls_frame(calls, node)->object], CALLS_CPU) && parent != CALLS_ROOT &&
	       calls_frame(calls, parent)->kind == FRAME_FUNCTION ? parent : node;
}

uint32_t calls_object_number(struct calls_objects *objects, const struct calls_frame *frame)
{
	uint32_t i, nr;

	if (frame->object >= objects->nr_paths) {
		nr = frame->object * 2 + 64;
		objects->latest = needed(realloc(objects->latest, nr * sizeof(*objects->latest)));
		memset(objects->latest + objects->nr_paths, 0,
		       (nr - objects->nr_paths) * sizeof(*objects->latest));
		objects->nr_paths = nr;
	}
	for (i = objects->latest[frame->object]; i; i = objects->item[i - 1].before)
		if (objects->item[i - 1].build_id == frame->build_id)
			return i - 1;
	objects->item = grown(objects->item, objects->nr, &objects->cap, sizeof(*objects->item));
	objects->item[objects->nr] = (struct calls_object){
		frame->object, frame->build_id, objects->latest[frame->object] };
	objects->latest[frame->object] = objects->nr + 1;
	return objects->nr++;
}

void calls_objects_free(struct calls_objects *objects)
{
	free(objects->item);
	free(objects->latest);
}

void calls_init(struct calls *calls)
{
	struct calls_node root = { 0 };

	memset(calls, 0, sizeof(*calls));
	add_string(calls, "");
	add_node(calls, &root);
}

void calls_free(struct calls *calls)
{
	uint32_t i;

	for (i = 0; i < calls->nr_strings; i++)
		free(calls->string[i]);
	free(calls->string);
	free(calls->frame);
	free(calls->node);
	free(calls->strings.slot);
	free(calls->frames.slot);
	free(calls->nodes.slot);
}

struct calls_total *calls_totals(const struct calls *calls)
{
	struct calls_total *total = needed(calloc(calls->nr_nodes, sizeof(*total)));
	uint32_t i;
	int w;

	for (i = calls->nr_nodes - 1; i > CALLS_ROOT; i--) {
		for (w = 0; w < NR_WEIGHTS; w++) {
			total[i].weight[w] += calls->node[i].self[w];
			total[calls->node[i].parent].weight[w] += total[i].weight[w];
		}
	}
	return total;
}

int64_t calls_weight(const struct calls *calls, enum weight weight)
{
	int64_t sum = 0;
	uint32_t i;

	for (i = 0; i < calls->nr_nodes; i++)
		sum += calls->node[i].self[weight];
	return sum;
}
