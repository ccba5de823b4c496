/* SPDX-License-Identifier: MIT */
/*
 * expression.h - read the expressions of record --trigger
 */
#ifndef KUNWIND_RECORD_EXPRESSION_H
#define KUNWIND_RECORD_EXPRESSION_H

#include <stdbool.h>

enum expression_kind { EXPRESSION_SYSCALL, EXPRESSION_SIGNAL, EXPRESSION_EVENT };

struct expression {
	enum expression_kind kind;
	const char *text;	/* as the user wrote it */
	char *event;		/* name of the LTTng event that the trigger waits for */
	char *filter;		/* of this event, in LTTng's language; NULL: none */
	int signal;		/* 0: any */
};

/* Reads @text. Returns false after a message on stderr that points at the place. */
bool expression_read(struct expression *expression, const char *text);
void expression_free(struct expression *expression);

/* Returns the name of a system call by its number; NULL: not known. */
const char *expression_syscall_name(int number, bool compat);

#endif /* KUNWIND_RECORD_EXPRESSION_H */
