// SPDX-License-Identifier: MIT
/*
 * find.c - find the file of an object, and those with its debug information
 *
 * A file is the right one if its build-id is the object's. Without a build-id,
 * it must have the inode of the mapped file, which only this host's own file
 * can prove. The helper reads the build-id: this side opens files and does not
 * parse them. It opens only regular files (open.c), because a pipe or device
 * would block or have side effects.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define SYSTEM_DEBUG	"/usr/lib/debug"

/* What is searched for, and what is wrong with the first file that exists. */
struct file_search {
	struct kunwind_symbolizer_object *object;
	const char *build_id;		/* hex; "" not known */
	uint64_t inode;			/* proves identity without a build-id; 0: cannot */
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

static enum kunwind_state identify(struct kunwind_symbolizer *symbolizer, int fd,
				   struct kunwind_found_file *found)
{
	const struct wire_reply *reply = (const void *)symbolizer->reply;
	struct wire_request request = { .type = WIRE_IDENTIFY };
	size_t len;

	switch (kunwind_helper_ask(&symbolizer->helper, &request, &fd, 1, symbolizer->reply,
				   &len)) {
	case KUNWIND_ASKED:
		break;
	case KUNWIND_ASKED_DIED:
		return KUNWIND_STATE_CRASHED;
	case KUNWIND_ASKED_SLOW:
		return KUNWIND_STATE_SLOW;
	case KUNWIND_ASKED_NOBODY:
		return KUNWIND_STATE_NO_HELPER;
	}
	if (reply->status != WIRE_OK)
		return KUNWIND_STATE_UNREADABLE;
	found->identity = *reply;
	found->link[0] = '\0';
	if (reply->name_len < sizeof(found->link) && reply->name_len <= len - sizeof(*reply)) {
		memcpy(found->link, symbolizer->reply + sizeof(*reply), reply->name_len);
		found->link[reply->name_len] = '\0';
	}
	return KUNWIND_STATE_OK;
}

/* Is @fd the file that is searched for? */
static enum kunwind_state judge(const struct file_search *search, int fd)
{
	struct kunwind_symbolizer *symbolizer = search->object->symbolizer;
	struct kunwind_found_file *found = search->found;
	enum kunwind_state state;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return KUNWIND_STATE_UNREADABLE;
	if ((uint64_t)st.st_size >= (uint64_t)symbolizer->options.memory_limit_mb << 20)
		return KUNWIND_STATE_LARGE;
	state = identify(symbolizer, fd, found);
	if (state != KUNWIND_STATE_OK)
		return state;
	if (search->object->own_vdso && !*search->build_id)
		return KUNWIND_STATE_OK;
	if (*search->build_id)
		return same_build_id(found->identity.id, found->identity.id_len,
				     search->build_id) ? KUNWIND_STATE_OK : KUNWIND_STATE_DIFFERS;
	return search->inode && st.st_ino == search->inode ? KUNWIND_STATE_OK :
							     KUNWIND_STATE_UNSURE;
}

/* Takes over @fd. True: it is the file, and is called @path from now on. */
static bool try_fd(struct file_search *search, int fd, const char *path)
{
	enum kunwind_state state;

	if (fd < 0)
		state = errno == ENOENT || errno == ENOTDIR ? KUNWIND_STATE_ABSENT :
							      KUNWIND_STATE_UNREADABLE;
	else
		state = judge(search, fd);
	if (state == KUNWIND_STATE_OK) {
		search->found->fd = fd;
		snprintf(search->found->path, sizeof(search->found->path), "%s", path);
		return true;
	}
	if (fd >= 0)
		close(fd);
	if (search->state == KUNWIND_STATE_NEW || search->state == KUNWIND_STATE_ABSENT)
		search->state = state;
	return false;
}

static bool try_path(struct file_search *search, const char *path)
{
	return try_fd(search, kunwind_open_regular(path, 0), path);
}

/* Tries another place. If there is no file, search->state does not change. */
static bool try_place(struct file_search *search, const char *dir, const char *path, const char *suffix)
{
	char whole[8400];

	if (snprintf(whole, sizeof(whole), "%s%s%s", dir, path, suffix) >= (int)sizeof(whole) ||
	    access(whole, R_OK))
		return false;
	return try_path(search, whole);
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

/* Copies this process's vDSO to a file. Only its ELF header shows its size. */
static int open_vdso(void)
{
	const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	uint64_t shoff;
	uint16_t entsize, num;
	size_t size;
	int fd;

	if (!image)
		return -1;
	memcpy(&shoff, image + 40, sizeof(shoff));	/* e_shoff, e_shentsize, e_shnum */
	memcpy(&entsize, image + 58, sizeof(entsize));
	memcpy(&num, image + 60, sizeof(num));
	size = shoff + (size_t)num * entsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Tries this host's file, and then the one that a live process still has. */
static bool find_local(struct file_search *search)
{
	const struct kunwind_symbolizer_object *object = search->object;
	char path[4200];
	uint64_t inode = search->inode;
	bool found;

	if (!strcmp(object->path, "[vdso]")) {
		search->inode = 0;
		found = try_fd(search, open_vdso(), object->path);
		search->inode = inode;
		return found;
	}
	if (try_path(search, object->path))
		return true;
	if (!object->live_pid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root%s", object->live_pid, object->path);
	if (!access(path, R_OK) && try_path(search, path))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", object->live_pid,
		 (unsigned long long)object->live_start, (unsigned long long)object->live_end);
	return !access(path, R_OK) && try_path(search, path);
}

static bool asks_servers(const struct kunwind_symbolizer *symbolizer)
{
	return !(symbolizer->options.flags & KUNWIND_NO_DEBUGINFOD);
}

static bool try_server(struct file_search *search, const char *kind)
{
	struct kunwind_symbolizer *symbolizer = search->object->symbolizer;
	int fd = -1;

	if (asks_servers(symbolizer) && *search->build_id)
		fd = kunwind_helper_fetch(&symbolizer->helper, kind, search->build_id);
	return fd >= 0 && try_fd(search, fd, search->object->path);
}

bool kunwind_find_object(struct kunwind_symbolizer_object *object, struct kunwind_found_file *found,
			 enum kunwind_state *state)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	const char *const *dir;
	struct file_search search = { .object = object, .build_id = object->build_id, .found = found };
	bool local = !(options->flags & KUNWIND_NO_LOCAL);

	found->fd = -1;
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

/* The checksum of .gnu_debuglink is CRC-32, as in zlib and Ethernet. */
static bool has_crc(int fd, uint32_t wanted)
{
	static uint32_t table[256];
	unsigned char buf[65536];
	uint32_t crc = ~0u;
	off_t at = 0;
	ssize_t got;
	unsigned int i, bit;

	for (i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		table[i] = c;
	}
	while ((got = pread(fd, buf, sizeof(buf), at)) > 0) {
		ssize_t j;

		for (j = 0; j < got; j++)
			crc = table[(crc ^ buf[j]) & 0xff] ^ crc >> 8;
		at += got;
	}
	return !got && ~crc == wanted;
}

/* Tries a .gnu_debuglink file: by build-id, or without one by checksum. */
static bool try_link(struct file_search *search, const char *dir, const char *below,
		     const struct kunwind_found_file *main)
{
	char path[8400];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), "%s%s/%s", dir, below, main->link) >= (int)sizeof(path) ||
	    access(path, R_OK))
		return false;
	if (*search->build_id)
		return try_path(search, path);
	fd = kunwind_open_regular(path, 0);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !has_crc(fd, main->identity.link_crc)) {
		close(fd);
		return false;
	}
	search->inode = st.st_ino;	/* the checksum proved it */
	return try_fd(search, fd, path);
}

static bool find_link(struct file_search *search, const struct kunwind_found_file *main)
{
	const struct kunwind_symbolizer_options *options = &search->object->symbolizer->options;
	const char *slash = strrchr(search->object->path, '/');
	const char *const *dir;
	char below[4200];

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

int kunwind_find_debug(struct kunwind_symbolizer_object *object, const struct kunwind_found_file *main,
		       char *path, size_t size)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	struct file_search search = { .object = object };
	struct kunwind_found_file found = { .fd = -1 };
	char hex[2 * WIRE_ID + 1] = "";
	const char *const *dir;
	unsigned int i;

	for (i = 0; i < main->identity.id_len && i < WIRE_ID; i++)
		snprintf(hex + 2 * i, 3, "%02x", main->identity.id[i]);
	search.build_id = hex;
	search.found = &found;
	for (dir = options->debug_dirs; dir && *dir; dir++) {
		if (try_build_id(&search, *dir, ".debug"))
			goto ok;
	}
	if ((!(options->flags & KUNWIND_NO_LOCAL) && try_build_id(&search, SYSTEM_DEBUG, ".debug")) ||
	    find_link(&search, main) || try_server(&search, "debuginfo"))
		goto ok;
	return -1;
ok:
	if (!(found.identity.flags & (WIRE_HOLDS_DWARF | WIRE_HOLDS_SYMTAB))) {
		close(found.fd);
		return -1;
	}
	snprintf(path, size, "%s", found.path);
	return found.fd;
}

enum { SPLIT_PACKAGE = 3, NR_SPLIT };	/* places where split DWARF may be */

/* Opens a file that only the helper can identify, by an id in the file. */
static int open_split(struct kunwind_symbolizer *symbolizer, const char *root, const char *path)
{
	char whole[8400];
	struct stat st;
	int fd;

	if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return -1;
	fd = kunwind_open_regular(whole, 0);
	if (fd < 0 || (!fstat(fd, &st) &&
		       (uint64_t)st.st_size < (uint64_t)symbolizer->options.memory_limit_mb << 20))
		return fd;
	close(fd);
	return -1;
}

int kunwind_find_split(struct kunwind_symbolizer_object *object, const char *dir, const char *name,
		       bool *package)
{
	struct kunwind_symbolizer *symbolizer = object->symbolizer;
	const char *slash = strrchr(object->path, '/'), *base = strrchr(name, '/');
	const char *const *root;
	char path[NR_SPLIT][8300];
	size_t i;
	int fd;

	/* as written; relative to the object's directory; in it; the package */
	snprintf(path[0], sizeof(path[0]), *name == '/' ? "%.0s%s" : "%s/%s", dir, name);
	snprintf(path[1], sizeof(path[1]), "%.*s/%s", slash ? (int)(slash - object->path) : 0,
		 object->path, name);
	snprintf(path[2], sizeof(path[2]), "%.*s/%s", slash ? (int)(slash - object->path) : 0,
		 object->path, base ? base + 1 : name);
	snprintf(path[SPLIT_PACKAGE], sizeof(path[0]), "%s.dwp", object->path);
	for (i = 0; i < NR_SPLIT; i++) {
		*package = i == SPLIT_PACKAGE;
		for (root = symbolizer->options.debug_dirs; root && *root; root++) {
			fd = open_split(symbolizer, *root, path[i]);
			if (fd >= 0)
				return fd;
		}
	}
	for (i = 0; i < NR_SPLIT && !(symbolizer->options.flags & KUNWIND_NO_LOCAL); i++) {
		*package = i == SPLIT_PACKAGE;
		fd = *path[i] == '/' ? open_split(symbolizer, "", path[i]) : -1;
		if (fd >= 0)
			return fd;
	}
	return -1;
}

int kunwind_find_alt(struct kunwind_symbolizer_object *object, const char *from, const char *name,
		     const uint8_t *id, unsigned int id_len)
{
	const struct kunwind_symbolizer_options *options = &object->symbolizer->options;
	struct kunwind_found_file found = { .fd = -1 };
	struct file_search search = { .object = object, .found = &found };
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
			return found.fd;
	}
	if (*name != '/' && slash) {
		snprintf(dirname, sizeof(dirname), "%.*s/", (int)(slash - from), from);
		if (try_place(&search, dirname, name, ""))
			return found.fd;
	}
	if (local && (try_build_id(&search, SYSTEM_DEBUG, ".debug") ||
		      (*name == '/' && try_place(&search, "", name, ""))))
		return found.fd;
	return try_server(&search, "debuginfo") ? found.fd : -1;
}
