// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * cfi.c - parse the records of .eh_frame and .debug_frame; see cfi.h
 *
 * The parser reads each record through a struct kunwind_bytes that ends where
 * the record ends, so no content of a record can lead a read out of it. Only
 * the CIE pointer leads out, and its target is read as a record of its own.
 */
#include "cfi.h"
#include "../x86/i386.h"

enum {
	PE_ABSPTR	= 0x00,
	PE_ULEB128	= 0x01,
	PE_UDATA2	= 0x02,
	PE_UDATA4	= 0x03,
	PE_UDATA8	= 0x04,
	PE_SIGNED	= 0x08,
	PE_SLEB128	= 0x09,
	PE_SDATA2	= 0x0a,
	PE_SDATA4	= 0x0b,
	PE_SDATA8	= 0x0c,

	PE_PCREL	= 0x10,
	PE_TEXTREL	= 0x20,
	PE_DATAREL	= 0x30,
	PE_FUNCREL	= 0x40,
	PE_ALIGNED	= 0x50,
};

#define LENGTH_64	0xffffffffU	/* the 64-bit format follows */
#define LENGTH_RESERVED	0xfffffff0U

static struct kunwind_bytes section_bytes(const struct kunwind_section *section,
					  size_t from, size_t to)
{
	return (struct kunwind_bytes){ .at = section->data + from, .end = section->data + to };
}

enum kunwind_build_error
kunwind_record_read(const struct kunwind_section *section, size_t offset,
		    struct kunwind_record *record)
{
	struct kunwind_bytes b;
	size_t id_at;
	u64 len, id;
	bool wide;

	record->kind = KUNWIND_RECORD_END;
	record->begin = offset;
	if (offset >= section->size)
		return KUNWIND_OK;
	b = section_bytes(section, offset, section->size);
	len = kunwind_bytes_u32(&b);
	if (b.bad)
		return KUNWIND_E_TRUNCATED;
	if (!len) {
		record->kind = KUNWIND_RECORD_ZERO;
		record->end = offset + sizeof(u32);
		return KUNWIND_OK;
	}
	wide = len == LENGTH_64;
	if (wide)
		len = kunwind_bytes_u64(&b);
	else if (len >= LENGTH_RESERVED)
		return KUNWIND_E_TRUNCATED;
	if (b.bad || len > kunwind_bytes_left(&b))
		return KUNWIND_E_TRUNCATED;

	id_at = b.at - section->data;
	record->end = id_at + len;
	b.end = b.at + len;
	/*
	 * LSB 10.6.1.1 says that the CIE pointer has 4 bytes. DWARF 5 7.4 says
	 * 8 in the 64-bit format, which no compiler emits for .eh_frame. This
	 * code reads 8 bytes, as readelf and elfutils do.
	 */
	id = wide ? kunwind_bytes_u64(&b) : kunwind_bytes_u32(&b);
	if (b.bad)
		return KUNWIND_E_TRUNCATED;
	record->body = b.at - section->data;
	if (section->debug ? id == (wide ? ~0ULL : 0xffffffffULL) : !id) {
		record->kind = KUNWIND_RECORD_CIE;
		record->cie = offset;
		return KUNWIND_OK;
	}
	/*
	 * .debug_frame: an offset in the section; .eh_frame: the distance back
	 * from the pointer itself. A pointer out of the section becomes the
	 * section's end, where no CIE is.
	 */
	if (id > (section->debug ? section->size : id_at))
		id = section->debug ? section->size : id_at - section->size;
	record->kind = KUNWIND_RECORD_FDE;
	record->cie = section->debug ? id : id_at - id;
	return KUNWIND_OK;
}

/* Reads a number of the size of an address. */
static __always_inline u64 word_read(const struct kunwind_section *section, struct kunwind_bytes *b)
{
	return section->i386 ? kunwind_bytes_u32(b) : kunwind_bytes_u64(b);
}

bool kunwind_pointer_read(const struct kunwind_section *section, struct kunwind_bytes *b,
			  u8 encoding, u64 func, u64 *val)
{
	u64 place = section->addr + (u64)(b->at - section->data);
	u64 v;

	if (encoding == KUNWIND_PE_OMIT || (encoding & KUNWIND_PE_INDIRECT))
		return false;

	/* an absolute pointer at the next multiple of its size */
	if ((encoding & 0x70) == PE_ALIGNED) {
		if (encoding != PE_ALIGNED)
			return false;
		kunwind_bytes_skip(b, -place & (kunwind_word(section->i386) - 1));
		*val = word_read(section, b);
		return true;
	}

	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_SIGNED:
		v = word_read(section, b);
		break;
	case PE_UDATA8:
	case PE_SDATA8:
		v = kunwind_bytes_u64(b);
		break;
	case PE_UDATA2:
		v = kunwind_bytes_u16(b);
		break;
	case PE_SDATA2:
		v = (s16)kunwind_bytes_u16(b);
		break;
	case PE_UDATA4:
		v = kunwind_bytes_u32(b);
		break;
	case PE_SDATA4:
		v = (s32)kunwind_bytes_u32(b);
		break;
	case PE_ULEB128:
		v = kunwind_bytes_uleb(b);
		break;
	case PE_SLEB128:
		v = kunwind_bytes_sleb(b);
		break;
	default:
		return false;
	}

	switch (encoding & 0x70) {
	case 0:
		break;
	case PE_PCREL:
		v += place;
		break;
	case PE_TEXTREL:
		v += section->text_base;
		break;
	case PE_DATAREL:
		v += section->data_base;
		break;
	case PE_FUNCREL:
		v += func;
		break;
	default:
		return false;
	}
	*val = section->i386 ? (u32)v : v;
	return true;
}

/*
 * Skips the address of the personality routine. Its value is not used, so it
 * may be indirect.
 */
static bool pointer_skip(const struct kunwind_section *section, struct kunwind_bytes *b,
			 u8 encoding)
{
	u64 ignored;

	if (encoding == KUNWIND_PE_OMIT)
		return true;
	return kunwind_pointer_read(section, b, encoding & ~KUNWIND_PE_INDIRECT, 0, &ignored);
}

/*
 * Reads a CIE's augmentation data: the fields that the letters after 'z'
 * announce, in their order. @data ends where the length says, so the bytes
 * after it can be read even if a letter is unknown. The fields of the letters
 * after an unknown one cannot be found, so a CIE is refused only if 'R' (the
 * encoding) is among those letters. elfutils and the unwinders of GCC and LLVM
 * go on after an unknown letter, too.
 */
static enum kunwind_build_error augmentation_read(const struct kunwind_section *section,
						  struct kunwind_bytes *letters,
						  struct kunwind_bytes *data,
						  struct kunwind_cie *cie)
{
	bool unknown = false;
	u8 letter;

	while ((letter = kunwind_bytes_u8(letters)) != 0) {
		switch (letter) {
		case 'R':
			if (unknown)
				return KUNWIND_E_AUGMENTATION;
			cie->encoding = kunwind_bytes_u8(data);
			break;
		case 'L':
			if (!unknown)
				kunwind_bytes_u8(data);
			break;
		case 'P':
			if (unknown)
				break;
			if (!pointer_skip(section, data, kunwind_bytes_u8(data)))
				return KUNWIND_E_ENCODING;
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* return addresses are signed with key B (aarch64) */
			break;
		default:
			unknown = true;
		}
		if (data->bad)
			return KUNWIND_E_TRUNCATED;
	}
	return letters->bad ? KUNWIND_E_TRUNCATED : KUNWIND_OK;
}

enum kunwind_build_error
kunwind_cie_read(const struct kunwind_section *section, size_t offset, struct kunwind_cie *cie)
{
	struct kunwind_bytes b, letters, data;
	struct kunwind_record record;
	enum kunwind_build_error err;
	u64 len;
	u8 version;
	bool eh;

	memset(cie, 0, sizeof(*cie));
	err = kunwind_record_read(section, offset, &record);
	if (err || record.kind != KUNWIND_RECORD_CIE ||
	    record.end - record.body > KUNWIND_CIE_MAX)
		return KUNWIND_E_CIE;
	b = section_bytes(section, record.body, record.end);
	cie->size = record.end - record.begin;

	version = kunwind_bytes_u8(&b);
	if (version != 1 && version != 3 && version != 4)
		return b.bad ? KUNWIND_E_TRUNCATED : KUNWIND_E_VERSION;
	letters = b;
	while (kunwind_bytes_u8(&b))
		;
	if (b.bad)
		return KUNWIND_E_TRUNCATED;
	/* GCC 2: "eh", and a pointer after the string */
	eh = letters.at[0] == 'e' && letters.at[1] == 'h';
	if (eh)
		letters.at += 2;
	if (*letters.at != 'z') {
		/* without 'z', accept only letters that announce no data */
		while (*letters.at == 'S' || *letters.at == 'B' || *letters.at == 'K' ||
		       *letters.at == 'M') {
			cie->signal |= *letters.at == 'S';
			cie->from_code |= *letters.at == 'K';
			cie->moved |= *letters.at++ == 'M';
		}
		if (*letters.at)
			return KUNWIND_E_AUGMENTATION;
	}
	if (version == 4) {
		u8 address_size = kunwind_bytes_u8(&b);
		u8 segment_size = kunwind_bytes_u8(&b);

		if (!b.bad && (address_size != kunwind_word(section->i386) || segment_size != 0))
			return KUNWIND_E_VERSION;
	}
	if (eh)
		word_read(section, &b);
	cie->code_align = min(kunwind_bytes_uleb(&b), KUNWIND_MAX_CODE_ALIGN);
	cie->data_align = kunwind_bytes_sleb(&b);
	cie->ra = version == 1 ? kunwind_bytes_u8(&b) : kunwind_bytes_uleb(&b);
	cie->odd_ra = cie->ra != (section->i386 ? KUNWIND_I386_RA : KUNWIND_RA);
	if (b.bad)
		return KUNWIND_E_TRUNCATED;

	letters.end = b.at;
	if (*letters.at == 'z') {
		letters.at++;
		cie->sized = true;
		len = kunwind_bytes_uleb(&b);
		if (b.bad || len > kunwind_bytes_left(&b))
			return KUNWIND_E_TRUNCATED;
		data = b;
		data.end = data.at + len;
		err = augmentation_read(section, &letters, &data, cie);
		if (err)
			return err;
		b.at += len;
	}

	if (kunwind_bytes_left(&b) > KUNWIND_CIE_MAX_CODE)
		return KUNWIND_E_CIE;
	cie->code = b.at;
	cie->code_end = b.end;
	return KUNWIND_OK;
}

/*
 * Returns the start address that an FDE has if all bytes of its start are zero:
 * the linker dropped the function and left the FDE. GCC's unwinder skips such
 * FDEs. LLVM's linker writes -1 in .debug_frame instead.
 */
static u64 dropped_start(const struct kunwind_section *section, u8 encoding, u64 place)
{
	switch (encoding & 0x70) {
	case PE_PCREL:
		return place;
	case PE_TEXTREL:
		return section->text_base;
	case PE_DATAREL:
		return section->data_base;
	default:
		return 0;
	}
}

enum kunwind_build_error
kunwind_fde_read(const struct kunwind_section *section, const struct kunwind_record *record,
		 const struct kunwind_cie *cie, struct kunwind_fde *fde)
{
	struct kunwind_bytes b = section_bytes(section, record->body, record->end);
	u64 dropped = dropped_start(section, cie->encoding, section->addr + record->body);
	u64 len;

	if (!kunwind_pointer_read(section, &b, cie->encoding, 0, &fde->start) ||
	    (cie->encoding & 0x70) == PE_FUNCREL)
		return KUNWIND_E_ENCODING;
	/* a length is a number, not an address: only the format applies */
	if (!kunwind_pointer_read(section, &b, cie->encoding & 0x0f, 0, &fde->len))
		return KUNWIND_E_ENCODING;
	if (b.bad)
		return KUNWIND_E_TRUNCATED;
	if (cie->sized) {
		len = kunwind_bytes_uleb(&b);
		if (b.bad || len > kunwind_bytes_left(&b))
			return KUNWIND_E_TRUNCATED;
		b.at += len;	/* the address of the LSDA, which only exceptions need */
	}
	if (fde->start == dropped ||
	    (section->debug && fde->start == (section->i386 ? 0xffffffffULL : ~0ULL)))
		fde->len = 0;
	if (fde->len > ~fde->start)
		return KUNWIND_E_RANGE;
	fde->code = b.at;
	fde->code_end = b.end;
	return KUNWIND_OK;
}
