/* locate.c: where a variable is; see locate.h.
 *
 * A local has one place in the frame where its debug information tells that alone, or in a list
 * that tells of nothing else: in between it has no value.  A local of a function that is inlined is
 * one of the function around, for all of whose call it is taken to be there.
 *
 * The address of a local, and of a thread-local variable, has its number in `all`, and above a bias
 * its offset: from its function's CFA, or from the first thread-local byte of its module.
 *
 * Not perfect: what lies in pieces, or where something computes, is not understood; nor is what is
 * counted from the stack pointer in a function that makes its frame on some of its ways only. */
#include "symbols/locate.h"

#include "symbols/line_table.h"
#include "symbols/sites.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    OFFSET_BITS = 36, /* of a local's address */
    ROWS_MOST = 8,    /* of a function's unwinding table, up to its frame pointer */
    DEPTH_MAX = 16,   /* of what a type is made of */
    NO_FRAME = 8, /* bytes from the stack pointer to the CFA where there is but a return address */
    RBP = 6,      /* DWARF's numbers */
    RSP = 7,
};

#define LOCAL_ADDRESS ((uint64_t)1 << 62)
#define OFFSET_BIAS   ((uint64_t)1 << (OFFSET_BITS - 1))

/* Reads the address that OPERATION alone tells, or that it finds in a table. */
static bool read_address(Dwarf_Attribute *attribute, const Dwarf_Op *operation, uint64_t *address) {
    Dwarf_Attribute entry;
    Dwarf_Addr value = operation->number;
    if (operation->atom == DW_OP_addrx || operation->atom == DW_OP_GNU_addr_index) {
        if (dwarf_getlocation_attr(attribute, operation, &entry) != 0 ||
            dwarf_formaddr(&entry, &value) != 0)
            return false;
    } else if (operation->atom != DW_OP_addr) {
        return false;
    }
    *address = value;
    return true;
}

/* ---- locals ---- */

/* Where FUNCTION begins.  One that is in several parts has no address of its own; the first that is
 * told is the one that is called.  Returns false for a function that has no code. */
static bool find_entry(Dwarf_Die *function, Dwarf_Addr *entry) {
    Dwarf_Addr base, end;
    return dwarf_entrypc(function, entry) == 0 || dwarf_ranges(function, 0, &base, entry, &end) > 0;
}

/* What the unwinding table tells of one place in code. */
struct frame_row {
    bool is_told, is_counted; /* at all; by the register that was asked for */
    int64_t offset;           /* then: of the CFA from it */
    Dwarf_Addr end;           /* of the places of which the same is told */
};

static struct frame_row read_row(Dwarf_CFI *frames, Dwarf_Addr address, unsigned reg) {
    struct frame_row row = {0};
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *operations;
    Dwarf_Addr begin;
    size_t count = 0;
    if (!frames || dwarf_cfi_addrframe(frames, address, &frame) != 0)
        return row;
    row.is_told = true;
    dwarf_frame_info(frame, &begin, &row.end, NULL);
    if (dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1) {
        bool named = operations->atom == DW_OP_bregx;
        row.is_counted = named ? operations->number == reg : operations->atom == DW_OP_breg0 + reg;
        row.offset = (int64_t)(named ? operations->number2 : operations->number);
    }
    free(frame);
    return row;
}

/* The range of FUNCTION that ENTRY is in. */
static bool find_range(Dwarf_Die *function, Dwarf_Addr entry, Dwarf_Addr *end) {
    Dwarf_Addr base, begin;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &begin, end)) > 0;)
        if (begin <= entry && entry < *end)
            return true;
    return false;
}

/* Sets where the line table says that the first instructions of the function at ENTRY, which make
 * its frame, have ended. */
static bool find_body(const struct binary *binary, Dwarf_Die *function, Dwarf_Addr entry,
                      Dwarf_Addr *body) {
    const struct line_table *table = binary_lines(binary);
    const struct line_row *row = line_table_find(table, entry);
    const struct line_row *behind = table->rows.data + table->rows.count;
    Dwarf_Addr end;
    if (!row || !find_range(function, entry, &end))
        return false;
    while (row > table->rows.data && row[-1].address == entry)
        row--;
    while (row < behind && row->address < end && !row->ends_prologue)
        row++;
    if (row == behind || row->address >= end)
        return false;
    *body = row->address < entry ? entry : row->address;
    return true;
}

/* Where the function's own instructions from BEGIN to END go over to those of its checks. */
static Dwarf_Addr end_of_own(const struct binary *binary, Dwarf_Addr begin, Dwarf_Addr end) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (begin <= site.place && site.place < site.code && site.code < end)
            end = site.code;
    }
    return end;
}

/* Whether the CFA is WANTED bytes above the stack pointer from AT up to the end of FUNCTION's own
 * instructions; WANTED 0: any number of them. */
static bool keeps_distance(const struct variables *variables, Dwarf_Die *function, Dwarf_Addr entry,
                           Dwarf_Addr at, int64_t wanted) {
    Dwarf_Addr end;
    if (!find_range(function, entry, &end))
        return false;
    end = end_of_own(variables->binary, entry, end);
    while (at < end) {
        struct frame_row row = read_row(variables->frames, at, RSP);
        if (!row.is_counted || (wanted && row.offset != wanted) || row.end <= at)
            return false;
        at = row.end;
    }
    return true;
}

static const char untold_frame[] =
    "has a place counted from a register, and no unwinding table tells where that points; build its "
    "file with -fasynchronous-unwind-tables";

static const char aligned_frame[] =
    "has no fixed distance from where its call's frame begins: its function aligns that anew in each "
    "call; declare it static";

static const char untold_body[] =
    "has a place counted from the stack pointer, and no line table tells where its function's frame "
    "is complete; build it with -O0";

static const char late_frame[] =
    "has a place in a frame that its function makes on some of its ways only, and which these are is "
    "not told; build it with -O0, or -mllvm -enable-shrink-wrap=false";

static const char computed[] =
    "has a place that its debug information computes in a way that is not understood; build it with "
    "-O0";

/* Sets how far the CFA is above REG in FUNCTION wherever it has a frame: of the stack pointer,
 * where the line table says that it is complete; of the frame pointer, where it has become one.
 * Returns NULL, or why that is not known. */
static const char *read_frame(const struct variables *variables, Dwarf_Die *function, unsigned reg,
                              int64_t *offset) {
    Dwarf_Addr entry = 0, at = 0;
    if (!find_entry(function, &entry))
        return untold_frame;
    bool has_body = find_body(variables->binary, function, entry, &at);
    struct frame_row row = read_row(variables->frames, reg == RSP && has_body ? at : entry, reg);
    if (!row.is_told)
        return untold_frame;
    if (reg == RSP && !has_body)
        return keeps_distance(variables, function, entry, entry, 0) ? untold_body : aligned_frame;
    for (unsigned i = 1; reg == RBP && i < ROWS_MOST && !row.is_counted && row.end; i++)
        row = read_row(variables->frames, row.end, reg);
    if (!row.is_counted)
        return aligned_frame;
    *offset = row.offset;
    if (reg == RSP && row.offset == NO_FRAME &&
        !keeps_distance(variables, function, entry, at, NO_FRAME))
        return late_frame; /* where there is a frame it is whole: all of one is made in one place */
    return NULL;
}

/* Adds what COUNT operations add to what is on the stack, a number that is told or nothing: clang
 * from version 19 on counts so from the CFA in functions that push arguments. */
static bool read_sum(const Dwarf_Op *operations, size_t count, int64_t *sum) {
    bool adds =
        count == 2 && operations[0].atom == DW_OP_consts && operations[1].atom == DW_OP_plus;
    if (adds)
        *sum += (int64_t)operations[0].number;
    return adds || !count;
}

/* Sets the offset from the CFA of what DW_OP_fbreg counts from in FUNCTION.  Returns NULL, or why
 * that is not known. */
static const char *read_frame_base(const struct variables *variables, Dwarf_Die *function,
                                   int64_t *offset) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count = 0;
    *offset = 0;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || !count)
        return computed;
    if (operations->atom == DW_OP_call_frame_cfa)
        return read_sum(operations + 1, count - 1, offset) ? NULL : computed;
    if (count != 1)
        return computed;
    if (operations->atom != DW_OP_reg0 + RBP && operations->atom != DW_OP_reg0 + RSP)
        return computed;
    const char *cause = read_frame(variables, function, operations->atom - DW_OP_reg0, offset);
    *offset = -*offset;
    return cause;
}

/* Where a local is, all of its entries taken together. */
struct frame_place {
    bool in_frame, in_register, in_pieces, is_led_to;
    bool moves;            /* in the frame */
    const char *elsewhere; /* why some entry tells of no place in the frame; NULL: none is so */
    int64_t offset;        /* in the frame, from the CFA */
};

/* The place in the frame that OPERATION tells.  Returns NULL, or why that is not known. */
static const char *read_slot(const struct variables *variables, Dwarf_Die *function,
                             const Dwarf_Op *operation, int64_t *offset) {
    int64_t base = 0;
    const char *cause;
    if (operation->atom == DW_OP_fbreg) {
        cause = read_frame_base(variables, function, &base);
    } else {
        cause = read_frame(variables, function, operation->atom - DW_OP_breg0, &base);
        base = -base;
    }
    *offset = (int64_t)operation->number + base;
    return cause;
}

static bool is_of_register(const Dwarf_Op *operation) {
    return (operation->atom >= DW_OP_reg0 && operation->atom <= DW_OP_reg31) ||
           operation->atom == DW_OP_regx;
}

/* Whether it tells of memory that a register points to. */
static bool is_by_register(unsigned operation) {
    return (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) || operation == DW_OP_bregx;
}

static void take_entry(const struct variables *variables, Dwarf_Die *function,
                       const Dwarf_Op *operations, size_t count, struct frame_place *place) {
    int64_t offset;
    if (!count)
        return;
    unsigned last = operations[count - 1].atom;
    if ((count == 1 && is_of_register(operations)) || last == DW_OP_stack_value ||
        last == DW_OP_implicit_value || last == DW_OP_implicit_pointer ||
        last == DW_OP_GNU_implicit_pointer) {
        place->in_register = true;
        return;
    }
    bool is_slot = operations->atom == DW_OP_fbreg || operations->atom == DW_OP_breg0 + RBP ||
                   operations->atom == DW_OP_breg0 + RSP;
    place->in_pieces |= last == DW_OP_piece || last == DW_OP_bit_piece;
    place->is_led_to |= last == DW_OP_deref || (count == 1 && !is_slot && is_by_register(last));
    const char *cause =
        count == 1 && is_slot ? read_slot(variables, function, operations, &offset) : computed;
    if (cause) {
        place->elsewhere = place->elsewhere ? place->elsewhere : cause;
        return;
    }
    place->moves |= place->in_frame && place->offset != offset;
    place->offset = offset;
    place->in_frame = true;
}

static struct frame_place read_place(const struct variables *variables, Dwarf_Attribute *attribute,
                                     Dwarf_Die *function) {
    struct frame_place place = {0};
    Dwarf_Op *operations;
    Dwarf_Addr base, begin, end;
    size_t count = 0;
    if (dwarf_getlocation(attribute, &operations, &count) == 0) {
        take_entry(variables, function, operations, count, &place);
        return place;
    }
    for (ptrdiff_t at = 0;
         (at = dwarf_getlocations(attribute, at, &base, &begin, &end, &operations, &count)) > 0;)
        take_entry(variables, function, operations, count, &place);
    return place;
}

/* Whether DIE is declared so, or its elements are. */
static bool is_volatile(Dwarf_Die *die) {
    Dwarf_Die type = *die;
    Dwarf_Attribute attribute;
    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) ||
            !dwarf_formref_die(&attribute, &type))
            return false;
        int tag = dwarf_tag(&type);
        if (tag == DW_TAG_volatile_type)
            return true;
        if (tag != DW_TAG_const_type && tag != DW_TAG_typedef && tag != DW_TAG_array_type)
            return false;
    }
    return false;
}

/* With what cures it: what is volatile already gcc tells to be in a register where it is a
 * parameter, also if it is not. */
#define WITH_CURE(fact)                                                                            \
    (is_volatile(die) ? fact "; build it with -O0"                                                 \
                      : fact "; build it with -O0, or declare it volatile")

/* Why DIE has no place in memory that could be watched; NULL: it has one. */
static const char *refuse(const struct frame_place *place, Dwarf_Die *die) {
    if (place->in_pieces)
        return WITH_CURE("has no place in memory as a whole: it is in pieces, of which some are in "
                         "registers, or removed");
    if (place->in_register && (place->in_frame || place->elsewhere))
        return WITH_CURE("has no place in memory for parts of its function: its value is in a "
                         "register");
    if (place->in_register)
        return WITH_CURE("has no place in memory: its value is in a register");
    if (place->is_led_to)
        return "has a place that only its function knows while it runs: it is an array of variable "
               "length, or was handed over by its address";
    if (place->moves)
        return WITH_CURE("has several places in its function's frame, one after the other");
    if (place->elsewhere)
        return place->elsewhere;
    if (!place->in_frame)
        return WITH_CURE("has no address: the optimizer has removed it");
    return NULL;
}

static uint64_t address_for(const struct variables *variables, int64_t offset) {
    return LOCAL_ADDRESS | (uint64_t)variables->all.count << OFFSET_BITS |
           ((uint64_t)offset + OFFSET_BIAS);
}

/* The same for a local, or a parameter, of FUNCTION. */
static void locate_local(const struct variables *variables, struct variable *variable,
                         Dwarf_Die *die, Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Addr entry;
    variable->is_local = true;
    if (!find_entry(function, &entry)) {
        variable->is_abstract = true;
        variable->cause = "is local to a function that is inlined wherever it is called; build it "
                          "with -fno-inline or -O0";
        return;
    }
    struct frame_place place = {0};
    if (dwarf_attr_integrate(die, DW_AT_location, &attribute))
        place = read_place(variables, &attribute, function);
    variable->cause = refuse(&place, die);
    if (variable->cause)
        return;
    variable->entry = entry;
    variable->function = *function;
    variable->base = place.offset;
    variable->address = address_for(variables, place.offset);
}

const struct variable *find_local(const struct variables *variables, uint64_t address,
                                  int64_t *offset) {
    if (!(address & LOCAL_ADDRESS))
        return NULL;
    uint64_t number = (address & ~LOCAL_ADDRESS) >> OFFSET_BITS;
    *offset = (int64_t)((address & (((uint64_t)1 << OFFSET_BITS) - 1)) - OFFSET_BIAS);
    return number < variables->all.count ? &variables->all.data[number] : NULL;
}

/* Whether the operations tell of a place that is the same in all calls, or in all of a thread. */
static bool is_static(const Dwarf_Op *operations, size_t count) {
    unsigned first = operations[0].atom, last = operations[count - 1].atom;
    return first == DW_OP_addr || first == DW_OP_addrx || first == DW_OP_GNU_addr_index ||
           last == DW_OP_GNU_push_tls_address || last == DW_OP_form_tls_address;
}

/* Sets where in its module's a thread-local variable is.  OPERATION is the first of two. */
static void locate_in_thread(const struct variables *variables, struct variable *variable,
                             Dwarf_Attribute *attribute, const Dwarf_Op *operation) {
    Dwarf_Attribute entry;
    Dwarf_Word offset = operation->number;
    if (operation->atom == DW_OP_constx || operation->atom == DW_OP_GNU_const_index) {
        variable->cause = "has no address of its own: it is thread-local, and its place is told in "
                          "a way that is not understood";
        if (dwarf_getlocation_attr(attribute, operation, &entry) != 0 ||
            dwarf_formudata(&entry, &offset) != 0)
            return;
    }
    variable->cause = NULL;
    variable->is_thread_local = true;
    variable->base = (int64_t)offset;
    variable->address = address_for(variables, (int64_t)offset);
}

void locate_variable(const struct variables *variables, struct variable *variable, Dwarf_Die *die,
                     Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count = 0;
    variable->cause = "has no address: the optimizer has removed it";
    bool stands = dwarf_attr_integrate(die, DW_AT_location, &attribute) &&
                  dwarf_getlocation(&attribute, &operations, &count) == 0 && count > 0 &&
                  is_static(operations, count);
    if (!stands && function) {
        locate_local(variables, variable, die, function);
        return;
    }
    if (!stands)
        return;
    unsigned last = operations[count - 1].atom;
    if (count == 1 && read_address(&attribute, operations, &variable->address))
        variable->cause = NULL;
    else if (count == 2 && (last == DW_OP_GNU_push_tls_address || last == DW_OP_form_tls_address))
        locate_in_thread(variables, variable, &attribute, operations);
    else
        variable->cause = "has no fixed address: it is local to a function, or was optimized";
}
