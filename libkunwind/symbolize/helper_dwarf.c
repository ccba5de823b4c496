// SPDX-License-Identifier: MIT
/*
 * helper_dwarf.c - inlined functions and lines from debug information
 *
 * The first question about an object sorts the address ranges of its
 * compilation units. The first question about a unit reads its tree of entries
 * once: which ranges belong to which function, and what is inlined into each.
 * An answer then takes a binary search for the function and a walk down its
 * inlined functions. libdw's dwarf_getscopes() would read the unit's tree every
 * time. Lines come from libdw, which keeps the decoded table of each unit.
 *
 * If the DWARF of a unit is split, the object has only its ranges and lines.
 * Its tree is read from the other file, once that was handed over. Without that
 * file, answers have only the line.
 *
 * Memory: some 180 bytes for each unit and 32 for each of its ranges. For units
 * that were asked about: 24 bytes for each function, inlined or not, 32 for
 * each range of a function, 24 for each range of an inlined one; and libdw's
 * line tables, 40 bytes or more a row.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "helper_dwarf.h"
#include "helper_split.h"

#define MAX_DEPTH	1024		/* of nested entries; deeper ones are not read */

struct range {
	uint64_t start, end;
	size_t of;			/* index of a unit, or of a function */
};

struct ranges {
	struct range *range;		/* by start */
	uint64_t *reach;		/* highest end of range[0..i]; made by settle() */
	size_t nr, cap;
};

/* A function, inlined or not. The nodes of functions inlined into it follow. */
struct die_node {
	Dwarf_Off die;
	size_t first;			/* of its ranges, in unit.inl */
	unsigned int nr;		/* 0 for a function: its ranges are in unit.functions */
	unsigned int nr_below;		/* nodes after it that are part of it */
};

struct unit {
	Dwarf_Die die;			/* has lines */
	Dwarf_Die tree;			/* has functions; the same, unless DWARF is split */
	bool split;			/* the file with the tree was not given yet */
	bool read;
	struct ranges functions;
	struct ranges inl;		/* of inlined functions, in the order of the nodes */
	struct die_node *node;
	size_t nr_nodes, cap_nodes;
	char **path;			/* split DWARF: paths made for source files, by number */
	size_t nr_paths;
};

struct kunwind_dwarf {
	Dwarf *dwarf;
	uint64_t bias;
	struct unit *unit;
	size_t nr_units, cap_units;
	struct ranges units;
};

static bool add_range(struct ranges *ranges, uint64_t start, uint64_t end, size_t of)
{
	/* functions that the linker dropped are at 0, or at a tombstone */
	if (!start || end <= start)
		return true;
	if (!kunwind_reserve((void **)&ranges->range, ranges->nr, &ranges->cap, sizeof(*ranges->range)))
		return false;
	ranges->range[ranges->nr++] = (struct range){ start, end, of };
	return true;
}

/* Adds all ranges of an entry. False: out of memory. */
static bool add_ranges(struct ranges *ranges, Dwarf_Die *die, size_t of)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		if (!add_range(ranges, start, end, of))
			return false;
	}
	return true;
}

/* Wide before narrow: the last range that holds an address is the narrowest. */
static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static bool settle(struct ranges *ranges)
{
	uint64_t reach = 0;
	size_t i;

	if (!ranges->nr)
		return true;
	qsort(ranges->range, ranges->nr, sizeof(*ranges->range), compare);
	ranges->reach = malloc(ranges->nr * sizeof(*ranges->reach));
	if (!ranges->reach) {
		ranges->nr = 0;
		return false;
	}
	for (i = 0; i < ranges->nr; i++) {
		if (ranges->range[i].end > reach)
			reach = ranges->range[i].end;
		ranges->reach[i] = reach;
	}
	return true;
}

static const struct range *find(const struct ranges *ranges, uint64_t addr)
{
	size_t lo = 0, hi = ranges->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ranges->range[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && ranges->reach[lo] > addr) {
		if (addr < ranges->range[lo].end)
			return &ranges->range[lo];
	}
	return NULL;
}

/* Returns the index of the unit of an entry; units are in the order of the file. */
static size_t unit_at(const struct kunwind_dwarf *dwarf, Dwarf_Off die)
{
	size_t lo = 0, hi = dwarf->nr_units;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (dwarf_dieoffset(&dwarf->unit[mid].die) < die)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < dwarf->nr_units && dwarf_dieoffset(&dwarf->unit[lo].die) == die ? lo : dwarf->nr_units;
}

/*
 * Adds what the ranges of units leave out: .debug_aranges; and for units that have no range by then,
 * the sequences of their line tables.
 */
static void add_missing_ranges(struct kunwind_dwarf *dwarf)
{
	bool *known = calloc(dwarf->nr_units + 1, sizeof(*known));
	Dwarf_Aranges *aranges;
	Dwarf_Lines *lines;
	Dwarf_Addr start, addr;
	Dwarf_Word length;
	Dwarf_Off die;
	size_t i, k, nr;
	bool end;

	for (i = 0; known && i < dwarf->units.nr; i++)
		known[dwarf->units.range[i].of] = true;
	if (!known || dwarf_getaranges(dwarf->dwarf, &aranges, &nr))
		nr = 0;
	for (i = 0; i < nr; i++) {
		if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &start, &length, &die))
			continue;
		k = unit_at(dwarf, die);
		if (k < dwarf->nr_units && add_range(&dwarf->units, start, start + length, k))
			known[k] = true;
	}
	for (i = 0; known && i < dwarf->nr_units; i++) {
		if (known[i] || dwarf_getsrclines(&dwarf->unit[i].die, &lines, &nr))
			continue;
		for (k = 0, end = true; k < nr; k++) {
			Dwarf_Line *line = dwarf_onesrcline(lines, k);

			if (dwarf_lineaddr(line, &addr))
				break;
			if (end)
				start = addr;
			if (dwarf_lineendsequence(line, &end))
				break;
			if (end && !add_range(&dwarf->units, start, addr, i))
				break;
		}
	}
	free(known);
}

static void read_units(struct kunwind_dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	/* subdie is NULL: libdw must not search for the other part */
	while (!dwarf_get_units(dwarf->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		struct unit *unit;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (!kunwind_reserve((void **)&dwarf->unit, dwarf->nr_units, &dwarf->cap_units,
				     sizeof(*dwarf->unit)))
			break;
		unit = &dwarf->unit[dwarf->nr_units];
		*unit = (struct unit){ .die = die, .tree = die };
		unit->split = type == DW_UT_skeleton;
		if (!add_ranges(&dwarf->units, &die, dwarf->nr_units))
			break;
		dwarf->nr_units++;
	}
	add_missing_ranges(dwarf);
	settle(&dwarf->units);
}

struct kunwind_dwarf *kunwind_dwarf_new(Dwarf *dwarf, uint64_t bias)
{
	struct kunwind_dwarf *new = calloc(1, sizeof(*new));

	if (!new)
		return NULL;
	new->dwarf = dwarf;
	new->bias = bias;
	read_units(new);
	return new;
}

static void free_ranges(struct ranges *ranges)
{
	free(ranges->range);
	free(ranges->reach);
}

void kunwind_dwarf_free(struct kunwind_dwarf *dwarf)
{
	size_t i, path;

	if (!dwarf)
		return;
	for (i = 0; i < dwarf->nr_units; i++) {
		free_ranges(&dwarf->unit[i].functions);
		free_ranges(&dwarf->unit[i].inl);
		free(dwarf->unit[i].node);
		for (path = 0; path < dwarf->unit[i].nr_paths; path++)
			free(dwarf->unit[i].path[path]);
		free(dwarf->unit[i].path);
	}
	free(dwarf->unit);
	free_ranges(&dwarf->units);
	free(dwarf);
}

static bool is_declaration(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_declaration);
}

/* Returns the index of the new node, -1: out of memory. */
static ptrdiff_t add_node(struct unit *unit, Dwarf_Die *die, bool inlined)
{
	struct die_node *node;

	if (!kunwind_reserve((void **)&unit->node, unit->nr_nodes, &unit->cap_nodes, sizeof(*node)))
		return -1;
	node = &unit->node[unit->nr_nodes];
	*node = (struct die_node){ .die = dwarf_dieoffset(die) };
	if (inlined) {
		node->first = unit->inl.nr;
		if (!add_ranges(&unit->inl, die, unit->nr_nodes))
			return -1;
		node->nr = (unsigned int)(unit->inl.nr - node->first);
	} else if (!add_ranges(&unit->functions, die, unit->nr_nodes)) {
		return -1;
	}
	return (ptrdiff_t)unit->nr_nodes++;
}

/*
 * read_children() reads the entries below @parent, in the order of the file. A
 * block's contents belong to the function around it. A function within a
 * function is separate: @later keeps its entry, which is read after the whole
 * outer function.
 */
struct later {
	Dwarf_Die *die;
	size_t nr, cap;
};

static bool read_children(struct unit *unit, Dwarf_Die *parent, bool in_function,
			  struct later *later, int depth)
{
	Dwarf_Die die;
	int more;

	if (depth > MAX_DEPTH)
		return true;
	for (more = dwarf_child(parent, &die); !more; more = dwarf_siblingof(&die, &die)) {
		ptrdiff_t node = -1;

		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (is_declaration(&die))
				continue;
			/* gcc puts lambdas, nested functions and parallel regions below the abstract one */
			if (dwarf_hasattr(&die, DW_AT_inline)) {
				if (!read_children(unit, &die, false, later, depth + 1))
					return false;
				continue;
			}
			if (!kunwind_reserve((void **)&later->die, later->nr, &later->cap, sizeof(die)))
				return false;
			later->die[later->nr++] = die;
			continue;
		case DW_TAG_inlined_subroutine:
			if (!in_function)
				continue;
			node = add_node(unit, &die, true);
			if (node < 0)
				return false;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_with_stmt:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			break;
		default:
			continue;
		}
		if (!read_children(unit, &die, in_function, later, depth + 1))
			return false;
		if (node >= 0)
			unit->node[node].nr_below = (unsigned int)(unit->nr_nodes - 1 - (size_t)node);
	}
	return true;
}

/* If memory runs out, functions read so far are used; others have no names. */
static void read_unit(struct unit *unit)
{
	struct later later = { 0 };
	bool ok;

	unit->read = true;
	ok = read_children(unit, &unit->tree, false, &later, 0);
	while (ok && later.nr) {
		Dwarf_Die die = later.die[--later.nr];
		ptrdiff_t node = add_node(unit, &die, false);

		ok = node >= 0 && read_children(unit, &die, true, &later, 1);
		if (node >= 0)
			unit->node[node].nr_below =
				(unsigned int)(unit->nr_nodes - 1 - (size_t)node);
	}
	free(later.die);
	settle(&unit->functions);
}

static bool holds(const struct unit *unit, const struct die_node *node, uint64_t addr)
{
	const struct range *range = &unit->inl.range[node->first];
	unsigned int i;

	for (i = 0; i < node->nr; i++) {
		if (range[i].start <= addr && addr < range[i].end)
			return true;
	}
	return false;
}

static const char *raw_name(Dwarf_Die *die)
{
	static const unsigned int attrs[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					      DW_AT_name };
	Dwarf_Attribute mem;
	size_t i;

	for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		const char *name = dwarf_formstring(dwarf_attr_integrate(die, attrs[i], &mem));

		if (name && *name)
			return name;
	}
	return NULL;
}

static int number(Dwarf_Die *die, unsigned int attr)
{
	Dwarf_Attribute mem;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, attr, &mem), &value) || value > INT32_MAX)
		return 0;
	return (int)value;
}

static const char *text(Dwarf_Die *die, unsigned int attr, unsigned int other)
{
	Dwarf_Attribute mem;
	const char *text = dwarf_formstring(dwarf_attr(die, attr, &mem));

	return text || !other ? text : dwarf_formstring(dwarf_attr(die, other, &mem));
}

/* Names in a .dwo file are relative to a directory that the object names. */
static const char *source_file(struct unit *unit, size_t file)
{
	const char *name, *dir;
	Dwarf_Files *files;
	size_t nr;

	if (dwarf_getsrcfiles(&unit->tree, &files, &nr) || file >= nr)
		return NULL;
	name = dwarf_filesrc(files, file, NULL, NULL);
	if (!name || *name == '/' || unit->tree.cu == unit->die.cu)
		return name;
	dir = text(&unit->die, DW_AT_comp_dir, 0);
	if (!unit->path) {
		unit->path = calloc(nr, sizeof(*unit->path));
		unit->nr_paths = unit->path ? nr : 0;
	}
	if (!dir || file >= unit->nr_paths)
		return name;
	if (!unit->path[file] && asprintf(&unit->path[file], "%s/%s", dir, name) < 0)
		unit->path[file] = NULL;
	return unit->path[file] ? unit->path[file] : name;
}

/* Sets the place in @caller from which @inlined was called. */
static void call_site(struct unit *unit, Dwarf_Die *inlined, struct kunwind_dwarf_function *caller)
{
	caller->line = number(inlined, DW_AT_call_line);
	caller->column = number(inlined, DW_AT_call_column);
	caller->file = source_file(unit, (size_t)number(inlined, DW_AT_call_file));
}

static void source_line(struct unit *unit, uint64_t addr, struct kunwind_dwarf_function *function)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, addr);

	if (!line)
		return;
	function->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &function->line))
		function->line = 0;
	if (dwarf_linecol(line, &function->column))
		function->column = 0;
}

/* Stores the nodes that hold @addr, @function first. Returns their number. */
static unsigned int chain(const struct unit *unit, size_t function, uint64_t addr, size_t *link,
			  unsigned int max)
{
	size_t i = function + 1, end = i + unit->node[function].nr_below;
	unsigned int nr = 0;

	link[nr++] = function;
	while (i < end && nr < max) {
		const struct die_node *node = &unit->node[i];

		if (holds(unit, node, addr)) {
			link[nr++] = i;
			end = i + 1 + node->nr_below;
			i++;
		} else {
			i += 1 + node->nr_below;
		}
	}
	return nr;
}

static struct unit *find_unit(struct kunwind_dwarf *dwarf, uint64_t addr)
{
	const struct range *range = find(&dwarf->units, addr - dwarf->bias);

	return range ? &dwarf->unit[range->of] : NULL;
}

bool kunwind_dwarf_wants(struct kunwind_dwarf *dwarf, uint64_t addr,
			 struct kunwind_dwarf_split *split)
{
	struct unit *unit = find_unit(dwarf, addr);

	if (!unit || !unit->split)
		return false;
	split->dir = text(&unit->die, DW_AT_comp_dir, 0);
	split->name = text(&unit->die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
	return split->name;
}

void kunwind_dwarf_give(struct kunwind_dwarf *dwarf, uint64_t addr, int fd, int lent)
{
	struct unit *unit = find_unit(dwarf, addr);
	Dwarf_Die die;
	uint64_t id;

	if (!unit || !unit->split)
		return;
	unit->split = false;
	if (lent >= 0) {
		if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) ||
		    !kunwind_dwp_extract(fd, id, lent))
			return;
		fd = lent;
	}
	if (fd >= 0 && kunwind_split_link(unit->die.cu, fd, &die))
		unit->tree = die;
}

unsigned int kunwind_dwarf_functions(struct kunwind_dwarf *dwarf, uint64_t addr,
				     struct kunwind_dwarf_function *function, unsigned int max)
{
	uint64_t at = addr - dwarf->bias;
	struct unit *unit = find_unit(dwarf, addr);
	const struct range *range;
	size_t link[WIRE_FUNCTIONS + 1];
	unsigned int nr, i;
	Dwarf_Addr entry;
	Dwarf_Die die, inner;
	Dwarf *tree;

	if (!unit)
		return 0;
	if (!unit->read)
		read_unit(unit);
	range = find(&unit->functions, at);
	memset(function, 0, max * sizeof(*function));
	if (!range) {
		source_line(unit, at, &function[0]);
		return function[0].file != NULL;
	}
	tree = dwarf_cu_getdwarf(unit->tree.cu);
	nr = chain(unit, range->of, at, link, max <= WIRE_FUNCTIONS ? max : WIRE_FUNCTIONS + 1);
	for (i = 0; i < nr; i++) {
		struct kunwind_dwarf_function *out = &function[nr - 1 - i];

		if (!dwarf_offdie(tree, unit->node[link[i]].die, &die))
			continue;
		out->name = raw_name(&die);
		out->inlined = i > 0;
		/* a cold part may lie before the entry */
		if (!i)
			out->offset = !dwarf_entrypc(&die, &entry) && entry <= at ?
				at - entry : at - range->start;
		if (i + 1 < nr && dwarf_offdie(tree, unit->node[link[i + 1]].die, &inner))
			call_site(unit, &inner, out);
	}
	source_line(unit, at, &function[0]);
	return nr;
}
