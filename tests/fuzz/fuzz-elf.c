/* SPDX-License-Identifier: MIT */
/*
 * Property: for any bytes of an ELF file, the parser reads only bytes within
 * the file, in at most 300 + size / 8 reads. The places that it returns for
 * .eh_frame and .debug_frame lie in the file. A file that is not refused has at
 * least one of the two sections.
 */
#include "../../kmod/core/cfi/elf.h"
#include "fuzz.h"

struct image {
	const u8 *data;
	size_t size;
	u32 reads;
};

static int image_read(void *file, u64 off, void *buf, size_t len)
{
	struct image *image = file;

	property(off <= image->size && len <= image->size - off && len <= 4096,
		 "parser reads %zu bytes at %llx, outside the file or too many", len,
		 (unsigned long long)off);
	property(++image->reads <= 300 + image->size / 8, "parser makes %u reads of a file of %zu bytes",
		 image->reads, image->size);
	memcpy(buf, image->data + off, len);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct image image = { .data = data, .size = size };
	struct kunwind_elf elf;
	enum kunwind_build_error err = kunwind_elf_parse(image_read, &image, size, &elf);
	u64 bias;
	u32 i;

	if (err && err != KUNWIND_E_NO_CFI)
		return 0;
	property(elf.nr_loads && elf.nr_loads <= KUNWIND_ELF_MAX_LOADS &&
		 elf.build_id_len <= KUNWIND_BUILD_ID_MAX && elf.text_lo <= elf.text_hi,
		 "segments, build-id or code are out of range");
	for (i = 0; i < elf.nr_loads; i++) {
		/*
		 * The offset of a segment without bytes in the file has no
		 * meaning.
		 */
		property(!elf.load[i].filesz ||
			 (elf.load[i].offset <= size &&
			  elf.load[i].filesz <= size - elf.load[i].offset),
			 "segment %u lies outside the file", i);
		kunwind_elf_bias(&elf, 0x7f0000000000, 0x1000, elf.load[i].offset & ~0xfffULL, &bias);
	}
	property(elf.eh_offset <= size && elf.eh_size <= size - elf.eh_offset,
		 ".eh_frame at %llx lies outside the file", (unsigned long long)elf.eh_offset);
	property(elf.debug_offset <= size && elf.debug_size <= size - elf.debug_offset,
		 ".debug_frame at %llx lies outside the file", (unsigned long long)elf.debug_offset);
	property(!elf.search_nr || (elf.search_offset <= size &&
				    8ULL * elf.search_nr <= size - elf.search_offset),
		 "the search table at %llx lies outside the file", (unsigned long long)elf.search_offset);
	property(err ? !elf.eh_size && !elf.debug_size : elf.eh_size || elf.debug_size,
		 "build error %u contradicts the sections' sizes %llx and %llx", err,
		 (unsigned long long)elf.eh_size, (unsigned long long)elf.debug_size);
	return 0;
}
