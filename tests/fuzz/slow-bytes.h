/* SPDX-License-Identifier: MIT */
/*
 * slow-bytes.h - read numbers for slow.c; the bytes may end anywhere (DWARF 5,
 * 7.6)
 */
#ifndef _TEST_SLOW_BYTES_H
#define _TEST_SLOW_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes up to @end. Reads beyond @end return 0 and set @bad. */
struct in {
	const uint8_t *p, *end;
	bool bad;
};

static inline bool has(struct in *p, uint64_t size)
{
	if (p->bad || size > (uint64_t)(p->end - p->p))
		p->bad = true;
	return !p->bad;
}

static inline void skip(struct in *p, uint64_t size)
{
	if (has(p, size))
		p->p += size;
}

static inline uint64_t fixed(struct in *p, int size)
{
	uint64_t val = 0;
	int i;

	if (!has(p, size))
		return 0;
	for (i = 0; i < size; i++)
		val += (uint64_t)p->p[i] << (8 * i);
	p->p += size;
	return val;
}

static inline int64_t fixed_signed(struct in *p, int size)
{
	uint64_t val = fixed(p, size), sign = (uint64_t)1 << (8 * size - 1);

	return (int64_t)((val ^ sign) - sign);
}

/* Returns the bits of a LEB128 number of at most ten bytes; *bits: how many. */
static inline unsigned __int128 leb(struct in *p, int *bits)
{
	unsigned __int128 val = 0;
	uint8_t byte;

	*bits = 0;
	do {
		byte = fixed(p, 1);
		val |= (unsigned __int128)(byte & 127) << *bits;
		*bits += 7;
		if (*bits == 70 && (byte & 128))
			p->bad = true;
	} while (!p->bad && (byte & 128));
	return val;
}

/* A value of more than 64 bits sets p->bad. */
static inline uint64_t uleb(struct in *p)
{
	int bits;
	unsigned __int128 val = leb(p, &bits);

	if (val > UINT64_MAX)
		p->bad = true;
	return p->bad ? 0 : val;
}

static inline int64_t sleb(struct in *p)
{
	int bits;
	__int128 val = leb(p, &bits);

	if (val >> (bits - 1))
		val -= (__int128)1 << bits;
	if (val > INT64_MAX || val < INT64_MIN)
		p->bad = true;
	return p->bad ? 0 : val;
}

#endif /* _TEST_SLOW_BYTES_H */
