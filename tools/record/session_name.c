// SPDX-License-Identifier: MIT
/*
 * session_name.c - the names of recorders' LTTng sessions
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session_name.h"

#define PREFIX		"kunwind-record-"
#define FIRST_NAMESPACE	0xeffffffcUL	/* PROC_PID_INIT_INO of the kernel */

static void name_of(char *name, size_t size, int pid)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_NAMESPACE)
		snprintf(name, size, PREFIX "%d", pid);
	else
		snprintf(name, size, PREFIX "%d-ns%lu", pid, (unsigned long)st.st_ino);
}

void session_name(char *name, size_t size)
{
	name_of(name, size, (int)getpid());
}

int session_recorder(const char *name)
{
	char wanted[64];
	int pid;

	if (sscanf(name, PREFIX "%d", &pid) != 1 || pid <= 0)
		return 0;
	name_of(wanted, sizeof(wanted), pid);
	return strcmp(name, wanted) ? 0 : pid;
}
