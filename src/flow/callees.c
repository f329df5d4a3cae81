/* callees.c: functions of the C library that always return.
 *
 * A call may never return. So it has an edge to the outside, which costs a counter behind the call.
 * The functions in this list always return: they call nothing back, are no cancellation points,
 * throw nothing and jump nowhere. A process can still end in one of them, or a signal handler can
 * leave one by longjmp. That is the same as at any other instruction of the block.
 *
 * A program may have a function of its own with such a name in another file, which may not return.
 * So names are left out that a program is likely to use (log, round), and allocators, which a
 * program replaces by ones that exit.
 *
 * Sources: ISO C11 section 7, POSIX.1-2017 section 2.9.5 (cancellation points), glibc's manual. */
#include "flow/graph.h"

#include <stdlib.h>
#include <string.h>

/* Sorted, for bsearch. */
static const char *const returning[] = {
    "__ctype_b_loc",
    "__ctype_get_mb_cur_max",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__isoc23_sscanf",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "__isoc99_sscanf",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "__snprintf_chk",
    "__sprintf_chk",
    "__strcat_chk",
    "__strcpy_chk",
    "__strncpy_chk",
    "__tls_get_addr",
    "__vsnprintf_chk",
    "acos",
    "asin",
    "atan",
    "atan2",
    "atof",
    "atoi",
    "atol",
    "cos",
    "cosf",
    "cosh",
    "difftime",
    "expf",
    "fabs",
    "floorf",
    "fmod",
    "frexp",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isspace",
    "isupper",
    "ldexp",
    "localeconv",
    "memchr",
    "memcmp",
    "memcpy",
    "memmem",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "modf",
    "powf",
    "rawmemchr",
    "sin",
    "sincos",
    "sinf",
    "sinh",
    "snprintf",
    "sprintf",
    "sqrt",
    "sqrtf",
    "stpcpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strchrnul",
    "strcmp",
    "strcoll",
    "strcpy",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "strtod",
    "strtof",
    "strtok",
    "strtol",
    "strtold",
    "strtoll",
    "strtoul",
    "strtoull",
    "tan",
    "tanh",
    "tolower",
    "toupper",
    "vsnprintf",
};

static int compare_names(const void *key, const void *entry) {
    return strcmp(key, *(const char *const *)entry);
}

bool call_returns(const struct graph *graph, const struct graph_instruction *call) {
    const struct unit *unit = graph->unit;
    const struct statement *statement = &unit->statements.data[call->statement];
    if (call->decoded->class != CLASS_CALL || statement->symbol == NONE || statement->inline_asm ||
        !graph->function->compiled)
        return false;
    const struct symbol *symbol = &unit->symbols.data[statement->symbol];
    char name[32];
    if (symbol->statement != NONE || symbol->length >= sizeof name)
        return false; /* a function of the unit with this name may do anything */
    memcpy(name, symbol->name, symbol->length);
    name[symbol->length] = '\0';
    return bsearch(name, returning, sizeof returning / sizeof *returning, sizeof *returning,
                   compare_names) != NULL;
}

/* Whether the text of STATEMENT contains one of the COUNT names. */
static bool has_name(const struct unit *unit, uint32_t statement, const char *const *names,
                     size_t count) {
    const struct statement *s = &unit->statements.data[statement];
    for (size_t i = 0; i < count; i++)
        if (memmem(unit->text + s->start, s->end - s->start, names[i], strlen(names[i])))
            return true;
    return false;
}

bool calls_hook(const struct unit *unit, uint32_t statement) {
    static const char *const hooks[] = {"mcount", "__fentry__", "__morestack"};
    return has_name(unit, statement, hooks, sizeof hooks / sizeof *hooks);
}

bool is_tls_call(const struct unit *unit, uint32_t statement) {
    static const char *const operands[] = {"tlscall", "TLSCALL"};
    return has_name(unit, statement, operands, sizeof operands / sizeof *operands);
}

bool has_own_convention(const struct unit *unit, uint32_t statement) {
    static const char *const helpers[] = {"__x86_", "__llvm_", "__asan_check_"};
    return calls_hook(unit, statement) || is_tls_call(unit, statement) ||
           has_name(unit, statement, helpers, sizeof helpers / sizeof *helpers);
}
