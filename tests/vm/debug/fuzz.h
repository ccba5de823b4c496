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

/* Ops below FUZZ_DEVICE_OPS are ioctls; what the others are, fuzz-calls.c says. */
#define FUZZ_DEVICE_OPS	8
#define FUZZ_NR_OPS	24
#define FUZZ_FAULT	255

#define FUZZ_NR_ODD	26
extern const uint64_t fuzz_odd[FUZZ_NR_ODD];

/* What an op is called. */
extern const char *const fuzz_names[FUZZ_NR_OPS];
/* In the parent of all workers: the module's parameters, as they are then. */
bool fuzz_open(void);
/* At the end: sets them to what they were. */
void fuzz_close(void);
/*
 * Before the first step of a process, which becomes an ordinary user's if so
 * asked. False: there is no device.
 */
bool fuzz_begin(unsigned int worker, char **files, int nr_files, bool ordinary);
/* One step: its errno, 0, or FUZZ_FAULT for a fault of this process. */
int fuzz_step(const struct step *step);
/*
 * Gives back what the steps have mapped, opened and started, and undoes what they
 * set: the process is registered, and the parameters are as they were.
 */
void fuzz_end(void);
/* The calling task's stack, by the ioctl. */
void fuzz_one_stack(void);

#endif
