// What idioms.S and idioms_moved.S share.
#define FUNCTION(name)                                                                             \
    .text;                                                                                         \
    .globl name;                                                                                   \
    .type name, @function;                                                                         \
    name
#define END(name) .size name, . - name
// One whose section is in force.
#define WRITTEN_FUNCTION(name)                                                                     \
    .globl name;                                                                                   \
    .type name, @function;                                                                         \
    name
// What the others call.
#define HELPER(name)                                                                               \
    .text;                                                                                         \
    .type name, @function;                                                                         \
    name
// Calls a helper, and goes on two bytes behind the call, or does what must not be done.
#define SKIPPING(helper)                                                                           \
    WORK;                                                                                          \
    call helper;                                                                                   \
    ud2;                                                                                           \
    add %rcx, %rax;                                                                                \
    jnz 7f;                                                                                        \
    inc %rax;                                                                                      \
7:  ret
// Something with branches, so that counters are wanted.
#define WORK                                                                                       \
    xor %eax, %eax;                                                                                \
    test %rdi, %rdi;                                                                               \
    jle 5f;                                                                                        \
4:  add %rdi, %rax;                                                                                \
    dec %rdi;                                                                                      \
    jnz 4b;                                                                                        \
5:  cmp $7, %rax;                                                                                  \
    je 6f;                                                                                         \
    inc %rax;                                                                                      \
6:
// All that callees save, and back.
#define SAVE                                                                                       \
    push %rbx;                                                                                     \
    push %rbp;                                                                                     \
    push %r12;                                                                                     \
    push %r13;                                                                                     \
    push %r14;                                                                                     \
    push %r15
#define RESTORE                                                                                    \
    pop %r15;                                                                                      \
    pop %r14;                                                                                      \
    pop %r13;                                                                                      \
    pop %r12;                                                                                      \
    pop %rbp;                                                                                      \
    pop %rbx
