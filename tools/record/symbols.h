/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - save the symbols of the running kernel with a trace
 */
#ifndef KUNWIND_RECORD_SYMBOLS_H
#define KUNWIND_RECORD_SYMBOLS_H

/*
 * Writes the symbols of the kernel's code and that of its modules to the file
 * KALLSYMS_NAME in @dir. Prints a message if there is no such file afterwards.
 */
void symbols_save(const char *dir);

/* Removes this file. */
void symbols_remove(const char *dir);

#endif /* KUNWIND_RECORD_SYMBOLS_H */
