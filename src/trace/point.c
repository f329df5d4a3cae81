/* point.c: where in a function a signal has interrupted it; see point.h.
 *
 * The address may be that of an instruction of the program, in the code of a record, in that code's
 * part out of line, or in other inserted code. */
#include "trace/point.h"

#include "format/watch.h"
#include "symbols/binary.h"
#include "symbols/sites.h"

/* Whether the instruction of a record's code moves the thread's cursor. */
static bool moves_cursor(const struct decoded *decoded) {
    bool adds = decoded->load_count == 1 && decoded->loads[0].base == decoded->store.base &&
                decoded->loads[0].displacement == 0;
    return decoded->store.kind == ACCESS_PLAIN && decoded->store.displacement == 0 &&
           decoded->store.size == 8 && decoded->store.base != NO_REGISTER &&
           decoded->store.base != STACK_POINTER && (!decoded->load_count || adds);
}

/* Whether the record's code has moved the thread's cursor in front of ADDRESS. */
static bool is_recorded(const struct traced_function *function, const struct record_note *record,
                        uint64_t address) {
    size_t left;
    uint64_t at = record->address;
    const uint8_t *code = binary_code(function->module->binary, at, &left);
    while (code && at < address) {
        struct decoded decoded;
        if (!decode_instruction(code, left, &decoded))
            return false;
        bool moves = moves_cursor(&decoded);
        at += decoded.size;
        code += decoded.size;
        left -= decoded.size;
        if (moves)
            return at <= address;
    }
    return false;
}

/* Returns the record whose code has ADDRESS in it, or NONE_OF. */
static uint32_t record_at(const struct traced_function *function, uint64_t address) {
    for (uint32_t i = 0; i < function->record_count; i++)
        if (address - function->records[i].address < function->records[i].code_size)
            return i;
    return NONE_OF;
}

/* Returns the record to whose code out of line a jump back leads to ADDRESS: to within its code, or
 * to its end, where the next record may begin. NONE_OF: there is none. */
static uint32_t record_of_jump_back(const struct traced_function *function, uint64_t address) {
    for (uint32_t i = 0; i < function->record_count; i++)
        if (address - function->records[i].address == function->records[i].code_size)
            return i;
    return record_at(function, address);
}

uint32_t record_of_stub(const struct traced_function *function, uint64_t address, bool *done) {
    enum {
        LONGEST_STUB = 64 /* instructions */
    };
    *done = true;
    for (int i = 0; i < LONGEST_STUB; i++) {
        size_t left;
        struct decoded decoded;
        const uint8_t *code = binary_code(function->module->binary, address, &left);
        if (!code || !decode_instruction(code, left, &decoded))
            return NONE_OF;
        address += decoded.size;
        if (decoded.class == CLASS_JUMP) { /* back, or to more code out of line */
            address += (uint64_t)jump_distance(code);
            uint32_t record = record_of_jump_back(function, address);
            if (record != NONE_OF)
                return record;
            continue;
        }
        if (decoded.class != CLASS_PLAIN && decoded.class != CLASS_CALL)
            return NONE_OF;
        *done &= decoded.class != CLASS_CALL && !moves_cursor(&decoded);
    }
    return NONE_OF;
}

/* Whether ADDRESS is in the code of a site that calls the runtime (x86/trace_order.c): in front of
 * the call, or behind it. Then POINT is where the site is. */
static bool find_site(const struct traced_function *function, uint64_t address,
                      struct point *point) {
    enum {
        SITE_BEGIN = 10, /* bytes of the move of the stack pointer and the call */
        SITE_REST = 8    /* of the move back */
    };
    for (uint32_t i = 0; i < function->site_count; i++) {
        const struct order_site *site = &function->sites[i];
        if (address - site->address + SITE_BEGIN > SITE_BEGIN + SITE_REST)
            continue;
        *point = (struct point){.known = true, .record = NONE_OF, .piece = site->piece};
        return true;
    }
    return false;
}

/* Whether ADDRESS is at a site of traces, or in the code there in front of its record or ticket
 * (format/watch.h). Then POINT is that record, or where the ticket is taken. */
static bool find_armed_site(const struct traced_function *function, uint64_t address,
                            struct point *point) {
    struct site_table table = find_sites(function->module->binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        bool at_place = site.size == QUIPU_SITE_TRACE && site.place == address;
        bool in_front = address - site.code < site.target - site.code;
        if (!is_trace_site(&site) || (!at_place && !in_front))
            continue;
        uint32_t record = record_at(function, site.target);
        if (record == NONE_OF)
            return find_site(function, site.target, point);
        *point = (struct point){.known = true, .record = record};
        return true;
    }
    return false;
}

/* Returns the address to which a site in front of an unrolled loop, or at its end, leads, if
 * ADDRESS is one; otherwise ADDRESS. */
static uint64_t behind_loop_site(const struct traced_function *function, uint64_t address) {
    struct site_table table = find_sites(function->module->binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (site.size == QUIPU_SITE_TRACE_LOOP && site.place == address)
            return site.code;
    }
    return address;
}

/* Inserted code on an edge ends with a jump, if it is not in front of the edge's target. Returns
 * where the jump leads that ADDRESS comes to, by less than SIZE bytes of such code; or 0. */
static uint64_t behind_edge_code(const struct traced_function *function, uint64_t address,
                                 uint64_t size) {
    uint64_t end = address + size;
    while (address < end) {
        size_t left;
        struct decoded decoded;
        const uint8_t *code = binary_code(function->module->binary, address, &left);
        if (!code || !decode_instruction(code, left, &decoded))
            return 0;
        address += decoded.size;
        if (decoded.class == CLASS_JUMP)
            return address + (uint64_t)jump_distance(code);
        if (decoded.class != CLASS_PLAIN)
            return 0;
    }
    return 0;
}

/* JUMPS: so many may be followed. */
static struct point find_point_behind(struct arena *arena, struct traced_function *function,
                                      uint64_t address, int jumps) {
    enum {
        LONGEST_CODE = 64
    }; /* in front of an instruction, that is no record's */
    struct point point = {.record = NONE_OF};
    address = behind_loop_site(function, address);
    if (find_site(function, address, &point))
        return point;
    point.record = record_at(function, address);
    if (point.record != NONE_OF)
        point.done = is_recorded(function, &function->records[point.record], address);
    point.known = point.record != NONE_OF;
    if (point.known)
        return point;
    uint64_t nearest = UINT64_MAX;
    for (uint32_t i = 0; i < function->piece_count; i++) {
        struct piece *piece = &function->pieces[i];
        decode_piece(arena, function, piece);
        for (uint32_t n = 0; n < piece->count; n++)
            if (piece->instructions[n].address - address < nearest) {
                nearest = piece->instructions[n].address - address;
                point.piece = i;
                point.index = n;
            }
    }
    if (nearest != 0 && find_armed_site(function, address, &point))
        return point;
    if (nearest != 0)
        point.record = record_of_stub(function, address, &point.done);
    uint64_t target =
        nearest && point.record == NONE_OF
            ? behind_edge_code(function, address, nearest < LONGEST_CODE ? nearest : LONGEST_CODE)
            : 0;
    if (target && jumps)
        return find_point_behind(arena, function, target, jumps - 1);
    point.known =
        point.record != NONE_OF || nearest == 0 || (nearest < LONGEST_CODE && point.index == 0);
    return point;
}

struct point find_point(struct arena *arena, struct traced_function *function, uint64_t address) {
    enum {
        JUMPS_MOST = 4
    };
    return find_point_behind(arena, function, address, JUMPS_MOST);
}

struct point find_call_point(struct arena *arena, struct traced_function *function,
                             uint64_t address) {
    for (uint32_t i = 0; i < function->piece_count; i++) {
        struct piece *piece = &function->pieces[i];
        decode_piece(arena, function, piece);
        const struct traced_instruction *last =
            piece->count ? &piece->instructions[piece->count - 1] : NULL;
        if (last && is_call_class(last->decoded.class) &&
            last->address + last->decoded.size == address)
            return (struct point){
                .known = true, .record = NONE_OF, .piece = i, .index = piece->count};
    }
    return (struct point){.record = NONE_OF};
}

bool is_in_function(struct traced_module *module, uint64_t address) {
    size_t first = 0, last = module->functions.count;
    while (first < last) { /* the last one that does not begin behind it */
        size_t middle = (first + last) / 2;
        if (module->functions.data[middle].address <= address)
            first = middle + 1;
        else
            last = middle;
    }
    if (first == 0)
        return false;
    const struct traced_function *function = &module->functions.data[first - 1];
    uint64_t end = function->address;
    for (uint32_t i = 0; i < function->piece_count; i++)
        if (!function->pieces[i].fragment &&
            function->pieces[i].address + function->pieces[i].size > end)
            end = function->pieces[i].address + function->pieces[i].size;
    return address < end;
}
