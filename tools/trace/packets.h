/* SPDX-License-Identifier: MIT */
/*
 * packets.h - find the whole packets of a stream file that LTTng wrote
 */
#ifndef KUNWIND_TRACE_PACKETS_H
#define KUNWIND_TRACE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct kunwind_packet {
	uint64_t offset, size, content;			/* bytes in the file */
	uint64_t begin, end, discarded, stream, instance, number;	/* as in the packet */
};

struct kunwind_packets {
	struct kunwind_packet *packet;
	size_t nr;
	uint64_t size;		/* of the file, bytes */
	uint64_t lost;		/* bytes that belong to no whole packet */
	uint64_t end;		/* of the last whole packet */
};

/* Returns whether the first @nr bytes of a file can be the beginning of a packet. */
bool kunwind_packets_begin(const void *bytes, size_t nr);

/**
 * kunwind_packets_read() - read the headers of all packets of a stream file
 * Return: false if the file cannot be read, is empty, does not begin as packets of
 * CTF do, or memory is short; then there is nothing to free. Packets of a tracer
 * other than LTTng are not found.
 */
bool kunwind_packets_read(struct kunwind_packets *packets, const char *path);

/* The same for an open file. */
bool kunwind_packets_read_fd(struct kunwind_packets *packets, int fd);
void kunwind_packets_free(struct kunwind_packets *packets);

/*
 * Writes an index of the whole packets in LTTng's format. It covers the file:
 * bytes that belong to no whole packet are padding of the packet before
 * them. The caller checks @file for errors.
 */
void kunwind_packets_index(const struct kunwind_packets *packets, FILE *file);

#endif /* KUNWIND_TRACE_PACKETS_H */
