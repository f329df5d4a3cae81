/* locate.c: the location of a variable; see locate.h.
 *
 * A local has one position in the frame if its location is this position, or if each entry of its
 * location list is. Between the entries it has no value. A local of an inlined instance is taken as
 * one of the function around it: it has its position for all of that function's call.
 *
 * The address of a local or thread-local variable is artificial. It contains the variable's number
 * in `all`, and its offset plus a bias. The offset is that from its function's CFA, or from the
 * first thread-local byte of its module.
 *
 * Not perfect: a variable in pieces or at a computed location is not supported. Neither is one with
 * an offset from the stack pointer in a function that makes its frame on some paths only. */
#include "symbols/locate.h"

#include "format/watch.h"
#include "symbols/line_table.h"
#include "symbols/sites.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    OFFSET_BITS = 36, /* of a local's address, for the offset */
    ROWS_MOST = 8,  /* rows read of a function's unwinding table, up to the one that uses the frame
                       pointer */
    DEPTH_MAX = 16, /* of nested types */
    NO_FRAME = 8,   /* bytes from the stack pointer to the CFA, if there is only a return address */
    RBP = 6,        /* DWARF's numbers */
    RSP = 7,
};

#define LOCAL_ADDRESS ((uint64_t)1 << 62)
#define OFFSET_BIAS   ((uint64_t)1 << (OFFSET_BITS - 1))

/* Reads the address that is the only operand of OPERATION, or that is in a table. Returns false for
 * any other operation. */
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

/* Sets ENTRY to the begin of FUNCTION. A function in several parts has no single address; calls
 * enter its first part. Returns false for a function without code. */
static bool find_entry(Dwarf_Die *function, Dwarf_Addr *entry) {
    Dwarf_Addr base, end;
    return dwarf_entrypc(function, entry) == 0 || dwarf_ranges(function, 0, &base, entry, &end) > 0;
}

/* The row of the unwinding table for an address of code. */
struct frame_row {
    bool is_told, is_counted; /* there is a row; its CFA is an offset from the requested register */
    int64_t offset;           /* that offset, if is_counted */
    Dwarf_Addr end;           /* end of the code with the same row */
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

/* Finds the range of FUNCTION that contains ENTRY, and sets END. Returns false if there is none. */
static bool find_range(Dwarf_Die *function, Dwarf_Addr entry, Dwarf_Addr *end) {
    Dwarf_Addr base, begin;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &begin, end)) > 0;)
        if (begin <= entry && entry < *end)
            return true;
    return false;
}

/* Sets BODY to the end of the prologue of the function at ENTRY, from the line table. Returns false
 * if that is unknown. */
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

/* Returns the address between BEGIN and END at which a function's own instructions end and those of
 * its checks begin. Returns END if it has no checks. */
static Dwarf_Addr end_of_own(const struct binary *binary, Dwarf_Addr begin, Dwarf_Addr end) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        bool is_code = site.size != QUIPU_SITE_TRACE_LOOP && site.size != QUIPU_SITE_TRACE_COPY;
        if (is_code && begin <= site.place && site.place < site.code && site.code < end)
            end = site.code;
    }
    return end;
}

/* Whether the CFA is WANTED bytes above the stack pointer, from AT to the end of FUNCTION's own
 * instructions. WANTED 0: it may be any number of bytes above it. */
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

/* Sets OFFSET to the distance from REG up to the CFA in FUNCTION while its frame is complete. For
 * the stack pointer, this is after the prologue in the line table. For the frame pointer, it is
 * from the first row of the unwinding table that uses it. Returns NULL, or the cause why it is
 * unknown. */
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
        return late_frame; /* every other frame is complete: it is made at once */
    return NULL;
}

/* Adds to SUM what COUNT operations add to the value on the stack: a constant or nothing. clang 19
 * and later adds to the CFA like this in functions that push arguments. Returns false for other
 * operations. */
static bool read_sum(const Dwarf_Op *operations, size_t count, int64_t *sum) {
    bool adds =
        count == 2 && operations[0].atom == DW_OP_consts && operations[1].atom == DW_OP_plus;
    if (adds)
        *sum += (int64_t)operations[0].number;
    return adds || !count;
}

/* Sets OFFSET to the distance from the CFA of FUNCTION to the address from which DW_OP_fbreg
 * counts. Returns NULL, or the cause why it is unknown. */
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

/* The location of a local, from all entries together. */
struct frame_place {
    bool in_frame, in_register, in_pieces, is_led_to;
    bool moves;            /* it has several positions in the frame */
    const char *elsewhere; /* cause why an entry has no position in the frame; NULL: each has one */
    int64_t offset;        /* in the frame, from the CFA */
};

/* Sets OFFSET to the position in the frame that OPERATION describes. Returns NULL, or the cause why
 * it is unknown. */
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

/* Whether OPERATION describes memory to which a register points. */
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

/* Whether DIE, or the elements of the array DIE, are declared volatile. */
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

/* FACT, with a remedy. A volatile variable gets no advice to declare it volatile: gcc describes a
 * volatile parameter as a value in a register, even if it is in memory. */
#define WITH_CURE(fact)                                                                            \
    (is_volatile(die) ? fact "; build it with -O0"                                                 \
                      : fact "; build it with -O0, or declare it volatile")

/* Returns the cause why DIE has no location in memory that can be watched; NULL if it has one. */
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

/* Sets the address of VARIABLE, a local or a parameter of FUNCTION, or the cause why it has none.
 */
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

/* Whether the operations describe a location that is the same in all calls, or for all of a thread.
 */
static bool is_static(const Dwarf_Op *operations, size_t count) {
    unsigned first = operations[0].atom, last = operations[count - 1].atom;
    return first == DW_OP_addr || first == DW_OP_addrx || first == DW_OP_GNU_addr_index ||
           last == DW_OP_GNU_push_tls_address || last == DW_OP_form_tls_address;
}

/* Sets the offset of a thread-local variable in its module. OPERATION is the first of two. */
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
