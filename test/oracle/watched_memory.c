/* watched_memory.c: see watched_memory.h. */
#include "watched_memory.h"

#include "watched_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PADDING = 16, /* functions so near to each other have nothing between them */
    BREAKPOINT = 0xcc,
};

struct region regions[REGIONS];
size_t region_count, region_bytes;

static struct span {
    uint64_t start, end; /* as linked; only functions, and what fills the room between */
    uint8_t *bytes;
} * spans;
static size_t span_count;

static void resolve(struct region *region, pid_t tid) {
    char *end;
    size_t length = strcspn(region->text, "+:");
    const char *rest = region->text + length;
    errno = EINVAL;
    region->address = *rest == '+' ? strtoull(rest + 1, &end, 0) : 0;
    rest = *rest == '+' ? end : rest;
    if (*rest != ':')
        fail("region '%s'", region->text);
    region->size = strtoull(rest + 1, &end, 0);
    if (!region->size || *end || region->size > BYTES)
        fail("region '%s'", region->text);
    if (strncmp(region->text, "0x", 2) == 0) {
        region->address += strtoull(region->text, NULL, 16);
        return;
    }
    const Elf64_Sym *symbol = find_symbol(region->text, length);
    if (!symbol)
        fail("region '%s': no such symbol", region->text);
    bool local = ELF64_ST_TYPE(symbol->st_info) == STT_TLS;
    region->address += symbol->st_value + (local ? thread_bias(tid) : bias);
}

void find_regions(pid_t tid) {
    for (size_t i = 0; i < region_count; i++) {
        resolve(&regions[i], tid);
        region_bytes += regions[i].size;
    }
    if (region_bytes > BYTES)
        fail("too large regions");
}

void read_regions(pid_t pid, uint8_t *bytes, uint64_t pc, uint8_t code[2]) {
    static struct iovec remote[REGIONS + 1];
    struct iovec local[2] = {{bytes, region_bytes}, {code, 2}};
    memset(code, 0, 2);
    for (size_t i = 0; i < region_count; i++)
        remote[i] = (struct iovec){(void *)regions[i].address, regions[i].size};
    remote[region_count] = (struct iovec){(void *)pc, 2};
    ssize_t count = process_vm_readv(pid, local, 2, remote, region_count + 1, 0);
    if (count >= (ssize_t)region_bytes || (count < 0 && errno == ESRCH))
        return;
    for (size_t i = 0; i < region_count; i++) { /* one of them is not mapped */
        struct iovec one = {bytes, regions[i].size};
        (void)process_vm_readv(pid, &one, 1, &remote[i], 1, 0);
        bytes += regions[i].size;
    }
    local[0] = (struct iovec){code, 2};
    (void)process_vm_readv(pid, local, 1, &remote[region_count], 1, 0);
}

void read_code(int memory) {
    spans = allocate((function_count + 1) * sizeof *spans);
    for (size_t i = 0; i < function_count; i++) {
        if (!span_count || functions[i].start > spans[span_count - 1].end + PADDING)
            spans[span_count++].start = functions[i].start;
        spans[span_count - 1].end = functions[i].end;
    }
    for (size_t i = 0; i < span_count; i++) {
        size_t size = spans[i].end - spans[i].start;
        spans[i].bytes = allocate(size);
        if (pread(memory, spans[i].bytes, size, (off_t)(spans[i].start + bias)) != (ssize_t)size)
            fail("reading the program's code");
    }
}

void write_code(int memory, bool breakpoints) {
    static uint8_t traps[BYTES];
    memset(traps, BREAKPOINT, sizeof traps);
    for (size_t i = 0; i < span_count; i++) {
        size_t size = spans[i].end - spans[i].start;
        const uint8_t *bytes = breakpoints ? traps : spans[i].bytes;
        if (size > sizeof traps ||
            pwrite(memory, bytes, size, (off_t)(spans[i].start + bias)) != (ssize_t)size)
            fail("writing the program's code");
    }
}
