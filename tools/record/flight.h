/* SPDX-License-Identifier: MIT */
/*
 * flight.h - take snapshots when a trigger fires
 */
#ifndef KUNWIND_RECORD_FLIGHT_H
#define KUNWIND_RECORD_FLIGHT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "directory.h"
#include "triggers.h"

struct flight {
	/* options */
	bool on, quiet, json;
	bool kernel;		/* save the kernel's symbols with each snapshot */
	struct triggers triggers;
	uint64_t memory;	/* bytes for all buffers; 0: the default */
	uint64_t interval;	/* least number of seconds between two triggered snapshots */
	uint64_t most;		/* snapshots; 0: no limit */
	/* results */
	uint64_t taken, failed, suppressed;
	uint64_t others;	/* snapshots that "kunwind snapshot" has taken */
	/* private to flight.c */
	const char *session, *path;
	int dir, firings, signals, stop[2];
	uint64_t written;	/* directories of snapshots, also of those that failed */
	uint64_t triggered;	/* those of "taken" that triggers have taken */
	bool started;
	bool expecting, came;	/* the firing for a signal that has killed the command */
	bool listens;		/* triggers_end() has failed */
	pthread_t thread;
};

/* Adds a trigger. Returns false after a message on stderr. */
bool flight_add_trigger(struct flight *flight, const char *text);
void flight_free(struct flight *flight);

/**
 * flight_buffer() - compute the size of the buffers
 * Return: bytes of each buffer of the channel of events (session_create()); 0
 * after a message on stderr: the memory is too small.
 */
uint64_t flight_buffer(const struct flight *flight);

/*
 * Takes snapshots from now on, in a thread: for triggers, for events that
 * @filter (may be NULL) selects; and for SIGUSR1, which the caller has blocked.
 * @session and @dir stay valid until flight_end(). Returns false after a message
 * on stderr.
 */
bool flight_begin(struct flight *flight, const char *session, const struct directory *dir,
		  const char *filter, uint64_t buffer);

/*
 * Waits for firings that are under way, and ends the thread. @killed: the signal
 * that killed the recorded command; 0: none did. Call it also after a failure, or without
 * flight_begin().
 */
void flight_end(struct flight *flight, int killed);

#endif /* KUNWIND_RECORD_FLIGHT_H */
