// SPDX-License-Identifier: MIT
/*
 * helper_demangle.c - names of functions as their languages write them
 *
 * libiberty knows C++ (without return types: they are no part of the name), both forms of
 * Rust's names, and D. OCaml and Go replace characters. Names of Swift, Ada and Haskell stay
 * as they are: Swift's need Swift's own library, and the others look like names of C.
 *
 * Without libiberty-dev at build time, C++ names are demangled by libstdc++, if it is there at
 * run time, with their return types.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>

void kunwind_demangle_init(void)
{
}

static char *demangle(const char *name)
{
	const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;

	return cplus_demangle(name, options | (name[1] == 'D' ? DMGL_DLANG : DMGL_AUTO));
}
#else
static char *(*cxa_demangle)(const char *name, char *buf, size_t *len, int *status);

void kunwind_demangle_init(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (library)
		cxa_demangle = (char *(*)(const char *, char *, size_t *, int *))
			dlsym(library, "__cxa_demangle");
}

static char *demangle(const char *name)
{
	int status;

	return cxa_demangle && name[1] == 'Z' ? cxa_demangle(name, NULL, NULL, &status) : NULL;
}
#endif

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Replaces the escapes of a name: in Go's "%2e" a character's number; in OCaml's "$2d", too, and
 * "__" between modules is ".".
 */
static char *unescaped(const char *name, char escape)
{
	char *plain = malloc(strlen(name) + 1), *to = plain;

	while (plain && *name) {
		if (*name == escape && hex(name[1]) >= 2 && hex(name[1]) < 8 && hex(name[2]) >= 0) {
			*to++ = (char)(hex(name[1]) * 16 + hex(name[2]));
			name += 3;
		} else if (escape == '$' && name[0] == '_' && name[1] == '_' && name[2] && name[2] != '_') {
			*to++ = '.';
			name += 2;
		} else {
			*to++ = *name++;
		}
	}
	if (plain)
		*to = '\0';
	return plain;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

char *kunwind_demangled(const char *name)
{
	if (name[0] == '_')
		return demangle(name);
	if (!strncmp(name, "caml", 4) && is_upper(name[4]) && (strstr(name, "__") || strchr(name, '.')))
		return unescaped(name + 4, '$');
	return strchr(name, '%') ? unescaped(name, '%') : NULL;
}
