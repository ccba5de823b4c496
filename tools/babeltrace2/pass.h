/* SPDX-License-Identifier: MIT */
/*
 * pass.h - copy messages, with the streams, packets and fields that they refer to
 */
#ifndef KUNWIND_PASS_H
#define KUNWIND_PASS_H

#include "meta.h"

/*
 * Returns a new message of the output for one of the input; NULL: out of memory.
 * Fields that the output adds to an event stay unset.
 */
bt_message *pass(struct meta *meta, bt_self_message_iterator *self, const bt_message *from);

#endif /* KUNWIND_PASS_H */
