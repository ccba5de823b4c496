/* SPDX-License-Identifier: MIT */
/*
 * metadata.h - find out whether the metadata of a trace are cut off, or have a text
 */
#ifndef KUNWIND_TRACE_METADATA_H
#define KUNWIND_TRACE_METADATA_H

#include <stdbool.h>

/*
 * Returns false if the last packet of metadata (CTF 1.8.3, section 7.1) is cut
 * off: libbabeltrace2 2.0 would loop forever. Metadata can also be plain text.
 */
bool kunwind_metadata_is_whole(const char *path);

/* Returns whether a line of metadata has the text. Only for metadata that are plain text. */
bool kunwind_metadata_has(const char *path, const char *text);

#endif /* KUNWIND_TRACE_METADATA_H */
