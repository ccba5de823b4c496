// SPDX-License-Identifier: MIT
/*
 * objects.c - ELF objects: their headers from memory or a file, and what is needed to
 * unwind them by single FDEs
 *
 * The headers of an object of this process are read from its image in memory, so neither
 * /proc nor the file is needed. The image has no section headers. An object is kept as
 * long as a snapshot uses it, with its table.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* gABI: e_shoff has 8 bytes from here on, e_shnum and e_shstrndx 4. */
#define HEADER_SHOFF	0x28
#define HEADER_SHNUM	0x3c

struct loaded_image {
	u64 at;				/* of the ELF header */
	struct kunwind_elf *elf;	/* its segments are known as far as they were read */
	u64 build_id_at;
	pid_t pid;
};

/* Returns the address of the segment's bytes from offset @off of the file on, or 0. */
static u64 offset_address(const struct kunwind_elf *elf, u64 bias, u64 off, u64 len)
{
	u32 i;

	for (i = 0; i < elf->nr_loads; i++) {
		const struct kunwind_elf_load *load = &elf->load[i];

		if (off >= load->offset && len <= load->filesz && off - load->offset <= load->filesz - len)
			return bias + load->vaddr + (off - load->offset);
	}
	return 0;
}

/* Where the bytes at offset @off of the file are. Before its segment is known: beside the header. */
static u64 image_address(const struct loaded_image *image, u64 off, size_t len)
{
	const struct kunwind_elf *elf = image->elf;
	u64 bias = image->at;
	u32 i;

	for (i = 0; i < elf->nr_loads; i++)
		if (!elf->load[i].offset)
			bias = image->at - elf->load[i].vaddr;
	return offset_address(elf, bias, off, len) ?: image->at + off;
}

static int image_read(void *file, u64 off, void *buf, size_t len)
{
	struct loaded_image *image = file;
	const u64 from = image_address(image, off, len);
	u8 *bytes = buf;
	size_t i;

	if (!unwind_copy(from, buf, len, &image->pid))
		return -1;
	if (buf == image->elf->build_id)
		image->build_id_at = from;
	/* There are no section headers in memory, whatever the file's header says. */
	for (i = 0; i < len && off + i < HEADER_SHNUM + 4; i++)
		if (off + i - HEADER_SHOFF < 8 || off + i - HEADER_SHNUM < 4)
			bytes[i] = 0;
	return 0;
}

bool unwind_image_parse(u64 at, struct kunwind_elf *elf, u64 *build_id_at)
{
	struct loaded_image image = { .at = at, .elf = elf };
	enum kunwind_build_error err;

	memset(elf, 0, sizeof(*elf));
	err = kunwind_elf_parse(image_read, &image, UNWIND_MOST_SIZE, elf);
	*build_id_at = elf->build_id_len ? image.build_id_at : 0;
	return !elf->i386 && elf->nr_loads && (!err || err == KUNWIND_E_NO_CFI);
}

bool unwind_by_fde_init(struct unwind_by_fde *by, const struct kunwind_elf *elf, u64 bias)
{
	struct kunwind_section sections[2];
	const u64 search = offset_address(elf, bias, elf->search_offset, 8 * (u64)elf->search_nr);

	if (!elf->search_nr || !elf->eh_size || !search)
		return false;
	kunwind_elf_sections(elf, (const u8 *)(bias + elf->eh_addr), NULL, sections);
	*by = (struct unwind_by_fde){
		.table = { .keep = KUNWIND_SAVED_REGS, .entry = elf->entry },
		.section = sections[0],
		.search = (const u8 *)search, .search_base = elf->search_base,
		.search_nr = elf->search_nr,
	};
	by->section.more = NULL;
	return true;
}

static bool same_loaded(const struct unwind_loaded *a, const struct unwind_loaded *b)
{
	return a->at == b->at && a->link_map == b->link_map && a->start == b->start &&
	       a->end == b->end && a->eh == b->eh && a->build_id_at == b->build_id_at &&
	       a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

static struct unwind_object *add(struct kunwind_unwinder *unwinder, const char *path)
{
	struct unwind_object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->fd = -1;
	object->path = path && *path ? strdup(path) : NULL;
	if (path && *path && !object->path) {
		free(object);
		return NULL;
	}
	object->next = unwinder->objects;
	unwinder->objects = object;
	return object;
}

int unwind_file_read(void *file, u64 off, void *buf, size_t len)
{
	return pread(*(int *)file, buf, len, off) == (ssize_t)len ? 0 : -1;
}

/* Static programs and .eh_frame without .eh_frame_hdr: only the file says where it is. */
static bool file_has_cfi(const char *path)
{
	struct kunwind_elf elf;
	struct stat st;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	bool has;

	if (fd < 0)
		return false;
	has = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	      !kunwind_elf_parse(unwind_file_read, &fd, st.st_size, &elf) && elf.eh_size;
	close(fd);
	return has;
}

struct unwind_object *unwind_object_own(struct kunwind_unwinder *unwinder, const char *path,
					u64 bias, u64 at, u64 code, bool loose)
{
	struct unwind_loaded loaded = { 0 };
	struct unwind_object *object;
	struct kunwind_elf elf;

	if (loose && !unwind_loaded_get(code, &loaded))
		loaded.at = unwind_loaded_known() ? code : 0;
	if (!unwind_image_parse(at, &elf, &loaded.build_id_at))
		memset(&elf, 0, sizeof(elf));
	loaded.build_id_len = elf.build_id_len;
	memcpy(loaded.build_id, elf.build_id, sizeof(elf.build_id));
	for (object = unwinder->objects; object; object = object->next)
		if (object->own && object->bias == bias && same_loaded(&object->loaded, &loaded) &&
		    object->elf.nr_loads == elf.nr_loads && object->elf.eh_addr == elf.eh_addr &&
		    object->elf.eh_size == elf.eh_size)
			return object;
	object = add(unwinder, path);
	if (!object)
		return NULL;
	object->own = true;
	object->bias = bias;
	object->loaded = loaded;
	object->elf = elf;
	object->image = at;
	object->by_fde = calloc(1, sizeof(*object->by_fde));
	/* A loose object's memory may go away unnoticed if libc cannot be asked. */
	if (object->by_fde && (!unwind_by_fde_init(object->by_fde, &elf, bias) ||
			       (loose && !unwind_loaded_known()))) {
		free(object->by_fde);
		object->by_fde = NULL;
	}
	object->needs_table = !object->by_fde && file_has_cfi(path);
	return object;
}

/*
 * Whether the file that the object has open is still the one at its path. In this process, a
 * mapping with this path is of the file that is there now. Another process's files may have been
 * replaced since they were mapped, so the first one that was opened is kept.
 */
static bool is_at_path(const struct kunwind_unwinder *unwinder, const struct unwind_object *object)
{
	struct stat now, opened;

	return unwinder->flags & KUNWIND_UNWINDER_OTHER || object->fd < 0 || stat(object->path, &now) ||
	       fstat(object->fd, &opened) ||
	       (now.st_dev == opened.st_dev && now.st_ino == opened.st_ino);
}

struct unwind_object *unwind_object_file(struct kunwind_unwinder *unwinder, const char *path)
{
	struct unwind_object *object;
	enum kunwind_build_error err;
	struct stat st;

	for (object = unwinder->objects; object; object = object->next)
		if (!object->own && !object->read && object->path && !strcmp(object->path, path) &&
		    is_at_path(unwinder, object))
			return object;
	object = add(unwinder, path);
	if (!object || stat(path, &st) || !S_ISREG(st.st_mode))
		return object;
	object->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (object->fd < 0)
		return object;
	err = kunwind_elf_parse(unwind_file_read, &object->fd, st.st_size, &object->elf);
	if (err && err != KUNWIND_E_NO_CFI)
		memset(&object->elf, 0, sizeof(object->elf));
	return object;
}

u64 unwind_image_vaddr(const struct kunwind_elf *elf)
{
	u32 i, lowest = 0;

	for (i = 1; i < elf->nr_loads; i++)
		if (elf->load[i].offset < elf->load[lowest].offset)
			lowest = i;
	return elf->nr_loads ? elf->load[lowest].vaddr - elf->load[lowest].offset : 0;
}

int unwind_image_read(void *file, u64 off, void *buf, size_t len)
{
	const struct unwind_object *object = file;
	size_t done, n;

	for (done = 0; done < len; done += n) {
		n = object->read(object->data, off + done, (u8 *)buf + done, len - done);
		if (!n || n > len - done)
			return -1;
	}
	return 0;
}

struct unwind_object *unwind_object_image(struct kunwind_unwinder *unwinder,
					  const struct unwind_given *given)
{
	struct unwind_object *object;

	for (object = unwinder->objects; object; object = object->next)
		if (object->read == given->read && object->data == given->data &&
		    object->image == given->image)
			return object;
	object = add(unwinder, given->path);
	if (!object)
		return NULL;
	object->read = given->read;
	object->data = given->data;
	object->image = given->image;
	return object;
}

void unwind_objects_sweep(struct kunwind_unwinder *unwinder)
{
	struct unwind_object **at = &unwinder->objects, *object;

	while ((object = *at)) {
		if (object->uses) {
			at = &object->next;
			continue;
		}
		*at = object->next;
		if (object->table) {
			unwinder->memory += object->table->bytes;
			kunwind_table_free(object->table);
		}
		if (object->fd >= 0)
			close(object->fd);
		free(object->by_fde);
		free(object->path);
		free(object);
	}
}
