# SPDX-License-Identifier: MIT
#
# For libraries that contain a copy of libkunwind-unwind and are also for LD_PRELOAD: NAME.so.0,
# NAME.a and NAME-preload.so. The makefile sets NAME, HEADERS, OBJECTS and PRELOADS (files of the
# library, and of the one for LD_PRELOAD, without .o), and if needed PURE and LINK (flags of the
# compiler after CFLAGS, and of the linker), LIBS, and UNWIND_CPPFLAGS for the copy. O=DIRECTORY builds
# elsewhere, with another CC (musl-gcc) for instance.

include $(dir $(lastword $(MAKEFILE_LIST)))../scripts/user.mk

SHARED  := $(NAME).so.$(VERSION)
SONAME  := $(NAME).so.$(SOVERSION)
PRELOAD := $(NAME)-preload.so
CORE    := ../../kmod/core
O       ?= build
OBJCOPY ?= objcopy

UNWIND  := $(O)/unwind/libkunwind-unwind.a
BUILT   := $(O)
OBJECTS := $(OBJECTS:%=$(O)/%.o)
PRELOADS := $(PRELOADS:%=$(O)/%.o)
vpath %.c ../dump $(CORE)

# As libkunwind-unwind: calls of libc are bound at the start, no thread-local storage.
FLAGS := -fPIC -fvisibility=hidden -fno-plt -fno-sanitize=all -Iinclude -I../unwind/include -I../include \
	-I../deps -I../dump -I$(CORE) -iquote .

.PHONY: all install uninstall clean
all: $(O)/$(SHARED) $(O)/$(NAME).a $(O)/$(PRELOAD)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(FLAGS) $(CPPFLAGS) $(CFLAGS) $(PURE) -MMD -c -o $@ $<
$(O)/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
-include $(wildcard $(O)/*.d)
# if a header was deleted, rebuild the objects that used it
%.h: ;

# another makefile knows whether it has to be built
FORCE:
$(UNWIND): FORCE
	$(MAKE) -C ../unwind O=$(abspath $(O)/unwind) CPPFLAGS="$(CPPFLAGS) $(UNWIND_CPPFLAGS)" \
		$(abspath $(UNWIND))

link = $(CC) -shared -Wl,--version-script=$(1).map -Wl,-z,defs -Wl,-z,now $(LINK) $(CFLAGS) $(LDFLAGS) -pthread

$(O)/$(SHARED): $(OBJECTS) $(UNWIND) $(NAME).map
	$(call link,$(NAME)) -Wl,-soname,$(SONAME) -o $@ $(OBJECTS) $(UNWIND) $(LIBS)
	ln -sf $(SHARED) $(O)/$(SONAME)
	ln -sf $(SONAME) $(O)/$(NAME).so

$(O)/$(PRELOAD): $(OBJECTS) $(PRELOADS) $(UNWIND) $(NAME)-preload.map
	$(call link,$(NAME)-preload) -Wl,-soname,$(PRELOAD) -o $@ $(OBJECTS) $(PRELOADS) $(UNWIND) -ldl

# One object, in which all but the public functions is local.
KEEP := $(shell sed -n 's/^\t\(kunwind_[a-z_]*\);/--keep-global-symbol=\1/p' $(NAME).map)
$(O)/$(NAME).a: $(OBJECTS) $(UNWIND) $(NAME).map
	$(LD) -r -o $(O)/all.o $(OBJECTS) --whole-archive $(UNWIND)
	$(OBJCOPY) $(KEEP) $(O)/all.o
	$(RM) $@
	$(AR) rcs $@ $(O)/all.o

install: all
	$(install_library)
	$(INSTALL) -m 644 $(O)/$(PRELOAD) $(LIBTO)

uninstall:
	$(RM) $(LIBTO)/$(PRELOAD)
	$(uninstall_library)

clean:
	$(RM) -r build
