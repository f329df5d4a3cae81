# inside.mk: the code that the recorder copies into programs (inside/), linked to its address, and made
# a part of the tool.
#
# General registers only, since those of vectors are the program's.

INSIDE_FLAGS = -std=c11 -D_GNU_SOURCE -I. -Isrc $(WARNINGS) -O2 -fno-tree-vectorize -ffreestanding -fno-pic -fno-pie \
	-mgeneral-regs-only -mfsgsbase -mno-red-zone -fno-stack-protector -fcf-protection=none \
	-fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables
INSIDE_OBJECTS = $B/obj/inside/entry.o $B/obj/inside/inside.o $B/obj/inside/wait.o
INSIDE_ADDRESS = 0x70000000 # QUIPU_INSIDE of src/format/inside.h

$B/obj/inside/%.o: inside/%.c
	@mkdir -p $(@D)
	$(RUNTIME_CC) $(INSIDE_FLAGS) -MMD -MP -c -o $@ $<
$B/obj/inside/%.o: inside/%.S
	@mkdir -p $(@D)
	$(RUNTIME_CC) -I. -Isrc -MMD -MP -c -o $@ $<

$B/obj/inside/inside.elf: $(INSIDE_OBJECTS)
	$(LD) -static -z noseparate-code --build-id=none -Ttext=$(INSIDE_ADDRESS) -e $(INSIDE_ADDRESS) -o $@ $^
$B/obj/inside/inside.bin: $B/obj/inside/inside.elf
	$(OBJCOPY) -O binary -j .text -j .rodata $< $@
# Beside the objects that use it, so whatever links those finds it.
$B/obj/src/replay/inside_image.o: inside/image.S $B/obj/inside/inside.bin
	@mkdir -p $(@D)
	$(RUNTIME_CC) -I$B/obj/inside -c -o $@ $<
