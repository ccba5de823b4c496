/* SPDX-License-Identifier: MIT */
/*
 * Property: whatever the bytes of an ELF file, the parser asks only for bytes
 * that are there, at most once for eight bytes of the file and 300 times more,
 * and the places that it gives for .eh_frame and .debug_frame lie in the file.
 * A file that is not refused has at least one of them.
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
		 "read of %zu at %llx", len, (unsigned long long)off);
	property(++image->reads <= 300 + image->size / 8, "%u reads of a file of %zu bytes",
		 image->reads, image->size);
	memcpy(buf, image->data + off, len);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct image image = { .data = data, .size = size };
	struct kunwind_elf elf;
	enum kunwind_refusal err = kunwind_elf_parse(image_read, &image, size, &elf);
	u64 bias;
	u32 i;

	if (err && err != KUNWIND_E_NO_CFI)
		return 0;
	property(elf.nr_loads && elf.nr_loads <= KUNWIND_ELF_MAX_LOADS &&
		 elf.build_id_len <= KUNWIND_BUILD_ID_MAX && elf.text_lo <= elf.text_hi,
		 "counts");
	for (i = 0; i < elf.nr_loads; i++) {
		/* the offset of what no file backs means nothing */
		property(!elf.load[i].filesz ||
			 (elf.load[i].offset <= size &&
			  elf.load[i].filesz <= size - elf.load[i].offset), "load %u", i);
		kunwind_elf_bias(&elf, 0x7f0000000000, 0x1000, elf.load[i].offset & ~0xfffULL, &bias);
	}
	property(elf.eh_offset <= size && elf.eh_size <= size - elf.eh_offset,
		 ".eh_frame at %llx", (unsigned long long)elf.eh_offset);
	property(elf.debug_offset <= size && elf.debug_size <= size - elf.debug_offset,
		 ".debug_frame at %llx", (unsigned long long)elf.debug_offset);
	property(err ? !elf.eh_size && !elf.debug_size : elf.eh_size || elf.debug_size,
		 "refusal %u, but sizes are %llx and %llx", err,
		 (unsigned long long)elf.eh_size, (unsigned long long)elf.debug_size);
	return 0;
}
