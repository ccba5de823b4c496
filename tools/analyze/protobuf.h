/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h - write messages in protobuf's wire format
 *
 * The caller knows the field numbers, and the type of each field. A message is
 * written front to back into one buffer:
 *
 *	at = protobuf_begin(out, 11);
 *	protobuf_uint(out, 9, type);
 *	protobuf_end(out, at);
 */
#ifndef KUNWIND_ANALYZE_PROTOBUF_H
#define KUNWIND_ANALYZE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* Starts as all zeros. The caller frees data, and sets nr to 0 to empty it. */
struct protobuf {
	uint8_t *data;
	size_t nr, cap;
};

/* The functions below end the program if out of memory. */

/* A field of type uint32, uint64, int32, int64, enum or bool. */
void protobuf_uint(struct protobuf *out, unsigned int field, uint64_t value);
void protobuf_fixed64(struct protobuf *out, unsigned int field, uint64_t value);
void protobuf_double(struct protobuf *out, unsigned int field, double value);

/* A field of type bytes. */
void protobuf_bytes(struct protobuf *out, unsigned int field, const void *data, size_t size);

/*
 * A field of type string, which must be UTF-8: other bytes, and control
 * characters, become U+FFFD.
 */
void protobuf_text(struct protobuf *out, unsigned int field, const char *text);

/*
 * Begin and end a field that holds a message or a packed list.
 * protobuf_begin() returns what protobuf_end() needs.
 */
size_t protobuf_begin(struct protobuf *out, unsigned int field);
void protobuf_end(struct protobuf *out, size_t at);

/* An element of a packed list. */
void protobuf_element(struct protobuf *out, uint64_t value);

#endif /* KUNWIND_ANALYZE_PROTOBUF_H */
