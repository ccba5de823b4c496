/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - save the symbols of the running kernel with a trace
 */
#ifndef KUNWIND_RECORD_SYMBOLS_H
#define KUNWIND_RECORD_SYMBOLS_H

/*
 * Writes the symbols of the kernel's code and that of its modules to the file
 * KALLSYMS_NAME in @dir, a descriptor. Prints a message, in which the directory is
 * @path, if there is no such file afterwards.
 */
void symbols_save(int dir, const char *path);

/* Removes this file. */
void symbols_remove(int dir);

#endif /* KUNWIND_RECORD_SYMBOLS_H */
