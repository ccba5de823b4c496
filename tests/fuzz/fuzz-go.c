/* SPDX-License-Identifier: MIT */
/*
 * Property: for any bytes of Go's .gopclntab, and of the code that it describes,
 * the rows are made of bytes of the file only, in bounded work; the second pass
 * writes as many bytes as the first one measured; and all that it writes is CFI
 * that the builder reads without an error, within the code.
 *
 * The input is the section, the code (at FUZZ_TEXT) and, if its length is odd,
 * the relocations (its second half).
 */
#include "../../kmod/core/rows/go.h"
#include "fuzz.h"

struct image {
	const u8 *data;
	size_t size;
	u64 bytes;
};

static int image_read(void *file, u64 off, void *buf, size_t len)
{
	struct image *image = file;

	property(off <= image->size && len <= image->size - off && len <= 32768,
		 "%zu bytes are read at %llx, outside the file or too many", len,
		 (unsigned long long)off);
	image->bytes += len;
	memcpy(buf, image->data + off, len);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct image image = { .data = data, .size = size };
	struct kunwind_elf elf = {
		.go_addr = FUZZ_DATA, .go_size = size, .text_lo = FUZZ_TEXT,
		.text_hi = FUZZ_TEXT + size, .text_section = FUZZ_TEXT, .entry = FUZZ_TEXT,
		.rela_offset = size / 2, .rela_size = size & 1 ? size - size / 2 : 0,
		.nr_loads = 1,
		.load[0] = { .vaddr = FUZZ_TEXT, .filesz = size, .memsz = size, .flags = 5 },
	};
	struct kunwind_section section;
	struct kunwind_table *table;
	enum kunwind_build_error err;
	u64 room;
	u8 *out;

	if (!size || size > FUZZ_MAX)
		return 0;
	err = kunwind_go_measure(image_read, &image, &elf, &room);
	property(image.bytes <= 34 * size + (1 << 20), "%llu bytes are read of %zu",
		 (unsigned long long)image.bytes, size);
	if (err)
		return 0;
	property(room <= 4 * size, "%llu bytes of rows for %zu", (unsigned long long)room, size);
	out = malloc(room);
	property(!kunwind_go_write(image_read, &image, &elf, out, room),
		 "the second pass differs from the first");
	section = (struct kunwind_section){
		.data = out, .size = room, .debug = true, .min_fdes = ~0U, .strict = true,
		.lo = elf.text_lo, .hi = elf.text_hi,
	};
	err = kunwind_table_build(&section, 0, 1 << 24, NULL, NULL, &table);
	property(!err || err == KUNWIND_E_NO_CFI, "the builder refuses the rows: %u", err);
	if (!err)
		kunwind_table_free(table);
	free(out);
	return 0;
}
