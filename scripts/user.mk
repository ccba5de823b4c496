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
# empty for an installation: another compiler may have other warnings
WERROR    ?= -Werror
WARN      := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -Wmissing-prototypes
INSTALL   ?= install
PKG_CONFIG ?= pkg-config

# "rm -r" would get two names.
ifneq ($(words x$(PREFIX) x$(DESTDIR) x$(LIBDIR)),3)
$(error PREFIX, LIBDIR and DESTDIR must not contain blanks)
endif

ifneq ($(filter-out /%,$(PREFIX)),)
$(error PREFIX must be an absolute path, not $(PREFIX))
endif

# Of the libraries, their .pc files, and babeltrace2's plug-in. In /usr, Debian has a directory for
# each architecture.
ifeq ($(origin LIBDIR),undefined)
ifeq ($(patsubst %/,%,$(PREFIX)),/usr)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
endif
LIBDIR := $(patsubst %/,%,$(PREFIX))/lib$(MULTIARCH:%=/%)
endif
ifneq ($(filter-out $(patsubst %/,%,$(PREFIX))/%,$(LIBDIR)),)
$(error LIBDIR must be a directory below PREFIX, not $(LIBDIR))
endif

# Empty if PREFIX is a directory of the user's own. udev and ldconfig read only
# the system's prefixes, and no other prefix gets files outside of it.
SYSTEM := $(filter /usr /usr/local,$(patsubst %/,%,$(PREFIX)))

# $(call install_pages,PAGES,DIRECTORY): a page that is a link to another page in
# its directory is installed as a link, so packages may compress both
install_pages = for page in $(1); do \
		to=$(2)/$$(basename $$page); $(RM) $$to; \
		if [ -L $$page ]; then cp -P $$page $$to; \
		else sed 's|@VERSION@|$(VERSION)|' $$page | $(INSTALL) -m 644 /dev/stdin $$to; fi || exit 1; \
	done

# puts the places of this installation into a file
fill_in = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|'

# $(call remove_own,DIRECTORIES): removes kunwind's own directories if they are empty
remove_own = for dir in $(1); do rmdir "$$dir" 2>/dev/null || :; done

# Shell: false for the system's own directories in /usr/local, and for directories of
# packages in /usr.
base_shared := /usr/local/bin | /usr/local/include | /usr/local/lib | /usr/local/share | /usr/local/share/man
not_shared/usr/local = case "$${dir\#$(DESTDIR)}" in ($(base_shared)) false ;; esac
not_shared/usr = ! dpkg-query -S "$${dir\#$(DESTDIR)}" >/dev/null 2>&1
not_shared = :

# $(call remove_shared,DIRECTORIES): removes empty directories that other programs
# use, too, and those above them up to PREFIX, except the system's own
remove_shared = for dir in $(1); do \
		while [ "$$dir" != "$(DESTDIR)$(PREFIX)" ] && { $(not_shared$(SYSTEM)); } && rmdir "$$dir" 2>/dev/null; do \
			dir=$${dir%/*}; done; \
	done

# Of a library. Its makefile sets NAME, SHARED, SONAME, HEADERS (paths below include/, and below
# INCDIR), and BUILT: the directory of what was built.
LIBTO  = $(DESTDIR)$(LIBDIR)
INCDIR = $(DESTDIR)$(PREFIX)/include
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man3

# A library file that is in use is replaced, never rewritten.
define install_library
	$(INSTALL) -d $(LIBTO)/pkgconfig $(sort $(dir $(HEADERS:%=$(INCDIR)/%))) $(MANDIR)
	$(INSTALL) -m 644 $(BUILT)/$(SHARED) $(BUILT)/$(NAME).a $(LIBTO)
	ln -sf $(SHARED) $(LIBTO)/$(SONAME)
	ln -sf $(SONAME) $(LIBTO)/$(NAME).so
	$(fill_in) $(NAME).pc.in >$(LIBTO)/pkgconfig/$(NAME).pc
	for header in $(HEADERS); do $(INSTALL) -m 644 include/$$header $(INCDIR)/$$header || exit 1; done
	$(call install_pages,man/*.3,$(MANDIR))
endef

define uninstall_library
	$(RM) $(LIBTO)/$(SHARED) $(LIBTO)/$(SONAME) $(LIBTO)/$(NAME).so $(LIBTO)/$(NAME).a
	$(RM) $(LIBTO)/pkgconfig/$(NAME).pc $(HEADERS:%=$(INCDIR)/%)
	$(RM) $(addprefix $(MANDIR)/,$(notdir $(wildcard man/*.3)))
	@$(call remove_own,$(INCDIR)/kunwind)
	@$(call remove_shared,$(LIBTO)/pkgconfig $(INCDIR) $(MANDIR))
endef
