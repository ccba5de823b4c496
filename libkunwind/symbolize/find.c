// SPDX-License-Identifier: MIT
/*
 * find.c - find the file of an object, and those with its debug information
 *
 * A file is the right one if its build-id is the object's. Without a build-id,
 * it must have the inode of the mapped file, which only this host's own file
 * can prove. The helper reads the build-id. The opener opens the files
 * (helper_open.c): this side neither opens nor parses them. The name of each file but
 * the first comes from another file, which may be hostile. So such a file must be
 * an ELF file of root, of the caller, or of the object's owner; below a directory
 * that the caller named, also of the owner of that directory.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

#define SYSTEM_DEBUG	"/usr/lib/debug"

/* What is searched for, and what is wrong with the first file that exists. */
struct file_search {
	struct kunwind_symbolizer_object *object;
	uint32_t slot;			/* of the opener, for the file */
	bool code;			/* a file with debug information only will not do */
	const char *build_id;		/* hex; "" not known */
	uint64_t inode;			/* proves identity without a build-id; 0: cannot */
	const uint32_t *crc;		/* proves identity without a build-id; NULL: cannot */
	enum kunwind_state state;	/* of the first file that exists */
	struct kunwind_found_file *found;
};

static bool same_build_id(const uint8_t *id, unsigned int len, const char *hex)
{
	static const char digit[] = "0123456789abcdef";
	unsigned int i;

	if (!len || len > WIRE_ID || strlen(hex) != (size_t)len * 2)
		return false;
	for (i = 0; i < len; i++) {
		if (hex[2 * i] != digit[id[i] >> 4] || hex[2 * i + 1] != digit[id[i] & 15])
			return false;
	}
	return true;
}

/* Asks the helper about the file in the slot. */
static enum kunwind_state question(const struct file_search *search, enum wire_type type, size_t *len)
{
	struct kunwind_symbolizer *symbolizer = search->object->symbolizer;
	struct wire_request request = { .type = type };

	switch (kunwind_helper_give(&symbolizer->helper, &request, search->slot, WIRE_NOBODY, 0,
				    symbolizer->reply, len)) {
	case KUNWIND_ASKED:
		break;
	case KUNWIND_ASKED_DIED:
		return KUNWIND_STATE_CRASHED;
	case KUNWIND_ASKED_SLOW:
		return KUNWIND_STATE_SLOW;
	case KUNWIND_ASKED_HANGS:
		return KUNWIND_STATE_HANGS;
	case KUNWIND_ASKED_NOBODY:
		return KUNWIND_STATE_NO_HELPER;
	}
	return ((struct wire_reply *)symbolizer->reply)->status == WIRE_OK ? KUNWIND_STATE_OK :
									     KUNWIND_STATE_UNREADABLE;
}

static enum kunwind_state identify(const struct file_search *search)
{
	struct kunwind_symbolizer *symbolizer = search->object->symbolizer;
	const struct wire_reply *reply = (const void *)symbolizer->reply;
	struct kunwind_found_file *found = search->found;
	size_t len;
	enum kunwind_state state = question(search, WIRE_IDENTIFY, &len);

	if (state != KUNWIND_STATE_OK)
		return state;
	found->identity = *reply;
	found->link[0] = '\0';
	if (reply->name_len < sizeof(found->link) && reply->name_len <= len - sizeof(*reply)) {
		memcpy(found->link, symbolizer->reply + sizeof(*reply), reply->name_len);
		found->link[reply->name_len] = '\0';
	}
	return KUNWIND_STATE_OK;
}

/* Without a build-id: is the file proved by its inode or by its checksum? */
static bool is_proved(const struct file_search *search, const struct wire_opened *opened)
{
	const struct wire_reply *reply = (const void *)search->object->symbolizer->reply;
	size_t len;

	if (search->inode && opened->inode == search->inode)
		return true;
	return search->crc && question(search, WIRE_CHECKSUM, &len) == KUNWIND_STATE_OK &&
	       reply->link_crc == *search->crc;
}

/* Is the file in the slot the one that is searched for? */
static enum kunwind_state judge(const struct file_search *search, const struct wire_opened *opened)
{
	const struct kunwind_symbolizer *symbolizer = search->object->symbolizer;
	const struct wire_reply *identity = &search->found->identity;
	enum kunwind_state state;

	if (opened->size >= (uint64_t)symbolizer->options.memory_limit_mb << 20)
		return KUNWIND_STATE_LARGE;
	state = identify(search);
	if (state != KUNWIND_STATE_OK)
		return state;
	if (search->code && !(identity->flags & WIRE_HOLDS_CODE))
		return KUNWIND_STATE_ABSENT;
	if (search->object->own_vdso && !*search->build_id)
		return KUNWIND_STATE_OK;
	if (*search->build_id)
		return same_build_id(identity->id, identity->id_len, search->build_id) ?
			KUNWIND_STATE_OK : KUNWIND_STATE_DIFFERS;
	return is_proved(search, opened) ? KUNWIND_STATE_OK : KUNWIND_STATE_UNSURE;
}

static enum kunwind_state state_of(enum kunwind_opening opening)
{
	switch (opening) {
	case KUNWIND_OPENING_OK:
		return KUNWIND_STATE_OK;
	case KUNWIND_OPENING_ABSENT:
		return KUNWIND_STATE_ABSENT;
	case KUNWIND_OPENING_REFUSED:
		break;
	case KUNWIND_OPENING_FOREIGN:
		return KUNWIND_STATE_FOREIGN;
	case KUNWIND_OPENING_HANGS:
		return KUNWIND_STATE_HANGS;
	case KUNWIND_OPENING_NOBODY:
		return KUNWIND_STATE_NO_HELPER;
	}
	return KUNWIND_STATE_UNREADABLE;
}

static enum kunwind_state open_in(const struct kunwind_symbolizer_object *object, struct wire_open *request,
				  uint32_t slot, struct wire_opened *opened)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;

	/* without the helper, no file is opened */
	if (!kunwind_helper_ensure(&symbolizer->helper, symbolizer->reply))
		return KUNWIND_STATE_NO_HELPER;
	request->slot[0] = slot;
	request->slot[1] = WIRE_NOBODY;
	return state_of(kunwind_helper_open(&symbolizer->helper, request, opened));
}

/* The owner of a directory that the caller named. */
static uint32_t owner_of(const char *dir)
{
	struct stat st;

	return !*dir || stat(dir, &st) ? WIRE_NOBODY : st.st_uid;
}

/*
 * Sets the request for the file at @dir and @path. @dir: a directory that the caller
 * named; or "". False: the path is too long.
 */
static bool set_path(const struct kunwind_symbolizer_object *object, struct wire_open *request,
		     unsigned int flags, const char *dir, const char *path, const char *suffix)
{
	request->type = WIRE_OPEN_FILE;
	request->flags = flags;
	request->owner[0] = object->owner;
	request->owner[1] = owner_of(dir);
	return snprintf(request->path, sizeof(request->path), "%s%s%s", dir, path, suffix) <
	       (int)sizeof(request->path);
}

/* Tries a file. True: it is the one, and is called @path from now on. */
static bool try(struct file_search *search, struct wire_open *request, const char *path)
{
	struct wire_opened opened;
	enum kunwind_state state = open_in(search->object, request, search->slot, &opened);

	if (state == KUNWIND_STATE_OK)
		state = judge(search, &opened);
	if (state == KUNWIND_STATE_HANGS)
		kunwind_opener_hangs(&search->object->symbolizer->helper.opener, request->path);
	if (state == KUNWIND_STATE_OK) {
		search->found->owner = opened.owner;
		snprintf(search->found->path, sizeof(search->found->path), "%s", path);
		return true;
	}
	if (search->state == KUNWIND_STATE_NEW || search->state == KUNWIND_STATE_ABSENT)
		search->state = state;
	return false;
}

/* Tries another place. If there is no file, search->state does not change. */
static bool try_place(struct file_search *search, const char *dir, const char *path, const char *suffix)
{
	const enum kunwind_state before = search->state;
	struct wire_open request;

	if (!set_path(search->object, &request, WIRE_OPEN_ELF | WIRE_OPEN_OWNED, dir, path, suffix))
		return false;
	if (try(search, &request, request.path))
		return true;
	if (search->state == KUNWIND_STATE_ABSENT || search->state == KUNWIND_STATE_UNREADABLE)
		search->state = before;
	return false;
}

/* Tries the file of the build-id below @dir; @suffix: "" or ".debug". */
static bool try_build_id(struct file_search *search, const char *dir, const char *suffix)
{
	char path[2 * WIRE_ID + 32];

	if (strlen(search->build_id) < 3 || strlen(search->build_id) > 2 * WIRE_ID)
		return false;
	snprintf(path, sizeof(path), "/.build-id/%.2s/%s", search->build_id,
		 search->build_id + 2);
	return try_place(search, dir, path, suffix);
}

/* Tries a path of a mapping, which names the object itself: its owner is any user. */
static bool try_mapped(struct file_search *search, const char *path)
{
	struct wire_open request;

	return set_path(search->object, &request, WIRE_OPEN_ELF, "", path, "") &&
	       try(search, &request, path);
}

/* Tries this host's file, and then the one that a live process still has. */
static bool find_local(struct file_search *search)
{
	const struct kunwind_symbolizer_object *object = search->object;
	struct wire_open request;
	char path[4200];
	uint64_t inode = search->inode;
	bool found;

	if (!strcmp(object->path, "[vdso]")) {
		search->inode = 0;
		set_path(object, &request, WIRE_OPEN_ELF, "", "", "");
		request.type = WIRE_OPEN_VDSO;
		found = try(search, &request, object->path);
		search->inode = inode;
		return found;
	}
	if (try_mapped(search, object->path))
		return true;
	if (!object->live_pid || search->state == KUNWIND_STATE_HANGS)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root%s", object->live_pid, object->path);
	if (try_mapped(search, path))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", object->live_pid,
		 (unsigned long long)object->live_start, (unsigned long long)object->live_end);
	return search->state != KUNWIND_STATE_HANGS && try_mapped(search, path);
}

static bool asks_servers(const struct kunwind_symbolizer *symbolizer)
{
	return !(symbolizer->options.flags & KUNWIND_NO_DEBUGINFOD);
}

static bool try_server(struct file_search *search, const char *kind)
{
	struct kunwind_symbolizer *symbolizer = search->object->symbolizer;
	struct wire_open request;
	char path[4096];

	/* the caller's own program has written the file */
	return asks_servers(symbolizer) && *search->build_id &&
	       kunwind_helper_fetch(&symbolizer->helper, kind, search->build_id, path, sizeof(path)) &&
	       set_path(search->object, &request, WIRE_OPEN_ELF | WIRE_OPEN_GIVEN, "", path, "") &&
	       try(search, &request, search->object->path);
}

/* Notes why the object's debug information is not used although there is some. */
static void note(struct kunwind_symbolizer_object *object, enum kunwind_state state)
{
	if (object->dwarf_state == KUNWIND_STATE_OK &&
	    (state == KUNWIND_STATE_FOREIGN || state == KUNWIND_STATE_HANGS))
		object->dwarf_state = state;
}

bool kunwind_find_object(struct kunwind_symbolizer_object *object, bool code,
			 struct kunwind_found_file *found, enum kunwind_state *state)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	const char *const *dir;
	struct file_search search = { .object = object, .slot = KUNWIND_SLOT_MAIN,
				      .code = code, .build_id = object->build_id, .found = found };
	bool local = !(options->flags & KUNWIND_NO_LOCAL);

	for (dir = options->debug_dirs; dir && *dir; dir++) {
		if (try_build_id(&search, *dir, "") ||
		    (*object->path == '/' && try_place(&search, *dir, object->path, "")))
			goto ok;
	}
	search.state = KUNWIND_STATE_NEW;	/* files in debug_dirs are not reported */
	search.inode = object->inode;
	if (local && find_local(&search))
		goto ok;
	search.inode = 0;
	if (!local)
		search.state = KUNWIND_STATE_ABSENT;
	/* the object is not found, but its symbols may be */
	for (dir = options->debug_dirs; dir && *dir; dir++) {
		if (try_build_id(&search, *dir, ".debug"))
			goto ok;
	}
	if ((local && try_build_id(&search, SYSTEM_DEBUG, ".debug")) ||
	    try_server(&search, "executable") || try_server(&search, "debuginfo"))
		goto ok;
	*state = search.state;
	return false;
ok:
	*state = KUNWIND_STATE_OK;
	return true;
}

/* Tries a .gnu_debuglink file: by build-id, or without one by checksum. */
static bool try_link(struct file_search *search, const char *dir, const char *below,
		     const struct kunwind_found_file *main)
{
	char path[8400];

	return snprintf(path, sizeof(path), "%s/%s", below, main->link) < (int)sizeof(path) &&
	       try_place(search, dir, path, "");
}

static bool find_link(struct file_search *search, const struct kunwind_found_file *main)
{
	const struct kunwind_symbolizer_options *options = &search->object->symbolizer->options;
	const char *slash = strrchr(search->object->path, '/');
	const char *const *dir;
	char below[4200];

	search->crc = &main->identity.link_crc;
	/* a file name, not a path to another place */
	if (!*main->link || strchr(main->link, '/') || !slash)
		return false;
	snprintf(below, sizeof(below), "%.*s", (int)(slash - search->object->path),
		 search->object->path);
	for (dir = options->debug_dirs; dir && *dir; dir++) {
		if (try_link(search, *dir, below, main))
			return true;
	}
	if (options->flags & KUNWIND_NO_LOCAL)
		return false;
	if (try_link(search, SYSTEM_DEBUG, below, main) || try_link(search, "", below, main))
		return true;
	snprintf(below, sizeof(below), "%.*s/.debug", (int)(slash - search->object->path),
		 search->object->path);
	return try_link(search, "", below, main);
}

bool kunwind_find_debug(struct kunwind_symbolizer_object *object, const struct kunwind_found_file *main,
			char *path, size_t size)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	struct kunwind_found_file found;
	struct file_search search = { .object = object, .slot = KUNWIND_SLOT_DEBUG, .found = &found };
	char hex[2 * WIRE_ID + 1] = "";
	const char *const *dir;
	unsigned int i;

	for (i = 0; i < main->identity.id_len && i < WIRE_ID; i++)
		snprintf(hex + 2 * i, 3, "%02x", main->identity.id[i]);
	search.build_id = hex;
	for (dir = options->debug_dirs; dir && *dir; dir++) {
		if (try_build_id(&search, *dir, ".debug"))
			goto ok;
	}
	if ((!(options->flags & KUNWIND_NO_LOCAL) && try_build_id(&search, SYSTEM_DEBUG, ".debug")) ||
	    find_link(&search, main) || try_server(&search, "debuginfo"))
		goto ok;
	note(object, search.state);
	return false;
ok:
	snprintf(path, size, "%s", found.path);
	return found.identity.flags & (WIRE_HOLDS_DWARF | WIRE_HOLDS_SYMTAB);
}

enum { SPLIT_PACKAGE = 3, NR_SPLIT };	/* places where split DWARF may be */

/* Opens a file that only the helper can identify, by an id in the file. */
static bool open_split(const struct kunwind_symbolizer_object *object, const char *root, const char *path,
		       enum kunwind_state *state)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	struct wire_open request;
	struct wire_opened opened;
	enum kunwind_state got;

	if (!set_path(object, &request, WIRE_OPEN_ELF | WIRE_OPEN_OWNED, root, path, ""))
		return false;
	got = open_in(object, &request, KUNWIND_SLOT_OTHER, &opened);
	if (got == KUNWIND_STATE_FOREIGN || got == KUNWIND_STATE_HANGS)
		*state = got;
	return got == KUNWIND_STATE_OK && opened.size < (uint64_t)options->memory_limit_mb << 20;
}

bool kunwind_find_split(struct kunwind_symbolizer_object *object, const char *dir, const char *name,
			bool *package)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	const char *slash = strrchr(object->path, '/'), *base = strrchr(name, '/');
	enum kunwind_state state = KUNWIND_STATE_ABSENT;
	const char *const *root;
	char path[NR_SPLIT][8300];
	size_t i;

	/* as written; relative to the object's directory; in it; the package */
	snprintf(path[0], sizeof(path[0]), *name == '/' ? "%.0s%s" : "%s/%s", dir, name);
	snprintf(path[1], sizeof(path[1]), "%.*s/%s", slash ? (int)(slash - object->path) : 0,
		 object->path, name);
	snprintf(path[2], sizeof(path[2]), "%.*s/%s", slash ? (int)(slash - object->path) : 0,
		 object->path, base ? base + 1 : name);
	snprintf(path[SPLIT_PACKAGE], sizeof(path[0]), "%s.dwp", object->path);
	for (i = 0; i < NR_SPLIT; i++) {
		*package = i == SPLIT_PACKAGE;
		for (root = options->debug_dirs; root && *root; root++) {
			if (open_split(object, *root, path[i], &state))
				return true;
		}
	}
	for (i = 0; i < NR_SPLIT && !(options->flags & KUNWIND_NO_LOCAL); i++) {
		*package = i == SPLIT_PACKAGE;
		if (*path[i] == '/' && open_split(object, "", path[i], &state))
			return true;
	}
	note(object, state);
	return false;
}

bool kunwind_find_alt(struct kunwind_symbolizer_object *object, const char *from, const char *name,
		      const uint8_t *id, unsigned int id_len)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	struct kunwind_found_file found;
	struct file_search search = { .object = object, .slot = KUNWIND_SLOT_OTHER, .found = &found };
	bool local = !(options->flags & KUNWIND_NO_LOCAL);
	const char *slash = strrchr(from, '/');
	char hex[2 * WIRE_ID + 1] = "", dirname[4200];
	const char *const *dir;
	unsigned int i;

	for (i = 0; i < id_len && i < WIRE_ID; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	search.build_id = hex;
	for (dir = options->debug_dirs; dir && *dir; dir++) {
		if (try_build_id(&search, *dir, ".debug") || try_build_id(&search, *dir, "") ||
		    (*name == '/' && try_place(&search, *dir, name, "")))
			return true;
	}
	if (*name != '/' && slash) {
		snprintf(dirname, sizeof(dirname), "%.*s/", (int)(slash - from), from);
		if (try_place(&search, dirname, name, ""))
			return true;
	}
	if (local && (try_build_id(&search, SYSTEM_DEBUG, ".debug") ||
		      (*name == '/' && try_place(&search, "", name, ""))))
		return true;
	if (try_server(&search, "debuginfo"))
		return true;
	note(object, search.state);
	return false;
}
