// SPDX-License-Identifier: MIT
/*
 * wire.c - packets with file descriptors over a local socket
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int) * WIRE_FDS)];
};

bool wire_send(int socket, const void *data, size_t len, const int *fds, unsigned int nr_fds)
{
	union control control = { 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	if (nr_fds) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.space;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nr_fds);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * nr_fds);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * nr_fds);
	}
	do
		sent = sendmsg(socket, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len;
}

ssize_t wire_receive(int socket, void *data, size_t len, int *fds)
{
	union control control = { 0 };
	struct iovec iov = { data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = fds ? control.space : NULL,
			      .msg_controllen = fds ? sizeof(control.space) : 0 };
	struct cmsghdr *cmsg;
	unsigned int i, nr = 0;
	ssize_t got;

	for (i = 0; fds && i < WIRE_FDS; i++)
		fds[i] = -1;
	do
		got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return 0;
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (unsigned int)((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (i = 0; i < nr; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
			if (i < WIRE_FDS)
				fds[i] = fd;
			else
				close(fd);
		}
	}
	return msg.msg_flags & MSG_TRUNC ? -1 : got;
}
