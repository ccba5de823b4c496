/* SPDX-License-Identifier: MIT */
/*
 * unwind-objects-test.c - which objects are the same ones, how the headers of a loaded object are
 * read in memory, and how an image's file is
 *
 * The parser, what libc says and the memory are the test's.
 */
#include "../../libkunwind/unwind/objects.c"
#include "../unit/tap.h"

static struct kunwind_elf headers;	/* what the parser finds */
static enum kunwind_build_error parse_error;
static u32 parses;
static bool known, gone;
static struct unwind_loaded says;	/* libc */
static u64 id_at;			/* of the build-id */
static u32 tables_freed;

static u64 copied_from;
static size_t copied;
static bool copy_fails;

bool unwind_copy(u64 addr, void *to, size_t len, pid_t *pid)
{
	(void)pid;
	copied_from = addr;
	copied = len;
	memset(to, 0xcc, len);
	return !copy_fails;
}

/* As the real one, it reads the build-id into its place. */
enum kunwind_build_error kunwind_elf_parse(kunwind_read_fn *read, void *file, u64 size,
					    struct kunwind_elf *elf)
{
	parses++;
	*elf = headers;
	if (size == UNWIND_MOST_SIZE && elf->build_id_len) {
		if (read(file, id_at, elf->build_id, elf->build_id_len))
			return KUNWIND_E_IO;
		memcpy(elf->build_id, headers.build_id, sizeof(headers.build_id));
	}
	return parse_error;
}

void kunwind_elf_sections(const struct kunwind_elf *elf, const u8 *eh, const u8 *debug,
			  struct kunwind_section section[2])
{
	(void)elf, (void)debug;
	memset(section, 0, 2 * sizeof(*section));
	section[0].addr = (u64)eh;
	section[0].more = &section[1];
}

bool unwind_loaded_known(void) { return known; }

bool unwind_loaded_get(u64 at, struct unwind_loaded *loaded)
{
	if (gone || !known)
		return false;
	*loaded = says;
	loaded->at = at;
	return true;
}

void kunwind_table_free(struct kunwind_table *table)
{
	tables_freed++;
	free(table);
}

static struct kunwind_unwinder *unwinder;

#define BIAS	0x10000ULL
#define IMAGE	0x11000ULL

static void begin(void)
{
	unwind_objects_sweep(unwinder);
	headers = (struct kunwind_elf){
		.nr_loads = 2, .entry = 3, .eh_size = 0x100, .eh_addr = 0x1100, .search_nr = 4,
		.search_base = 0x1300, .search_offset = 0x300, .build_id_len = 20,
		.load = { { .offset = 0x2000, .vaddr = 0x4000, .filesz = 0x1000, .memsz = 0x1000 },
			  { .offset = 0, .vaddr = 0x1000, .filesz = 0x1000, .memsz = 0x1000 } },
	};
	parse_error = KUNWIND_OK;
	parses = 0;
	known = true;
	gone = copy_fails = false;
	id_at = 0x200;
	says = (struct unwind_loaded){ .link_map = 1, .start = 2, .end = 3, .eh = 4 };
}

static struct unwind_object *own(bool loose)
{
	return unwind_object_own(unwinder, NULL, BIAS, IMAGE, 0x15000, loose);
}

static void test_same(void)
{
	static const char *const what[] = { "link map", "start", "end", ".eh_frame_hdr",
	       "place of the build-id",
					    "build-id", "length of the build-id", "number of segments",
					       ".eh_frame",
					    "size of .eh_frame" };
	struct unwind_object *object, *other;
	u32 i;

	begin();
	object = own(true);
	tap_ok(object && object->own && object->bias == BIAS && object->image == IMAGE && object->fd == -1 &&
	       !object->path && !object->uses && object->loaded.at == 0x15000 &&
	       object->loaded.link_map == 1 &&
	       object->loaded.build_id_len == 20 && object->loaded.build_id_at == IMAGE + 0x200,
	       "a loaded object has what libc says, and where its build-id is");
	tap_ok(own(true) == object &&
	       unwind_object_own(unwinder, NULL, BIAS + 1, IMAGE, 0x15000, true) != object &&
	       unwind_object_own(unwinder, NULL, BIAS, IMAGE, 0x15001, true) != object,
	       "the same again is the same object; with another bias or code it is not");
	for (i = 0; i < ARRAY_SIZE(what); i++) {
		begin();
		object = own(true);
		object->uses = 1;
		switch (i) {
		case 0: says.link_map++; break;
		case 1: says.start++; break;
		case 2: says.end++; break;
		case 3: says.eh++; break;
		case 4: id_at += 4; break;
		case 5: headers.build_id[19]++; break;
		case 6: headers.build_id_len--; break;
		case 7: headers.nr_loads--; break;
		case 8: headers.eh_addr += 8; break;
		default: headers.eh_size += 8;
		}
		other = own(true);
		tap_ok(other && other != object && own(true) == other, "another %s: another object", what[i]);
		object->uses = 0;
	}
}

static void test_stays(void)
{
	struct unwind_object *object;

	begin();
	object = own(false);
	tap_ok(!object->loaded.at && object->by_fde, "an object that stays needs nothing of libc");
	begin();
	known = false;
	object = own(true);
	tap_ok(!object->loaded.at && !object->by_fde && !object->needs_table,
	       "where libc cannot be asked, the memory of one that may go is not used");
	begin();
	gone = true;
	object = own(true);
	tap_ok(object->loaded.at == 0x15000, "one that libc does not know may go");
	begin();
	headers.i386 = true;
	tap_ok(!own(false)->elf.nr_loads, "a 32-bit image has no headers here");
	begin();
	parse_error = KUNWIND_E_IO;
	tap_ok(!own(false)->elf.nr_loads, "nor has one that cannot be read");
	begin();
	parse_error = KUNWIND_E_NO_CFI;
	headers.eh_size = 0;
	object = own(false);
	tap_ok(object->elf.nr_loads == 2 && !object->by_fde, "one without CFI has");
	begin();
	headers.build_id_len = 0;
	tap_ok(!own(false)->loaded.build_id_at, "without a build-id, there is no place of it");
}

static void test_search(void)
{
	struct unwind_by_fde by;

	begin();
	tap_ok(unwind_by_fde_init(&by, &headers, BIAS) && by.search == (u8 *)BIAS + 0x1300 &&
	       by.search_base == 0x1300 && by.search_nr == 4 && !by.table.bytes && by.table.entry == 3 &&
	       by.table.keep == KUNWIND_SAVED_REGS && by.section.addr == BIAS + 0x1100 && !by.section.more,
	       "a search table is where its segment is");
	headers.search_offset = 0x1000 - 32;
	tap_ok(unwind_by_fde_init(&by, &headers, BIAS), "it may end with the segment");
	headers.search_offset++;
	tap_ok(!unwind_by_fde_init(&by, &headers, BIAS), "one that ends after its segment is not used");
	headers.search_offset = 0x2000;
	tap_ok(unwind_by_fde_init(&by, &headers, BIAS) && by.search == (u8 *)BIAS + 0x4000,
	       "in another segment");
	headers.search_offset = 0x1800;
	tap_ok(!unwind_by_fde_init(&by, &headers, BIAS), "nor one in no segment");
	headers.search_offset = 0x300;
	headers.search_nr = 1 << 30;
	tap_ok(!unwind_by_fde_init(&by, &headers, BIAS), "nor one that is larger than it");
	headers.search_nr = 0;
	tap_ok(!unwind_by_fde_init(&by, &headers, BIAS), "nor an empty one");
	headers.search_nr = 4;
	headers.eh_size = 0;
	tap_ok(!unwind_by_fde_init(&by, &headers, BIAS), "nor without .eh_frame");
}

static void test_read(void)
{
	struct kunwind_elf elf = { .nr_loads = 0 };
	struct loaded_image image = { .at = IMAGE, .elf = &elf };
	u8 bytes[64];
	u32 i, wrong = 0;

	begin();
	tap_ok(!image_read(&image, 0x10, bytes, 8) && copied_from == IMAGE + 0x10 && copied == 8,
	       "image: before its segments are known, bytes are beside the header");
	elf = headers;
	tap_ok(!image_read(&image, 0x2010, bytes, 8) && copied_from == IMAGE - 0x1000 + 0x4010,
	       "image: then they are where their segment is");
	tap_ok(!image_read(&image, 0x2ff9, bytes, 8) && copied_from == IMAGE + 0x2ff9,
	       "image: bytes that no segment has are beside the header");
	image_read(&image, 0, bytes, sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++)
		wrong += bytes[i] != ((i >= 0x28 && i < 0x30) || i >= 0x3c ? 0 : 0xcc);
	image_read(&image, 0x2a, bytes, 8);
	for (i = 0; i < 8; i++)
		wrong += bytes[i] != (i < 6 ? 0 : 0xcc);
	image_read(&image, 0x40, bytes, 8);
	tap_ok(!wrong && bytes[0] == 0xcc, "image: it has no section headers, whatever its header says");
	image.build_id_at = 0;
	image_read(&image, 0x300, bytes, 8);
	wrong = image.build_id_at != 0;
	image_read(&image, 0x300, elf.build_id, 20);
	tap_ok(!wrong && image.build_id_at == IMAGE + 0x300, "image: the place of the build-id is known");
	copy_fails = true;
	tap_ok(image_read(&image, 0, bytes, 8), "image: memory that cannot be read is an error");
	tap_ok(unwind_image_vaddr(&headers) == 0x1000, "image: it begins with its lowest segment");
	headers.load[1].offset = 0x100;
	headers.load[1].vaddr = 0x1100;
	tap_ok(unwind_image_vaddr(&headers) == 0x1000, "image: or before it");
	headers.nr_loads = 0;
	tap_ok(!unwind_image_vaddr(&headers), "image: without segments, at 0");
}

static size_t gives;			/* at each call; 0: nothing */
static u64 last_offset;

static size_t give(void *data, uint64_t off, void *buf, size_t len)
{
	size_t n = gives < len ? gives : len;

	(void)data;
	last_offset = off;
	memset(buf, (int)off, n);
	return gives > 1000 ? gives : n;
}

static void test_image(void)
{
	const struct unwind_given given = { .read = give, .data = unwinder, .image = 5, .path = "x" };
	struct unwind_object *object, *others[3];
	struct unwind_given other = given;
	u8 bytes[10];

	begin();
	object = unwind_object_image(unwinder, &given);
	tap_ok(object && object->read == give && object->data == unwinder && object->image == 5 &&
	       !strcmp(object->path, "x") && !object->own && !object->tried && !parses,
	       "file of a function: it is not read yet");
	other.data = NULL;
	others[0] = unwind_object_image(unwinder, &other);
	other = given;
	other.image = 6;
	others[1] = unwind_object_image(unwinder, &other);
	tap_ok(unwind_object_image(unwinder, &given) == object && others[0] != object && others[1] != object,
	       "file of a function: the same function, data and place are the same file");
	gives = 3;
	tap_ok(!unwind_image_read(object, 100, bytes, 10) && bytes[0] == 100 && bytes[3] == 103 &&
	       bytes[9] == 109 && last_offset == 109, "file of a function: it may give it in parts");
	gives = 0;
	tap_ok(unwind_image_read(object, 100, bytes, 10), "file of a function: no bytes are an error");
	gives = 1001;
	tap_ok(unwind_image_read(object, 100, bytes, 10),
	       "file of a function: so are more than it was asked for");
}

static void test_sweep(void)
{
	struct unwind_object *kept, *left;

	begin();
	kept = own(true);
	kept->uses = 1;
	headers.eh_size++;
	left = own(true);
	left->table = calloc(1, sizeof(*left->table));
	left->table->bytes = 500;
	unwinder->memory = 100;
	unwind_objects_sweep(unwinder);
	tap_ok(unwinder->objects == kept && !kept->next && tables_freed == 1 && unwinder->memory == 600,
	       "objects without uses are freed, and the memory of their tables is given back");
	kept->uses = 0;
	unwind_objects_sweep(unwinder);
	tap_ok(!unwinder->objects && unwinder->memory == 600 && tables_freed == 1, "the last one, too");
}

int main(void)
{
	unwinder = calloc(1, sizeof(*unwinder));
	test_same();
	test_stays();
	test_search();
	test_read();
	test_image();
	test_sweep();
	unwind_objects_sweep(unwinder);
	free(unwinder);
	return tap_done();
}
