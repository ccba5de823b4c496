/* SPDX-License-Identifier: MIT */
/*
 * read_all.h - read what a child process writes
 */
#ifndef KUNWIND_READ_ALL_H
#define KUNWIND_READ_ALL_H

#include <stddef.h>

/*
 * Reads to the end, because SIGPIPE would kill a child that still writes. Keeps
 * what fits into @text, which has room for @size bytes and ends in NUL.
 */
void kunwind_read_all(int fd, char *text, size_t size);

/*
 * Runs the program @path and reads its standard output as above. Its standard
 * input and standard error are /dev/null. Returns its status as waitpid(2)
 * does; -1: it could not be run.
 */
int kunwind_read_output(const char *path, char *const *argv, char *text, size_t size);

#endif /* KUNWIND_READ_ALL_H */
