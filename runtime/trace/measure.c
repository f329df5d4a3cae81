/* measure.c: what a call of a known function will access, as its memory tells: the lengths of
 * strings, the strings that a format prints, arrays of buffers (format/trace_measures.h).
 *
 * It reads what the function is about to read, and no more. Where the kernel would read it, and
 * refuse a bad address, the kernel is asked before. It is compiled without %rbp, which is the frame
 * of quipu_trace_measure here.
 *
 * Not perfect: another thread may change the memory between this look and the function's. A format
 * with numbers of arguments ("%1$s"), wide strings, and conversions that the program has registered
 * end the look at the arguments. */
#include "runtime/trace/measure.h"

#include "format/data_file.h"
#include "format/trace.h"
#include "format/trace_measures.h"
#include "runtime/trace/trace.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <sys/uio.h>

_Static_assert(QUIPU_TRACE_TICKETS == 8 && QUIPU_TRACE_FULL == 1 << 18 &&
                   QUIPU_TRACE_MEASURED == 0xf2 && QUIPU_TRACE_MEASURED_SIZE == 22 &&
                   RANGES_AT_ONCE == 12 && sizeof(struct range) == 24,
               "measure_site.S");

#define MEASURES(name, a, b, c) {a, b, c},

static const uint32_t rows[][QUIPU_MEASURES_MOST] = {QUIPU_MEASURED_CALLEES(MEASURES)};

enum {
    ROW_COUNT = sizeof rows / sizeof *rows
};

void quipu_trace_add_range(struct finder *finder, struct range range) {
    if (finder->count == RANGES_AT_ONCE)
        return;
    if (finder->skipped) {
        finder->skipped--;
        return;
    }
    finder->ranges[finder->count++] = range;
}

static void add(struct finder *finder, uint32_t flags, uint64_t address, uint64_t size) {
    if (address && size)
        quipu_trace_add_range(finder, (struct range){flags, address, size});
}

/* Returns how much is accessed at most, by the argument with that number, if there is one. */
static uint64_t limit(const struct finder *finder, uint32_t number) {
    return number == QUIPU_MEASURE_NONE ? UINT64_MAX : argument(finder, number);
}

/* ---- strings ---- */

bool quipu_trace_may_read(uint64_t address) {
    return address >= 8 && quipu_trace_is_readable(address & ~7ull);
}

/* Returns the bytes that are read of the string at ADDRESS, with its NUL, if at most MOST are. Asks
 * at each page whether it is readable, if it ASKS; where it is not, the string ends. */
static uint64_t string_size(uint64_t address, uint64_t most, bool asks) {
    const char *text = (const char *)address;
    uint64_t size = 0;
    if (!address)
        return 0;
    while (size < most) {
        if (asks && (size == 0 || (address + size) % QUIPU_PAGE == 0) &&
            !quipu_trace_may_read(address + size))
            return size;
        if (!text[size++])
            break;
    }
    return size;
}

static unsigned char folded(unsigned char c, bool folds) {
    return folds && c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

static void compare(struct finder *finder, uint32_t measure, uint64_t p, uint64_t q,
                    uint64_t most) {
    const unsigned char *left = (const unsigned char *)p, *right = (const unsigned char *)q;
    bool folds = measure & QUIPU_MEASURE_FOLDS;
    uint64_t size = 0;
    if (!p || !q)
        return;
    while (size < most) {
        unsigned char c = left[size], d = right[size];
        size++;
        if (!c || folded(c, folds) != folded(d, folds))
            break;
    }
    add(finder, 0, p, size);
    add(finder, 0, q, size);
}

static bool has_character(const char *set, char c) {
    while (*set && *set != c)
        set++;
    return *set;
}

/* Returns the bytes of the string TEXT up to a character whose being in SET is STOPS, or its NUL.
 */
static uint64_t size_of_span(const char *text, const char *set, bool stops) {
    uint64_t size = 0;
    while (text[size] && has_character(set, text[size]) != stops)
        size++;
    return size + 1;
}

static uint64_t size_to_character(const char *text, char c) {
    uint64_t size = 0;
    while (text[size] && text[size] != c)
        size++;
    return size + 1;
}

/* ---- formats ---- */

/* Where a format's arguments are. */
struct arguments {
    const struct finder *finder;
    uint32_t general;      /* the next one in a register, from 0 to 6 */
    uint32_t floating;     /* the same, from 0 to 8 */
    const uint64_t *words; /* on the stack */
    const uint64_t *saved; /* of a va_list: the registers; NULL: they are below the base */
};

static uint64_t next_word(struct arguments *arguments) {
    if (arguments->general >= 6)
        return *arguments->words++;
    uint32_t number = arguments->general++;
    return arguments->saved ? arguments->saved[number] : argument(arguments->finder, number);
}

static void pass_floating(struct arguments *arguments, bool is_long) {
    if (is_long) {
        arguments->words += (uint64_t)arguments->words / 8 % 2;
        arguments->words += 2;
    } else if (arguments->floating < 8) {
        arguments->floating++;
    } else {
        arguments->words++;
    }
}

/* A conversion of a format. */
struct conversion {
    int64_t precision; /* -1: none */
    bool is_long;      /* L */
    bool is_wide;      /* l */
    bool numbered;     /* it names its argument */
    char end;
};

/* Reads the conversion behind '%' at *FORMAT, with its stars' arguments, and goes behind it. */
static struct conversion read_conversion(const char **format, struct arguments *arguments) {
    struct conversion conversion = {.precision = -1};
    const char *c = *format;
    bool dot = false;
    for (; has_character("0123456789 #+-'I.*$hlLqjztZ", *c); c++) {
        conversion.numbered |= *c == '$';
        conversion.is_long |= *c == 'L' || *c == 'q';
        conversion.is_wide |= *c == 'l';
        if (*c == '.') {
            dot = true;
            conversion.precision = 0;
        } else if (*c == '*') {
            int32_t star = (int32_t)next_word(arguments);
            if (dot)
                conversion.precision = star < 0 ? -1 : star;
        } else if (dot && *c >= '0' && *c <= '9') {
            conversion.precision = conversion.precision * 10 + (*c - '0');
        }
    }
    conversion.end = *c;
    *format = c + (*c != '\0');
    return conversion;
}

static void follow_format(struct finder *finder, const char *format, struct arguments arguments) {
    if (!format)
        return;
    while (*format) {
        if (*format++ != '%')
            continue;
        struct conversion one = read_conversion(&format, &arguments);
        if (one.numbered || !has_character("diouxXcpnseEfFgGaAm%", one.end))
            return;
        if (has_character("eEfFgGaA", one.end)) {
            pass_floating(&arguments, one.is_long);
        } else if (one.end != 'm' && one.end != '%') {
            uint64_t word = next_word(&arguments);
            uint64_t most = one.precision < 0 ? UINT64_MAX : (uint64_t)one.precision;
            if (one.end == 's' && one.is_wide)
                return;
            if (one.end == 's')
                add(finder, 0, word, string_size(word, most, false));
            else if (one.end == 'n')
                add(finder, QUIPU_MEASURED_WRITES, word, one.is_wide ? 8 : 4);
        }
    }
}

/* JUMPS: the call is a jump, so a return address is below its arguments. */
static void measure_format(struct finder *finder, uint32_t measure, bool jumps) {
    const char *format = (const char *)argument(finder, quipu_measure_p(measure));
    struct arguments arguments = {
        .finder = finder, .general = quipu_measure_q(measure), .words = finder->base + 2 + jumps};
    follow_format(finder, format, arguments);
}

/* A va_list, System V ABI for x86-64, section 3.5.7. */
struct argument_list {
    uint32_t general, floating; /* offsets in `saved` of the next ones */
    const uint64_t *words, *saved;
};

static void measure_list(struct finder *finder, uint32_t measure) {
    const char *format = (const char *)argument(finder, quipu_measure_p(measure));
    const struct argument_list *list = (const void *)argument(finder, quipu_measure_q(measure));
    struct arguments arguments = {.finder = finder,
                                  .general = list->general / 8,
                                  .floating = list->floating < 48 ? 0 : (list->floating - 48) / 16,
                                  .words = list->words,
                                  .saved = list->saved};
    follow_format(finder, format, arguments);
}

/* ---- buffers ---- */

static void add_vector(struct finder *finder, uint64_t address, uint64_t count, bool writes) {
    enum {
        MOST = 1024 /* UIO_MAXIOV */
    };
    const struct iovec *parts = (const void *)address;
    uint32_t flags = QUIPU_MEASURED_SHARED | (writes ? QUIPU_MEASURED_WRITES : 0);
    if (!address || count > MOST)
        return;
    for (uint64_t i = 0; i < count; i++)
        if (!quipu_trace_may_read((uint64_t)&parts[i].iov_base) ||
            !quipu_trace_may_read((uint64_t)&parts[i].iov_len))
            return;
    add(finder, 0, address, count * sizeof *parts);
    for (uint64_t i = 0; i < count; i++)
        add(finder, flags, (uint64_t)parts[i].iov_base, parts[i].iov_len);
}

static void add_message(struct finder *finder, uint64_t address, bool writes) {
    const struct msghdr *message = (const void *)address;
    uint32_t flags = writes ? QUIPU_MEASURED_WRITES | QUIPU_MEASURED_UNSURE : 0;
    if (!quipu_trace_may_read(address) || !quipu_trace_may_read(address + sizeof *message - 1))
        return;
    add(finder, 0, address, sizeof *message);
    add_vector(finder, (uint64_t)message->msg_iov, message->msg_iovlen, writes);
    add(finder, flags, (uint64_t)message->msg_name, message->msg_namelen);
    add(finder, flags, (uint64_t)message->msg_control, message->msg_controllen);
}

static void add_words(struct finder *finder, uint64_t address) {
    const uint64_t *words = (const void *)address;
    uint64_t count = 0;
    while (address && quipu_trace_may_read(address + 8 * count) && words[count])
        count++;
    add(finder, 0, address, 8 * (count + 1));
    for (uint64_t i = 0; i < count; i++)
        add(finder, 0, words[i], string_size(words[i], UINT64_MAX, true));
}

/* ---- a call ---- */

static void add_string(struct finder *finder, uint32_t measure, uint64_t p, uint64_t n) {
    bool asks = measure & QUIPU_MEASURE_KERNEL;
    uint32_t flags = measure & QUIPU_MEASURE_UNSURE ? QUIPU_MEASURED_UNSURE : 0;
    add(finder, flags, p, string_size(p, n, asks));
}

/* What is written to P by functions that copy the string Q, of N characters at most. */
static void add_copy(struct finder *finder, uint32_t measure, uint64_t p, uint64_t q, uint64_t n) {
    bool doubles = quipu_measure_kind(measure) == QUIPU_MEASURE_DOUBLE; /* the string P */
    uint64_t from = doubles ? p : q, size = string_size(from, n, false);
    uint32_t flags = QUIPU_MEASURED_WRITES;
    if (!from)
        return;
    if (size == n && (!n || ((const char *)from)[size - 1]))
        size++; /* the NUL is written, and not read */
    if (quipu_measure_kind(measure) == QUIPU_MEASURE_APPEND)
        p += string_size(p, UINT64_MAX, false) - 1;
    add(finder, doubles ? flags | QUIPU_MEASURED_MOVED : flags, p, size);
}

void quipu_trace_measure_one(struct finder *finder, uint32_t measure, bool jumps) {
    uint64_t p = argument(finder, quipu_measure_p(measure));
    uint64_t q = argument(finder, quipu_measure_q(measure));
    uint64_t n = limit(finder, quipu_measure_n(measure));
    const char *text = (const char *)p, *set = (const char *)q;
    bool writes = measure & QUIPU_MEASURE_WRITES;
    uint32_t unsure = measure & QUIPU_MEASURE_UNSURE ? QUIPU_MEASURED_UNSURE : 0;
    if (!p)
        return;
    switch (quipu_measure_kind(measure)) {
    case QUIPU_MEASURE_STRING:
        add_string(finder, measure, p, n);
        return;
    case QUIPU_MEASURE_COMPARE:
        compare(finder, measure, p, q, n);
        return;
    case QUIPU_MEASURE_FIND:
        add(finder, unsure, p, size_to_character(text, (char)q));
        return;
    case QUIPU_MEASURE_SPAN:
    case QUIPU_MEASURE_BREAK:
        if (set)
            add(finder, 0, p,
                size_of_span(text, set, quipu_measure_kind(measure) == QUIPU_MEASURE_BREAK));
        return;
    case QUIPU_MEASURE_FORMAT:
        measure_format(finder, measure, jumps);
        return;
    case QUIPU_MEASURE_LIST:
        measure_list(finder, measure);
        return;
    case QUIPU_MEASURE_VECTOR:
        add_vector(finder, p, n, writes);
        return;
    case QUIPU_MEASURE_MESSAGE:
        add_message(finder, p, writes);
        return;
    case QUIPU_MEASURE_PRINTED:
        add(finder, QUIPU_MEASURED_WRITES | QUIPU_MEASURED_PRINTED, p, n);
        return;
    case QUIPU_MEASURE_WORDS:
        add_words(finder, p);
        return;
    default:
        add_copy(finder, measure, p, q, n);
    }
}

uint32_t quipu_trace_find_ranges(const uint64_t *base, uint32_t first, struct range *ranges) {
    static const int8_t words[] = {-6, -5, -4, -3, -7, -8}; /* %rdi, ... below the base */
    struct finder finder = {.base = base, .words = words, .skipped = first, .ranges = ranges};
    uint32_t word = *(const uint32_t *)(base[1] + QUIPU_TRACE_ROW);
    uint32_t row = word & ~(uint32_t)QUIPU_TRACE_JUMPS;
    bool jumps = word & QUIPU_TRACE_JUMPS;
    for (uint32_t i = 0; row < ROW_COUNT && i < QUIPU_MEASURES_MOST && rows[row][i]; i++)
        quipu_trace_measure_one(&finder, rows[row][i], jumps);
    if (row >= ROW_COUNT)
        quipu_trace_measure_system_call(&finder, row, jumps);
    return finder.count;
}

uint64_t quipu_trace_measured_site(uint64_t base, uint64_t stack) {
    enum {
        FRAME_MOST = 4096, /* bytes of the frames of this file and measure_site.S */
        MARK_WORD = -12    /* -96(%rbp) */
    };
    static const uint64_t mark = 0x7175697075207472;
    const uint64_t *words = (const void *)base;
    if (base % 8 || base - stack - 96 >= FRAME_MOST - 96 || words[MARK_WORD] != mark)
        return 0;
    return words[1];
}
