// SPDX-License-Identifier: MIT
/*
 * files.c - modules from a list of mapped files
 *
 * Mappings of one file in a row are a module, which begins anew if the file was mapped from
 * its start on again.
 */
#include <string.h>

#include "dump.h"

/* Whether some code is mapped in [start, end). The mappings are not sorted yet. */
static bool has_code(const struct dump_process *dump, uint64_t start, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < dump->nr_mappings; i++)
		if (dump->mapping[i].start < end && start < dump->mapping[i].end)
			return true;
	return false;
}

/*
 * Ends the last module, which stays only if it has code. gcore leaves out mappings of which it writes
 * nothing, so the code may be known by the ELF headers only.
 */
bool dump_end_file(struct dump_process *dump, const char *last)
{
	const struct dump_module *module = last ? &dump->module[dump->nr_modules - 1] : NULL;

	if (!module || has_code(dump, module->start, module->end))
		return true;
	if (!dump_add_code(dump, module))
		return false;
	if (!has_code(dump, module->start, module->end))
		dump_drop_module(dump);
	return true;
}

bool dump_add_file(struct dump_process *dump, const char *last, const char *path, uint64_t start,
		   uint64_t end, uint64_t offset)
{
	struct dump_module *module = last ? &dump->module[dump->nr_modules - 1] : NULL;

	if (!last || strcmp(path, last) || !offset || start < module->end) {
		module = dump_end_file(dump, last) ? dump_add_module(dump, path) : NULL;
		if (!module)
			return false;
		module->start = start;
		module->image = start - offset;
	}
	module->end = end;
	return true;
}
