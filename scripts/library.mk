# library.mk: libquipu-trace, the C interface to traces (include/quipu-trace.h).
#
# The parts of the tool that it needs are those that the linker takes from $B/obj/library/parts.a. They
# become one object, in which all symbols but the interface's are local.

OBJCOPY = objcopy
LIBRARY_SOURCES := $(sort $(wildcard library/*.c))
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$B/obj/%.o)
# Outputs of the commands; the messages, which library/guard.c has; names, which symbol_names.c has.
LIBRARY_NOT = src/trace/listing.c src/trace/export%.c src/util/diag.c src/symbols/demangle.c
LIBRARY_PARTS := $(patsubst %.c,$B/obj/%.o,$(filter-out $(LIBRARY_NOT),$(sort $(wildcard \
	src/trace/*.c src/symbols/*.c src/x86/*.c src/util/*.c))))
LIBRARY_LIBS = -lZydis -lZycore -ldw -lelf -lzstd
# Incremented where a program that was linked with the former library would not work with it.
LIBRARY_NUMBER = 0
LIBRARY_SHARED = libquipu-trace.so.$(LIBRARY_NUMBER)

library: $B/lib/libquipu-trace.a $B/lib/libquipu-trace.so $B/include/quipu-trace.h

$B/obj/library/%.o: library/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_FLAGS) -I. $(CFLAGS) -MMD -MP -c -o $@ $<

$B/obj/library/parts.a: $(LIBRARY_PARTS)
	@rm -f $@
	$(AR) qcs $@ $^

$B/obj/library/whole.o: $(LIBRARY_OBJECTS) $B/obj/library/parts.a
	$(LD) -r -o $@.all $^
	$(OBJCOPY) --localize-hidden $@.all $@
	@rm -f $@.all

$B/lib/libquipu-trace.a: $B/obj/library/whole.o
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) qcs $@ $^

$B/lib/$(LIBRARY_SHARED): $B/obj/library/whole.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-soname,$(LIBRARY_SHARED) -o $@ $^ $(LIBRARY_LIBS)

$B/lib/libquipu-trace.so: $B/lib/$(LIBRARY_SHARED)
	ln -sf $(LIBRARY_SHARED) $@
