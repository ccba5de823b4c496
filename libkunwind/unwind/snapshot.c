// SPDX-License-Identifier: MIT
/*
 * snapshot.c - make the ranges that walks use from mappings and objects
 */
#include <elf.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "internal.h"
#include "mappings.h"

const struct kunwind_module *unwind_module_get(struct kunwind_unwinder *unwinder, const char *path,
					       const struct kunwind_module *like)
{
	const size_t len = path ? strlen(path) + 1 : 0;
	struct unwind_module *module;

	for (module = unwinder->modules; module; module = module->next)
		if (module->module.start == like->start && module->module.end == like->end &&
		    module->module.bias == like->bias && module->module.image == like->image &&
		    !path == !module->module.path &&
		    (!path || !strcmp(path, module->path)) &&
		    module->module.build_id_len == like->build_id_len &&
		    !memcmp(module->module.build_id, like->build_id, sizeof(like->build_id)))
			return &module->module;
	module = malloc(sizeof(*module) + len);
	if (!module)
		return NULL;
	module->module = *like;
	if (path)
		memcpy(module->path, path, len);
	module->module.path = path ? module->path : NULL;
	module->next = unwinder->modules;
	unwinder->modules = module;
	return &module->module;
}

/* The bias of a mapping of a file, if all mappings of the file leave one (bias.c of the core). */
static bool file_bias(const struct unwind_snapshot *snapshot, const struct unwind_mappings *mappings,
		      u32 nr, u64 *bias)
{
	const struct unwind_mapping *mapping = mappings->mapping;
	const struct unwind_object *object = snapshot->info[nr].object;
	struct kunwind_elf_biases biases;
	u32 i;

	kunwind_elf_biases(&object->elf, mapping[nr].start, mapping[nr].end - mapping[nr].start,
			   mapping[nr].offset, &biases);
	for (i = 0; i < mappings->nr; i++)
		if (i != nr && snapshot->info[i].object == object)
			kunwind_elf_biases_narrow(&object->elf, &biases, mapping[i].start,
						  mapping[i].end - mapping[i].start,
						  mapping[i].offset);
	if (biases.nr != 1)
		return false;
	*bias = biases.bias[0];
	return true;
}

/* Sets range and info of a mapping, except for the bias of a file. False: no memory. */
static bool fill(struct kunwind_unwinder *unwinder, struct unwind_snapshot *snapshot,
		 const struct unwind_mapping *mapping, u32 nr)
{
	struct kunwind_range *range = &snapshot->ranges.range[nr];
	struct unwind_range *info = &snapshot->info[nr];

	*range = (struct kunwind_range){
		.start = mapping->start, .end = mapping->end, .reason = KUNWIND_NO_OBJECT,
	};
	*info = (struct unwind_range){ .offset = mapping->offset };
	if (mapping->image) {
		info->object = unwind_object_own(unwinder, mapping->path, mapping->bias, mapping->image,
						 mapping->start, mapping->loose);
		info->biased = true;
		range->bias = mapping->bias;
		range->reason = KUNWIND_NO_TABLE;
	} else if (mapping->given) {
		info->object = unwind_object_image(unwinder, mapping->given);
	} else if (mapping->path) {
		info->object = unwind_object_file(unwinder, mapping->path);
	} else {
		return true;
	}
	if (!info->object)
		return false;
	info->object->uses++;
	if (info->object->own || info->object->elf.nr_loads)
		range->reason = KUNWIND_NO_TABLE;
	else if (info->object->read)
		range->reason = info->object->tried ? KUNWIND_NO_TABLE : KUNWIND_NOT_READY;
	return true;
}

/* After all have their objects: bias, way to unwind, module. */
static bool settle(struct kunwind_unwinder *unwinder, struct unwind_snapshot *snapshot,
		   const struct unwind_mappings *mappings, u32 nr)
{
	struct kunwind_range *range = &snapshot->ranges.range[nr];
	struct unwind_range *info = &snapshot->info[nr];
	struct unwind_object *object = info->object;
	struct kunwind_module module = { .start = range->start, .end = range->end };

	if (object && object->read) {
		info->biased = object->elf.nr_loads;
		range->bias = object->bias;
	} else if (object && !object->own && object->elf.nr_loads) {
		info->biased = file_bias(snapshot, mappings, nr, &range->bias);
	}
	if (object && info->biased)
		range->table = object->table ?: object->by_fde ? &object->by_fde->table : NULL;
	if (object) {
		module.build_id_len = object->elf.build_id_len;
		memcpy(module.build_id, object->elf.build_id, sizeof(object->elf.build_id));
	}
	module.bias = range->bias;
	if (object && (object->image || info->biased))
		module.image = object->image ?: range->bias + unwind_image_vaddr(&object->elf);
	info->module = unwind_module_get(unwinder, object ? object->path : NULL, &module);
	if (object && object->loaded.at) {
		if (!snapshot->loose_span)
			snapshot->loose_lo = range->start;
		snapshot->loose_span = range->end - snapshot->loose_lo;
	}
	return info->module;
}

static bool list(struct kunwind_unwinder *unwinder, struct unwind_mappings *mappings)
{
	u32 i;

	if (!(unwinder->flags & KUNWIND_UNWINDER_OTHER))
		return unwind_mappings_loaded(mappings) && unwind_mappings_other(mappings);
	for (i = 0; i < unwinder->nr_given; i++) {
		struct unwind_mapping mapping = {
			.start = unwinder->given[i].start, .end = unwinder->given[i].end,
			.offset = unwinder->given[i].offset,
			.given = unwinder->given[i].read ? &unwinder->given[i] : NULL,
		};

		if (!unwind_mappings_add(mappings, &mapping, unwinder->given[i].path, 0))
			return false;
	}
	return true;
}

static struct unwind_snapshot *make(struct kunwind_unwinder *unwinder, struct unwind_mappings *mappings)
{
	struct unwind_snapshot *snapshot;
	u32 i;

	if (!list(unwinder, mappings))
		return NULL;
	unwind_mappings_sort(mappings);
	snapshot = calloc(1, sizeof(*snapshot) + mappings->nr * sizeof(snapshot->ranges.range[0]));
	if (!snapshot)
		return NULL;
	snapshot->unwinder = unwinder;
	snapshot->info = calloc(mappings->nr + 1, sizeof(*snapshot->info));
	if (!snapshot->info) {
		free(snapshot);
		return NULL;
	}
	for (i = 0; i < mappings->nr; i++, snapshot->ranges.nr++)
		if (!fill(unwinder, snapshot, &mappings->mapping[i], i))
			goto failed;
	for (i = 0; i < mappings->nr; i++)
		if (!settle(unwinder, snapshot, mappings, i))
			goto failed;
	if (!(unwinder->flags & KUNWIND_UNWINDER_OTHER)) {
		snapshot->ranges.entry = getauxval(AT_ENTRY);
		snapshot->ranges.interpreter = getauxval(AT_BASE);
		snapshot->ranges.entry_sp = unwinder->entry_sp;
	} else {
		snapshot->ranges.entry = unwinder->start.entry;
		snapshot->ranges.interpreter = unwinder->start.interpreter;
		snapshot->ranges.entry_sp = unwinder->start.sp;
	}
	snapshot->ranges.id = __atomic_add_fetch(&unwinder->ids, 1, __ATOMIC_SEQ_CST);
	return snapshot;
failed:
	unwind_snapshot_free(snapshot);
	return NULL;
}

int unwind_snapshot_make(struct kunwind_unwinder *unwinder, struct unwind_snapshot **snapshot)
{
	struct unwind_mappings mappings = { 0 };

	*snapshot = make(unwinder, &mappings);
	unwind_mappings_free(&mappings);
	return *snapshot ? 0 : -1;
}

void unwind_snapshot_free(struct unwind_snapshot *snapshot)
{
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++)
		if (snapshot->info[i].object)
			snapshot->info[i].object->uses--;
	free(snapshot->info);
	free(snapshot);
}
