# SPDX-License-Identifier: MIT
#
# Variables that all makefiles of installed user-space parts share.

# the only place of the version, which "make install" also puts into man pages
VERSION   := $(shell sed -n 's/^.define KUNWIND_VERSION[[:space:]]*"\(.*\)"/\1/p' \
	$(dir $(lastword $(MAKEFILE_LIST)))../kmod/uapi/kunwind.h)
SOVERSION := 0
PREFIX    ?= /usr/local
DESTDIR   ?=
CC        ?= cc
CFLAGS    ?= -O2 -g
WARN      := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wmissing-prototypes
INSTALL   ?= install
PKG_CONFIG ?= pkg-config

# $(call install_pages,PAGES,DIRECTORY)
install_pages = for page in $(1); do \
		sed 's|@VERSION@|$(VERSION)|' $$page | $(INSTALL) -m 644 /dev/stdin $(2)/$$(basename $$page) || exit 1; \
	done
