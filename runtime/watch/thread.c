/* thread.c: watched thread-local variables of the executable.
 *
 * Each thread has its own variable, at a distance from the thread pointer that the linker has set.
 * It must be watched before the first instruction of a new thread. So slots of the loader that lead
 * to pthread_create are redirected to a function here, whose threads start in another function
 * here. This is done when a thread-local variable is first requested, and is not undone.
 *
 * A region ends with its thread: when the thread returns; or, if it ends otherwise, when its kernel
 * number is found to be gone (frame.c).
 *
 * Not perfect: the start of some threads is not seen: those of a static executable, those that the
 * C library starts itself (thrd_create, SIGEV_THREAD), those of modules that are loaded later, and
 * those made by clone. */
#include "format/data_file.h"
#include "runtime/core/note.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>
#include <pthread.h>

#pragma weak pthread_create

enum {
    STARTS = 512 /* threads that are being created at a time; of more, some are not watched */
};

/* A thread that is being created. */
struct start {
    uint32_t taken;
    void *(*function)(void *);
    void *argument;
};

static struct start starts[STARTS];
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* ---- Threads ---- */

static void *begin_thread(void *context) {
    struct start start = *(struct start *)context;
    __atomic_store_n(&((struct start *)context)->taken, 0, __ATOMIC_RELEASE);
    quipu_watch_thread_began();
    void *result = start.function(start.argument);
    quipu_watch_thread_ended();
    return result;
}

static int create_thread(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*function)(void *), void *argument) {
    for (struct start *start = starts; start < starts + STARTS; start++) {
        if (__atomic_load_n(&start->taken, __ATOMIC_RELAXED) ||
            __atomic_exchange_n(&start->taken, 1, __ATOMIC_ACQUIRE))
            continue;
        start->function = function;
        start->argument = argument;
        int error = real_create(thread, attributes, begin_thread, start);
        if (error)
            __atomic_store_n(&start->taken, 0, __ATOMIC_RELEASE);
        return error;
    }
    return real_create(thread, attributes, function, argument);
}

/* ---- Slots ---- */

/* The contents of a module's dynamic section. */
struct dynamic {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * tables[2];
    uint64_t sizes[2];
};

static uint64_t at(const struct dl_phdr_info *info, uint64_t address) {
    return address < info->dlpi_addr ? address + info->dlpi_addr : address;
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
                         struct dynamic *dynamic) {
    for (; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            dynamic->symbols = (const void *)at(info, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            dynamic->names = (const char *)at(info, entry->d_un.d_ptr);
            break;
        case DT_JMPREL:
            dynamic->tables[0] = (const void *)at(info, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            dynamic->sizes[0] = entry->d_un.d_val;
            break;
        case DT_RELA:
            dynamic->tables[1] = (const void *)at(info, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            dynamic->sizes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
}

/* Whether the loader makes ADDRESS read-only when it has finished. */
static bool is_sealed(const struct dl_phdr_info *info, uint64_t address) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO && address >= begin &&
            address < round_to_page(begin + segment->p_memsz))
            return true;
    }
    return false;
}

static void lead_here(const struct dl_phdr_info *info, uint64_t *slot) {
    uint64_t page = (uint64_t)slot & -(uint64_t)QUIPU_PAGE;
    bool sealed = is_sealed(info, (uint64_t)slot);
    if (sealed && SYSTEM_CALL(mprotect, page, QUIPU_PAGE, PROT_READ | PROT_WRITE, 0, 0, 0) < 0)
        return;
    __atomic_store_n(slot, (uint64_t)create_thread, __ATOMIC_RELEASE);
    if (sealed)
        SYSTEM_CALL(mprotect, page, QUIPU_PAGE, PROT_READ, 0, 0, 0);
}

static int lead_module(struct dl_phdr_info *info, size_t size, void *data) {
    static const char wanted[] = "pthread_create";
    struct dynamic dynamic = {0};
    (void)size;
    (void)data;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(info, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                         &dynamic);
    for (int k = 0; dynamic.symbols && dynamic.names && k < 2; k++)
        for (uint64_t i = 0; dynamic.tables[k] && i < dynamic.sizes[k] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *row = &dynamic.tables[k][i];
            uint64_t type = ELF64_R_TYPE(row->r_info);
            const ElfW(Sym) *symbol = &dynamic.symbols[ELF64_R_SYM(row->r_info)];
            if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
                bytes_equal(dynamic.names + symbol->st_name, wanted, sizeof wanted))
                lead_here(info, (uint64_t *)(info->dlpi_addr + row->r_offset));
        }
    return 0;
}

long quipu_watch_lead_threads(uint64_t begin, uint64_t end) {
    /* Read from memory: the slot is one of those that change, so its value must be saved first. */
    int (*volatile create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        pthread_create;
    uint64_t address = (uint64_t)create;
    if (real_create || !address)
        return 0;
    if (address >= begin && address < end) /* in a static executable, or a jump through a slot */
        return -EOPNOTSUPP;
    real_create = create;
    dl_iterate_phdr(lead_module, NULL);
    return 0;
}
