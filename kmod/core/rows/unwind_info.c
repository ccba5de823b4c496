// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind_info.c - all that an ELF file says about unwinding; see unwind_info.h
 */
#include "../cfi/named_fdes.h"
#include "go.h"
#include "go_find.h"
#include "unwind_info.h"

enum kunwind_build_error kunwind_unwind_info_find(kunwind_read_fn *read, void *file, u64 file_size,
						  struct kunwind_elf *elf)
{
	enum kunwind_build_error err = kunwind_elf_parse(read, file, file_size, elf), go;
	u64 size;

	if ((err && err != KUNWIND_E_NO_CFI) || !elf->go_size || elf->i386)
		return err;
	if (elf->go_inside) {
		go = kunwind_go_find(read, file, elf);
		if (go)
			return go;
		if (!elf->go_size)
			return err;
	}
	go = kunwind_go_measure(read, file, elf, &size);
	if (go == KUNWIND_E_IO || go == KUNWIND_E_NOMEM)
		return go;
	if (go || !size)
		return err;
	elf->go = true;
	elf->debug_offset = 0;
	elf->debug_size = size;
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_unwind_info_read(kunwind_read_fn *read, void *file,
						  const struct kunwind_elf *elf, u8 *data)
{
	enum kunwind_build_error err;

	if (elf->eh_size && read(file, elf->eh_offset, data, elf->eh_size))
		return KUNWIND_E_IO;
	err = kunwind_named_fdes(read, file, elf, data);
	if (err)
		return err;
	data += elf->eh_size;
	if (elf->go)
		return kunwind_go_write(read, file, elf, data, elf->debug_size);
	if (elf->debug_size && read(file, elf->debug_offset, data, elf->debug_size))
		return KUNWIND_E_IO;
	return KUNWIND_OK;
}
