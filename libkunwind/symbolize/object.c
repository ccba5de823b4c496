// SPDX-License-Identifier: MIT
/*
 * object.c - objects, and the functions at an address of one
 *
 * The first question about an address in an object searches for its file, and
 * hands the file to the helper process. If many are open, the least recently
 * used one is closed. A helper that dies loses all open objects: they are
 * opened again for the next questions about them. The object over which it died
 * is tried without its debug information, and after another death not at all.
 *
 * Memory: the cache's (cache.c), 64 KB for an answer, some 150 bytes an object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void kunwind_object_free(struct kunwind_symbolizer_object *object)
{
	if (object->backend && object->backend->close)
		object->backend->close(object->handle);
	kunwind_list_free(object->list);
	free(object->path);
	free(object->build_id);
	free(object);
}

void kunwind_cache_trim(struct kunwind_symbolizer *symbolizer)
{
	if (kunwind_cache_full(symbolizer->cache))
		kunwind_cache_clear(symbolizer->cache);
}

/* FNV-1a */
static uint64_t hash_string(uint64_t hash, const char *s)
{
	while (*s)
		hash = (hash ^ (unsigned char)*s++) * 0x100000001b3;
	return hash;
}

/*
 * Returns whether the text is the lower-case hex of 1 to WIRE_ID bytes. A
 * build-id becomes part of paths and an argument of libdebuginfod.
 */
static bool is_build_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len && len % 2 == 0 && len <= 2 * WIRE_ID && !text[len];
}

struct kunwind_symbolizer_object *kunwind_symbolizer_object(struct kunwind_symbolizer *symbolizer,
						 const char *path, const char *build_id,
						 uint64_t inode)
{
	struct kunwind_symbolizer_object **bucket, *object;
	uint64_t hash;

	if (!is_build_id(build_id))
		build_id = "";
	hash = hash_string(hash_string(0xcbf29ce484222325 ^ inode, path), build_id);
	bucket = &symbolizer->bucket[hash % KUNWIND_BUCKETS];
	for (object = *bucket; object; object = object->next) {
		if (object->inode == inode && !strcmp(object->path, path) &&
		    !strcmp(object->build_id, build_id))
			return object;
	}
	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->path = strdup(path);
	object->build_id = strdup(build_id);
	if (!object->path || !object->build_id) {
		kunwind_object_free(object);
		return NULL;
	}
	object->inode = inode;
	object->slot = -1;
	object->owner = WIRE_NOBODY;
	object->dwarf_state = KUNWIND_STATE_OK;
	object->symbolizer = symbolizer;
	object->next = *bucket;
	*bucket = object;
	symbolizer->stats.objects++;
	return object;
}

const char *kunwind_object_path(const struct kunwind_symbolizer_object *object)
{
	return object->path;
}

const char *kunwind_object_build_id(const struct kunwind_symbolizer_object *object)
{
	return object->build_id;
}

const char *kunwind_state_why(enum kunwind_state state)
{
	switch (state) {
	case KUNWIND_STATE_NEW:
	case KUNWIND_STATE_OK:
		return NULL;
	case KUNWIND_STATE_ABSENT:
		return "no such file";
	case KUNWIND_STATE_UNREADABLE:
		return "file not readable";
	case KUNWIND_STATE_DIFFERS:
		return "build-id differs";
	case KUNWIND_STATE_UNSURE:
		return "no build-id, and not the same inode";
	case KUNWIND_STATE_CRASHED:
		return KUNWIND_WHY_CRASHED;
	case KUNWIND_STATE_SLOW:
		return KUNWIND_WHY_SLOW;
	case KUNWIND_STATE_LARGE:
		return KUNWIND_WHY_LARGE;
	case KUNWIND_STATE_FOREIGN:
		return KUNWIND_WHY_FOREIGN;
	case KUNWIND_STATE_HANGS:
		return KUNWIND_WHY_HANGS;
	case KUNWIND_STATE_NO_HELPER:
		return KUNWIND_WHY_NO_HELPER;
	case KUNWIND_STATE_PACKED:	/* only debug information */
		break;
	}
	return "?";
}

static const char *dwarf_why(enum kunwind_state state)
{
	switch (state) {
	case KUNWIND_STATE_OK:
		return NULL;
	case KUNWIND_STATE_SLOW:
		return "reading its debug information took too long";
	case KUNWIND_STATE_FOREIGN:
		return "its debug information is in a file of another user";
	case KUNWIND_STATE_HANGS:
		return "the file system of its debug information does not answer";
	case KUNWIND_STATE_PACKED:
		return "libelf cannot decompress its debug information: objcopy --decompress-debug-sections";
	default:
		return "the parser died of its debug information";
	}
}

/* The helper is lost over an object, whose state changes. */
static void blame(struct kunwind_symbolizer_object *object, enum kunwind_asked asked)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;
	enum kunwind_state state = asked == KUNWIND_ASKED_SLOW ? KUNWIND_STATE_SLOW :
				   asked == KUNWIND_ASKED_HANGS ? KUNWIND_STATE_HANGS :
								  KUNWIND_STATE_CRASHED;

	if (asked == KUNWIND_ASKED_NOBODY) {
		object->state = KUNWIND_STATE_NO_HELPER;
	} else if (!object->no_dwarf && !(symbolizer->options.flags & KUNWIND_NO_DWARF)) {
		object->no_dwarf = true;
		object->dwarf_state = state;
	} else {
		object->state = state;
		if (state == KUNWIND_STATE_HANGS)
			kunwind_opener_hangs(&symbolizer->helper.opener, object->path);
	}
}

/* Asks about an object. If the helper is lost, the object's state changes. */
static enum kunwind_asked ask(struct kunwind_symbolizer_object *object, const struct wire_request *request,
			      size_t *len)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;
	enum kunwind_asked asked = kunwind_helper_ask(&symbolizer->helper, request, symbolizer->reply, len);

	if (asked != KUNWIND_ASKED)
		blame(object, asked);
	return asked;
}

/* The same with the files in slots of the opener; @other: a slot, or WIRE_NOBODY. */
static enum kunwind_asked give(struct kunwind_symbolizer_object *object, const struct wire_request *request,
			       uint32_t slot, uint32_t other, unsigned int flags, size_t *len)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;
	enum kunwind_asked asked = kunwind_helper_give(&symbolizer->helper, request, slot, other, flags,
						       symbolizer->reply, len);

	if (asked != KUNWIND_ASKED)
		blame(object, asked);
	return asked;
}

static bool is_open(const struct kunwind_symbolizer_object *object)
{
	return object->slot >= 0 &&
	       kunwind_helper_lives(&object->symbolizer->helper, object->generation);
}

/* Takes a free number for an object, or that of the least recently used one. */
static int take_slot(struct kunwind_symbolizer_object *object)
{
	struct kunwind_symbolizer_object **slot = object->symbolizer->slot;
	int i, best = 0;

	for (i = 0; i < KUNWIND_MAX_OPEN; i++) {
		if (!slot[i]) {
			best = i;
			break;
		}
		if (slot[i]->used < slot[best]->used)
			best = i;
	}
	if (slot[best])
		slot[best]->slot = -1;	/* OPEN closes the object that had the number */
	slot[best] = object;
	return best;
}

static void drop_slot(struct kunwind_symbolizer_object *object)
{
	if (object->slot >= 0)
		object->symbolizer->slot[object->slot] = NULL;
	object->slot = -1;
}

/* Hands over the file with dwz's common parts, if the reply names one. */
static bool open_alt(struct kunwind_symbolizer_object *object, const char *debug_path, size_t len)
{
	const struct wire_reply *reply = (const void *)object->symbolizer->reply;
	struct wire_request request = { .type = WIRE_ALT, .id = (uint32_t)object->slot };
	char name[4097];

	if (!reply->id_len || reply->id_len > WIRE_ID || reply->name_len >= sizeof(name) ||
	    reply->name_len > len - sizeof(*reply))
		return true;
	memcpy(name, object->symbolizer->reply + sizeof(*reply), reply->name_len);
	name[reply->name_len] = '\0';
	return !kunwind_find_alt(object, debug_path, name, reply->id, reply->id_len) ||
	       give(object, &request, KUNWIND_SLOT_OTHER, WIRE_NOBODY, 0, &len) == KUNWIND_ASKED;
}

/* Hands over the files. False: try again, or object->state says why not. */
static bool hand_over(struct kunwind_symbolizer_object *object, const struct kunwind_found_file *found)
{
	const struct wire_reply *reply = (const void *)object->symbolizer->reply;
	bool dwarf = !object->no_dwarf && !(object->symbolizer->options.flags & KUNWIND_NO_DWARF);
	unsigned int wanted = WIRE_HOLDS_SYMTAB | (dwarf ? WIRE_HOLDS_DWARF : 0);
	struct wire_request request = { .type = WIRE_OPEN, .flags = dwarf ? 0 : WIRE_NO_DWARF };
	uint32_t debug = WIRE_NOBODY;
	char debug_path[4200];
	bool ok;
	size_t len;

	object->owner = found->owner;
	snprintf(debug_path, sizeof(debug_path), "%s", found->path);
	if ((found->identity.flags & wanted) != wanted &&
	    kunwind_find_debug(object, found, debug_path, sizeof(debug_path)))
		debug = KUNWIND_SLOT_DEBUG;
	drop_slot(object);
	object->slot = take_slot(object);
	request.id = (uint32_t)object->slot;
	ok = give(object, &request, KUNWIND_SLOT_MAIN, debug, 0, &len) == KUNWIND_ASKED;
	object->generation = object->symbolizer->helper.generation;
	if (ok && reply->status != WIRE_OK) {
		object->state = KUNWIND_STATE_UNREADABLE;
		ok = false;
	}
	if (ok && reply->flags & WIRE_PACKED)
		object->dwarf_state = KUNWIND_STATE_PACKED;
	ok = ok && open_alt(object, debug_path, len);
	if (!ok)
		drop_slot(object);
	return ok;
}

static bool open_file(struct kunwind_symbolizer_object *object)
{
	struct kunwind_found_file found;
	int tries;
	bool ok = false;

	object->used = ++object->symbolizer->clock;
	if (is_open(object))
		return true;
	if (object->state != KUNWIND_STATE_NEW && object->state != KUNWIND_STATE_OK)
		return false;
	/* with and without DWARF, and again if another file ended the helper */
	for (tries = 0; tries < 3 && !ok; tries++) {
		if (!kunwind_find_object(object, false, &found, &object->state))
			return false;
		ok = hand_over(object, &found);
		if (object->state != KUNWIND_STATE_OK)
			return false;
	}
	if (ok)
		object->symbolizer->stats.opened++;
	else
		object->state = KUNWIND_STATE_CRASHED;
	return ok;
}

/* Gives the object to the first back end that takes it. */
static void find_backend(struct kunwind_symbolizer_object *object)
{
	const struct kunwind_backend *const *backend = object->symbolizer->options.backends;

	for (; backend && *backend; backend++) {
		object->handle = (*backend)->open((*backend)->data, object->path, object->build_id);
		if (object->handle) {
			object->backend = *backend;
			object->state = KUNWIND_STATE_OK;
			return;
		}
	}
}

static bool open_object(struct kunwind_symbolizer_object *object)
{
	if (object->list)
		return true;
	if (object->state == KUNWIND_STATE_NEW && !object->backend)
		find_backend(object);
	return object->backend || open_file(object);
}

const char *kunwind_object_why(struct kunwind_symbolizer_object *object)
{
	if (object->state == KUNWIND_STATE_NEW)
		open_object(object);
	if (kunwind_state_why(object->state))
		return kunwind_state_why(object->state);
	return dwarf_why(object->dwarf_state);
}

bool kunwind_object_address(struct kunwind_symbolizer_object *object, uint64_t offset, uint64_t *address)
{
	const struct wire_reply *reply = (const void *)object->symbolizer->reply;
	struct wire_request request = { .type = WIRE_VADDR, .address = offset };
	size_t len;

	if (!open_object(object) || object->backend || object->list)
		return false;
	request.id = (uint32_t)object->slot;
	if (ask(object, &request, &len) != KUNWIND_ASKED || reply->status != WIRE_OK)
		return false;
	*address = reply->address;
	return true;
}

static bool take_string(const char **at, const char *end, uint32_t len, char *copy, size_t size,
			const char **text)
{
	*text = NULL;
	if (len == WIRE_NONE)
		return true;
	if (len >= size || len > (size_t)(end - *at))
		return false;
	memcpy(copy, *at, len);
	copy[len] = '\0';
	*at += len;
	*text = copy;
	return true;
}

/* Reads the helper's answer, up to a wrong length. False: out of memory. */
static bool take_answer(const char *at, size_t len, struct kunwind_answer *answer,
			struct kunwind_frame *frame)
{
	const char *end = at + len;
	struct wire_reply reply;
	uint32_t i;

	memcpy(&reply, at, sizeof(reply));
	at += sizeof(reply);
	frame->trampoline = reply.flags & WIRE_TRAMPOLINE;
	frame->entry = reply.flags & WIRE_ENTRY;
	if (reply.flags & WIRE_CUT)
		frame->why = KUNWIND_WHY_CUT;
	for (i = 0; i < reply.nr; i++) {
		struct kunwind_function function = { 0 };
		struct wire_function wire;
		char name[4100], file[4100];

		if ((size_t)(end - at) < sizeof(wire))
			return true;
		memcpy(&wire, at, sizeof(wire));
		at += sizeof(wire);
		if (!take_string(&at, end, wire.name_len, name, sizeof(name), &function.name) ||
		    !take_string(&at, end, wire.file_len, file, sizeof(file), &function.file))
			return true;
		function.line = wire.line;
		function.column = wire.column;
		function.inlined = wire.inlined;
		function.offset = wire.offset;
		if (!kunwind_answer_add(answer, &function))
			return false;
	}
	return true;
}

/* Sends the file that the reply asks for, or none if it is not found. */
static void give_split(struct kunwind_symbolizer_object *object, size_t len)
{
	const struct wire_reply *reply = (const void *)object->symbolizer->reply;
	struct wire_request request = { .type = WIRE_SPLIT, .id = (uint32_t)object->slot,
					.address = reply->address };
	bool package = false;
	char names[8400];
	const char *name;

	if (reply->name_len >= sizeof(names) || reply->name_len > len - sizeof(*reply))
		return;
	memcpy(names, object->symbolizer->reply + sizeof(*reply), reply->name_len);
	memset(names + reply->name_len, 0, sizeof(names) - reply->name_len);
	name = memchr(names, '\0', sizeof(names) - 1);
	if (name && kunwind_find_split(object, names, name + 1, &package))
		give(object, &request, KUNWIND_SLOT_OTHER, WIRE_NOBODY, package ? WIRE_OPEN_LEND : 0, &len);
	else
		ask(object, &request, &len);
}

static bool ask_helper(struct kunwind_symbolizer_object *object, uint64_t address, bool exact,
		       struct kunwind_answer *answer, struct kunwind_frame *frame)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;
	struct wire_request request = { .type = WIRE_RESOLVE, .address = address,
					.flags = exact ? WIRE_EXACT : 0 };
	const struct wire_reply *reply = (const void *)symbolizer->reply;
	bool gave = false;
	size_t len;

	while (open_file(object)) {
		request.id = (uint32_t)object->slot;
		/* again without DWARF; then object->state ends the loop */
		if (ask(object, &request, &len) != KUNWIND_ASKED)
			continue;
		if (reply->status != WIRE_WANTS_SPLIT || gave)
			return take_answer(symbolizer->reply, len, answer, frame);
		gave = true;
		give_split(object, len);
	}
	return true;
}

static bool ask_list(struct kunwind_symbolizer_object *object, uint64_t address, bool exact,
		     struct kunwind_answer *answer)
{
	struct kunwind_function function = { 0 };
	uint64_t at = exact ? address : address - 1, start;
	const char *module;

	function.name = kunwind_list_find(object->list, at, &start, &module);
	if (!function.name)
		return true;
	function.offset = address - start;
	return kunwind_answer_add(answer, &function);
}

static const char *why_no_name(struct kunwind_symbolizer_object *object, const struct kunwind_frame *frame)
{
	const char *why = kunwind_object_why(object);

	/* a frame with a name reports only what is wrong with its object */
	if (why || (frame->nr_functions && kunwind_frame_function(frame)->name))
		return why;
	return frame->trampoline ? "signal trampoline" :
	       frame->entry ? "entry point, no symbol" : "no symbol";
}

/* Stores an answer, then sets why, which depends on its number of functions. */
static const struct kunwind_frame *keep(struct kunwind_symbolizer_object *object,
					const struct kunwind_frame *frame, bool exact)
{
	const struct kunwind_frame *known =
		kunwind_answer_keep(object->symbolizer->cache, frame, exact);

	if (known && !known->why)
		((struct kunwind_frame *)known)->why = why_no_name(object, known);
	return known;
}

/*
 * Each question alone costs two switches between processes, which on a busy
 * machine take far longer than the answer. All objects are opened before the
 * first question. If the helper is lost here, no object is blamed: questions
 * for each of the other addresses then show the cause.
 */
void kunwind_prefetch(struct kunwind_symbolizer *symbolizer, const struct kunwind_wanted *wanted,
		      unsigned int nr)
{
	const struct kunwind_wanted *sent[KUNWIND_WANTED_MAX];
	unsigned int i, nr_wanted = 0, nr_sent = 0;

	for (i = 0; i < nr && nr_wanted < KUNWIND_WANTED_MAX; i++) {
		struct kunwind_symbolizer_object *object = wanted[i].object;

		if (!kunwind_cache_find(symbolizer->cache, object, wanted[i].address,
					wanted[i].exact) &&
		    !object->list && open_object(object) && !object->backend)
			sent[nr_wanted++] = &wanted[i];
	}
	for (i = 0; i < nr_wanted; i++) {
		struct wire_request request = { .type = WIRE_RESOLVE,
						.id = (uint32_t)sent[i]->object->slot,
						.flags = sent[i]->exact ? WIRE_EXACT : 0,
						.address = sent[i]->address };

		/* an object opened later may have taken its number */
		if (!is_open(sent[i]->object))
			break;
		if (!kunwind_helper_send(&symbolizer->helper, &request))
			return;
		nr_sent++;
	}
	for (i = 0; i < nr_sent; i++) {
		struct kunwind_frame frame = { .object = sent[i]->object,
					       .object_address = sent[i]->address };
		struct kunwind_answer *answer = kunwind_answer_begin(symbolizer->cache);
		size_t len;

		if (!kunwind_helper_receive(&symbolizer->helper, symbolizer->reply, &len))
			return;
		symbolizer->stats.asked++;
		/* if it wants another file, kunwind_resolve() asks again */
		if (((struct wire_reply *)symbolizer->reply)->status == WIRE_OK &&
		    take_answer(symbolizer->reply, len, answer, &frame))
			keep(sent[i]->object, &frame, sent[i]->exact);
	}
}

void kunwind_resolve(struct kunwind_symbolizer_object *object, uint64_t address, bool exact,
		     struct kunwind_frame *frame)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;
	const struct kunwind_frame *known;
	struct kunwind_answer *answer;
	bool ok = true;

	symbolizer->stats.asked++;
	known = kunwind_cache_find(symbolizer->cache, object, address, exact);
	if (known) {
		symbolizer->stats.cached++;
		*frame = *known;
		return;
	}
	memset(frame, 0, sizeof(*frame));
	frame->object = object;
	frame->object_address = address;
	answer = kunwind_answer_begin(symbolizer->cache);
	if (object->list || open_object(object)) {
		if (object->list)
			ok = ask_list(object, address, exact, answer);
		else if (object->backend)
			ok = object->backend->resolve(object->handle, exact ? address : address - 1,
						      answer) || true;
		else
			ok = ask_helper(object, address, exact, answer, frame);
	}
	known = ok ? keep(object, frame, exact) : NULL;
	if (known)
		*frame = *known;
	else
		frame->why = "out of memory";
}

void kunwind_object_resolve(struct kunwind_symbolizer_object *object, uint64_t address, bool exact,
			    struct kunwind_frame *frame)
{
	kunwind_cache_trim(object->symbolizer);
	kunwind_resolve(object, address, exact, frame);
	frame->address = address;
}
