/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - the fuzzer's steps: what fuzz.c chooses and fuzz-calls.c carries out
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct step {
	uint8_t op, a;
	uint16_t b;
	uint32_t c;
	uint64_t d;
};

/* Ops below FUZZ_DEVICE_OPS are ioctls; fuzz-calls.c lists the others. */
#define FUZZ_DEVICE_OPS	8
#define FUZZ_NR_OPS	24
#define FUZZ_FAULT	255

#define FUZZ_NR_ODD	26
extern const uint64_t fuzz_odd[FUZZ_NR_ODD];

/* The name of each op. */
extern const char *const fuzz_names[FUZZ_NR_OPS];
/* In the parent of all workers: saves the module's parameters. */
bool fuzz_open(void);
/* At the end: restores them. */
void fuzz_close(void);
/*
 * Before the first step of a process. @ordinary: the process becomes an
 * ordinary user's. False: the device cannot be opened, or the user cannot be
 * changed.
 */
bool fuzz_begin(unsigned int worker, char **files, int nr_files, bool ordinary);
/* Runs one step. Returns 0, the errno, or FUZZ_FAULT if the process faulted. */
int fuzz_step(const struct step *step);
/*
 * Unmaps, closes and ends what the steps mapped, opened and started. Registers
 * the process again, and restores the parameters.
 */
void fuzz_end(void);
/* Takes the calling task's stack with the ioctl. */
void fuzz_one_stack(void);

#endif
