/* SPDX-License-Identifier: MIT */
/*
 * helper_plt.h - names for the stubs by which an ELF file calls functions of others
 */
#ifndef KUNWIND_HELPER_PLT_H
#define KUNWIND_HELPER_PLT_H

#include <libelf.h>
#include <stdint.h>

struct kunwind_plt;

/* Returns NULL if the file has no such stubs. @elf must outlive the table. */
struct kunwind_plt *kunwind_plt_new(Elf *elf);
void kunwind_plt_free(struct kunwind_plt *plt);

/*
 * Returns "name@plt" for an address in a stub, NULL if it is in none; valid until the next call.
 * @start: out, where the stub begins.
 */
const char *kunwind_plt_name(struct kunwind_plt *plt, uint64_t addr, uint64_t *start);

#endif /* KUNWIND_HELPER_PLT_H */
