/* debugger.c: the registers as gdb and lldb number them; see debugger.h.
 *
 * gdb's manual, "Target Descriptions" and "i386 Features": features have fixed names, registers
 * are numbered as they come. The Intel manual, volume 1, section 10.5.1: the legacy region. */
#include "x86/debugger.h"

#include <cpuid.h>
#include <string.h>

/* What a register is a part of. */
enum part {
    PART_GENERAL, /* `place`: in struct user_regs_struct */
    PART_STACK,   /* %st(n) */
    PART_CONTROL, /* of the x87; `place`: in the legacy region */
    PART_TAGS,    /* of the x87 */
    PART_VECTOR,  /* of a vector; `place`: its first byte in %zmmN */
    PART_MXCSR,
    PART_MASK
};

enum feature {
    FEATURE_CORE,
    FEATURE_SSE,
    FEATURE_LINUX,
    FEATURE_SEGMENTS,
    FEATURE_AVX,
    FEATURE_AVX512,
    FEATURES
};

enum {
    STACK_PLACE = 32, /* in the legacy region: %st(0), in 16 bytes each */
    STACK_SIZE = 16,
    STATUS_PLACE = 2,
    TAGS_PLACE = 4,
    MXCSR_PLACE = 24,
    LEGACY_SIZE = 512,
    OPCODE_MASK = 0x7ff,
    OPCODE_PLACE = 6,
    RESUME_BIT = 16, /* of the flags; no program sees it */
    TAG_EMPTY = 3,
    TAG_SPECIAL = 2,
    TAG_ZERO = 1
};

#define GENERAL(name, bits, type)                                                                  \
    { #name, 0, 1, bits, FEATURE_CORE, PART_GENERAL, offsetof(struct user_regs_struct, name), type }
#define CONTROL(name, place)                                                                       \
    { #name, 0, 1, 32, FEATURE_CORE, PART_CONTROL, place, "int\" group=\"float" }

/* COUNT registers, whose names end with a number from FIRST on where there are several. */
static const struct group {
    const char *name;
    uint8_t first, count;
    uint16_t bits;
    uint8_t feature, part;
    uint16_t place;
    const char *type;
} groups[] = {
    GENERAL(rax, 64, "int64"),
    GENERAL(rbx, 64, "int64"),
    GENERAL(rcx, 64, "int64"),
    GENERAL(rdx, 64, "int64"),
    GENERAL(rsi, 64, "int64"),
    GENERAL(rdi, 64, "int64"),
    GENERAL(rbp, 64, "data_ptr"),
    GENERAL(rsp, 64, "data_ptr"),
    GENERAL(r8, 64, "int64"),
    GENERAL(r9, 64, "int64"),
    GENERAL(r10, 64, "int64"),
    GENERAL(r11, 64, "int64"),
    GENERAL(r12, 64, "int64"),
    GENERAL(r13, 64, "int64"),
    GENERAL(r14, 64, "int64"),
    GENERAL(r15, 64, "int64"),
    GENERAL(rip, 64, "code_ptr"),
    GENERAL(eflags, 32, "i386_eflags"),
    GENERAL(cs, 32, "int32"),
    GENERAL(ss, 32, "int32"),
    GENERAL(ds, 32, "int32"),
    GENERAL(es, 32, "int32"),
    GENERAL(fs, 32, "int32"),
    GENERAL(gs, 32, "int32"),
    {"st", 0, 8, 80, FEATURE_CORE, PART_STACK, 0, "i387_ext"},
    CONTROL(fctrl, 0),
    CONTROL(fstat, STATUS_PLACE),
    {"ftag", 0, 1, 32, FEATURE_CORE, PART_TAGS, TAGS_PLACE, "int\" group=\"float"},
    CONTROL(fiseg, 12),
    CONTROL(fioff, 8),
    CONTROL(foseg, 20),
    CONTROL(fooff, 16),
    CONTROL(fop, OPCODE_PLACE),
    {"xmm", 0, 16, 128, FEATURE_SSE, PART_VECTOR, 0, "vec128"},
    {"mxcsr", 0, 1, 32, FEATURE_SSE, PART_MXCSR, MXCSR_PLACE, "i386_mxcsr\" group=\"vector"},
    {"orig_rax", 0, 1, 64, FEATURE_LINUX, PART_GENERAL, offsetof(struct user_regs_struct, orig_rax),
     "int"},
    {"fs_base", 0, 1, 64, FEATURE_SEGMENTS, PART_GENERAL,
     offsetof(struct user_regs_struct, fs_base), "int"},
    {"gs_base", 0, 1, 64, FEATURE_SEGMENTS, PART_GENERAL,
     offsetof(struct user_regs_struct, gs_base), "int"},
    {"ymm%uh", 0, 16, 128, FEATURE_AVX, PART_VECTOR, 16, "uint128"},
    {"xmm", 16, 16, 128, FEATURE_AVX512, PART_VECTOR, 0, "vec128"},
    {"ymm%uh", 16, 16, 128, FEATURE_AVX512, PART_VECTOR, 16, "uint128"},
    {"k", 0, 8, 64, FEATURE_AVX512, PART_MASK, 0, "uint64"},
    {"zmm%uh", 0, 32, 256, FEATURE_AVX512, PART_VECTOR, 32, "v2ui128"},
};

enum {
    GROUPS = sizeof groups / sizeof *groups
};

#define VECTOR_TYPES                                                                               \
    "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"                                        \
    "<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"                                        \
    "<vector id=\"v16i8\" type=\"int8\" count=\"16\"/>"                                            \
    "<vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"                                            \
    "<vector id=\"v4i32\" type=\"int32\" count=\"4\"/>"                                            \
    "<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"                                            \
    "<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/>"                                 \
    "<field name=\"v2_double\" type=\"v2d\"/><field name=\"v16_int8\" type=\"v16i8\"/>"            \
    "<field name=\"v8_int16\" type=\"v8i16\"/><field name=\"v4_int32\" type=\"v4i32\"/>"           \
    "<field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" type=\"uint128\"/></union>"

static const struct {
    const char *name, *types;
} features[FEATURES] = {
    [FEATURE_CORE] = {"org.gnu.gdb.i386.core", NULL},
    [FEATURE_SSE] = {"org.gnu.gdb.i386.sse", VECTOR_TYPES},
    [FEATURE_LINUX] = {"org.gnu.gdb.i386.linux", NULL},
    [FEATURE_SEGMENTS] = {"org.gnu.gdb.i386.segments", NULL},
    [FEATURE_AVX] = {"org.gnu.gdb.i386.avx", NULL},
    [FEATURE_AVX512] = {"org.gnu.gdb.i386.avx512",
                        VECTOR_TYPES "<vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>"},
};

/* Registers of flags, of 32 bits: the names of their bits. */
static const struct {
    const char *type, *bits[32];
    enum feature feature;
} flags[] = {
    {"i386_eflags",
     {"CF", "", "PF", [4] = "AF", [6] = "ZF", "SF", "TF", "IF", "DF",
      "OF", [14] = "NT", [16] = "RF", "VM", "AC", "VIF", "VIP", "ID"},
     FEATURE_CORE},
    {"i386_mxcsr",
     {"IE", "DE", "ZE", "OE", "UE", "PE", "DAZ", "IM", "DM", "ZM", "OM", "UM", "PM", [15] = "FZ"},
     FEATURE_SSE},
};

static bool ask_feature(unsigned feature) {
    enum {
        EXTENDED_STATE = 1 << 2, /* of XCR0, which xgetbv reads: AVX */
        UPPER_STATE = 7 << 5     /* masks, upper halves, vectors 16 to 31 */
    };
    unsigned a, b, c, d, low = 0, high;
    if (feature < FEATURE_AVX)
        return true;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    unsigned wanted = feature == FEATURE_AVX ? EXTENDED_STATE : UPPER_STATE;
    return (low & wanted) == wanted;
}

/* In a virtual machine the processor's answer is slow. */
static bool has_feature(unsigned feature) {
    static bool asked, answers[FEATURES];
    for (unsigned i = 0; i < FEATURES && !asked; i++)
        answers[i] = ask_feature(i);
    asked = true;
    return answers[feature];
}

/* ---- the description ---- */

static void describe_flags(struct buffer *xml, unsigned feature) {
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (flags[i].feature != feature)
            continue;
        buffer_print(xml, "<flags id=\"%s\" size=\"4\">", flags[i].type);
        for (int bit = 0; bit < 32; bit++)
            if (flags[i].bits[bit])
                buffer_print(xml, "<field name=\"%s\" start=\"%d\" end=\"%d\"/>",
                             flags[i].bits[bit], bit, bit);
        buffer_text(xml, "</flags>");
    }
}

static void describe_group(struct buffer *xml, const struct group *group) {
    for (unsigned i = 0; i < group->count; i++) {
        unsigned number = group->first + i;
        buffer_text(xml, "<reg name=\"");
        if (strcmp(group->name, "ymm%uh") == 0)
            buffer_print(xml, "ymm%uh", number);
        else if (strcmp(group->name, "zmm%uh") == 0)
            buffer_print(xml, "zmm%uh", number);
        else if (group->count > 1)
            buffer_print(xml, "%s%u", group->name, number);
        else
            buffer_text(xml, group->name);
        buffer_print(xml, "\" bitsize=\"%u\" type=\"%s\"/>", group->bits, group->type);
    }
}

void describe_registers(struct buffer *xml) {
    buffer_text(xml, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
                     "<target version=\"1.0\"><architecture>i386:x86-64</architecture>"
                     "<osabi>GNU/Linux</osabi>");
    for (unsigned feature = 0; feature < FEATURES; feature++) {
        if (!has_feature(feature))
            continue;
        buffer_print(xml, "<feature name=\"%s\">", features[feature].name);
        if (features[feature].types)
            buffer_text(xml, features[feature].types);
        describe_flags(xml, feature);
        for (size_t i = 0; i < GROUPS; i++)
            if (groups[i].feature == feature)
                describe_group(xml, &groups[i]);
        buffer_text(xml, "</feature>");
    }
    buffer_text(xml, "</target>");
}

/* ---- values ---- */

/* Finds the group of register NUMBER, and its INDEX there. */
static const struct group *find_group(size_t number, unsigned *index) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (!has_feature(groups[i].feature))
            continue;
        *index = (unsigned)number;
        if (number < groups[i].count)
            return &groups[i];
        number -= groups[i].count;
    }
    return NULL;
}

/* The x87's state where it is not in its initial one. */
static bool has_x87(const struct registers *registers) {
    uint64_t present = 0;
    if (registers->vector_size < LEGACY_SIZE + sizeof present)
        return registers->vector_size >= LEGACY_SIZE;
    memcpy(&present, registers->vectors + LEGACY_SIZE, sizeof present);
    return present & 1;
}

/* The region has a bit for each register in use, gdb wants two, of physical registers. */
static uint16_t full_tags(const uint8_t *legacy) {
    uint16_t tags = 0, status;
    memcpy(&status, legacy + STATUS_PLACE, sizeof status);
    unsigned top = status >> 11 & 7;
    for (unsigned physical = 0; physical < 8; physical++) {
        const uint8_t *value = legacy + STACK_PLACE + STACK_SIZE * ((physical - top) & 7);
        uint64_t fraction;
        unsigned tag = TAG_EMPTY;
        memcpy(&fraction, value, sizeof fraction);
        unsigned exponent = (unsigned)(value[8] | value[9] << 8) & 0x7fff;
        if (legacy[TAGS_PLACE] >> physical & 1) {
            bool zero = exponent == 0 && fraction == 0;
            bool valid = exponent != 0 && exponent != 0x7fff && fraction >> 63;
            tag = zero ? TAG_ZERO : valid ? 0 : TAG_SPECIAL;
        }
        tags |= (uint16_t)(tag << 2 * physical);
    }
    return tags;
}

/* Whether the register of the x87's control has 32 bits in the region. */
static bool is_offset(const struct group *group) {
    return group->place == 8 || group->place == 16;
}

/* Returns the register of the x87's control. */
static uint32_t control_register(const struct registers *registers, const struct group *group) {
    static const uint32_t initial_control = 0x37f, initial_tags = 0xffff;
    const uint8_t *legacy = registers->vectors;
    uint32_t value = 0;
    if (!has_x87(registers))
        return group->part == PART_TAGS ? initial_tags : group->place == 0 ? initial_control : 0;
    if (group->part == PART_TAGS)
        return full_tags(legacy);
    memcpy(&value, legacy + group->place, is_offset(group) ? sizeof value : sizeof(uint16_t));
    return group->place == OPCODE_PLACE ? value & OPCODE_MASK : value;
}

size_t debugger_register(const struct registers *registers, size_t number,
                         uint8_t bytes[DEBUGGER_REGISTER_MAX]) {
    uint8_t vector[VECTOR_BYTES];
    unsigned index;
    const struct group *group = find_group(number, &index);
    if (!group)
        return 0;
    size_t size = group->bits / 8;
    memset(bytes, 0, DEBUGGER_REGISTER_MAX);
    switch (group->part) {
    case PART_GENERAL:
        memcpy(bytes, (const char *)&registers->general + group->place, size);
        if (group->place == offsetof(struct user_regs_struct, eflags))
            bytes[RESUME_BIT / 8] &= (uint8_t) ~(1u << RESUME_BIT % 8);
        break;
    case PART_STACK:
        if (has_x87(registers))
            memcpy(bytes, registers->vectors + STACK_PLACE + STACK_SIZE * index, size);
        break;
    case PART_VECTOR:
        vector_register(registers, group->first + index, vector);
        memcpy(bytes, vector + group->place, size);
        break;
    case PART_MXCSR:
        if (registers->vector_size >= LEGACY_SIZE)
            memcpy(bytes, registers->vectors + MXCSR_PLACE, size);
        break;
    case PART_MASK:
        memcpy(bytes, &(uint64_t){mask_register(registers, index)}, size);
        break;
    default:
        memcpy(bytes, &(uint32_t){control_register(registers, group)}, size);
        break;
    }
    return size;
}

bool is_general_debugger_register(size_t number) {
    unsigned index;
    const struct group *group = find_group(number, &index);
    return group && group->part == PART_GENERAL;
}

void hide_way(struct user_regs_struct *general) {
    general->orig_rax = UINT64_MAX;
    general->eflags &= ~(uint64_t)TRAP_FLAG;
}

/* The region has one bit for each of the tags of two. */
static uint8_t short_tags(const uint8_t *bytes) {
    unsigned tags = (unsigned)bytes[0] | (unsigned)bytes[1] << 8, result = 0;
    for (unsigned i = 0; i < 8; i++)
        result |= (unsigned)((tags >> 2 * i & 3) != TAG_EMPTY) << i;
    return (uint8_t)result;
}

static bool set_legacy(struct registers *registers, const struct group *group, unsigned index,
                       const uint8_t *bytes, size_t size) {
    uint8_t *legacy = edit_legacy_region(registers);
    if (!legacy)
        return false;
    if (group->part == PART_TAGS)
        legacy[TAGS_PLACE] = short_tags(bytes);
    else if (group->part == PART_CONTROL)
        memcpy(legacy + group->place, bytes, is_offset(group) ? size : sizeof(uint16_t));
    else
        memcpy(legacy + STACK_PLACE + STACK_SIZE * index, bytes, size);
    return true;
}

bool set_debugger_register(struct registers *registers, size_t number, const uint8_t *bytes,
                           size_t size) {
    uint8_t present[DEBUGGER_REGISTER_MAX], vector[VECTOR_BYTES];
    uint64_t mask;
    unsigned index;
    const struct group *group = find_group(number, &index);
    if (!group || size != group->bits / 8)
        return false;
    debugger_register(registers, number, present);
    if (memcmp(present, bytes, size) == 0)
        return true;
    switch (group->part) {
    case PART_GENERAL:
        memcpy((char *)&registers->general + group->place, bytes, size);
        return true;
    case PART_VECTOR:
        vector_register(registers, group->first + index, vector);
        memcpy(vector + group->place, bytes, size);
        set_vector_register(registers, group->first + index, vector);
        return true;
    case PART_MASK:
        memcpy(&mask, bytes, sizeof mask);
        set_mask_register(registers, index, mask);
        return true;
    case PART_MXCSR:
        if (registers->vector_size < LEGACY_SIZE)
            return false;
        memcpy(registers->vectors + MXCSR_PLACE, bytes, size);
        return true;
    default:
        return set_legacy(registers, group, index, bytes, size);
    }
}
