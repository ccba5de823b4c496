/* SPDX-License-Identifier: MIT */
/*
 * ust_environment.h - run a command so that its events of LTTng-UST have stacks
 */
#ifndef KUNWIND_UST_ENVIRONMENT_H
#define KUNWIND_UST_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Sets @path (of PATH_MAX bytes) to the library for LD_PRELOAD, which is installed with this
 * program or built beside it. Returns false if there is none; then @path is where it should be.
 */
bool kunwind_ust_library(char *path);

/*
 * Changes the environment of this process for a command that will be executed. What is
 * preloaded already stays. Returns false after a message.
 */
bool kunwind_ust_environment(void);

#endif /* KUNWIND_UST_ENVIRONMENT_H */
