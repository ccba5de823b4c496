// SPDX-License-Identifier: MIT
/*
 * helper_serve.c - objects by number, and the answers about them
 *
 * Memory: that of helper_elf.c and helper_dwarf.c for each object, until the
 * library closes the object.
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "helper_dwarf.h"
#include "helper_elf.h"

#define NR_OBJECTS	1024
#define NAME_MAX_LEN	2048		/* of a function; longer ones are cut */
#define FILE_MAX_LEN	4096
#define FUNCTION_MAX	(sizeof(struct wire_function) + NAME_MAX_LEN + FILE_MAX_LEN)

struct object {
	struct kunwind_helper_elf *elf;	/* NULL: number not in use */
	bool want_dwarf;
	bool names_only;
	struct kunwind_dwarf *dwarf;
	int alt_fd;
	Dwarf *alt;
};

static struct object objects[NR_OBJECTS];

/* An answer under construction. */
struct writer {
	struct wire_reply *reply;
	char *at, *end;
};

static void close_object(struct object *object)
{
	kunwind_dwarf_free(object->dwarf);
	kunwind_elf_close(object->elf);
	if (object->alt)
		dwarf_end(object->alt);
	if (object->alt_fd >= 0)
		close(object->alt_fd);
	memset(object, 0, sizeof(*object));
}

static void put_bytes(struct writer *to, const char *bytes, size_t len)
{
	memcpy(to->at, bytes, len);
	to->at += len;
	to->reply->name_len += (uint32_t)len;
}

static void put_name(struct writer *to, const char *name)
{
	size_t len = strlen(name);

	if (len <= 4096)
		put_bytes(to, name, len);
}

static void identify(int fd, struct writer *to)
{
	char name[4096];

	kunwind_elf_identify(fd, to->reply, name, sizeof(name));
	put_name(to, name);
}

/* The checksum of .gnu_debuglink is CRC-32, as in zlib and Ethernet. */
static void checksum(int fd, struct writer *to)
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
	to->reply->status = got ? WIRE_NOT_ELF : WIRE_OK;
	to->reply->link_crc = ~crc;
}

/* Looks for debug information now: the reply says if it needs an ALT file. */
static void open_object(const struct wire_request *request, int *fds, struct writer *to)
{
	struct object *object = &objects[request->id];
	const char *name;
	const void *id;
	uint64_t bias;
	Dwarf *dwarf;
	ssize_t len;
	bool packed;

	if (object->elf)
		close_object(object);
	object->alt_fd = -1;
	object->want_dwarf = !(request->flags & WIRE_NO_DWARF);
	object->names_only = !object->want_dwarf;
	packed = object->want_dwarf && (kunwind_elf_is_packed(fds[0]) ||
					(fds[1] >= 0 && kunwind_elf_is_packed(fds[1])));
	object->elf = kunwind_elf_open(fds[0], fds[1]);
	fds[0] = fds[1] = -1;
	if (!object->elf) {
		to->reply->status = WIRE_NOT_ELF;
		return;
	}
	dwarf = object->want_dwarf ? kunwind_elf_dwarf(object->elf, &bias) : NULL;
	to->reply->flags = packed ? WIRE_PACKED : 0;
	if (!dwarf)
		return;
	to->reply->flags |= WIRE_HOLDS_DWARF;
	len = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	if (len > 0 && len <= WIRE_ID) {
		memcpy(to->reply->id, id, (size_t)len);
		to->reply->id_len = (uint32_t)len;
		put_name(to, name);
	}
}

static void open_alt(struct object *object, int *fds, struct writer *to)
{
	uint64_t bias;
	Dwarf *dwarf = kunwind_elf_dwarf(object->elf, &bias);

	if (!dwarf || object->alt || fds[0] < 0)
		return;
	object->alt = dwarf_begin(fds[0], DWARF_C_READ);
	if (!object->alt) {
		to->reply->status = WIRE_NOT_ELF;
		return;
	}
	object->alt_fd = fds[0];
	fds[0] = -1;
	dwarf_setalt(dwarf, object->alt);
}

/* Appends a string, for which there is room. Returns its length or WIRE_NONE. */
static uint32_t put_string(struct writer *to, const char *text, size_t max)
{
	size_t n;

	if (!text)
		return WIRE_NONE;
	n = strnlen(text, max);
	memcpy(to->at, text, n);
	to->at += n;
	return (uint32_t)n;
}

/*
 * Returns @raw without the version that a static symbol table appends
 * ("open@@GLIBC_2.2.5"), demangled if possible; "@plt" stays. The caller frees it.
 * NULL: no name.
 */
static char *readable_name(const char *raw)
{
	const char *version = raw && *raw ? strchr(raw + 1, '@') : NULL;
	char *plain, *name, *stub;

	if (!raw)
		return NULL;
	plain = version ? strndup(raw, (size_t)(version - raw)) : strdup(raw);
	name = plain ? kunwind_demangled(plain) : NULL;
	if (!name) {
		name = plain;
		plain = NULL;
	}
	free(plain);
	if (name && version && !strcmp(version, "@plt") && asprintf(&stub, "%s@plt", name) > 0) {
		free(name);
		name = stub;
	}
	return name;
}

/* An inlined function is left out if the outermost one might not fit after it. */
static void put_function(struct writer *to, const struct kunwind_dwarf_function *from)
{
	struct wire_function function = {
		.offset = from->offset,
		.line = (uint32_t)from->line,
		.column = (uint32_t)from->column,
		.inlined = from->inlined,
	};
	char *head = to->at, *name;

	if ((size_t)(to->end - to->at) < (from->inlined ? 2 : 1) * FUNCTION_MAX) {
		to->reply->flags |= WIRE_CUT;
		return;
	}
	name = readable_name(from->name);
	to->at += sizeof(function);
	function.name_len = put_string(to, name, NAME_MAX_LEN);
	function.file_len = put_string(to, from->file, FILE_MAX_LEN);
	memcpy(head, &function, sizeof(function));
	to->reply->nr++;
	free(name);
}

/* Functions in which the kernel or libc starts a thread; CFI may not say so. */
static bool entry_by_name(const char *name)
{
	static const char *const names[] = {
		"_start", "_dl_start_user", "clone", "__clone", "clone3", "__clone3", };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* Returns NULL if there is no debug information, or it is not wanted. */
static struct kunwind_dwarf *dwarf_of(struct object *object)
{
	uint64_t bias;
	Dwarf *dwarf;

	if (!object->dwarf && object->want_dwarf) {
		dwarf = kunwind_elf_dwarf(object->elf, &bias);
		object->want_dwarf = dwarf;
		if (dwarf)
			object->dwarf = kunwind_dwarf_new(dwarf, bias);
	}
	return object->dwarf;
}

static bool wants_split(struct kunwind_dwarf *dwarf, uint64_t addr, struct writer *to)
{
	struct kunwind_dwarf_split split;

	if (!dwarf || !kunwind_dwarf_wants(dwarf, addr, &split))
		return false;
	to->reply->status = WIRE_WANTS_SPLIT;
	to->reply->address = addr;
	put_name(to, split.dir ? split.dir : "");
	put_bytes(to, "", 1);
	put_name(to, split.name);
	return true;
}

/*
 * The function itself has its name from the symbol table, which is known with
 * and without debug information: the linker's name ("foo.cold"), or an alias
 * that programs call. A name from debug information is better than a label.
 * Without debug information, Go's own table has names, inlined functions and lines. A
 * function without any name has at least its start, by its FDE.
 */
static void resolve(struct object *object, uint64_t addr, bool exact, struct writer *to)
{
	struct kunwind_dwarf_function function[WIRE_FUNCTIONS + 1];
	struct kunwind_dwarf *dwarf = dwarf_of(object);
	struct kunwind_dwarf_function *outer;
	unsigned int nr, i;
	bool trampoline, label;
	const char *raw;
	uint64_t start, at;

	/* a handler returns to the trampoline's start: no call is before it */
	trampoline = kunwind_elf_is_trampoline(object->elf, addr);
	at = exact || trampoline ? addr : addr - 1;
	if (wants_split(dwarf, at, to))
		return;
	raw = kunwind_elf_symbol(object->elf, at, &start, &label);
	if (!raw) {
		raw = kunwind_elf_stub(object->elf, at, &start);
		label = true;
	}
	nr = dwarf ? kunwind_dwarf_functions(dwarf, at, function, WIRE_FUNCTIONS + 1) : 0;
	if (!nr) {
		nr = kunwind_elf_go(object->elf, at, function,
				    object->names_only ? 1 : WIRE_FUNCTIONS + 1);
		if (nr && object->names_only)
			function->file = NULL, function->line = 0;
	}
	outer = &function[nr ? nr - 1 : 0];
	if (raw && (!nr || !outer->name || !label)) {
		if (!nr) {
			memset(outer, 0, sizeof(*outer));
			nr = 1;
		}
		outer->name = raw;
		outer->offset = addr - start;
	} else if (nr) {
		outer->offset += addr - at;
	}
	if ((!nr || !outer->name) && kunwind_elf_function(object->elf, at, &start)) {
		if (!nr)
			memset(outer, 0, sizeof(*outer));
		nr = nr ? nr : 1;
		outer->offset = addr - start;
	}
	if (nr > WIRE_FUNCTIONS)
		to->reply->flags |= WIRE_CUT;
	for (i = nr > WIRE_FUNCTIONS; i < nr; i++)
		put_function(to, &function[i]);
	if (trampoline)
		to->reply->flags |= WIRE_TRAMPOLINE;
	if ((raw && entry_by_name(raw)) || kunwind_elf_is_entry(object->elf, at))
		to->reply->flags |= WIRE_ENTRY;
}

size_t kunwind_serve(const struct wire_request *request, int *fds, char *answer)
{
	struct wire_reply reply = { .status = WIRE_OK };
	struct writer to = { &reply, answer + sizeof(reply), answer + WIRE_MAX };
	struct object *object = &objects[request->id % NR_OBJECTS];
	unsigned int i;

	if (request->type == WIRE_HELLO) {
		reply.flags = WIRE_VERSION;
	} else if (request->type == WIRE_IDENTIFY) {
		identify(fds[0], &to);
	} else if (request->type == WIRE_CHECKSUM) {
		checksum(fds[0], &to);
	} else if (request->id >= NR_OBJECTS || (request->type != WIRE_OPEN && !object->elf)) {
		reply.status = WIRE_NO_OBJECT;
	} else if (request->type == WIRE_OPEN) {
		open_object(request, fds, &to);
	} else if (request->type == WIRE_ALT) {
		open_alt(object, fds, &to);
	} else if (request->type == WIRE_CLOSE) {
		close_object(object);
	} else if (request->type == WIRE_VADDR) {
		if (!kunwind_elf_vaddr(object->elf, request->address, &reply.address))
			reply.status = WIRE_NO_OBJECT;
	} else if (request->type == WIRE_RESOLVE) {
		resolve(object, request->address, request->flags & WIRE_EXACT, &to);
	} else if (request->type == WIRE_SPLIT && dwarf_of(object)) {
		kunwind_dwarf_give(object->dwarf, request->address, fds[0], fds[1]);
	}
	for (i = 0; i < WIRE_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	memcpy(answer, &reply, sizeof(reply));
	return (size_t)(to.at - answer);
}
