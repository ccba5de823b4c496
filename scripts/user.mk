# SPDX-License-Identifier: MIT
#
# Variables that all makefiles of installed user-space parts share.

VERSION   := 0.1.0
SOVERSION := 0
PREFIX    ?= /usr/local
DESTDIR   ?=
CC        ?= cc
CFLAGS    ?= -O2 -g
WARN      := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wmissing-prototypes
INSTALL   ?= install
PKG_CONFIG ?= pkg-config
