// SPDX-License-Identifier: MIT
/*
 * packets.c - find the whole packets of a stream file that LTTng wrote
 *
 * If the disk is full, or the machine stops, a stream file ends inside a packet;
 * after a full disk, whole packets can follow. All versions of LTTng begin a
 * packet in the same way (struct header), and each packet of a stream begins with
 * the same 24 bytes. A packet is whole if it ends at the end of the file, or
 * where these bytes follow. After a packet that is cut off, the next one is found
 * by a search for these bytes. If the first packet is not whole, none is found.
 *
 * Cost: one read for each packet. Memory: 72 bytes for each packet.
 */
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packets.h"

#define PACKET_MAGIC	0xc1fc1fc1
#define INDEX_MAGIC	0xc1f1dcc1

/* Sizes are in bits. */
struct header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream;
	uint64_t instance;
	uint64_t begin, end;
	uint64_t content_size, packet_size;
	uint64_t number, discarded;
	uint32_t cpu;
} __attribute__((__packed__));

#define SAME	offsetof(struct header, instance)

/* The index has big-endian numbers. */
struct index_header {
	uint32_t magic, major, minor, entry_size;
};

struct index_entry {
	uint64_t offset, packet_size, content_size, begin, end, discarded, stream, instance, number;
};

static bool is_sound(const struct header *header)
{
	return header->magic == PACKET_MAGIC && !(header->packet_size % 8) &&
	       header->packet_size >= 8 * sizeof(*header) &&
	       header->content_size >= 8 * sizeof(*header) &&
	       header->content_size <= header->packet_size && header->begin <= header->end;
}

/* Returns where the next packet begins at or after @at; @size if none does. */
static uint64_t find(const uint8_t *map, uint64_t size, uint64_t at)
{
	const uint8_t *found = size > SAME ? memmem(map + at, size - at, map, SAME) : NULL;

	return found ? (uint64_t)(found - map) : size;
}

static bool add(struct kunwind_packets *packets, const struct header *header, uint64_t offset)
{
	struct kunwind_packet *list = packets->packet;

	/* the room doubles at powers of two */
	if (!(packets->nr & (packets->nr - 1)))
		list = reallocarray(list, packets->nr ? 2 * packets->nr : 1, sizeof(*list));
	if (!list)
		return false;
	packets->packet = list;
	list[packets->nr++] = (struct kunwind_packet){
		.offset = offset, .size = header->packet_size / 8, .content = header->content_size / 8,
		.begin = header->begin, .end = header->end, .discarded = header->discarded,
		.stream = header->stream, .instance = header->instance, .number = header->number,
	};
	return true;
}

/*
 * Returns whether sink.ctf.fs of babeltrace2 wrote the file: its packets have the
 * sizes where LTTng's have the times.
 */
static bool is_copy(const uint8_t *map, uint64_t size)
{
	struct {
		uint64_t packet, content;	/* bits */
	} sizes;
	const size_t at = offsetof(struct header, begin) + 4;	/* the stream's id has 64 bits */

	if (size < at + sizeof(sizes))
		return false;
	memcpy(&sizes, map + at, sizeof(sizes));
	return sizes.packet >= 8 * (at + sizeof(sizes)) && !(sizes.packet % 8) &&
	       sizes.content <= sizes.packet && sizes.packet / 8 <= size &&
	       (sizes.packet / 8 == size || (size - sizes.packet / 8 >= SAME &&
					      !memcmp(map + sizes.packet / 8, map, SAME)));
}

bool kunwind_packets_begin(const void *bytes, size_t nr)
{
	const uint32_t magic = PACKET_MAGIC;

	return !memcmp(bytes, &magic, nr < sizeof(magic) ? nr : sizeof(magic));
}

static bool read_all(struct kunwind_packets *packets, const uint8_t *map)
{
	const uint64_t size = packets->size;
	struct header header;
	uint64_t at, next;

	if (!kunwind_packets_begin(map, size) || is_copy(map, size))
		return false;
	for (at = 0; at < size; at = next) {
		bool whole = size - at >= sizeof(header);

		if (whole) {
			memcpy(&header, map + at, sizeof(header));
			next = header.packet_size / 8;
			whole = is_sound(&header) && next <= size - at &&
				(next == size - at || size - at - next < SAME ||
				 !memcmp(map + at + next, map, SAME));
		}
		if (whole) {
			next += at;
			packets->end = next;
			if (!add(packets, &header, at))
				return false;
		} else {
			/* the library reads the first header of each file */
			next = at ? find(map, size, at + 1) : size;
			packets->lost += next - at;
		}
	}
	return true;
}

bool kunwind_packets_read_fd(struct kunwind_packets *packets, int fd)
{
	void *map = MAP_FAILED;
	struct stat st;
	bool ok = false;

	memset(packets, 0, sizeof(*packets));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size) {
		packets->size = (uint64_t)st.st_size;
		map = mmap(NULL, packets->size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (map != MAP_FAILED) {
		ok = read_all(packets, map);
		munmap(map, packets->size);
	}
	if (!ok)
		kunwind_packets_free(packets);
	return ok;
}

bool kunwind_packets_read(struct kunwind_packets *packets, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);	/* a FIFO would block */
	bool ok = kunwind_packets_read_fd(packets, fd);

	if (fd >= 0)
		close(fd);
	return ok;
}

void kunwind_packets_free(struct kunwind_packets *packets)
{
	free(packets->packet);
	memset(packets, 0, sizeof(*packets));
}

void kunwind_packets_index(const struct kunwind_packets *packets, FILE *file)
{
	const struct index_header header = { htobe32(INDEX_MAGIC), htobe32(1), htobe32(1),
					     htobe32(sizeof(struct index_entry)) };
	uint64_t covered = 0, next;
	size_t i;

	fwrite(&header, sizeof(header), 1, file);
	for (i = 0; i < packets->nr; i++, covered = next) {
		const struct kunwind_packet *packet = &packets->packet[i];
		struct index_entry entry = {
			.offset = htobe64(packet->offset), .content_size = htobe64(8 * packet->content),
			.begin = htobe64(packet->begin), .end = htobe64(packet->end),
			.discarded = htobe64(packet->discarded), .stream = htobe64(packet->stream),
			.instance = htobe64(packet->instance), .number = htobe64(packet->number),
		};

		next = i + 1 < packets->nr ? packets->packet[i + 1].offset : packets->size;
		entry.packet_size = htobe64(8 * (next - covered));
		fwrite(&entry, sizeof(entry), 1, file);
	}
}
