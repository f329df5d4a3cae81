# Makefile: quipu.  Targets: all check check-full bench demo deps install clean.
CC = gcc
CFLAGS = -O2 -g
PREFIX = /usr/local
B = build
# One name for each object, by which the dependencies that compilers write are found.
override B := $(patsubst $(CURDIR)/%,%,$B)

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
LIBS = -liberty -lZydis -lZycore -ldw -lelf -lzstd -lz
TOOL_SOURCES := src/main.c $(sort $(wildcard src/*/*.c src/*/*/*.c))
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$B/obj/%.o)
RUNTIME_SOURCES := $(sort $(wildcard runtime/*/*.c runtime/*/*.S))
RUNTIME_PARTS := $(filter-out runtime/core/begin.%,$(RUNTIME_SOURCES))
RUNTIME_OBJECTS := $(addprefix $B/obj/,$(addsuffix .o,$(basename $(RUNTIME_PARTS))))
NAMES = quipu-cc quipu-c++ quipu-fortran quipu-gcc quipu-g++ quipu-gfortran quipu-clang quipu-clang++ quipu-ada \
	quipu-d
TOOLS = quipu-gcc-ar quipu-gcc-nm quipu-gcc-ranlib
# And quipu-gcc-14 and so on, of what this machine has when they are made.
VERSIONED = $(addprefix quipu-,$(shell scripts/compilers))

# The build tree has the layout of an installation, so the tool finds its parts the same way.
all: $B/bin/quipu $B/lib/quipu/libquipu-rt.a $B/lib/quipu/begin.o $B/include/quipu.h library \
	$B/share/quipu/build-libc $B/share/quipu/fetch-source

$B/bin/quipu: $(TOOL_OBJECTS) $B/obj/src/replay/inside_image.o
	@mkdir -p $B/bin $B/libexec/quipu
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--build-id -o $@ $^ $(LIBS)
	@for n in $(NAMES) $(TOOLS) $(VERSIONED); do ln -sf quipu $B/bin/$$n; done
	@ln -sf ../../bin/quipu $B/libexec/quipu/as

# Position-independent with hidden symbols, since libquipu-trace contains some of them.
TOOL_FLAGS = -std=c11 -D_GNU_SOURCE -Isrc $(WARNINGS) -fPIC -fvisibility=hidden
$B/obj/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$B/obj/src/report/html_page.o: $(wildcard src/report/page/*)

# General registers only: the attach path need not save vector registers.  %r11 is the inserted code's,
# and clang cannot keep it free.
RUNTIME_CC = $(if $(findstring clang,$(CC)),gcc,$(CC))
RUNTIME_FLAGS = -std=c11 -D_GNU_SOURCE -I. -Isrc $(WARNINGS) -Os -fPIC -fvisibility=hidden \
	-mgeneral-regs-only -fno-stack-protector -ffixed-r11 -fcf-protection -fno-tree-loop-distribute-patterns
# They keep %rbp, by which the frame of their caller is found.
$B/obj/runtime/trace/measure.o $B/obj/runtime/trace/measure_kernel.o: RUNTIME_FLAGS += -ffixed-rbp -fomit-frame-pointer
$B/obj/runtime/%.o: runtime/%.c
	@mkdir -p $(@D)
	$(RUNTIME_CC) $(RUNTIME_FLAGS) -MMD -MP -c -o $@ $<
$B/obj/runtime/%.o: runtime/%.S
	@mkdir -p $(@D)
	$(RUNTIME_CC) -I. -Isrc -fcf-protection -MMD -MP -c -o $@ $<
$B/lib/quipu/libquipu-rt.a: $(RUNTIME_OBJECTS)
	@mkdir -p $(@D)
	rm -f $@; $(AR) qcs $@ $^ # files of two folders may have one name
$B/lib/quipu/%.o: $B/obj/runtime/core/%.o
	@mkdir -p $(@D)
	cp $< $@

$B/include/%.h: include/%.h
	@mkdir -p $(@D)
	cp $< $@

# 'quipu libc' runs them.
$B/share/quipu/%: share/%
	@mkdir -p $(@D)
	cp $< $@
$B/share/quipu/%: scripts/%
	@mkdir -p $(@D)
	cp $< $@

clean:
	rm -rf $B

include scripts/library.mk scripts/inside.mk scripts/deps.mk scripts/install.mk scripts/demo.mk test/test.mk bench/bench.mk

-include $(shell find $B/obj -name '*.d' 2>/dev/null)
.PHONY: all library check check-full bench demo deps install clean
