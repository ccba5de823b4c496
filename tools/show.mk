# SPDX-License-Identifier: MIT
#
# What `kunwind show` is made of, for tools/Makefile to include.

SHOW_PACKAGES := babeltrace2 libdw libelf
SHOW_SRCS := show.c show_field.c show_maps.c show_stack.c show_trace.c \
	symbolize.c symbolize_file.c
SHOW_CFLAGS := -D_GNU_SOURCE $(shell pkg-config --cflags $(SHOW_PACKAGES))
SHOW_LIBS := $(shell pkg-config --libs $(SHOW_PACKAGES)) -ldl
