/* reads_code.c: a program, linked static, that maps the code of another one to read it, as valgrind
 * does: prints whether it is what the file has. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static char file[1 << 22], *const place = (char *)0x40000000;
    int descriptor = open(argv[argc - 1], O_RDONLY);
    ssize_t size = read(descriptor, file, sizeof file);
    Elf64_Ehdr *header = (Elf64_Ehdr *)file;
    Elf64_Phdr *segment = (Elf64_Phdr *)(file + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++, segment++)
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            mmap(place, segment->p_filesz, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
                 descriptor, (off_t)segment->p_offset);
            int differs = memcmp(place, file + segment->p_offset, segment->p_filesz);
            printf("%zd bytes: %s\n", size, differs ? "changed" : "the same");
        }
    return 0;
}
