/* SPDX-License-Identifier: MIT */
/*
 * kunwind_utf8.h - which bytes of a string may be printed as they are
 *
 * Any context, a signal handler too.
 */
#ifndef _KUNWIND_UTF8_H
#define _KUNWIND_UTF8_H

#include <stdbool.h>

/* U+0080 to U+009F: terminals obey these like escape sequences */
static inline bool kunwind_utf8_upper_control(const unsigned char *text)
{
	return text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0;
}

/*
 * Returns the bytes of the first character (RFC 3629); 0: it is not valid UTF-8, a control
 * character, or the end.
 */
static inline unsigned int kunwind_utf8_length(const char *string)
{
	static const struct {
		unsigned char mask, lead, low, high;	/* limits of the second byte */
		unsigned int length;
	} form[] = {
		{ 0xff, 0xe0, 0xa0, 0xbf, 3 }, { 0xff, 0xed, 0x80, 0x9f, 3 },
		{ 0xff, 0xf0, 0x90, 0xbf, 4 }, { 0xff, 0xf4, 0x80, 0x8f, 4 },
		{ 0xe0, 0xc0, 0x80, 0xbf, 2 }, { 0xf0, 0xe0, 0x80, 0xbf, 3 },
		{ 0xfc, 0xf0, 0x80, 0xbf, 4 },
	};
	const unsigned char *text = (const unsigned char *)string;
	unsigned int i, k;

	if (*text < 0x80)
		return *text >= 0x20 && *text != 0x7f;
	if (*text == 0xc0 || *text == 0xc1 || kunwind_utf8_upper_control(text))
		return 0;
	for (i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		if ((*text & form[i].mask) != form[i].lead)
			continue;
		if (text[1] < form[i].low || text[1] > form[i].high)
			return 0;
		for (k = 2; k < form[i].length; k++) {
			if ((text[k] & 0xc0) != 0x80)
				return 0;
		}
		return form[i].length;
	}
	return 0;
}

#endif /* _KUNWIND_UTF8_H */
