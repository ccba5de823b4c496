/* SPDX-License-Identifier: MIT */
/*
 * kunwind/ust.h - libkunwind-ust: call stacks of events of LTTng-UST
 *
 * LTTng-UST has no context for call stacks. This library gives it one, as the application
 * context "$app.kunwind:stack":
 *
 *	lttng enable-channel -u CHANNEL
 *	lttng add-context -u -c CHANNEL -t '$app.kunwind:stack'
 *
 * libkunwind-ust-preload.so does the same for programs that are not rebuilt
 * (kunwind_ust_register(3)). Link with -lkunwind-ust.
 *
 * No session records the context: nothing of this library runs at a tracepoint. Otherwise, it
 * takes no lock and allocates nothing at a tracepoint, accesses no thread-local variable, and may
 * run in a signal handler.
 *
 * Errors are negative errno values.
 */
#ifndef KUNWIND_UST_H
#define KUNWIND_UST_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kunwind_ust_register() - register the context with LTTng-UST
 *
 * It allocates memory and takes locks of LTTng-UST: not in signal handlers. Events of this
 * process have stacks from now on.
 *
 * Return: 0; -EALREADY: it is registered; -ENOSYS: liblttng-ust.so.1 is not loaded; -ENOMEM;
 * -EEXIST: the program has another context "$app.kunwind".
 */
int kunwind_ust_register(void);

/**
 * kunwind_ust_refresh() - read the mappings again
 *
 * Walks notice by themselves what dlopen() and dlclose() change, for up to 64 objects
 * that were loaded since the last refresh. Not in signal handlers.
 *
 * Return: 0; -EINVAL: kunwind_ust_register() has not succeeded; -ENOMEM.
 */
int kunwind_ust_refresh(void);

#ifdef __cplusplus
}
#endif

#endif /* KUNWIND_UST_H */
