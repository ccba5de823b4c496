/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * named_fdes.h - drop FDEs that .eh_frame_hdr replaces by others
 */
#ifndef _KUNWIND_NAMED_FDES_H
#define _KUNWIND_NAMED_FDES_H

#include "elf.h"

/**
 * kunwind_named_fdes() - empty each FDE for whose start the search table of
 * .eh_frame_hdr names another FDE
 * @data: the bytes of .eh_frame; the length of each such FDE becomes zero
 *
 * May sleep. Allocates 4 KB for the time of the call, if .eh_frame has more FDEs
 * than the search table has entries. If the table cannot be used, all FDEs stay.
 * Return: KUNWIND_OK, KUNWIND_E_IO or KUNWIND_E_NOMEM.
 */
enum kunwind_build_error __must_check kunwind_named_fdes(kunwind_read_fn *read, void *file,
							 const struct kunwind_elf *elf, u8 *data);

#endif /* _KUNWIND_NAMED_FDES_H */
