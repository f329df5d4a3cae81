#!/bin/bash
# 'quipu libc' without a network: it builds a C library of a few functions, with the file names of
# musl that share/build-libc knows. Programs with it count, trace and fork, and what runs before
# thread-local storage exists, or for the runtime, is a copy without instrumentation.
. "$(dirname "$0")/../bad/lib.bash"
harness=$(cd "$(dirname "$0")/../harness" && pwd)/libc

mkdir -p musl/{crt,include,src/{env,thread/x86_64,string/x86_64,misc,errno,ldso,process,stdio}}
cd musl || exit 1
cat >configure <<'END'
#!/bin/sh
for word; do
    case $word in --prefix=*) prefix=${word#*=} ;; esac
done
cat >config.mak <<MAK
srcdir = $(dirname "$0")
prefix = $prefix
CC = $CC
CFLAGS = $CFLAGS
CFLAGS_C99FSE = -std=c99 -nostdinc -ffreestanding
MAK
cp "$(dirname "$0")/Makefile" .
END
cat >Makefile <<'END'
include config.mak
LIBC_OBJS = $(patsubst $(srcdir)/%,obj/%.o,$(basename $(wildcard $(srcdir)/src/*/*.c $(srcdir)/src/*/x86_64/*.s)))
CRT_OBJS = obj/crt/crt1.o obj/crt/crti.o obj/crt/crtn.o
CFLAGS_ALL = $(CFLAGS_C99FSE) -I$(srcdir)/include -O2 $(CFLAGS)
include config.mak
lib/libc.a: $(LIBC_OBJS)
	@mkdir -p lib
	rm -f $@
	ar rcs $@ $(LIBC_OBJS)
obj/%.o: $(srcdir)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -c -o $@ $<
obj/%.o: $(srcdir)/%.s
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -c -o $@ $<
install: lib/libc.a $(CRT_OBJS)
	mkdir -p $(prefix)/lib $(prefix)/include
	cp lib/libc.a $(CRT_OBJS) $(prefix)/lib
	cp $(srcdir)/include/* $(prefix)/include
END
chmod +x configure
cat >include/small.h <<'END'
typedef unsigned long size_t;
extern char **environ;
extern unsigned long *small_auxv;
long small_call(long number, long a, long b, long c);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t strlen(const char *);
int puts(const char *);
int fork(void);
int wait_for(int process);
int *__errno_location(void);
unsigned long getauxval(unsigned long);
#define NULL ((void *)0)
#define SYS_fork 57
#define __syscall(number) small_call(number, 0, 0, 0)
END
printf '.globl _start\n_start: xor %%ebp, %%ebp\nmov %%rsp, %%rdi\nand $-16, %%rsp\ncall __libc_start_main\n' >crt/crt1.s
printf '.section .init,"ax"\n.globl _init\n_init: push %%rax\n.section .fini,"ax"\n.globl _fini\n_fini: push %%rax\n' >crt/crti.s
printf '.section .init,"ax"\npop %%rax\nret\n.section .fini,"ax"\npop %%rax\nret\n' >crt/crtn.s
cat >src/env/__libc_start_main.c <<'END'
#include <small.h>
char **environ;
unsigned long *small_auxv;
extern void (*const __init_array_start[])(void), (*const __init_array_end[])(void);
int main(int, char **, char **);
void __init_tls(void);
void leave(int) __attribute__((noreturn));
void __libc_start_main(long *stack) {
    char **arguments = (char **)(stack + 1), **end = environ = arguments + *stack + 1;
    while (*end)
        end++;
    small_auxv = (unsigned long *)(end + 1);
    __init_tls();
    for (long i = 0; i < __init_array_end - __init_array_start; i++)
        __init_array_start[i]();
    leave(main((int)*stack, arguments, environ));
}
END
cat >src/env/__init_tls.c <<'END'
#include <small.h>
static char area[4096] __attribute__((aligned(64)));
int __set_thread_area(void *);
void __init_tls(void) {
    unsigned long *auxv = small_auxv, headers = 0, count = 0;
    void **self = (void **)(area + 2048);
    for (; *auxv; auxv += 2) {
        headers = *auxv == 3 ? auxv[1] : headers;
        count = *auxv == 5 ? auxv[1] : count;
    }
    memset(area, 0, sizeof area);
    for (const unsigned long *p = (void *)headers; count--; p += 7)
        if (*(const unsigned *)p == 7)
            memcpy((char *)self - ((p[5] + p[6] - 1) & -p[6]), (void *)p[2], p[4]);
    *self = self;
    __set_thread_area(self);
}
END
printf '.globl __set_thread_area\n.type __set_thread_area,@function\n__set_thread_area: mov %%rdi, %%rsi\nmov $0x1002, %%edi\nmov $158, %%eax\nsyscall\nret\n' >src/thread/x86_64/__set_thread_area.s
printf '.globl memcpy\n.type memcpy,@function\nmemcpy: mov %%rdi, %%rax\nmov %%rdx, %%rcx\nrep movsb\nret\n.size memcpy, . - memcpy\n' >src/string/x86_64/memcpy.s
printf '.globl memset\n.type memset,@function\nmemset: mov %%rdi, %%r8\nmov %%esi, %%eax\nmov %%rdx, %%rcx\nrep stosb\nmov %%r8, %%rax\nret\n' >src/string/x86_64/memset.s
cat >src/misc/getauxval.c <<'END'
#include <small.h>
unsigned long getauxval(unsigned long item) {
    for (unsigned long *auxv = small_auxv; *auxv; auxv += 2)
        if (*auxv == item)
            return auxv[1];
    *__errno_location() = 2;
    return 0;
}
END
cat >src/errno/__errno_location.c <<'END'
static int number;
int *__errno_location(void) { return &number; }
END
cat >src/thread/__tls_get_addr.c <<'END'
void *__tls_get_addr(void *place) { return place; }
END
cat >src/ldso/dl_iterate_phdr.c <<'END'
#include <small.h>
struct info { unsigned long address; const char *name; void *headers; unsigned short count; unsigned long long rest[4]; };
int dl_iterate_phdr(int (*callback)(struct info *, size_t, void *), void *data) {
    struct info info = {.name = "/proc/self/exe", .headers = (void *)getauxval(3), .count = getauxval(5)};
    return callback(&info, sizeof info, data);
}
END
printf '#include <small.h>\nint fork(void) { return (int)__syscall(SYS_fork); }\n' >src/process/_Fork.c
cat >src/stdio/puts.c <<'END'
#include <small.h>
long small_call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}
int puts(const char *text) {
    char line[80];
    size_t length = strlen(text);
    memcpy(line, text, length);
    line[length] = '\n';
    return small_call(1, 1, (long)line, (long)length + 1) < 0 ? -1 : 0;
}
int wait_for(int process) {
    int status = -1;
    small_call(61, process, (long)&status, 0);
    return status >> 8;
}
void leave(int status) {
    for (;;)
        small_call(231, status, 0, 0);
}
END
cd .. || exit 1
cat >main.c <<'END'
#include <small.h>
static int sum;
int main(void) {
    int process = fork();
    for (int i = 0; i < (process ? 10 : 100); i++)
        sum += i;
    puts(process ? "parent" : "child");
    return process ? wait_for(process) : sum & 127;
}
END
cat >work.c <<'END'
#include <small.h>
static char text[64];
int main(void) {
    for (size_t i = 0; i < 60; i++) {
        memset(text, 'a' + (int)(i % 20), i);
        memcpy(text + i % 7, "word", 4);
        if (strlen(text) != (i < 4 + i % 7 ? 4 + i % 7 : i) && i > 10)
            return 1;
        puts(text);
    }
    return (int)getauxval(1000);
}
END

# Traces keep %r11 free, and the twin must have the same code.
for modes in none count,trace; do
    ends 0 quipu libc --build --quipu=$modes --source=musl --cflags='-ffixed-r11 -Wa,--noexecstack' --jobs=2 -o small-$modes
    [[ ! -s messages ]] || fail "the build said: $(cat messages)"
    for program in main work; do
        ends 0 quipu cc --quipu=$modes --quipu-libc=small-$modes -ffixed-r11 -O2 -g $program.c -o $program-$modes
        [[ ! -s messages ]] || fail "'$program' said: $(cat messages)"
    done
done
nm -A small-count,trace/lib/libc.a >symbols 2>/dev/null
for name in memcpy memset getauxval dl_iterate_phdr __errno_location; do
    grep -qE "T $name$" symbols && grep -qE "T quipu_musl_$name$" symbols || fail "'$name' is not there twice"
done
grep -E ':(quipu___init_tls|__libc_start_main)\.o:' symbols >start
[[ -s start ]] || fail "there is no start"
grep -qE 'quipu_(attach|bias|trace)' start && fail "the start is instrumented"

# One thread, beside the single steps of its twin.
stepped=$QUIPU_BUILD/test/stepped
ends 0 "$stepped" twin.steps ./work-none
mv output twin.output
QUIPU_DATA=$PWD/counts ends 0 quipu trace -o work.trace -- "$stepped" steps ./work-count,trace
cmp output twin.output || fail "it prints other things than its twin"
"$harness" trace work-count,trace work.trace steps work-none twin.steps || fail "the trace differs"
"$harness" counts work-count,trace counts work-none twin.steps || fail "the counts differ"

# A forked child.
QUIPU_DATA=$PWD/data ends 86 quipu trace -o main.trace -- ./main-count,trace
[[ $(sort output | tr '\n' ' ') == 'child parent ' ]] || fail "it prints: $(cat output)"
[[ $(find data -type f | wc -l) -eq 2 ]] || fail "not two data files: $(ls data)"
expect_calls puts 2 data
expect_calls memcpy 2 data
expect_calls getauxval 0 data # the runtime's calls are of the copy
quipu print main.trace >text || fail "the trace cannot be read"
gaps=$(sed -n 's/^-- not traced: //p' text | grep -vE '^caller of ' | sort -u | tr '\n' ' ')
[[ $gaps == 'quipu_musl_fork system call exit_group system call wait4 system call write ' ]] || fail "gaps: $gaps"

# Watched memory, moments and events: what the C library writes has its own instruction and moment.
cat >watched.c <<'END'
#include <small.h>
int target;
int main(void) {
    int other = 7;
    target = 1;
    memcpy(&target, &other, sizeof target);
    memset(&target, 0, sizeof target);
    puts("ready");
    return target++;
}
END
modes=count,event,moment,watch
ends 0 quipu libc --build --quipu=$modes --source=musl --cflags='-fno-builtin -Wa,--noexecstack' --jobs=2 -o small-$modes
ends 0 quipu cc --quipu=$modes --quipu-libc=small-$modes -fno-builtin -O1 -g watched.c -o watched
got=$(quipu watch -e target -- ./watched 2>&1 >/dev/null | awk '$2 == "target" { print $3 $4 $5, $7 }' | tr '\n' ' ')
[[ $got == '0->1 main 1->7 memcpy 7->0 memset 0->1 main ' ]] || fail "hits: $got"
ends 0 quipu when 'target == 7' ./watched
grep -q memcpy.s output || fail "the moment is not memcpy's: $(cat output)"
moment=$(awk '$1 == "moment" { print $2 }' output)
ends 0 quipu goto --print "$moment" ./watched
grep -q memcpy output || fail "'$moment' leads elsewhere: $(cat output)"
QUIPU_DATA=$PWD/events ends 0 ./watched
counted=$(quipu report --by=module --format=json events | python3 -c 'import json, sys
print(json.load(sys.stdin)["modules"][0]["instructions"])')
ends 0 quipu stat ./watched
happened=$(awk '$2 == "instructions" { print $1 }' messages)
[[ -n $happened && $counted == "$happened" ]] || fail "$happened instructions as events, $counted as counts"
