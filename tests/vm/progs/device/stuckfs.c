// SPDX-License-Identifier: MIT
/*
 * stuckfs.c - a FUSE file system whose reads get no answer
 *
 *	stuckfs MOUNTPOINT FILE NR [direct|dirty]
 *
 * It has files "0" to "NR-1", each with FILE's contents. With "direct" they are
 * opened for direct I/O (see stuckmm.c). With "dirty" reads are answered, but
 * writes get no answer until the file system ends.
 *
 * All other requests are answered at once. chmod() sets the mode of all files,
 * and their time of change is a second later. SIGUSR1 makes it answer all reads,
 * waiting and new ones; after SIGUSR2 it answers none again. SIGTERM unmounts.
 * The program implements the protocol itself (linux/fuse.h), one request at a
 * time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_WAITING	4096

static int fuse, file, nr_files;
static bool direct, dirty;
static struct stat st;
static unsigned int mode = S_IFREG | 0755;
static volatile sig_atomic_t answering, ending;

static struct {
	__u64 unique, offset;
	__u32 size;
} waiting[MAX_WAITING];
static unsigned int nr_waiting;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		answering = 1;
	else if (sig == SIGUSR2)
		answering = 0;
	else
		ending = 1;
}

static void answer(__u64 unique, int error, const void *data, size_t len)
{
	struct fuse_out_header head = {
		.len = sizeof(head) + (error ? 0 : len), .error = error, .unique = unique,
	};
	struct iovec iov[2] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = (void *)data, .iov_len = error ? 0 : len },
	};

	/* ENOENT: the task that made the request was interrupted. */
	if (writev(fuse, iov, 2) < 0 && errno != ENOENT)
		perror("stuckfs: answer");
}

static void answer_read(__u64 unique, __u64 offset, __u32 size)
{
	static char buf[1 << 20];
	ssize_t got = pread(file, buf, size < sizeof(buf) ? size : sizeof(buf), offset);

	answer(unique, got < 0 ? -EIO : 0, buf, got < 0 ? 0 : got);
}

/* Node 1 is the directory, node 2 + n is file n. */
static struct fuse_attr attributes(__u64 node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FUSE_ROOT_ID ? 0 : st.st_size,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : mode,
		.nlink = 1,
		.mtime = st.st_mtime,
		.ctime = st.st_ctime,
		.blksize = 4096,
	};
}

static void serve(const struct fuse_in_header *in, const void *arg)
{
	switch (in->opcode) {
	case FUSE_INIT: {
		const struct fuse_init_in *init = arg;
		struct fuse_init_out out = {
			.major = FUSE_KERNEL_VERSION,
			.minor = init->minor < FUSE_KERNEL_MINOR_VERSION ?
				 init->minor : FUSE_KERNEL_MINOR_VERSION,
			.max_readahead = init->max_readahead,
			/* makes the kernel wait for FUSE_SETATTR of times */
			.flags = dirty ? FUSE_WRITEBACK_CACHE : 0,
			.max_background = 64,
			.congestion_threshold = 64,
			.max_write = 1 << 17,
		};

		answer(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_LOOKUP: {
		char *end;
		long n = strtol(arg, &end, 10);
		struct fuse_entry_out out = {
			.nodeid = 2 + n, .entry_valid = 3600, .attr_valid = 3600,
			.attr = attributes(2 + n),
		};

		answer(in->unique, *end || n < 0 || n >= nr_files ? -ENOENT : 0, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = { .attr_valid = 3600, .attr = attributes(in->nodeid) };

		answer(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN:
	case FUSE_OPENDIR: {
		struct fuse_open_out out = {
			.fh = in->nodeid, .open_flags = direct ? FOPEN_DIRECT_IO : 0,
		};

		answer(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_READ: {
		const struct fuse_read_in *read = arg;

		if (answering || dirty || nr_waiting == MAX_WAITING) {
			answer_read(in->unique, read->offset, read->size);
			break;
		}
		waiting[nr_waiting].unique = in->unique;
		waiting[nr_waiting].offset = read->offset;
		waiting[nr_waiting++].size = read->size;
		break;
	}
	case FUSE_STATFS: {
		struct fuse_statfs_out out = { .st = { .bsize = 4096, .namelen = 255 } };

		answer(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
		answer(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_SETATTR: {
		const struct fuse_setattr_in *set = arg;
		struct fuse_attr_out out = { .attr_valid = 3600 };

		if (dirty)
			break;
		if (set->valid & FATTR_MODE) {
			mode = S_IFREG | (set->mode & 07777);
			st.st_ctime++;
		}
		out.attr = attributes(in->nodeid);
		answer(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_WRITE:
		if (dirty)
			break;
		answer(in->unique, -ENOSYS, NULL, 0);
		break;
	default:
		answer(in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char buf[1 << 18] __attribute__((aligned(8)));
	struct sigaction action = { .sa_handler = on_signal };	/* no SA_RESTART */
	char options[128];

	direct = argc == 5 && !strcmp(argv[4], "direct");
	dirty = argc == 5 && !strcmp(argv[4], "dirty");
	if (argc != 4 + (direct || dirty))
		return 2;
	nr_files = atoi(argv[3]);
	file = open(argv[2], O_RDONLY);
	fuse = open("/dev/fuse", O_RDWR);
	if (file < 0 || fstat(file, &st) || fuse < 0) {
		perror("stuckfs");
		return 1;
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("stuckfs", argv[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror(argv[1]);
		return 1;
	}
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	puts("mounted");
	fflush(stdout);
	while (!ending) {
		ssize_t len = read(fuse, buf, sizeof(buf));

		while (answering && nr_waiting) {
			nr_waiting--;
			answer_read(waiting[nr_waiting].unique, waiting[nr_waiting].offset,
				    waiting[nr_waiting].size);
		}
		if (len < 0 && errno == ENODEV)
			break;		/* unmounted */
		if (len >= (ssize_t)sizeof(struct fuse_in_header))
			serve((void *)buf, buf + sizeof(struct fuse_in_header));
	}
	umount2(argv[1], MNT_DETACH);
	return 0;
}
