// SPDX-License-Identifier: MIT
/*
 * hanging-fs.c - a FUSE file system that stops to answer; run by hanging.py
 *
 *   hanging-fs DIRECTORY FILE USER STAGE [NUMBER]
 *
 * Mounts itself at DIRECTORY in the name of USER, for all users to access. It has
 * one file, of root, with the name and the content of FILE. Prints "ready". From the
 * NUMBERth request (default: 1) of the kind STAGE on, it answers no request any more:
 * lookup, getattr, open, read, flush, or never. When this process is killed, the
 * kernel ends the file system, and all waiting system calls fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY = FUSE_ROOT_ID, FILE_NODE };

static const struct {
	const char *name;
	unsigned int opcode;
} stages[] = {
	{ "lookup", FUSE_LOOKUP }, { "getattr", FUSE_GETATTR }, { "open", FUSE_OPEN },
	{ "read", FUSE_READ }, { "flush", FUSE_FLUSH }, { "never", 0 },
};

static int device;
static const char *name;
static const char *content;
static size_t size;

static void answer(const struct fuse_in_header *in, int error, const void *data, size_t len)
{
	static char bytes[1 << 20];
	struct fuse_out_header out = { .len = (uint32_t)(sizeof(out) + len), .error = -error,
				       .unique = in->unique };

	memcpy(bytes, &out, sizeof(out));
	if (len)
		memcpy(bytes + sizeof(out), data, len);
	if (write(device, bytes, out.len) < 0 && errno != ENOENT)
		exit(1);
}

/* Attributes are not valid for any time, so that the kernel asks each time. */
static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){ .ino = node, .size = node == FILE_NODE ? size : 0, .nlink = 1,
				   .mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .blksize = 4096 };
}

static void look_up(const struct fuse_in_header *in, const char *wanted)
{
	struct fuse_entry_out out = { .nodeid = FILE_NODE, .attr = attributes(FILE_NODE) };

	if (strcmp(wanted, name))
		answer(in, ENOENT, NULL, 0);
	else
		answer(in, 0, &out, sizeof(out));
}

static void carry_out(const struct fuse_in_header *in, const void *argument)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 65536,
				      .max_readahead = 4096 };
	struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	const struct fuse_read_in *read_in = argument;
	struct fuse_open_out open_out = { .fh = 1 };
	struct fuse_statfs_out statfs = { .st.bsize = 4096, .st.namelen = 255 };
	size_t len;

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(in, argument);
		break;
	case FUSE_GETATTR:
		answer(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(in, 0, &open_out, sizeof(open_out));
		break;
	case FUSE_READ:
		len = read_in->offset >= size ? 0 : size - read_in->offset;
		answer(in, 0, content + read_in->offset, len < read_in->size ? len : read_in->size);
		break;
	case FUSE_STATFS:
		answer(in, 0, &statfs, sizeof(statfs));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in, ENOSYS, NULL, 0);
	}
}

static bool load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	size = (size_t)st.st_size;
	content = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	return content != MAP_FAILED;
}

int main(int argc, char **argv)
{
	static char request[1 << 20];
	const struct fuse_in_header *in = (const void *)request;
	unsigned int opcode = 0, number = argc > 5 ? (unsigned int)atoi(argv[5]) : 1;
	char options[200];
	size_t i;

	if (argc < 5 || !load(argv[2]))
		return 2;
	for (i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
		if (!strcmp(stages[i].name, argv[4]))
			opcode = stages[i].opcode;
	}
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%s,group_id=0,allow_other", device,
		 argv[3]);
	/* a source that looks like an option must not count as one */
	if (device < 0 || mount("x,user_id=0", argv[1], "fuse.hanging", MS_NOSUID | MS_NODEV, options)) {
		perror("cannot mount");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(device, request, sizeof(request)) > 0) {
		if (opcode && in->opcode == opcode && !--number)
			pause();
		carry_out(in, in + 1);
	}
	return 0;
}
