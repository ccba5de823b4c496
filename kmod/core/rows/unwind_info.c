// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind_info.c - all that an ELF file says about unwinding; see unwind_info.h
 */
#include "../cfi/named_fdes.h"
#include "code.h"
#include "go.h"
#include "go_find.h"
#include "unwind_info.h"

#define TABLE_SLACK (64 << 10) /* bytes by which a table may exceed its rows */

enum kunwind_build_error kunwind_unwind_info_find(kunwind_read_fn *read, void *file, u64 file_size,
						  struct kunwind_elf *elf)
{
	enum kunwind_build_error err = kunwind_elf_parse(read, file, file_size, elf), go;
	u64 size;

	if ((err && err != KUNWIND_E_NO_CFI) || elf->i386)
		return err;
	if (elf->go_inside) {
		go = kunwind_go_find(read, file, elf);
		if (go)
			return go;
	}
	if (!elf->go_size)
		return KUNWIND_OK;
	go = kunwind_go_measure(read, file, elf, &size);
	if (go == KUNWIND_E_IO || go == KUNWIND_E_NOMEM)
		return go;
	if (go || !size)
		return KUNWIND_OK;
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

void kunwind_unwind_info_free_code(struct kunwind_code_gaps *gaps)
{
	if (gaps)
		kunwind_free(gaps->code);
	kunwind_free(gaps);
}

static bool charged(kunwind_charge_fn *charge, void *data, size_t bytes)
{
	return !charge || charge(data, bytes);
}

enum kunwind_build_error
kunwind_unwind_info_read_code(kunwind_read_fn *read, void *file, const struct kunwind_elf *elf,
			      const u8 *data, kunwind_charge_fn *charge, kunwind_abort_fn *abort,
			      void *hook_data, struct kunwind_code_gaps **gaps)
{
	struct kunwind_section section[2];
	struct kunwind_code_gaps *found;
	enum kunwind_build_error err;

	*gaps = NULL;
	/* Go's code switches stacks; only Go's own table knows where. */
	if (elf->i386 || elf->go_size || elf->go_inside ||
	    !charged(charge, hook_data, kunwind_code_gaps_memory(elf)))
		return KUNWIND_OK;
	found = kunwind_alloc(sizeof(*found));
	if (!found)
		return KUNWIND_OK;
	kunwind_elf_sections(elf, data, data + elf->eh_size, section);
	err = kunwind_code_gaps_find(elf, section, abort, hook_data, found);
	if (!err && found->nr &&
	    charged(charge, hook_data, kunwind_code_rows_memory(found, elf->debug_size))) {
		err = kunwind_code_gaps_read(read, file, found);
		if (!err) {
			*gaps = found;
			return KUNWIND_OK;
		}
	}
	kunwind_unwind_info_free_code(found);
	return err == KUNWIND_E_NOMEM ? KUNWIND_OK : err;
}

/* Puts .eh_frame and @rows, which replace .debug_frame, into new memory. */
static bool put_rows(struct kunwind_elf *elf, const u8 *rows, u64 size, u8 **data)
{
	u8 *both = kunwind_alloc(elf->eh_size + size);

	if (!both)
		return false;
	memcpy(both, *data, elf->eh_size);
	memcpy(both + elf->eh_size, rows, size);
	kunwind_free(*data);
	*data = both;
	elf->debug_size = size;
	return true;
}

enum kunwind_build_error kunwind_unwind_info_add_rows(struct kunwind_elf *elf,
						      struct kunwind_code_gaps *gaps,
						      kunwind_charge_fn *charge,
						      kunwind_abort_fn *abort, void *hook_data,
						      u8 **data)
{
	enum kunwind_build_error err = KUNWIND_OK;
	u8 *rows = NULL;
	u64 size;

	if (gaps)
		err = kunwind_code_rows(gaps, *data + elf->eh_size, elf->debug_size, abort,
					hook_data, &rows, &size);
	kunwind_unwind_info_free_code(gaps);
	if (err && err != KUNWIND_E_NOMEM)
		return err;
	if (rows && charged(charge, hook_data, kunwind_code_power(elf->eh_size + size) +
						       2 * (size - elf->debug_size)))
		(void)put_rows(elf, rows, size, data);
	kunwind_free(rows);
	return elf->eh_size || elf->debug_size ? KUNWIND_OK : KUNWIND_E_NO_CFI;
}

enum kunwind_build_error
kunwind_unwind_info_code_table(const struct kunwind_elf *elf, struct kunwind_code_gaps *gaps,
			       kunwind_charge_fn *charge, kunwind_abort_fn *abort, void *hook_data,
			       struct kunwind_table **table)
{
	struct kunwind_section section = { .debug = true, .min_fdes = ~0U, .lo = elf->text_lo,
					   .hi = elf->text_hi };
	enum kunwind_build_error err;
	u64 size, limit;
	u8 *rows;

	err = kunwind_code_rows(gaps, NULL, 0, abort, hook_data, &rows, &size);
	kunwind_unwind_info_free_code(gaps);
	if (err)
		return err;
	if (!rows)
		return KUNWIND_E_NO_CFI;
	section.data = rows;
	section.size = size;
	limit = size + TABLE_SLACK;
	err = charged(charge, hook_data, 2 * limit) ?
		      kunwind_table_build(&section, 0, limit, abort, hook_data, table) : KUNWIND_E_LIMIT;
	kunwind_free(rows);
	return err;
}
