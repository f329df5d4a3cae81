// Formats: which write to where an argument points, and how many arguments they take; strings in
// assembly text.
#include "pass/watch/formats.h"
#include "asm/literal.h"

#include <stdio.h>
#include <string.h>

static int failed;

static const struct {
    const char *format;
    int arguments; // -1: it writes
} formats[] = {
    {"", 0},
    {"text, 100", 0},
    {"%%n", 0},
    {"%%%%n%%", 0},
    {"%d%n", -1},
    {"%n", -1},
    {"%%%n", -1},
    {"%hhn", -1},
    {"%5n", -1},
    {"%1$n", -1},
    {"%-*.*ln", -1},
    {"%lc%lsn", 2},
    {"%dn", 1},
    {"%d %5s %-*.*f %m", 5},
    {"%'I+ #08.3hhx", 1},
    {"%zu%jd%td%qd%lld%Zd", 6},
    {"%p%c%C%S%b%B", 6},
    {"%Lf", FORMAT_ON_STACK + 1},
    {"%llg", FORMAT_ON_STACK + 1},
    {"%lf%hf", 2},
    {"%2$s%1$d", 2 * FORMAT_ON_STACK + 2},
    {"%", -1},
    {"%5", -1},
    {"%l%n", -1},
    {"%5%", -1},
    {"%k", -1},
    {"%w32d", -1},
    {"%v", -1},
    {"%\n", -1},
};

static void test_formats(void) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct format_use use = use_of_format(formats[i].format);
        int arguments = use.writes ? -1 : (int)use.arguments;
        if (arguments != formats[i].arguments) {
            printf("'%s': %d, expected %d\n", formats[i].format, arguments, formats[i].arguments);
            failed = 1;
        }
    }
}

static const char text[] =
    "\t.section .rodata.str1.1,\"aMS\",@progbits,1\n"
    "plain:\t.string \"plain\"\n"
    "next:\t.asciz \"\"\n"
    "escaped:\t.string \"\\b\\f\\n\\r\\t\\\"\\\\\\45n\\1012\\377#;\" # comment\n"
    "cut:\t.string \"a\\000b\"\n"
    "parts:\t.ascii \"one, \"\ninner:\t.ascii \"two\"\n\t.string \"\"\n"
    "open:\t.ascii \"open\"\n\t.byte 0\n"
    "two:\t.string \"a\", \"b\"\n"
    "hexadecimal:\t.string \"\\x25n\"\n"
    "ninth:\t.string \"\\459\\48\"\n"
    "wide:\t.string32 \"wide\"\n"
    "empty:\t.zero 1\n"
    "\t.globl shared\n"
    "shared:\t.string \"shared\"\n"
    "far:\t.ascii \"far\"\n"
    "\t.section .rodata.cst4,\"aM\",@progbits,4\n"
    "\t.string \"\"\n"
    "\t.section .rodata,\"a\"\n"
    "constant:\t.string \"constant\"\n"
    "\t.section .rodata.mine,\"aw\"\n"
    "mine:\t.string \"mine\"\n"
    "\t.data\n"
    "variable:\t.string \"variable\"\n"
    "last:\t.ascii \"last\"";

static const struct {
    const char *symbol, *string; // or NULL
} literals[] = {
    {"plain", "plain"},  {"next", ""},          {"escaped", "\b\f\n\r\t\"\\%nA2\377#;"},
    {"cut", "a"},        {"parts", "one, two"}, {"inner", "two"},
    {"open", NULL},      {"two", NULL},         {"hexadecimal", NULL},
    {"ninth", NULL},     {"wide", NULL},        {"empty", NULL},
    {"shared", NULL},    {"far", NULL},         {"constant", "constant"},
    {"mine", NULL},      {"variable", NULL},    {"last", NULL},
    {"elsewhere", NULL},
};

static void test_literals(void) {
    static struct unit unit;
    parse_unit(&unit, "formats.s", text, sizeof text - 1);
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        const char *name = literals[i].symbol, *expected = literals[i].string;
        char read[32];
        uint32_t symbol = find_symbol(&unit, name, strlen(name));
        bool found = read_literal(&unit, &unit.symbols.data[symbol], read, sizeof read);
        if (found != (expected != NULL) || (found && strcmp(read, expected) != 0)) {
            printf("%s: '%s'\n", name, found ? read : "not found");
            failed = 1;
        }
        if (found &&
            (read_literal(&unit, &unit.symbols.data[symbol], read, strlen(expected)) ||
             !read_literal(&unit, &unit.symbols.data[symbol], read, strlen(expected) + 1))) {
            printf("%s: wrong size\n", name);
            failed = 1;
        }
    }
    arena_release(&unit.arena);
}

int main(void) {
    test_formats();
    test_literals();
    return failed;
}
