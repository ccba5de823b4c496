// SPDX-License-Identifier: MIT
/*
 * perfetto_interned.c - strings, objects, frames and stacks of a Perfetto trace
 *
 * Numbers of the tree of calls serve as iids: that of a string, a frame or a
 * node, plus 1, because 0 is no iid. A frame is a place in a function, with its
 * ELF virtual address (rel_pc). A mapping is an ELF object, with path and
 * build-id. It has no address range, because the rel_pc of a mapping without
 * one is an address in the object.
 */
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"

void perfetto_interned_exit(struct perfetto_interned *interned)
{
	int i;

	for (i = 0; i < NR_INTERNED; i++)
		free(interned->seen[i].bit);
	calls_objects_free(&interned->objects);
	free(interned->path);
	free(interned->out.data);
}

/* Returns whether this is the first call with this number. */
static bool is_new(struct perfetto_interned *interned, enum interned kind, uint32_t number)
{
	struct perfetto_seen *seen = &interned->seen[kind];
	size_t at = number / 8, old = seen->cap;
	uint8_t bit = (uint8_t)(1 << number % 8);

	if (at >= old) {
		seen->cap = at * 2 + 64;
		seen->bit = needed(realloc(seen->bit, seen->cap));
		memset(seen->bit + old, 0, seen->cap - old);
	}
	if (seen->bit[at] & bit)
		return false;
	seen->bit[at] |= bit;
	return true;
}

static unsigned int hex_digit(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The trace has build-ids as bytes. */
static void put_build_id(struct protobuf *out, const char *hex)
{
	uint8_t bytes[64];
	size_t nr = 0;

	for (; hex[0] && hex[1] && nr < sizeof(bytes); hex += 2)
		bytes[nr++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	protobuf_bytes(out, INTERNED_TEXT, bytes, nr);
}

uint64_t perfetto_string(struct perfetto_interned *interned, enum interned kind, uint32_t string)
{
	const char *text = interned->calls->string[string];
	uint64_t iid = (uint64_t)string + 1;
	size_t at;

	if (!is_new(interned, kind, string))
		return iid;
	at = protobuf_begin(&interned->out, kind);
	protobuf_uint(&interned->out, INTERNED_IID, iid);
	if (kind == INTERNED_BUILD_ID)
		put_build_id(&interned->out, text);
	else
		protobuf_bytes(&interned->out, INTERNED_TEXT, text, strlen(text));
	protobuf_end(&interned->out, at);
	return iid;
}

static uint64_t mapping(struct perfetto_interned *interned, const struct calls_frame *frame)
{
	uint32_t object = calls_object_number(&interned->objects, frame);
	uint64_t iid = (uint64_t)object + 1, path, build_id = 0;
	size_t at;

	if (!is_new(interned, INTERNED_MAPPING, object))
		return iid;
	path = perfetto_string(interned, INTERNED_PATH, frame->object);
	if (frame->build_id)
		build_id = perfetto_string(interned, INTERNED_BUILD_ID, frame->build_id);
	at = protobuf_begin(&interned->out, INTERNED_MAPPING);
	protobuf_uint(&interned->out, INTERNED_IID, iid);
	if (build_id)
		protobuf_uint(&interned->out, MAPPING_BUILD_ID, build_id);
	protobuf_uint(&interned->out, MAPPING_PATH_STRING_IDS, path);
	protobuf_end(&interned->out, at);
	return iid;
}

/* Defines a frame if it is new. */
static void define_frame(struct perfetto_interned *interned, uint32_t number)
{
	const struct calls_frame *frame = &interned->calls->frame[number];
	uint64_t name, object = 0, file = 0;
	size_t at;

	if (!is_new(interned, INTERNED_FRAME, number))
		return;
	name = perfetto_string(interned, INTERNED_FUNCTION_NAME, frame->name);
	if (frame->object)
		object = mapping(interned, frame);
	if (frame->file)
		file = perfetto_string(interned, INTERNED_SOURCE_PATH, frame->file);
	at = protobuf_begin(&interned->out, INTERNED_FRAME);
	protobuf_uint(&interned->out, INTERNED_IID, (uint64_t)number + 1);
	protobuf_uint(&interned->out, FRAME_FUNCTION_NAME_ID, name);
	if (object)
		protobuf_uint(&interned->out, FRAME_MAPPING_ID, object);
	protobuf_uint(&interned->out, FRAME_REL_PC, frame->address);
	if (file)
		protobuf_uint(&interned->out, FRAME_SOURCE_PATH_IID, file);
	if (frame->line)
		protobuf_uint(&interned->out, FRAME_LINE_NUMBER, frame->line);
	protobuf_end(&interned->out, at);
}

uint64_t perfetto_callstack(struct perfetto_interned *interned, uint32_t node)
{
	const struct calls *calls = interned->calls;
	uint64_t iid = (uint64_t)node + 1;
	uint32_t i, depth = 0;
	size_t at;

	for (i = node; i != CALLS_ROOT && calls_frame(calls, i)->kind != FRAME_PROCESS;
	     i = calls->node[i].parent)
		depth++;
	if (!depth)
		return 0;
	if (!is_new(interned, INTERNED_CALLSTACK, node))
		return iid;
	if (depth > interned->cap_path) {
		interned->cap_path = depth * 2;
		interned->path = needed(realloc(interned->path,
						interned->cap_path * sizeof(*interned->path)));
	}
	for (i = 0; i < depth; i++, node = calls->node[node].parent) {
		interned->path[i] = calls->node[node].frame;
		define_frame(interned, interned->path[i]);
	}
	at = protobuf_begin(&interned->out, INTERNED_CALLSTACK);
	protobuf_uint(&interned->out, INTERNED_IID, iid);
	while (depth-- > 0)	/* the outermost comes first */
		protobuf_uint(&interned->out, CALLSTACK_FRAME_IDS, (uint64_t)interned->path[depth] + 1);
	protobuf_end(&interned->out, at);
	return iid;
}
