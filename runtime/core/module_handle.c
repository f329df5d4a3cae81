/* module_handle.c: what a shared object that is linked without the compiler's start files
 * (-nostartfiles) lacks of them: __dso_handle, which pthread_atfork passes to the C library, and at
 * its end the call that takes back what was asked for with it.  Without that, a fork behind
 * dlclose would run handlers that are gone.  quipu cc asks the linker for the name, so this is
 * linked where nothing else defines it. */

extern void __cxa_finalize(void *handle);

extern void *__dso_handle;
void *__dso_handle = &__dso_handle;

__attribute__((destructor)) static void end_module(void) {
    __cxa_finalize(&__dso_handle);
}
